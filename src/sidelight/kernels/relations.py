r"""Similarity matrices of relations: from each kind of relation to a matrix P whose rows sum to 1 (S0 4.1).

    data     perplexity kernel along the neighbour graph; a row is one of its own neighbours: p_ii = 1/(1 + perplexity)
             with one bandwidth h: p_ij ∝ exp(-|x_i - x_j|² / h), j = i included
    labels   p_ij = 1 / (rows with that label)                               values   p_ij ∝ exp(-|v_i - v_j|² / h)
    pairs    p_ij = 1 / (1 + partners) for itself and each partner           matrix   rows of it, divided by their sums

Only ``S = P + Pᵀ`` and the mean entropy of the rows of P are kept: the objective needs no more. Labels, values and data
of one bandwidth relate each row to every other, n² numbers. Above 2,000 rows each row keeps itself and a sample of
about 200 others, evenly spread along the values (for data: along the rows) and different for each row, so that sums
over them estimate the sums over all rows with little noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from sidelight.base.messages import error_message
from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.search import Neighbours, nearest_precomputed
from sidelight.side.relation import Relation

from .data_kernel import DataKernel, perplexity_kernel
from .matrices import adaptive_kernel

__all__ = ["Similarity", "similarity"]


_ALL = 2000  # rows up to which every pair is kept
_PARTNERS = 200  # sampled partners of a row, beyond that
_PERPLEXITY = (
    5  # at most a fifth of the rows are effective neighbours: with few rows, all would be neighbours otherwise
)
_REACH, _LEAST = 4, 3  # at most a quarter of the rows are linked to a row in the graph, but at least three
_GOLDEN = 0.6180339887498949  # multiples of it modulo 1 are evenly spread, whatever their number


@dataclass(frozen=True)
class Similarity:
    """``matrix`` S = P + Pᵀ (m, m), the mean ``entropy`` of the rows of P, and the data kernel behind it, if any."""

    matrix: Array | SparseMatrix
    entropy: float
    kernel: DataKernel | None = None


def similarity(relation: Relation, n_jobs: int | None = None) -> Similarity:
    """The similarity matrix of a relation between two rows or more."""
    if relation.kind == "data":
        return _of_data(relation, n_jobs)
    if relation.kind == "values":
        features = relation.features
        assert features is not None
        return _of_features(features, float(relation.bandwidth or 1.0))
    if relation.kind == "labels":
        return _of_labels(relation.entries)
    if relation.kind == "pairs":
        return _of_rows(_partners(relation))
    return _of_matrix(relation)


def _of_data(relation: Relation, n_jobs: int | None) -> Similarity:
    """By the perplexity kernel of the data, or by one bandwidth if the relation has one."""
    X = relation.entries - relation.entries.mean(axis=0)
    scale = float(np.abs(X).max()) or 1.0
    if relation.bandwidth is not None:
        return _of_features(X / scale, float((np.sqrt(relation.bandwidth) / scale) ** 2))
    perplexity = max(1.0 + 1e-6, min(relation.perplexity, (len(X) - 1) / _PERPLEXITY))
    reach = None if relation.n_neighbors is None else min(relation.n_neighbors, max(_LEAST, len(X) // _REACH))
    kernel = perplexity_kernel(X / scale, perplexity, reach, n_jobs=n_jobs)
    assert isinstance(kernel.matrix, csr_array)
    return _of_neighbours(kernel.matrix, perplexity, kernel)


def _of_neighbours(K: SparseMatrix, perplexity: float, kernel: DataKernel | None = None) -> Similarity:
    """From a sparse kernel without self-weight: each row becomes one of its own neighbours."""
    found = _of_rows(csr_array(_normalised(K) * perplexity + diags_array(np.ones(K.shape[0]))))
    return Similarity(found.matrix, found.entropy, kernel)


def _of_features(F: Array, bandwidth: float) -> Similarity:
    """``exp(-|f_i - f_j|² / bandwidth)`` of all pairs, or of sampled pairs for more than 2,000 rows."""
    if len(F) <= _ALL:
        return _of_rows(np.exp(-squared_distances(F, F) / bandwidth))
    order = np.lexsort(F.T[::-1]) if F.shape[1] < 4 else np.arange(len(F))
    rows, cols, shares = _spread_partners(order)
    gap = np.empty(len(rows))
    for start in range(0, len(rows), 1_000_000):
        part = slice(start, start + 1_000_000)
        difference = F[rows[part]] - F[cols[part]]
        gap[part] = np.einsum("ij,ij->i", difference, difference)
    return _of_some(rows, cols, np.exp(-gap / bandwidth), shares, len(F))


def _of_labels(codes: Array) -> Similarity:
    """Equal weights for rows with the same label, of all such pairs or of sampled ones."""
    if len(codes) <= _ALL:
        return _of_rows((codes[:, None] == codes).astype(np.float64))
    order = np.argsort(codes, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)
    rows, cols, shares = (np.concatenate(part) for part in zip(*map(_spread_partners, members), strict=True))
    return _of_some(rows, cols, np.ones(len(rows)), shares, len(codes))


def _spread_partners(order: Array) -> tuple[Array, Array, Array]:
    """Sampled pairs of ordered rows: each row with itself and about 200 evenly spread others.

    Returns rows, columns, and how many rows each sampled partner represents.
    """
    m = len(order)
    step = -(-m // _PARTNERS)
    place = np.arange(m)
    first = np.floor(np.mod(place * _GOLDEN, 1.0) * step).astype(np.int64)
    others = first[:, None] + step * np.arange(-(-m // step))
    held = (others < m) & (others != place[:, None])
    rows = np.concatenate([order, order[np.nonzero(held)[0]]])
    cols = np.concatenate([order, order[others[held]]])
    counts = np.maximum(held.sum(axis=1), 1)
    shares = np.concatenate([np.ones(m), np.repeat((m - 1) / counts, held.sum(axis=1))])
    return rows, cols, shares


def _of_some(rows: Array, cols: Array, weights: Array, shares: Array, n: int) -> Similarity:
    """From sampled entries of each row, each representing ``shares`` entries."""
    total = np.bincount(rows, weights=weights * shares, minlength=n)[rows]
    P = weights * shares / total
    entropy = -float((P * np.log(np.maximum(weights / total, 1e-300))).sum()) / n
    matrix = csr_array(coo_array((P, (rows, cols)), shape=(n, n)))
    return Similarity(csr_array(matrix + matrix.T), entropy)


def _of_rows(weights: Array | SparseMatrix) -> Similarity:
    """From non-negative weights (m, m): normalise the rows, and take their mean entropy."""
    P = _normalised(weights)
    values = P.data if isinstance(P, csr_array) else P
    entropy = -float((values * np.log(np.maximum(values, 1e-300))).sum()) / P.shape[0]
    return Similarity(csr_array(P + P.T) if isinstance(P, csr_array) else P + P.T, entropy)


def _normalised(weights: Array | SparseMatrix) -> Array | SparseMatrix:
    """Rows divided by their sums; a row of zeros becomes that of the identity."""
    total = np.asarray(weights.sum(axis=1)).ravel()
    lonely = total == 0
    if isinstance(weights, csr_array):
        scaled = csr_array(diags_array(1.0 / np.where(lonely, 1.0, total)) @ weights)
        return csr_array(scaled + diags_array(lonely.astype(np.float64))) if lonely.any() else scaled
    P = weights / np.where(lonely, 1.0, total)[:, None]
    P[lonely, lonely] = 1.0
    return np.asarray(P)


def _partners(relation: Relation) -> SparseMatrix:
    """Ones for each row with itself and with its partners (m, m)."""
    m, (first, second) = len(relation.index), relation.entries.T
    links = csr_array(coo_array((np.ones(len(first)), (first, second)), shape=(m, m)))
    both = csr_array(links + links.T + diags_array(np.ones(m)))
    both.data[:] = 1.0
    return both


def _of_matrix(relation: Relation) -> Similarity:
    """From a user's matrix of similarities, or of distances (by perplexity)."""
    matrix: Array | SparseMatrix = relation.entries
    if not relation.distances:
        largest = float(matrix.max()) or 1.0
        return _of_rows(csr_array(matrix / largest) if isinstance(matrix, csr_array) else matrix / largest)
    k = min(len(relation.index) - 1, max(2, round(3 * relation.perplexity)))
    near = _listed(matrix) if isinstance(matrix, csr_array) else nearest_precomputed(matrix, k=k, own=True)
    scale = float(near.distance.max()) or 1.0
    perplexity = max(1.0 + 1e-6, min(relation.perplexity, near.index.shape[1] / 1.5))
    return _of_neighbours(adaptive_kernel(Neighbours(near.index, near.distance / scale), perplexity)[0], perplexity)


def _listed(matrix: SparseMatrix) -> Neighbours:
    """Neighbour lists from a sparse matrix of distances, without the row itself."""
    pairs = matrix.tocoo()
    apart = pairs.row != pairs.col
    rows, cols, distance = pairs.row[apart], pairs.col[apart], pairs.data[apart]
    order = np.lexsort((distance, rows))
    counts = np.bincount(rows, minlength=matrix.shape[0])
    if counts.min() != counts.max() or counts[0] == 0:
        rule, remedy = "do not list the same number of neighbours for each row", "Make them with kneighbors_graph"
        raise ValueError(error_message("Relation", "P", "sparse distances", rule, remedy))
    shape = (matrix.shape[0], int(counts[0]))
    return Neighbours(cols[order].reshape(shape).astype(np.int64), distance[order].reshape(shape))
