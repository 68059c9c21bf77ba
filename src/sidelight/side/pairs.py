"""Pairs of rows: must-link ("same"), cannot-link ("different"), or known distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import count_of, error_message
from sidelight.base.validation import check_integer

from .row_numbers import check_made_for, checked_index, renumbered

__all__ = ["Pairs", "as_pairs"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of row numbers that stay valid in a split: they slice like an array with one entry per row of the data.

    scikit-learn slices whatever has as many entries as X has rows and passes everything else through unchanged, so a
    plain (m, 2) array of row numbers would refer to the wrong rows inside a split. ``pairs[rows]`` keeps the pairs
    whose two rows are both kept, renumbered.

    Parameters
    ----------
    index : array of shape (m, 2)
        Row numbers.
    n_samples : int
        Rows of the data that the row numbers refer to.
    values : array of shape (m,) or None, default=None
        A number for each pair (a distance), sliced together with them.

    See Also
    --------
    EquivalenceMetric : A metric from pairs.
    DistanceMetric : A metric from pairs and their distances.
    Relations : Several kinds of likeness between rows.

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
        object.__setattr__(self, "index", checked_index("Pairs", "index", self.index, self.n_samples))
        if self.values is not None:
            self._keep_values()

    def _keep_values(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.shape != (len(self.index),):
            seen, rule = f"array of shape {values.shape}", f"does not match the {len(self.index)} pairs"
            raise ValueError(error_message(self, "values", seen, rule, "Give one for each pair"))
        values.setflags(write=False)
        object.__setattr__(self, "values", values)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn splits it together with X."""
        return (self.n_samples,)

    def __len__(self) -> int:
        return self.n_samples

    def __getitem__(self, rows: Any) -> Pairs:
        return self.take(rows)

    def __repr__(self) -> str:
        return f"Pairs({count_of(len(self.index), 'pair')} of {self.n_samples} rows)"

    def take(self, rows: Any) -> Pairs:
        """The pairs whose rows are both among ``rows`` (numbers, a mask or a slice), renumbered.

        If a row is taken more than once, pairs refer to its last position.
        """
        index, kept, n = renumbered(self.index, rows, self.n_samples)
        return Pairs(index, n, None if self.values is None else self.values[kept])

    def validate(self, n: int) -> Pairs:
        """Return itself if it was made for ``n`` rows."""
        check_made_for("Pairs", self.n_samples, n, "Make the pairs for these rows")
        return self


def as_pairs(pairs: Any, n: int) -> Pairs:
    """Convert an (m, 2) array to ``Pairs``, and check that they are for ``n`` rows."""
    return (pairs if isinstance(pairs, Pairs) else Pairs(pairs, n)).validate(n)
