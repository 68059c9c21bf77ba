"""What every learned metric offers, written once: rows to a space in which straight distances are the learned ones.

    d_A(a, b) = |C (a - b)|,      A = Cᵀ C,      transform(x) = C (x - mean)

or, with a kernel, the same on kernel-PCA coordinates. A model that inherits it calls ``_spanned`` and ``_keep`` in
``fit``. The mixin holds no state of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_choice, check_integer, check_number, check_rows, checked_array, validated
from sidelight.maps.frames import Frame
from sidelight.maps.hinted import regression
from sidelight.maps.span import KernelSpan, LinearSpan, kernel_span, linear_span
from sidelight.side.pairs import Pairs, as_pairs
from sidelight.solvers.eigen import fix_signs

__all__ = ["FORMS", "MetricMap"]

Array = npt.NDArray[Any]
FORMS = ("generalised", "literal")
_KERNELS = ("rbf", "poly")
_FARTHEST = 1e153  # learned coordinates that can be squared and summed
_LARGE = 5000  # columns: a matrix of them is 200 MB


def _is_linear(model: Any) -> bool:
    """Whether there is a way back from learned coordinates."""
    return model.kernel is None


class MetricMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """transform, distances between rows, and the matrix A, from a factor of it."""

    @one_blas_thread
    def transform(self: Any, X: Array) -> Array:
        """Rows in the space whose straight distances are the learned ones, shape (m, r)."""
        check_is_fitted(self)
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=self._spread()))
        return np.asarray(self._mapped(X).astype(X.dtype, copy=False))

    @available_if(_is_linear)
    @one_blas_thread
    def inverse_transform(self: Any, Z: Array) -> Array:
        """Rows (m, d) from learned coordinates: exact at full rank, else the linear regression of rows on them."""
        check_is_fitted(self)
        Z = np.asarray(checked_array(self, Z, dtype=[np.float64, np.float32]))
        if Z.shape[1] != self.n_components_:
            rule = f"does not have the {self.n_components_} columns of transform"
            raise ValueError(complain(self, "Z", f"{Z.shape[1]} columns", rule, "Give what transform returns"))
        return np.asarray((Z @ self.inverse_components_ + self.mean_).astype(Z.dtype, copy=False))

    def pair_distance(self: Any, X: Array, Y: Any = None, *, pairs: Any = None) -> Array:
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
            raise ValueError(complain(self, "Y", seen, "does not say which rows", "Give either Y or pairs"))
        first = self._rows(X)
        if pairs is not None:
            index = as_pairs(pairs, len(first)).index
            return np.asarray(np.linalg.norm(first[index[:, 0]] - first[index[:, 1]], axis=1))
        second = self._rows(Y)
        check_rows(self, "Y", second, len(first))
        return np.asarray(np.linalg.norm(first - second, axis=1))

    def metric(self: Any) -> Callable[[Array, Array], float]:
        """The distance of two rows as a function, for anything that takes ``metric=``.

        For neighbours, ``transform`` and then straight distances give the same in a fraction of the time.
        """
        check_is_fitted(self)
        return self._between  # type: ignore[no-any-return]

    @property
    def mahalanobis_(self: Any) -> Array:
        """A (d, d), made when asked for; refused where it would be large, absent where there is a kernel."""
        if not hasattr(self, "components_"):
            raise AttributeError(f"{type(self).__name__} has no mahalanobis_ before fit, nor with a kernel")
        d = self.components_.shape[1]
        if d > _LARGE:
            rule = f"makes a matrix of {d} x {d} numbers"
            raise ValueError(complain(self, "mahalanobis_", f"{d} columns", rule, "Use components_, its factor"))
        return np.asarray(self.components_.T @ self.components_)

    def estimate_cost(self: Any, n: int, d: int) -> Cost:
        """What a fit takes for n rows and d columns."""
        p = n if self.kernel is not None else min(n, d)
        return Cost(int(8 * (3 * n * d + 5 * p * p + 2 * n * p) + 2**24), 0.01 + (n * d * p + 10.0 * p**3) * 1e-9)

    @property
    def _n_features_out(self: Any) -> int:
        return int(self.n_components_)

    def _between(self: Any, a: Array, b: Array) -> float:
        mapped = self._mapped(np.stack([a, b]))
        return float(np.linalg.norm(mapped[0] - mapped[1]))

    def _rows(self: Any, X: Array) -> Array:
        check_is_fitted(self)
        rows = np.asarray(validated(self, X, dtype=[np.float64, np.float32], reset=False, spread=self._spread()))
        return np.asarray(self._mapped(rows))

    def _mapped(self: Any, X: Array) -> Array:
        with np.errstate(over="ignore", invalid="ignore"):
            if self.span_ is not None:
                Z = self.span_(X) @ self.coefficients_
            else:
                Z = (np.asarray(X, dtype=np.float64) - self.mean_) @ self.components_.T
        largest = float(np.abs(Z).max(initial=0.0))
        if not largest < _FARTHEST:
            seen, rule = f"rows up to {np.abs(X).max():.3g}", "have learned coordinates whose squares overflow"
            raise ValueError(complain(self, "X", seen, rule, "Rescale the data"))
        return np.asarray(Z)

    def _spread(self: Any) -> float:
        return np.inf if self.span_ is None else float(self.span_.scale)

    def _checked_rows(self: Any, X: Array) -> Array:
        """X, and the parameters that all metrics share."""
        if self.regularization != "auto":
            check_number(self, "regularization", self.regularization, 0.0)
        check_integer(self, "degree", self.degree, 1)
        if self.gamma is not None:
            check_number(self, "gamma", self.gamma, 0.0)
        if self.kernel is not None and not callable(self.kernel):
            check_choice(self, "kernel", self.kernel, _KERNELS)
        X = validated(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        limit, what = (X.shape[1], "columns") if self.kernel is None else (len(X), "rows")
        if self.n_components is not None:
            check_integer(self, "n_components", self.n_components, 1)
            if self.n_components > limit:
                rule = f"is more than the {limit} {what} of X"
                raise ValueError(complain(self, "n_components", self.n_components, rule, "Ask for fewer"))
        return np.asarray(X)

    def _spanned(self: Any, X: Array) -> tuple[LinearSpan | KernelSpan, Array]:
        """The span of the rows and their coordinates (n, p) in it."""
        frame = Frame.of(X)
        if self.kernel is None:
            return linear_span(X, frame.centre, frame.scale)
        inside = frame.inside(X)
        spread = 2.0 * float(np.einsum("ij,ij->", inside, inside)) / len(X)
        gamma = 1.0 / (spread or 1.0) if self.gamma is None else float(self.gamma) * frame.scale**2
        return kernel_span(X, frame.centre, frame.scale, kernel=self.kernel, gamma=gamma, degree=self.degree)

    def _keep(self: Any, span: LinearSpan | KernelSpan, T: Array, V: Array, *, units: float | None = None) -> None:
        """Keep the map of weights V (p, r) on coordinates T (n, p), and the way back by linear regression.

        ``units``: of the coordinates, in those of the result; None: the result is in those of the data.
        """
        V = np.pad(V, ((0, 0), (0, max(int(self.n_components or 1) - V.shape[1], 0))))
        self.n_components_ = V.shape[1]
        if isinstance(span, KernelSpan):
            self.span_: KernelSpan | None = span
            self.coefficients_ = V
            return
        self.span_ = None
        self.mean_ = span.centre
        with np.errstate(over="ignore", invalid="ignore"):
            V = V * (1.0 if units is None else units / span.scale)
            axes = span.axes.T @ V
        if not np.isfinite(axes).all():
            rule = "are so close together that a map to distances of size 1 overflows"
            raise ValueError(complain(self, "X", f"rows of spread {span.scale:.3g}", rule, "Rescale the data"))
        signs = np.where((np.sign(fix_signs(axes)) * np.sign(axes)).sum(axis=0) < 0, -1.0, 1.0)
        self.components_ = (axes * signs).T
        self.inverse_components_ = signs[:, None] * regression(T, V) @ span.axes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
