"""Jacobians of charts and of coordinated charts, in closed form.

    responsibilities   ∂q_s = q_s (g_s - Σ_t q_t g_t),      g_s = ∂ log p(x, s) / ∂x
    planes             g = -(r - W M⁻¹ Wᵀ r) / σ²,   r = x - μ,   M = WᵀW + σ² I
    Gaussians          g = -Σ⁻¹ r                    Bernoullis   g = log θ - log(1 - θ)
    backward (coordinated)   z = Σ_s q_s y_s,  y_s = L_sᵀ [f_s, 1]:      J = Σ_s q_s (y_s (g_s - ḡ)ᵀ + A_sᵀ F_s)
    forward                  x = Σ_s p_s x̂_s(m_s + K_s (z - c_s)):      the same, g_s = -S_s⁻¹ (z - c_s)

F_s (q_s, d) are the slopes of local coordinates, which are linear. With smoothing γ, g is multiplied by it. Everything
is smooth but the rows that Bernoulli charts reconstruct, which are clipped to 0 and 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.objectives.linear_gaussian import LinearGaussian, posterior
from sidelight.objectives.mixtures import normalised

from .bernoulli_charts import BernoulliCharts
from .charts import GaussianCharts
from .coordinated import ChartedView, CoordinatedMap, padded, weighed
from .linear_gaussian_maps import LinearGaussianMaps
from .plane_charts import PlaneCharts

__all__ = [
    "coordinated_inverse_jacobian",
    "coordinated_jacobian",
    "has_slopes",
    "plane_slopes",
    "responsibility_jacobian",
]

Array = npt.NDArray[Any]


def has_slopes(charts: object) -> bool:
    """Whether derivatives of the charts are known; those of charts that a user made are not."""
    return isinstance(charts, PlaneCharts | GaussianCharts | BernoulliCharts)


def plane_slopes(maps: LinearGaussianMaps) -> tuple[Array, Array]:
    """Slopes (q, d) of the posterior mean of complete rows, and (d, q) of the reconstruction, in units of the data."""
    return _gain(maps.model) / maps.scale, maps.model.W * maps.scale[:, None]


def responsibility_jacobian(charts: Any, X: Array) -> Array:
    """Jacobians (m, k, d) of the responsibilities of charts at complete rows (m, d)."""
    R, g = charts.responsibilities(X), _log_slopes(charts, X)
    return np.asarray(R[:, :, None] * (g - np.einsum("ms,msd->md", R, g)[:, None]))


def coordinated_jacobian(both: CoordinatedMap, X: Array) -> Array:
    """Jacobians (m, q, d) of ``CoordinatedMap.backward`` at rows (m, d); 0 by the columns of views that are missing."""
    m, X = len(X), padded(X)
    Q, features, _ = weighed(both.views, X, both.smoothing)
    J, first = np.zeros((len(X), both.n_components, X.shape[1])), 0
    for view in both.views:
        k = view.charts.n_charts
        own = slice(first, first + k)
        Y, seen = view.inside(X)
        q = Q[:, own]
        share = np.maximum(q.sum(axis=1, keepdims=True), 1e-300)
        g = both.smoothing * _log_slopes(view.charts, Y)
        g -= np.einsum("ms,msd->md", q / share, g)[:, None]
        part = np.zeros((len(X), both.n_components, len(view.columns)))
        for s, L in enumerate(both.maps[own]):
            y = features[first + s] @ L[:-1] + L[-1]
            part += q[:, s, None, None] * (y[:, :, None] * g[:, s, None, :] + L[:-1].T @ _local_slopes(view.charts, s))
        part[~seen] = 0.0
        J[:, :, view.columns] += part / view.scale
        first += k
    return J[:m]


def coordinated_inverse_jacobian(both: CoordinatedMap, Z: Array, view: int) -> Array:
    """Jacobians (m, d, q) of ``CoordinatedMap.forward`` of a view at latent points (m, q)."""
    m, Z = len(Z), padded(Z)
    spans = both.spans(view)
    found = np.mean([_mean_slopes(both, Z, own, charts) for own, charts, _ in spans], axis=0)
    return np.asarray((found * spans[0][0].scale)[:m])


def _mean_slopes(both: CoordinatedMap, Z: Array, own: ChartedView, charts: slice) -> Array:
    """Jacobians (m, d, q) of the conditional mean by one mixture, in scaled units."""
    latent = both.latent
    P = normalised(latent.joint(Z, charts))[0]
    away = Z[None] - latent.centres[charts, None]  # (k, m, q)
    g = -np.linalg.solve(latent.covariances[charts], away.transpose(0, 2, 1)).transpose(2, 0, 1)  # (m, k, q)
    g -= np.einsum("ms,msq->mq", P, g)[:, None]
    J = np.zeros((len(Z), len(own.columns), Z.shape[1]))
    for s in range(P.shape[1]):
        chart = charts.start + s
        F = latent.features(Z, chart)
        rows, slopes = own.charts.reconstruction(F, s), _reconstruction_slopes(own.charts, s, F)
        J += P[:, s, None, None] * (rows[:, :, None] * g[:, s, None, :] + slopes @ latent.gains[chart])
    return J


def _gain(model: LinearGaussian) -> Array:
    """``M⁻¹ Wᵀ`` (q, d): slopes of the posterior mean of a complete row."""
    covariance = posterior(model, np.zeros((1, len(model.mean))))[1]
    return np.asarray((covariance / model.noise) @ model.W.T)


def _units(charts: PlaneCharts) -> float | Array:
    """Size of one scaled unit in units of the data, for all columns or for each (d,)."""
    return charts.scale if charts.columns is None else np.asarray(charts.scale * charts.columns)


def _log_slopes(charts: Any, X: Array) -> Array:
    """``∂ log p(x, s) / ∂x`` (m, k, d) of complete rows."""
    if isinstance(charts, BernoulliCharts):
        logits = np.log(charts.means) - np.log1p(-charts.means)
        return np.broadcast_to(logits, (len(X), *logits.shape)).copy()
    if isinstance(charts, GaussianCharts):
        parts = [-((X - mean) @ own) @ own.T for mean, own in zip(charts.means, charts.whiteners, strict=True)]
        return np.stack(parts, axis=1)
    assert isinstance(charts, PlaneCharts)
    Y, parts = charts.frame.inside(X), []
    for own in charts.charts:
        r = Y - own.mean
        parts.append(-(r - (r @ _gain(own).T) @ own.W.T) / own.noise)
    return np.stack(parts, axis=1) / _units(charts)


def _local_slopes(charts: Any, chart: int) -> Array:
    """Slopes F_s (q_s, d) of local coordinates."""
    if isinstance(charts, BernoulliCharts):
        return np.asarray(charts.inverse[chart].T)
    if isinstance(charts, GaussianCharts):
        return np.asarray(charts.whiteners[chart][:, : charts.n_local[chart]].T)
    assert isinstance(charts, PlaneCharts)
    return _gain(charts.charts[chart]) / _units(charts)


def _reconstruction_slopes(charts: Any, chart: int, F: Array) -> Array:
    """Slopes (d, q_s) of the rows of a chart, or (m, d, q_s) where they are clipped."""
    if isinstance(charts, PlaneCharts):
        return np.asarray(charts.charts[chart].W * np.reshape(_units(charts), (-1, 1)))
    axes = charts.axes[chart]
    if isinstance(charts, GaussianCharts):
        return np.asarray(axes)
    raw = charts.means[chart] + F @ axes.T
    return np.asarray(((raw > 0.0) & (raw < 1.0))[:, :, None] * axes)
