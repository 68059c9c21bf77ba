"""The command ``impute`` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._output import open_output
from ._read import Reading

__all__ = ["impute"]


def impute(
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help=options.OUT_HELP)],
    method: Annotated[
        str, typer.Option("--method", "-m", help="Model: auto (selected on held-out entries), gaussian, ...")
    ] = "auto",
    draws: Annotated[
        int | None,
        typer.Option("--draws", min=1, help="Write this many tables with drawn entries, numbered by a column draw."),
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(
            "--interval",
            metavar="SHARE",
            help="Add NAME_low and NAME_high, which hold this share of missing entries (0.9), and NAME_probability of "
            "categories.",
        ),
    ] = None,
    kind: options.ColumnKind = None,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="COLUMN", help="Do not use or fill this column.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")] = 0,
    model: Annotated[
        Path | None, typer.Option("--model", metavar="MODEL", help="Fill with the imputer that --save wrote.")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="MODEL", help="Save the imputer, to fill new rows with it.")
    ] = None,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Fill the missing entries of a table from the observed entries of their rows."""
    from ._impute import ImputeRequest
    from ._impute import impute as run
    from ._look import parse_kinds

    how = Reading(key=key, layer=layer, obsm=obsm, sheet=sheet, query=query)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        kinds = {**parse_kinds(kind or ()), **dict.fromkeys(drop or (), "drop")}
        run(
            talk,
            ImputeRequest(data, out, how, method, kinds, seed, draws, interval, model=model, save=save, force=force),
        )
