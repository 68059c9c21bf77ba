"""Jacobians of kernel coordinates (``maps.span``): ``t(x) = centred(k(x)) A``, k(x)_i = K(x_i, x).

rbf   ∂k_i = 2γ k_i (x_i - x)          poly   ∂k_i = γ p (γ x·x_i + 1)^(p-1) x_i
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import spans

from .span import KernelColumns, KernelSpan, kernel_matrix

__all__ = ["span_jacobian"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000  # numbers in the temporaries of one tile


def span_jacobian(span: KernelSpan | KernelColumns, coefficients: Array, X: Array) -> Array:
    """Jacobians (m, r, d) of ``span(X) @ coefficients`` at rows (m, d); the kernel has a name."""
    A = span.axes @ coefficients  # (n, r)
    if isinstance(span, KernelSpan):
        A = A - A.mean(axis=0)
    n, r = A.shape
    inside = (np.asarray(X, dtype=np.float64) - span.centre) / span.scale
    out = np.empty((len(X), r, X.shape[1]))
    for rows in spans(len(X), max(1, _BUDGET // max(n * r, r * X.shape[1], 1))):
        Q = inside[rows]
        if span.kernel == "rbf":
            slope = 2.0 * span.gamma * kernel_matrix(Q, span.rows, "rbf", span.gamma, span.degree)
        else:
            slope = span.gamma * span.degree * (span.gamma * (Q @ span.rows.T) + 1.0) ** (span.degree - 1)
        C = slope[:, None, :] * A.T
        J = (C.reshape(-1, n) @ span.rows).reshape(len(Q), r, -1)
        out[rows] = J - C.sum(axis=2)[:, :, None] * Q[:, None] if span.kernel == "rbf" else J
    return out / span.scale
