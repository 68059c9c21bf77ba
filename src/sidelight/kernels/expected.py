r"""Expected Gaussian kernels between rows with uncertain entries, given by mean and variance.

With x_i of mean m_i (d,) and variances v_i (d,), entries taken as independent, and v = v_i + v_j,

    E[exp(-β |x_i - x_j|²)] = Π_c (1 + 2 β v_c)^(-1/2) exp(-β (m_ic - m_jc)² / (1 + 2 β v_c))

so an uncertain column counts less, and an uncertain row is less of a neighbour. The kernel of the expected squared
distance, exp(-β (|m_i - m_j|² + Σ_c v_c)), does only the second, and too much of it: its exponent grows with v, where
the logarithm of the expected kernel grows with log v; and a length √(|m_i - m_j|² + Σ_c v_c) for every edge makes paths
of many short edges longer than jumps across the data (measured: ``python -m benchmarks missing_maps``).

Written as an effective squared distance at the inverse bandwidth β,

    s_ij(β) = Σ_c (m_ic - m_jc)² / (1 + 2 β v_c) + Σ_c log(1 + 2 β v_c) / (2 β)        exp(-β s) is the expected kernel

For adaptive kernels β depends on the perplexity of the s_ij themselves: a fixed point, found in eight rounds (the maps
of a full search for β are the same to three digits). Lists and graphs are those of the means. Distances along a graph
are split among the columns in proportion to the squared differences of the means.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice
from sidelight.neighbours.search import Neighbours

from .bandwidths import perplexity_rows
from .matrices import SymmetricTiles

__all__ = ["effective_squares", "expected_dense_kernel", "expected_neighbours", "expected_squares"]

_ROUNDS = 8
_BUDGET = 1_000_000  # numbers in the temporaries of one tile
_NARROWEST = 1e-10  # bandwidth of duplicates, as a share of their largest squared distance


def expected_neighbours(
    means: Array,
    variance: Array,
    near: Neighbours,
    perplexity: float,
    *,
    rows: Array | None = None,
    n_jobs: int | None = None,
) -> Neighbours:
    """Neighbours with the roots of effective squared distances, for a kernel of that perplexity.

    Parameters
    ----------
    means : array of shape (n, d)
    variance : array of shape (n, d)
        0 where an entry is known.
    near : Neighbours
        Lists (m, k) with distances between means, straight or along a graph.
    perplexity : float
    rows : array of shape (m,) or None
        The rows whose lists these are; None: all.
    n_jobs : int or None
        Threads.

    Returns
    -------
    Neighbours
        The same lists in the same order; a row without uncertain entries in its list keeps its distances.
    """
    own = np.arange(len(means)) if rows is None else rows

    def one(part: Slice) -> Array:
        index, squares = near.index[part], np.asarray(near.distance[part], dtype=np.float64) ** 2
        v = variance[own[part], None, :] + variance[index]
        return _settled(_by_column(means, own[part], index, squares), v, squares, perplexity)

    tile = max(1, _BUDGET // max(1, near.index.shape[1] * means.shape[1]))
    parts = run_tiles(one, spans(len(own), tile), n_jobs)
    return Neighbours(near.index, np.sqrt(np.concatenate(parts)))


def expected_squares(inputs: Array, Q: Array, variance: Array, index: Array, perplexity: float) -> Array:
    """Effective squared distances (m, k) of uncertain queries to listed rows, for weights of that perplexity.

    Parameters
    ----------
    inputs : array of shape (n, d)
    Q, variance : arrays of shape (m, d)
        Means and variances of the queries.
    index : array of shape (m, k)
        Listed rows.
    perplexity : float
    """
    split = np.asarray(Q[:, None, :] - inputs[index], dtype=np.float64) ** 2
    return _settled(split, variance[:, None, :], split.sum(axis=2), perplexity)


def _by_column(means: Array, rows: Array, index: Array, squares: Array) -> Array:
    """Squared distances (m, k) split among the columns (m, k, d) as the squared differences of the means are."""
    split = np.asarray(means[rows, None, :] - means[index], dtype=np.float64) ** 2
    total = split.sum(axis=2)
    split *= np.divide(squares, total, out=np.ones_like(total), where=total > 0)[:, :, None]
    return split


def _settled(split: Array, v: Array, squares: Array, perplexity: float) -> Array:
    """Effective squared distances (m, k) at the bandwidths at which they have the perplexity."""
    found = squares
    perplexity = min(perplexity, 0.8 * squares.shape[1])
    for _ in range(_ROUNDS if v.any() else 0):
        h = perplexity_rows(found, perplexity)[1]
        least = _NARROWEST * squares.max(axis=1) + 1e-200
        found = effective_squares(split, v, np.maximum(h, least)[:, None])
    return found


def effective_squares(split: Array, v: Array, h: Array | float) -> Array:
    """Effective squared distances s (...,) from squared differences and variances (..., d), at bandwidths h = 1 / β.

    Examples
    --------
    >>> s = effective_squares(np.array([4.0, 1.0]), np.array([0.0, 0.5]), 1.0)  # exp(-4) exp(-1 / 2) / √2
    >>> bool(np.isclose(np.exp(-s), np.exp(-4.5) / np.sqrt(2)))
    True
    """
    ratio = 2.0 * v / np.asarray(h)[..., None]
    return np.asarray((split / (1.0 + ratio)).sum(axis=-1) + 0.5 * np.asarray(h) * np.log1p(ratio).sum(axis=-1))


def expected_dense_kernel(
    means: Array, variance: Array, bandwidth: float, *, dtype: npt.DTypeLike = np.float32, n_jobs: int | None = None
) -> SymmetricTiles:
    """The expected Gaussian kernel of every pair of rows (n, n), 1 on the diagonal.

    Parameters
    ----------
    means, variance : arrays of shape (n, d)
    bandwidth : float
        Of squared distances.
    dtype : data type
        Of the entries.
    n_jobs : int or None
        Threads.
    """
    M, V = np.asarray(means, dtype=np.float64), np.asarray(variance, dtype=np.float64)

    def tile(rows: Slice, cols: Slice) -> Array:
        out = np.empty((rows.stop - rows.start, cols.stop - cols.start), dtype=dtype)
        for part in spans(len(out), max(1, _BUDGET // max(1, out.shape[1] * M.shape[1]))):
            at = slice(rows.start + part.start, rows.start + part.stop)
            split = (M[at, None, :] - M[cols]) ** 2
            out[part] = np.exp(-effective_squares(split, V[at, None, :] + V[cols], bandwidth) / bandwidth)
        if rows == cols:
            np.fill_diagonal(out, 1.0)
        return out

    return SymmetricTiles.build(len(M), tile, n_jobs=n_jobs)
