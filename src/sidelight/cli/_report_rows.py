"""Rows of a file for a report: their columns in the units of the data, their names and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ._matrix import Matrix
from ._model_file import ModelFile

__all__ = ["report_rows"]


def report_rows(file: ModelFile, matrix: Matrix, colours: Sequence[str]) -> dict[str, Any]:
    """Return keyword arguments of the report; ``colours`` are the columns that the user asked to colour by."""
    known: dict[str, Any] = {"row_names": matrix.row_names, "row_numbers": matrix.rows}
    if colours:
        known["colour"] = colours[0]
    if matrix.table is not None:
        known |= {"table": matrix.table.shown(), "to_data": matrix.table.shown_of, "n_columns": matrix.n_columns}
    elif file.scaling is not None:
        known |= {"table": pd.DataFrame(matrix.X, columns=file.columns), "to_data": file.to_data}
    return known
