"""The methods of every learned metric: rows are checked here, ``LinearMetric`` or ``KernelMetric`` answers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.cost import Cost, check_cost
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import check_choice, check_integer, check_number, check_rows, checked_array, validated
from sidelight.maps.jacobian_mixin import InverseJacobianMixin
from sidelight.maps.smooth_map import SmoothMap
from sidelight.maps.span import KernelColumns, KernelSpan
from sidelight.maps.span_jacobians import span_jacobian
from sidelight.side.pairs import Pairs, as_pairs

from ._learned_metric import KERNEL_COORDINATES, Kernel, KernelMetric, LinearMetric

__all__ = ["MetricMixin"]


_KERNELS = ("rbf", "poly")
_FARTHEST = 1e153  # learned coordinates that can be squared and summed
_LARGE = 5000  # columns: a matrix of them is 200 MB


def _is_linear(model: MetricMixin) -> bool:
    """Whether ``inverse_transform`` is there: not with a kernel."""
    return model.kernel is None


class MetricMixin(ClassNamePrefixFeaturesOutMixin, InverseJacobianMixin, TransformerMixin):
    """transform, distances between rows, and the matrix A = CᵀC.

    ``fit`` ends with ``_keep_metric``, which sets the fitted attributes below; with a kernel ``span_`` and
    ``coefficients_``, without one ``mean_``, ``components_`` and ``inverse_components_``.
    """

    n_components: int | None
    kernel: Kernel | None
    gamma: float | None
    degree: int
    kernel_coordinates: str
    regularization: float | str
    n_components_: int
    span_: KernelSpan | KernelColumns | None
    coefficients_: Array
    mean_: Array
    components_: Array
    inverse_components_: Array

    @one_blas_thread
    def transform(self, X: Array) -> Array:
        """Map rows to the space whose Euclidean distances are the learned ones.

        Parameters
        ----------
        X : array of shape (m, d)

        Returns
        -------
        Z : array of shape (m, r)
        """
        X = self._checked(X)
        return np.asarray(self._mapped(X).astype(X.dtype, copy=False))

    @available_if(_is_linear)
    @one_blas_thread
    def inverse_transform(self, Z: Array) -> Array:
        """Rows (m, d) at learned coordinates (m, r): exact at full rank, else the linear regression of rows on them."""
        return self._linear_metric().reconstruct(self._checked_latent(Z))

    def pair_distance(self, X: Array, Y: Array | Pairs | None = None, *, pairs: object = None) -> Array:
        """Learned distances between rows of X and rows of Y, or between pairs of rows of X, shape (m,).

        Parameters
        ----------
        X : array of shape (m, d)
        Y : array of shape (m, d), optional
            The i-th distance is that of ``X[i]`` and ``Y[i]``.
        pairs : Pairs or array of shape (k, 2), optional
            Row numbers into X, instead of Y.
        """
        if isinstance(Y, Pairs):
            Y, pairs = None, Y
        if (Y is None) == (pairs is None):
            seen = "nothing" if Y is None else "rows beside pairs"
            raise ValueError(error_message(self, "Y", seen, "does not say which rows", "Give either Y or pairs"))
        first = self._mapped(self._checked(X))
        if pairs is not None:
            index = as_pairs(pairs, len(first)).index
            return np.asarray(np.linalg.norm(first[index[:, 0]] - first[index[:, 1]], axis=1))
        assert Y is not None
        second = self._mapped(self._checked(Y))
        check_rows(self, "Y", second, len(first))
        return np.asarray(np.linalg.norm(first - second, axis=1))

    def metric(self) -> Callable[[Array, Array], float]:
        """The distance of two rows as a function, for anything that takes ``metric=``.

        For neighbours, ``transform`` and then Euclidean distances give the same in a fraction of the time.
        """
        check_is_fitted(self)
        return self._distance

    @property
    def mahalanobis_(self) -> Array:
        """A (d, d), computed on access; refused for many columns, absent with a kernel."""
        try:
            C = self.components_
        except AttributeError:
            raise AttributeError(f"{type(self).__name__} has no mahalanobis_ before fit, nor with a kernel") from None
        d = C.shape[1]
        if d > _LARGE:
            rule = f"makes a matrix of {d} x {d} numbers"
            raise ValueError(error_message(self, "mahalanobis_", f"{d} columns", rule, "Use components_, its factor"))
        return np.asarray(C.T @ C)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Memory and time of a fit to n rows and d columns."""
        p = n if self.kernel is not None else min(n, d)
        size = 8 * (3 * n * d + 5 * p * p + 2 * n * p) + 2**24
        search = self._search_seconds(n, p) if self.regularization == "auto" else 0.0
        return Cost(int(size), 0.01 + (n * d * p + 10.0 * p**3) * 1e-9 + search)

    def _search_seconds(self, n: int, p: int) -> float:
        """Time of the choice of ``regularization`` by held-out hints, for n rows in p coordinates."""
        del n
        return 0.08 + 1e-3 * p

    @property
    def _n_features_out(self) -> int:
        return int(self.n_components_)

    def _checked_fit_rows(self, X: Array) -> Array:
        """The rows of ``fit``, and the parameters that all metrics share, in range."""
        if self.regularization != "auto":
            check_number(self, "regularization", self.regularization, 0.0)
        check_integer(self, "degree", self.degree, 1)
        if self.gamma is not None:
            check_number(self, "gamma", self.gamma, 0.0)
        if self.kernel is not None and not callable(self.kernel):
            check_choice(self, "kernel", self.kernel, _KERNELS)
        check_choice(self, "kernel_coordinates", self.kernel_coordinates, KERNEL_COORDINATES)
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2))
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        limit, what = (X.shape[1], "columns") if self.kernel is None else (len(X), "rows")
        if self.n_components is not None:
            check_integer(self, "n_components", self.n_components, 1)
            if self.n_components > limit:
                rule = f"is more than the {limit} {what} of X"
                raise ValueError(error_message(self, "n_components", self.n_components, rule, "Ask for fewer"))
        return X

    def _keep_metric(self, found: LinearMetric | KernelMetric) -> None:
        self.n_components_ = found.n_components
        if isinstance(found, KernelMetric):
            self.span_, self.coefficients_ = found.span, found.coefficients
            return
        self.span_, self.mean_ = None, found.mean
        self.components_, self.inverse_components_ = found.components, found.inverse_components

    def _fitted_metric(self) -> LinearMetric | KernelMetric:
        """The fitted metric as one value."""
        return self._linear_metric() if self.span_ is None else KernelMetric(self.span_, self.coefficients_)

    def _linear_metric(self) -> LinearMetric:
        return LinearMetric(self.mean_, self.components_, self.inverse_components_)

    def _checked_latent(self, X: Array) -> Array:
        check_is_fitted(self)
        Z = np.asarray(checked_array(self, X, dtype=[np.float64, np.float32]))
        if Z.shape[1] != self.n_components_:
            rule = f"does not have the {self.n_components_} columns of transform"
            raise ValueError(error_message(self, "Z", f"{Z.shape[1]} columns", rule, "Give what transform returns"))
        return Z

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        del given, n
        check_is_fitted(self)
        return SmoothMap(self._checked, lambda C, which: self._mapped(C), lambda C, which: self._slopes(C))

    def _slopes(self, X: Array) -> Array:
        if self.span_ is None:
            return np.repeat(self.components_[None], len(X), axis=0)
        return span_jacobian(self.span_, self.coefficients_, X)

    def _inverse_slopes(self, Z: Array, given: object, columns: Array | None) -> Array:
        del given
        slopes = self.inverse_components_.T
        return np.repeat((slopes if columns is None else slopes[columns])[None], len(Z), axis=0)

    def _no_jacobian(self) -> str | None:
        return "go through a kernel that is a function, whose slopes are not known" if callable(self.kernel) else None

    def _no_inverse_jacobian(self) -> str | None:
        return None if self.kernel is None else "have no way back from a kernel"

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self)
        spread = self._fitted_metric().spread
        return np.asarray(validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=spread))

    def _mapped(self, X: Array) -> Array:
        """Learned coordinates of rows (m, r) in float64, if their squares do not overflow."""
        with np.errstate(over="ignore", invalid="ignore"):
            Z = self._fitted_metric().embed(X)
        largest = float(np.abs(Z).max(initial=0.0))
        if not largest < _FARTHEST:
            seen, rule = f"rows up to {np.abs(X).max():.3g}", "have learned coordinates whose squares overflow"
            raise ValueError(error_message(self, "X", seen, rule, "Rescale the data"))
        return Z

    def _distance(self, a: Array, b: Array) -> float:
        mapped = self._mapped(np.stack([a, b]))
        return float(np.linalg.norm(mapped[0] - mapped[1]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
