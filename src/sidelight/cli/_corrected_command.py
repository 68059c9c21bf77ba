"""The command ``corrected`` and its options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._columns import ColumnRoles
from ._options import MissingValues
from ._output import open_output
from ._read import Reading

__all__ = ["corrected"]


def corrected(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help=options.ROWS_OUT_HELP)],
    to: options.CorrectedTo = None,
    columns: options.SomeColumns = None,
    label: options.Label = None,
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
    """Subtract the effect of the given columns from rows of data."""
    from ._from_model import corrected as run

    wishes = ColumnRoles(label=label)
    how = Reading(wishes, key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        run(talk, model, data, out, how, to=to or (), missing=missing.value, force=force, columns=columns or ())
