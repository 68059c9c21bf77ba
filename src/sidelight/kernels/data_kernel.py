"""The kernel matrix of a data set, by any of the bandwidth rules, with what the maps need of it.

perplexity  sparse and adaptive, along the neighbour graph (or in straight lines without one): the default
loo         dense, one bandwidth, chosen by leave-one-out likelihood
a number    dense, that bandwidth
The last two are sparse where the profile is compact (quartic) and few pairs are within reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from .bandwidths import leave_one_out_bandwidth
from .graph import along_graph, joined_graph
from .matrices import SymmetricTiles, adaptive_kernel, compact_kernel, dense_kernel, within_reach
from .neighbours import Neighbours, nearest
from .profiles import QUARTIC, Profile
from .sparse_distances import nearest_known, reach

__all__ = ["DataKernel", "fixed_kernel", "perplexity_kernel"]

Array = npt.NDArray[Any]
_FEW = 0.1  # share of pairs: above it an evaluation on stored pairs needs more memory than one on tiles


@dataclass(frozen=True)
class DataKernel:
    """A kernel matrix, its bandwidth (one number, or (n,)); if adaptive, the neighbour lists (n, k) and the graph."""

    matrix: SymmetricTiles | csr_array
    bandwidth: float | Array
    lists: Array | None = None
    graph: csr_array | None = None


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
    precomputed: bool = False,
    n_jobs: int | None = None,
) -> DataKernel:
    """One bandwidth for all pairs; ``None``: by leave-one-out, or for distances the square of their median."""
    if precomputed:
        positive = points[points > 0]
        median = float(np.median(positive)) if len(positive) else 1.0
        h = median**2 if bandwidth is None else bandwidth
        values = profile.value(np.asarray(points, dtype=np.float64) ** 2 / h)
        return DataKernel(SymmetricTiles.from_dense(values), h)
    if bandwidth is None:
        centred = points - points.mean(axis=0)
        typical = 2.0 * float(np.einsum("ij,ij->", centred, centred)) / len(points)
        rows = np.unique(np.linspace(0, len(points) - 1, min(1000, len(points))).astype(np.int64))
        bandwidth = leave_one_out_bandwidth(points, profile, typical=typical or 1.0, rows=rows)
    few = profile is QUARTIC and within_reach(points, bandwidth) < _FEW
    matrix: SymmetricTiles | csr_array = (compact_kernel if few else dense_kernel)(
        points, bandwidth, profile, n_jobs=n_jobs
    )
    return DataKernel(matrix, bandwidth)
