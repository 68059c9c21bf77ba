"""The command ``adapt``: teach a model a category that it was not fitted with, from rows of it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._columns import ColumnRoles
from ._options import MissingValues
from ._output import CommandError, Output, open_output
from ._read import Reading

__all__ = ["adapt"]

_OUT_HELP = "The model file to write; MODEL stays as it is."


def adapt(
    model: options.ModelPath,
    data: options.DataFile,
    out: Annotated[Path, typer.Option("--out", "-o", help=_OUT_HELP)],
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
    """Add a new category of a given column (such as a batch) to a model, from rows of it; the map does not change."""
    how = Reading(ColumnRoles(), key, layer, obsm, sheet=sheet, query=query, recursive=recursive)
    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        _run(talk, model, data, out, how, missing=missing.value, force=force)


def _run(talk: Output, model: Path, data: Path, out: Path, how: Reading, *, missing: str, force: bool) -> None:
    """Read the rows, take those of the category that is new, and write the wider model."""
    import numpy as np

    from sidelight.base.capabilities import capabilities, given_of
    from sidelight.side.new_category import new_category_rows

    from ._from_model import in_terms_of, require
    from ._model_file import ModelFile
    from ._write import check_free

    check_free([out], force=force)
    file = ModelFile.open(model)
    given = given_of(file.model)
    require(given is not None and capabilities(file.model).has_adapt, file, "adapt", "learn a further category")
    assert given is not None
    matrix, X = file.read(data, in_terms_of(file, how), missing)
    if not matrix.side:
        names = ", ".join(column.name for column in file.given)
        raise CommandError(f"adapt: {data.name} has no column {names}, so no row has a new category")
    new = np.flatnonzero(new_category_rows("adapt", "DATA", data.name, matrix.given, len(matrix.rows), given))
    wider = file.model.adapt(X.iloc[new] if hasattr(X, "iloc") else X[new], given=matrix.given.iloc[new])
    replace(file, model=wider).save(out)
    said = wider.adapted_[-1]
    talk.answer |= {"out": out, "rows": len(new), "adapted": said, "remarks": matrix.remarks}
    talk.say(f"{said}; wrote {out}")
