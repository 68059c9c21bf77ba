"""Bandwidth selection: per row by perplexity, or one for all by leave-one-out likelihood.

Perplexity: row ``i`` gets the weights ``p_ij ∝ exp(-β_i d²_ij)`` whose entropy is ``log perplexity``; its bandwidth is
``h_i = 1/β_i``. The entropy falls with β, so ``log β`` is found for all rows together.

Leave-one-out (S0 3.20, with the N-1 and the normaliser it lacks):
``L(h) = mean_i log Σ_{j≠i} k(|x_i-x_j|²/h) - log(n-1) - log C(d) - (d/2) log h``, maximised over ``log h``, with k
the profile's ``density_profile``, so that C is finite.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize_scalar

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array

from .profiles import Profile

__all__ = [
    "LeaveOneOut",
    "leave_one_out_bandwidth",
    "maximise_over_scale",
    "perplexity_by_tiles",
    "perplexity_rows",
    "quick_rows",
    "quick_rows_of_each",
]


_SWINGS = 8  # steps of Newton's method after which rows have converged, but for some of thousands
_NOTHING = -100.0  # logarithm of a term too small to change a sum of at least 1, however many rows there are
_ROUNDING = 1e-6  # by which an upper bound may be too low, far more than it is
_CACHED = 50_000  # numbers that stay in the processor's cache over several passes
_START = (0.5, 0.8)  # log β ≈ 0.5 + 0.8 log(k / perplexity) for distances of mean 1: within 0.1 mostly, measured
_STEPS = 2  # in float32, before the last step in the precision of the distances
_NARROW = 2.0  # log(k / perplexity) from which on β varies more between rows, and one more step is taken
_WIDEST_STEP = 1.0
_TILE = 2048  # rows whose bandwidths one task finds: their numbers stay in the cache
_MISSED = {np.dtype(np.float32): 3e-6, np.dtype(np.float64): 1e-9}  # larger errors of the entropy: done again


def perplexity_rows(D2: Array, perplexity: float, *, n_steps: int = 24) -> tuple[Array, Array]:
    """Weights of the given perplexity, and bandwidths, from squared distances to each row's neighbours.

    Newton's method on ``log β`` (``dH/d log β = -β² var d²``) inside a bracket, for a fixed number of steps or until no
    row moves any more, so that a row's result does not depend on the other rows. Where the perplexity cannot be reached
    the weights come as near to it as possible. If as many of the nearest rows tie as are asked for, the weights are
    uniform over these (the bandwidth is then their squared distance, 0 for duplicates). If there are too few
    neighbours, they are uniform over all (the bandwidth is then the largest squared distance).

    Parameters
    ----------
    D2 : array of shape (m, k)
        Squared distances. An infinite one is no neighbour and gets no weight.
    perplexity : float
    n_steps : int
        Most Newton steps.

    Returns
    -------
    weights : array of shape (m, k)
        Rows sum to 1.
    bandwidth : array of shape (m,)

    Examples
    --------
    >>> W, h = perplexity_rows(np.array([[1.0, 1.0, 4.0]]), 2.5)
    >>> round(float(np.exp(-(W * np.log(W)).sum())), 6)
    2.5
    """
    if np.isinf(D2).any():
        return _uneven_rows(D2, perplexity, n_steps)
    least, scale = np.min(D2, axis=1, keepdims=True), np.max(D2, axis=1, keepdims=True)
    target = np.full(len(D2), np.log(min(perplexity, D2.shape[1])))
    W, middle, tied = _rows_of_entropy(D2, least, scale, target, n_steps)
    bandwidth = np.where(tied.sum(axis=1) < perplexity, scale[:, 0] * np.exp(-middle), least[:, 0])
    return W, bandwidth if perplexity < D2.shape[1] else scale[:, 0]


def perplexity_by_tiles(distance: Array, perplexity: float, n_jobs: int | None = None) -> tuple[Array, Array]:
    """``perplexity_rows`` of distances (m, k) on threads: weights (m, k) and bandwidths (m,)."""
    tiles = spans(len(distance), _TILE)
    parts = run_tiles(lambda part: perplexity_rows(distance[part] ** 2, perplexity), tiles, n_jobs)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _rows_of_entropy(
    D2: Array, least: Array, scale: Array, target: Array, n_steps: int = 24
) -> tuple[Array, Array, Array]:
    """Weights (m, k) of entropy ``target`` (m,), ``log β`` (m,) in units of 1/scale, and which distances tie (m, k)."""
    tied = D2 - least <= 1e-14 * least  # equal up to rounding: β must not depend on the last bits
    shifted = np.divide(D2 - least, scale, out=np.zeros_like(D2), where=~tied)
    middle = _log_betas(shifted, target, n_steps)
    return _row_weights(shifted, np.exp(middle)[:, None])[0], middle, tied


def _log_betas(D2: Array, target: Array, n_steps: int) -> Array:
    """``log β`` (m,) at which the weights of each row have the entropy ``target`` (m,); ``D2`` (m, k) are at most 1."""
    found, rows = np.empty(len(D2)), np.arange(len(D2))
    low, high = np.full(len(D2), -7.0), np.full(len(D2), 46.0)
    mean = D2.mean(axis=1)
    middle = -np.log(np.where(mean > 1e-12, mean, 1.0))
    before = np.full(len(D2), np.inf)
    for number in range(n_steps):
        _, entropy, slope = _row_weights(D2, np.exp(middle)[:, None])
        too_even = entropy > target
        low, high = np.where(too_even, middle, low), np.where(too_even, high, middle)
        step = (entropy - target) / np.maximum(slope, 1e-12)
        newton = middle + np.minimum(np.maximum(step, -4.0), 4.0)
        inside = (low < newton) & (newton < high)  # strictly, or it may swing between the ends; at the root it stays
        if number >= _SWINGS:  # a row that still takes large steps swings around the root: its bracket is halved
            inside &= np.abs(newton - middle) <= np.maximum(0.5 * before, 1e-3)
        before = np.abs(newton - middle)
        moved = newton if inside.all() else np.where(inside | (newton == middle), newton, 0.5 * (low + high))
        moving = moved != middle  # every further step of the other rows would repeat this one to the bit
        n_moving = np.count_nonzero(moving)
        if n_moving == 0:
            break
        middle = moved
        if 2 * n_moving <= len(rows):
            found[rows] = middle
            D2, rows, target = D2[moving], rows[moving], target[moving]
            low, high, middle, before = low[moving], high[moving], middle[moving], before[moving]
    if len(rows) == len(found):
        return np.asarray(middle)
    found[rows] = middle
    return found


def _uneven_rows(D2: Array, perplexity: float, n_steps: int) -> tuple[Array, Array]:
    """``perplexity_rows`` for rows of different lengths, each padded with infinite distances at its end."""
    W, bandwidth, length = np.zeros_like(D2), np.zeros(len(D2)), np.isfinite(D2).sum(axis=1)
    for count in np.unique(length[length > 0]):
        rows = np.flatnonzero(length == count)
        W[rows, :count], bandwidth[rows] = perplexity_rows(D2[rows, :count], perplexity, n_steps=n_steps)
    return W, bandwidth


def _row_weights(D2: Array, beta: Array) -> tuple[Array, Array, Array]:
    """Weights, their entropy, and minus its derivative by ``log β``."""
    energy = D2 * beta
    W = np.negative(energy)
    np.exp(W, out=W)
    total = W.sum(axis=1, keepdims=True)
    W /= total
    mean = np.einsum("ij,ij->i", W, energy)
    square = np.einsum("ij,ij,ij->i", W, energy, energy)
    return W, np.log(total[:, 0]) + mean, square - mean**2


def quick_rows(D2: Array, perplexity: float, *, begin: Array | None = None) -> Array:
    """The weights (m, k) of ``perplexity_rows`` in the precision of ``D2`` (m, k), by fewer evaluations.

    Halley's method on ``x = log β``: with energies ``e = β d²`` of mean ``m``, variance ``v`` and third central moment
    ``t`` under the weights, ``H' = -v`` and ``H'' = t - 2v``. Rows that do not reach their perplexity this way (ties,
    outliers in a list) are computed by ``perplexity_rows``. A row's result does not depend on the other rows.
    ``begin`` (m,): bandwidths of rows that differ little, which are nearer to the answer than the usual start.

    Examples
    --------
    >>> W = quick_rows(np.array([[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]]), 2.5)
    >>> round(float(np.exp(-(W * np.log(W)).sum())), 6)
    2.5
    """
    if begin is None or perplexity >= D2.shape[1]:
        return quick_rows_of_each(D2, [perplexity])[0]
    return _quick_rows(D2, np.full(len(D2), np.log(perplexity)), begin=begin)


def quick_rows_of_each(D2: Array, perplexities: Sequence[float]) -> list[Array]:
    """``[quick_rows(D2, perplexity) for perplexity in perplexities]``, to the bit; few rows are computed together."""
    if max(perplexities) >= D2.shape[1]:
        return [perplexity_rows(D2, p)[0] if p >= D2.shape[1] else quick_rows(D2, p) for p in perplexities]
    if len(perplexities) > 1 and len(perplexities) * D2.size > _CACHED:
        return [quick_rows(D2, perplexity) for perplexity in perplexities]
    targets = [float(np.log(perplexity)) for perplexity in perplexities]
    ratio = np.repeat([float(np.log(D2.shape[1])) - target for target in targets], len(D2))
    target = np.repeat(targets, len(D2))
    D2 = np.tile(D2, (len(targets), 1)) if len(targets) > 1 else D2
    return np.split(_quick_rows(D2, target, ratio), len(targets))


def _quick_rows(D2: Array, target: Array, ratio: Array | None = None, begin: Array | None = None) -> Array:
    """Weights (m, k) of entropy ``target`` (m,), by bandwidths to begin at or from ``ratio`` (m,).

    ``ratio``: how far the target is below the entropy of uniform weights.
    """
    least = D2.min(axis=1, keepdims=True)
    shifted = D2 - least
    shifted *= shifted > 50 * np.finfo(D2.dtype).eps * least  # as there: β must not depend on the last bits
    mean = shifted.mean(axis=1, keepdims=True)
    shifted /= np.where(mean > 0, mean, 1)
    single, single_target = shifted.astype(np.float32, copy=False), target.astype(np.float32)
    if ratio is None:
        assert begin is not None
        x = np.log(np.maximum(mean[:, 0], 1e-30) / np.maximum(begin, 1e-30)).astype(np.float32)
        x += _halley(*_moments(single, x)[1:], single_target)
    else:
        x = _from_ratio(single, single_target, ratio)
    x = x.astype(D2.dtype)
    own_target = target.astype(D2.dtype)
    x += _halley(*_moments(shifted, x)[1:], own_target)
    W, entropy, _, _ = _moments(shifted, x)
    off = np.flatnonzero(~(np.abs(entropy - own_target) <= _MISSED[W.dtype]))
    if off.size:
        rows = D2[off].astype(np.float64, copy=False)
        extremes = rows.min(axis=1, keepdims=True), rows.max(axis=1, keepdims=True)
        W[off] = _rows_of_entropy(rows, *extremes, target[off])[0]
    return W


def _from_ratio(D2: Array, target: Array, ratio: Array) -> Array:
    """``log β`` (m,) after some steps in float32, begun at what distances of mean 1 have mostly."""
    x = (_START[0] + _START[1] * ratio).astype(np.float32)
    for _ in range(_STEPS):
        x += _halley(*_moments(D2, x)[1:], target)
    if (narrow := ratio > _NARROW).any():
        some = slice(None) if narrow.all() else narrow  # no copy
        x[some] += _halley(*_moments(D2[some], x[some])[1:], target[some])
    return x


def _moments(D2: Array, x: Array) -> tuple[Array, Array, Array, Array]:
    """Weights at ``log β = x``, their entropy, and variance and third central moment of the energies."""
    energy = D2 * np.exp(x)[:, None]
    W = np.negative(energy)
    np.exp(W, out=W)
    total = W.sum(axis=1)
    W /= total[:, None]
    mean = np.einsum("ij,ij->i", W, energy)
    entropy = np.log(total) + mean
    energy -= mean[:, None]
    spread = W * energy
    variance = np.einsum("ij,ij->i", spread, energy)
    spread *= energy
    return W, entropy, variance, np.einsum("ij,ij->i", spread, energy)


def _halley(entropy: Array, variance: Array, third: Array, target: Array) -> Array:
    """The step of ``log β`` towards an entropy of ``target``."""
    excess = entropy - target
    slope = 2 * variance * variance - excess * (third - 2 * variance)
    step = 2 * excess * variance / np.where(slope > 0, slope, 1)
    return np.asarray(np.clip(step, -_WIDEST_STEP, _WIDEST_STEP))


class LeaveOneOut:
    """Mean leave-one-out log-density of ``rows`` (default all), as a function of the scale of the bandwidths.

    Parameters
    ----------
    X : array of shape (n, d)
    profile : Profile
    relative : array of shape (n,) or None
        Relative bandwidths of the rows; None: all 1.
    rows : array of shape (m,) or None
        Rows at which the density is evaluated.
    n_jobs : int or None
        Threads.

    Notes
    -----
    Memory O(m n): all squared distances are kept.
    """

    def __init__(
        self,
        X: Array,
        profile: Profile,
        relative: Array | None = None,
        rows: Array | None = None,
        n_jobs: int | None = None,
    ) -> None:
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
        self.d, self.n_jobs = int(d), n_jobs
        self.nearest = self.R.min(axis=1)
        self.all_shifts = float(np.log(np.exp(self.shift - self.shift.max()).sum()) + self.shift.max())

    def __call__(self, scale: float) -> float:
        """The mean log-density at bandwidths ``scale · relative_j``."""
        parts = np.array_split(self.R, 1 + self.R.size // _CACHED)
        rows = np.concatenate(run_tiles(lambda R: self._log_sums(R, scale), parts, self.n_jobs))
        mean = float(np.maximum(rows, -1e6).mean())
        return mean - 0.5 * self.d * float(np.log(scale)) + self.constant

    def at_most(self, scale: float) -> float:
        """An upper bound of the mean log-density, in O(m): as if all rows were as near as the nearest one."""
        rows = self.profile.log_value(self.nearest / scale) + self.all_shifts
        mean = float(np.maximum(rows, -1e6).mean())
        return mean - 0.5 * self.d * float(np.log(scale)) + self.constant + _ROUNDING

    def _log_sums(self, R: Array, scale: float) -> Array:
        """``log Σ_j k_ij / h_j^{d/2}`` of a block of rows, without overflow."""
        logs = self.profile.log_value(R / scale)
        logs += self.shift
        top = np.maximum(logs.max(axis=1), -1e300)
        logs -= top[:, None]
        np.maximum(logs, _NOTHING, out=logs)  # smaller ones would be denormal, which takes ten times as long
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(np.exp(logs, out=logs).sum(axis=1)) + top)


def maximise_over_scale(
    score: Callable[[float], float], low: float, high: float, *, at_most: Callable[[float], float] | None = None
) -> float:
    """The scale in ``[low, high]`` with the best score: a grid in the logarithm, refined by a bounded search.

    Parameters
    ----------
    score : callable
        Scale to score; larger is better.
    low, high : float
        Bounds of the scale.
    at_most : callable or None
        Scale to an upper bound of its score, where that is cheaper: scales that cannot be the best are not scored.
    """
    grid = np.linspace(np.log(low), np.log(high), 13)
    values = _scores(score, [float(np.exp(g)) for g in grid], at_most)
    best = int(np.argmax(values))
    bounds = (grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)])
    found = minimize_scalar(
        lambda g: -score(float(np.exp(g))), bounds=bounds, method="bounded", options={"xatol": 0.01}
    )
    return float(np.exp(found.x if -found.fun >= values[best] else grid[best]))


def _scores(
    score: Callable[[float], float], scales: list[float], at_most: Callable[[float], float] | None
) -> list[float]:
    """Scores of the scales, minus infinity for those whose upper bound is below the best score."""
    bounds = [np.inf if at_most is None else at_most(scale) for scale in scales]
    values, best = [-np.inf] * len(scales), -np.inf
    for k in np.argsort(bounds, kind="stable")[::-1]:
        if bounds[k] < best:
            break
        values[k] = score(scales[k])
        best = max(best, values[k])
    return values


def leave_one_out_bandwidth(
    X: Array,
    profile: Profile,
    *,
    typical: float,
    relative: Array | None = None,
    rows: Array | None = None,
    n_jobs: int | None = None,
) -> float:
    """The bandwidth (or the scale of ``relative`` bandwidths) that maximises the leave-one-out likelihood.

    Parameters
    ----------
    X : array of shape (n, d)
    profile : Profile
    typical : float
        A squared distance of the data; the search covers ``1e-6`` to ``1e2`` times it.
    relative : array of shape (n,) or None
        Relative bandwidths of the rows; None: all 1.
    rows : array of shape (m,) or None
        Rows at which the density is evaluated; None: all.
    n_jobs : int or None
        Threads.
    """
    score = LeaveOneOut(X, profile, relative, rows, n_jobs)
    return maximise_over_scale(score, 1e-6 * typical, 1e2 * typical, at_most=score.at_most)
