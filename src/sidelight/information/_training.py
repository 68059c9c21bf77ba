"""The rows of a fit, and what is known of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import complain
from sidelight.maps.frames import Frame
from sidelight.side.given import EncodedGiven, Given
from sidelight.side.pairs import as_pairs

__all__ = ["ReadGiven", "TrainingRows", "read_given"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class ReadGiven:
    """``given`` and ``same`` as they were understood.

    Parameters
    ----------
    columns : Given or None
        The columns of ``given``.
    known : EncodedGiven or None
        Their entries; None: they are the same for all rows, which says nothing.
    hints : array of shape (m, 2) or None
        Rows that correspond, counted among the rows of which ``given`` is known.
    """

    columns: Given | None = None
    known: EncodedGiven | None = None
    hints: Array | None = None


def read_given(owner: str, given: Any, same: Any, n: int, types: Any, bandwidths: Any) -> ReadGiven:
    """Understand what the user knows of ``n`` rows; ``types`` and ``bandwidths`` of the columns as the user chose."""
    if given is None:
        if same is not None:
            rule = "is a hint across groups, and there are no groups"
            raise ValueError(complain(owner, "same", "pairs", rule, "Say with given which group each row belongs to"))
        return ReadGiven()
    columns = Given.learn(owner, given, n, types, bandwidths)
    known = columns.encode(owner, given, n)
    count = int(known.complete.sum())
    if count < 2:
        rule = f"leaves {count} rows of which everything is known"
        raise ValueError(complain(owner, "given", "missing entries", rule, "Give it for two rows or more"))
    if len(np.unique(known.values[known.complete], axis=0)) == 1:
        return ReadGiven(columns)
    return ReadGiven(columns, known, None if same is None else as_pairs(same, n).take(known.complete).index)


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit.

    Parameters
    ----------
    X : array of shape (n, d), or distances
    points : array of shape (n, d), or distances
        ``X`` inside the ``frame``.
    frame : Frame
    fitted : array of shape (m,)
        Rows that are fitted: those of which ``given`` is known.
    given : Given or None
        The columns of ``given``; None: nothing is to be factored out.
    known : EncodedGiven or None
        Their entries, of all rows.
    """

    X: Any
    points: Any
    frame: Frame
    fitted: Array
    given: Given | None = None
    known: EncodedGiven | None = None

    @property
    def complete(self) -> bool:
        """Whether all rows are fitted."""
        return len(self.fitted) == len(self.X)

    @property
    def features(self) -> Array | None:
        """Of ``given``, for the fitted rows (m, f)."""
        return None if self.known is None else self.known.features[self.fitted]

    @property
    def fitted_points(self) -> Array:
        """The points of the fitted rows; a copy only where some are left out."""
        return np.asarray(self.points if self.complete else self.points[self.fitted])

    def inside(self, metric: str) -> Array:
        """The fitted rows inside the frame, which for a cosine metric are not its points."""
        if metric == "euclidean":
            return self.fitted_points
        return self.frame.inside(self.X if self.complete else self.X[self.fitted])
