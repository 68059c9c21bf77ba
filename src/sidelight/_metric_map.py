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
from sklearn.utils.validation import check_is_fitted, validate_data

from ._cost import Cost, refuse_if_too_large
from ._frame import Frame
from ._messages import complain
from ._validation import check_choice, check_integer, check_number, check_rows
from .kernels.tiles import one_blas_thread
from .maps.span import KernelSpan, LinearSpan, kernel_span, linear_span
from .objectives.scatter import Scatter
from .side.pairs import Pairs, as_pairs
from .solvers.eigen import fix_signs
from .solvers.generalised import relative_directions, smallest_directions

__all__ = ["FORMS", "MetricMap", "directions", "reach", "ridge_of"]

Array = npt.NDArray[Any]
FORMS = ("generalised", "literal")
_KERNELS = ("rbf", "poly")
_ALL_PAIRS, _FEW_PAIRS = 0.1, 2.0  # chosen on faces (Olivetti's glasses; Yale B's people and lights)
_LARGE = 5000  # columns: a matrix of them is 200 MB


class MetricMap(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """transform, distances between rows, and the matrix A, from a factor of it."""

    @one_blas_thread
    def transform(self: Any, X: Array) -> Array:
        """Rows in the space whose straight distances are the learned ones, shape (m, r)."""
        check_is_fitted(self)
        X = np.asarray(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))
        return np.asarray(self._mapped(X).astype(X.dtype, copy=False))

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
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
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

    def _keep(self: Any, span: LinearSpan | KernelSpan, V: Array, *, units: float) -> None:
        """Keep the map of weights V (p, r) on coordinates; ``units``: of the coordinates, in those of the result."""
        self.n_components_ = V.shape[1]
        for name in ("components_", "mean_", "coefficients_"):  # of an earlier fit
            vars(self).pop(name, None)
        if isinstance(span, KernelSpan):
            self.span_: KernelSpan | None = span
            self.coefficients_ = V
            return
        self.span_ = None
        self.mean_ = span.centre
        self.components_ = fix_signs(span.axes.T @ (V * (units / span.scale))).T

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def ridge_of(variances: Array, regularization: float) -> float:
    """``regularization`` in units of the mean variance of a coordinate; never nothing."""
    return float(regularization * variances.mean()) if variances.size else float(regularization)


def chosen_regularization(regularization: float | str, n_pairs: int, p: int) -> float:
    """What "auto" stands for: pairs are few where the coordinates are many, and then say little of each."""
    if isinstance(regularization, str):
        return _ALL_PAIRS + _FEW_PAIRS * p / n_pairs if n_pairs else _ALL_PAIRS
    return float(regularization)


def directions(scatter: Scatter, T: Array, form: str, regularization: float | str, r: int) -> tuple[Array, Array]:
    """Directions (p, r) of coordinates T (n, p), and the inner product (p,) in which they are orthonormal.

    Where the data has fewer directions than r, the rest is zero.
    """
    M, variances = scatter.matrix(T), np.einsum("ij,ij->j", T, T) / (len(T) - 1)  # the mean of δδᵀ/2 over all pairs
    if form == "literal":
        V, inner = smallest_directions(M, variances, r), np.ones(len(variances))
    else:
        ridge = ridge_of(variances, chosen_regularization(regularization, scatter.n_pairs, T.shape[1]))
        V, inner = relative_directions(M, variances, ridge, r, scatter.balance), variances + ridge
    return np.pad(V, ((0, 0), (0, r - V.shape[1]))), inner


def reach(scatter: Scatter, T: Array, V: Array, regularization: float | str) -> Array:
    """How far same pairs are apart along directions V (p, r), in root mean squares (r,); 1 where there are none.

    Shrunk as the directions are: a few pairs that happen to agree are not taken at their word.
    """
    if scatter.n_same == 0 or not len(V):
        return np.ones(V.shape[1])
    variances = np.einsum("ij,ij->j", T, T) / (len(T) - 1)
    ridge = ridge_of(variances, chosen_regularization(regularization, scatter.n_pairs, T.shape[1]))
    squares = np.einsum("pr,pq,qr->r", V, scatter.same().matrix(T), V) + ridge * np.einsum("pr,pr->r", V, V)
    return np.sqrt(np.where(squares > 0, squares, 1.0))
