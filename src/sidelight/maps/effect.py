"""The effect of what is known on the data: ``x ≈ effect(given) + rest``, and the rest is what is to be shown.

means     categories: the mean of each                              effect_c = mean of the rows of c
matched   categories confounded with what remains: the offsets that bring *matched* rows together,

              minimise Σ_(i,j) w_ij |(x_i - b_{c_i}) - (x_j - b_{c_j})|²

          over mutual nearest rows (i, j) of different categories, found again after each step. A batch that holds one
          cell type only is then moved by what its cells differ from the same cells elsewhere, not by its mean
          (iterated closest points; w falls with the distance, so that a minority of false matches is outvoted)
smooth    numbers and angles, alone or with categories: kernel ridge regression on the features of ``given``, bandwidth
          and ridge by leave-one-out error, at most 300 landmarks                   O(n m²), m landmarks
          (beyond 8,192 rows the error is that of so many of them, the regression that of all)

local     once a map is there: what the group of a row differs from all rows *at its place on the map*,
          m(z, g) - m(z), shrunk to the overall effect where there are few rows of the group; over all pairs, and beyond
          8,192 rows on a grid of the map (``maps.places``, q ≤ 3) or from a sample of rows

Which of the first two: the one after which rows find nearer counterparts in other categories (``mismatch``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array

from sidelight.base.tiles import added, run_tiles, spans
from sidelight.kernels.balanced import NEAREST, stratum_distances
from sidelight.kernels.known import gaussian_factors
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.graph import mutual
from sidelight.neighbours.strata import MOST_STRATA, centres, nearest_in_strata

from .places import Places, has_places

__all__ = [
    "Effect",
    "category_effect",
    "local_effect",
    "mismatch",
    "principal_axes",
    "smooth_effect",
    "subtract_effect",
]

Array = npt.NDArray[Any]
_LANDMARKS = 300
_BANDWIDTHS = np.array([0.1, 0.3, 1.0])  # of the kernel, in mean squared distances of the features: ``given`` is narrow
_MARGIN = 0.05  # of mismatch: matched offsets must be clearly better than means to be believed
_LEAST_FREEDOM = 1e-6  # 1 - leverage of every row: with less, the leave-one-out error of a row is rounding
_ROWS = 1500  # rows looked at to find matches
_PLACE = 0.1  # of the mean squared distance on the map: how wide a place is
_MANY = 8192  # rows up to which all of them are compared with all, and beyond which so many of them have to do
_PLACE_FACTORS = 20  # columns that a kernel of numbers at a place may take
_SHRINKAGE_COUNT = 3.0  # rows of a group at a place that count as much as the overall effect


@dataclass(frozen=True)
class Effect:
    """``effect(f) = k(f) A`` with ``k_l(f) = exp(-|f - landmark_l|² / bandwidth)``, and 1 as the last feature.

    Categories have their own features as landmarks and bandwidth 0: the coefficients are looked up, and a combination
    that was never seen takes the mean of the nearest ones.
    """

    landmarks: Array
    bandwidth: float
    coefficients: Array

    def __call__(self, features: Array) -> Array:
        """The effect at each row of features (m, d)."""
        out = np.empty((len(features), self.coefficients.shape[1]))
        for rows in spans(len(features), _MANY):
            np.matmul(_basis(features[rows], self.landmarks, self.bandwidth), self.coefficients, out=out[rows])
        return out


def subtract_effect(points: Array, effect: Effect, features: Array) -> Array:
    """``points`` (n, d) less the effect of their features; many rows of single numbers stay single."""
    if len(points) <= _MANY:
        return np.asarray(points - effect(features))
    out = np.empty_like(points)
    for rows in spans(len(points), _MANY):
        np.subtract(points[rows], effect(features[rows]), out=out[rows], casting="same_kind")
    return out


def _basis(features: Array, landmarks: Array, bandwidth: float) -> Array:
    D = squared_distances(features, landmarks)
    if bandwidth == 0:
        rounding = 1e-9 * D.max(axis=1, keepdims=True)
        nearest_ones = (D.min(axis=1, keepdims=True) + rounding >= D).astype(np.float64)
        return np.asarray(nearest_ones / nearest_ones.sum(axis=1, keepdims=True))
    return np.column_stack([np.exp(-D / bandwidth), np.ones(len(features))])


def category_effect(points: Array, features: Array, codes: Array, n_jobs: int | None = None) -> tuple[Effect, bool]:
    """The effect of categories, and whether they are confounded with what remains."""
    n_codes = int(codes.max()) + 1
    first = np.unique(codes, return_index=True)[1]
    counts = np.bincount(codes, minlength=n_codes)
    sums = coo_array((np.ones(len(codes)), (codes, np.arange(len(codes))))).tocsr() @ points
    means = sums / counts[:, None]
    if not 1 < n_codes <= MOST_STRATA or counts.min() < 2:
        return Effect(features[first], 0.0, means), False
    rows = _some_of_each(codes, _ROWS)
    some, groups = points[rows], codes[rows]
    axes = principal_axes(some)
    projected = some @ axes
    starts = np.zeros((n_codes, axes.shape[1])), means @ axes
    found = [means, *(_matched_offsets(some, projected, groups, start, n_jobs) for start in starts)]
    by_means, *by_matches = (mismatch(projected - (b @ axes)[groups], groups, n_jobs=n_jobs) for b in found)
    confounded = min(by_matches) < by_means - _MARGIN
    offsets = found[1 + int(np.argmin(by_matches))] if confounded else means
    offsets = offsets + np.average(means - offsets, axis=0, weights=counts)
    return Effect(features[first], 0.0, offsets), bool(confounded)


def mismatch(points: Array, codes: Array, *, n_jobs: int | None = None) -> float:
    """Mean log ratio of the distance to the nearest rows of the best other group and of the own group.

    0 where groups lie in each other; a two-sample test by nearest neighbours, for each row its best other group.
    """
    n = np.arange(len(points))
    D = stratum_distances(nearest_in_strata(points, codes, NEAREST, n_jobs=n_jobs), len(points))
    own = D[n, codes].copy()
    D[n, codes] = np.inf
    best = D.min(axis=1)
    fine = np.isfinite(own) & np.isfinite(best) & (own > 0)
    tiny = 1e-12 * float(own[fine].mean()) if fine.any() else 1.0
    return float(0.5 * np.mean(np.log(np.maximum(best[fine], tiny) / own[fine]))) if fine.any() else 0.0


def _spread(n: int, most: int) -> Array:
    """Rows spread evenly over the data, all if they are few."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _some_of_each(codes: Array, most: int) -> Array:
    """About ``most`` rows in proportion to the categories, but five of each where it has them."""
    if len(codes) <= most:
        return np.arange(len(codes))
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    share = most / len(codes)
    return np.sort(np.concatenate([m[_spread(len(m), max(5, round(share * len(m))))] for m in members]))


def principal_axes(points: Array, most: int = 50) -> Array:
    """The main directions of the data (d, r), from at most 1,000 of its rows: enough to say who is near whom."""
    if points.shape[1] <= most:
        return np.eye(points.shape[1])
    some = points[_spread(len(points), 1000)]
    some = some - some.mean(axis=0)
    values, vectors = np.linalg.eigh(some @ some.T)
    kept = np.flatnonzero(values > 1e-12 * max(values[-1], 1e-300))[-most:]
    return np.asarray(some.T @ (vectors[:, kept] / np.sqrt(values[kept]))) if len(kept) else np.eye(points.shape[1])


def _matched_offsets(
    points: Array, projected: Array, codes: Array, start: Array, n_jobs: int | None, n_rounds: int = 20
) -> Array:
    """Offsets (C, d) that bring matched rows of different categories together, from those of ``start`` (C, r).

    Matches are looked for in the ``projected`` of the points on their main directions (n, r).
    """
    moved, n_codes = projected - start[codes], len(start)
    before = solve = None
    for _ in range(n_rounds):
        i, j, weight = _matches(moved, codes, n_jobs)
        if len(i) == 0:
            break
        solve = _offset_solver(codes, n_codes, i, j, weight)
        found = solve(projected)
        moved = projected - found[codes]
        if before is not None and np.linalg.norm(found - before) <= 1e-3 * np.linalg.norm(found):
            break
        before = found
    return np.zeros((n_codes, points.shape[1])) if solve is None else solve(points)


def _offset_solver(codes: Array, n_codes: int, i: Array, j: Array, weight: Array) -> Callable[[Array], Array]:
    """The least-squares offsets (C, r) of any (n, r) rows, for these matches."""
    pairs = coo_array((weight, (codes[i], codes[j])), shape=(n_codes, n_codes)).toarray()
    inverse = np.linalg.pinv(np.diag(pairs.sum(axis=1)) - pairs, rcond=1e-9, hermitian=True)
    sides = np.concatenate([codes[i], codes[i]]), np.concatenate([i, j])
    incidence = coo_array((np.concatenate([weight, -weight]), sides), shape=(n_codes, len(codes))).tocsr()
    return lambda rows: np.asarray(inverse @ (incidence @ rows))


def _matches(points: Array, codes: Array, n_jobs: int | None) -> tuple[Array, Array, Array]:
    """Mutual nearest rows of different categories, each pair both ways, and how much each counts."""
    n = len(points)
    sources, targets, lengths, scale = [], [], [], np.full(n, np.inf)
    for code, stratum in enumerate(nearest_in_strata(points, codes, 3, n_jobs=n_jobs)):
        other = codes[stratum.rows] != code
        scale[stratum.rows[~other]] = stratum.neighbours.distance[~other, 0]
        width = stratum.neighbours.index.shape[1]
        sources.append(np.repeat(stratum.rows[other], width))
        targets.append(stratum.neighbours.index[other].ravel())
        lengths.append(stratum.neighbours.distance[other].ravel())
    i, j, length = (np.concatenate(part) for part in (sources, targets, lengths))
    both = mutual(i, j, n)
    i, j, length = i[both], j[both], length[both]
    near = scale[i] + scale[j]
    weight = 1.0 / (1.0 + (length / np.where(near > 0, near, 1.0)) ** 2) ** 2
    return i, j, weight


def smooth_effect(points: Array, features: Array, *, bandwidths: Array = _BANDWIDTHS) -> Effect:
    """Kernel ridge regression of the data on the features; bandwidth and ridge by leave-one-out error.

    The error is that of the main directions of the data, which is enough to choose by.
    """
    landmarks, mean = _landmarks(features), points.mean(axis=0)
    rows = _spread(len(points), _MANY)
    centred = points[rows] - mean
    projected = centred @ principal_axes(centred)
    spread = 2.0 * float(features.var(axis=0).sum()) or 1.0
    choices = [(h, _Ridge.of(_basis(features[rows], landmarks, h))) for h in spread * bandwidths]
    scored = [(*ridge.best(projected), bandwidth, ridge) for bandwidth, ridge in choices]
    _, penalty, bandwidth, ridge = min(scored, key=lambda entry: entry[0])
    if len(rows) == len(points):
        coefficients = ridge.solve(centred, penalty)
    else:
        coefficients = _regression(points, mean, features, landmarks, float(bandwidth), penalty)
    coefficients[-1] += mean
    return Effect(landmarks, float(bandwidth), coefficients)


def _regression(
    points: Array, mean: Array, features: Array, landmarks: Array, bandwidth: float, penalty: float
) -> Array:
    """The coefficients (m, d) of all rows by the normal equations, tile by tile, with the penalty of a sample."""

    def one(rows: slice) -> tuple[Array, Array]:
        B = _basis(features[rows], landmarks, bandwidth)
        return B.T @ B, B.T @ (points[rows] - mean)

    parts = [one(rows) for rows in spans(len(points), _MANY)]
    squares, products = (added([part[which] for part in parts]) for which in (0, 1))
    S, V = np.linalg.eigh(squares)
    S = np.maximum(S, 0.0) + max(penalty, 1e-13 * float(S[-1]))
    return np.asarray(V @ ((V.T @ products) / S[:, None]))


def local_effect(
    points: Array, Z: Array, features: Array, categories: Array, overall: Array, n_jobs: int | None = None
) -> Array:
    """The effect of ``given`` at each row's place on the map (n, d); ``overall`` (n, d) is the one without places."""
    spread = Z - Z.mean(axis=0)
    width = _PLACE * 2.0 * float(np.mean(np.einsum("ij,ij->i", spread, spread))) or 1.0
    typical = overall - overall.mean(axis=0)
    if len(points) > _MANY and has_places(Z, width):
        return _on_places(points, Z, features, categories, typical, width)
    some = _some_of_each(categories, _MANY)
    sources = points if len(some) == len(points) else points[some]
    Z_some, features_some, categories_some = Z[some], features[some], categories[some]
    stands_for = len(points) / len(some)

    def one(rows: slice) -> Array:
        W = np.exp(-squared_distances(Z[rows], Z_some) / width)
        everyone = W @ sources / W.sum(axis=1, keepdims=True)
        W *= np.exp(-squared_distances(features[rows], features_some)) * (categories[rows, None] == categories_some)
        count = W.sum(axis=1, keepdims=True)
        share = count / (count + _SHRINKAGE_COUNT / stands_for)
        return np.asarray(share * (W @ sources / count - everyone) + (1 - share) * typical[rows])

    return np.concatenate(run_tiles(one, spans(len(points), max(8, 2_000_000 // len(some))), n_jobs))


def _on_places(points: Array, Z: Array, features: Array, categories: Array, typical: Array, width: float) -> Array:
    """The same on a grid of the map: the rows of a category at a time, its numbers by the factors of their kernel."""
    places = Places.of(Z, width)
    mean = points.mean(axis=0)  # of what is smoothed little is then lost to rounding
    everyone = places.smoothed(np.ones((len(points), 1)))
    out = places.smoothed(points - mean)
    out /= -everyone
    for category in range(int(categories.max()) + 1):
        rows = np.flatnonzero(categories == category)
        held = np.column_stack([points[rows] - mean, np.ones(len(rows), dtype=points.dtype)])
        A = gaussian_factors(features[rows], 1.0, _PLACE_FACTORS)
        found = np.zeros_like(held)
        for a in A.T[:, :, None].astype(points.dtype):
            part = places.smoothed(a * held, rows)
            part *= a
            found += part
        found, count = found[:, :-1], np.maximum(found[:, -1:], 0.0)
        out[rows] = (found + count * out[rows] + _SHRINKAGE_COUNT * typical[rows]) / (count + _SHRINKAGE_COUNT)
    return out


def _landmarks(features: Array) -> Array:
    """The distinct rows, or 300 centres of them."""
    distinct, weight = np.unique(features, axis=0, return_counts=True)
    return np.asarray(distinct) if len(distinct) <= _LANDMARKS else centres(distinct, weight, _LANDMARKS)[0]


@dataclass(frozen=True)
class _Ridge:
    """Ridge regression on the columns of ``B = U diag(S) Vt`` for any penalty."""

    U: Array
    S: Array
    Vt: Array

    @classmethod
    def of(cls, B: Array) -> _Ridge:
        U, S, Vt = np.linalg.svd(B, full_matrices=False)
        kept = 1e-10 * S[0] < S
        return cls(U[:, kept], S[kept], Vt[kept])

    def best(self, rows: Array) -> tuple[float, float]:
        """The least leave-one-out error (the sum of squares), and its penalty."""
        V = self.U.T @ rows
        found = []
        for penalty in self.S[0] ** 2 * 10.0 ** np.arange(0.0, -16.0, -1.0):
            shrunk = self.S**2 / (self.S**2 + penalty)
            leverage = np.einsum("ij,j,ij->i", self.U, shrunk, self.U)
            if leverage.max() > 1 - _LEAST_FREEDOM:
                break
            residual = (rows - self.U @ (shrunk[:, None] * V)) / (1 - leverage)[:, None]
            found.append((float(np.einsum("ij,ij->", residual, residual)), float(penalty)))
        return min(found, key=lambda entry: entry[0])

    def solve(self, rows: Array, penalty: float) -> Array:
        """The coefficients (m, d)."""
        return np.asarray(self.Vt.T @ ((self.S / (self.S**2 + penalty))[:, None] * (self.U.T @ rows)))
