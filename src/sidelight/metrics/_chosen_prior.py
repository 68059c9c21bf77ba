r"""Choose the weight of the prior of a metric from pairs, by held-out pairs; the Euclidean metric if none helps.

The rows of the pairs are cut into ten parts. Without the pairs of a part, a metric is learned with each weight w; under
it, the rows of the part are compared with their partners:

    v_i(w) = mean over the partners j of row i of √rank_w(i, j)

where the rank is the share of all rows that are nearer to i than j is (for different pairs: that are farther). The gain
over the Euclidean metric, v_i(∞) - v_i(w), has a mean m and a standard error s over the rows. Of the weights, the one
with the largest lower bound m - t s is taken, t a quantile of Student's distribution; if none is above 0, the Euclidean
metric stays as it is (w = ∞). Pairs that share rows are not independent: s and t count the independent differences
(``Scatter.n_free``), not the pairs. With a rank r, all this is for the r widest directions, and ∞ is PCA (decision
0030).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from sidelight.base.types import Array
from sidelight.maps.hinted import PairStatistics, usual_weight
from sidelight.neighbours.distances import squared_distances
from sidelight.objectives.scatter import Scatter
from sidelight.solvers.generalised import principal_factor

__all__ = ["chosen_weight"]


_WEIGHTS = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # times the number of coordinates (at most 30), strongest first
_PARTS = 10
_LEAST = 3  # independent differences: with fewer, nothing is held out and the metric stays Euclidean
_COORDINATES = 64  # leading ones, on which weights are compared
_ROWS, _PARTNERS, _OTHERS = 300, 50, 500  # compared rows, partners of each, and rows to rank them among
_SURE = 0.975  # how sure a weight must be better than the Euclidean metric
_ROUNDING = 1e-9  # distances that differ by less are ties; a gain that is larger by less is not larger


def chosen_weight(same: Scatter, different: Scatter, T: Array, r: int | None) -> float:
    """The weight of the prior, in pairs; ``inf``: the Euclidean metric.

    Parameters
    ----------
    same, different : Scatter
        Of the pairs of each kind. Weights are compared on same pairs, or on different ones where fewer than three
        same pairs are independent.
    T : array of shape (n, p)
        Coordinates in which the data has diagonal scatter, widest first.
    r : int or None
        Rank of the metric; None: full.
    """
    kind = same if same.n_free >= _LEAST else different
    if kind.n_free < _LEAST or not T.shape[1]:
        return np.inf
    T = T[:, :_COORDINATES]
    judge = _Judge.of(kind, T, farther=kind is different)
    weights = usual_weight(T.shape[1]) * np.array(_WEIGHTS)
    gains = np.zeros((len(weights), len(judge.rows)))
    for k in range(min(_PARTS, len(judge.rows))):
        part = np.arange(k, len(judge.rows), _PARTS)
        rows = judge.rows[part]
        known = PairStatistics.of(same.without(rows), different.without(rows), T)
        plain = judge.values(np.eye(T.shape[1])[:, :r], part)
        for w, weight in enumerate(weights):
            B = known.factor(float(weight))
            gains[w, part] = plain - judge.values(B if r is None else principal_factor(T, B, r), part)
    return _best_weight(weights, gains, kind.n_free)


def _best_weight(weights: Array, gains: Array, n_free: int) -> float:
    """The weight with the largest lower bound of its mean gain (weights, rows); ``inf`` if none is above 0."""
    count = min(gains.shape[1], n_free)
    errors = gains.std(axis=1, ddof=1) / np.sqrt(count)
    best, chosen = 0.0, np.inf
    for weight, bound in zip(weights, gains.mean(axis=1) - student.ppf(_SURE, count - 1) * errors, strict=True):
        if bound > best + _ROUNDING:
            best, chosen = float(bound), float(weight)
    return chosen


@dataclass(frozen=True)
class _Judge:
    """Ranks the partners of some rows among other rows of T (n, p)."""

    T: Array
    rows: Array
    partners: list[Array]
    others: Array
    farther: bool

    @classmethod
    def of(cls, kind: Scatter, T: Array, *, farther: bool) -> _Judge:
        numbers = np.random.default_rng(0)  # fixed: the choice is the same for every seed
        rows = numbers.permutation(kind.rows())[:_ROWS]
        partners = [_evenly(kind.partners(int(row)), _PARTNERS) for row in rows]
        return cls(T, rows, partners, numbers.permutation(len(T))[:_OTHERS], farther)

    def values(self, B: Array, part: Array) -> Array:
        """``v_i`` of some of the rows, by their places in ``rows``, under the metric BBᵀ."""
        own, others = self.T[self.rows[part]] @ B, self.T[self.others] @ B
        usual = np.sort(squared_distances(own, others), axis=1)
        found = []
        for i, row in enumerate(part):
            gaps = self.T[self.partners[row]] @ B - own[i]
            squares = np.einsum("jr,jr->j", gaps, gaps)
            sides = [np.searchsorted(usual[i], squares * (1.0 + slack)) for slack in (-_ROUNDING, _ROUNDING)]
            share = (0.5 * (sides[0] + sides[1]) + 0.5) / (usual.shape[1] + 1)
            found.append(float(np.sqrt(1.0 - share if self.farther else share).mean()))
        return np.array(found)


def _evenly(rows: Array, most: int) -> Array:
    """At most so many of the rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return np.asarray(rows[np.linspace(0, len(rows) - 1, most).astype(np.int64)])
