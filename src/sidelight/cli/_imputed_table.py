"""The table that ``impute`` reads, and the filled table that it writes with observed entries unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.tables._table_columns import read_table, without_marks

from ._matrix import Matrix
from ._output import CommandError
from ._read import Reading, open_data, read_written
from ._write import write_frame
from ._written import notation_of

__all__ = ["GappedFile", "ImputedColumns", "open_gapped", "write_filled"]

_KEPT = (";", "|")  # delimiters that a CSV file may have, too
_TEXT_ENDINGS = (".csv", ".tsv", ".csv.gz", ".tsv.gz")


@dataclass(frozen=True)
class GappedFile:
    """A file with gaps.

    Parameters
    ----------
    title : str
        Its name, for messages.
    content : DataFrame or array
    names : list of str
        Of all columns.
    remarks : list of str
        How it was read.
    written : DataFrame of str or None
        Of a text table, its entries as they are written.
    delimiter : str or None
        Of a text table.
    """

    title: str
    content: Any
    names: list[str]
    remarks: list[str] = field(default_factory=list)
    written: pd.DataFrame | None = None
    delimiter: str | None = None

    def __len__(self) -> int:
        return len(self.content)

    @property
    def is_table(self) -> bool:
        """Whether columns have names and types of their own."""
        return isinstance(self.content, pd.DataFrame)

    @property
    def words(self) -> list[str]:
        """Columns that are not numbers."""
        if not self.is_table:
            return []
        return [str(name) for name, kind in self.content.dtypes.items() if not pd.api.types.is_numeric_dtype(kind)]

    def rows_of(self, names: Sequence[str]) -> Any:
        """Return the columns that an imputer knows; one that is not there is empty."""
        return self.content.reindex(columns=list(names)) if self.is_table else self.content

    def missing(self) -> dict[str, int]:
        """Return the number of missing entries of each column."""
        columns = map(without_marks, read_table(self.content).columns)
        return {name: int(column.missing.sum()) for name, column in zip(self.names, columns, strict=True)}


@dataclass(frozen=True)
class ImputedColumns:
    """What stands in the gaps.

    Parameters
    ----------
    gaps : dict
        Column -> rows that were filled.
    tables : list
        The filled table, or one for each draw.
    draws : int or None
        How many draws; None: one table with expected entries.
    beside : dict
        Column -> ending of a further column -> its entries in the rows that were filled.
    """

    gaps: Mapping[str, NDArray[Any]]
    tables: list[Any]
    draws: int | None
    beside: Mapping[str, Mapping[str, Any]]


def open_gapped(path: Path, how: Reading) -> GappedFile:
    """Read a table or an array to be filled."""
    _, found = open_data(path, how)
    if isinstance(found, Matrix):
        if found.image_shape is not None and path.is_dir():
            raise CommandError(f"{path}: pictures have no missing entries; give a table or an array")
        names = found.names or [f"x{j}" for j in range(found.X.shape[1])]
        return GappedFile(path.name, found.X, [str(name) for name in names], found.remarks)
    written, delimiter = read_written(found)
    return GappedFile(
        found.title, found.frame, list(map(str, found.frame.columns)), list(found.remarks), written, delimiter
    )


def write_filled(file: GappedFile, found: ImputedColumns, out: Path) -> None:
    """Write the filled table, or all draws below each other, in the format that the name of ``out`` says."""
    frames = [_frame(file, found, table, out) for table in found.tables]
    numbers = np.stack([np.asarray(frame, dtype=np.float64) for frame in frames]) if out.suffix == ".npy" else None
    if found.draws is not None:
        for number, frame in enumerate(frames, 1):
            frame.insert(0, "draw", number)
    whole = pd.concat(frames, ignore_index=True) if len(frames) > 1 else frames[0]
    values = np.empty(0) if numbers is None else (numbers[0] if found.draws is None else numbers)
    kept = file.delimiter in _KEPT and ".tsv" not in [suffix.lower() for suffix in out.suffixes]
    write_frame(whole, out, values, delimiter=file.delimiter if kept else None)


def _frame(file: GappedFile, found: ImputedColumns, table: Any, out: Path) -> pd.DataFrame:
    """One filled table with all columns of the file, in their order, and those beside them."""
    filled = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table, columns=file.names)
    as_text = file.written is not None and out.name.lower().endswith(_TEXT_ENDINGS)
    parts: dict[str, Any] = {}
    for name in file.names:
        rows = found.gaps.get(name, np.empty(0, dtype=np.int64))
        own, write = _column(file, filled, name, rows, as_text=as_text)
        parts[name] = own
        for ending, entries in found.beside.get(name, {}).items():
            parts[f"{name}_{ending}"] = _sparse(len(own), rows, entries, None if ending == "probability" else write)
    return pd.DataFrame(parts)


def _column(file: GappedFile, filled: pd.DataFrame, name: str, rows: NDArray[Any], *, as_text: bool) -> tuple[Any, Any]:
    """A column with its gaps filled, and how further entries of it are written (None: as they are)."""
    if not as_text or file.written is None:
        return (filled[name] if name in filled.columns else file.content[name]).reset_index(drop=True), None
    own = file.written[name].copy()
    if name not in filled.columns:
        return own, None
    notation = notation_of(own, file.content[name])
    own.iloc[rows] = notation.write(filled[name].iloc[rows].tolist())
    return own, notation.write


def _sparse(n: int, rows: NDArray[Any], entries: Any, write: Any) -> pd.Series[Any]:
    """A column of ``n`` entries that is empty but for some rows."""
    values = list(entries) if write is None else write(list(entries))
    return pd.Series(values, index=rows).reindex(range(n))
