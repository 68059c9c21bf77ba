r"""Choose the weight of the prior of a metric from pairs, by held-out pairs; the Euclidean metric if none helps.

The rows of the pairs are cut into ten parts. Without the pairs of a part, a metric is learned with each weight w; under
it, the rows of the part are compared with their partners:

    v_i(w) = mean over the partners j of row i of √rank_w(i, j)

where the rank is the share of all rows that are nearer to i than j is (for different pairs: that are farther). The gain
over the Euclidean metric, v_i(∞) - v_i(w), has a mean m and a standard error s over the rows, for same and for
different pairs; each kind counts a half, if both are there. Of the weights whose lower bound m - t s is above 0, the
one with the largest mean is taken, t the quantile 0.85 of Student's distribution; if there is none, the metric stays
Euclidean (w = ∞). Pairs that share rows are not independent: s and t count the independent differences
(``Scatter.n_free``), not the pairs. With a rank r, all this is for the r widest directions, and ∞ is PCA.

The metric is that of same pairs alone (``PairStatistics.within_factors``). It is the safe one: few pairs change few
directions, so that a low level is enough. Without same pairs it is that of different pairs (``PairStatistics.factor``),
which is noisier: there the largest lower bound is taken, with the quantile 0.975 (decision 0030).
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

__all__ = ["ChosenPrior", "chosen_prior"]


_WITHIN = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1)  # weights of the prior of same pairs, strongest first
_GENERALISED = (300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3)  # the same, times the number of coordinates (at most 30)
_PARTS = 10
_LEAST = 3  # independent differences of a kind: with fewer, they are not held out
_COORDINATES = 64  # leading ones, on which weights are compared
_ROWS, _PARTNERS, _OTHERS = 300, 50, 500  # compared rows, partners of each, and rows to rank them among
_SURE = {"within": 0.85, "generalised": 0.975}  # how sure a weight must be better than the Euclidean metric
_ROUNDING = 1e-9  # distances that differ by less are ties; a gain that is larger by less is not larger


@dataclass(frozen=True)
class ChosenPrior:
    """Form of the metric, "within" or "generalised", and weight of its prior, in pairs; ``inf``: Euclidean."""

    form: str
    weight: float


def chosen_prior(same: Scatter, different: Scatter, T: Array, r: int | None, form: str = "auto") -> ChosenPrior:
    """The weight of the prior, and the form of the metric.

    Parameters
    ----------
    same, different : Scatter
        Of the pairs of each kind.
    T : array of shape (n, p)
        Coordinates in which the data has diagonal scatter, widest first.
    r : int or None
        Rank of the metric; None: full.
    form : "auto", "within" or "generalised"
        "auto": "within" if there are same pairs. The generalised form is compared on same pairs, or on different ones
        where fewer than three same pairs are independent.
    """
    if form == "auto":
        form = "within" if same.n_free else "generalised"
    T = T[:, :_COORDINATES]
    kinds = [(kind, kind is different) for kind in (same, different) if kind.n_free >= _LEAST]
    if form == "generalised":
        kinds = kinds[:1]
    if not kinds or not T.shape[1]:
        return ChosenPrior(form, np.inf)
    weights = np.array(_WITHIN if form == "within" else usual_weight(T.shape[1]) * np.array(_GENERALISED))
    gains = [
        _gains(_Judge.of(kind, T, farther=farther), (same, different), weights, r, form) for kind, farther in kinds
    ]
    return ChosenPrior(form, _best_weight(weights, gains, [kind.n_free for kind, _ in kinds], form))


def _gains(judge: _Judge, scatters: tuple[Scatter, Scatter], weights: Array, r: int | None, form: str) -> Array:
    """Gains (weights, rows) over the Euclidean metric, of metrics from the pairs of other rows."""
    T, gains = judge.T, np.zeros((len(weights), len(judge.rows)))
    for k in range(min(_PARTS, len(judge.rows))):
        part = np.arange(k, len(judge.rows), _PARTS)
        same, different = (scatter.without(judge.rows[part]) for scatter in scatters)
        known = PairStatistics.of(same, different, T)
        plain = judge.values(np.eye(T.shape[1])[:, :r], part)
        if form == "within":
            factors = known.within_factors(weights.tolist())
        else:
            factors = [known.factor(weight) for weight in weights.tolist()]
        for w, B in enumerate(factors):
            gains[w, part] = plain - judge.values(B if r is None else principal_factor(T, B, r), part)
    return gains


def _best_weight(weights: Array, gains: list[Array], n_free: list[int], form: str) -> float:
    """The best weight of those whose lower bound is above 0, by ``gains`` (weights, rows) of each kind; or ``inf``."""
    counts = [min(found.shape[1], free) for found, free in zip(gains, n_free, strict=True)]
    mean = np.mean([found.mean(axis=1) for found in gains], axis=0)
    squares = [found.var(axis=1, ddof=1) / count for found, count in zip(gains, counts, strict=True)]
    bound = mean - student.ppf(_SURE[form], sum(counts) - 1) * np.sqrt(np.sum(squares, axis=0)) / len(gains)
    best, chosen = 0.0, np.inf
    for weight, low, value in zip(weights, bound, mean if form == "within" else bound, strict=True):
        if low > _ROUNDING and value > best + _ROUNDING:
            best, chosen = float(value), float(weight)
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
