"""Categories as weighted indicators, which together have variance 1, and ordered categories as one number.

    z_k = w (1[x = k] - p_k),     w = 1 / sqrt(1 - Σ_k p_k²),     so that   Σ_k var z_k = 1

p_k is the share of level k. So a category counts as much as a number of variance 1, whatever the number of its levels
(the idea of Gower's coefficient and of factor analysis of mixed data). A truth value needs one column: with two levels
z = (1[x = true] - p) / sqrt(p (1 - p)) has the same distances.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["OTHER", "CategoryCode", "OrdinalCode", "fit_boolean", "fit_category", "fit_ordinal"]

Array = npt.NDArray[Any]
OTHER = "other"
_MOST_LEVELS = 200


@dataclass(frozen=True)
class CategoryCode:
    """Categories by their indicators.

    Parameters
    ----------
    levels : list
        Of the indicators; of rare levels that share one, the most frequent.
    shares : array of shape (k,)
        Of the rows that each indicator had at the fit.
    weight : float
    rare : list
        Levels that share the last indicator; empty where every level has its own.
    is_boolean : bool
        Whether one column stands for two levels, of which the second is true.
    """

    levels: list[Any]
    shares: Array
    weight: float
    rare: list[Any]
    is_boolean: bool = False

    @property
    def width(self) -> int:
        """Columns of the code."""
        return 1 if self.is_boolean else len(self.levels)

    def codes(self, values: Array, missing: Array) -> tuple[Array, list[Any]]:
        """Return the indicator of each entry (n,), -1 where it is missing or unseen, and the unseen entries."""
        table = {key: k for k, level in enumerate(self.levels) for key in (str(level), level)}
        table |= {key: len(self.levels) - 1 for level in self.rare for key in (str(level), level)}
        known = {value: table.get(value, table.get(_as_text(value), -1)) for value in set(values[~missing].tolist())}
        found = np.array([-1 if gone else known[value] for value, gone in zip(values, missing, strict=True)], dtype=int)
        return found, sorted((value for value, code in known.items() if code < 0), key=str)

    def encode(self, codes: Array) -> Array:
        """Return the code (n, width) of indicators (n,); NaN for -1."""
        if self.is_boolean:
            A = (np.asarray(codes == 1, dtype=np.float64) - self.shares[1])[:, None] * self.weight
        else:
            A = (np.eye(len(self.levels))[codes] - self.shares) * self.weight
        A[codes < 0] = np.nan
        return np.asarray(A)

    def probabilities(self, A: Array) -> Array:
        """Return the probability of each level (n, k)."""
        if self.is_boolean:
            yes = np.clip(A[:, 0] / self.weight + self.shares[1], 0.0, 1.0)
            return np.column_stack([1 - yes, yes])
        P = np.clip(A / self.weight + self.shares, 0.0, None)
        total = P.sum(axis=1, keepdims=True)
        return np.asarray(np.where(total > 0, P / np.where(total > 0, total, 1.0), self.shares) + 0.0 * A[:, :1])

    def decode(self, A: Array) -> Array:
        """Return the most probable level (n,), None where the code is NaN."""
        found = np.empty(len(A), dtype=object)
        gone = np.asarray(np.isnan(A).any(axis=1))
        best = np.argmax(np.where(gone[:, None], 0.0, self.probabilities(A)), axis=1)
        found[:] = [None if none else self.levels[k] for k, none in zip(best, gone, strict=True)]
        return found

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the code."""
        if self.is_boolean:
            return [name]
        last = [OTHER] if self.rare else [self.levels[-1]]
        return [f"{name}_{level}" for level in [*self.levels[:-1], *last]]


@dataclass(frozen=True)
class OrdinalCode:
    """Ordered categories by their rank, scaled to variance 1."""

    levels: list[Any]
    centre: float
    scale: float

    width = 1

    def codes(self, values: Array, missing: Array) -> tuple[Array, list[Any]]:
        """Return the rank of each entry (n,), -1 where it is missing or unseen, and the unseen entries."""
        return CategoryCode(self.levels, np.zeros(0), 1.0, []).codes(values, missing)

    def encode(self, codes: Array) -> Array:
        """Return the code (n, 1) of ranks (n,); NaN for -1."""
        return np.where(codes < 0, np.nan, (codes - self.centre) / self.scale)[:, None]

    def decode(self, A: Array) -> Array:
        """Return the nearest level (n,), None where the code is NaN."""
        found = np.empty(len(A), dtype=object)
        ranks = np.clip(np.nan_to_num(np.rint(A[:, 0] * self.scale + self.centre)), 0, len(self.levels) - 1)
        gone = np.asarray(np.isnan(A[:, 0]))
        found[:] = [None if none else self.levels[int(k)] for k, none in zip(ranks, gone, strict=True)]
        return found

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the code."""
        return [name]


def fit_category(values: list[Any], order: tuple[Any, ...], min_frequency: float) -> CategoryCode:
    """Return the code of a column of categories.

    Parameters
    ----------
    values : list
        Without missing entries.
    order : tuple
        Levels in the order of their type, if it has one.
    min_frequency : int or float
        Levels with fewer rows (below 1: with a smaller share of rows) share one indicator, if there are two or more.
    """
    counts = Counter(values)
    places = {level: k for k, level in enumerate(order)}
    levels = sorted(counts, key=lambda level: (places.get(level, len(places)), str(level)))
    least = min_frequency * len(values) if min_frequency < 1 else min_frequency
    frequent = sorted(levels, key=lambda level: -counts[level])[:_MOST_LEVELS]
    kept = {level for level in frequent if counts[level] >= least}
    rare = sorted((level for level in levels if level not in kept), key=lambda level: -counts[level])
    if len(rare) < 2 or not kept:
        kept, rare = set(levels), []
    shown = [level for level in levels if level in kept] + rare[:1]
    sizes = [counts[level] for level in shown[: len(kept)]] + ([sum(counts[level] for level in rare)] if rare else [])
    return _weighted(shown, sizes, rare)


def fit_boolean(no: Any, yes: Any, truths: Array) -> CategoryCode:
    """Return the code of truth values (n,); ``no`` and ``yes`` are how they are written."""
    share = float(np.mean(truths))
    weight = 1.0 / np.sqrt(share * (1 - share)) if 0 < share < 1 else 1.0
    return CategoryCode([no, yes], np.array([1 - share, share]), float(weight), [], True)


def fit_ordinal(levels: list[Any], ranks: Array) -> OrdinalCode:
    """Return the code of ordered categories, of which the rows have these ranks (n,)."""
    deviation = float(np.std(ranks))
    return OrdinalCode(levels, float(np.mean(ranks)), deviation if deviation > 0 else 1.0)


def _weighted(levels: list[Any], sizes: list[int], rare: list[Any]) -> CategoryCode:
    shares = np.array(sizes, dtype=np.float64) / sum(sizes)
    left = 1.0 - float(np.square(shares).sum())
    return CategoryCode(levels, shares, float(1.0 / np.sqrt(left)) if left > 0 else 1.0, rare)


def _as_text(value: Any) -> str:
    """Text by which levels of another type are found: 1 and 1.0 are "1"."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
