r"""Density of rows by kernels that take the shape of their surroundings, chosen by held-out likelihood.

Rows are divided into G groups with means m_g and covariances C_g (EM of a Gaussian mixture on at most 1,500 rows, each
covariance shrunk towards the pooled one as if by ν d more rows). Row j of group g has a kernel with the covariance of
its group, scaled by s, and a centre that is drawn towards the group's mean so that the group keeps its covariance (West
1993):

.. math::

    p_1(x) = \tfrac1n \sum_j N\big(x;\; m_g + \sqrt{1 - s}\,(x_j - m_g),\; s\, C_g\big), \qquad
    p(x) = (1 - ε)\, p_1(x) + ε\, p_0(x)

s = 1 is the Gaussian mixture itself, a small s a kernel density with oriented kernels; manifold Parzen windows
(Vincent & Bengio 2003) have one covariance per row. p_0 is the density with round kernels (``maps.parzen``): no row is
less likely than ε p_0. G, ν, s and ε have the largest likelihood of rows in three folds, each held out of the groups;
where that is smaller than the leave-one-out likelihood of p_0, p_0 it is. New rows are compared with training rows that
were held out in ten folds. For up to 100 columns and 20,000 rows.
Cost: about 34 runs of EM, O(rows · G · d²) per iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import solve_triangular
from scipy.special import logsumexp

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.distances import bounded, padded_product, squared_distances
from sidelight.neighbours.landmarks import spread_rows

from .known_rows import compared_logs
from .parzen import ParzenDensity, log_sum
from .typicality import p_values_among

__all__ = ["LocalDensity", "local_density"]

Array = npt.NDArray[Any]
MOST_COLUMNS, MOST_ROWS = 100, 20_000
_GROUPS = (1, 2, 4, 8, 16)
_SHRINK = (1.0, 0.3, 3.0)  # ν; the first for every number of groups, the others for the best
_SCALES = (0.02, 0.05, 0.1, 0.2, 0.4, 0.7, 1.0)  # s
_ROUND = (0.02, 0.1, 0.3)  # ε
_FLOOR = 1e-4  # of the mean variance, added to every variance: columns that hardly vary are no information
_FOLDS, _LEARNED, _PER_GROUP, _FEWEST = 3, 1500, 20, 60
_FINE = 10  # folds of the densities that new rows are compared with: with 3, new rows would look too usual
_STEPS, _TOLERANCE, _BUDGET = 60, 1e-4, 2_000_000


@dataclass(frozen=True)
class Groups:
    """Weights (G,), means (G, d) and inverse Cholesky factors (G, d, d) of a Gaussian mixture."""

    weights: Array
    means: Array
    inverse_factors: Array

    def whitened(self, X: Array, g: int) -> Array:
        """Rows (m, d) in coordinates in which group g has mean 0 and unit covariance."""
        return padded_product(bounded(X) - self.means[g], self.inverse_factors[g].T)

    def log_volumes(self) -> Array:
        """``log |C_g|^(1/2) + d/2 log 2π`` (G,)."""
        d = self.means.shape[1]
        diagonals = np.diagonal(self.inverse_factors, axis1=1, axis2=2)
        return np.asarray(0.5 * d * np.log(2 * np.pi) - np.log(diagonals).sum(axis=1))

    def joint(self, X: Array) -> Array:
        """``log w_g N(x; m_g, C_g)`` (m, G)."""
        squares = [(self.whitened(X, g) ** 2).sum(axis=1) for g in range(len(self.weights))]
        return np.asarray(np.log(self.weights) - 0.5 * np.column_stack(squares) - self.log_volumes())


@dataclass(frozen=True)
class LocalDensity:
    """Mixture of kernels in the shape of their group and round kernels.

    ``groups``; ``points`` (n, d), the rows; ``member`` (n,), their groups; ``scale`` s; ``share`` ε; ``round`` p_0;
    ``own`` (m,): log densities of the training rows ``held_out`` (m,), each held out.
    """

    groups: Groups
    points: Array
    member: Array
    scale: float
    share: float
    round: ParzenDensity
    own: Array
    held_out: Array

    def log_density(self, Q: Array, n_jobs: int | None = None) -> Array:
        """``log p`` (m,) at each query (m, p)."""
        tile = max(8, _BUDGET // max(len(self.points), 1))
        _ = self.whitened  # before threads ask for it
        parts = run_tiles(lambda part: self._log_kernels(Q[part]), spans(len(Q), tile), n_jobs)
        return _mixed(np.concatenate(parts), self.round.log_density(Q, n_jobs), self.share)

    @cached_property
    def whitened(self) -> tuple[GroupRows, ...]:
        """The rows of each group in its own coordinates, computed once for all queries."""
        return whitened_rows(self.groups, self.points, self.member, (self.scale,))

    def _log_kernels(self, Q: Array) -> Array:
        return np.asarray(_log_sums(self.groups, self.whitened, Q, len(self.points), (self.scale,))[0])

    def typicality(self, Q: Array, n_jobs: int | None = None) -> Array:
        """Share (m,) of held-out training rows with a lower density than each query (m, p).

        A query that equals a training row is taken for it, and held out, too (``maps.known_rows``).
        """
        rows = self.round.known.find(Q)
        return np.asarray(np.searchsorted(self.own_log_densities, self._compared(Q, rows, n_jobs)) / len(self.own))

    @cached_property
    def own_log_densities(self) -> Array:
        """Sorted log densities (m,) of training rows that were held out."""
        return np.asarray(np.sort(self.own))

    def p_value(self, Q: Array, n_jobs: int | None = None) -> Array:
        """Conformal p-value (m,) of each query (m, p) among the held-out training rows."""
        rows = self.round.known.find(Q)
        return p_values_among(self.own_log_densities, self._compared(Q, rows, n_jobs), rows >= 0)

    def own_typicality(self) -> Array:
        """Typicality (n,) of the training rows, each held out."""
        own = self.own_log_densities
        return np.asarray(np.searchsorted(own, self._held_out_logs(np.arange(len(self.points)))) / len(own))

    def _compared(self, Q: Array, rows: Array, n_jobs: int | None) -> Array:
        """Log densities (m,) of queries; of training rows, whose numbers are ``rows`` (m,), else -1, held out."""
        return compared_logs(Q, rows, lambda new: self.log_density(new, n_jobs), self._held_out_logs)

    def _held_out_logs(self, rows: Array) -> Array:
        """Log densities (m,) of training rows: held out in folds, or without their own kernel if not in the folds."""
        place = np.full(len(self.points), -1)
        place[self.held_out] = np.arange(len(self.held_out))
        logs, others = self.own[place[rows]], rows[place[rows] < 0]
        if len(others):
            logs[place[rows] < 0] = self._without_own(others)
        return np.asarray(logs)

    def _without_own(self, rows: Array) -> Array:
        """Log densities (m,) of training rows without their own kernels; the groups have learned from them."""
        n, d = self.points.shape
        all_kernels = self._log_kernels(self.points[rows]) + np.log(n)
        own = np.empty(len(rows))
        for g in range(len(self.groups.weights)):
            at = np.flatnonzero(self.member[rows] == g)
            step = (1 - np.sqrt(1 - self.scale)) ** 2 / self.scale  # from a row to the centre of its kernel
            squares = step * (self.groups.whitened(self.points[rows[at]], g) ** 2).sum(axis=1)
            own[at] = -0.5 * squares - 0.5 * d * np.log(self.scale) - self.groups.log_volumes()[g]
        with np.errstate(divide="ignore"):
            rest = all_kernels + np.log(-np.expm1(np.minimum(own - all_kernels, 0.0)))
        return _mixed(rest - np.log(n - 1), self.round.held_out_log_densities(rows), self.share)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw ``n`` points (n, p)."""
        drawn = self.round.sample(n, rng)
        rows, noise, shaped = rng.integers(len(self.points), size=n), rng.standard_normal(drawn.shape), rng.random(n)
        for g in range(len(self.groups.weights)):
            at = np.flatnonzero((self.member[rows] == g) & (shaped >= self.share))
            mean = self.groups.means[g]
            centre = mean + np.sqrt(1 - self.scale) * (self.points[rows[at]] - mean)
            steps = solve_triangular(self.groups.inverse_factors[g], noise[at].T, lower=True).T
            drawn[at] = centre + np.sqrt(self.scale) * steps
        return drawn


def local_density(density: ParzenDensity) -> LocalDensity | None:
    """The density in the shape of the surroundings of the rows of ``density``; None where round kernels do better."""
    n, d = density.points.shape
    if not (_FEWEST <= n <= MOST_ROWS and d <= MOST_COLUMNS) or density.kernel != "gaussian":
        return None
    points = np.asarray(density.points, dtype=np.float64)
    rows = spread_rows(n, _LEARNED)
    X = points[rows]
    if not X.var(axis=0).any():
        return None
    round_ = density.held_out_log_densities(rows)
    found: list[_Choice] = []
    for count in _GROUPS:
        if count > 1 and len(X) * (1 - 1 / _FOLDS) < _PER_GROUP * count:
            break
        found.append(_choice(X, round_, count, _SHRINK[0]))
        if len(found) > 1 and found[-1].value < found[-2].value:
            break
    best = max(found, key=lambda one: one.value)
    if best.count > 1:
        best = max([best, *(_choice(X, round_, best.count, shrink) for shrink in _SHRINK[1:])], key=lambda c: c.value)
    if best.value <= round_.mean():
        return None
    groups = fitted_groups(X, best.count, best.shrink)
    member = groups.joint(points).argmax(axis=1)
    own = _mixed(_held_out(X, best.count, best.shrink, (best.scale,), _FINE)[0], round_, best.share)
    return LocalDensity(groups, points, member, best.scale, best.share, density, own, rows)


@dataclass(frozen=True)
class _Choice:
    """A setting, the mean log density of rows held out under it, and their log densities (n,)."""

    count: int
    shrink: float
    scale: float
    share: float
    value: float
    own: Array


def _choice(X: Array, round_: Array, count: int, shrink: float) -> _Choice:
    """The best s and ε for a number of groups, by cross-validation."""
    logs = _held_out(X, count, shrink, _SCALES, _FOLDS)
    every = [
        _Choice(count, shrink, s, share, 0.0, _mixed(row, round_, share))
        for s, row in zip(_SCALES, logs, strict=True)
        for share in _ROUND
    ]
    return max((replace(one, value=float(one.own.mean())) for one in every), key=lambda one: one.value)


def _held_out(X: Array, count: int, shrink: float, scales: tuple[float, ...], n_folds: int) -> Array:
    """``log p_1`` (S, n) of rows held out in folds, for each scale."""
    fold = np.arange(len(X)) % n_folds
    logs = np.empty((len(scales), len(X)))
    for k in range(n_folds):
        learned = X[fold != k]
        groups = fitted_groups(learned, count, shrink)
        member = groups.joint(learned).argmax(axis=1)
        logs[:, fold == k] = log_kernel_sums(groups, learned, member, X[fold == k], scales)
    return logs


class GroupRows(NamedTuple):
    """Rows of one group, drawn towards its mean, in coordinates in which it has unit covariance; for each scale."""

    group: int
    places: tuple[Array, ...]
    """Of each scale: (k, d)."""
    squares: tuple[Array, ...]
    """Of each scale: their squared lengths (k,)."""


def whitened_rows(groups: Groups, X: Array, member: Array, scales: tuple[float, ...]) -> tuple[GroupRows, ...]:
    """The rows ``X`` (n, d) of each group that has any; ``member`` (n,) are their groups."""
    out = []
    for g in range(len(groups.weights)):
        inside = X[member == g]
        if len(inside):
            own = groups.whitened(inside, g)
            places = tuple(np.sqrt(1 - s) * own for s in scales)
            out.append(GroupRows(g, places, tuple(np.einsum("ij,ij->i", some, some) for some in places)))
    return tuple(out)


def log_kernel_sums(groups: Groups, X: Array, member: Array, Q: Array, scales: tuple[float, ...]) -> Array:
    """``log p_1`` (S, m) at queries (m, d) for each scale; ``member`` (n,) are the groups of the rows ``X`` (n, d)."""
    return _log_sums(groups, whitened_rows(groups, X, member, scales), Q, len(X), scales)


def _log_sums(groups: Groups, rows: tuple[GroupRows, ...], Q: Array, n: int, scales: tuple[float, ...]) -> Array:
    """``log p_1`` (S, m) at queries (m, d), from the whitened rows of the groups, n together."""
    d, volumes, parts = Q.shape[1], groups.log_volumes(), []
    for g, places, squares in rows:
        asked = groups.whitened(Q, g)
        of_group = [
            log_sum(squared_distances(asked, places[i], squares[i]) / (-2 * s)) - 0.5 * d * np.log(s)
            for i, s in enumerate(scales)
        ]
        parts.append(np.array(of_group) - volumes[g])
    return np.asarray(logsumexp(np.array(parts), axis=0) - np.log(n))


def fitted_groups(X: Array, count: int, shrink: float) -> Groups:
    """Gaussian mixture of rows (n, d) by EM, with covariances shrunk towards their mean as if by ``shrink`` d rows."""
    d = X.shape[1]
    R = np.eye(count)[_nearest_centre(X, count)]
    floor, before = _FLOOR * float(X.var(axis=0).mean()), -np.inf
    for _ in range(_STEPS):
        groups = _groups_of(X, R, shrink * d, floor)
        joint = groups.joint(X)
        total = logsumexp(joint, axis=1)
        value = float(total.mean())
        if count == 1 or value - before < _TOLERANCE * max(abs(value), 1.0):
            break
        R, before = np.exp(joint - total[:, None]), value
    return groups


def _groups_of(X: Array, R: Array, shrink: float, floor: float) -> Groups:
    """The mixture of rows with responsibilities ``R`` (n, G)."""
    n, d = X.shape
    size = R.sum(axis=0) + 1e-9
    means = (R.T @ X) / size[:, None]
    scatter = np.empty((len(size), d, d))
    for g in range(len(size)):
        weighted = (X - means[g]) * np.sqrt(R[:, g])[:, None]
        scatter[g] = weighted.T @ weighted
    pooled = scatter.sum(axis=0) / n
    covariances = (scatter + shrink * pooled) / (size[:, None, None] + shrink) + floor * np.eye(d)
    factors = np.linalg.cholesky(covariances)
    inverse = np.array([solve_triangular(factor, np.eye(d), lower=True) for factor in factors])
    return Groups(size / size.sum(), means, inverse)


def _nearest_centre(X: Array, count: int) -> Array:
    """Groups (n,) by 15 steps of k-means, from rows that are drawn far from each other with a fixed seed."""
    rng = np.random.default_rng(0)
    chosen = [int(rng.integers(len(X)))]
    far = ((X - X[chosen[0]]) ** 2).sum(axis=1)
    for _ in range(count - 1):
        step = np.searchsorted(np.cumsum(far), rng.random() * far.sum())
        chosen.append(int(min(step, len(X) - 1)))
        far = np.minimum(far, ((X - X[chosen[-1]]) ** 2).sum(axis=1))
    centres = X[chosen]
    for _ in range(15):
        group = squared_distances(X, centres).argmin(axis=1)
        centres = np.array([X[group == g].mean(axis=0) if (group == g).any() else centres[g] for g in range(count)])
    return np.asarray(squared_distances(X, centres).argmin(axis=1))


def _mixed(shaped: Array, round_: Array, share: float) -> Array:
    """``log((1 - ε) p_1 + ε p_0)``."""
    return np.asarray(np.logaddexp(np.log1p(-share) + shaped, np.log(share) + round_))
