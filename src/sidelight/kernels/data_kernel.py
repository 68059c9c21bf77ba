"""The kernel matrix of the data, for each bandwidth rule, with the neighbour lists and graph that the maps need.

perplexity  sparse and adaptive, along the neighbour graph (or Euclidean without one): the default
loo         one bandwidth, chosen by leave-one-out likelihood
a number    that bandwidth

A kernel of one bandwidth has an entry for every pair. It is stored in one of three forms (decision 0016):

dense       every entry: exact, 2 n² bytes
sparse      entries that are not negligible: a narrow kernel, or a compact one (quartic) with few pairs within reach
low_rank    few factors and the near pairs (``kernels.low_rank``): a broad kernel, positive semidefinite (not quartic)
auto        up to 10,000 rows dense (compact ones sparse); beyond, sparse where few entries count, else low_rank where
            its error is at most 0.02, else dense
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice, SparseMatrix
from sidelight.neighbours.dimension import local_dimension
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.graph import along_graph, joined_graph
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import Neighbours, nearest
from sidelight.neighbours.sheets import unfolded_graph
from sidelight.neighbours.sparse_distances import Points, dense_points, nearest_known, reach

from .bandwidths import leave_one_out_bandwidth
from .expected import expected_neighbours
from .low_rank import CHECKED, KernelError, LowRankKernel, low_rank_kernel, residual_row_moments
from .matrices import SymmetricTiles, adaptive_kernel, compact_kernel, dense_kernel, share_of_near_pairs
from .profiles import QUARTIC, Profile

__all__ = [
    "EXACT_ROWS",
    "MOST_STORED",
    "DataKernel",
    "auto_kernel",
    "fixed_kernel",
    "loo_bandwidth",
    "perplexity_kernel",
]


_FEW = 0.1  # share of pairs within reach: above it, stored pairs need more memory than tiles
EXACT_ROWS = 10_000
"""Rows up to which every pair has its entry: below, tiles of pairs take less time than a hundred factors."""
MOST_STORED = 500
"""Entries of a row on average, at the most, of a kernel that is stored sparsely because it is narrow."""
_ERROR = 0.02  # relative, of the row sums: largest error of a low-rank kernel that "auto" accepts
_CUTS = tuple(10.0**-k for k in range(1, 13))  # entries below one of these are negligible
_LEFT_OUT = 1e-3  # share of the row sums that may be lost
_DETOUR = 1.3  # times the straight distance, guessed of a path in the graph
_PAIRS = 20_000_000  # pairs on which the bandwidth is chosen


@dataclass(frozen=True)
class DataKernel:
    """A kernel matrix of the data, with its graph and bandwidths.

    Parameters
    ----------
    matrix : SymmetricTiles, csr_array or LowRankKernel
        (n, n), symmetric.
    bandwidth : float or array of shape (n,)
    lists : array of shape (n, k) or None
        Neighbour lists, if adaptive.
    graph : csr_array of shape (n, n) or None
        Neighbour graph, if distances were taken along it.
    error : KernelError or None
        Approximation error, if the matrix approximates another.
    is_unfolded : bool
        Whether bridges between the layers of a sheet were left out of the graph.
    squares : array of shape (n, k) or None
        Squared distances of the rows to those of their lists, where lists and bandwidths come from different columns.
    """

    matrix: SymmetricTiles | SparseMatrix | LowRankKernel
    bandwidth: float | Array
    lists: Array | None = None
    graph: SparseMatrix | None = None
    error: KernelError | None = None
    is_unfolded: bool = False
    squares: Array | None = None

    @property
    def pairs(self) -> SymmetricTiles | SparseMatrix:
        """The matrix, if it is stored by pairs (dense or sparse, not low-rank)."""
        assert not isinstance(self.matrix, LowRankKernel)
        return self.matrix

    @property
    def form(self) -> str:
        """Storage form: "dense", "sparse" or "low_rank"."""
        if isinstance(self.matrix, LowRankKernel):
            return "low_rank"
        return "dense" if isinstance(self.matrix, SymmetricTiles) else "sparse"


def perplexity_kernel(
    points: Points,
    perplexity: float,
    n_neighbors: int | None,
    *,
    precomputed: bool = False,
    n_jobs: int | None = None,
    variance: Array | None = None,
    unfold: bool = False,
) -> DataKernel:
    """Sparse adaptive kernel: each row has the given perplexity over its ``3 · perplexity`` nearest rows.

    Parameters
    ----------
    points : array of shape (n, d), distances (n, n), or SparseDistances
    perplexity : float
    n_neighbors : int or None
        Neighbours in the graph along which distances are taken. None: Euclidean (or the given) distances.
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.
    variance : array of shape (n, d) or None
        Variances of the entries, where ``points`` are means: the kernel is the expected one (``kernels.expected``) on
        the neighbour lists and along the graph of the means.
    unfold : bool
        Whether bridges between the layers of a folded sheet are left out of the graph (``neighbours.sheets``).

    Returns
    -------
    DataKernel
        With its neighbour lists and graph.
    """
    n = len(points)
    k = min(n - 1, max(2, round(3 * perplexity)))
    width = k if n_neighbors is None else n_neighbors
    if precomputed:
        found = nearest_known(points, k=width, own=True)
    else:
        found = nearest(dense_points(points), k=width, n_jobs=n_jobs)
    graph, neighbours, is_unfolded = None, found, False
    if n_neighbors is not None:
        if unfold:
            sheet = unfolded_graph(points, found, precomputed=precomputed, n_jobs=n_jobs)
            graph, is_unfolded = sheet.graph, sheet.is_unfolded
        else:
            graph = joined_graph(points, found, precomputed=precomputed)
        neighbours = along_graph(graph, k=k, start_radius=_reach_of_more(found, k), n_jobs=n_jobs)
    if variance is not None:
        neighbours = expected_neighbours(dense_points(points), variance, neighbours, perplexity, n_jobs=n_jobs)
    matrix, bandwidth = adaptive_kernel(neighbours, perplexity)
    return DataKernel(matrix, bandwidth, neighbours.index, graph, is_unfolded=is_unfolded)


def _reach_of_more(near: Neighbours, k: int) -> Array:
    """A guess (n,) of how far the ``k`` nearest rows reach along a graph, from shorter lists.

    In d dimensions the number of rows within a distance grows as its d-th power. Paths are longer than straight lines.
    """
    more = max(1.0, k / max(1, near.index.shape[1]))
    return np.asarray(_DETOUR * reach(near) * more ** (1.0 / max(1.0, local_dimension(near.distance))))


def fixed_kernel(
    points: Array,
    bandwidth: float | None,
    profile: Profile,
    *,
    form: str = "dense",
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> DataKernel:
    """Kernel with one bandwidth for all pairs.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n)
    bandwidth : float or None
        Of squared distances. None: by leave-one-out likelihood; for precomputed distances the square of their median.
    profile : Profile
    form : "dense", "sparse" or "low_rank"
        Storage form. Precomputed distances always give a dense kernel.
    precomputed : bool
        Whether ``points`` are distances.
    n_jobs : int or None
        Threads.

    Returns
    -------
    DataKernel
    """
    if precomputed:
        positive = points[points > 0]
        median = float(np.median(positive)) if len(positive) else 1.0
        h = median**2 if bandwidth is None else bandwidth
        values = profile.value(np.asarray(points, dtype=np.float64) ** 2 / h)
        return DataKernel(SymmetricTiles.from_dense(values), h)
    h = loo_bandwidth(points, profile) if bandwidth is None else bandwidth
    if form == "sparse":
        return _narrow_kernel(points, h, profile, _negligible(points, h, profile, n_jobs), n_jobs)
    if form == "low_rank":
        matrix, error = low_rank_kernel(points, h, profile, n_jobs=n_jobs)
        return DataKernel(matrix, h, error=error)
    return DataKernel(dense_kernel(points, h, profile, n_jobs=n_jobs), h)


def auto_kernel(points: Array, h: float, profile: Profile, n_jobs: int | None = None) -> DataKernel | None:
    """The kernel in the storage form that "auto" chooses; None where that is dense.

    Parameters
    ----------
    points : array of shape (n, d)
    h : float
        Bandwidth of squared distances.
    profile : Profile
    n_jobs : int or None
        Threads.
    """
    if profile is QUARTIC:
        few = share_of_near_pairs(points, h) < _FEW
        return DataKernel(compact_kernel(points, h, profile, n_jobs=n_jobs), h) if few else None
    if len(points) <= EXACT_ROWS:
        return None
    cut = _negligible(points, h, profile, n_jobs)
    if cut.stored <= MOST_STORED:
        return _narrow_kernel(points, h, profile, cut, n_jobs)
    matrix, error = low_rank_kernel(points, h, profile, n_jobs=n_jobs)
    return DataKernel(matrix, h, error=error) if error.row_sum <= _ERROR else None


def _narrow_kernel(points: Array, h: float, profile: Profile, cut: _Cut, n_jobs: int | None) -> DataKernel:
    """The sparse kernel without its negligible entries; raises where too many entries are left."""
    if cut.stored > MOST_STORED:
        rule = (
            f"leaves {cut.stored:.0f} entries of a row that count, and more than {MOST_STORED} are not stored sparsely"
        )
        remedy = "Use kernel=KernelOptions(storage='low_rank') or 'dense', or a narrower kernel"
        raise ValueError(error_message("sparse data kernel", "bandwidth", h, rule, remedy))
    return DataKernel(compact_kernel(points, h, profile, least=cut.least, n_jobs=n_jobs), h, error=cut.error)


def loo_bandwidth(points: Array, profile: Profile) -> float:
    """Bandwidth by leave-one-out likelihood of at most 1,000 evenly spread rows, each against all others."""
    n = len(points)
    centred = points - points.mean(axis=0)
    typical = 2.0 * float(np.einsum("ij,ij->", centred, centred)) / n
    rows = spread_rows(n, max(100, min(1000, _PAIRS // n)))
    return leave_one_out_bandwidth(points, profile, typical=typical or 1.0, rows=rows)


@dataclass(frozen=True)
class _Cut:
    """Threshold of a sparse kernel.

    Entries below ``least`` are left out; ``stored`` entries of a row remain on average, with this ``error``.
    """

    least: float
    stored: float
    error: KernelError


def _negligible(points: Array, h: float, profile: Profile, n_jobs: int | None) -> _Cut:
    """The largest threshold that loses at most a thousandth of the row sums, measured on evenly spread rows."""
    A = (points - points.mean(axis=0)) / np.sqrt(h)
    rows = spread_rows(len(A), CHECKED)

    def some(part: Slice) -> tuple[Array, Array, Array]:
        K = profile.value(squared_distances(A[rows[part]], A))
        cubes = K * K * K
        lost = np.array([residual_row_moments(np.where(least > K, K, 0.0), K, cubes) for least in _CUTS])
        return residual_row_moments(K, K, cubes), lost, np.array([np.count_nonzero(least <= K) for least in _CUTS])

    made = run_tiles(some, spans(len(rows), 32), n_jobs)
    total = np.concatenate([part[0] for part in made], axis=1)
    lost = np.concatenate([part[1] for part in made], axis=2) / total
    stored = sum_in_order([part[2] for part in made]) / len(rows)
    fine = [k for k in range(len(_CUTS)) if lost[k, 0].mean() <= _LEFT_OUT]
    k = fine[0] if fine else len(_CUTS) - 1
    return _Cut(_CUTS[k], float(stored[k]), KernelError.of(lost[k], _CUTS[k]))
