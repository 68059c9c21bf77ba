"""Known distances between some rows: the arguments ``pairs`` and ``distances`` of fit, or the deprecated ``known``."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.base.validation import refuse_too_large
from sidelight.base.warnings import warn
from sidelight.side.contradictions import check_distances, listed

__all__ = ["KnownDistances", "known_distances"]


_REMEDY = "Leave out rows that are the same place"


@dataclass(frozen=True, eq=False)
class KnownDistances:
    """Pairs of rows ``index`` (m, 2), their ``distances`` (m,) > 0, and the ``argument`` that messages name."""

    index: Array
    distances: Array
    argument: str = "pairs"

    def between_places(self, owner: str, states: Array, unit: float) -> Array:
        """Places i and j and their squared distance in ``unit`` (m, 3); two rows of one place are refused."""
        at = states[self.index]
        same = at[:, 0] == at[:, 1]
        if same.any():
            (i, j), length = self.index[same][0].astype(np.float64), float(self.distances[same][0])
            rule = "gives a distance to two rows of one place"
            raise ValueError(
                error_message(owner, self.argument, [float(i), float(j), length], rule, "Leave it out, or set merge=0")
            )
        return np.column_stack([at, (self.distances / unit) ** 2])


def known_distances(
    owner: str, n: int, *, pairs: object = None, distances: object = None, known: object = None
) -> KnownDistances:
    """Validate the known distances between n rows.

    Parameters
    ----------
    owner : str
        Class that a message names.
    n : int
        Rows.
    pairs : Pairs, array of shape (m, 2), or None
    distances : array of shape (m,) or None
        None: the values that the pairs carry.
    known : array of shape (m, 3) or None
        Deprecated: rows i and j, and their distance.
    """
    if known is not None:
        if pairs is not None or distances is not None:
            rule = "is the old name of pairs, which is given too"
            raise ValueError(error_message(owner, "known", "array", rule, "Give pairs and distances alone"))
        rule = "is deprecated: cross-validation splits plain row numbers wrongly"
        remedy = "Give pairs=Pairs(index, n_samples, values=distances)"
        warn(error_message(owner, "known", type(known).__name__, rule, remedy), FutureWarning)
        return _from_triples(owner, known, n)
    if pairs is None:
        if distances is not None:
            raise ValueError(error_message(owner, "pairs", None, "leaves distances without rows", "Give the pairs too"))
        return KnownDistances(np.empty((0, 2), dtype=np.int64), np.empty(0))
    found, values = check_distances(owner, pairs, distances, n)
    if (values == 0).any():
        seen = f"0 for rows {listed(found.index[values == 0])}"
        raise ValueError(error_message(owner, "distances", seen, "is not a distance above 0", _REMEDY))
    return KnownDistances(found.index, values)


def _from_triples(owner: str, known: object, n: int) -> KnownDistances:
    """Rows i and j and their distance (m, 3), checked."""
    hints = np.asarray(known, dtype=np.float64)
    if hints.ndim != 2 or hints.shape[1] != 3:
        seen, rule = f"array of shape {hints.shape}", "does not hold two rows and a distance a line"
        raise ValueError(error_message(owner, "known", seen, rule, "Give numbers of shape (m, 3)"))
    rows = hints[:, :2]
    if (rows != np.floor(rows)).any() or (rows < 0).any() or (rows >= n).any():
        rule = f"names a row that is not one of 0 to {n - 1}"
        raise ValueError(error_message(owner, "known", rows.tolist(), rule, "Number the rows from 0"))
    if not np.isfinite(hints).all() or (hints[:, 2] <= 0).any():
        rule = "is not a distance above 0"
        raise ValueError(error_message(owner, "known", float(hints[:, 2].min()), rule, _REMEDY))
    refuse_too_large(owner, "known", hints)
    return KnownDistances(rows.astype(np.int64), hints[:, 2], "known")
