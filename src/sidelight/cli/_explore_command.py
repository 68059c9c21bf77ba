"""The command ``explore`` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._columns import ColumnRoles
from ._given import parse_periods
from ._methods import DEFAULT, parse_settings
from ._options import MissingValues, parse_size
from ._output import open_output
from ._read import Reading

__all__ = ["explore"]


def explore(
    context: typer.Context,
    source: Annotated[
        Path, typer.Argument(metavar="MODEL|DATA", help="A file model.sidelight, or data to embed first.")
    ],
    data: Annotated[
        Path | None,
        typer.Argument(metavar="[DATA]", help="With MODEL: the rows that it maps; some models keep theirs."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for what is saved; with --replay, the model to write.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="SESSION", help="Fit the map of a session file; open no page.")
    ] = None,
    export: Annotated[
        Path | None, typer.Option("--export", metavar="HTML", help="Write one file that works offline; open no page.")
    ] = None,
    colour: options.Colour = None,
    label: options.Label = None,
    drop: options.Drop = None,
    kind: options.ColumnKind = None,
    given: options.Given = None,
    given_type: options.GivenType = None,
    period: options.Period = None,
    dims: Annotated[int, typer.Option("--dims", "-d", min=2, help="Latent dimensions, if DATA is embedded.")] = 2,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Same seed, same result.")] = 0,
    settings: options.Settings = None,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    image_size: options.ImageSize = None,
    image_shape: options.ImageShape = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="0: a free one.")] = 0,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Open a map in the browser: ask what is where, say what you know, and fit again."""
    from ._embed import Request
    from ._encoded_table import TableOptions
    from ._explore import Opening
    from ._explore import explore as run
    from ._look import parse_kinds

    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        sizes = parse_size(image_size, "--image-size"), parse_size(image_shape, "--image-shape")
        roles = ColumnRoles(colour or (), label, drop or (), given or ())
        table = TableOptions(parse_kinds(kind or ()), None)
        how = Reading(roles, key, None, None, *sizes, sheet=sheet, query=query, recursive=recursive, table=table)
        place = out or Path("new.sidelight" if replay is not None else "sidelight-explore")
        request = Request(
            source, place, DEFAULT, dims, seed, parse_settings(settings or ()), how, missing.value, None, False, force,
            context.obj["command"], given_type or (),
        )  # fmt: skip
        opening = Opening(place, port, browser, parse_periods(period or ()), export=export)
        run(talk, source, data, request, opening, replay)
