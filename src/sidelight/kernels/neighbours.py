"""Exact nearest neighbours in tiles.

``|a - b|² = |a|² + |b|² - 2 a·b`` finds the candidates with one matrix product per tile; the distances of those
kept are then taken from differences. Where the product's rounding could hide a nearer row (duplicates, ties, clusters
far tighter than the data is wide), every row within its error bound is a candidate. So the answer is exact, ties are
broken by row number, and a row's answer does not depend on the rows beside it.
Cost: O(m n d) time, O(tile · n) memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .tiles import run_tiles, spans

__all__ = ["Neighbours", "listed_distances", "nearest", "nearest_precomputed", "smallest"]

Array = npt.NDArray[Any]
_BUDGET = 4_000_000  # numbers in the temporaries of one tile


@dataclass(frozen=True)
class Neighbours:
    """The ``k`` nearest rows of each query: ``index`` (m, k) and ``distance`` (m, k), nearest first."""

    index: Array
    distance: Array


def nearest(X: Array, queries: Array | None = None, *, k: int, n_jobs: int | None = None) -> Neighbours:
    """The ``k`` rows of ``X`` nearest to each query; without queries, to each row of ``X`` but itself."""
    own = queries is None
    Q = X if queries is None else queries
    centre = X.mean(axis=0)
    A = X - centre
    norms = np.einsum("ij,ij->i", A, A)
    widest = np.sqrt(norms.max())
    k = min(k, len(X) - own)
    extra = min(len(X) - own, k + 4)  # a few more, because the product rounds near ties

    def one(rows: slice) -> tuple[Array, Array]:
        B = Q[rows] - centre
        D = norms - 2 * (B @ A.T)
        if own:
            D[np.arange(len(B)), np.arange(rows.start, rows.stop)] = np.inf
        candidates = np.argpartition(D, extra - 1, axis=1)[:, :extra]
        index, distance = _sorted_exact(Q[rows], X, candidates, k)
        if extra < len(X) - own:
            size = np.einsum("ij,ij->i", B, B)
            error = (X.shape[1] + 8) * np.finfo(np.float64).eps * (np.sqrt(size) + widest) ** 2
            passed_over = np.take_along_axis(D, candidates[:, -1:], axis=1)[:, 0] + size - error
            for i in np.flatnonzero(distance[:, -1] ** 2 >= passed_over):
                cut = np.partition(D[i], k - 1)[k - 1] + 2 * error[i]
                near = np.flatnonzero(D[i] <= cut)[None, :]
                index[i], distance[i] = _sorted_exact(Q[rows][i : i + 1], X, near, k)
        return index, distance

    tile = max(8, min(512, _BUDGET // max(len(X), 1)))
    parts = run_tiles(one, spans(len(Q), tile), n_jobs)
    return Neighbours(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def nearest_precomputed(D: Array, *, k: int, own: bool) -> Neighbours:
    """The ``k`` smallest entries of each row of a distance matrix (``own``: its diagonal left out)."""
    k = min(k, D.shape[1] - own)
    parts = []
    for rows in spans(len(D), max(8, _BUDGET // D.shape[1])):
        part = np.array(D[rows], dtype=np.float64)
        if own:
            part[np.arange(len(part)), np.arange(rows.start, rows.stop)] = np.inf
        parts.append(smallest(part, k))
    return Neighbours(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def smallest(D: Array, k: int) -> tuple[Array, Array]:
    """Columns and values of the ``k`` smallest entries of each row, smallest first, ties by column.

    Examples
    --------
    >>> smallest(np.array([[2.0, 1.0, 2.0, 0.0, 2.0]]), 3)[0]
    array([[3, 1, 0]])
    """
    chosen = np.argpartition(D, k - 1, axis=1)[:, :k]
    cut = np.take_along_axis(D, chosen[:, -1:], axis=1)
    crowded = ((cut >= D).sum(axis=1) > k) & np.isfinite(cut[:, 0])
    for i in np.flatnonzero(crowded):
        below, level = np.flatnonzero(D[i] < cut[i]), np.flatnonzero(D[i] == cut[i])
        chosen[i] = np.r_[below, level[: k - len(below)]]
    chosen.sort(axis=1)
    values = np.take_along_axis(D, chosen, axis=1)
    order = np.argsort(values, axis=1, kind="stable")
    return np.take_along_axis(chosen, order, axis=1), np.take_along_axis(values, order, axis=1)


def listed_distances(queries: Array, X: Array, index: Array) -> Array:
    """``|q_i - x_index[i, l]|`` from differences: (m, k)."""
    m, k = index.shape
    out = np.empty((m, k))
    for rows in spans(m, max(1, _BUDGET // max(1, k * X.shape[1]))):
        difference = X[index[rows]] - queries[rows, None, :]
        np.sqrt(np.einsum("ikd,ikd->ik", difference, difference), out=out[rows])
    return out


def _sorted_exact(Q: Array, X: Array, candidates: Array, k: int) -> tuple[Array, Array]:
    candidates = np.sort(candidates, axis=1)
    distance = listed_distances(Q, X, candidates)
    order = np.argsort(distance, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(candidates, order, axis=1), np.take_along_axis(distance, order, axis=1)
