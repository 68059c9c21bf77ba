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
from sklearn.utils import Tags, check_array
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ._cost import Cost, refuse_if_too_large
from ._frame import Frame
from ._messages import complain
from ._validation import check_choice, check_integer, check_number, check_rows
from .kernels.tiles import one_blas_thread
from .maps.span import KernelSpan, LinearSpan, kernel_span, linear_span
from .objectives.scatter import Scatter, pooled
from .side.pairs import Pairs, as_pairs
from .solvers.eigen import fix_signs
from .solvers.generalised import principal_factor, relative_factor, smallest_directions

__all__ = ["FORMS", "MetricMap", "informed_directions", "literal_directions", "ridge_of", "variances_of", "weight_of"]

Array = npt.NDArray[Any]
FORMS = ("generalised", "literal")
_KERNELS = ("rbf", "poly")
_BELIEVED = 30.0  # pairs; chosen on faces (four same pairs) and on iris, wine, digits and breast cancer (40 to 200)
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
        X = np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))
        return np.asarray(self._mapped(X).astype(X.dtype, copy=False))

    @available_if(_is_linear)
    @one_blas_thread
    def inverse_transform(self: Any, Z: Array) -> Array:
        """Rows (m, d) from learned coordinates: exact at full rank, else the linear regression of rows on them."""
        check_is_fitted(self)
        Z = np.asarray(check_array(Z, dtype=[np.float64, np.float32]))
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
        rows = np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))
        return np.asarray(self._mapped(rows))

    def _mapped(self: Any, X: Array) -> Array:
        if self.span_ is not None:
            return np.asarray(self.span_(X) @ self.coefficients_)
        return np.asarray((np.asarray(X, dtype=np.float64) - self.mean_) @ self.components_.T)

    def _checked_rows(self: Any, X: Array) -> Array:
        """X, and the parameters that all metrics share."""
        if self.regularization != "auto":
            check_number(self, "regularization", self.regularization, 0.0)
        check_integer(self, "degree", self.degree, 1)
        if self.gamma is not None:
            check_number(self, "gamma", self.gamma, 0.0)
        if self.kernel is not None and not callable(self.kernel):
            check_choice(self, "kernel", self.kernel, _KERNELS)
        X = validate_data(self, X, dtype=[np.float64, np.float32], order="C", ensure_min_samples=2)
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
        for name in ("components_", "inverse_components_", "mean_", "coefficients_"):  # of an earlier fit
            vars(self).pop(name, None)
        if isinstance(span, KernelSpan):
            self.span_: KernelSpan | None = span
            self.coefficients_ = V
            return
        self.span_ = None
        self.mean_ = span.centre
        V = V * (1.0 if units is None else units / span.scale)
        axes = span.axes.T @ V
        signs = np.where((fix_signs(axes) * axes).sum(axis=0) < 0, -1.0, 1.0)
        self.components_ = (axes * signs).T
        self.inverse_components_ = signs[:, None] * _regression(T, V) @ span.axes

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _regression(T: Array, V: Array) -> Array:
    """Weights (r, p) that give T (n, p) back from T V, as well as a linear map can."""
    P = T @ V
    size = np.sqrt(np.einsum("ij,ij->j", P, P))
    size[size == 0] = 1.0
    P = P / size
    return np.asarray(np.linalg.pinv(P.T @ P, rcond=1e-10, hermitian=True) @ (P.T @ T) / size[:, None])


def ridge_of(variances: Array, regularization: float) -> float:
    """``regularization`` in units of the mean variance of a coordinate; never nothing."""
    return float(regularization * variances.mean()) if variances.size else float(regularization)


def variances_of(T: Array) -> Array:
    """Variances (p,) of coordinates T (n, p): the mean of δδᵀ/2 over all pairs of rows, which is diagonal in them."""
    return np.asarray(np.einsum("ij,ij->j", T, T) / max(len(T) - 1, 1))


def weight_of(regularization: float | str, p: int) -> float:
    """What "auto" stands for: as many further pairs as there are coordinates, at most 30."""
    return float(min(p, _BELIEVED)) if isinstance(regularization, str) else float(regularization)


def literal_directions(same: Scatter, different: Scatter, T: Array, r: int) -> Array:
    """Directions (p, r) of the source's problem, M = Σ_same δδᵀ - Σ_different δδᵀ; zero where there are fewer."""
    total = max(same.n_pairs + different.n_pairs, 1)
    M = (same.n_pairs * same.matrix(T) - different.n_pairs * different.matrix(T)) / total
    V = smallest_directions(M, variances_of(T), r)
    return np.pad(V, ((0, 0), (0, r - V.shape[1])))


def informed_directions(
    same: Scatter, different: Scatter, T: Array, regularization: float | str, r: int | None
) -> Array:
    """A factor (p, r) of the metric in its own axes, widest first, under which T is as spread out as it was.

    Scatters are pooled with what is believed without them: same rows are apart alike in all directions, different
    rows as any two are. Ratios of scatters are noisier than scatters, and pooled with as many pairs as coordinates.
    """
    n, p = T.shape
    weight, variances = weight_of(regularization, p), variances_of(T)
    S, identity = np.diag(variances), np.eye(p)
    plain = float(variances.mean()) if p else 1.0
    within = same.matrix(T)
    squares = float(np.mean(variances**2)) if p else 0.0
    typical = plain**2 / squares if squares > 0 else 1.0  # small where a few directions hold most of the scatter
    apart = float(np.trace(within)) / p if same.n_pairs and p else 0.0
    W = pooled(within, same.n_free, typical * (apart or plain) * identity, weight)
    D = pooled(different.matrix(T), different.n_free, S, weight * max(1.0, p / _BELIEVED))
    B = relative_factor(W, *(pooled(M, n, plain * identity, weight) for M in (D, S)))
    spread = float(np.einsum("pr,p,pr->", B, variances, B))
    return principal_factor(T, B * np.sqrt(float(variances.sum()) / spread if spread > 0 else 1.0), r)
