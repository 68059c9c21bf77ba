"""Rows under another value of ``given``: the change at their latent point, and the share of the residual kept.

    m(z, g)  = f(z, g) + (ψ(z, g) - Σ_j w_j(z, g) ψ_j) B           the mean of rows at place z under g
    x'       = m(z, new) + ρ T (x - m(z, now))                     the row: mean, and its residual as of the new group

f is the forward map, w its weights, ψ(z, g) = share(g) ⊗ [1, c(z)] and B are those of ``maps.matched_change``. Where
rows of the group are near, Σ w ψ_j is ψ(z, g) and they decide; where there are none, the change of ψ B does.

T rescales the residual along its principal directions, and in what they leave over, by the ratio of the standard
deviations of the two groups there (from leave-one-out residuals), so that made-up rows spread as the group does. That
is right if the residuals of both groups have the same directions, as noise and individuals have, and wrong if a group
has its own, as the edges of one object are none of another's. With rows j and counterparts i, i' of them in another
group,

    ω = mean cos²(T r_i, r_j) / mean cos²(T r_i, T r_i'),        ρ = (ω - 0.5) / 0.4, within 0 and 1

is how far the residuals of the other group are as near to those of the group as to each other. Counterparts are those
of rows *near* j, for i and i' of two different ones, so that they were not matched by r_j itself.

The variance of a row of the new group around x' is  l(z) v_new (1 + ρ² - 2 ρ κ) + (1 - a(z)) u,  times a factor:
v (C, d) are the variances of the residuals of the groups, l their local size, κ the correlation of T r_i and r_j, u the
error of a change that was predicted for a held-out region, a(z) how far the new group was seen at z. By the factor,
90 % of the entries of left-out rows are within 1.645 standard deviations of their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.distances import squared_distances

from .effect import principal_axes
from .kernel_map import KernelMap
from .matched_change import MatchedChange, Matches, place_features
from .paired_changes import PairedErrors, paired_errors
from .smallest_change import smallest_change
from .weights import PrecomputedWeights

__all__ = ["ChangeModel", "LeftOut", "Places", "group_shares", "residual_model"]

Array = npt.NDArray[Any]
_AXES = 20  # principal directions of the residuals
_PRIOR = 10.0  # rows that the spread of all groups counts for in that of one
_BEYOND = ((3, 6), (4, 8), (5, 10))  # which two neighbours of a row have the counterparts that are taken for the row's
_UNLIKE, _ALIKE = 0.5, 0.9  # ω up to which nothing is kept, and from which on all is
_FEWEST = 20  # rows with counterparts from which on they can decide what is kept
_SEEN = 0.1  # share of a group near a place, over its share of all rows, at which it counts as half seen
_COVERED, _NORMAL = 0.9, 1.6448536269514722  # coverage, and the quantile of a normal variable for it


@dataclass(frozen=True)
class ChangeModel:
    """Change model of counterfactuals: effects, residual shares and variances.

    Parameters
    ----------
    groups : array of shape (C, f)
        Encoded ``given`` of the groups; a value counts to the nearest.
    content : array of shape (n, r)
        Of the fitted rows.
    coefficients : array of shape (C (1 + r), d)
        B above.
    axes : array of shape (d, k)
        Principal directions of the residuals.
    scales : array of shape (C, k + 1)
        Standard deviations of the residuals of each group along them, and in what they leave over.
    kept : float
        ρ above.
    correlation : float
        κ above.
    variance : array of shape (C, d)
    local : array of shape (n, 1)
        Size of the squared residual of each fitted row, relative to the variance of its group.
    unseen_variance : array of shape (d,)
        u above.
    factor : float
        Of the standard deviations.
    """

    groups: Array
    content: Array
    coefficients: Array
    axes: Array
    scales: Array
    kept: float
    correlation: float
    variance: Array
    local: Array
    unseen_variance: Array
    factor: float

    def moved(self, residuals: Array, now: Array, new: Array) -> Array:
        """T times ``residuals`` (m, d), from values ``now`` to ``new`` of ``given`` (m, f)."""
        before, after = (group_shares(side, self.groups) @ self.scales for side in (now, new))
        return _rescaled(residuals, self.axes, _ratio(after, before))


@dataclass(frozen=True)
class Places:
    """The change at places, by the maps of a model: ``forward`` from (z, scale · features), ``marginal`` from z."""

    model: ChangeModel
    forward: KernelMap
    marginal: KernelMap
    features: Array
    scale: float | Array

    def correction(self, Z: Array, features: Array, n_jobs: int | None = None) -> Array:
        """Correction to the forward map (m, d) at latent points ``Z`` (m, q), for encoded ``given`` (m, f)."""
        B = self.model.coefficients
        if not B.any():
            return np.zeros((len(Z), B.shape[1]))
        content = self.marginal.weights.average(Z, self.model.content, n_jobs)
        wanted = place_features(group_shares(features, self.model.groups), content)
        there = place_features(group_shares(self.features, self.model.groups), self.model.content)
        found = self.forward.weights.average(self._inputs(Z, features), there, n_jobs)
        return np.asarray((wanted - found) @ B)

    def variance(self, Z: Array, features: Array, kept: Array, n_jobs: int | None = None) -> Array:
        """Variance (m, d) of a row of the group around one that keeps ``kept`` (m, 1), in units of the data frame."""
        m, share = self.model, group_shares(features, self.model.groups)
        local = self.forward.weights.average(self._inputs(Z, features), m.local, n_jobs)
        own = local * (share @ m.variance) * (1.0 + kept**2 - 2.0 * kept * m.correlation)
        members = group_shares(self.features, m.groups)
        near = np.sum(self.marginal.weights.average(Z, members, n_jobs) * share, axis=1, keepdims=True)
        usual = share @ np.maximum(members.mean(axis=0), 1.0 / len(members))[:, None]  # a group may have no rows
        return np.asarray(m.factor**2 * (own + (1.0 - near / (near + _SEEN * usual)) * m.unseen_variance))

    def changed_least(self, rows: Array, Z: Array, now: Array, new: Array, n_jobs: int | None = None) -> Array:
        """Rows (m, d) themselves, by the smallest change from values ``now`` to ``new`` of ``given`` (m, f) each."""
        out, P, places = np.array(rows), self.marginal.outputs, self._own_places()
        for at, first, second in self._changes(now, new):
            change = smallest_change(P[first], places[first], P[second], places[second])
            out[at] = change(rows[at], Z[at], n_jobs)
        return out

    def changes_of_pairs(
        self, individuals: Array, now: Array, new: Array, n_jobs: int | None = None
    ) -> list[tuple[Array, PairedErrors]]:
        """For each change between two groups: which of the values (m,) ask for it, and its errors of left-out pairs.

        Parameters
        ----------
        individuals : array of shape (n,)
            The individual of each row of the fit, by whole numbers.
        now, new : arrays of shape (m, f)
            Values of ``given``.
        n_jobs : int or None
        """
        P, places = self.marginal.outputs, self._own_places()
        return [
            (at, paired_errors(P, places, individuals, first, second, n_jobs))
            for at, first, second in self._changes(now, new)
        ]

    def _changes(self, now: Array, new: Array) -> Iterator[tuple[Array, Array, Array]]:
        """Which values (m,) ask for a change between two groups, and which rows of the fit (n,) are of these groups."""
        groups = self.model.groups
        members = group_shares(self.features, groups).argmax(axis=1)
        before, after = (group_shares(side, groups).argmax(axis=1) for side in (now, new))
        for first, second in np.unique(np.column_stack([before, after])[before != after], axis=0):
            if (members == first).any() and (members == second).any():
                yield (before == first) & (after == second), members == first, members == second

    def _own_places(self) -> Array:
        weights = self.marginal.weights
        assert not isinstance(weights, PrecomputedWeights)  # of a marginal map over places
        return weights.inputs

    def _inputs(self, Z: Array, features: Array) -> Array:
        return np.column_stack([Z, self.scale * features])


def group_shares(features: Array, groups: Array) -> Array:
    """Share (m, C) of each group in a value: 1 for the nearest of the ``groups`` (C, f), even among equally near."""
    D = squared_distances(features, groups)
    nearest = (D.min(axis=1, keepdims=True) + 1e-9 * D.max(axis=1, keepdims=True) >= D).astype(np.float64)
    return np.asarray(nearest / nearest.sum(axis=1, keepdims=True))


@dataclass(frozen=True)
class LeftOut:
    """Left-out rows of a fit, for ``residual_model``.

    Parameters
    ----------
    residuals : array of shape (m, d)
        Leave-one-out residuals of the rows that were matched.
    codes : array of shape (m,)
        Their groups.
    nearest : array of shape (n,)
        For each fitted row, the one of the m rows whose residual stands for its own.
    average : callable
        From values (n, 1) of all fitted rows to the leave-one-out means (m, 1) of those near each of the m rows.
    """

    residuals: Array
    codes: Array
    nearest: Array
    average: Callable[[Array], Array]


def residual_model(rows: LeftOut, groups: Array, change: MatchedChange, content: Array) -> ChangeModel:
    """Estimate the share of residuals to keep, and their variance.

    Parameters
    ----------
    rows : LeftOut
    groups : array of shape (C, f)
    change : MatchedChange
        Of the same rows.
    content : array of shape (n, r)
        Of all fitted rows.
    """
    residuals, codes, n_codes = rows.residuals, rows.codes, len(groups)
    axes = _leading(residuals)
    scales = _group_scales(residuals, codes, n_codes, axes)
    kept, correlation = _residual_shares(residuals, codes, axes, scales, change.matches)
    squares = np.square(residuals)
    pooled = squares.mean(axis=0)
    floor = max(1e-12 * float(pooled.max(initial=0.0)), 1e-300)
    counts = np.bincount(codes, minlength=n_codes)[:, None]
    sums = np.array([squares[codes == group].sum(axis=0) for group in range(n_codes)])
    variance = (sums + _PRIOR * pooled) / (counts + _PRIOR) + floor
    local = np.mean(squares / variance[codes], axis=1)[rows.nearest][:, None]
    spread = np.sqrt(variance[codes] * np.maximum(rows.average(local), 1e-12))
    factor = float(np.quantile(np.abs(residuals) / spread, _COVERED)) / _NORMAL
    return ChangeModel(
        groups, content, change.coefficients, axes, scales, kept, correlation, variance, local, change.error,
        factor or 1.0,
    )  # fmt: skip


def _leading(residuals: Array) -> Array:
    """Leading principal directions (d, k) of residuals (m, d)."""
    wide = residuals @ principal_axes(residuals)
    _, values, V = np.linalg.svd(wide, full_matrices=False)
    kept = int(np.sum(values[:_AXES] > 1e-9 * max(float(values[0]), 1e-300)))
    axes = principal_axes(residuals) @ V[:kept].T
    return np.asarray(np.linalg.qr(axes)[0]) if kept else np.zeros((residuals.shape[1], 0))


def _group_scales(residuals: Array, codes: Array, n_codes: int, axes: Array) -> Array:
    """Standard deviations (C, k + 1) of each group along the axes and orthogonal to them, shrunk to the common ones."""
    scores = residuals @ axes
    left = np.maximum(np.einsum("ij,ij->i", residuals, residuals) - np.einsum("ij,ij->i", scores, scores), 0.0)
    squares = np.column_stack([np.square(scores), left])
    sums = np.array([squares[codes == group].sum(axis=0) for group in range(n_codes)])
    counts = np.bincount(codes, minlength=n_codes)[:, None]
    return np.asarray(np.sqrt((sums + _PRIOR * squares.mean(axis=0)) / (counts + _PRIOR)))


def _ratio(after: Array, before: Array) -> Array:
    return np.divide(after, before, out=np.ones_like(after), where=before > 0)


def _rescaled(residuals: Array, axes: Array, ratio: Array) -> Array:
    """Residuals (m, d) scaled by ``ratio`` (m, k + 1) along the axes and orthogonal to them."""
    scores = residuals @ axes
    return np.asarray((scores * (ratio[:, :-1] - ratio[:, -1:])) @ axes.T + ratio[:, -1:] * residuals)


def _residual_shares(
    residuals: Array, codes: Array, axes: Array, scales: Array, matches: Matches | None
) -> tuple[float, float]:
    """ρ and κ from rows and two counterparts of each; 0 if there are too few."""
    found = np.zeros((0, 3), dtype=np.int64) if matches is None else _counterparts(matches, codes)
    if len(found) < _FEWEST:
        return 0.0, 0.0
    j, first, second = found.T
    truth = residuals[j]
    one, other = (_rescaled(residuals[i], axes, _ratio(scales[codes[j]], scales[codes[i]])) for i in (first, second))
    across, within = _cosines(one, truth), _cosines(one, other)
    share = float(np.mean(across**2)) / max(float(np.mean(within**2)), 1e-300)
    return float(np.clip((share - _UNLIKE) / (_ALIKE - _UNLIKE), 0.0, 1.0)), float(np.clip(np.mean(across), 0.0, 1.0))


def _cosines(a: Array, b: Array) -> Array:
    """Cosines (p,) between the rows of two arrays; 0 with a row of zeros."""
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = np.einsum("ij,ij->i", a, b)
    return np.asarray(np.divide(products, lengths, out=np.zeros(len(a)), where=lengths > 0))


def _counterparts(matches: Matches, codes: Array) -> Array:
    """Rows j and, in one other group, a counterpart of each of two neighbours of j: (p, 3)."""
    sources = np.concatenate([matches.i, matches.j])
    targets = np.concatenate([matches.j, matches.i])
    first = np.full(len(codes), -1)
    rows, at = np.unique(sources, return_index=True)
    first[rows] = targets[at]
    found = []
    for a, b in _BEYOND:
        i, other = first[matches.own[:, a]], first[matches.own[:, b]]
        fine = (i >= 0) & (other >= 0) & (i != other) & (codes[i] == codes[other])
        found.append(np.column_stack([np.flatnonzero(fine), i[fine], other[fine]]))
    return np.concatenate(found)
