r"""Maps between data and latent space through coordinated charts (Verbeek et al. 2003, eqs. 6, 7, 13).

    backward   z(x) = Σ_s q_s(x) L_sᵀ [f_s(x), 1]                 exact, a row at a time
    forward    x(z) = Σ_s p(s | z) x̂_s( m_s + K_s (z - c_s) ),    p(s | z) ∝ π_s N(z; c_s, S_s)
               c_s = L_sᵀ [m_s, 1],   S_s = A_sᵀ C_s A_s,   K_s = C_s A_s S_s⁻¹

m_s and C_s are mean and covariance of the local features of chart s over the rows it is responsible for, A_s the slopes
of L_s. K_s is the pseudo-inverse of the local map, weighted by C_s. Several mixtures can be used together: parallel
mixtures over the same columns, or one for each view. Their charts are concatenated, and the responsibilities of each
mixture are divided by the number of mixtures that observe the row. A view is missing in a row where it is NaN; the
remaining mixtures then get more weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from sidelight.objectives.coordination import Overlaps, covariance, distortion, overlap_sums
from sidelight.objectives.mixtures import normalised
from sidelight.rows import Sums

from .charts import AllFeatures, Charts

__all__ = [
    "ChartedView",
    "CoordinatedMap",
    "LatentCharts",
    "gluing_sums",
    "latent_chart",
    "latent_charts",
    "padded",
    "residuals_of",
    "stretching",
    "weighed",
]

Array = npt.NDArray[Any]
_LEAST = 1e-6  # ridge on the latent covariance of a chart, as a share of its mean variance
_ROUNDING = 1e-17  # responsibilities below this share of a chart's largest are ignored
_ROWS = 32  # BLAS multiplies fewer rows by another code path, with different last bits


@dataclass(frozen=True)
class ChartedView:
    """A mixture fitted to the columns of one view.

    Parameters
    ----------
    charts : Charts
    columns : array of shape (d,)
        Columns of the rows that belong to the view.
    centre : array of shape (d,)
    scale : float
        The charts are fitted to ``(x - centre) / scale``.
    view : int
        Number of the view.
    """

    charts: Charts
    columns: Array
    centre: Array
    scale: float
    view: int = 0

    def inside(self, X: Array) -> tuple[Array, Array]:
        """Scaled rows (m, d) of the view, and which rows it observes (m,); the others are set to the centre."""
        Y = (X[:, self.columns] - self.centre) / self.scale
        seen = np.asarray(~np.isnan(Y).any(axis=1))
        return np.where(seen[:, None], Y, 0.0), seen

    def features(self, Y: Array) -> list[Array]:
        """Local coordinates (m, q_s) of complete scaled rows (m, d) in every chart."""
        if isinstance(self.charts, AllFeatures):
            return self.charts.all_features(Y)
        return [self.charts.features(Y, chart) for chart in range(self.charts.n_charts)]

    def axes(self, chart: int) -> Array:
        """Axes (d, q_s) of a chart: change of the scaled row per unit of each local feature."""
        q = self.charts.n_local[chart]
        origin = self.charts.reconstruction(np.zeros((1, q)), chart)
        return np.asarray((self.charts.reconstruction(np.eye(q), chart) - origin).T) if q else np.zeros((0, 0))

    def residuals(self, Y: Array, features: Sequence[Array], Q: Array) -> Array:
        """Weighted squared reconstruction errors of each chart, ``Σ_n q_ns (y_n - x̂_s(f_s(y_n)))²`` (k, d)."""
        return np.stack([_left(self.charts, Y, F, q, s) for s, (F, q) in enumerate(zip(features, Q.T, strict=True))])


def _left(charts: Charts, Y: Array, F: Array, q: Array, chart: int) -> Array:
    """``Σ_n q_n (y_n - x̂(f_n))²`` (d,) of one chart; rows that would not change a digit of it are left out."""
    own = np.flatnonzero(q > _ROUNDING * q.max())
    return np.asarray(q[own] @ (Y[own] - charts.reconstruction(F[own], chart)) ** 2)


def padded(X: Array) -> Array:
    """Pad fewer than 32 rows with copies of the first, so that one row gives the same bits as it does in a batch."""
    return X if len(X) >= _ROWS else np.concatenate([X, np.repeat(X[:1], _ROWS - len(X), axis=0)])


def weighed(views: Sequence[ChartedView], X: Array, smoothing: float) -> tuple[Array, list[Array], list[Array]]:
    """Responsibilities and local features of all charts, for rows ``X`` (m, d).

    Parameters
    ----------
    views : sequence of ChartedView
    X : array of shape (m, d)
        Rows; NaN where a view is missing.
    smoothing : float
        Exponent of the responsibilities, which are then normalised again; 1: none.

    Returns
    -------
    responsibilities : array of shape (m, K)
        Rows sum to 1.
    features : list of K arrays of shape (m, q_s)
    insides : list of arrays of shape (m, d_v)
        Scaled rows of each view.
    """
    Q, features, insides, seen = [], [], [], []
    for view in views:
        Y, present = view.inside(X)
        R = view.charts.responsibilities(Y)
        if smoothing != 1.0:
            R = R**smoothing
            R /= R.sum(axis=1, keepdims=True)
        Q.append(R * present[:, None])
        seen.append(present)
        insides.append(Y)
        features += view.features(Y)
    count = np.maximum(np.sum(seen, axis=0), 1)
    return np.concatenate(Q, axis=1) / count[:, None], features, insides


def gluing_sums(views: Sequence[ChartedView], X: Array, smoothing: float) -> Sums:
    """Sums over a block of rows from which charts are coordinated: overlaps, and reconstruction errors."""
    Q, features, insides = weighed(views, X, smoothing)
    sums = overlap_sums(Q, features)
    for number, (view, charts) in enumerate(zip(views, _spans(views), strict=True)):
        sums[f"left {number}"] = view.residuals(insides[number], features[charts], Q[:, charts])
    return sums


def residuals_of(sums: Sums, rows: Array, views: Sequence[ChartedView]) -> tuple[Array, ...]:
    """Residual variance (k, d) of the charts of each mixture, from the sums; ``rows`` (K,): rows per chart."""
    rows = np.maximum(rows, 1e-300)[:, None]
    return tuple(sums[f"left {number}"] / rows[charts] for number, charts in enumerate(_spans(views)))


def stretching(views: Sequence[ChartedView], maps: Sequence[Array], axes: Sequence[Array], rows: Array) -> float:
    """Distortion of the coordinated maps, averaged over views (each view may have its own scaling).

    Parameters
    ----------
    views : sequence of ChartedView
    maps : sequence of arrays of shape (q_s + 1, q)
        L_s of each chart.
    axes : sequence of arrays of shape (d, q_s)
        Axes of each chart in the data.
    rows : array of shape (K,)
        Rows of each chart, as weights.
    """
    groups = np.repeat([view.view for view in views], [view.charts.n_charts for view in views])
    found = []
    for group in np.unique(groups):
        own = [int(s) for s in np.flatnonzero(groups == group)]
        found.append(distortion([maps[s][:-1] for s in own], [axes[s] for s in own], rows[own]))
    return float(np.mean(found))


def _spans(views: Sequence[ChartedView]) -> list[slice]:
    """Slice of each mixture's charts among all charts."""
    ends = np.cumsum([0, *(view.charts.n_charts for view in views)])
    return [slice(int(a), int(b)) for a, b in pairwise(ends)]


@dataclass(frozen=True)
class LatentCharts:
    """The charts as Gaussians in the latent space, with the linear maps from there to their local features.

    Parameters
    ----------
    weights : array of shape (K,)
    centres : array of shape (K, q)
    covariances : array of shape (K, q, q)
    local_means : tuple of K arrays of shape (q_s,)
        m_s.
    gains : tuple of K arrays of shape (q_s, q)
        K_s.
    """

    weights: Array
    centres: Array
    covariances: Array
    local_means: tuple[Array, ...]
    gains: tuple[Array, ...]

    def joint(self, Z: Array, charts: slice) -> Array:
        """``log p(z, s)`` (m, k) of a slice of the charts."""
        factors = np.linalg.cholesky(self.covariances[charts])
        away = Z[None] - self.centres[charts, None]
        white = np.linalg.solve(factors, away.transpose(0, 2, 1))
        volumes = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        constants = np.log(self.weights[charts]) - volumes - 0.5 * Z.shape[1] * np.log(2.0 * np.pi)
        return np.asarray(constants - 0.5 * (white**2).sum(axis=1).T)

    def features(self, Z: Array, chart: int) -> Array:
        """Conditional mean of the local features (m, q_s) of a chart at latent points Z (m, q)."""
        return np.asarray(self.local_means[chart] + (Z - self.centres[chart]) @ self.gains[chart].T)


def latent_charts(overlaps: Overlaps, maps: Sequence[Array]) -> LatentCharts:
    """Gaussians of the charts in the latent space, from their moments and their maps L_s (p_s, q)."""
    parts = [latent_chart(D, L) for D, L in zip(overlaps.moments, maps, strict=True)]
    centres, covariances, means, gains = zip(*parts, strict=True)
    weights = np.maximum(overlaps.rows / overlaps.n, 1e-300)
    return LatentCharts(weights, np.stack(centres), np.stack(covariances), tuple(means), tuple(gains))


def latent_chart(D: Array, L: Array) -> tuple[Array, Array, Array, Array]:
    """Latent centre (q,), covariance (q, q), local mean m_s and gain K_s of one chart, from its moments (p_s, p_s)."""
    mean, C = covariance(D)
    A = L[:-1]
    S = A.T @ C @ A
    q = len(S)
    S = S + max(_LEAST * float(np.trace(S)) / q, _LEAST**2) * np.eye(q)
    return mean @ A + L[-1], S, mean, np.linalg.solve(S, A.T @ C).T


@dataclass(frozen=True)
class CoordinatedMap:
    """Fitted maps of coordinated charts, both ways.

    Parameters
    ----------
    views : tuple of ChartedView
    maps : tuple of K arrays of shape (p_s, q)
        L_s of every chart.
    latent : LatentCharts
    residuals : tuple of arrays of shape (k, d)
        Residual variance of the charts of each mixture.
    smoothing : float
        Exponent of the responsibilities.
    """

    views: tuple[ChartedView, ...]
    maps: tuple[Array, ...]
    latent: LatentCharts
    residuals: tuple[Array, ...]
    smoothing: float

    @property
    def n_components(self) -> int:
        """Latent dimensions q."""
        return int(self.maps[0].shape[1])

    def spans(self, view: int) -> list[tuple[ChartedView, slice, Array]]:
        """The mixtures of a view, with the slice of their charts and the residual variances of these."""
        found = zip(self.views, _spans(self.views), self.residuals, strict=True)
        return [span for span in found if span[0].view == view]

    def backward(self, X: Array) -> Array:
        """Latent points (m, q) of rows (m, d)."""
        Q, features, _ = weighed(self.views, padded(X), self.smoothing)
        Z = np.zeros((len(Q), self.n_components))
        for s, (L, F) in enumerate(zip(self.maps, features, strict=True)):
            Z += Q[:, s : s + 1] * (F @ L[:-1] + L[-1])
        return Z[: len(X)]

    def forward(self, Z: Array, view: int = 0) -> Array:
        """Rows (m, d) of a view at latent points (m, q); parallel mixtures are averaged."""
        m, Z = len(Z), padded(Z)
        spans = self.spans(view)
        found = np.mean([self._mean_of(Z, own, charts) for own, charts, _ in spans], axis=0)
        return np.asarray((found * spans[0][0].scale + spans[0][0].centre)[:m])

    def variance(self, Z: Array, view: int = 0) -> Array:
        """Variance (m, d) of a view around ``forward``: residual variance of charts, plus their disagreement."""
        m, Z = len(Z), padded(Z)
        spans = self.spans(view)
        parts = [self._moments_of(Z, *span) for span in spans]
        first = np.mean([part[0] for part in parts], axis=0)
        second = np.mean([part[1] + (part[0] - first) ** 2 for part in parts], axis=0)
        return np.asarray((second * spans[0][0].scale ** 2)[:m])

    def loss(self, X: Array, Z: Array) -> float:
        """Share of the variance of rows not explained by ``forward(Z)``, averaged over views; at most 1."""
        lost = []
        for view in {own.view: own for own in self.views}.values():
            Y, seen = view.inside(X)
            found = (self.forward(Z, view.view) - view.centre) / view.scale
            spread = ((Y[seen] - Y[seen].mean(axis=0)) ** 2).sum()
            lost.append(float(((Y - found)[seen] ** 2).sum() / spread) if spread > 0 else 0.0)
        return float(np.minimum(lost, 1.0).mean())

    def latent_log_density(self, Z: Array) -> Array:
        """Log density (m,) of latent points: a mixture with one Gaussian per chart."""
        return normalised(self.latent.joint(Z, slice(None)))[1]

    def log_density(self, X: Array) -> Array:
        """Log density (m,) of rows: densities of parallel mixtures are averaged, log densities of views are added."""
        return np.asarray(np.nansum(self.view_log_densities(X), axis=1))

    def view_log_densities(self, X: Array) -> Array:
        """Log density (m, v) of rows in each view; NaN where a view has not seen the row."""
        views = sorted({own.view for own in self.views})
        out = np.empty((len(X), len(views)))
        for number, view in enumerate(views):
            logs = []
            for own, _, _ in self.spans(view):
                Y, seen = own.inside(X)
                logs.append(np.where(seen, own.charts.log_density(Y) - Y.shape[1] * np.log(own.scale), np.nan))
            out[:, number] = logsumexp(logs, axis=0) - np.log(len(logs))
        return out

    def sample(self, n: int, rng: np.random.RandomState, n_columns: int) -> Array:
        """Draw rows (n, n_columns): the first view from a random one of its mixtures, other views via ``forward``."""
        X = np.full((n, n_columns), np.nan)
        mixtures = self.spans(0)
        chosen = rng.randint(len(mixtures), size=n)
        for i, (own, _, _) in enumerate(mixtures):
            rows = np.flatnonzero(chosen == i)
            if len(rows):
                X[np.ix_(rows, own.columns)] = own.charts.sample(len(rows), rng)[0] * own.scale + own.centre
        others = {own.view: own.columns for own in self.views if own.view != 0}
        Z = self.backward(X) if others else np.empty((n, 0))
        for view, columns in others.items():
            X[:, columns] = self.forward(Z, view)
        return X

    def _mean_of(self, Z: Array, own: ChartedView, charts: slice) -> Array:
        """Conditional mean (m, d) by one mixture, in scaled units."""
        P = normalised(self.latent.joint(Z, charts))[0]
        mean = np.zeros((len(Z), len(own.columns)))
        for s, share in enumerate(P.T):
            mean += share[:, None] * own.charts.reconstruction(self.latent.features(Z, charts.start + s), s)
        return mean

    def _moments_of(self, Z: Array, own: ChartedView, charts: slice, left: Array) -> tuple[Array, Array]:
        """Conditional mean and variance (m, d) by one mixture, in scaled units."""
        P = normalised(self.latent.joint(Z, charts))[0]
        found = np.stack(
            [own.charts.reconstruction(self.latent.features(Z, charts.start + s), s) for s in range(P.shape[1])], axis=1
        )
        mean = np.einsum("ms,msd->md", P, found)
        between = np.einsum("ms,msd->md", P, (found - mean[:, None]) ** 2)
        return mean, P @ left + between + 1e-24
