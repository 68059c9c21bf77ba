r"""How far rows that join a map differ from those it has: in the data, on the map, and in how many are novel.

.. math::

    \text{shift} = |\bar x_{new} - \bar x| / s, \qquad s^2 = \tfrac1n \sum_i |x_i - \bar x|^2

By chance alone (m new rows, drawn like the n rows of the map) the squared shift is 1/m + 1/n on average, its root is
``expected_shift``. Of novel rows a share of the false-alarm rate is expected; ``novel_by_chance`` is the probability of
as many or more of them by false alarms alone, P(X ≥ c) of a binomial X.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binom

from sidelight.base.types import Array, NamedValues

__all__ = ["drift_of"]


def drift_of(
    version: int, points: tuple[Array, Array], places: tuple[Array, Array], flagged: Array, false_alarm: float
) -> NamedValues:
    """The record of one extension.

    Parameters
    ----------
    version : int
        Number of the extension among all changes of the map.
    points, places : pairs of arrays
        Of the rows of the map before, and of the new ones: (n, d) and (m, d); (n, q) and (m, q).
    flagged : array of bool, of shape (m,)
        Which of the new rows are novel.
    false_alarm : float
        Share of rows like those of the map that are called novel.
    """
    n, m, count = len(points[0]), len(flagged), int(flagged.sum())
    return {
        "version": version,
        "rows": m,
        "novel": count,
        "novel_share": count / m,
        "false_alarm": float(false_alarm),
        "novel_by_chance": float(binom.sf(count - 1, m, false_alarm)),
        "shift": _shift(*points),
        "map_shift": _shift(*places),
        "expected_shift": float(np.sqrt(1 / m + 1 / n)),
    }


def _shift(before: Array, new: Array) -> float:
    """Distance of the means in units of the spread of the rows before; 0 where these are all equal."""
    mean = before.mean(axis=0, dtype=np.float64)
    spread = float(np.sqrt(np.square(before - mean).sum(axis=1).mean()))
    apart = float(np.linalg.norm(new.mean(axis=0, dtype=np.float64) - mean))
    return apart / spread if spread > 0 else 0.0
