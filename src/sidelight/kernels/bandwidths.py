"""How wide a kernel should be: perplexity-adaptive rows, and leave-one-out likelihood.

Perplexity: row ``i`` gets the weights ``p_ij ∝ exp(-β_i d²_ij)`` whose entropy is ``log perplexity``; its bandwidth is
``h_i = 1/β_i``. The entropy falls with β, so ``log β`` is found for all rows together.

Leave-one-out (S0 3.20, with the N-1 and the normaliser it lacks):
``L(h) = mean_i log Σ_{j≠i} k(|x_i-x_j|²/h) - log(n-1) - log C(d) - (d/2) log h``, maximised over ``log h``, with k
the profile's ``density_profile``, so that C is finite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from .profiles import Profile

__all__ = ["LeaveOneOut", "leave_one_out_bandwidth", "maximise_over_scale", "perplexity_rows"]

Array = npt.NDArray[Any]


def perplexity_rows(D2: Array, perplexity: float, *, n_steps: int = 24) -> tuple[Array, Array]:
    """Weights (m, k), rows summing to 1, and bandwidths (m,), from squared distances to each row's neighbours.

    Newton's method on ``log β`` (``dH/d log β = -β² var d²``) inside a bracket, a fixed number of steps so that a row's
    answer does not depend on the others. Where the perplexity cannot be reached the weights come as near to it as they
    can: even over the nearest rows where as many of them tie as are asked for (the bandwidth is then their squared
    distance, 0 for duplicates), even over all where there are too few (then the largest squared distance).
    An infinite distance is no neighbour and gets no weight.

    Examples
    --------
    >>> W, h = perplexity_rows(np.array([[1.0, 1.0, 4.0]]), 2.5)
    >>> round(float(np.exp(-(W * np.log(W)).sum())), 6)
    2.5
    """
    if np.isinf(D2).any():
        return _uneven_rows(D2, perplexity, n_steps)
    least, scale = np.min(D2, axis=1, keepdims=True), np.max(D2, axis=1, keepdims=True)
    tied = D2 - least <= 1e-14 * least  # equal up to rounding: β must not feed on the last bits
    shifted = np.divide(D2 - least, scale, out=np.zeros_like(D2), where=~tied)
    target = np.log(min(perplexity, D2.shape[1]))
    low, high = np.full(len(D2), -7.0), np.full(len(D2), 46.0)  # log β in units of 1/scale
    mean = shifted.mean(axis=1)
    middle = -np.log(np.where(mean > 1e-12, mean, 1.0))
    for _ in range(n_steps):
        W, entropy, slope = _row_weights(shifted, np.exp(middle)[:, None])
        too_even = entropy > target
        low, high = np.where(too_even, middle, low), np.where(too_even, high, middle)
        newton = middle + np.clip((entropy - target) / np.maximum(slope, 1e-12), -4.0, 4.0)
        inside = (low < newton) & (newton < high)  # strictly, or it may swing between the ends; at the root it stays
        middle = np.where(inside | (newton == middle), newton, 0.5 * (low + high))
    W, _, _ = _row_weights(shifted, np.exp(middle)[:, None])
    bandwidth = np.where(tied.sum(axis=1) < perplexity, scale[:, 0] * np.exp(-middle), least[:, 0])
    return W, bandwidth if perplexity < D2.shape[1] else scale[:, 0]


def _uneven_rows(D2: Array, perplexity: float, n_steps: int) -> tuple[Array, Array]:
    """The same for rows of different lengths, each filled up with infinite distances at its end."""
    W, bandwidth, length = np.zeros_like(D2), np.zeros(len(D2)), np.isfinite(D2).sum(axis=1)
    for count in np.unique(length[length > 0]):
        rows = np.flatnonzero(length == count)
        W[rows, :count], bandwidth[rows] = perplexity_rows(D2[rows, :count], perplexity, n_steps=n_steps)
    return W, bandwidth


def _row_weights(D2: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Weights, their entropy, and minus its derivative by ``log β``."""
    energy = D2 * beta
    W = np.exp(-energy)
    total = W.sum(axis=1, keepdims=True)
    W /= total
    mean = np.einsum("ij,ij->i", W, energy)
    square = np.einsum("ij,ij,ij->i", W, energy, energy)
    return W, np.log(total[:, 0]) + mean, square - mean**2


class LeaveOneOut:
    """Mean leave-one-out log-density of ``rows`` (default all) by the scale of the ``relative`` bandwidths."""

    def __init__(self, X: Array, profile: Profile, relative: Array | None = None, rows: Array | None = None) -> None:
        n, d = X.shape
        chosen = np.arange(n) if rows is None else rows
        A = X - X.mean(axis=0)
        norms = np.einsum("ij,ij->i", A, A)
        h = np.ones(n) if relative is None else relative
        self.R = np.maximum(norms[chosen, None] + norms - 2 * (A[chosen] @ A.T), 0.0) / h
        self.R[np.arange(len(chosen)), chosen] = np.inf
        self.shift = -0.5 * d * np.log(h)
        self.profile = profile.density_profile(d)
        self.constant: float = -float(np.log(n - 1)) - self.profile.log_integral(d)
        self.d = int(d)

    def __call__(self, scale: float) -> float:
        """The mean at bandwidths ``scale · relative_j``."""
        logs = self.profile.log_value(self.R / scale) + self.shift
        top = np.maximum(logs.max(axis=1), -1e300)
        logs -= top[:, None]
        with np.errstate(divide="ignore"):
            rows = np.log(np.exp(logs, out=logs).sum(axis=1)) + top
        mean = float(np.maximum(rows, -1e6).mean())
        return mean - 0.5 * self.d * float(np.log(scale)) + self.constant


def maximise_over_scale(score: Callable[[float], float], low: float, high: float) -> float:
    """The scale in ``[low, high]`` with the best score: a grid in the logarithm, refined by a bounded search."""
    grid = np.linspace(np.log(low), np.log(high), 13)
    values = [score(float(np.exp(g))) for g in grid]
    best = int(np.argmax(values))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(
        lambda g: -score(float(np.exp(g))), bounds=bounds, method="bounded", options={"xatol": 0.01}
    )
    return float(np.exp(found.x if -found.fun >= values[best] else grid[best]))


def leave_one_out_bandwidth(
    X: Array, profile: Profile, *, typical: float, relative: Array | None = None, rows: Array | None = None
) -> float:
    """The bandwidth (or the scale of ``relative`` ones) that maximises the leave-one-out likelihood.

    Searched between ``1e-6`` and ``1e2`` times ``typical``, a squared distance of the data, over ``rows``.
    """
    return maximise_over_scale(LeaveOneOut(X, profile, relative, rows), 1e-6 * typical, 1e2 * typical)
