"""A learned metric as one value: a map to a space in which Euclidean distances are the learned ones.

    d_A(a, b) = |C (a - b)|,      A = Cᵀ C,      transform(x) = C (x - mean)

or, with a kernel, the same on kernel-PCA coordinates or on kernel columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.frames import Frame
from sidelight.maps.hinted import regression
from sidelight.maps.span import KernelColumns, KernelSpan, LinearSpan, column_span, kernel_span, linear_span
from sidelight.solvers.eigen import fix_signs

__all__ = ["FORMS", "KERNEL_COORDINATES", "KernelMetric", "LinearMetric", "learned_metric", "span_rows"]


Kernel = str | Callable[[Array, Array], object]
FORMS = ("generalised", "literal")
KERNEL_COORDINATES = ("pca", "columns")


@dataclass(frozen=True)
class LinearMetric:
    """Rows x to ``C (x - mean)`` and back, by linear regression.

    Parameters
    ----------
    mean : array of shape (d,)
    components : array of shape (r, d)
        C.
    inverse_components : array of shape (r, d)
    """

    mean: Array
    components: Array
    inverse_components: Array

    @property
    def n_components(self) -> int:
        """The rank r."""
        return len(self.components)

    @property
    def spread(self) -> float:
        """Infinite: new rows are not measured in units of the rows of ``fit``."""
        return np.inf

    def embed(self, X: Array) -> Array:
        """Learned coordinates (m, r) of rows."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.mean) @ self.components.T)

    def reconstruct(self, Z: Array) -> Array:
        """Rows (m, d) at learned coordinates."""
        return np.asarray((Z @ self.inverse_components + self.mean).astype(Z.dtype, copy=False))


@dataclass(frozen=True)
class KernelMetric:
    """Coordinates of rows in the space of a kernel, times ``coefficients`` (p, r)."""

    span: KernelSpan | KernelColumns
    coefficients: Array

    @property
    def n_components(self) -> int:
        """The rank r."""
        return int(self.coefficients.shape[1])

    @property
    def spread(self) -> float:
        """The unit of length of the rows of ``fit``."""
        return float(self.span.scale)

    def embed(self, X: Array) -> Array:
        """Learned coordinates (m, r) of rows."""
        return np.asarray(self.span(X) @ self.coefficients)


def span_rows(
    X: Array, kernel: Kernel | None, gamma: float | None, degree: int, coordinates: str
) -> tuple[LinearSpan | KernelSpan | KernelColumns, Array]:
    """The span of rows ``X`` (n, d) and their coordinates (n, p) in it.

    Parameters
    ----------
    X : array of shape (n, d)
    kernel : "rbf", "poly", callable or None
    gamma : float or None
        None: 1 / mean squared distance.
    degree : int
    coordinates : str
        One of ``KERNEL_COORDINATES``; not used without a kernel.
    """
    frame = Frame.of(X)
    if kernel is None:
        return linear_span(X, frame.centre, frame.scale)
    inside = frame.inside(X)
    spread = 2.0 * float(np.einsum("ij,ij->", inside, inside)) / len(X)
    inner = 1.0 / (spread or 1.0) if gamma is None else float(gamma) * frame.scale**2
    if coordinates == "columns":
        return column_span(X, frame.centre, frame.scale, kernel=kernel, gamma=inner, degree=degree)
    return kernel_span(X, frame.centre, frame.scale, kernel=kernel, gamma=inner, degree=degree)


def learned_metric(
    owner: str,
    span: LinearSpan | KernelSpan | KernelColumns,
    T: Array,
    V: Array,
    n_components: int | None,
    *,
    units: float | None = None,
) -> LinearMetric | KernelMetric:
    """The metric of weights on coordinates.

    Parameters
    ----------
    owner : str
        Class name, for messages.
    span : LinearSpan, KernelSpan or KernelColumns
    T : array of shape (n, p)
        Coordinates of the rows of ``fit`` in the span.
    V : array of shape (p, r)
        Weights.
    n_components : int or None
        Columns that the result has at least; those beyond r are 0.
    units : float or None
        Units of the coordinates in those of the result; None: the result is in those of the data.
    """
    V = np.pad(V, ((0, 0), (0, max(int(n_components or 1) - V.shape[1], 0))))
    if not isinstance(span, LinearSpan):
        return KernelMetric(span, V)
    with np.errstate(over="ignore", invalid="ignore"):
        V = V * (1.0 if units is None else units / span.scale)
        axes = span.axes.T @ V
    if not np.isfinite(axes).all():
        rule = "are so close together that a map to distances of size 1 overflows"
        raise ValueError(error_message(owner, "X", f"rows of spread {span.scale:.3g}", rule, "Rescale the data"))
    signs = np.where((np.sign(fix_signs(axes)) * np.sign(axes)).sum(axis=0) < 0, -1.0, 1.0)
    return LinearMetric(span.centre, (axes * signs).T, signs[:, None] * regression(T, V) @ span.axes)
