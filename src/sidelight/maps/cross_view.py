r"""Predict one view from others by ridge regression on their chart features and columns.

    φ_v(x) = [ q_vs(x) [f_vs(x), 1],  s = 1 ... k;  x ]  (p_v,)      x̂_w = ȳ_w + Bᵀ (φ_S - φ̄_S)
    B = argmin  E |x_w - x̂_w|² + λ Σ_i u_i² |b_i|²  =  (C_SS + λ diag(u²))⁻¹ C_Sw

q_vs and f_vs are responsibilities and local coordinates of chart s of view v (``coordinated.py``), S the observed views
and C the covariances of φ and x_w. u is 1 for features of charts, and for the columns of a view their standard
deviation. λ is chosen by generalised cross-validation. The latent point is a linear function of φ with only q
dimensions; one view often depends on more dimensions of another, so predictions do not pass through the latent space.
With a single chart this is linear regression.

Where kernel ridge regression (``kernel_view.py``) has a smaller error, left-out rows against the generalised
cross-validation above, it predicts rows in which all the other views are observed.

Only sums over rows are stored, for each pair of views over the rows in which both and view w are observed. So a row
with a missing view still contributes to the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.objectives.coordination import unfolded
from sidelight.rows import Rows, Sums

from .coordinated import ChartedView, CoordinatedMap, padded, weighed
from .kernel_view import KernelRegression, best_shape, fit_centres, fit_sums, kernel_sums

__all__ = [
    "CrossView",
    "Regression",
    "cross_sums",
    "cross_view",
    "left_out_errors",
    "predict_view_rows",
    "with_kernels",
    "without_left_out",
]

Array = npt.NDArray[Any]
_COLUMNS = 300  # for a view with more columns, φ has its chart features only
_PENALTIES = np.logspace(-4, 2, 25)  # smaller ones would give arbitrary predictions far from the training rows
_CAUTION = 1.4  # c: cost of a degree of freedom in cross-validation, as rows are seldom independent (Kim and Gu 2004)
_FEWEST = 2  # rows that two views must have in common for a regression
_EXACT, _CENTRES, _MANY = 3_000, 2_000, 20_000  # rows that are all centres; else so many are, half of it above _MANY
_LEFT_OUT = 10  # folds of rows that are left out of a regression on charts
_JUDGED = 1_000  # rows that the error of fewer centres than rows is measured on


@dataclass(frozen=True)
class Regression:
    """Linear regression ``x̂ = mean + (φ - origin) slopes``; slopes (p, d).

    ``error`` is its squared error as a share of the variance, by generalised cross-validation; inf: not known.
    """

    origin: Array
    slopes: Array
    mean: Array
    error: float = np.inf

    def predict(self, F: Array) -> Array:
        """Predicted view (m, d) at features φ (m, p)."""
        return np.asarray(self.mean + (F - self.origin) @ self.slopes)


@dataclass(frozen=True)
class CrossView:
    """Predictor of any view from any others.

    Parameters
    ----------
    views : tuple of ChartedView
    sums : dict of arrays
        From :func:`cross_sums`; regressions on a subset of the views are computed from them when needed.
    full : tuple of Regression
        Regression of each view on all the others.
    smoothing : float
        Exponent of the responsibilities.
    kernels : tuple of KernelRegression
        Of the views that they predict better than ``full``.
    """

    views: tuple[ChartedView, ...]
    sums: Sums
    full: tuple[Regression, ...]
    smoothing: float
    kernels: tuple[KernelRegression, ...] = ()

    def known(self, X: Array, view: int) -> Array:
        """Which views (m, V) are observed in each row and can predict ``view`` (shared training rows with it)."""
        seen = np.stack([own[0].inside(X)[1] for own in _by_view(self.views)], axis=1)
        return np.asarray(seen & _with_common_rows(self.sums, view))

    def predict(self, X: Array, view: int, known: Array) -> Array:
        """Predict a view (m, d) of rows from the views that are True in ``known`` (V,)."""
        full, own = bool((known == _with_common_rows(self.sums, view)).all()), _by_view(self.views)[view][0]
        kernel = next((one for one in self.kernels if one.view == view), None) if full else None
        if kernel is not None:
            U = _columns_of(self.views, padded(X), np.flatnonzero(known))[0]
            return np.asarray(kernel.predict(U)[: len(X)] * own.scale + own.centre)
        regression = self.full[view] if full else _regression(self.views, self.sums, view, known)
        features = _view_features(self.views, padded(X), self.smoothing)[0]
        found = regression.predict(np.concatenate([features[v] for v in np.flatnonzero(known)], axis=1))
        return np.asarray(found[: len(X)] * own.scale + own.centre)


def predict_view_rows(cross: CrossView, both: CoordinatedMap, X: Array, view: int) -> Array:
    """Predict a view (m, d) of rows from the others that are observed.

    Rows without a usable view (no training rows in common with ``view``) are predicted through the latent space.

    Parameters
    ----------
    cross : CrossView
    both : CoordinatedMap
        The maps through the latent space.
    X : array of shape (m, D)
        Rows of all views; NaN where a view is missing.
    view : int
        The view to predict.
    """
    known = cross.known(X, view)
    strange = ~known.any(axis=1)
    found = np.empty((len(X), len(_by_view(cross.views)[view][0].columns)))
    if strange.any():
        found[strange] = both.forward(both.backward(X[strange]), view)
    for pattern in np.unique(known[~strange], axis=0):
        rows = (known == pattern).all(axis=1)
        found[rows] = cross.predict(X[rows], view, pattern)
    return found


def cross_sums(views: Sequence[ChartedView], X: Array, smoothing: float) -> Sums:
    """Sums over a block of rows for the regressions; φ and x are 0 where a view is missing.

    ``pairs`` [w, v, v'] counts the rows in which all three views are observed. ``first`` [w, i, v] and ``products``
    [w, i, j] are Σ φ_i and Σ φ_i φ_j over the rows in which w (and v) are observed. ``shared`` [i, j] is Σ φ_i x_j.
    ``targets`` and ``squares`` [j, v] are Σ x_j and Σ x_j² over the rows in which v is observed.
    """
    features, insides, seen = _view_features(views, X, smoothing)
    F, Y, own = np.concatenate(features, axis=1), np.concatenate(insides, axis=1), seen.astype(np.float64)
    common = [own * w[:, None] for w in own.T]
    products = [F.T @ F] * len(common) if seen.all() else [(F * w[:, None]).T @ F for w in own.T]
    return {
        "pairs": np.stack([rows.T @ own for rows in common]),
        "first": np.stack([F.T @ rows for rows in common]),
        "products": np.stack(products),
        "shared": F.T @ Y,
        "targets": Y.T @ own,
        "squares": (Y**2).T @ own,
    }


def cross_view(views: Sequence[ChartedView], sums: Sums, smoothing: float) -> CrossView:
    """Fit the regressions of each view on all others, from the sums of :func:`cross_sums` over all rows."""
    if (sums["pairs"] == sums["pairs"].max()).all():  # no missing views: the products are the same for every view
        sums = sums | {"products": sums["products"][:1]}
    every = range(len(sums["pairs"]))
    full = tuple(_regression(views, sums, view, _with_common_rows(sums, view)) for view in every)
    return CrossView(tuple(views), sums, full, smoothing)


def with_kernels(cross: CrossView, rows: Rows, sample: Array, *, always: bool = False) -> CrossView:
    """The predictor with kernel regressions of the views that they predict better; or of all views.

    Parameters
    ----------
    cross : CrossView
    rows : Rows
        All rows, read once for each view if there are more than 3,000.
    sample : array of shape (m, D)
        Rows from which kernels and centres are chosen.
    always : bool
        Keep the kernel regressions without a comparison.
    """
    found = [_kernel_regression(cross, rows, sample, view) for view in range(len(cross.full))]
    kept = (one for one in found if one and (always or one.error < cross.full[one.view].error))
    return replace(cross, kernels=tuple(kept))


def _kernel_regression(cross: CrossView, rows: Rows, sample: Array, view: int) -> KernelRegression | None:
    """Regression of a view on all others that share rows with it; None if there is none."""
    others, n = np.flatnonzero(_with_common_rows(cross.sums, view)), cross.sums["pairs"][view].max()
    if not len(others):
        return None
    U, Y = _columns_of(cross.views, in_random_order(sample), others, view)
    shape = best_shape(U, Y)
    if shape is None:
        return None
    if len(U) <= _EXACT and n <= len(sample):
        return fit_centres(view, shape, U, Y)
    centres = shape.inside(U[: _CENTRES if n <= _MANY else _CENTRES // 2])
    sums = rows.total(lambda X: kernel_sums(shape, centres, *_columns_of(cross.views, X, others, view)))
    return fit_sums(view, shape, centres, sums, U[:_JUDGED], Y[:_JUDGED])


def without_left_out(cross: CrossView) -> CrossView:
    """The predictor without the leave-one-out errors of its kernels, which a file need not hold."""
    return replace(cross, kernels=tuple(replace(one, left_out=None) for one in cross.kernels))


def in_random_order(sample: Array) -> Array:
    """The rows in another order, always the same: they may be sorted."""
    return np.asarray(sample[np.random.default_rng(0).permutation(len(sample))])


def left_out_errors(cross: CrossView, sample: Array, view: int) -> tuple[Array, Array]:
    """Rows (m, D) of the fit in which a view and all that predict it are observed, and errors (m, d) of the view.

    Each row is left out of the regression: of a kernel regression in closed form, of one on charts in ten folds, whose
    sums are taken off those of all rows. The charts stay as they are.

    Parameters
    ----------
    cross : CrossView
        As ``with_kernels`` or ``cross_view`` returns it.
    sample : array of shape (n, D)
        Rows of the fit.
    view : int
    """
    known, own = _with_common_rows(cross.sums, view), _by_view(cross.views)[view][0]
    rows = in_random_order(sample)
    seen = np.all([_by_view(cross.views)[v][0].inside(rows)[1] for v in (view, *np.flatnonzero(known))], axis=0)
    rows = rows[seen]
    kernel = next((one for one in cross.kernels if one.view == view), None)
    if kernel is not None and kernel.left_out is not None:
        return rows[: len(kernel.left_out)], kernel.left_out * own.scale
    rows = rows[:_JUDGED]
    errors = np.empty((len(rows), len(own.columns)))
    for fold in range(_LEFT_OUT):
        out = rows[fold::_LEFT_OUT]
        if len(out) == 0:
            continue
        taken = cross_sums(cross.views, out, cross.smoothing)
        sums = {name: total - taken[name][: len(total)] for name, total in cross.sums.items()}
        regression = _regression(cross.views, sums, view, known)
        features = _view_features(cross.views, padded(out), cross.smoothing)[0]
        found = regression.predict(np.concatenate([features[v] for v in np.flatnonzero(known)], axis=1))
        errors[fold::_LEFT_OUT] = own.inside(out)[0] - found[: len(out)]
    return rows, errors * own.scale


def _columns_of(views: Sequence[ChartedView], X: Array, others: Array, view: int | None = None) -> tuple[Array, Array]:
    """Scaled columns (m, p) of ``others`` and (m, e) of ``view``, of the rows that all of them observe.

    Without a ``view``: of all rows, and nothing.
    """
    groups = _by_view(views)
    parts = [groups[other][0].inside(X) for other in others]
    U, seen = np.concatenate([Y for Y, _ in parts], axis=1), np.all([own for _, own in parts], axis=0)
    if view is None:
        return U, U[:, :0]
    Y, own = groups[view][0].inside(X)
    return U[seen & own], Y[seen & own]


def _by_view(views: Sequence[ChartedView]) -> list[list[ChartedView]]:
    """The mixtures of each view."""
    return [[own for own in views if own.view == number] for number in sorted({own.view for own in views})]


def _view_features(views: Sequence[ChartedView], X: Array, smoothing: float) -> tuple[list[Array], list[Array], Array]:
    """Features φ (m, p_v) and scaled rows x (m, d_v) of each view, and which views are observed (m, V)."""
    features, insides, seen = [], [], []
    for own in _by_view(views):
        Q, local, (Y, *_) = weighed(own, X, smoothing)
        features.append(np.concatenate([unfolded(Q, local), Y[:, : _n_row_columns(own)]], axis=1))
        insides.append(Y)
        seen.append(own[0].inside(X)[1])
    return features, insides, np.stack(seen, axis=1)


def _n_row_columns(own: Sequence[ChartedView]) -> int:
    """Number of columns of a view that are part of φ: all, or 0 for more than 300."""
    return len(own[0].columns) if len(own[0].columns) <= _COLUMNS else 0


def _with_common_rows(sums: Sums, view: int) -> Array:
    """Which other views (V,) have at least 2 training rows in common with one."""
    shared = sums["pairs"][view].diagonal() >= _FEWEST
    return np.asarray(shared & (np.arange(len(shared)) != view))


def _regression(views: Sequence[ChartedView], sums: Sums, view: int, known: Array) -> Regression:
    """Ridge regression of one view on those that are True in ``known`` (V,)."""
    groups = _by_view(views)
    local = [sum(q + 1 for one in own for q in one.charts.n_local) for own in groups]
    owners = np.repeat(np.arange(len(groups)), [k + _n_row_columns(own) for k, own in zip(local, groups, strict=True)])
    is_column = np.concatenate([np.arange(k + _n_row_columns(own)) >= k for k, own in zip(local, groups, strict=True)])
    targets = np.repeat(np.arange(len(groups)), [len(own[0].columns) for own in groups])
    moments = _moments(sums, view, known, np.flatnonzero(known[owners]), owners, np.flatnonzero(targets == view))
    chosen = known[owners]
    return moments.regressed(_units(np.diag(moments.C), owners[chosen], is_column[chosen]))


@dataclass(frozen=True)
class _Moments:
    """Moments of the regression: means of φ and x_w, covariances, variance of x_w, and the number of rows."""

    origin: Array
    mean: Array
    C: Array
    shared: Array
    variance: float
    rows: float

    def regressed(self, units: Array) -> Regression:
        """Ridge regression with λ chosen by generalised cross-validation.

        λ minimises ``E|x - x̂|² / (1 - c df / n)²``, df = 1 + tr C (C + λ)⁻¹, with φ divided by its ``units`` (p,).
        """
        values, vectors = np.linalg.eigh(self.C / np.outer(units, units))
        values = np.maximum(values, 0.0)
        along = vectors.T @ (self.shared / units[:, None])
        shrunk = 1.0 / (values + _PENALTIES[:, None])
        explained = ((values + 2.0 * _PENALTIES[:, None]) * shrunk**2) @ (along**2).sum(axis=1)
        free = 1.0 - _CAUTION * ((values * shrunk).sum(axis=1) + 1.0) / self.rows
        lost = np.maximum(self.variance - explained, 0.0) / np.maximum(free, 1e-12) ** 2
        best = len(lost) - 1 - int(np.argmin(lost[::-1]))  # the largest penalty of ties
        slopes = vectors @ (shrunk[best][:, None] * along)
        error = float(lost[best]) / self.variance if self.variance > 0.0 else np.inf
        return Regression(self.origin, slopes / units[:, None], self.mean, error)


def _moments(sums: Sums, view: int, known: Array, chosen: Array, owners: Array, wanted: Array) -> _Moments:
    """Moments of the ``chosen`` features and the ``wanted`` columns of ``view``; ``owners``: view of each feature."""
    owner, pairs, first = owners[chosen], sums["pairs"][view], sums["first"][view][chosen]
    both, rows = pairs[np.ix_(owner, owner)], np.maximum(pairs.diagonal(), 1.0)
    products = sums["products"][min(view, len(sums["products"]) - 1)][np.ix_(chosen, chosen)]
    least = np.maximum(both, 1.0)
    C = np.where(both > 0, products / least - first[:, owner] * first[:, owner].T / least**2, 0.0)
    origin = first[np.arange(len(owner)), owner] / rows[owner]
    means = sums["targets"][wanted] / rows  # (d, V): over the rows in which each other view is observed
    shared = sums["shared"][np.ix_(chosen, wanted)] / rows[owner, None] - origin[:, None] * means[:, owner].T
    share = np.where(known, rows, 0.0) / max(float(rows[known].sum()), 1.0)
    variance = float((sums["squares"][wanted] / rows - means**2).sum(axis=0) @ share)
    return _Moments(origin, means @ share, C, shared, variance, float(rows[known].min(initial=np.inf)))


def _units(variances: Array, owner: Array, is_column: Array) -> Array:
    """Unit u (p,) of each feature: 1 for chart features, root mean variance of the view for columns."""
    units = np.ones(len(owner))
    for view in np.unique(owner[is_column]):
        own = is_column & (owner == view)
        units[own] = np.sqrt(max(float(variances[own].mean()), 0.0)) or 1.0
    return units
