"""The column that the map is coloured by when a report opens: the one that says most about the map.

Every column has a score between 0 (chance) and 1, times the share of rows that have an entry:

    categories    (h - c) / (1 - c)      h: share of the 10 nearest rows with the same category, c = Σ p_k²: chance
    numbers       R² of the mean of the 10 nearest rows

Columns are asked in groups, and the first group with a score of at least 0.1 gives its best: columns of 2 to 12
categories that the user named, numbers that the user named, such categories among the features, numbers among the
features. Without any such score: the first column that is a number or has 2 to 12 categories, or the first column.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from sidelight.plot._colouring import Categories, Numbers
from sidelight.plot._plane import Floats

from ._columns import Column

__all__ = ["colour_score", "opening_colour"]

NEIGHBOURS = 10
MOST_ROWS = 2000
"""Rows, evenly spaced, that a score is measured on."""
FEWEST, MOST = 2, 12
"""Categories of a column that the eye can tell apart."""
LEAST_SCORE = 0.1
FEWEST_ROWS = 4


def opening_colour(columns: Sequence[Column], n_named: int, Z: Floats) -> int:
    """Return the number of the column to colour the rows at ``Z`` (n, q) by; the first ``n_named`` are the user's.

    -1 without columns.
    """
    readable = [k for k, column in enumerate(columns) if _is_readable(column)]
    groups: list[list[int]] = [[], [], [], []]
    for k in readable:
        groups[2 * (k >= n_named) + isinstance(columns[k], Numbers)].append(k)
    for group in groups:
        scores = [round(colour_score(columns[k], Z), 2) for k in group]
        if scores and max(scores) >= LEAST_SCORE:
            return group[int(np.argmax(scores))]
    return readable[0] if readable else min(0, len(columns) - 1)


def colour_score(column: Column, Z: Floats) -> float:
    """Return how well neighbours on the map tell a column: 1 perfectly, 0 no better than chance."""
    values = column.codes.astype(np.float64) if isinstance(column, Categories) else column.values
    known = values >= 0 if isinstance(column, Categories) else np.isfinite(values)
    rows = np.flatnonzero(known)
    if len(rows) < FEWEST_ROWS:
        return 0.0
    some = rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), MOST_ROWS)).astype(np.intp))]
    near = values[some][_neighbours(Z[some])]
    if isinstance(column, Categories):
        found = _above_chance(near, values[some])
    else:
        found = _explained(near, values[some], column.period)
    return max(0.0, found) * float(known.mean())


def _is_readable(column: Column) -> bool:
    return isinstance(column, Numbers) or FEWEST <= column.n_categories <= MOST


def _neighbours(Z: Floats) -> NDArray[np.intp]:
    """Numbers of the nearest other rows, (n, k)."""
    count = min(NEIGHBOURS, (len(Z) - 1) // 2) or 1
    found: NDArray[np.intp] = np.asarray(cKDTree(Z).query(Z, k=count + 1)[1])
    own = found == np.arange(len(Z))[:, None]
    own[~own.any(axis=1), -1] = True  # more equal places than neighbours: any one of them stands for the row
    others: NDArray[np.intp] = found[~own].reshape(len(Z), count)
    return others


def _above_chance(near: Floats, own: Floats) -> float:
    shares = np.unique(own, return_counts=True)[1] / len(own)
    chance = float(np.square(shares).sum())
    hit = float((near == own[:, None]).mean())
    return (hit - chance) / (1.0 - chance) if chance < 1.0 else 0.0


def _explained(near: Floats, own: Floats, period: float | None) -> float:
    """R² of the neighbours' mean; of periodic values, on the circle."""
    if period is not None:
        near, own = (np.exp(2j * np.pi * values / period) for values in (near, own))
    spread = float(np.square(np.abs(own - own.mean())).sum())
    return 1.0 - float(np.square(np.abs(own - near.mean(axis=1))).sum()) / spread if spread > 0.0 else 0.0
