"""The balanced kernel: every row has the same share of its neighbours in every stratum of the side information.

With strata s = 1..S of the side information and N_s(i) the rows of stratum s nearest to row i along the graph,

    w_ij = a_is · p_ij,   j ∈ N_s(i),     Σ_{j∈N_s(i)} p_ij = 1  at perplexity  max(2, perplexity · n_s / n)
    K    = (W + Wᵀ) / 2,  rows of W divided by their sums

The masses a_is are the shares n_s / n, so a neighbourhood in K is independent of the stratum, and the plain
information objective on K aligns the strata. The strata may be *confounded* with the remaining structure (a batch that
holds only one of the cell types). Then a stratum without a counterpart of row i must not attract it: its mass falls
with its distance,

    a_is = n_s / n · min(1, exp(-4 (d²_is / d²_i - 1))),   d_is to its nearest rows, d_i the best of another stratum

Where it is known how far row i is represented in stratum s (``neighbours.counterparts``), r_is in [0, 1], that is the
factor instead, and the share is that of the stratum around the row (``local_shares``): a_is = m_is r_is. A row without
counterparts has its neighbours in its own stratum, and a type that is rarer in s has fewer of them there.

Only the order of the rows *within* a stratum matters, so distances need not be comparable between strata.
Cost: the neighbours (``neighbours.strata``), O(n k log k) for paths along the graph; memory O(n (3 perplexity + 6 S)).

``short`` neighbour lists (the multilevel solver) are for many rows: twice the perplexity instead of three times, at
least 3 rows of a stratum. With many categories these would lie far off and fill the memory. So more than 12 are merged
to 12 strata, unless it is known how far rows are represented in each, or the strata are cells of numbers.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.graph import along_graph, joined_graph
from sidelight.neighbours.search import Neighbours
from sidelight.neighbours.sparse_distances import SparseDistances, reach
from sidelight.neighbours.strata import FEW_STRATA, InStratum, merged, nearest_in_strata

from .bandwidths import perplexity_rows
from .data_kernel import DataKernel
from .expected import expected_neighbours
from .local_shares import local_shares

__all__ = ["NEAREST", "balanced_kernel", "confounded_stratum_factors", "stratum_distances"]


NEAREST = 5
"""Rows that a distance to a stratum is averaged over."""
_LEAST_MASS = 0.05  # below it a stratum is no neighbour in the graph
_LEAST_SHARE = 0.3  # of the share of a stratum, which it must have around a row to be its neighbour in the graph
_SHARPNESS = 4.0
_FEW_ROWS = 200  # of which the shares around a row are half those of the strata: what few rows tell is noise
_WALK = 3  # times as many rows are searched along the graph as are kept, so that every stratum is met


def balanced_kernel(
    points: Array | SparseDistances,
    codes: Array,
    perplexity: float,
    n_neighbors: int | None,
    *,
    confounded: bool = False,
    represented: Array | None = None,
    effect_left: Array | None = None,
    numbers: bool = False,
    precomputed: bool = False,
    short: bool = False,
    variance: Array | None = None,
    n_jobs: int | None = None,
) -> DataKernel:
    """The balanced kernel of rows in strata.

    Parameters
    ----------
    points : array of shape (n, d), distances (n, n), or SparseDistances
    codes : array of shape (n,)
        Stratum of each row, numbered from 0.
    perplexity : float
        Effective number of neighbours, over all strata.
    n_neighbors : int or None
        Neighbours in the graph along which distances are taken. None: Euclidean distances.
    confounded : bool
        Whether the mass of a stratum falls with its distance.
    represented : array of shape (n, S) or None
        How far each row is represented in each stratum, between 0 and 1; ``confounded`` is then ignored.
    effect_left : array of shape (S, S) or None
        What is left of an effect between strata, for the shares around a row (``local_shares``). None: nothing.
    numbers : bool
        Whether the strata are cells of numbers (or of categories and numbers), likewise.
    precomputed : bool
        Whether ``points`` are distances.
    short : bool
        Use short lists, see above.
    variance : array of shape (n, d or less) or None
        Variances of the (first) columns of ``points``, which are means: the kernel is then the expected one.
    n_jobs : int or None
        Threads.

    Returns
    -------
    DataKernel
        Sparse, with its neighbour lists and graph.
    """
    if short and represented is None and not confounded and not numbers:
        codes = merged(codes, FEW_STRATA)
    n, share = len(points), np.bincount(codes) / len(codes)
    p = np.maximum(1.5 if short else 2.0, perplexity * share)
    k = np.rint(2 * p).astype(int) if short else np.rint(3 * p).astype(int) + 1
    edges = np.maximum(2, np.ceil((n_neighbors or 0) * share)).astype(int)
    lengths = np.maximum(k, edges) if n_neighbors is not None else k
    strata = nearest_in_strata(points, codes, lengths, precomputed=precomputed, n_jobs=n_jobs)
    close = np.ones((n, len(share))) if represented is None else represented
    if confounded and represented is None:
        close = confounded_stratum_factors(stratum_distances(strata, n), codes)
    graph = None
    if n_neighbors is not None:
        near = close
        if represented is not None:
            around = _shares_around(strata, _weights(strata, p, k), codes, close, effect_left, numbers=numbers)
            near = np.where(around > _LEAST_SHARE * share, close, 0.0)
            near[np.arange(n), codes] = 1.0
        graph = joined_graph(points, _edges(strata, near, edges), precomputed=precomputed)
        strata = _along(graph, strata, codes, k, n_jobs)
    if variance is not None and not isinstance(points, SparseDistances):
        strata = _expected(strata, points, variance, p, k, n_jobs)
    weights = _weights(strata, p, k)
    around = share
    if represented is not None:
        around = _shares_around(strata, weights, codes, close, effect_left, numbers=numbers)
    return _assembled(strata, weights, close * around, graph)


def stratum_distances(strata: list[InStratum], n: int) -> Array:
    """Mean squared distance of each row to its five nearest rows in each stratum (n, S); inf where there is none."""
    D = np.full((n, len(strata)), np.inf)
    for s, stratum in enumerate(strata):
        D[stratum.rows, s] = np.mean(stratum.neighbours.distance[:, :NEAREST] ** 2, axis=1)
    return D


def confounded_stratum_factors(D: Array, codes: Array) -> Array:
    """Factors in [0, 1] (n, S) by which the masses of confounded strata fall, from squared distances ``D`` (n, S)."""
    own = np.arange(len(codes)), codes
    others = D.copy()
    others[own] = np.inf
    best = others.min(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(best > 0, D / best, np.where(D > 0, np.inf, 1.0))
    mass = np.exp(-_SHARPNESS * np.maximum(ratio - 1.0, 0.0))
    mass[own] = 1.0
    return mass


def _edges(strata: list[InStratum], close: Array, k: Array) -> Neighbours:
    """Candidate edges of the graph (n, Σk): the nearest rows in each stratum.

    Where a stratum is too far, the row itself fills the list, at distance 0.
    """
    n = len(close)
    index, distance = [], []
    for s, stratum in enumerate(strata):
        width = min(int(k[s]), stratum.neighbours.index.shape[1])
        numbers = np.repeat(np.arange(n)[:, None], width, axis=1)
        lengths = np.zeros((n, width))
        fit = close[stratum.rows, s] > _LEAST_MASS
        rows = stratum.rows[fit]
        numbers[rows], lengths[rows] = (part[fit, :width] for part in vars(stratum.neighbours).values())
        index.append(numbers)
        distance.append(lengths)
    return Neighbours(np.concatenate(index, axis=1), np.concatenate(distance, axis=1))


def _along(graph: SparseMatrix, strata: list[InStratum], codes: Array, k: Array, n_jobs: int | None) -> list[InStratum]:
    """The nearest rows in each stratum along the graph; Euclidean ones where the search met too few of a stratum."""
    n, n_strata = len(codes), len(strata)
    reach = min(n - 1, _WALK * int(k.sum()))
    guess = np.max([_radius(stratum, n) for stratum in strata], axis=0)
    walked = along_graph(graph, k=reach, start_radius=guess, n_jobs=n_jobs)
    met = codes[walked.index]
    order = np.argsort(met, axis=1, kind="stable")
    index, distance = (np.take_along_axis(part, order, axis=1) for part in (walked.index, walked.distance))
    counts = np.stack([(met == s).sum(axis=1) for s in range(n_strata)], axis=1)
    starts = np.cumsum(counts, axis=1) - counts
    found = []
    for s, stratum in enumerate(strata):
        width = min(int(k[s]), stratum.neighbours.index.shape[1])
        numbers, lengths = (part[:, :width].copy() for part in vars(stratum.neighbours).values())
        enough = counts[stratum.rows, s] >= width
        rows = stratum.rows[enough]
        places = starts[rows, s][:, None] + np.arange(width)
        numbers[enough] = np.take_along_axis(index[rows], places, axis=1)
        lengths[enough] = np.take_along_axis(distance[rows], places, axis=1)
        found.append(InStratum(stratum.rows, Neighbours(numbers, lengths)))
    return found


def _expected(
    strata: list[InStratum], points: Array, variance: Array, p: Array, k: Array, n_jobs: int | None
) -> list[InStratum]:
    """The lists with effective distances, under which the kernel of each stratum is the expected one."""
    spread = np.zeros_like(points)
    spread[:, : variance.shape[1]] = variance
    found = []
    for s, stratum in enumerate(strata):
        near = Neighbours(*(part[:, : k[s]] for part in vars(stratum.neighbours).values()))
        if near.index.shape[1] > 1:  # a list of one row has one weight
            near = expected_neighbours(points, spread, near, float(p[s]), rows=stratum.rows, n_jobs=n_jobs)
        found.append(InStratum(stratum.rows, near))
    return found


def _radius(stratum: InStratum, n: int) -> Array:
    """First guess of the path length to the listed rows of a stratum (n,)."""
    radius = np.zeros(n)
    radius[stratum.rows] = 1.3 * reach(stratum.neighbours)
    return radius


def _weights(strata: list[InStratum], p: Array, k: Array) -> list[tuple[Array, Array]]:
    """Weights (m, k) of the lists of each stratum by perplexity, and the bandwidths (m,) behind them."""
    found = []
    for s, stratum in enumerate(strata):
        distance = stratum.neighbours.distance[:, : k[s]]
        width = distance.shape[1]
        one = np.ones_like(distance), np.zeros(len(distance))
        found.append(one if width <= 1 else perplexity_rows(distance**2, min(float(p[s]), 0.8 * width)))
    return found


def _shares_around(
    strata: list[InStratum],
    weights: list[tuple[Array, Array]],
    codes: Array,
    close: Array,
    effect_left: Array | None,
    *,
    numbers: bool,
) -> Array:
    """Shares (n, S) of the strata around each row, drawn to their sizes where rows are few."""
    n = len(codes)
    told = n**2 / (n**2 + _FEW_ROWS**2)
    around = local_shares(strata, [P for P, _ in weights], codes, close, effect_left, numbers=numbers)
    return np.asarray(told * around + (1.0 - told) * np.bincount(codes) / n)


def _assembled(
    strata: list[InStratum], weights: list[tuple[Array, Array]], mass: Array, graph: SparseMatrix | None
) -> DataKernel:
    """Combine the lists of all strata into the kernel: weights times masses (n, S), normalised and symmetric."""
    n = len(mass)
    rows, cols, values, lists = [], [], [], []
    total, bandwidth = np.zeros(n), np.zeros(n)
    for s, (stratum, (P, h)) in enumerate(zip(strata, weights, strict=True)):
        width = P.shape[1]
        index, distance = (part[:, :width] for part in vars(stratum.neighbours).values())
        a = mass[stratum.rows, s]
        rows.append(np.repeat(stratum.rows, width))
        cols.append(index.ravel())
        values.append((a[:, None] * P).ravel())
        total[stratum.rows] += a
        bandwidth[stratum.rows] += a * h
        if len(stratum.rows) == n:  # otherwise a stratum of one row: that row has no list in it
            lists.append((index, distance))
    at = np.concatenate(rows)
    total = np.where(total > 0, total, 1.0)
    W = csr_array(coo_array((np.concatenate(values) / total[at], (at, np.concatenate(cols))), shape=(n, n)))
    K = csr_array(0.5 * (W + W.T))
    K.eliminate_zeros()
    K.sort_indices()
    return DataKernel(K, bandwidth / total, _shortened(lists, strata, n), graph)


def _shortened(lists: list[tuple[Array, Array]], strata: list[InStratum], n: int, most: int = 90) -> Array:
    """One neighbour list per row from the lists of all strata, nearest first: the candidates of the backward map."""
    if not lists and len(strata) == n and all(len(stratum.rows) == n - 1 for stratum in strata):
        # every row is alone in its stratum: its list is all the others, which are few
        return np.asarray((np.arange(n)[:, None] + np.arange(1, n)) % n)
    index, distance = (np.concatenate(part, axis=1) for part in zip(*(lists or _padded(strata, n)), strict=True))
    shortest = int(np.isfinite(distance).sum(axis=1).min())
    order = np.argsort(distance, axis=1, kind="stable")[:, : min(most, shortest)]
    return np.asarray(np.take_along_axis(index, order, axis=1))


def _padded(strata: list[InStratum], n: int) -> list[tuple[Array, Array]]:
    """The lists of each stratum (n, k), at infinite distance for rows that did not search it."""
    found = []
    for stratum in strata:
        width = stratum.neighbours.index.shape[1]
        index, distance = np.zeros((n, width), dtype=np.int32), np.full((n, width), np.inf, dtype=np.float32)
        index[stratum.rows], distance[stratum.rows] = stratum.neighbours.index, stratum.neighbours.distance
        found.append((index, distance))
    return found
