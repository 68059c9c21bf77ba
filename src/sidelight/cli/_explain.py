"""The command ``explain``: axes of a map, or groups of rows, as a tidy table and in sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.capabilities import feature_names_of
from sidelight.explain import axes, groups, in_words

from ._matrix import Matrix, Scaling
from ._model_file import ModelFile
from ._output import CommandError, Output
from ._read import Reading
from ._write import check_format, check_free, write_frame

__all__ = ["explain"]

_MOST_WORDS = 12  # sentences that are printed


def explain(
    talk: Output,
    model: Path,
    data: Path,
    out: Path,
    how: Reading,
    *,
    by: str | None,
    regions: int,
    missing: str,
    force: bool,
) -> None:
    """Write what axes stand for, or with ``by`` which columns put the groups of a column where they are."""
    check_format(out)
    check_free([out], force=force)
    file = ModelFile.open(model)
    wishes = replace(how.wishes, given_if_there=[column.name for column in file.given])
    matrix, X = file.read(data, replace(how, wishes=wishes, expected=file.names), missing)
    if file.given and not matrix.side:
        raise CommandError(f"{data} does not say {', '.join(c.name for c in file.given)}, which the model was given")
    rows, known = file.filled(X), matrix.side.get("given")
    if by is None:
        table = axes(file.model, rows, given=known, regions=regions, output="pandas")
    else:
        table = groups(file.model, rows, _labels(matrix, by, data), given=known, tolerance=1e-4, output="pandas")
    table = _in_columns_of_data(table, file)
    said = in_words(table)
    write_frame(table, out, table.select_dtypes("number").to_numpy())
    talk.answer |= {"out": out, "records": len(table), "words": said, "remarks": matrix.remarks}
    for sentence in said[:_MOST_WORDS]:
        talk.say(sentence)
    if len(said) > _MOST_WORDS:
        talk.say(f"... and {len(said) - _MOST_WORDS} more, in the table")
    talk.say(f"{len(table)} records; wrote {out}. They say what the map uses, not what causes what")


def _labels(matrix: Matrix, by: str, data: Path) -> Any:
    if by not in matrix.colours.columns:
        raise CommandError(f"{data} has no column {by} beside those that the model was fitted on")
    return matrix.colours[by].to_numpy(dtype=object)


def _in_columns_of_data(table: pd.DataFrame, file: ModelFile) -> pd.DataFrame:
    """The table with the names of the columns, and in their units where the command line has scaled them."""
    features = table["feature"].astype(str)
    if feature_names_of(file.model) is None:
        names = {str(number): name for number, name in enumerate(file.columns)}
        table = table.assign(feature=[names.get(feature, feature) for feature in features])
    if file.scaling is None:
        return table
    return _unscaled(table, file.scaling, {name: number for number, name in enumerate(file.columns)})


def _unscaled(table: pd.DataFrame, scaling: Scaling, at: dict[str, int]) -> pd.DataFrame:
    number = np.array([at.get(str(feature), -1) for feature in table["feature"]])
    scale = np.where(number >= 0, scaling.scale[number], 1.0)
    centre = np.where(number >= 0, scaling.center[number], 0.0)
    if "share" in table.columns:
        return table.assign(slope=table["slope"] * scale)
    moved = {name: table[name] * scale + centre for name in ("first", "second")}
    return table.assign(**moved, difference=table["difference"] * scale, slope=table["slope"] / scale)
