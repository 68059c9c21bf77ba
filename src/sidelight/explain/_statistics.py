"""Differences of two groups of rows: means, resampled means, Welch's test, and control of false discoveries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

__all__ = ["Group", "false_discovery_rates", "group_of", "p_of_one", "welch"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Group:
    """Means and variances (d,) of n rows, and means (B, d) of rows resampled B times."""

    n: int
    mean: Array
    variance: Array
    resampled: Array


def group_of(tiles: Iterator[Array], n: int, n_resamples: int, rng: np.random.Generator) -> Group:
    """Statistics of n rows that come in tiles (m, d), in one pass.

    Sums are of rows less the first one, for accuracy.
    """
    weights = rng.multinomial(n, np.full(n, 1.0 / n), size=n_resamples).astype(np.float64) / n
    first: Any = None
    total: Any = 0.0
    squares: Any = 0.0
    resampled: Any = 0.0
    at = 0
    for tile in tiles:
        first = tile[0].copy() if first is None else first
        Y = tile - first
        total = total + Y.sum(axis=0)
        squares = squares + np.einsum("nd,nd->d", Y, Y)
        resampled = resampled + weights[:, at : at + len(Y)] @ Y
        at += len(Y)
    mean = total / n
    variance = np.maximum(squares - n * mean**2, 0.0) / max(n - 1, 1)
    return Group(n, first + mean, variance, first + resampled)


def welch(first: Group, second: Group) -> Array:
    """Two-sided p-values (d,) of Welch's t-test that two groups have equal means; 1 for columns without variance."""
    a, b = first.variance / first.n, second.variance / second.n
    error = a + b
    safe = np.where(error > 0, error, 1.0)
    t = np.abs(first.mean - second.mean) / np.sqrt(safe)
    parts = a**2 / max(first.n - 1, 1) + b**2 / max(second.n - 1, 1)
    freedom = np.divide(safe**2, parts, out=np.ones_like(safe), where=parts > 0)
    found = np.where(error > 0, 2.0 * stdtr(freedom, -t), np.where(first.mean == second.mean, 1.0, 0.0))
    return np.asarray(np.minimum(found, 1.0))


def p_of_one(one: Group, others: Group) -> Array:
    """Two-sided p-values (d,) that one row x is drawn like m others: t = (x - ȳ) / (s √(1 + 1/m)), m - 1 degrees.

    One row has no variance of its own, so that of the others stands for it.
    """
    error = np.sqrt(others.variance * (1.0 + 1.0 / others.n))
    moved = np.abs(one.mean - others.mean)
    t = np.divide(moved, error, out=np.where(moved > 0, np.inf, 0.0), where=error > 0)
    return np.asarray(np.minimum(2.0 * stdtr(others.n - 1, -t), 1.0))


def false_discovery_rates(p: Array) -> Array:
    """Benjamini and Hochberg's adjusted p-values (d,).

    Keeping those below a rate r leaves a share of false ones of at most r in the mean.

    Examples
    --------
    >>> false_discovery_rates(np.array([0.01, 0.04, 0.03, 0.5])).round(3).tolist()
    [0.04, 0.053, 0.053, 0.5]
    """
    order = np.argsort(p, kind="stable")[::-1]
    ranks = np.arange(len(p), 0, -1)
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(np.minimum.accumulate(p[order] * len(p) / ranks), 1.0)
    return adjusted
