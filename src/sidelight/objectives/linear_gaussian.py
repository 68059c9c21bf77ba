r"""The linear-Gaussian model with isotropic noise, whole or with missing entries, by q x q matrices only.

    x = W z + μ + ε,    z ~ N(0, I_q),    ε ~ N(0, σ² I_d)                (S3; Tipping and Bishop 1999)

W (d, q), μ (d,), σ² > 0; q may be 0. For a row of which the entries O are observed, r = x_O - μ_O, m = |O|:

    M = W_Oᵀ W_O + σ² I,    z | x_O ~ N(z̄, σ² M⁻¹),    z̄ = M⁻¹ W_Oᵀ r            (S3 prints σ⁻² M)
    -2 log p(x_O) = m log 2π + log|M| + (m - q) log σ² + |r - W_O z̄|² / σ² + |z̄|²

so no d x d matrix is formed, and small σ² costs no digits. With ζ = (z, 1), the M step solves one least-squares
problem for each column j of x over the rows that have it, by sums with weights γ_n over them,

    A_j = Σ γ_n E[ζ ζᵀ],    b_j = Σ γ_n x_nj E[ζ],    (w_j, μ_j) = A_j⁻¹ b_j
    σ² = Σ_nj γ_n E[(x_nj - w_jᵀ z - μ_j)²] / Σ_nj γ_n                                   over observed entries

All A_j come from one product of the mask (d, patterns) with the second moments, and all M from one of the mask with the
products of columns of W; rows with the same entries observed share their M. Sums are of x - μ at the old μ, for the
digits. As z may have any mean m and covariance R before both are absorbed, W ← W R^½ and μ ← μ + W m make each step
longer for nothing (parameter expansion, Liu, Rubin and Wu 1998): two to four times, on the walk.
Where W is uncertain (``objectives.relevance``), w_j ~ N(w̄_j, S_j), the S_j are added: M = Σ_O (w̄_j w̄_jᵀ + S_j) + σ² I.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import spans
from sidelight.rows import Sums, summed

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
    "unpacked",
    "whitening",
]

Array = npt.NDArray[Any]
_NUMBERS = 3_000_000  # in the second moments of one tile of rows
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True)
class LinearGaussian:
    """Mean (d,), loadings W (d, q), the variance of the noise, and the upper triangles of the S_j (d, k), if any."""

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
    """Some rows, and the patterns of what is observed of them, which are the same for every model."""

    X: Array  # (n, d) 0 where missing
    mask: Array  # (n, d) True where observed
    seen: Array  # (p, d) the patterns, 1.0 where observed
    which: Array  # (n,) the pattern of each row


@dataclass(frozen=True)
class Expected:
    """The E step of one model at the rows of a tile: residuals, and the posterior of z."""

    tile: Tile
    residual: Array  # (n, d) x - mean, 0 where missing
    z: Array  # (n, q)
    inverse: Array  # (p, q, q) the inverses of M
    log_det: Array  # (p,) log |M|


def log_density(model: LinearGaussian, X: Array, mask: Array | None = None) -> Array:
    """Log p(x) of each row (n,), of its observed entries where some are missing (NaN, or False in ``mask``)."""
    return np.concatenate([tile_log_density(model, part) for part in _steps(model, X, mask)] or [np.empty(0)])


def posterior(model: LinearGaussian, X: Array, mask: Array | None = None) -> tuple[Array, Array]:
    """Means (n, q) and covariances of z given each row: (n, q, q), or one for all (q, q) where nothing is missing."""
    parts = list(_steps(model, X, mask))
    means = np.concatenate([part.z for part in parts])
    if all(part.tile.mask.all() for part in parts):
        return means, model.noise * parts[0].inverse[0]
    return means, model.noise * np.concatenate([part.inverse[part.tile.which] for part in parts])


def latent_mean(model: LinearGaussian, X: Array) -> Array:
    """E[z | x] of each row (n, q), from its observed entries."""
    return np.concatenate([part.z for part in _steps(model, X)])


def entry_variance(model: LinearGaussian, X: Array) -> Array:
    """Variance of each entry given the observed ones of its row (n, d), observed or not: ``σ² (1 + w_jᵀ M⁻¹ w_j)``.

    Where W is uncertain, ``Σ (S_j)_ab E[z_a z_b]`` is added: a latent point far out is multiplied by what is not known.
    """
    return np.concatenate([_entry_variance(model, part) for part in _steps(model, X)])


def entries(model: LinearGaussian, X: Array) -> tuple[Array, Array]:
    """Mean and variance of each entry (n, d) given the observed ones of its row, observed or not."""
    parts = [(reconstruction(model, part.z), _entry_variance(model, part)) for part in _steps(model, X)]
    means, variances = zip(*parts, strict=True)
    return np.concatenate(means), np.concatenate(variances)


def reconstruction(model: LinearGaussian, Z: Array) -> Array:
    """``E[x | z]`` (n, d)."""
    return np.asarray(Z @ model.W.T + model.mean)


def statistics(model: LinearGaussian, X: Array, weights: Array | None = None, *, missing: bool = True) -> Sums:
    """What the M step needs of rows: n, log_likelihood, seen (d,), square (d,), b (d, q + 1), latent (k,), A.

    ``weights`` (n,) are responsibilities. A is (d, k), the upper triangle of each A_j, k = (q + 1)(q + 2) / 2; with
    ``missing=False``, where all columns share it, (1, k). Entries of sums from different blocks are added.
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
    """The M step: the model that the sums (taken at ``model``) ask for; ``expand``: by parameter expansion."""
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
    penalised = A + diagonal(np.where(ridge > 0, ridge, 1.0))  # a column that no row has keeps its mean
    if len(A) == 1:
        return np.linalg.solve(penalised[0], sums["b"].T).T, A
    return np.linalg.solve(penalised, sums["b"][:, :, None])[:, :, 0], A


def quadratic(A: Array, V: Array) -> Array:
    """``v_jᵀ A_j v_j`` of each row of V (d, k); A is (d, k, k) or (1, k, k)."""
    moved = V @ A[0] if len(A) == 1 else np.matmul(A, V[:, :, None])[:, :, 0]
    return np.asarray((moved * V).sum(axis=1))


def whitening(sums: Sums, q: int) -> tuple[Array, Array]:
    """Mean (q,) of z over the rows, and the symmetric root (q, q) of its covariance: what the expansion absorbs."""
    moments = unpacked(sums["latent"][None], q + 1)[0] / max(float(sums["n"]), 1e-300)
    mean = moments[:q, q]
    values, vectors = np.linalg.eigh(moments[:q, :q] - np.outer(mean, mean))
    return mean, (vectors * np.sqrt(np.maximum(values, 1e-300))) @ vectors.T


def tiles(X: Array, charts: Sequence[LinearGaussian], mask: Array | None = None) -> Iterator[Tile]:
    """The rows, as many at a time as the E steps of all charts may have at once."""
    size = sum((chart.n_components + 1) ** 2 + X.shape[1] for chart in charts)
    for rows in spans(len(X), max(64, _NUMBERS // size)):
        own = ~np.isnan(X[rows]) if mask is None else mask[rows]
        yield Tile(np.where(own, X[rows], 0.0), own, *_patterns(own))


def expected(model: LinearGaussian, tile: Tile) -> Expected:
    """The E step at a tile."""
    q = model.n_components
    residual = tile.X - model.mean
    residual *= tile.mask
    upper = np.triu_indices(q)
    products = model.W[:, upper[0]] * model.W[:, upper[1]]
    products = products if model.spread is None else products + model.spread
    M = unpacked(tile.seen @ products, q)
    M[:, np.arange(q), np.arange(q)] += model.noise
    log_det = 2.0 * np.log(np.diagonal(np.linalg.cholesky(M), axis1=1, axis2=2)).sum(axis=1)
    inverse = np.linalg.inv(M)
    own = inverse if len(inverse) in (1, len(residual)) else inverse[tile.which]
    z = np.matmul((residual @ model.W)[:, None, :], own)[:, 0, :]
    return Expected(tile, residual, z, inverse, log_det)


def tile_log_density(model: LinearGaussian, part: Expected) -> Array:
    """Log p(x) of the rows of a tile (n,)."""
    seen = part.tile.seen.sum(axis=1)
    fitted = (part.z @ model.W.T) * part.tile.mask
    squares = ((part.residual - fitted) ** 2).sum(axis=1) / model.noise + (part.z**2).sum(axis=1)
    if model.spread is not None:
        inside = ((part.residual @ model.W) * part.z).sum(axis=1) - (fitted**2).sum(axis=1)
        squares += inside / model.noise - (part.z**2).sum(axis=1)  # zᵀ (Σ_O S_j) z / σ²
    constant = seen * _LOG_2PI + part.log_det + (seen - model.n_components) * np.log(model.noise)
    return np.asarray(-0.5 * (constant[part.tile.which] + squares))


def tile_statistics(model: LinearGaussian, part: Expected, gamma: Array, *, missing: bool = True) -> Sums:
    """:func:`statistics` of a tile, without the likelihood; moments are added in a pattern before they meet a mask."""
    q, seen = model.n_components, part.tile.seen
    upper = np.triu_indices(q + 1)
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
    rows, columns = np.triu_indices(model.n_components)
    twice = np.where(rows == columns, 1.0, 2.0)
    products = twice * model.W[:, rows] * model.W[:, columns]
    products = products if model.spread is None else products + twice * model.spread
    variance = model.noise * (1.0 + part.inverse[:, rows, columns] @ products.T)[part.tile.which]
    if model.spread is not None:
        variance += (part.z[:, rows] * part.z[:, columns]) @ (twice * model.spread).T
    return np.asarray(variance)


def _steps(model: LinearGaussian, X: Array, mask: Array | None = None) -> Iterator[Expected]:
    """The E step of one model, a tile at a time."""
    return (expected(model, tile) for tile in tiles(X, [model], mask))


def _patterns(mask: Array) -> tuple[Array, Array]:
    """The different rows of a mask (p, d) as numbers, and which of them each row is (n,)."""
    if mask.all():
        return np.ones((1, mask.shape[1])), np.zeros(len(mask), dtype=np.intp)
    _, first, which = np.unique(np.packbits(mask, axis=1), axis=0, return_index=True, return_inverse=True)
    if 2 * len(first) > len(mask) > 1:  # hardly a pattern comes twice: looking them up costs more than it saves
        return mask.astype(np.float64), np.arange(len(mask))
    return mask[first].astype(np.float64), which.reshape(-1)


def _by_pattern(weighted: Array, zeta: Array, tile: Tile) -> Array:
    """Upper triangles of ``Σ γ ζ ζᵀ`` over the rows of each pattern (p, k)."""
    rows, columns = np.triu_indices(zeta.shape[1])
    if len(tile.seen) == 1:
        return np.asarray((weighted.T @ zeta)[rows, columns][None])
    products: Array = np.take(weighted, rows, axis=1) * np.take(zeta, columns, axis=1)
    if len(tile.seen) == len(zeta):
        return products
    order = np.argsort(tile.which, kind="stable")
    starts = np.searchsorted(tile.which[order], np.arange(len(tile.seen)))
    return np.asarray(np.add.reduceat(products[order], starts, axis=0))


def turned(model: LinearGaussian, T: Array) -> LinearGaussian:
    """The same model with its latent axes turned, ``W T``; T (q, q) is orthogonal."""
    q = model.n_components
    if model.spread is None:
        return LinearGaussian(model.mean, model.W @ T, model.noise)
    S = T.T @ unpacked(model.spread, q) @ T
    rows, columns = np.triu_indices(q)
    return LinearGaussian(model.mean, model.W @ T, model.noise, S[:, rows, columns])


def unpacked(upper: Array, size: int) -> Array:
    """Symmetric matrices (k, size, size) from their upper triangles (k, size (size + 1) / 2)."""
    place = np.zeros((size, size), dtype=np.intp)
    rows, columns = np.triu_indices(size)
    place[rows, columns] = place[columns, rows] = np.arange(len(rows))
    return np.take(upper, place.reshape(-1), axis=1).reshape(len(upper), size, size)


def diagonal(values: Array) -> Array:
    """Diagonal matrices (..., k, k) from their diagonals (..., k)."""
    return np.asarray(values[..., None] * np.eye(values.shape[-1]))
