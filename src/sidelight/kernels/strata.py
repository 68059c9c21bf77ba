"""Strata: rows with the same (or nearly the same) side information, and the nearest rows in each of them.

A kernel that is to forget what is known must see neighbours under every value of it. Categories are strata as they
are; numbers and angles are cut into a few cells of equal meaning by k-means, which the row order cannot change.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from .neighbours import Neighbours, smallest
from .tiles import run_tiles, spans

__all__ = ["MOST_STRATA", "InStratum", "cells", "centres", "codes_of", "merged", "nearest_in_strata"]

Array = npt.NDArray[Any]
MOST_STRATA = 48
_CELLS, _ROWS_PER_CELL = 9, 20
_BUDGET = 1_000_000  # numbers in the temporaries of one tile


def codes_of(values: Array) -> Array:
    """Rows with equal values get equal numbers 0, 1, ... (n,)."""
    return np.asarray(np.unique(values, axis=0, return_inverse=True)[1].reshape(-1))


def cells(features: Array, most: int) -> Array:
    """Cells of numeric features (n,): no more than ``most``, nine at the best, and not fewer than 20 rows each."""
    count = max(1, min(_CELLS, most, len(features) // _ROWS_PER_CELL))
    distinct, back, weight = np.unique(features, axis=0, return_inverse=True, return_counts=True)
    if len(distinct) <= count:
        return np.asarray(back.reshape(-1))
    found = centres(distinct, weight, count, n_init=4)[1]
    return np.asarray(codes_of(found[:, None])[back.reshape(-1)])


def centres(distinct: Array, weight: Array, count: int, *, n_init: int = 1) -> tuple[Array, Array]:
    """k-means of distinct sorted rows with their counts, the same whatever the order of the data: centres, labels."""
    from sklearn.cluster import KMeans  # here, because it would slow down the import of the library

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = KMeans(count, n_init=n_init, random_state=0).fit(distinct, sample_weight=weight)
    return np.asarray(found.cluster_centers_), np.asarray(found.labels_)


def merged(codes: Array, most: int = MOST_STRATA) -> Array:
    """At most ``most`` strata: of more categories, every ``most``-th are taken together.

    A row then looks for its nearest rows among several categories at once, and no category is favoured.
    """
    return np.asarray(codes % most if codes.max() >= most else codes)


@dataclass(frozen=True)
class InStratum:
    """The nearest rows of one stratum: for every row that has any (``rows``), numbers and distances (m, k)."""

    rows: Array
    neighbours: Neighbours


def nearest_in_strata(
    points: Array, codes: Array, k: int | Array, *, precomputed: bool = False, n_jobs: int | None = None
) -> list[InStratum]:
    """For each stratum, its ``k`` rows (or ``k[s]``) nearest to each row of the data, a row itself left out.

    One pass over the pairs serves all strata. A squared distance below the rounding of its matrix product is 0.
    """
    inside = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    widths = [
        min(most, max(1, len(rows) - 1)) for most, rows in zip(np.broadcast_to(k, len(inside)), inside, strict=True)
    ]
    squares = _Squares(points, precomputed)

    def one(rows: slice) -> list[tuple[Array, Array]]:
        D = squares(rows)
        D[np.arange(len(D)), np.arange(rows.start, rows.stop)] = np.inf
        return [smallest(D[:, members], width) for members, width in zip(inside, widths, strict=True)]

    parts = run_tiles(one, spans(len(points), max(8, min(512, _BUDGET // len(points)))), n_jobs)
    found = []
    for s, members in enumerate(inside):
        place, distance = (np.concatenate([part[s][which] for part in parts]) for which in (0, 1))
        rows = np.flatnonzero(np.isfinite(distance[:, -1]))  # all but the only row of its stratum
        found.append(InStratum(rows, Neighbours(members[place[rows]], np.sqrt(distance[rows]))))
    return found


class _Squares:
    """Squared distances of some rows to all, of points or of a matrix of distances."""

    def __init__(self, points: Array, precomputed: bool) -> None:
        self.precomputed = precomputed
        self.points = points if precomputed else points - points.mean(axis=0)
        self.norms = np.zeros(len(points)) if precomputed else np.einsum("ij,ij->i", self.points, self.points)
        self.rounding = (points.shape[1] + 8) * np.finfo(np.float64).eps

    def __call__(self, rows: slice) -> Array:
        if self.precomputed:
            return np.asarray(self.points[rows], dtype=np.float64) ** 2
        D = self.points[rows] @ self.points.T
        D *= -2.0
        D += self.norms[rows, None]
        D += self.norms
        D[self.rounding * (self.norms[rows, None] + self.norms.max()) >= D] = 0.0
        return np.asarray(D)
