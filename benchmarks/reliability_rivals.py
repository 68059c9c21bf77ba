"""Scores of rows of a map by other authors, written from their publications; larger is more reliable.

scDEED (Xia, Lee and Li, Nature Communications 2024): the correlation between the sorted distances on the map to the
half of the rows that is nearest there, and the distances on the map to the half that is nearest in the data, in the
order of the data. Rows below the 5 % quantile of the score of a map of permuted columns are called dubious.

LOO-map (Liu, Ma and Zhong, Nature Communications 2025), for t-SNE: the loss of one row's place y with all others held,

    L(y; x) = -2 Σ_j v_j(x) log w(y, y_j) + log(Z + 2 Σ_j w(y, y_j)),      w = 1 / (1 + |y - y_j|²)

``perturbation``: how far the minimum moves when the row moves by some length along ± the first three principal axes
(largest of the six; each from three starts, the best minimum counts). ``singularity``: 1 / the smallest eigenvalue of
the Hessian of L at the row's place. Both are negated here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.spatial.distance import cdist

from sidelight.kernels.bandwidths import perplexity_rows

__all__ = ["perturbation", "scdeed", "singularity"]

Array = Any


def scdeed(X: Array, Z: Array) -> Array:
    """Correlation (n,) of distances, as above."""
    half = len(X) // 2
    D, on_map = cdist(X, X), cdist(Z, Z)
    by_data = np.take_along_axis(on_map, np.argsort(D, axis=1)[:, 1 : half + 1], axis=1)
    by_map = np.sort(on_map, axis=1)[:, 1 : half + 1]
    a, b = (part - part.mean(axis=1, keepdims=True) for part in (by_data, by_map))
    return (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))


class _OneRow:
    """The loss of one row's place; ``others`` (n - 1, 2) are held, and ``rest`` is the sum of w between these."""

    def __init__(self, others: Array, v: Array, rest: float) -> None:
        self.others, self.v, self.rest = others, v, rest

    def __call__(self, y: Array) -> tuple[float, Array]:
        away = y - self.others
        w = 1.0 / (1.0 + (away**2).sum(axis=1))
        total = self.rest + 2.0 * w.sum()
        value = -2.0 * float(self.v @ np.log(w)) + float(np.log(total))
        return value, away.T @ (4.0 * self.v * w - 4.0 * w**2 / total)


class _Similarities:
    """t-SNE's similarities of a row that has moved to x, with the bandwidths of the others held."""

    def __init__(self, X: Array, perplexity: float) -> None:
        self.X, self.perplexity = X, perplexity
        self.wide = min(int(3 * perplexity), len(X) - 2)
        D = cdist(X, X, "sqeuclidean")
        np.fill_diagonal(D, np.inf)
        near = np.sort(D, axis=1)[:, : self.wide]
        self.width = perplexity_rows(near, perplexity)[1]
        self.norm = np.exp(-D / self.width[:, None]).sum(axis=1)

    def __call__(self, i: int, x: Array) -> Array:
        others = np.delete(np.arange(len(self.X)), i)
        D = ((self.X[others] - x) ** 2).sum(axis=1)
        order = np.argsort(D)[: self.wide]
        own = np.zeros(len(others))
        own[order] = perplexity_rows(D[order][None, :], self.perplexity)[0][0]
        theirs = np.exp(-D / self.width[others])
        before = np.exp(-((self.X[others] - self.X[i]) ** 2).sum(axis=1) / self.width[others])
        theirs = theirs / (self.norm[others] - before + theirs)
        return (own + theirs) / (2.0 * len(self.X))


def _rests(Z: Array) -> Array:
    """Sums (n,) of w between all rows but one."""
    W = 1.0 / (1.0 + cdist(Z, Z, "sqeuclidean"))
    np.fill_diagonal(W, 0.0)
    return W.sum() - 2.0 * W.sum(axis=1)


def perturbation(X: Array, Z: Array, rows: Array, length: float, perplexity: float = 30.0) -> Array:
    """Negative perturbation score of some rows (m,) of a map with this perplexity."""
    similar, rests = _Similarities(X, perplexity), _rests(Z)
    axes = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)[2][:3]
    found = []
    for i in rows:
        others = np.delete(Z, i, axis=0)
        loss = _OneRow(others, np.zeros(len(others)), rests[i])
        moved = 0.0
        for direction in np.concatenate([axes, -axes]):
            loss.v = similar(int(i), X[i] + length * direction)
            starts = [Z[i], *others[np.argsort(-loss.v)[:2]]]
            ends = [minimize(loss, start, jac=True, method="BFGS", options={"maxiter": 50}) for start in starts]
            best = min(ends, key=lambda end: float(end.fun))
            moved = max(moved, float(np.linalg.norm(best.x - Z[i])))
        found.append(-moved)
    return np.array(found)


def singularity(X: Array, Z: Array, rows: Array, perplexity: float = 30.0) -> Array:
    """Negative singularity score of some rows (m,); Hessians by differences of the gradient."""
    similar, rests, found, step = _Similarities(X, perplexity), _rests(Z), [], 1e-4
    for i in rows:
        loss = _OneRow(np.delete(Z, i, axis=0), similar(int(i), X[i]), rests[i])
        H = np.column_stack([(loss(Z[i] + e)[1] - loss(Z[i] - e)[1]) / (2 * step) for e in step * np.eye(2)])
        least = float(np.linalg.eigvalsh(0.5 * (H + H.T))[0])
        found.append(-1.0 / least if least > 0 else -1e12)
    return np.array(found)
