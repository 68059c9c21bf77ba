r"""Dynamics of continuous states: the change of a latent point as a function of the point and of the action.

    z = principal coordinates of the observation,      z' = z + B f(z, a)

f holds what is linear (1, z, and either of them times the action: labels as indicators, vectors as they are) and, if it
helps, Gaussian bumps at landmarks of (z, a), whitened (Nyström). B is a ridge regression. Bandwidth and ridge are those
of least error when stretches of the walk are left out; among the candidates is that nothing changes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from sidelight.base.types import Array
from sidelight.side.actions import Actions

from ._walk_noise import observed

__all__ = ["ActionDynamics", "fit_dynamics"]


_LANDMARKS, _FOLDS = 300, 5
_WIDTHS = (0.5, 1.0, 2.0)  # bandwidths, in median distances of landmarks
_RIDGES = (1e-8, 1e-6, 1e-4, 1e-2, 1.0)
_KEPT = 0.9995  # share of the variance that the principal axes keep, if noise does not set it lower


@dataclass(frozen=True, eq=False)
class ActionDynamics:
    """Model of the effect of actions on latent points.

    Parameters
    ----------
    mean : array of shape (d,)
    axes : array of shape (k, d)
        Principal axes of the observations: ``encode`` and ``decode``.
    names : tuple
        Labels of actions; empty for actions that are vectors.
    centre, scale : arrays of shape (u,)
        Of the inputs of f: k coordinates, then indicators or action vectors.
    landmarks : array of shape (m, u)
        Centres of the bumps, scaled; m = 0: the dynamics are linear.
    whitening : array of shape (m, m)
    weights : array of shape (f, k)
        B.
    bandwidth : float
    largest : float
        Longest change in training; no longer one is predicted, as far from the data the linear part knows nothing.
    error, copying : float
        Mean squared error of z' on stretches that were left out, and that of predicting no change.
    """

    mean: Array
    axes: Array
    names: tuple[Hashable, ...]
    centre: Array
    scale: Array
    landmarks: Array
    whitening: Array
    weights: Array
    bandwidth: float
    largest: float
    error: float
    copying: float

    def encode(self, X: Array) -> Array:
        """Latent points (m, k) of observations (m, d)."""
        return np.asarray((X - self.mean) @ self.axes.T)

    def decode(self, Z: Array) -> Array:
        """Observations (m, d) of latent points (m, k)."""
        return np.asarray(Z @ self.axes + self.mean)

    def inputs(self, action: object, m: int) -> Array:
        """Indicators or vectors (m, e) of one action taken m times."""
        if self.names:
            return np.tile(np.array([float(name == action) for name in self.names]), (m, 1))
        return np.tile(np.asarray(action, dtype=np.float64).reshape(1, -1), (m, 1))

    def __call__(self, Z: Array, given: Array) -> Array:
        """Latent points (m, k) after actions (m, e), from latent points (m, k)."""
        scaled = (np.hstack([Z, given]) - self.centre) / self.scale
        F = _features(scaled, Z.shape[1], self.landmarks, self.whitening, self.bandwidth)
        change = F @ self.weights
        length = np.sqrt(np.einsum("ij,ij->i", change, change))[:, None]
        return np.asarray(Z + change * np.minimum(1.0, self.largest / np.maximum(length, 1e-300)))


def fit_dynamics(
    points: Array, squares: Array | None, actions: Actions, vectors: Array | None
) -> tuple[ActionDynamics, Array]:
    """Fit the dynamics of a walk; return them and the latent points (n, k) of the rows.

    Parameters
    ----------
    points : array of shape (n, d)
        Observations; with ``squares`` their squared distances (n, n), whose classical scaling stands for them.
    squares : array of shape (n, n) or None
    actions : Actions
        Steps, with labels if ``vectors`` is None.
    vectors : array of shape (n, e) or None
        The action taken at each row.
    """
    if squares is None:
        k = _rank(points)
        mean = points.mean(axis=0)
        axes = np.linalg.svd(points - mean, full_matrices=False)[2][:k]
        axes = axes * np.where(axes[np.arange(k), np.abs(axes).argmax(axis=1)] < 0, -1.0, 1.0)[:, None]
        Z = (points - mean) @ axes.T
    else:
        Z = observed(points, squares).points
        mean, axes = np.zeros(0), np.zeros((Z.shape[1], 0))
    named = np.ones(len(actions.steps), dtype=bool) if vectors is not None else actions.codes >= 0
    steps = actions.steps[named]
    names = actions.names if vectors is None else ()
    given = np.eye(len(names))[actions.codes[named]] if vectors is None else vectors[steps[:, 0]]
    U, before, change = np.hstack([Z[steps[:, 0]], given]), Z[steps[:, 0]], Z[steps[:, 1]] - Z[steps[:, 0]]
    k = Z.shape[1]
    centre = U.mean(axis=0) if len(U) else np.zeros(k + given.shape[1])
    scale = np.ones(U.shape[1])
    scale[:k] = float(np.sqrt(np.mean(np.var(before, axis=0)) * k)) or 1.0
    if vectors is None:
        centre[k:] = 0.0
    else:
        scale[k:] = np.maximum(given.std(axis=0), 1e-12 * (1 + np.abs(given).max(initial=0.0))) * np.sqrt(2)
    return _chosen((U - centre) / scale, change, k, (mean, axes, names, centre, scale)), Z


def _rank(points: Array) -> int:
    """Principal axes above noise, and not more than keep nearly all of the variance."""
    above = observed(points, None).points.shape[1]
    sizes = np.linalg.svd(points - points.mean(axis=0), compute_uv=False) ** 2
    enough = int(np.searchsorted(np.cumsum(sizes) / max(float(sizes.sum()), 1e-300), _KEPT)) + 1
    return max(1, min(int(above), enough, len(sizes)))


def _chosen(
    U: Array, change: Array, k: int, fixed: tuple[Array, Array, tuple[Hashable, ...], Array, Array]
) -> ActionDynamics:
    """The candidate of least left-out error, fitted to all steps."""
    copying = float((change**2).sum(axis=1).mean()) if len(change) else 0.0
    landmarks = U[np.unique(np.linspace(0, len(U) - 1, min(len(U), _LANDMARKS)).astype(np.int64))] if len(U) else U
    D = cdist(landmarks, landmarks)
    middle = float(np.median(D[D > 0])) if (D > 0).any() else 1.0
    none = np.zeros((0, U.shape[1])), np.zeros((0, 0)), 1.0
    bases = [none]
    for width in _WIDTHS:
        values, vectors = np.linalg.eigh(np.exp(-0.5 * (D / (width * middle)) ** 2))
        good = values > 1e-8 * values.max(initial=1.0)
        bases.append((landmarks, vectors[:, good] / np.sqrt(values[good]), width * middle))
    best = (copying, none, np.inf)
    fold = (np.arange(len(U)) * _FOLDS) // max(len(U), 1)
    for base in bases if len(U) >= 2 * _FOLDS else []:
        F = _features(U, k, *base)
        for ridge, error in zip(_RIDGES, _left_out_errors(F, change, fold), strict=True):
            if error < best[0] * (1 - 1e-6):
                best = (error, base, ridge)
    error, base, ridge = best
    F = _features(U, k, *base)
    weights = _ridge_weights(F, change, ridge) if np.isfinite(ridge) else np.zeros((F.shape[1], change.shape[1]))
    mean, axes, names, centre, scale = fixed
    largest = float(np.sqrt((change**2).sum(axis=1).max(initial=0.0)))
    return ActionDynamics(mean, axes, names, centre, scale, *base[:2], weights, base[2], largest, error, copying)


def _features(U: Array, k: int, landmarks: Array, whitening: Array, bandwidth: float) -> Array:
    """f(z, a) (m, f) of scaled inputs (m, u): 1, z, a, their products, and whitened bumps."""
    Z, A = U[:, :k], U[:, k:]
    both = (Z[:, :, None] * A[:, None, :]).reshape(len(U), -1)
    linear = np.hstack([np.ones((len(U), 1)), Z, A, both])
    if not len(landmarks):
        return np.asarray(linear)
    return np.hstack([linear, np.exp(-0.5 * (cdist(U, landmarks) / bandwidth) ** 2) @ whitening])


def _left_out_errors(F: Array, change: Array, fold: Array) -> list[float]:
    """Mean squared error (of each ridge) on stretches that were left out."""
    totals = np.zeros(len(_RIDGES))
    for each in range(_FOLDS):
        out = fold == each
        S, V = np.linalg.eigh(F[~out].T @ F[~out])
        right, test = V.T @ (F[~out].T @ change[~out]), F[out] @ V
        for place, ridge in enumerate(_RIDGES):
            kept = 1.0 / (np.maximum(S, 0.0) + ridge * len(F))
            totals[place] += float(((test @ (kept[:, None] * right) - change[out]) ** 2).sum())
    return [float(total) / len(F) for total in totals]


def _ridge_weights(F: Array, change: Array, ridge: float) -> Array:
    S, V = np.linalg.eigh(F.T @ F)
    return np.asarray(V @ ((V.T @ (F.T @ change)) / (np.maximum(S, 0.0) + ridge * len(F))[:, None]))
