"""Files of pairs of rows: ``--same``, ``--different``, and ``--distances`` with a number for each pair.

Whole numbers are row numbers of the data file, counted from 0; text is the names of rows, where these have names.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._columns import suggestion
from ._matrix import Matrix
from ._output import CommandError
from ._read import Reading, read, read_frame

__all__ = ["PairFile", "check_apart", "read_pairs"]

_SHOWN = 5


@dataclass(frozen=True)
class PairFile:
    """Pairs of rows as a file has them.

    Parameters
    ----------
    source : str
        Option and file, as an error begins.
    index : ndarray of shape (m, 2)
        Row numbers of the data file.
    values : ndarray of shape (m,)
        A number for each pair; empty where there is none.
    names : Series or None
        What the rows are called, if the file calls them so.
    """

    source: str
    index: NDArray[np.int64]
    values: NDArray[np.float64]
    names: pd.Series[Any] | None = None

    def wrong(self, rule: str, which: NDArray[Any] | None = None) -> CommandError:
        """Return the error that says ``rule`` of the pairs at ``which``."""
        return CommandError(f"{self.source}: {'' if which is None else self.listed(self.index[which]) + ' '}{rule}")

    def listed(self, pairs: NDArray[np.int64]) -> str:
        """Pairs as text, the first few, by what the file calls the rows."""
        shown = [f"({self._called(i)}, {self._called(j)})" for i, j in pairs[:_SHOWN].tolist()]
        return ", ".join(shown) + (f" and {len(pairs) - _SHOWN} more" if len(pairs) > _SHOWN else "")

    def distinct(self) -> PairFile:
        """Each pair once, in either order; a row paired with itself is an error."""
        loops = self.index[:, 0] == self.index[:, 1]
        if loops.any():
            raise self.wrong("pairs a row with itself", loops)
        ordered = np.sort(self.index, axis=1)
        first = np.sort(np.unique(ordered, axis=0, return_index=True)[1])
        return PairFile(self.source, ordered[first], self.values, self.names)

    def placed(self, matrix: Matrix, n_rows: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Places in ``matrix`` of the pairs whose rows are both there, and which pairs these are."""
        place = np.full(n_rows, -1, dtype=np.int64)
        place[matrix.rows] = np.arange(len(matrix.rows))
        found = place[self.index]
        here = np.asarray((found >= 0).all(axis=1))
        if not here.any():
            raise self.wrong("every pair has a row that was left out")
        return found[here], here

    def _called(self, row: int) -> str:
        return str(row) if self.names is None else str(self.names.iloc[row])


def check_apart(same: PairFile, different: PairFile) -> None:
    """Complain about pairs that are in both files; both distinct."""
    known = set(map(tuple, same.index.tolist()))
    both = np.array([tuple(pair) in known for pair in different.index.tolist()], dtype=bool)
    if both.any():
        raise different.wrong("is in the file of --same, too; decide which of the two it is", both)


def read_pairs(option: str, path: Path, whole: Matrix, *, values: bool = False) -> PairFile:
    """Read pairs of rows of ``whole``, with a number for each where ``values`` are asked for."""
    if not path.exists():
        raise CommandError(f"{option} {path}: there is no such file")
    source, wanted = (
        f"{option} {path}",
        "three columns (row, row, distance)" if values else "two columns of row numbers",
    )
    frame = _table(option, path, whole.row_names)
    if frame.shape[1] != 2 + values:
        raise CommandError(f"{source}: needs {wanted}, and has {frame.shape[1]}")
    numbers = _measured(source, frame.pop(frame.columns[2])) if values else np.empty(0)
    text = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if text and whole.row_names is None:
        what = f"{wanted}, and {text[0]} holds text; name the column of row names with --label"
        raise CommandError(f"{source}: needs {what}")
    if text:
        return PairFile(source, _by_name(source, frame, whole.row_names), numbers, whole.row_names)
    return PairFile(source, _by_number(source, frame.to_numpy(dtype=np.float64), whole.n_rows), numbers)


def _table(option: str, path: Path, names: pd.Series[Any] | None) -> pd.DataFrame:
    try:
        if path.suffix.lower() in (".npy", ".npz"):
            return pd.DataFrame(read(path, Reading()).X)
        return _with_heading(read_frame(path), names)
    except CommandError as error:
        said = str(error)
        raise CommandError(f"{option} {said}" if said.startswith(str(path)) else f"{option} {path}: {said}") from error


def _with_heading(frame: pd.DataFrame, names: pd.Series[Any] | None) -> pd.DataFrame:
    """Put a heading that is a pair of names back among the rows: a table without a heading."""
    if names is None or not set(frame.columns[:2]) <= set(names.astype(str)):
        return frame
    first = pd.DataFrame([list(frame.columns)], columns=frame.columns)
    return pd.concat([first, frame.astype(object)], ignore_index=True)


def _measured(source: str, column: pd.Series[Any]) -> NDArray[np.float64]:
    numbers = column.map(_number).to_numpy(dtype=np.float64)
    wrong = np.flatnonzero(~(np.isfinite(numbers) & (numbers >= 0)))
    if len(wrong):
        seen = column.iloc[wrong[0]]
        raise CommandError(f"{source}: pair {wrong[0] + 1} has {seen}, and a distance is a finite number of at least 0")
    return numbers


def _number(entry: Any) -> float:
    """The number that is written so to the last bit, which pandas' own conversion of text may miss."""
    try:
        return float(entry)
    except (TypeError, ValueError):
        return float("nan")


def _by_number(source: str, rows: NDArray[np.float64], n_rows: int) -> NDArray[np.int64]:
    if not np.isfinite(rows).all() or (rows != np.rint(rows)).any():
        raise CommandError(f"{source}: row numbers are whole numbers, and some are not")
    outside = (rows < 0) | (rows >= n_rows)
    if outside.any():
        wrong = int(rows[outside][0])
        raise CommandError(f"{source}: there is no row {wrong}; rows are counted from 0 to {n_rows - 1}")
    return rows.astype(np.int64)


def _by_name(source: str, frame: pd.DataFrame, names: Any) -> NDArray[np.int64]:
    known = pd.Series(np.arange(len(names)), index=names.astype(str))
    said = frame.astype(str).to_numpy()
    unknown = [name for name in said.ravel() if name not in known.index]
    if unknown:
        near = suggestion(unknown[0], list(known.index))
        raise CommandError(f"{source}: no row is called {unknown[0]}{near}")
    twice = known.index[known.index.duplicated()]
    shared = [name for name in said.ravel() if name in set(twice)]
    if shared:
        raise CommandError(f"{source}: {(known.index == shared[0]).sum()} rows are called {shared[0]}; use row numbers")
    return known.loc[said.ravel()].to_numpy(dtype=np.int64).reshape(said.shape)
