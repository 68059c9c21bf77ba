r"""Training rows that are mapped as if they were new: to the map and back, by maps without them.

    z_i = g_{-i}(x_i),      e_i = x_i - f_{-i}(z_i),      δ_i = z_i - z_i(fit)

In folds of a twentieth of the rows at most: leaving out a twentieth or one row at a time gives nearly the same coverage
(decision 0039). The embedding itself is not fitted again. At most 2,000 rows, so that the cost is that of mapping them.

Linear maps of an embedding (PCA) depend on all rows alike: their errors are those of the fit, times 1 + (q + 1) / n. A
projection of the embedding itself (Isomap, kernel PCA) places rows as in the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .calibration import Calibration, calibrated_rows, fold_numbers
from .two_way import TwoWayMaps
from .without_rows import backward_without, kernel_map_without

__all__ = ["LeftOutRows", "in_folds", "left_out_rows"]

Array = npt.NDArray[Any]


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


def in_folds(n: int, d: int, answer: Callable[[Array, Array], tuple[Array, ...]]) -> tuple[Array, ...]:
    """``answer(kept, rows)`` for folds of rows that are left out, joined in the order of the rows."""
    rows = calibrated_rows(n, d)
    fold = fold_numbers(n, rows)
    parts, order = [], []
    for number in range(int(fold.max()) + 1):
        out = np.sort(rows[fold == number])
        parts.append(answer(np.setdiff1d(np.arange(n), out), out))
        order.append(out)
    at = np.argsort(np.concatenate(order))
    return tuple(np.concatenate(one)[at] for one in zip(*parts, strict=True))


def left_out_rows(maps: TwoWayMaps, n_jobs: int | None) -> LeftOutRows:
    """Map training rows to latent points and back without themselves."""
    forward, backward = maps.forward, maps.backward
    assert forward is not None  # estimators offer no intervals otherwise
    X, P, Z = backward.weights.inputs, forward.outputs, backward.outputs

    def answer(kept: Array, rows: Array) -> tuple[Array, ...]:
        placed = backward_without(backward, kept, X[rows])(X[rows], n_jobs)
        moves = placed - Z[rows]
        if maps.linear is not None or maps.projection is not None:
            placed = forward.weights.inputs[rows]
        if maps.linear is not None:
            back = maps.frame.inside(maps.linear.reconstruct(maps.latent_frame.outside(placed), n_jobs))
            grown = 1.0 + (placed.shape[1] + 1) / len(P)
            return rows, placed, moves, grown * (P[rows] - back)
        return rows, placed, moves, P[rows] - kernel_map_without(forward, kept)(placed, n_jobs)

    return LeftOutRows(*in_folds(len(P), P.shape[1], answer))
