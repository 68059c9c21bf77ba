r"""Probabilistic PCA of sparse rows (n, d) without a dense copy: the closed form, latent points and densities.

Rows in the frame are S - 1 aᵀ, with S = X / scale sparse and a = centre / scale, so that products need S only:

    (S - 1 aᵀ) V = S V - 1 (aᵀ V),        Σ |s - a|² = |S|² - n |a|²                              (a: column means)

The axes are exact: from the Gram matrix (n, n) of few rows, the covariance (d, d) of few columns, or else by Lanczos
iterations for the leading ones, with the noise from the trace. For a row s and h = Wᵀ (s - a - μ), M = WᵀW + σ² I,

    z̄ = M⁻¹ h,    -2 log p(s) = d log 2π + log|M| + (d - q) log σ² + (|s - a - μ|² - hᵀ z̄) / σ²
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from sidelight.base.eigenvalues import fixed_restarts
from sidelight.base.tiles import by_block, spans
from sidelight.objectives.linear_gaussian import LinearGaussian, posterior
from sidelight.objectives.principal_axes import PrincipalAxes, axes_of_moments
from sidelight.rows import Sums, drawn, row_keys

__all__ = [
    "columns_in_frame",
    "first_frame",
    "sparse_axes",
    "sparse_latent_means",
    "sparse_log_density",
    "sparse_moments",
]

Array = npt.NDArray[Any]
Axes = tuple[PrincipalAxes, int]
Count = Callable[[PrincipalAxes], int]
_BLOCK = 2048  # rows whose entries are copied at a time
_FEW_ROWS = 5000  # rows up to which their products are made, if columns are more
_COUNTED = 2000  # rows on which dimensions are counted where Lanczos iterations find the axes
_MOST = 100  # dimensions that are counted there: of counts, whose noise differs by column, there can be thousands
_TOL = 1e-10  # relative, of the eigenvalues that Lanczos iterations find
_ROUNDING = 1e-13


def columns_in_frame(X: Any, *, standardize: bool) -> tuple[Array, Array, float]:
    """Centre (d,) and scale (d,) of the frame of sparse rows (n, d), and their mean variance inside it.

    The centre is the mean of the rows, the scale their largest deviation from it; with ``standardize`` the standard
    deviation of each column, 1 in that unit where a column is constant.
    """
    X = _summed(X)
    n, d = X.shape
    size = float(np.abs(X.data).max(initial=0.0)) or 1.0
    unit = X.data / size
    sums = np.bincount(X.indices, weights=unit, minlength=d)
    mean = sums / n
    widest = float(np.abs(unit - mean[X.indices]).max(initial=0.0))
    full = np.bincount(X.indices, minlength=d) == n
    widest = max(widest, float(np.abs(mean[~full]).max(initial=0.0))) or 1.0
    squares = np.bincount(X.indices, weights=unit**2, minlength=d)
    variance = np.maximum(squares / n - mean**2, 0.0) / widest**2
    widths = np.ones(d)
    if standardize:
        widths = np.where(variance > _ROUNDING * (mean / widest) ** 2, np.sqrt(variance), 1.0)
    return mean * size, widest * size * widths, float((variance / widths**2).mean())


def first_frame(X: Any) -> tuple[Array, float]:
    """Centre (d,) and unit of the frame of a stream whose first batch are the sparse rows (n, d)."""
    centre, scale, _ = columns_in_frame(X, standardize=False)
    return centre, float(scale[0])


def sparse_moments(X: Any, centre: Array, unit: float) -> Sums:
    """Sums over sparse rows (n, d) in the frame ``(x - centre) / unit``: n, sum (d,), outer (d, d).

    With S = X / unit, a = centre / unit and s the sum of its rows: outer = SᵀS - s aᵀ - a sᵀ + n a aᵀ.
    """
    S, a = _scaled(X, np.full(len(centre), unit)), centre / unit
    n, s = S.shape[0], np.asarray(S.sum(axis=0)).ravel()
    outer = np.asarray((S.T @ S).toarray())
    cross = np.outer(s, a)
    outer += n * np.outer(a, a) - cross - cross.T
    return {"n": np.array(float(n)), "sum": s - n * a, "outer": outer}


def sparse_axes(X: Any, centre: Array, scale: Array, q: int | None, most_columns: int, count: Count) -> Axes:
    """Principal axes of sparse rows (n, d) in their frame, and how many dimensions the model has.

    Parameters
    ----------
    X : CSR array of shape (n, d)
    centre, scale : arrays of shape (d,)
        ``centre`` is the mean of the rows.
    q : int or None
        Dimensions; None: as many as ``count`` finds, where Lanczos iterations follow on a sample of rows and up to 100.
    most_columns : int
        Columns up to which all axes come from the covariance.
    count : callable
        Axes to the number of dimensions that they support.
    """
    S, a = _scaled(X, scale), centre / scale
    n, d = S.shape
    if n < d and n <= _FEW_ROWS:
        found = _axes_of_products(S, a)
        return found, count(found) if q is None else q
    if d <= most_columns:
        outer = np.asarray((S.T @ S).toarray())
        found = replace(axes_of_moments({"n": np.array(n), "sum": n * a, "outer": outer}), mean=np.zeros(d))
        return found, count(found) if q is None else q
    if q is None:
        some = drawn(_COUNTED, np.arange(n), row_keys(0, 0, n))[0]
        own = S[some]
        q = min(count(_axes_of_products(own, np.asarray(own.mean(axis=0)).ravel())), _MOST)
    return _leading_axes(S, a, q), q


def _axes_of_products(S: Any, a: Array) -> PrincipalAxes:
    """All axes of few rows, by their products (n, n); ``a`` is the mean of the rows."""
    n, d = S.shape
    turned = S.T.tocsr()
    G = np.empty((n, n))
    for rows in spans(n, _BLOCK):
        G[rows] = (S[rows] @ turned).toarray()
    G -= G.mean(axis=0)
    G -= G.mean(axis=1)[:, None]
    values, U = np.linalg.eigh(0.5 * (G + G.T))
    values, U = np.maximum(values[::-1], 0.0), U[:, ::-1]
    kept = values > _ROUNDING * max(float(values[0]), 1e-300)
    axes = (S.T @ U[:, kept] - np.outer(a, U[:, kept].sum(axis=0))) / np.sqrt(values[kept])
    share = max(n - 1, 1)
    return PrincipalAxes(np.zeros(d), values[kept] / share, axes, float(values.sum()) / share, n)


def _leading_axes(S: Any, a: Array, q: int) -> PrincipalAxes:
    """The first q axes, by Lanczos iterations; the total variance is exact."""
    n, d = S.shape
    turned = S.T.tocsr()

    def product(v: Array) -> Array:
        y = S @ v - a @ v
        return np.asarray(turned @ y - a * y.sum())

    operator = LinearOperator((d, d), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).normal(size=d)
    found = eigsh(operator, k=min(q, d - 1), v0=start, tol=_TOL, **fixed_restarts())
    order = np.argsort(-found[0], kind="stable")
    share = max(n - 1, 1)
    total = (float(S.data @ S.data) - n * float(a @ a)) / share
    return PrincipalAxes(np.zeros(d), np.maximum(found[0][order], 0.0) / share, found[1][:, order], total, n)


def sparse_latent_means(model: LinearGaussian, X: Any, centre: Array, scale: Array, n_jobs: int | None = None) -> Array:
    """E[z | x] (m, q) of sparse rows (m, d), each by itself."""
    inverse = posterior(model, np.zeros((1, len(model.mean))))[1] / model.noise
    P = model.W @ inverse
    shift = (centre / scale + model.mean) @ P
    return by_block(lambda part: _scaled(part, scale) @ P - shift, X, n_jobs, block=_BLOCK)


def sparse_log_density(model: LinearGaussian, X: Any, centre: Array, scale: Array, n_jobs: int | None = None) -> Array:
    """Log density (m,) of sparse rows (m, d), in the units of the data."""
    d, q = model.W.shape
    a = centre / scale + model.mean
    M = model.W.T @ model.W + model.noise * np.eye(q)
    L = np.linalg.cholesky(M)
    B = np.linalg.solve(L, model.W.T).T  # |Bᵀ r|² = hᵀ M⁻¹ h
    shift, square = a @ B, float(a @ a)
    constant = d * np.log(2 * np.pi) + 2.0 * np.log(np.diagonal(L)).sum() + (d - q) * np.log(model.noise)
    constant += 2.0 * np.log(scale).sum()

    def scored(part: Any) -> Array:
        S = _scaled(part, scale)
        lengths = S.power(2).sum(axis=1) - 2.0 * (S @ a) + square
        explained = np.square(S @ B - shift).sum(axis=1)
        return np.asarray(-0.5 * (constant + np.maximum(lengths - explained, 0.0) / model.noise))

    return by_block(scored, X, n_jobs, block=_BLOCK)


def _summed(X: Any) -> Any:
    """A CSR array in which each entry is stored once."""
    X = sparse.csr_array(X)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _scaled(X: Any, scale: Array) -> Any:
    """Sparse rows with their columns divided by ``scale`` (d,), in float64."""
    X = _summed(X)
    return sparse.csr_array((X.data.astype(np.float64) / scale[X.indices], X.indices, X.indptr), shape=X.shape)
