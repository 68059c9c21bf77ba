r"""What coordination asks of a mixture: who is responsible for a row, and where the row is on that chart's own axes.

    r_s(x) = p(s | x),      f_s(x) local coordinates,      x̂_s(f) back from them,      s = 1 ... k

Any mixture, of any data, that answers this can be coordinated. Here: the protocol, and the adapter of scikit-learn's
``GaussianMixture``, whose local coordinates are the leading principal axes of each covariance, at unit variance:

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

from sidelight.base.messages import complain
from sidelight.objectives.mixtures import normalised
from sidelight.solvers.eigen import fix_signs

__all__ = [
    "ChartEstimator",
    "Charts",
    "GaussianCharts",
    "LocalCoordinates",
    "MixtureCharts",
    "gaussian_charts",
    "local_numbers",
]

Array = npt.NDArray[Any]


@runtime_checkable
class LocalCoordinates(Protocol):
    """Charts by their methods that coordination cannot do without; ``isinstance`` tells them from estimators."""

    def responsibilities(self, X: Array) -> Array:
        """Posterior of the charts (n, k); rows sum to 1."""
        ...

    def features(self, X: Array, chart: int) -> Array:
        """Local coordinates (n, n_local[chart]): posterior means, of unit variance under the chart or less."""
        ...

    def reconstruction(self, F: Array, chart: int) -> Array:
        """Rows (n, d) of the data at local coordinates."""
        ...


class Charts(LocalCoordinates, Protocol):
    """A mixture of k charts, each with local coordinates of its own number."""

    @property
    def n_charts(self) -> int:
        """How many charts there are."""
        ...

    @property
    def n_local(self) -> tuple[int, ...]:
        """Local coordinates of each chart."""
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
        """Free parameters of the density."""
        ...

    @property
    def spread(self) -> float:
        """The unit of length of the fit; infinite where rows have none (binary ones)."""
        ...

    def expected(self, X: Array) -> Array:
        """Means (n, d) of all entries of rows, given the observed ones."""
        ...


class ChartEstimator(ABC):
    """An estimator of this library whose fit ends with charts, that coordination can fit to the rows of a view."""

    moves_with_rows: ClassVar[bool]
    """Whether rows that are moved and scaled give the same charts, moved and scaled: not so for binary rows."""

    charts_: MixtureCharts
    n_iter_: int
    history_: list[dict[str, Any]]

    @abstractmethod
    def fit_batches(self, source: Any) -> Self:
        """Fit to rows that are walked more than once."""


def local_numbers(owner: object, n_local: int | Sequence[int], n_charts: int, d: int) -> tuple[int, ...]:
    """Local coordinates of each chart, from one number for all or one for each; at most d."""
    wanted = [n_local] * n_charts if isinstance(n_local, int | np.integer) else list(n_local)
    if len(wanted) != n_charts or not all(0 <= q <= d for q in wanted):
        rule = f"is not one number from 0 to {d} for all {n_charts} charts, or one for each"
        raise ValueError(complain(owner, "n_local", n_local, rule, "Give such numbers"))
    return tuple(int(q) for q in wanted)


@dataclass(frozen=True)
class GaussianCharts:
    """Charts of a mixture of Gaussians: ``whiteners`` (k, d, d) and, of each chart, ``axes`` (d, q_s) = V Λ^(1/2)."""

    weights: Array
    means: Array
    whiteners: Array
    axes: tuple[Array, ...]

    @property
    def n_charts(self) -> int:
        """How many charts there are."""
        return len(self.weights)

    @property
    def n_local(self) -> tuple[int, ...]:
        """Local coordinates of each chart."""
        return tuple(int(axes.shape[1]) for axes in self.axes)

    def responsibilities(self, X: Array) -> Array:
        """Posterior of the charts (n, k)."""
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
        """``Λ^(-1/2) Vᵀ (x - μ)``, all axes, the widest first."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.means[chart]) @ self.whiteners[chart])

    def _joint(self, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        squares = [np.einsum("ij,ij->i", Y, Y) for Y in (self._whitened(X, s) for s in range(self.n_charts))]
        volumes = np.linalg.slogdet(self.whiteners)[1]
        with np.errstate(divide="ignore"):  # a chart of weight 0 has no rows
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


def _covariances(mixture: Any, k: int, d: int) -> Array:
    """Covariances (k, d, d) of a ``GaussianMixture`` of any kind."""
    C = np.asarray(mixture.covariances_, dtype=np.float64)
    if mixture.covariance_type == "full":
        return C
    if mixture.covariance_type == "tied":
        return np.broadcast_to(C, (k, d, d))
    variances = np.broadcast_to(C if C.ndim == 2 else C[:, None], (k, d))
    return np.asarray(variances[:, :, None] * np.eye(d))


def _spectra(C: Array) -> tuple[Array, Array]:
    """Eigenvalues (k, d), largest first, and eigenvectors (k, d, d) with signs that do not depend on the machine."""
    pairs = [eigh(matrix) for matrix in C]
    values = np.stack([value[::-1] for value, _ in pairs])
    return values, np.stack([fix_signs(vectors[:, ::-1]) for _, vectors in pairs])
