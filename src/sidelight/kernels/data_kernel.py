"""The kernel matrix of a data set, by any of the bandwidth rules, with what the maps need of it.

perplexity  sparse and adaptive, along the neighbour graph (or in straight lines without one): the default
loo         one bandwidth, chosen by leave-one-out likelihood
a number    that bandwidth

A kernel of one bandwidth has an entry for every pair. It comes in one of three forms (decision 0016):

dense       every entry: exact, 2 n² bytes
sparse      entries that are not negligible: a narrow kernel, and a compact one (quartic) with few pairs within reach
low_rank    few factors and the near pairs (``kernels.low_rank``): a broad kernel, positive semidefinite (not quartic)
auto        up to 10,000 rows dense (compact ones sparse); beyond, sparse where few entries count, else low_rank where
            that is off by no more than 0.02, else dense
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.messages import complain
from sidelight.base.tiles import added, run_tiles, spans
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.graph import along_graph, joined_graph
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import Neighbours, nearest
from sidelight.neighbours.sparse_distances import nearest_known, reach

from .bandwidths import leave_one_out_bandwidth
from .low_rank import CHECKED, KernelError, LowRankKernel, low_rank_kernel, seen
from .matrices import SymmetricTiles, adaptive_kernel, compact_kernel, dense_kernel, within_reach
from .profiles import QUARTIC, Profile

__all__ = [
    "EXACT_ROWS",
    "MOST_STORED",
    "DataKernel",
    "fitting_kernel",
    "fixed_kernel",
    "likely_bandwidth",
    "perplexity_kernel",
]

Array = npt.NDArray[Any]
_FEW = 0.1  # share of pairs: above it an evaluation on stored pairs needs more memory than one on tiles
EXACT_ROWS = 10_000
"""Rows up to which every pair has its entry: below, tiles of pairs take less time than a hundred factors."""
MOST_STORED = 500
"""Entries of a row on average, at the most, of a kernel that is stored sparsely because it is narrow."""
_ERROR = 0.02  # of the row sums, that a kernel of low rank may be off by where nobody asked for it
_CUTS = tuple(10.0**-k for k in range(1, 13))  # entries below one of these are negligible
_LEFT_OUT = 1e-3  # of the row sums together, by leaving them out
_PAIRS = 20_000_000  # that the bandwidth is chosen on


@dataclass(frozen=True)
class DataKernel:
    """A kernel matrix, its bandwidth (one number, or (n,)); if adaptive, the neighbour lists (n, k) and the graph.

    If it stands for another matrix, ``error`` is how far it is from that.
    """

    matrix: SymmetricTiles | csr_array | LowRankKernel
    bandwidth: float | Array
    lists: Array | None = None
    graph: csr_array | None = None
    error: KernelError | None = None

    @property
    def pairs(self) -> SymmetricTiles | csr_array:
        """The matrix where it is one of pairs, as all but those of low rank are."""
        assert not isinstance(self.matrix, LowRankKernel)
        return self.matrix

    @property
    def form(self) -> str:
        """Dense, sparse, or low_rank."""
        if isinstance(self.matrix, LowRankKernel):
            return "low_rank"
        return "dense" if isinstance(self.matrix, SymmetricTiles) else "sparse"


def perplexity_kernel(
    points: Array,
    perplexity: float,
    n_neighbors: int | None,
    *,
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> DataKernel:
    """Rows of the given perplexity on the ``3 · perplexity`` nearest rows, along the graph of ``n_neighbors``."""
    n = len(points)
    k = min(n - 1, max(2, round(3 * perplexity)))
    width = max(k, n_neighbors or 0)
    found = nearest_known(points, k=width, own=True) if precomputed else nearest(points, k=width, n_jobs=n_jobs)
    straight = Neighbours(found.index[:, :k], found.distance[:, :k])
    graph, neighbours = None, straight
    if n_neighbors is not None:
        near = Neighbours(found.index[:, :n_neighbors], found.distance[:, :n_neighbors])
        graph = joined_graph(points, near, precomputed=precomputed)
        neighbours = along_graph(graph, k=k, start_radius=1.3 * reach(straight), n_jobs=n_jobs)
    matrix, bandwidth = adaptive_kernel(neighbours, perplexity)
    return DataKernel(matrix, bandwidth, neighbours.index, graph)


def fixed_kernel(
    points: Array,
    bandwidth: float | None,
    profile: Profile,
    *,
    form: str = "dense",
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> DataKernel:
    """One bandwidth for all pairs; ``None``: by leave-one-out, or for distances the square of their median.

    Distances are a matrix already, and their kernel is dense whatever the ``form``.
    """
    if precomputed:
        positive = points[points > 0]
        median = float(np.median(positive)) if len(positive) else 1.0
        h = median**2 if bandwidth is None else bandwidth
        values = profile.value(np.asarray(points, dtype=np.float64) ** 2 / h)
        return DataKernel(SymmetricTiles.from_dense(values), h)
    h = likely_bandwidth(points, profile) if bandwidth is None else bandwidth
    if form == "sparse":
        return _narrow_kernel(points, h, profile, _negligible(points, h, profile, n_jobs), n_jobs)
    if form == "low_rank":
        matrix, error = low_rank_kernel(points, h, profile, n_jobs=n_jobs)
        return DataKernel(matrix, h, error=error)
    return DataKernel(dense_kernel(points, h, profile, n_jobs=n_jobs), h)


def fitting_kernel(points: Array, h: float, profile: Profile, n_jobs: int | None = None) -> DataKernel | None:
    """The kernel in the form that "auto" stands for; None where that is dense."""
    if profile is QUARTIC:
        few = within_reach(points, h) < _FEW
        return DataKernel(compact_kernel(points, h, profile, n_jobs=n_jobs), h) if few else None
    if len(points) <= EXACT_ROWS:
        return None
    cut = _negligible(points, h, profile, n_jobs)
    if cut.stored <= MOST_STORED:
        return _narrow_kernel(points, h, profile, cut, n_jobs)
    matrix, error = low_rank_kernel(points, h, profile, n_jobs=n_jobs)
    return DataKernel(matrix, h, error=error) if error.row_sum <= _ERROR else None


def _narrow_kernel(points: Array, h: float, profile: Profile, cut: _Cut, n_jobs: int | None) -> DataKernel:
    """Without its negligible entries."""
    if cut.stored > MOST_STORED:
        rule = (
            f"leaves {cut.stored:.0f} entries of a row that count, and more than {MOST_STORED} are not stored sparsely"
        )
        remedy = "Use data_kernel='low_rank' or 'dense', or a narrower kernel"
        raise ValueError(complain("sparse data kernel", "bandwidth", h, rule, remedy))
    return DataKernel(compact_kernel(points, h, profile, least=cut.least, n_jobs=n_jobs), h, error=cut.error)


def likely_bandwidth(points: Array, profile: Profile) -> float:
    """By leave-one-out likelihood of at most 1,000 rows, spread evenly, among all."""
    n = len(points)
    centred = points - points.mean(axis=0)
    typical = 2.0 * float(np.einsum("ij,ij->", centred, centred)) / n
    rows = spread_rows(n, max(100, min(1000, _PAIRS // n)))
    return leave_one_out_bandwidth(points, profile, typical=typical or 1.0, rows=rows)


@dataclass(frozen=True)
class _Cut:
    """Entries below ``least`` are left out, ``stored`` of a row are left on average."""

    least: float
    stored: float
    error: KernelError


def _negligible(points: Array, h: float, profile: Profile, n_jobs: int | None) -> _Cut:
    """The largest cut that leaves out no more than a thousandth of the row sums, measured on some rows."""
    A = (points - points.mean(axis=0)) / np.sqrt(h)
    rows = spread_rows(len(A), CHECKED)

    def some(part: slice) -> tuple[Array, Array, Array]:
        K = profile.value(squared_distances(A[rows[part]], A))
        cubes = K * K * K
        lost = np.array([seen(np.where(least > K, K, 0.0), K, cubes) for least in _CUTS])
        return seen(K, K, cubes), lost, np.array([np.count_nonzero(least <= K) for least in _CUTS])

    made = run_tiles(some, spans(len(rows), 32), n_jobs)
    total = np.concatenate([part[0] for part in made], axis=1)
    lost = np.concatenate([part[1] for part in made], axis=2) / total
    stored = added([part[2] for part in made]) / len(rows)
    fine = [k for k in range(len(_CUTS)) if lost[k, 0].mean() <= _LEFT_OUT]
    k = fine[0] if fine else len(_CUTS) - 1
    return _Cut(_CUTS[k], float(stored[k]), KernelError.of(lost[k], _CUTS[k]))
