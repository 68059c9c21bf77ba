"""The effect of numbers and angles on the rows: kernel ridge regression, over all rows or within types of rows.

    x_i ≈ f(g_i)            ``smooth_effect``: f = B A, B the kernel features of ``given`` at m ≤ 300 landmarks;
                            bandwidth and ridge by leave-one-out error
    x_i ≈ f(g_i) + c_k(i)   ``effect_within_kinds``: the same, with K centres c_k; each row belongs to one of them

Where kinds of rows differ in the number (cell types that divide more, and a score of the cell cycle), the regression
over all rows takes differences between kinds for an effect of the number, and subtracts them. Within kinds it compares
rows of one kind. Both unknowns are found in turns: kinds by k-means of the rows less the effect, the effect by
regression of rows and features less the means of their kind. The sum of squares falls with each turn. The start is the
regression over all rows; or no effect, where that ends with a sum of squares below 0.9 of the other.

Cost: O(n m²) for the regression, and O(n K p) in p ≤ 50 principal directions for each turn. Beyond 8,192 rows
bandwidth, ridge and kinds are found on so many of them, the regression is on all.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.tiles import spans, sum_in_order
from sidelight.base.types import Array
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.strata import centres

from .effect import Effect, design_matrix, principal_axes, spread_evenly

__all__ = ["effect_within_kinds", "smooth_effect"]


_LANDMARKS = 300
_BANDWIDTHS = np.array([0.1, 0.3, 1.0])  # tried, in units of the mean squared distance between features
_LEAST_FREEDOM = 1e-6  # smallest 1 - leverage: with less, a leave-one-out error is dominated by rounding
_MANY = 8192  # rows on which bandwidth, ridge and kinds are found
_KINDS, _ROWS_PER_KIND = 20, 30
_TURNS = 12
_CONVERGED = 1e-3  # relative fall of the sum of squares below which the turns end
_CLEARLY = 0.9  # of the sum of squares from the regression, below which the start without an effect is preferred
_NOTHING_LEFT = 1e-3  # share of the power of the rows below which there are no kinds in what is left


def smooth_effect(points: Array, features: Array, *, bandwidths: Array = _BANDWIDTHS) -> Effect:
    """Kernel ridge regression of ``points`` (n, d) on ``features`` (n, f); bandwidth and ridge by leave-one-out error.

    The error is computed on the projection to the principal directions, which is enough for the choice.
    """
    return _regressed(points, features, bandwidths)[0]


def effect_within_kinds(points: Array, features: Array) -> Effect:
    """The effect of ``features`` (n, f) on ``points`` (n, d) among rows of the same kind, for kinds that are found.

    It is the smooth effect where rows are too few for kinds (fewer than 60), or nothing else is left.
    """
    plain, penalty = _regressed(points, features, _BANDWIDTHS)
    n_kinds = min(_KINDS, len(points) // _ROWS_PER_KIND)
    rows = spread_evenly(len(points), _MANY)
    mean = points.mean(axis=0)
    centred = np.asarray(points[rows] - mean, dtype=np.float64)
    axes = principal_axes(centred)
    P, B = centred @ axes, design_matrix(features[rows], plain.landmarks, plain.bandwidth)[:, :-1]
    rest = P - (plain(features[rows]) - mean) @ axes
    if n_kinds < 2 or float(np.vdot(rest, rest)) <= _NOTHING_LEFT * float(np.vdot(P, P)):
        return plain
    kinds, other = (_kinds(P, B, start, n_kinds, penalty) for start in (rest, P))
    if other.squares < _CLEARLY * kinds.squares:
        kinds = other
    ridge = _Ridge.of(kinds.centred(B))
    penalty = ridge.best(kinds.centred(P))[1]
    if len(rows) == len(points):
        coefficients = ridge.solve(kinds.centred(centred), penalty)
        middle = B.mean(axis=0) @ coefficients
    else:
        coefficients, middle = _within(points - mean, features, plain, kinds, axes, penalty)
    return replace(plain, coefficients=np.vstack([coefficients, mean - middle]))


def _regressed(points: Array, features: Array, bandwidths: Array) -> tuple[Effect, float]:
    """The regression over all rows, and its penalty."""
    landmarks, mean = _landmarks(features), points.mean(axis=0)
    rows = spread_evenly(len(points), _MANY)
    centred = points[rows] - mean
    projected = centred @ principal_axes(centred)
    spread = 2.0 * float(features.var(axis=0).sum()) or 1.0
    choices = [(h, _Ridge.of(design_matrix(features[rows], landmarks, h))) for h in spread * bandwidths]
    scored = [(*ridge.best(projected), bandwidth, ridge) for bandwidth, ridge in choices]
    _, penalty, bandwidth, ridge = min(scored, key=lambda entry: entry[0])
    if len(rows) == len(points):
        coefficients = ridge.solve(centred, penalty)
    else:
        coefficients = _regression(points, mean, features, landmarks, float(bandwidth), penalty)
    coefficients[-1] += mean
    return Effect(landmarks, float(bandwidth), coefficients), penalty


def _regression(
    points: Array, mean: Array, features: Array, landmarks: Array, bandwidth: float, penalty: float
) -> Array:
    """Ridge coefficients (m + 1, d) from all rows by the normal equations, tile by tile; penalty chosen on a sample."""

    def one(rows: slice) -> tuple[Array, Array]:
        B = design_matrix(features[rows], landmarks, bandwidth)
        return B.T @ B, B.T @ (points[rows] - mean)

    parts = [one(rows) for rows in spans(len(points), _MANY)]
    squares, products = (sum_in_order([part[which] for part in parts]) for which in (0, 1))
    return _solved(squares, products, penalty)


def _solved(squares: Array, products: Array, penalty: float) -> Array:
    """Ridge coefficients (m, d) of normal equations."""
    S, V = np.linalg.eigh(squares)
    S = np.maximum(S, 0.0) + max(penalty, 1e-13 * float(S[-1]))
    return np.asarray(V @ ((V.T @ products) / S[:, None]))


@dataclass(frozen=True)
class _Kinds:
    """Kind of each row (n,), centres (K, p) of the rows less the effect, and coefficients (m, p) of the effect.

    ``squares`` is what they leave.
    """

    labels: Array
    middles: Array
    coefficients: Array
    squares: float

    def centred(self, rows: Array) -> Array:
        """Rows (n, c) less the mean of their kind."""
        return np.asarray(rows - _means(rows, self.labels, len(self.middles))[self.labels])


def _means(rows: Array, labels: Array, count: int) -> Array:
    """Means (K, c) of the rows of each kind, 0 for a kind without rows."""
    member = (labels[:, None] == np.arange(count)).astype(np.float64)
    return np.asarray(member.T @ rows / np.maximum(member.sum(axis=0), 1.0)[:, None])


def _kinds(P: Array, B: Array, rest: Array, count: int, penalty: float) -> _Kinds:
    """Kinds and effect in turns, of rows ``P`` (n, p) with design ``B`` (n, m), from rows less an effect, ``rest``."""
    from sklearn.cluster import KMeans  # here, because it would slow down the import of the library

    distinct, weight = np.unique(rest, axis=0, return_counts=True)
    middles = centres(distinct, weight, count, n_init=4)[0] if len(distinct) > count else distinct
    found: _Kinds | None = None
    for _ in range(_TURNS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer distinct rows than kinds
            labels = KMeans(len(middles), init=middles, n_init=1, random_state=0).fit(rest).labels_
        B_within, P_within = (part - _means(part, labels, len(middles))[labels] for part in (B, P))
        coefficients = _solved(B_within.T @ B_within, B_within.T @ P_within, penalty)
        rest = P - B @ coefficients
        middles = _means(rest, labels, len(middles))
        before, squares = found, float(np.square(rest - middles[labels]).sum())
        found = _Kinds(labels, middles, coefficients, squares)
        if before is not None and squares > (1 - _CONVERGED) * before.squares:
            break
    assert found is not None
    return found


def _within(
    centred: Array, features: Array, plain: Effect, kinds: _Kinds, axes: Array, penalty: float
) -> tuple[Array, Array]:
    """Coefficients (m, d) of all rows less their mean (n, d), tile by tile, and the mean effect (d,).

    A row is of the kind whose centre is nearest to it, less its effect.
    """

    def one(rows: slice) -> tuple[Array, ...]:
        B = design_matrix(features[rows], plain.landmarks, plain.bandwidth)[:, :-1]
        rest = centred[rows] @ axes - B @ kinds.coefficients
        member = np.eye(len(kinds.middles))[squared_distances(rest, kinds.middles).argmin(axis=1)]
        return B.T @ B, B.T @ centred[rows], member.sum(axis=0), member.T @ B, member.T @ centred[rows]

    parts = [one(rows) for rows in spans(len(centred), _MANY)]
    squares, products, counts, B_sums, sums = (sum_in_order([part[w] for part in parts]) for w in range(5))
    shares = B_sums / np.maximum(counts, 1.0)[:, None]
    coefficients = _solved(squares - shares.T @ B_sums, products - shares.T @ sums, penalty)
    return coefficients, np.asarray(B_sums.sum(axis=0) / len(centred) @ coefficients)


def _landmarks(features: Array) -> Array:
    """Landmarks: the distinct rows, or 300 cluster centres if there are more."""
    distinct, weight = np.unique(features, axis=0, return_counts=True)
    return np.asarray(distinct) if len(distinct) <= _LANDMARKS else centres(distinct, weight, _LANDMARKS)[0]


@dataclass(frozen=True)
class _Ridge:
    """Ridge regression on a design matrix ``B = U diag(S) Vt``, for any penalty."""

    U: Array
    S: Array
    Vt: Array

    @classmethod
    def of(cls, B: Array) -> _Ridge:
        U, S, Vt = np.linalg.svd(B, full_matrices=False)
        kept = 1e-10 * S[0] < S
        return cls(U[:, kept], S[kept], Vt[kept])

    def best(self, rows: Array) -> tuple[float, float]:
        """Least leave-one-out sum of squares over a grid of penalties, and its penalty."""
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
        """Coefficients (m, d) for targets ``rows`` (n, d)."""
        return np.asarray(self.Vt.T @ ((self.S / (self.S**2 + penalty))[:, None] * (self.U.T @ rows)))
