"""Pairs of rows: "these belong together", "these are apart", "these are this far from each other"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import complain
from sidelight.base.validation import check_integer

__all__ = ["Pairs", "as_pairs"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of row numbers that survive being cut: they behave as an array with one entry per row of the data.

    scikit-learn slices what has as many entries as X has rows and passes everything else through untouched, so a plain
    (m, 2) array of row numbers would point at the wrong rows inside a split. ``pairs[rows]`` keeps the pairs
    whose two rows are both there, renumbered.

    Parameters
    ----------
    index : array of shape (m, 2)
        Row numbers.
    n_samples : int
        Rows of the data they point into.
    values : array of shape (m,) or None, default=None
        A number for each pair (a distance), which is cut together with them.

    Examples
    --------
    >>> from sidelight import Pairs
    >>> pairs = Pairs([[0, 3], [1, 2]], n_samples=4)
    >>> pairs
    Pairs(2 pairs of 4 rows)
    >>> pairs[[0, 3]].index
    array([[0, 1]])
    """

    index: Array
    n_samples: int
    values: Array | None = None

    def __post_init__(self) -> None:
        check_integer(self, "n_samples", self.n_samples, 0)
        index = np.asarray(self.index)
        if index.size == 0:
            index = np.empty((0, 2), dtype=np.int64)
        if index.ndim != 2 or index.shape[1] != 2 or index.dtype.kind not in "iu":
            seen, rule = f"array of shape {index.shape} and type {index.dtype}", "does not hold two row numbers a line"
            raise ValueError(complain(self, "index", seen, rule, "Give integers of shape (m, 2)"))
        outside = (index < 0) | (index >= self.n_samples)
        if outside.any():
            rule = f"points outside the {self.n_samples} rows"
            raise ValueError(complain(self, "index", int(index[outside][0]), rule, "Number the rows from 0"))
        index = index.astype(np.int64)
        index.setflags(write=False)
        object.__setattr__(self, "index", index)
        if self.values is not None:
            self._keep_values()

    def _keep_values(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.shape != (len(self.index),):
            seen, rule = f"array of shape {values.shape}", f"does not match the {len(self.index)} pairs"
            raise ValueError(complain(self, "values", seen, rule, "Give one for each pair"))
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn cuts it together with X."""
        return (self.n_samples,)

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: Any) -> Pairs:
        return self.take(rows)

    def __repr__(self) -> str:
        return f"Pairs({len(self.index)} pairs of {self.n_samples} rows)"

    def take(self, rows: Any) -> Pairs:
        """The pairs whose rows are both among ``rows`` (numbers, a mask or a slice), renumbered.

        Of a row that is taken more than once, the pairs point at its last place.
        """
        kept = np.atleast_1d(np.arange(self.n_samples)[rows])
        position = np.full(self.n_samples, -1, dtype=np.int64)
        position[kept] = np.arange(len(kept))
        index = position[self.index]
        here = (index >= 0).all(axis=1)
        return Pairs(index[here], len(kept), None if self.values is None else self.values[here])

    def validate(self, n: int) -> Pairs:
        """Return itself if it was made for ``n`` rows."""
        if self.n_samples != n:
            rule = f"does not match the {n} rows of X"
            raise ValueError(complain(self, "n_samples", self.n_samples, rule, "Make the pairs for these rows"))
        return self


def as_pairs(pairs: Any, n: int) -> Pairs:
    """Pairs as they are, or a plain (m, 2) array wrapped."""
    return (pairs if isinstance(pairs, Pairs) else Pairs(pairs, n)).validate(n)
