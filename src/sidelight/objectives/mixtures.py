r"""Mixture of probabilistic PCA: k charts, each a plane with noise (Tipping and Bishop 1999; S2, S3).

    p(x) = Σ_s π_s N(x; μ_s, W_s W_sᵀ + σ_s² I),      W_s (d, q_s),      σ_s² ≥ floor

With M = WᵀW + σ² I = L Lᵀ and B = W L⁻ᵀ (d, q), all charts at once, by products of (m, d) with (d, k q) and (d, k):

    -2 log N = ( |x - μ|² - |Bᵀ(x - μ)|² ) / σ² + (d - q) log σ² + log|M| + d log 2π

For complete rows of few columns the M step is in closed form: the principal axes of each chart's covariance, from the
sums Σ r, Σ r x and Σ r x xᵀ. With missing values or many columns, each chart uses the sums of ``linear_gaussian`` with
its responsibilities as weights. If the estimated noise is below the floor, the floor is the constrained maximum, so the
likelihood does not fall.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.eigenvalues import selected_pairs
from sidelight.base.tiles import spans
from sidelight.base.types import Array
from sidelight.rows import Sums, summed

from . import linear_gaussian
from .linear_gaussian import Expected, LinearGaussian
from .upper_triangles import unpacked

__all__ = ["MixtureParameters", "Planes", "joint_log_density", "kept_dimensions", "normalised", "supported_dimension"]


_FEW_COLUMNS = 32  # columns up to which all products x_i x_j of a row are computed once, for all charts
_COVARIANCES = 300  # columns up to which a d x d matrix per chart is cheaper than the extra iterations without
_NO_ROWS = 1e-9  # a chart with fewer rows is not updated
_ROUNDING = 1e-17  # responsibilities below this share of a chart's largest are ignored
_INNER = 1024  # rows per tile, so that products stay in a core's cache


@dataclass(frozen=True)
class MixtureParameters:
    """Mixing ``weights`` π (k,) and the k charts."""

    weights: Array
    charts: tuple[LinearGaussian, ...]


def normalised(joint: Array) -> tuple[Array, Array]:
    """Responsibilities (n, k) and log density (n,) from ``joint`` = log p(x, s) (n, k).

    >>> normalised(np.log([[0.1, 0.3]]))[0].round(2)
    array([[0.25, 0.75]])
    """
    largest = joint.max(axis=1, keepdims=True)
    R = np.exp(joint - largest)
    total = R.sum(axis=1, keepdims=True)
    R /= total
    return R, (largest + np.log(total))[:, 0]


def joint_log_density(mixture: MixtureParameters, X: Array) -> Array:
    """``log p(x, s)`` (n, k); NaN is missing."""
    broken = np.isnan(X).any(axis=1)
    if not broken.any():
        return _Projections.of(mixture).joint(X)
    joint = np.empty((len(X), len(mixture.charts)))
    joint[~broken] = _Projections.of(mixture).joint(X[~broken])
    joint[broken] = np.concatenate([_joint(mixture, steps) for steps in _steps(mixture, X[broken])])
    return joint


def _steps(mixture: MixtureParameters, X: Array) -> Iterator[list[Expected]]:
    """E steps of all charts, tile by tile; patterns of missing entries are found once per tile."""
    for tile in linear_gaussian.tiles(X, mixture.charts):
        yield [linear_gaussian.expected(chart, tile) for chart in mixture.charts]


def _joint(mixture: MixtureParameters, steps: list[Expected]) -> Array:
    """``log p(x, s)`` of a tile (n, k)."""
    own = [linear_gaussian.tile_log_density(chart, step) for chart, step in zip(mixture.charts, steps, strict=True)]
    return np.stack(own, axis=1) + np.log(mixture.weights)


@dataclass(frozen=True)
class _Projections:
    """All charts concatenated: ``B`` (d, q k), its offsets (q k,), means (d, k), noise (k,), and constants (k,)."""

    B: Array
    offsets: Array
    means: Array
    noise: Array
    constants: Array

    @classmethod
    def of(cls, mixture: MixtureParameters) -> _Projections:
        k, d = len(mixture.charts), len(mixture.charts[0].mean)
        q = max(chart.W.shape[1] for chart in mixture.charts)
        B, offsets, volumes = np.zeros((d, q, k)), np.zeros((q, k)), np.zeros(k)
        for own in {chart.W.shape[1] for chart in mixture.charts}:  # charts of one size together
            which = [s for s, chart in enumerate(mixture.charts) if chart.W.shape[1] == own]
            charts = [mixture.charts[s] for s in which]
            M = np.stack([chart.W.T @ chart.W for chart in charts])
            noise = np.array([chart.noise for chart in charts])
            L = np.linalg.cholesky(M + noise[:, None, None] * np.eye(own))
            B[:, :own, which] = np.linalg.solve(L, np.stack([chart.W.T for chart in charts])).transpose(2, 1, 0)
            logs = np.log(np.diagonal(L, axis1=1, axis2=2)).sum(axis=1)
            volumes[which] = (d - own) * np.log(noise) + 2.0 * logs
        for s, chart in enumerate(mixture.charts):
            own = chart.W.shape[1]
            offsets[:own, s] = chart.mean @ B[:, :own, s]
        means = np.stack([chart.mean for chart in mixture.charts], axis=1)
        constants = np.log(mixture.weights) - 0.5 * (volumes + d * np.log(2.0 * np.pi))
        noise = np.array([chart.noise for chart in mixture.charts])
        return cls(B.reshape(d, q * k), offsets.reshape(q * k), means, noise, constants)

    def joint(self, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        squares = X @ (-2.0 * self.means)
        squares += np.einsum("dk,dk->k", self.means, self.means)
        squares += np.einsum("nd,nd->n", X, X)[:, None]
        if len(self.offsets):
            Y = X @ self.B
            Y -= self.offsets
            Y *= Y
            squares -= Y.reshape(len(X), len(self.offsets) // len(self.noise), len(self.noise)).sum(axis=1)
        np.maximum(squares, 0.0, out=squares)
        squares *= -0.5 / self.noise
        squares += self.constants
        return squares


@dataclass(frozen=True)
class Planes:
    """EM of a mixture of probabilistic PCA.

    Parameters
    ----------
    floor : float
        Lower bound of the noise variances.
    missing : bool
        Whether rows may have missing entries (NaN).
    expand : bool
        Whether parameter expansion is used; not in a stream, whose sums refer to the previous local axes.
    """

    floor: float
    missing: bool = False
    expand: bool = True

    def joint(self, mixture: MixtureParameters, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        return joint_log_density(mixture, X)

    def sums(self, mixture: MixtureParameters, X: Array) -> Sums:
        """E step: sufficient statistics of rows for the M step."""
        if self.missing or X.shape[1] > _COVARIANCES:
            return self._chart_by_chart(mixture, X)
        projections = _Projections.of(mixture)
        total: Sums = {}
        d = X.shape[1]
        room = np.empty((d * (d + 1) // 2 if d <= _FEW_COLUMNS else 0, min(_INNER, len(X))))
        for part in spans(len(X), _INNER):
            R, log_density = normalised(projections.joint(X[part]))
            own = _moments(R, X[part], room) | {"log": np.asarray(log_density.sum())}
            total = {name: total[name] + value for name, value in own.items()} if total else own
        return total

    def _chart_by_chart(self, mixture: MixtureParameters, X: Array) -> Sums:
        return summed(self._of_tile(mixture, steps) for steps in _steps(mixture, X))

    def _of_tile(self, mixture: MixtureParameters, steps: list[Expected]) -> Sums:
        R, log_density = normalised(_joint(mixture, steps))
        sums: Sums = {"rows": np.array(float(len(R))), "log": np.asarray(log_density.sum()), "n": R.sum(axis=0)}
        for s, (chart, step) in enumerate(zip(mixture.charts, steps, strict=True)):
            own = linear_gaussian.tile_statistics(chart, step, R[:, s], missing=self.missing)
            sums |= {f"{s}:{name}": value for name, value in own.items()}
        return sums

    def opened(self, sums: Sums, mixture: MixtureParameters) -> Sums:
        """Convert sums of complete rows to the form for missing entries, so that both can be added."""
        d, opened = len(mixture.charts[0].mean), {name: sums[name] for name in ("rows", "log", "n")}
        for s, chart in enumerate(mixture.charts):
            own = _of_moments(sums, s, chart) if "xx" in sums else _of_chart(sums, s)
            opened |= {f"{s}:{name}": value for name, value in own.items()}
            opened[f"{s}:A"] = np.repeat(own["A"], d, axis=0)
        return opened

    def maximised(self, sums: Sums, mixture: MixtureParameters) -> MixtureParameters:
        """M step; a chart without rows is not changed."""
        weights = np.maximum(sums["n"], 1e-300)
        charts = tuple(
            self._maximised_chart(sums, s, chart) if sums["n"][s] > _NO_ROWS else chart
            for s, chart in enumerate(mixture.charts)
        )
        return MixtureParameters(weights / weights.sum(), charts)

    def _maximised_chart(self, sums: Sums, s: int, chart: LinearGaussian) -> LinearGaussian:
        if "xx" in sums:
            return _principal(sums["n"][s], sums["x"][s], sums["xx"][s], chart.W.shape[1], self.floor)
        return linear_gaussian.maximised(_of_chart(sums, s), chart, least_noise=self.floor, expand=self.expand)

    def value(self, sums: Sums, mixture: MixtureParameters) -> float:
        """Mean log likelihood at the mixture with which the sums were computed."""
        del mixture
        return float(sums["log"] / sums["rows"])

    def carried(self, sums: Sums, before: MixtureParameters, after: MixtureParameters) -> Sums:
        """Convert sums centred at the chart means of ``before`` to those of ``after``."""
        if "xx" in sums:
            return sums
        moved = dict(sums)
        for s, (old, new) in enumerate(zip(before.charts, after.charts, strict=True)):
            delta, b, q = old.mean - new.mean, sums[f"{s}:b"], old.n_components
            last = sums[f"{s}:A"][:, np.triu_indices(q + 1)[1] == q]  # Σ E[ζ] over the rows with a column observed
            moved[f"{s}:square"] = sums[f"{s}:square"] + 2.0 * delta * b[:, q] + delta**2 * sums[f"{s}:seen"]
            moved[f"{s}:b"] = b + delta[:, None] * last
        return moved

    def reseeded(self, mixture: MixtureParameters, charts: Array, X: Array) -> MixtureParameters:
        """Restart charts, each at a row of ``X``, with the mean width of all charts and the axes of the row's chart."""
        d, weights, found = X.shape[1], mixture.weights.copy(), list(mixture.charts)
        width = float(mixture.weights @ [(chart.W**2).sum() / d + chart.noise for chart in mixture.charts])
        overall = mixture.weights @ np.stack([chart.mean for chart in mixture.charts])
        owners = joint_log_density(mixture, X).argmax(axis=1)
        for s, row, owner in zip(charts, X, owners, strict=True):
            mean = np.where(np.isnan(row), overall, row)
            found[s] = LinearGaussian(mean, mixture.charts[owner].W, max(width, self.floor))
        weights[charts] = 1.0 / len(weights)
        return MixtureParameters(weights / weights.sum(), tuple(found))


def kept_dimensions(mixture: MixtureParameters, rows: Array) -> MixtureParameters:
    r"""Reduce each chart to the intrinsic dimension with the best Bayesian information criterion.

    ``rows`` (k,) are the rows N of each chart. A chart's model has the spectrum λ_1 ... λ_q and d - q times σ², from
    which the likelihood of fewer dimensions follows (:func:`supported_dimension`).
    """
    pruned = (_pruned(chart, float(n)) for chart, n in zip(mixture.charts, rows, strict=True))
    return replace(mixture, charts=tuple(pruned))


def supported_dimension(values: Array, rest: float, n: float, d: int) -> tuple[int, float]:
    r"""Dimension p of a plane with the best Bayesian information criterion, and the noise variance σ_p² around it.

    Minimises ``N (Σ_{j ≤ p} log λ_j + (d - p) log σ_p²) + p (d - (p - 1)/2) log N`` over p = 0, ..., q.

    Parameters
    ----------
    values : array of shape (q,)
        Leading eigenvalues λ of the covariance of the rows, in decreasing order; q < d.
    rest : float
        Sum of the other d - q eigenvalues.
    n : float
        Number of rows N.
    d : int
        Columns.

    Examples
    --------
    >>> dimension, noise = supported_dimension(np.array([9.0, 5.0, 1.1, 1.0]), 0.9, 100, 5)
    >>> dimension, round(noise, 6)
    (2, 1.0)
    """
    p = np.arange(len(values) + 1)
    noise = (np.append(np.cumsum(values[::-1])[::-1], 0.0) + rest) / (d - p)
    logs = np.append(0.0, np.cumsum(np.log(values))) + (d - p) * np.log(noise)
    best = int(np.argmin(n * logs + p * (d - (p - 1) / 2) * np.log(max(n, 2.0))))
    return best, float(noise[best])


def _pruned(chart: LinearGaussian, n: float) -> LinearGaussian:
    d, q = chart.W.shape
    U, lengths, _ = np.linalg.svd(chart.W, full_matrices=False)
    values = lengths**2 + chart.noise
    best, noise = supported_dimension(values, (d - q) * chart.noise, n, d)
    return LinearGaussian(chart.mean, U[:, :best] * np.sqrt(np.maximum(values[:best] - noise, 0.0)), noise)


def _moments(R: Array, X: Array, room: Array) -> Sums:
    """``Σ r``, ``Σ r x`` and the upper triangle of ``Σ r x xᵀ`` of each chart."""
    sums = {"rows": np.array(float(len(X))), "n": R.sum(axis=0), "x": R.T @ X}
    if X.shape[1] <= _FEW_COLUMNS:
        return sums | {"xx": (_products(X, room) @ R).T}
    upper = np.triu_indices(X.shape[1])
    return sums | {"xx": np.stack([_products_of(X, r)[upper] for r in R.T])}


def _products_of(X: Array, r: Array) -> Array:
    """``Σ r x xᵀ`` of one chart over rows of relevant r; with many columns most rows belong to a single chart."""
    rows = np.flatnonzero(r > _ROUNDING * r.max())
    return np.asarray((X[rows] * r[rows, None]).T @ X[rows])


def _products(X: Array, room: Array) -> Array:
    """``x_i x_j`` of each row, i ≤ j, as (d (d + 1) / 2, n), in the buffer ``room`` (allocation is slow)."""
    columns = np.ascontiguousarray(X.T)
    d, n = columns.shape
    products, start = room[:, :n], 0
    for i in range(d):
        np.multiply(columns[i], columns[i:], out=products[start : start + d - i])
        start += d - i
    return products


def _of_chart(sums: Sums, s: int) -> Sums:
    """The sums of one chart, without the prefix of their names."""
    return {name.partition(":")[2]: value for name, value in sums.items() if name.startswith(f"{s}:")}


def _of_moments(sums: Sums, s: int, chart: LinearGaussian) -> Sums:
    """``linear_gaussian.statistics`` of complete rows from their moments, as E[z] is linear in x."""
    n, x, (d, q) = sums["n"][s], sums["x"][s], chart.W.shape
    C = unpacked(sums["xx"][s][None], d)[0]
    C += n * np.outer(chart.mean, chart.mean) - np.outer(x, chart.mean) - np.outer(chart.mean, x)
    inverse = np.linalg.inv(chart.W.T @ chart.W + chart.noise * np.eye(q))
    b = np.column_stack([C @ chart.W @ inverse, x - n * chart.mean])
    latent = np.empty((q + 1, q + 1))
    latent[:q] = inverse @ chart.W.T @ b
    latent[:q, :q] += n * chart.noise * inverse
    latent[q, q] = n
    upper = latent[np.triu_indices(q + 1)]
    return {"n": n, "seen": np.full(d, n), "square": np.diag(C).copy(), "b": b, "latent": upper, "A": upper[None]}


@functools.lru_cache(maxsize=8)
def _upper(d: int) -> tuple[Array, Array]:
    """Rows and columns of the upper triangle of a (d, d) matrix; not to be changed."""
    return np.triu_indices(d)


def _principal(n: float, x: Array, xx: Array, q: int, floor: float) -> LinearGaussian:
    """Maximum likelihood probabilistic PCA from moments: principal axes; the noise is the mean remaining eigenvalue."""
    d, mean = len(x), x / n
    rows, columns = _upper(d)
    C = np.zeros((d, d))
    C[rows, columns] = xx / n - mean[rows] * mean[columns]
    k = min(q, d)
    values, vectors = selected_pairs(C, d - k, d - 1, lower=False) if k else (np.empty(0), np.empty((d, 0)))
    noise = max((np.trace(C) - values.sum()) / (d - k), floor) if k < d else floor
    W = vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1] - noise, 0.0))
    if k < q:
        W = np.hstack([W, np.zeros((d, q - k))])
    return LinearGaussian(mean, W, float(noise))
