"""Dates as a trend and, where they predict something, as cycles.

    z = [ (t - centre) / scale,  cos(2π t / T),  sin(2π t / T),  ... ] / sqrt(number of parts)

with every part of variance 1. A cycle (year, week, day) is used where the dates span more than one of it and it
predicts other columns beyond their trend. The date is given back by its trend alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import f as f_distribution

from ._date_text import DAY, resolution
from ._number_code import spread_of

__all__ = ["CYCLES", "DateCode", "fit_date"]

Array = npt.NDArray[Any]
CYCLES = {"year": 365.2425 * DAY, "week": 7.0 * DAY, "day": 1.0 * DAY}
"""Name of a cycle -> its length in microseconds."""

_FEWEST = 20
_LEVEL = 0.001  # of the F test, over all columns and cycles


@dataclass(frozen=True)
class DateCode:
    """A column of dates, in microseconds.

    Parameters
    ----------
    centre, scale : float
        Of the trend, in microseconds.
    step : float
        Dates are multiples of it: a day, a second or a microsecond.
    cycles : list of str
        "year", "week", "day", as far as used.
    spreads : array of shape (len(cycles),)
        Roots of the variance of each cycle.
    """

    centre: float
    scale: float
    step: float
    cycles: list[str]
    spreads: Array

    @property
    def width(self) -> int:
        """Columns of the code."""
        return 1 + 2 * len(self.cycles)

    def encode(self, values: Array) -> Array:
        """Return the code (n, width) of dates (n,) in microseconds."""
        parts = [((values - self.centre) / self.scale)[:, None]]
        parts += [_circle(values, name) / spread for name, spread in zip(self.cycles, self.spreads, strict=True)]
        return np.asarray(np.hstack(parts) / np.sqrt(len(parts)))

    def decode(self, A: Array) -> Array:
        """Return the dates (n,) in microseconds, in steps of ``step``."""
        moments = A[:, 0] * np.sqrt(1 + len(self.cycles)) * self.scale + self.centre
        return np.asarray(np.round(moments / self.step) * self.step)

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the code."""
        return [name, *(f"{name}_{cycle}_{part}" for cycle in self.cycles for part in ("cos", "sin"))]


def fit_date(values: Array, others: Array) -> DateCode:
    """Return the code of dates (n,) in microseconds, NaN where missing, beside the code of other columns (n, p)."""
    present = values[~np.isnan(values)]
    centre, deviation = float(np.median(present)), float(np.std(present - present.min()))
    step = resolution(present)
    span = float(present.max() - present.min())
    asked = [name for name, period in CYCLES.items() if span > period and step < period]
    trend = (values - centre) / (deviation or 1.0)
    cycles = [name for name in asked if _predicts(_circle(values, name), trend, others, len(asked))]
    spreads = np.array([spread_of(_circle(present, name)) for name in cycles])
    return DateCode(centre, deviation or 1.0, step, cycles, spreads)


def _circle(values: Array, name: str) -> Array:
    turns = 2 * np.pi * np.mod(values, CYCLES[name]) / CYCLES[name]
    return np.column_stack([np.cos(turns), np.sin(turns)])


def _predicts(circle: Array, trend: Array, others: Array, n_cycles: int) -> bool:
    """Whether a cycle explains any other column beyond a line in time (F test, corrected for how often it is asked)."""
    level = _LEVEL / max(1, n_cycles * others.shape[1])
    for column in others.T:
        here = np.isfinite(column) & np.isfinite(trend)
        n = int(here.sum())
        if n < _FEWEST:
            continue
        y = column[here]
        line = np.column_stack([np.ones(n), trend[here]])
        left, less = _left_over(line, y), _left_over(np.hstack([line, circle[here]]), y)
        # what is explained to rounding is no noise to test against
        statistic = (left - less) / 2 / max(less / (n - 4), 1e-12 * left / n, 1e-300)
        if f_distribution.sf(statistic, 2, n - 4) < level:
            return True
    return False


def _left_over(X: Array, y: Array) -> float:
    return float(np.square(y - X @ np.linalg.lstsq(X, y, rcond=None)[0]).sum())
