"""Rows that the user selects: by a condition on columns, by a file of row numbers or names, or by numbers.

A condition is ``COLUMN OP VALUE``, with OP one of == != < <= > >=, several joined by ``and`` and ``or`` (``and`` binds
tighter). Names and values with such words or signs in them stand in quotes. It is read here and never run as code.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._columns import suggestion
from ._matrix import Matrix
from ._output import CommandError
from ._read import read_table

__all__ = ["Clause", "columns_asked", "numbered_rows", "selected_rows"]

Rows = NDArray[np.int64]
_PART = re.compile(r"\s*(?:\"([^\"]*)\"|'([^']*)'|(==|!=|<=|>=|<|>|=)|([^\s\"'<>=!]+))")
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "=": operator.eq, "!=": operator.ne,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """A column compared with a value."""

    column: str
    sign: str
    value: str


def columns_asked(option: str, text: str) -> list[str]:
    """The columns that a selection is about; none for a file."""
    return [clause.column for any_of in _condition(option, text) for clause in any_of] if _is_condition(text) else []


def selected_rows(option: str, text: str, matrix: Matrix, columns: Sequence[str]) -> Rows:
    """Places among the rows of ``matrix`` that a condition or a file selects; ``columns`` are those of X."""
    if not _is_condition(text):
        return _from_file(option, Path(text), matrix)
    kept = np.zeros(matrix.n_rows, dtype=bool)
    for all_of in _condition(option, text):
        kept |= np.logical_and.reduce([_holds(option, clause, matrix, columns) for clause in all_of])
    if not kept.any():
        raise CommandError(f"{option} {text!r}: selects none of the {matrix.n_rows:,} rows; change the condition")
    return np.flatnonzero(kept)


def numbered_rows(option: str, numbers: Sequence[int], matrix: Matrix) -> Rows:
    """Places of rows with these numbers in their file, counted from 0."""
    at = {int(row): place for place, row in enumerate(matrix.rows)}
    missing = [number for number in numbers if number not in at]
    if missing:
        last = int(matrix.rows.max())
        raise CommandError(f"{option} {missing[0]}: there is no such row; rows are counted from 0 to {last:,}")
    return np.array([at[number] for number in numbers], dtype=np.int64)


def _is_condition(text: str) -> bool:
    return re.search(r"[=<>]", text) is not None and not Path(text).is_file()


def _condition(option: str, text: str) -> list[list[Clause]]:
    """The clauses of a condition: any of some, each all of some.

    Examples
    --------
    >>> _condition("--select", "kind == rose and petal length > 2 or 'a or b' != x")[0][1]
    Clause(column='petal length', sign='>', value='2')
    """
    parts: list[tuple[str, str]] = []
    at = 0
    while at < len(text.rstrip()):
        found = _PART.match(text, at)
        if found is None:
            raise CommandError(f"{option} {text!r}: cannot be read from {text[at:]!r}; write COLUMN == VALUE")
        double, single, sign, word = found.groups()
        if sign is not None:
            parts.append(("sign", sign))
        elif word is not None:
            parts.append(("and" if word == "and" else "or" if word == "or" else "word", word))
        else:
            parts.append(("word", double if double is not None else single))
        at = found.end()
    clauses: list[list[Clause]] = [[]]
    for piece, joined in _pieces(parts):
        if joined == "or":
            clauses.append([])
        clauses[-1].append(_clause(option, text, piece))
    return clauses


def _pieces(parts: list[tuple[str, str]]) -> list[tuple[list[tuple[str, str]], str]]:
    """Parts of the single clauses, each with the word that joins it to those before."""
    pieces: list[tuple[list[tuple[str, str]], str]] = [([], "and")]
    for kind, text in parts:
        if kind in ("and", "or"):
            pieces.append(([], kind))
        else:
            pieces[-1][0].append((kind, text))
    return pieces


def _clause(option: str, text: str, piece: list[tuple[str, str]]) -> Clause:
    signs = [k for k, (kind, _) in enumerate(piece) if kind == "sign"]
    if len(signs) != 1 or signs[0] in (0, len(piece) - 1):
        raise CommandError(f"{option} {text!r}: is no condition; write COLUMN == VALUE, joined by and, or")
    column, value = (" ".join(words for _, words in side) for side in (piece[: signs[0]], piece[signs[0] + 1 :]))
    return Clause(column, piece[signs[0]][1], value)


def _holds(option: str, clause: Clause, matrix: Matrix, columns: Sequence[str]) -> NDArray[np.bool_]:
    values = _column(option, clause.column, matrix, columns)
    compare = _COMPARE[clause.sign]
    number: float | None
    try:
        number = float(clause.value)
    except ValueError:
        number = None
    if pd.api.types.is_datetime64_any_dtype(values):
        when = pd.to_datetime(clause.value, errors="coerce")
        if pd.isna(when):
            raise CommandError(f"{option} {clause.column}: {clause.value!r} is no date; write 2026-11-17")
        return np.asarray(compare(values, when), dtype=bool)
    numeric = pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values)
    if numeric and number is not None:
        found = np.asarray(values, dtype=np.float64)
        return np.asarray(compare(found, number) & np.isfinite(found), dtype=bool)
    if clause.sign not in ("==", "=", "!="):
        rule = "holds words" if not numeric else f"holds numbers, and {clause.value!r} is none"
        raise CommandError(f"{option} {clause.column}: {rule}; compare it with == or !=")
    texts = values.astype(object)
    same = np.array([not pd.isna(one) and str(one) == clause.value for one in texts], dtype=bool)
    there = ~np.asarray(pd.isna(texts), dtype=bool)
    return same if clause.sign != "!=" else ~same & there


def _column(option: str, name: str, matrix: Matrix, columns: Sequence[str]) -> pd.Series[Any]:
    frames = [matrix.colours, matrix.given, matrix.related]
    frames += [] if matrix.table is None else [matrix.table.frame]
    for frame in frames:
        if name in frame.columns:
            return frame[name].reset_index(drop=True)
    if name in columns and matrix.table is None:
        own = matrix.X[:, [list(columns).index(name)]]
        return pd.Series(np.asarray(own.toarray() if hasattr(own, "toarray") else own).ravel())
    known = [*(str(one) for frame in frames for one in frame.columns), *columns]
    raise CommandError(f"{option}: there is no column {name}{suggestion(name, known)}")


def _from_file(option: str, path: Path, matrix: Matrix) -> Rows:
    """Rows of a file: its column ``row``, or its first one, has their numbers or their names."""
    if not path.is_file():
        rule = "is neither a condition (COLUMN == VALUE) nor a file that is there"
        raise CommandError(f"{option} {path}: {rule}")
    frame = read_table(path).frame
    name = "row" if "row" in frame.columns else frame.columns[0]
    entries = frame[name].dropna()
    if pd.api.types.is_numeric_dtype(entries):
        return np.unique(numbered_rows(f"{option} {path}, row", [int(entry) for entry in entries], matrix))
    if matrix.row_names is None:
        raise CommandError(f"{option} {path}: column {name} holds names, and the rows have none; give row numbers")
    at = {str(row): place for place, row in enumerate(matrix.row_names)}
    unknown = [str(entry) for entry in entries if str(entry) not in at]
    if unknown:
        raise CommandError(f"{option} {path}: there is no row {unknown[0]}{suggestion(unknown[0], list(at))}")
    return np.unique(np.array([at[str(entry)] for entry in entries], dtype=np.int64))
