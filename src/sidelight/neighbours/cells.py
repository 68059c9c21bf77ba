"""Partition of the rows into cells of about equal size (k-means), numbered so that nearby cells have nearby numbers.

    minimise Σ_i |x_i - μ_c(i)|²        Lloyd's iterations on a sample of rows, then every row to its nearest mean

A cell far above the intended size (many duplicates, a cluster the sample missed) is split along its leading principal
direction. Otherwise the means stay those of the sample, so that a single outlier moves none. The result depends on the
rows and the seed only; threads work on fixed tiles.
Cost: O(n c r) for c cells and r columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array

__all__ = ["Cells", "cell_size", "cells_of"]


_SIZE = 128
_SAMPLE = 32  # rows of the sample for each cell
_ITERATIONS = 6
_LARGEST = 3  # times the intended size
_TILE = 2048


@dataclass(frozen=True)
class Cells:
    """A partition of n rows into c cells.

    Parameters
    ----------
    order : array of shape (n,)
        Row numbers, cell by cell: cell j is ``order[start[j] : start[j + 1]]``.
    start : array of shape (c + 1,)
    means : array of shape (c, r)
    """

    order: Array
    start: Array
    means: Array

    @property
    def sizes(self) -> Array:
        """Rows of each cell (c,)."""
        return np.diff(self.start)


def cell_size(n: int) -> int:
    """Rows of a cell: √n / 4, where building the cells costs as much as searching them, and at least 128."""
    return max(_SIZE, int(np.sqrt(n) / 4))


def cells_of(P: Array, *, size: int, seed: int = 0, n_jobs: int | None = None) -> Cells:
    """Partition rows into cells of about equal size.

    Parameters
    ----------
    P : array of shape (n, r)
        In float32.
    size : int
        Intended number of rows of a cell.
    seed : int
        Of the sample and its initial means.
    n_jobs : int or None
        Threads; the result does not depend on it.

    Returns
    -------
    Cells

    Notes
    -----
    O(n c r) for c cells.
    """
    rng = np.random.default_rng(seed)
    means = _means(P, max(1, len(P) // size), rng, n_jobs)
    label, means = _cut(P, _nearest_mean(P, means, n_jobs), means, size)
    rank = _numbering(means, rng, n_jobs)
    label = rank[label]
    start = np.r_[0, np.cumsum(np.bincount(label, minlength=len(means)))]
    return Cells(np.argsort(label, kind="stable"), start, means[np.argsort(rank)])


def _means(P: Array, count: int, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """Cluster centres by Lloyd's iterations on a sample, without empty clusters."""
    sample = P[np.sort(rng.choice(len(P), min(len(P), _SAMPLE * count), replace=False))]
    means = sample[rng.choice(len(sample), count, replace=False)]
    for _ in range(_ITERATIONS):
        means = _averages(sample, _nearest_mean(sample, means, n_jobs))
    return means


def _nearest_mean(P: Array, means: Array, n_jobs: int | None) -> Array:
    """The mean nearest to each row (n,)."""
    half = 0.5 * np.einsum("ij,ij->i", means, means)
    parts = run_tiles(lambda rows: np.argmin(half - P[rows] @ means.T, axis=1), spans(len(P), _TILE), n_jobs)
    return np.concatenate(parts)


def _averages(P: Array, label: Array) -> Array:
    """The mean row of each label that occurs, in the order of the labels."""
    _, label = np.unique(label, return_inverse=True)
    count = np.bincount(label)
    members = csr_array((np.ones(len(P), P.dtype), (label, np.arange(len(P)))), shape=(len(count), len(P)))
    return np.asarray((members @ P) / count[:, None].astype(P.dtype))


def _cut(P: Array, label: Array, means: Array, size: int) -> tuple[Array, Array]:
    """Labels and means without empty cells; cells above three times ``size`` are split into pieces of that size."""
    used, label, count = np.unique(label, return_inverse=True, return_counts=True)
    label, pieces = label.copy(), [means[used]]
    for cell in np.flatnonzero(count > _LARGEST * size):
        rows = np.flatnonzero(label == cell)
        rows = rows[np.argsort(_longest_direction(P[rows]), kind="stable")]
        for piece in np.array_split(rows, len(rows) // size)[1:]:
            label[piece] = sum(map(len, pieces))
            pieces.append(P[piece].mean(axis=0, keepdims=True))
        pieces[0][cell] = P[label == cell].mean(axis=0)
    return label, np.concatenate(pieces)


def _longest_direction(P: Array) -> Array:
    """Projections (n,) on the leading principal direction, by four power iterations from the outermost row."""
    A = P - P.mean(axis=0)
    along = A[np.argmax(np.einsum("ij,ij->i", A, A))]
    for _ in range(4):
        along = A.T @ (A @ along)
        along = along / max(float(np.linalg.norm(along)), np.finfo(P.dtype).tiny)
    return np.asarray(A @ along)


def _numbering(means: Array, rng: np.random.Generator, n_jobs: int | None) -> Array:
    """New numbers of the cells: the cells are clustered into about √c groups, and a group has consecutive numbers."""
    groups = _means(means, max(1, int(np.sqrt(len(means)))), rng, n_jobs)
    group = _nearest_mean(means, groups[np.argsort(_longest_direction(groups), kind="stable")], n_jobs)
    rank = np.empty(len(means), dtype=np.int64)
    rank[np.argsort(group, kind="stable")] = np.arange(len(means))
    return rank
