"""Whether matched rows of two groups still differ: over all of them, and *locally*, where kinds of rows may disagree.

With the differences δ_m (r,) of matched rows, m = 1 .. M, of one pair of groups,

    overall   z² = M mean(δ)² / var(δ)                                         mean over columns
    local     z² = mean_m  k mean_near(m)(δ)² / var(δ)                         mean over columns

where near(m) are the k = 40 matches whose middles are nearest to that of m, itself among them. Without an effect both
are 1 to 2 (not 1, because a row is in several matches). Offsets that are wrong by what groups differ in their *shares*
of kinds move every kind by the same vector: some kinds onto others and these away, so that differences cancel in the
overall mean and not in the local one.
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array
from sidelight.neighbours.search import nearest

__all__ = ["FEWEST", "local_differences", "overall_differences"]

FEWEST = 20
"""Matches of two groups from which on their differences say anything."""
_NEAR = 40


def overall_differences(apart: Array, links: Array) -> list[float]:
    """Overall z² of the differences (m, r) of matched rows, of each of ``links`` (m,) with twenty or more."""
    found = []
    for link in np.unique(links):
        these = apart[links == link]
        spread = these.var(axis=0)
        told = spread > 0
        if len(these) >= FEWEST and told.any():
            found.append(float(np.mean(len(these) * these.mean(axis=0)[told] ** 2 / spread[told])))
    return found


def local_differences(first: Array, second: Array, links: Array, n_jobs: int | None = None) -> tuple[float, int]:
    """Local z² of matched rows ``first`` and ``second`` (m, r), mean over ``links`` by matches; and how many.

    Infinity and 0 where no link has twenty matches.
    """
    total, count = 0.0, 0
    for link in np.unique(links):
        these = links == link
        apart, middle = first[these] - second[these], first[these] + second[these]
        spread = apart.var(axis=0)
        told = spread > 0
        if len(apart) < FEWEST or not told.any():
            continue
        index = nearest(middle, k=min(_NEAR, len(middle)) - 1, n_jobs=n_jobs).index
        mean = (apart + apart[index].sum(axis=1)) / (index.shape[1] + 1)
        value = (index.shape[1] + 1) * np.mean(mean[:, told] ** 2 / spread[told])
        total, count = total + len(apart) * float(value), count + len(apart)
    return (total / count if count else np.inf), count
