"""Columns of a table that nearly repeat another one, by the correlation of their ranks."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ._matrix import Matrix

__all__ = ["repeated_columns"]

_NEARLY = 0.95  # correlation of ranks from which on one column is nearly a function of the other
_MOST_COLUMNS, _MOST_SENTENCES = 100, 4  # in wider tables (spectra, genes) neighbouring columns always go together
_FEWEST = 10  # rows with both entries


def repeated_columns(matrix: Matrix) -> list[str]:
    """Say which embedded numbers nearly repeat a given one, or one another, with the option that leaves them out."""
    if matrix.table is None:
        return []
    used = [use.name for use in matrix.table.uses if use.used and use.kind == "number"]
    shown = matrix.table.shown()
    numbers = shown[[name for name in used if name in shown.columns]].select_dtypes("number")
    if numbers.shape[1] > _MOST_COLUMNS:
        return []
    given = matrix.given.select_dtypes("number")
    sentences, gone = [], set()
    for name in numbers.columns:
        for other in given.columns:
            found = _correlation(numbers[name], given[other].reset_index(drop=True))
            if abs(found) >= _NEARLY:
                gone.add(name)
                sentences.append(_sentence(name, other, found, ", which is given, and brings it back into the map"))
                break
    kept = [name for name in numbers.columns if name not in gone]
    sentences += _among_each_other(numbers, kept)
    more = len(sentences) - _MOST_SENTENCES
    return sentences[:_MOST_SENTENCES] + ([f"{more} more columns nearly repeat another one."] if more > 0 else [])


def _among_each_other(numbers: pd.DataFrame, names: Sequence[str]) -> list[str]:
    """Each column that nearly repeats one before it."""
    sentences = []
    for place, name in enumerate(names):
        for other in names[:place]:
            found = _correlation(numbers[name], numbers[other])
            if abs(found) >= _NEARLY:
                sentences.append(_sentence(name, other, found, ", so that both count as one thing twice"))
                break
    return sentences


def _correlation(a: pd.Series[float], b: pd.Series[float]) -> float:
    """Correlation of the ranks of the rows that have both entries; 0 for few rows and constant columns."""
    both = pd.DataFrame({"a": a.to_numpy(float), "b": b.to_numpy(float)}).dropna().rank()
    if len(both) < _FEWEST or not both.std().all():
        return 0.0
    return float(np.corrcoef(both["a"], both["b"])[0, 1])


def _sentence(name: str, other: str, found: float, why: str) -> str:
    return f"{name} nearly repeats {other} (r {found:.2f} of ranks){why}; leave it out with --drop {shlex.quote(name)}."
