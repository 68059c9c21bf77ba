r"""Training rows that are mapped as if they were new: to the map and back, by maps without them.

    z_i = g_{-i}(x_i),      e_i = x_i - f_{-i}(z_i),      δ_i = z_i - z_i(fit)

In folds of a twentieth of the rows at most: leaving out a twentieth or one row at a time gives nearly the same coverage
(decision 0039). The embedding itself is not fitted again. At most 2,000 rows, so that the cost is that of mapping them.

An embedding that arranges rows around each other (KernelInformationEmbedding) has placed the others with the row in
mind, so that errors of new rows are larger than e. By how much was measured on sets that nothing is reported on: about
1 + 1 / k times, k = 1 / Σ_j w_j(z)² the number of rows that a row at z is averaged from (15 to 19 there).

Linear maps of an embedding (PCA) depend on all rows alike: their errors are those of the fit, times 1 + (q + 1) / n. A
projection of the embedding itself (Isomap, kernel PCA) places rows as in the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.landmarks import spread_rows

from .calibration import FOLDS, Calibration, calibrated_rows, fold_numbers
from .kernel_map import KernelMap
from .nearby import is_many
from .two_way import TwoWayMaps
from .weights import PrecomputedWeights
from .without_rows import backward_without, inputs_of, kernel_map_without

__all__ = ["LeftOutRows", "fit_allowance", "in_folds", "left_out_rows"]

Array = npt.NDArray[Any]
_COUNTED = 200  # places at which rows are counted
_MOST_SHARE = 1 / 15  # the largest 1 / k that was measured: with fewer rows, a map remembers rather than arranges


@dataclass(frozen=True)
class LeftOutRows:
    """``rows`` (m,), ``places`` z (m, q), ``moves`` δ (m, q) and ``errors`` e (m, d), all inside the frames."""

    rows: Array
    places: Array
    moves: Array
    errors: Array

    @property
    def of_rows(self) -> Calibration:
        """Intervals of rows at places."""
        return Calibration(self.places, self.errors)

    @property
    def of_places(self) -> Calibration:
        """Intervals of places: of each coordinate, and last of the distance from the place."""
        return Calibration(self.places, np.column_stack([self.moves, np.linalg.norm(self.moves, axis=1)]))


def in_folds(
    n: int, d: int, answer: Callable[[Array, Array], tuple[Array, ...]], n_folds: int = FOLDS
) -> tuple[Array, ...]:
    """``answer(kept, rows)`` for folds of rows that are left out, joined in the order of the rows."""
    rows = calibrated_rows(n, d)
    fold = fold_numbers(n, rows, n_folds)
    parts, order = [], []
    for number in range(int(fold.max()) + 1):
        out = np.sort(rows[fold == number])
        parts.append(answer(np.setdiff1d(np.arange(n), out), out))
        order.append(out)
    at = np.argsort(np.concatenate(order))
    return tuple(np.concatenate(one)[at] for one in zip(*parts, strict=True))


def fit_allowance(forward: KernelMap, Q: Array) -> float:
    """Return ``1 + 1 / k``, k the median number of training rows that rows at inputs ``Q`` (m, q) are averaged from.

    At most 1 + 1 / 15.
    """
    weights, some = forward.weights, Q[spread_rows(len(Q), _COUNTED)]
    assert not isinstance(weights, PrecomputedWeights)
    W = weights.listed(some, weights.near(some, 1))[1] if is_many(weights.inputs) else weights.matrix(some)
    return 1.0 + min(float(np.median(np.square(W).sum(axis=1))), _MOST_SHARE)


def left_out_rows(maps: TwoWayMaps, n_jobs: int | None, *, arranged: bool = False) -> LeftOutRows:
    """Map training rows to latent points and back without themselves.

    Parameters
    ----------
    maps : TwoWayMaps
    n_jobs : int or None
        Threads.
    arranged : bool
        Whether the embedding arranged rows around each other, so that errors are larger for new rows.
    """
    forward, backward = maps.forward, maps.backward
    assert forward is not None  # estimators offer no intervals otherwise
    X, P, Z = inputs_of(backward), forward.outputs, backward.outputs

    def answer(kept: Array, rows: Array) -> tuple[Array, ...]:
        placed = backward_without(backward, kept, X[rows])(X[rows], n_jobs)
        moves = placed - Z[rows]
        if maps.linear is not None or maps.projection is not None:
            placed = inputs_of(forward)[rows]
        if maps.linear is not None:
            back = maps.frame.inside(maps.linear.reconstruct(maps.latent_frame.outside(placed), n_jobs))
            grown = 1.0 + (placed.shape[1] + 1) / len(P)
            return rows, placed, moves, grown * (P[rows] - back)
        return rows, placed, moves, P[rows] - kernel_map_without(forward, kept)(placed, n_jobs)

    found = LeftOutRows(*in_folds(len(P), P.shape[1], answer))
    return replace(found, errors=fit_allowance(forward, found.places) * found.errors) if arranged else found
