"""Regions for novel types of rows: which new rows form them, and where the map has free space.

A new row belongs to a kind of its own if most of the weight of its neighbours is on other new rows, more than midway
between what chance gives (their share m / N of all rows) and all of it. Linked rows of this sort are a group, and a
group of at least ``least`` rows has a region if the density flags far more of them as novel than its false alarms
explain: with a false-alarm rate a, c flagged of s rows, and X binomial with s trials of probability a,

    P(X ≥ c) < ``_CHANCE``    and    c ≥ ``_TIMES`` a s

(Of pictures of a digit that was not in the fit a quarter is flagged at a = 0.01, 8,000 others: decision 0043.)

The region is the nearest free disc to where the rows would be placed otherwise, large enough for as many rows as the
map has on such an area, and their leading principal components are their starts in it.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree
from scipy.stats import binom

from sidelight.base.types import Array, SparseMatrix

__all__ = ["own_regions", "region_starts"]

_CHANCE = 1e-6  # so many false alarms together happen less often than this
_TIMES = 10.0  # the false-alarm rate; with fewer, the edge of a known kind would count as a new one
_NEAR = 10  # neighbours on the map by which its density is measured
_GAP = 3.0  # distances of that neighbour, and widths of the latent kernel, between a region and all other rows
_SAMPLED = 2000  # rows of the map by which it is measured
_DIRECTIONS = 64  # in which a free disc is looked for


def own_regions(K: SparseMatrix, new: Array, flagged: Array, false_alarm: float, least: int) -> Array:
    """The region (N,) of each row, numbered from 1; 0 for rows that have none.

    Parameters
    ----------
    K : sparse array of shape (N, N)
        Symmetric data kernel of all rows.
    new, flagged : arrays of bool, of shape (N,)
        Rows without a place, and rows that the density calls novel.
    false_alarm : float
        Its rate of false alarms.
    least : int
        Rows of a region.
    """
    region = np.zeros(len(new), dtype=np.int64)
    rows = np.flatnonzero(new)
    mine = csr_array(K[rows])
    share = (mine @ new.astype(np.float64)) / np.maximum(np.asarray(mine.sum(axis=1)).ravel(), 1e-300)
    apart = rows[share >= 0.5 * (1.0 + new.mean())]
    if len(apart) < least:
        return region
    _, group = connected_components(csr_array(K[apart][:, apart]), directed=False)
    number = 0
    for members in (apart[group == g] for g in np.flatnonzero(np.bincount(group) >= least)):
        count, size = int(flagged[members].sum()), len(members)
        enough = count >= min(_TIMES * false_alarm, 0.5) * size
        if enough and binom.sf(count - 1, size, false_alarm) < _CHANCE:
            number += 1
            region[members] = number
    return region


def region_starts(points: Array, places: Array, map_places: Array) -> Array:
    """Starts (m, q) of the rows of a new region: in free space, as near as there is some to their ``places``.

    Parameters
    ----------
    points : array of shape (m, d)
        The rows.
    places : array of shape (m, q)
        Where they would be placed otherwise.
    map_places : array of shape (n, q)
        All other latent points.
    """
    m, q = places.shape
    tree = cKDTree(map_places)
    some = map_places[:: max(1, len(map_places) // _SAMPLED)]
    spacing = float(np.median(np.reshape(tree.query(some, k=min(_NEAR + 1, tree.n))[0], (len(some), -1))[:, -1]))
    radius = max(spacing, 1e-9) * (m / _NEAR) ** (1.0 / q)
    needed = radius + _GAP * max(spacing, 1.0)
    directions = np.random.default_rng(0).standard_normal((_DIRECTIONS, q))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    centre, reach = np.median(places, axis=0), 0.0
    while True:
        tried = centre + reach * directions
        clear = np.asarray(tree.query(tried)[0])
        if clear.max() >= needed:
            break
        reach += 0.5 * radius + 1.0
    return np.asarray(tried[clear.argmax()] + radius * _principal(points, q))


def _principal(points: Array, q: int) -> Array:
    """Leading principal components (m, q) of rows, with a root mean square length of 1/√2, as a full disc has."""
    centred = np.asarray(points, dtype=np.float64) - points.mean(axis=0)
    if len(centred) < centred.shape[1]:
        values, vectors = np.linalg.eigh(centred @ centred.T)
        scores = vectors[:, ::-1][:, :q] * np.sqrt(np.maximum(values[::-1][:q], 0.0))
    else:
        scores = centred @ np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :q]
    scores = np.pad(scores, ((0, 0), (0, q - scores.shape[1])))
    size = float(np.sqrt((scores**2).sum(axis=1).mean()))
    return scores * (np.sqrt(0.5) / size if size > 0 else 0.0)
