r"""Which boxes can stand on a map without overlap.

Places are taken farthest first: with cells of width w and height h and the distance
:math:`D(a, b) = \max(|a_1 - b_1| / w, |a_2 - b_2| / h)`, two boxes overlap exactly when D < 1, so the
row farthest from all taken rows is taken next until that distance falls below one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._plane import Floats

__all__ = ["place_apart"]


def place_apart(places: Floats, width: float, height: float, n: int) -> NDArray[np.intp]:
    """Return at most ``n`` rows of ``places`` (m, 2) whose boxes of ``width`` × ``height`` do not overlap.

    Examples
    --------
    >>> place_apart(np.array([[0.0, 0.0], [0.4, 0.0], [1.0, 0.0]]), 1.0, 1.0, 5).tolist()
    [0, 2]
    """
    scaled = places / np.array([width, height])
    nearest = np.full(len(scaled), np.inf)
    chosen: list[int] = []
    while len(chosen) < min(n, len(scaled)):
        row = int(np.argmax(nearest))
        if nearest[row] < 1.0:
            break
        chosen.append(row)
        nearest = np.minimum(nearest, np.abs(scaled - scaled[row]).max(axis=1))
    return np.array(chosen, dtype=np.intp)
