r"""Probabilistic PCA (linear-Gaussian model, isotropic noise) with or without missing entries: E and M step.

    x = W z + μ + ε,    z ~ N(0, I_q),    ε ~ N(0, σ² I_d)                (S3; Tipping and Bishop 1999)

W (d, q), μ (d,), σ² > 0; q may be 0. For a row of which the entries O are observed, r = x_O - μ_O, m = |O|:

    M = W_Oᵀ W_O + σ² I,    z | x_O ~ N(z̄, σ² M⁻¹),    z̄ = M⁻¹ W_Oᵀ r            (S3 prints σ⁻² M)
    -2 log p(x_O) = m log 2π + log|M| + (m - q) log σ² + |r - W_O z̄|² / σ² + |z̄|²

So only q x q matrices are formed, and small σ² costs no accuracy. With ζ = (z, 1), the M step solves one least-squares
problem for each column j of x over the rows in which it is observed, from sums with weights γ_n,

    A_j = Σ γ_n E[ζ ζᵀ],    b_j = Σ γ_n x_nj E[ζ],    (w_j, μ_j) = A_j⁻¹ b_j
    σ² = Σ_nj γ_n E[(x_nj - w_jᵀ z - μ_j)²] / Σ_nj γ_n                                   over observed entries

All A_j come from one product of the mask (d, patterns) with the second moments, and all M from one product of the mask
with the products of columns of W; rows with the same pattern of missing entries share their M. Sums are of x - μ at the
old μ, for accuracy. Parameter expansion (Liu, Rubin and Wu 1998) accelerates EM at no cost: z is allowed a mean m and
covariance R, which W ← W R^½ and μ ← μ + W m absorb. Steps are then two to four times as long (on the walk data).
If W is uncertain (``objectives.relevance``), w_j ~ N(w̄_j, S_j), the S_j are added: M = Σ_O (w̄_j w̄_jᵀ + S_j) + σ² I.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array
from sidelight.rows import Sums, summed

from .upper_triangles import column_products, unpacked, upper_triangle

__all__ = [
    "Expected",
    "LinearGaussian",
    "Tile",
    "diagonal",
    "entries",
    "entry_variance",
    "expected",
    "latent_mean",
    "least_squares",
    "log_density",
    "maximised",
    "posterior",
    "quadratic",
    "reconstruction",
    "statistics",
    "tile_log_density",
    "tile_statistics",
    "tiles",
    "turned",
    "whitening",
]


_NUMBERS = 3_000_000  # most numbers in the second moments of one tile of rows
_LOG_2PI = float(np.log(2 * np.pi))
_PRODUCTS = 60_000_000  # d q² above which products of the columns of W are not kept: half a GB


@dataclass(frozen=True)
class LinearGaussian:
    """Parameters of the model.

    Parameters
    ----------
    mean : array of shape (d,)
    W : array of shape (d, q)
        Loadings.
    noise : float
        Variance σ² of the noise.
    spread : array of shape (d, q (q + 1) / 2) or None
        Upper triangles of the covariances S_j of the rows of W, if W is uncertain.
    """

    mean: Array
    W: Array
    noise: float
    spread: Array | None = None

    @property
    def n_components(self) -> int:
        """Latent dimensions q."""
        return int(self.W.shape[1])


@dataclass(frozen=True)
class Tile:
    """A tile of rows with their patterns of missing entries, which are shared by all models."""

    X: Array  # (n, d) 0 where missing
    mask: Array  # (n, d) True where observed
    seen: Array  # (p, d) the patterns, 1.0 where observed
    which: Array  # (n,) the pattern of each row


@dataclass(frozen=True)
class Expected:
    """E step of one model at a tile of rows: residuals, and the posterior of z."""

    tile: Tile
    residual: Array  # (n, d) x - mean, 0 where missing
    z: Array  # (n, q)
    inverse: Array  # (p, q, q) the inverses of M
    log_det: Array  # (p,) log |M|


def log_density(model: LinearGaussian, X: Array, mask: Array | None = None) -> Array:
    """Log density (n,) of the observed entries of each row (missing: NaN, or False in ``mask`` (n, d))."""
    return np.concatenate([tile_log_density(model, part) for part in _steps(model, X, mask)] or [np.empty(0)])


def posterior(model: LinearGaussian, X: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """Posterior means (n, q) and covariances (n, q, q) of z given each row; one covariance (q, q) without missing."""
    parts = list(_steps(model, X, mask))
    means = np.concatenate([part.z for part in parts])
    if all(part.tile.mask.all() for part in parts):
        return means, model.noise * parts[0].inverse[0]
    return means, model.noise * np.concatenate([part.inverse[part.tile.which] for part in parts])


def latent_mean(model: LinearGaussian, X: Array) -> Array:
    """E[z | x] of each row (n, q), from its observed entries."""
    return np.concatenate([part.z for part in _steps(model, X)])


def entry_variance(model: LinearGaussian, X: Array) -> Array:
    """Predictive variance ``σ² (1 + w_jᵀ M⁻¹ w_j)`` (n, d) of all entries given the observed ones of their row.

    If W is uncertain, ``Σ (S_j)_ab E[z_a z_b]`` is added: the uncertainty of W matters more far from the centre.
    """
    return np.concatenate([_entry_variance(model, part) for part in _steps(model, X)])


def entries(model: LinearGaussian, X: Array) -> tuple[Array, Array]:
    """Predictive mean and variance (n, d) of all entries, given the observed ones of their row."""
    parts = [(reconstruction(model, part.z), _entry_variance(model, part)) for part in _steps(model, X)]
    means, variances = zip(*parts, strict=True)
    return np.concatenate(means), np.concatenate(variances)


def reconstruction(model: LinearGaussian, Z: Array) -> Array:
    """Reconstruction ``E[x | z]`` (n, d) at latent points Z (n, q)."""
    return np.asarray(Z @ model.W.T + model.mean)


def statistics(model: LinearGaussian, X: Array, weights: Array | None = None, *, missing: bool = True) -> Sums:
    """E step: sums over rows for the M step.

    Parameters
    ----------
    model : LinearGaussian
    X : array of shape (n, d)
        Rows; NaN where an entry is missing.
    weights : array of shape (n,) or None
        Responsibilities γ_n; None: 1.
    missing : bool
        False: no entry is missing, and all columns share one A.

    Returns
    -------
    dict of arrays
        n, log_likelihood, seen (d,), square (d,), b (d, q + 1), latent (k,) and A (d, k) or (1, k): upper triangles,
        k = (q + 1)(q + 2) / 2. Sums of different blocks of rows are added.
    """
    gamma = np.ones(len(X)) if weights is None else weights
    start, parts = 0, []
    for part in _steps(model, X):
        stop = start + len(part.z)
        own = tile_statistics(model, part, gamma[start:stop], missing=missing)
        parts.append(own | {"log_likelihood": np.array(gamma[start:stop] @ tile_log_density(model, part))})
        start = stop
    return summed(parts)


def maximised(sums: Sums, model: LinearGaussian, *, least_noise: float = 0.0, expand: bool = True) -> LinearGaussian:
    """M step.

    Parameters
    ----------
    sums : dict of arrays
        From :func:`statistics`, taken at ``model``.
    model : LinearGaussian
        The model before the step.
    least_noise : float
        Lower bound of σ².
    expand : bool
        Whether parameter expansion is used.
    """
    solved, A = least_squares(sums, model.n_components)
    left = sums["square"] - 2.0 * (sums["b"] * solved).sum(axis=1) + quadratic(A, solved)
    noise = float(left.sum() / max(float(sums["seen"].sum()), 1e-300))
    W, shift = solved[:, :-1], solved[:, -1]
    if expand and model.n_components:
        mean, root = whitening(sums, model.n_components)
        shift, W = shift + W @ mean, W @ root
    return LinearGaussian(model.mean + shift, W, max(noise, least_noise))


def least_squares(sums: Sums, q: int, prior: Array | None = None) -> tuple[Array, Array]:
    """Solve ``(A_j + diag(prior, 0)) (w_j, μ_j) = b_j`` for each column, (d, q + 1); and the A_j (d or 1, q+1, q+1)."""
    A = unpacked(sums["A"], q + 1)
    ridge = np.repeat(1e-14 * np.trace(A, axis1=1, axis2=2)[:, None], q + 1, axis=1)
    ridge[:, :q] += 0.0 if prior is None else prior
    penalised = A + diagonal(np.where(ridge > 0, ridge, 1.0))  # a column without observed entries keeps its mean
    if len(A) == 1:
        return np.linalg.solve(penalised[0], sums["b"].T).T, A
    return np.linalg.solve(penalised, sums["b"][:, :, None])[:, :, 0], A


def quadratic(A: Array, V: Array) -> Array:
    """``v_jᵀ A_j v_j`` of each row of V (d, k); A is (d, k, k) or (1, k, k)."""
    moved = V @ A[0] if len(A) == 1 else np.matmul(A, V[:, :, None])[:, :, 0]
    return np.asarray((moved * V).sum(axis=1))


def whitening(sums: Sums, q: int) -> tuple[Array, Array]:
    """Mean (q,) of z over the rows, and the symmetric root (q, q) of its covariance, for parameter expansion."""
    moments = unpacked(sums["latent"][None], q + 1)[0] / max(float(sums["n"]), 1e-300)
    mean = moments[:q, q]
    values, vectors = np.linalg.eigh(moments[:q, :q] - np.outer(mean, mean))
    return mean, (vectors * np.sqrt(np.maximum(values, 1e-300))) @ vectors.T


def tiles(X: Array, charts: Sequence[LinearGaussian], mask: Array | None = None) -> Iterator[Tile]:
    """Tiles of rows, small enough that the E steps of all charts fit in memory."""
    gaps = np.isnan(X).any() if mask is None else not mask.all()  # complete rows share the matrices of size q
    size = sum((chart.n_components + 1) ** (2 if gaps else 1) + X.shape[1] for chart in charts)
    for rows in spans(len(X), max(64, _NUMBERS // size)):
        own = ~np.isnan(X[rows]) if mask is None else mask[rows]
        yield Tile(np.where(own, X[rows], 0.0), own, *_patterns(own))


def expected(model: LinearGaussian, tile: Tile) -> Expected:
    """E step of a model at a tile."""
    q = model.n_components
    residual = tile.X - model.mean
    residual *= tile.mask
    M = _normal_matrices(model, tile.seen)
    M[:, np.arange(q), np.arange(q)] += model.noise
    log_det = 2.0 * np.log(np.diagonal(np.linalg.cholesky(M), axis1=1, axis2=2)).sum(axis=1)
    inverse = np.linalg.inv(M)
    own = inverse if len(inverse) in (1, len(residual)) else inverse[tile.which]
    z = np.matmul((residual @ model.W)[:, None, :], own)[:, 0, :]
    return Expected(tile, residual, z, inverse, log_det)


def tile_log_density(model: LinearGaussian, part: Expected) -> Array:
    """Log density (n,) of the rows of a tile."""
    seen = part.tile.seen.sum(axis=1)
    fitted = (part.z @ model.W.T) * part.tile.mask
    squares = ((part.residual - fitted) ** 2).sum(axis=1) / model.noise + (part.z**2).sum(axis=1)
    if model.spread is not None:
        inside = ((part.residual @ model.W) * part.z).sum(axis=1) - (fitted**2).sum(axis=1)
        squares += inside / model.noise - (part.z**2).sum(axis=1)  # zᵀ (Σ_O S_j) z / σ²
    constant = seen * _LOG_2PI + part.log_det + (seen - model.n_components) * np.log(model.noise)
    return np.asarray(-0.5 * (constant[part.tile.which] + squares))


def tile_statistics(model: LinearGaussian, part: Expected, gamma: Array, *, missing: bool = True) -> Sums:
    """:func:`statistics` of a tile, without the likelihood; moments are summed by pattern, then over the mask."""
    q, seen = model.n_components, part.tile.seen
    upper = upper_triangle(q + 1)
    zeta = np.column_stack([part.z, np.ones(len(part.z))])
    weighted = zeta * gamma[:, None]
    shares = np.bincount(part.tile.which, weights=gamma, minlength=len(seen))
    moments = _by_pattern(weighted, zeta, part.tile)
    among = upper[1] < q
    places = upper[0][among] * q + upper[1][among]
    flat = part.inverse.reshape(len(part.inverse), q * q)
    moments[:, among] += (model.noise * shares)[:, None] * np.take(flat, places, axis=1)
    return {
        "n": np.array(gamma.sum()),
        "seen": shares @ seen,
        "square": gamma @ part.residual**2,
        "b": part.residual.T @ weighted,
        "latent": moments.sum(axis=0),
        "A": seen.T @ moments if missing else moments.sum(axis=0, keepdims=True),
    }


def _entry_variance(model: LinearGaussian, part: Expected) -> Array:
    rows, columns = upper_triangle(model.n_components)
    twice = np.where(rows == columns, 1.0, 2.0)
    if _one_by_one(model, len(part.inverse)):
        own = np.stack([((model.W @ inverse) * model.W).sum(axis=1) for inverse in part.inverse])
    else:
        own = part.inverse[:, rows, columns] @ (twice * column_products(model.W)).T
    if model.spread is not None:
        own += part.inverse[:, rows, columns] @ (twice * model.spread).T
    variance = model.noise * (1.0 + own)[part.tile.which]
    if model.spread is not None:
        variance += (part.z[:, rows] * part.z[:, columns]) @ (twice * model.spread).T
    return np.asarray(variance)


def _normal_matrices(model: LinearGaussian, seen: Array) -> Array:
    """``Σ_O (w_j w_jᵀ + S_j)`` (p, q, q) for each pattern of observed entries (p, d)."""
    q = model.n_components
    if _one_by_one(model, len(seen)):
        M = np.stack([(model.W * own[:, None]).T @ model.W for own in seen])
    else:
        M = unpacked(seen @ column_products(model.W), q)
    return M if model.spread is None else M + unpacked(seen @ model.spread, q)


def _one_by_one(model: LinearGaussian, n_patterns: int) -> bool:
    """Whether products with W of each pattern take less time than with the products of all columns of W."""
    d, q = model.W.shape
    return n_patterns == 1 or d * q * q > _PRODUCTS


def _steps(model: LinearGaussian, X: Array, mask: Array | None = None) -> Iterator[Expected]:
    """E steps of one model, tile by tile."""
    return (expected(model, tile) for tile in tiles(X, [model], mask))


def _patterns(mask: Array) -> tuple[Array, Array]:
    """Distinct rows (p, d) of a mask as floats, and the pattern of each row (n,)."""
    if mask.all():
        return np.ones((1, mask.shape[1])), np.zeros(len(mask), dtype=np.intp)
    _, first, which = _distinct(np.packbits(mask, axis=1))
    if 2 * len(first) > len(mask) > 1:  # few repeated patterns: sharing them costs more than it saves
        return mask.astype(np.float64), np.arange(len(mask))
    return mask[first].astype(np.float64), which.reshape(-1)


def _distinct(packed: Array) -> tuple[Array, Array, Array]:
    """``np.unique`` of rows of bytes, with their first places and the inverse; eight bytes are sorted as one number."""
    if packed.shape[1] > 8:
        return np.unique(packed, axis=0, return_index=True, return_inverse=True)
    whole = np.zeros((len(packed), 8), dtype=np.uint8)
    whole[:, : packed.shape[1]] = packed
    numbers = whole.view(">u8")[:, 0].astype(np.uint64)
    return np.unique(numbers, return_index=True, return_inverse=True)


def _by_pattern(weighted: Array, zeta: Array, tile: Tile) -> Array:
    """Upper triangles of ``Σ γ ζ ζᵀ`` over the rows of each pattern (p, k)."""
    rows, columns = upper_triangle(zeta.shape[1])
    if len(tile.seen) == 1:
        return np.asarray((weighted.T @ zeta)[rows, columns][None])
    products: Array = np.take(weighted, rows, axis=1) * np.take(zeta, columns, axis=1)
    if len(tile.seen) == len(zeta):
        return products
    order = np.argsort(tile.which, kind="stable")
    starts = np.searchsorted(tile.which[order], np.arange(len(tile.seen)))
    return np.asarray(np.add.reduceat(products[order], starts, axis=0))


def turned(model: LinearGaussian, T: Array) -> LinearGaussian:
    """The same model with rotated latent axes ``W T``, T (q, q) orthogonal."""
    q = model.n_components
    if model.spread is None:
        return LinearGaussian(model.mean, model.W @ T, model.noise)
    S = T.T @ unpacked(model.spread, q) @ T
    rows, columns = upper_triangle(q)
    return LinearGaussian(model.mean, model.W @ T, model.noise, S[:, rows, columns])


def diagonal(values: Array) -> Array:
    """Diagonal matrices (..., k, k) from their diagonals (..., k)."""
    return np.asarray(values[..., None] * np.eye(values.shape[-1]))
