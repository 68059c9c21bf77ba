r"""Interface of a mixture whose charts can be coordinated: responsibilities, and local coordinates within each chart.

    r_s(x) = p(s | x),      f_s(x) local coordinates,      x̂_s(f) back from them,      s = 1 ... k

Any mixture that implements these can be coordinated. This module has the protocol, and an adapter for scikit-learn's
``GaussianMixture``. Its local coordinates are the leading principal components of each covariance, at unit variance:

    Σ_s = V Λ Vᵀ,      f_s(x) = Λ_q^(-1/2) V_qᵀ (x - μ_s),      x̂_s(f) = μ_s + V_q Λ_q^(1/2) f
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh

from sidelight.base.messages import error_message
from sidelight.objectives.mixtures import normalised, supported_dimension
from sidelight.solvers.eigen import fix_signs

__all__ = [
    "MOST_LOCAL",
    "AllFeatures",
    "ChartEstimator",
    "Charts",
    "GaussianCharts",
    "LocalCoordinates",
    "MixtureCharts",
    "gaussian_charts",
    "local_numbers",
    "moves_with_rows",
    "supported_numbers",
]

Array = npt.NDArray[Any]
MOST_LOCAL = 10
"""Most local dimensions of a chart where their number is chosen from the rows ("auto")."""


@runtime_checkable
class LocalCoordinates(Protocol):
    """Methods of charts that coordination needs; ``isinstance`` distinguishes charts from estimators."""

    def responsibilities(self, X: Array) -> Array:
        """Posterior probabilities of the charts (n, k); rows sum to 1."""
        ...

    def features(self, X: Array, chart: int) -> Array:
        """Local coordinates (n, n_local[chart]): posterior means, of variance at most 1 under the chart."""
        ...

    def reconstruction(self, F: Array, chart: int) -> Array:
        """Data rows (n, d) at local coordinates F (n, n_local[chart])."""
        ...


@runtime_checkable
class AllFeatures(Protocol):
    """Charts that compute the local coordinates of all charts together, which is faster."""

    def all_features(self, X: Array) -> list[Array]:
        """``features`` (n, n_local[s]) of complete rows in every chart s."""
        ...


class Charts(LocalCoordinates, Protocol):
    """A mixture of k charts; each may have a different number of local coordinates."""

    @property
    def n_charts(self) -> int:
        """Number of charts k."""
        ...

    @property
    def n_local(self) -> tuple[int, ...]:
        """Number of local coordinates of each chart."""
        ...

    def log_density(self, X: Array) -> Array:
        """Log density of rows (n,)."""
        ...

    def sample(self, n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Draw n rows (n, d) and the chart of each (n,)."""
        ...


class MixtureCharts(Charts, Protocol):
    """Charts of a mixture that this library fits: a density whose rows may have missing entries (NaN)."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters of the density."""
        ...

    @property
    def spread(self) -> float:
        """Length scale of the fitted data; infinite for binary rows, which have none."""
        ...

    def expected(self, X: Array) -> Array:
        """Conditional mean of every entry (n, d) given the observed entries of its row."""
        ...


class ChartEstimator(ABC):
    """Estimator of this library that fits charts; coordination can fit it to the rows of a view."""

    _moves_with_rows: ClassVar[bool]

    charts_: MixtureCharts
    n_iter_: int
    history_: list[dict[str, Any]]

    @abstractmethod
    def fit_batches(self, source: Any) -> Self:
        """Fit to a source of batches that can be iterated more than once."""


def moves_with_rows(mixture: ChartEstimator) -> bool:
    """Whether the fit is equivariant to shifting and scaling the rows (not so for binary rows)."""
    return mixture._moves_with_rows


def local_numbers(owner: object, n_local: int | Sequence[int], n_charts: int, d: int) -> tuple[int, ...]:
    """Number of local coordinates of each chart, as a tuple, from one number for all or one for each; 0 to d."""
    wanted = [n_local] * n_charts if isinstance(n_local, int | np.integer) else list(n_local)
    if len(wanted) != n_charts or not all(0 <= q <= d for q in wanted):
        rule = f"is not one number from 0 to {d} for all {n_charts} charts, or one for each"
        raise ValueError(error_message(owner, "n_local", n_local, rule, "Give such numbers"))
    return tuple(int(q) for q in wanted)


@dataclass(frozen=True)
class GaussianCharts:
    """Charts of a mixture of Gaussians.

    Parameters
    ----------
    weights : array of shape (k,)
    means : array of shape (k, d)
    whiteners : array of shape (k, d, d)
        V Λ^(-1/2) of each covariance.
    axes : tuple of k arrays of shape (d, q_s)
        The leading columns of V Λ^(1/2) of each covariance.
    """

    weights: Array
    means: Array
    whiteners: Array
    axes: tuple[Array, ...]

    @property
    def n_charts(self) -> int:
        """Number of charts k."""
        return len(self.weights)

    @property
    def n_local(self) -> tuple[int, ...]:
        """Number of local coordinates of each chart."""
        return tuple(int(axes.shape[1]) for axes in self.axes)

    def responsibilities(self, X: Array) -> Array:
        """Posterior probabilities of the charts (n, k)."""
        return normalised(self._joint(X))[0]

    def features(self, X: Array, chart: int) -> Array:
        """Local coordinates (n, n_local[chart]), of unit variance under the chart."""
        return self._whitened(X, chart)[:, : self.n_local[chart]]

    def reconstruction(self, F: Array, chart: int) -> Array:
        """Rows (n, d) at local coordinates."""
        return np.asarray(self.means[chart] + np.asarray(F) @ self.axes[chart].T)

    def log_density(self, X: Array) -> Array:
        """Log density of rows (n,)."""
        return normalised(self._joint(X))[1]

    def sample(self, n: int, rng: np.random.RandomState) -> tuple[Array, Array]:
        """Draw n rows (n, d) and the chart of each (n,)."""
        chart = rng.choice(self.n_charts, n, p=self.weights)
        X = rng.standard_normal((n, self.means.shape[1]))
        for s in np.unique(chart):
            drawn = chart == s
            X[drawn] = self.means[s] + np.linalg.solve(self.whiteners[s].T, X[drawn].T).T
        return X, chart

    def _whitened(self, X: Array, chart: int) -> Array:
        """Whitened rows ``Λ^(-1/2) Vᵀ (x - μ)`` (n, d), all axes, the widest first."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.means[chart]) @ self.whiteners[chart])

    def _joint(self, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        squares = [np.einsum("ij,ij->i", Y, Y) for Y in (self._whitened(X, s) for s in range(self.n_charts))]
        volumes = np.linalg.slogdet(self.whiteners)[1]
        with np.errstate(divide="ignore"):  # log 0 for a chart of weight 0
            constants = np.log(self.weights) + volumes - 0.5 * self.means.shape[1] * np.log(2.0 * np.pi)
        return np.asarray(constants - 0.5 * np.stack(squares, axis=1))


def gaussian_charts(mixture: Any, n_local: int | Sequence[int]) -> GaussianCharts:
    """Charts of a fitted scikit-learn ``GaussianMixture`` (any ``covariance_type``), with ``n_local`` coordinates each.

    Examples
    --------
    >>> from sklearn.mixture import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(200, 4)) * [4, 3, 2, 1]
    >>> charts = gaussian_charts(GaussianMixture(2, random_state=0).fit(X), n_local=2)
    >>> charts.n_local, charts.features(X, chart=1).shape
    ((2, 2), (200, 2))
    """
    means = np.asarray(mixture.means_, dtype=np.float64)
    k, d = means.shape
    numbers = local_numbers("gaussian_charts", n_local, k, d)
    values, vectors = _spectra(_covariances(mixture, k, d))
    whiteners = vectors / np.sqrt(values)[:, None]
    axes = tuple(V[:, :q] * np.sqrt(lengths[:q]) for V, lengths, q in zip(vectors, values, numbers, strict=True))
    return GaussianCharts(np.asarray(mixture.weights_, dtype=np.float64), means, whiteners, axes)


def supported_numbers(mixture: Any, n: int) -> tuple[int, ...]:
    """Local dimensions that the rows of each chart of a fitted ``GaussianMixture`` support, at most 10.

    ``n`` is the number of rows of the fit. As for mixtures of probabilistic PCA, the number with the best Bayesian
    information criterion (``objectives.mixtures.supported_dimension``).

    Examples
    --------
    >>> from sklearn.mixture import GaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(200, 4)) * [4, 3, 0.2, 0.2]
    >>> supported_numbers(GaussianMixture(1, random_state=0).fit(X), n=200)
    (2,)
    """
    k, d = mixture.means_.shape
    spectra = _spectra(_covariances(mixture, k, d))[0]
    q = min(MOST_LOCAL, d - 1)
    sizes = n * np.asarray(mixture.weights_, dtype=np.float64)
    return tuple(
        supported_dimension(values[:q], float(values[q:].sum()), float(size), d)[0]
        for values, size in zip(spectra, sizes, strict=True)
    )


def _covariances(mixture: Any, k: int, d: int) -> Array:
    """Covariances (k, d, d) of a ``GaussianMixture`` of any ``covariance_type``."""
    C = np.asarray(mixture.covariances_, dtype=np.float64)
    if mixture.covariance_type == "full":
        return C
    if mixture.covariance_type == "tied":
        return np.broadcast_to(C, (k, d, d))
    variances = np.broadcast_to(C if C.ndim == 2 else C[:, None], (k, d))
    return np.asarray(variances[:, :, None] * np.eye(d))


def _spectra(C: Array) -> tuple[Array, Array]:
    """Eigenvalues (k, d), largest first, and eigenvectors (k, d, d) with reproducible signs."""
    pairs = [eigh(matrix) for matrix in C]
    values = np.stack([value[::-1] for value, _ in pairs])
    return values, np.stack([fix_signs(vectors[:, ::-1]) for _, vectors in pairs])
