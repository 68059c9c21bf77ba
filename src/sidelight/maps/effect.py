"""Regress the data on the side information: ``x ≈ effect(given) + rest``; the residual ``rest`` is then embedded.

means     categories: the mean of each                              effect_c = mean of the rows of c
matched   categories that are confounded with the residual: offsets that bring *matched* rows together
          (``maps.matched``). A batch with only one cell type is then shifted by its difference from the same cells in
          other batches, not by its mean. Where the groups of a part of the data are still apart, the part has further
          offsets (``maps.local_offsets``), and the effect depends on the row, too.
smooth    numbers and angles: kernel ridge regression on their features (``maps.smooth_effect``)
both      categories and numbers: the sum of the two

local     once there is an embedding: difference between the local mean of the row's group and that of all rows,
          m(z, g) - m(z), both at its latent point. With few rows of the group nearby it is shrunk to the overall
          effect. Computed over all pairs; beyond 8,192 rows on a grid (``maps.latent_grid``, q ≤ 3) or from a sample.

Of means and matched, the one is used that brings the categories nearer to each other on rows held out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.given_kernels import gaussian_factors
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.strata import MOST_STRATA

from .latent_grid import LatentGrid, grid_is_affordable
from .local_offsets import LocalOffsets, local_offsets
from .matched import group_means, matched_offsets

__all__ = [
    "Effect",
    "category_effect",
    "design_matrix",
    "local_effect",
    "principal_axes",
    "spread_evenly",
    "subtract_effect",
]

Array = npt.NDArray[Any]
_ROWS = 1500  # rows used to find matches
_PLACE = 0.1  # bandwidth of the local effect, as a share of the mean squared latent distance
_MANY = 8192  # rows up to which all pairs are computed; with more, a sample of this size is used
_PLACE_FACTORS = 20  # most factors of the kernel of numeric features in the local effect
_SHRINKAGE_COUNT = 3.0  # prior count: so many nearby rows of a group weigh as much as the overall effect


@dataclass(frozen=True)
class Effect:
    """Fitted ``effect(f) = k(f) A`` with ``k_l(f) = exp(-|f - landmark_l|² / bandwidth)``, and 1 as last feature.

    For categories the landmarks are their encoded features and the bandwidth is 0: coefficients are looked up, and an
    unseen combination gets the mean of the nearest ones. The effect of categories *and* numbers is that of the
    categories, with that of the numbers as its ``further`` effect.

    Parameters
    ----------
    landmarks : array of shape (m, f)
    bandwidth : float
    coefficients : array of shape (m + 1, d), or (m, d) for categories
    local : LocalOffsets or None
        For categories: what the effect on a row differs by in its part of the data.
    columns : array of shape (k,) or None
        The features that it depends on; None: all.
    further : Effect or None
        An effect that is added.
    """

    landmarks: Array
    bandwidth: float
    coefficients: Array
    local: LocalOffsets | None = None
    columns: Array | None = None
    further: Effect | None = None

    def at_rows(self, rows: Array, features: Array) -> Array:
        """Effect (n, d) on rows (n, d) with features (n, f)."""
        out = self(features)
        if self.local is not None:
            other = None if self.further is None else self.further(features)
            for part in spans(len(rows), _MANY):
                own = rows[part] if other is None else rows[part] - other[part]
                out[part] += self.local.at_rows(own, self.coefficients, self.members(features[part]))
        return out

    def at_rest(self, rest: Array, features: Array) -> Array:
        """Effect (n, d) of features (n, f) on rows without the effect, ``rest`` (n, d)."""
        out = self(features)
        if self.local is not None:
            for part in spans(len(rest), _MANY):
                out[part] += self.local.at_rest(rest[part], self.members(features[part]))
        return out

    def mean_at_rest(self, rest: Array, features: Array) -> Array:
        """Effect on rows without the effect, ``rest`` (n, d), in the mean over rows of features (m, f): (n or 1, d)."""
        distinct, counts = np.unique(features, axis=0, return_counts=True)
        mean = np.average(self(distinct), axis=0, weights=counts)[None]
        if self.local is None:
            return mean
        own = features if self.columns is None else features[:, self.columns]
        distinct, counts = np.unique(own, axis=0, return_counts=True)  # of categories, which are few
        members = design_matrix(distinct, self.landmarks, self.bandwidth)
        out = np.repeat(mean, len(rest), axis=0)
        for part in spans(len(rest), _MANY):
            here = rest[part]
            for member, share in zip(members, counts / counts.sum(), strict=True):
                out[part] += share * self.local.at_rest(here, np.broadcast_to(member, (len(here), len(member))))
        return out

    def __call__(self, features: Array) -> Array:
        """Effect (n, d) at features (n, f), of the whole groups."""
        out = np.empty((len(features), self.coefficients.shape[1]))
        for rows in spans(len(features), _MANY):
            np.matmul(self.members(features[rows]), self.coefficients, out=out[rows])
        return out if self.further is None else np.asarray(out + self.further(features))

    def members(self, features: Array) -> Array:
        """Design matrix (n, m) at features (n, f): for categories the weights of the groups of each row."""
        own = features if self.columns is None else features[:, self.columns]
        return design_matrix(own, self.landmarks, self.bandwidth)


def subtract_effect(points: Array, effect: Effect, features: Array) -> Array:
    """Residuals ``points - effect`` (n, d); more than 8,192 rows keep the dtype of ``points``."""
    if len(points) <= _MANY:
        return np.asarray(points - effect.at_rows(points, features))
    out = np.empty_like(points)
    for rows in spans(len(points), _MANY):
        effect_there = effect.at_rows(points[rows], features[rows])
        np.subtract(points[rows], effect_there, out=out[rows], casting="same_kind")
    return out


def design_matrix(features: Array, landmarks: Array, bandwidth: float) -> Array:
    """Design matrix of the effect: kernel values and a constant column, or for bandwidth 0 the nearest landmarks."""
    D = squared_distances(features, landmarks)
    if bandwidth == 0:
        rounding = 1e-9 * D.max(axis=1, keepdims=True)
        nearest_ones = (D.min(axis=1, keepdims=True) + rounding >= D).astype(np.float64)
        return np.asarray(nearest_ones / nearest_ones.sum(axis=1, keepdims=True))
    return np.column_stack([np.exp(-D / bandwidth), np.ones(len(features))])


def category_effect(points: Array, features: Array, codes: Array, n_jobs: int | None = None) -> tuple[Effect, bool]:
    """Estimate the effect of categories, by group means or by matched rows.

    Parameters
    ----------
    points : array of shape (n, d)
    features : array of shape (n, f)
        Encoded categories.
    codes : array of shape (n,)
        Category of each row, 0 to C - 1.
    n_jobs : int or None
        Threads.

    Returns
    -------
    effect : Effect
    confounded : bool
        Whether categories are confounded with the residual, so that matched rows were used instead of means.
    """
    n_codes = int(codes.max()) + 1
    first = np.unique(codes, return_index=True)[1]
    counts = np.bincount(codes, minlength=n_codes)
    means = group_means(points, codes)
    if not 1 < n_codes <= MOST_STRATA or counts.min() < 2:
        return Effect(features[first], 0.0, means), False
    rows = _stratified_sample(codes, _ROWS)
    some, groups = points[rows], codes[rows]
    axes = principal_axes(some)
    offsets = matched_offsets(some, some @ axes, groups, n_jobs)
    if offsets is None:
        return Effect(features[first], 0.0, means), False
    effectless = not offsets.any()  # then it has no parts either
    offsets = offsets + np.average(means - offsets, axis=0, weights=counts)
    local = None if effectless else local_offsets(some - offsets[groups], axes, groups, n_jobs)
    return Effect(features[first], 0.0, offsets, local), True


def spread_evenly(n: int, most: int) -> Array:
    """Indices of at most ``most`` of n rows, evenly spaced."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def _stratified_sample(codes: Array, most: int) -> Array:
    """Stratified sample of about ``most`` row indices, with at least five rows per category where available."""
    if len(codes) <= most:
        return np.arange(len(codes))
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(codes))[:-1])
    share = most / len(codes)
    return np.sort(np.concatenate([m[spread_evenly(len(m), max(5, round(share * len(m))))] for m in members]))


def principal_axes(points: Array, most: int = 50) -> Array:
    """Leading principal directions (d, r) from at most 1,000 rows; accurate enough for finding neighbours.

    The identity for at most ``most`` columns.
    """
    if points.shape[1] <= most:
        return np.eye(points.shape[1])
    some = points[spread_evenly(len(points), 1000)]
    some = some - some.mean(axis=0)
    values, vectors = np.linalg.eigh(some @ some.T)
    kept = np.flatnonzero(values > 1e-12 * max(values[-1], 1e-300))[-most:]
    return np.asarray(some.T @ (vectors[:, kept] / np.sqrt(values[kept]))) if len(kept) else np.eye(points.shape[1])


def local_effect(
    points: Array, Z: Array, features: Array, categories: Array, overall: Array, n_jobs: int | None = None
) -> Array:
    """Effect of ``given`` at each row (n, d), estimated from its neighbours in the latent space.

    Parameters
    ----------
    points : array of shape (n, d)
    Z : array of shape (n, q)
        Latent points.
    features : array of shape (n, f)
        Encoded ``given``.
    categories : array of shape (n,)
        Category of each row; only rows of the same one count as its group.
    overall : array of shape (n, d)
        The effect that does not depend on the latent point; estimates from few rows are shrunk to it.
    n_jobs : int or None
        Threads.

    Notes
    -----
    Time O(n · min(n, 8192) · d), or near-linear in n on a grid (``maps.latent_grid``).
    """
    spread = Z - Z.mean(axis=0)
    width = _PLACE * 2.0 * float(np.mean(np.einsum("ij,ij->i", spread, spread))) or 1.0
    typical = overall - overall.mean(axis=0)
    if len(points) > _MANY and grid_is_affordable(Z, width):
        return _on_places(points, Z, features, categories, typical, width)
    some = _stratified_sample(categories, _MANY)
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
    """The local effect on a grid of the latent space, one category at a time.

    The kernel of the numeric features is replaced by a low-rank factorisation.
    """
    places = LatentGrid.of(Z, width)
    mean = points.mean(axis=0)  # centred, to lose less to rounding
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
