"""The command ``explain`` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._columns import ColumnRoles
from ._options import MissingValues
from ._output import open_output
from ._read import Reading

__all__ = ["explain"]


def explain(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help=f"{options.OUT_HELP} Without it, sentences only.")
    ] = None,
    by: Annotated[
        str | None,
        typer.Option("--by", metavar="COLUMN", help="Compare each group of this column of DATA with all other rows."),
    ] = None,
    regions: Annotated[
        int, typer.Option("--regions", min=0, help="Regions of the map in which axes are explained by themselves.")
    ] = 0,
    select: Annotated[
        str | None,
        typer.Option(
            "--select",
            metavar="CONDITION|FILE",
            help="Compare some rows with all others: 'COLUMN == VALUE', with != < <= > >=, and, or; "
            "or a file with a column of row numbers or names.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--against", metavar="CONDITION|FILE", help="With --select: compare with these rows instead."),
    ] = None,
    rows: Annotated[
        tuple[int, int] | None,
        typer.Option("--rows", metavar="A B", help="Compare two rows, by their numbers, counted from 0."),
    ] = None,
    reliability: Annotated[
        bool, typer.Option("--reliability", help="How far each row of the map can be believed, and why, row by row.")
    ] = False,
    bootstrap: Annotated[
        int | None,
        typer.Option(
            "--bootstrap",
            min=1,
            metavar="N",
            help="With --reliability: also fit N maps of random halves of the rows of the fit, and say which rows keep "
            "their neighbours (stable) and their places (displaced).",
        ),
    ] = None,
    missing: options.Missing = MissingValues.keep,
    key: options.ArrayKey = None,
    layer: options.AnnDataLayer = None,
    obsm: options.AnnDataObsm = None,
    sheet: options.Sheet = None,
    query: options.Query = None,
    recursive: options.Recursive = False,
    force: options.Force = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Say what the axes of a map stand for, or which columns put selections of rows where they are."""
    from ._explain import Question
    from ._explain import explain as run

    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        question = Question(by, regions, rows, select, against, reliability, bootstrap or 0)
        wishes = ColumnRoles(question.columns)
        how = Reading(wishes, key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
        run(talk, model, data, out, how, question, missing=missing.value, force=force)
