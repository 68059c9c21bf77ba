"""Jacobian of the Nyström extension of ``maps.nystrom``, in closed form.

    v(x) = t / b,    t = (1-α) s m(x)·v + (α/2) Σ_j w_j v_j,    b = μ + (α/2) r(x),    J = (∂t - v ∂bᵀ) / b

    Euclidean   m(x)·v = (x - offset) G                        ∂ = Gᵀ
    geodesic    m(x)·v = -½ (ρ² - offset) G,  ρ_l = min_c (path_lc + |x - x_c|):   ∂ρ_l = (x - x_c) / |x - x_c|
    Laplacian   w_j = exp(-|x - x_j|² / heat): ∂w_j = -2 w_j (x - x_j) / heat;   w_j = 1 without heat: ∂w_j = 0

    LLE         w reconstructs x from its nearest rows (``objectives.spectral.reconstruction_slopes``), Σ w = 1: ∂b = 0

over the nearest row of x and its neighbours c in the graph. v jumps where another row becomes the nearest (of LLE: one
of the nearest), and has kinks where a path begins at another neighbour; there J is the derivative on one side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import run_tiles, spans
from sidelight.neighbours.search import distances_to_listed, nearest
from sidelight.objectives.spectral import reconstruction_slopes

from .nystrom import NystromMap
from .weights import list_weighted_mean

__all__ = ["nystrom_jacobian"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000  # numbers in the temporaries of one tile
_TIED = 1e-10


def nystrom_jacobian(mapped: NystromMap, Q: Array, n_jobs: int | None) -> Array:
    """Jacobians (m, q, d) of a Nyström map at rows (m, d)."""
    k, d, q = max(mapped.lists.shape[1] + 1, mapped.n_neighbors or 0), mapped.points.shape[1], mapped.vectors.shape[1]
    wide = max(len(mapped.points), k * d, q * d, k * len(mapped.paths), 1)
    parts = run_tiles(lambda rows: _one(mapped, Q[rows]), spans(len(Q), max(1, min(512, _BUDGET // wide))), n_jobs)
    return np.concatenate(parts)


def _one(mapped: NystromMap, Q: Array) -> Array:
    anchor = nearest(mapped.points, Q, k=1, n_jobs=1).index
    listed = mapped.lists[anchor[:, 0]]
    there = np.column_stack([np.ones(len(Q), dtype=bool), listed >= 0])
    index = np.column_stack([anchor, np.where(listed >= 0, listed, anchor)])
    distance = distances_to_listed(Q, mapped.points, index)
    if mapped.locality == "lle":
        return _by_reconstruction(mapped, Q, index, there, distance)
    W = np.where(there, np.exp(-(distance**2) / mapped.heat) if mapped.heat else 1.0, 0.0)
    below = mapped.values + mapped.pull * W.sum(axis=1, keepdims=True)
    fine = below > 1e-9 * np.abs(mapped.values).max(initial=1e-300)
    below = np.where(fine, below, 1.0)
    top = _of_distances(mapped, Q, index, np.where(there, distance, np.inf))
    v = (top[1] + mapped.pull * list_weighted_mean(W, mapped.vectors, index)) / below
    J = top[0]
    if mapped.heat:
        moves = (-2.0 / mapped.heat) * W  # ∂w_j = moves_j (x - x_j)
        C = mapped.pull * moves[:, :, None] * (mapped.vectors[index] - v[:, None, :])
        J = J + C.sum(axis=1)[:, :, None] * Q[:, None] - np.einsum("mkq,mkd->mqd", C, mapped.points[index])
    return np.asarray(np.where(fine[:, :, None], J / below[:, :, None], 0.0) * mapped.scale[:, None])


def _by_reconstruction(mapped: NystromMap, Q: Array, index: Array, there: Array, distance: Array) -> Array:
    """The same where rows are placed by the weights that reconstruct them."""
    listed = np.where(there, index, -1)
    if mapped.n_neighbors:
        listed = nearest(mapped.points, Q, k=mapped.n_neighbors, n_jobs=1).index
    below = mapped.values + mapped.pull
    fine = below > 1e-9 * np.abs(mapped.values).max(initial=1e-300)
    J, _ = _of_distances(mapped, Q, index, np.where(there, distance, np.inf))
    J = J + mapped.pull * reconstruction_slopes(mapped.points, listed, Q, mapped.vectors)
    return np.asarray(np.where(fine, 1.0 / np.where(fine, below, 1.0), 0.0)[:, None] * J * mapped.scale[:, None])


def _of_distances(mapped: NystromMap, Q: Array, index: Array, distance: Array) -> tuple[Array, Array]:
    """Jacobians (m, q, d) of ``(1-α) s m(x)·v``, and its values (m, q)."""
    if not len(mapped.paths):
        return np.repeat(mapped.gain.T[None], len(Q), axis=0), (Q - mapped.offset) @ mapped.gain
    whole = mapped.paths[:, index] + distance  # (L, m, k)
    reach = whole.min(axis=2).T  # (m, L)
    # at a training row paths through it tie with those past it, which are no longer on any side: these have the slope
    whole[:, :, 0] *= 1.0 + _TIED
    begins = whole.argmin(axis=2).T
    values = -0.5 * (reach**2 - mapped.offset) @ mapped.gain - mapped.constant
    k, q = index.shape[1], mapped.gain.shape[1]
    C = np.zeros((len(Q), k, q))
    for c in range(k):
        C[:, c] = np.where(begins == c, -reach, 0.0) @ mapped.gain
    C = np.divide(C, distance[:, :, None], out=np.zeros_like(C), where=(distance > 0)[:, :, None])
    J = C.sum(axis=1)[:, :, None] * Q[:, None] - np.einsum("mkq,mkd->mqd", C, mapped.points[index])
    return np.asarray(J), np.asarray(values)
