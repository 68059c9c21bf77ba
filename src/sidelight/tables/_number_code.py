"""Numbers as one column of variance 1, and angles as two.

    z = (t(x) - centre) / scale,        t(x) = x   or, for heavy tails,   t(x) = asinh((x - middle) / unit)

``asinh`` is linear near its middle and logarithmic far from it, defined everywhere and has an inverse. It is used only
where a Gaussian predicts held-out entries better after it (by density in the units of x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["AngleCode", "NumberCode", "fit_angle", "fit_number", "spread_of"]

Array = npt.NDArray[np.float64]
_IQR_OF_NORMAL = 1.349
_GAIN = 0.1  # nats per entry: less is no reason to bend an axis
_FEWEST = 20  # distinct entries, from which the tails of a column can be judged
_MOST = 10_000
_LARGEST = 600.0  # sinh overflows beyond 710


@dataclass(frozen=True)
class NumberCode:
    """A column of numbers, scaled; ``unit`` is 0 where tails are kept.

    Parameters
    ----------
    centre, scale : float
        Of the encoded numbers.
    middle, unit : float
        Of asinh; ``unit=0``: not used.
    """

    centre: float
    scale: float
    middle: float = 0.0
    unit: float = 0.0

    width = 1

    def encode(self, values: Array) -> Array:
        """Return the code (n, 1) of numbers (n,); NaN stays NaN."""
        return ((_bent(values, self.middle, self.unit) - self.centre) / self.scale)[:, None]

    def decode(self, A: Array) -> Array:
        """Return the numbers (n,) of a code (n, 1)."""
        bent = A[:, 0] * self.scale + self.centre
        if not self.unit:
            return np.asarray(bent)
        return np.asarray(self.middle + self.unit * np.sinh(np.clip(bent, -_LARGEST, _LARGEST)))

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the code."""
        return [name]


@dataclass(frozen=True)
class AngleCode:
    """An angle as cosine and sine, both divided by ``scale``; angles are written from ``lowest`` on."""

    period: float
    lowest: float
    scale: float

    width = 2

    def encode(self, values: Array) -> Array:
        """Return the code (n, 2) of angles (n,)."""
        turns = 2 * np.pi * values / self.period
        return np.column_stack([np.cos(turns), np.sin(turns)]) / self.scale

    def decode(self, A: Array) -> Array:
        """Return the angles (n,) of a code (n, 2)."""
        turned = np.arctan2(A[:, 1], A[:, 0]) * self.period / (2 * np.pi)
        slack = 1e-12 * self.period  # an angle at the lowest value must not become one a whole turn above it
        return np.asarray(np.mod(turned - self.lowest + slack, self.period) + self.lowest - slack)

    def names(self, name: str) -> list[str]:
        """Return the names of the columns of the code."""
        return [f"{name}_cos", f"{name}_sin"]


def fit_number(values: Array, scaling: str, tails: str) -> NumberCode:
    """Return the code of a column of numbers.

    Parameters
    ----------
    values : array of shape (n,)
        Without missing entries.
    scaling : {"robust", "standard", "none"}
    tails : {"auto", "keep"}
    """
    if scaling == "none":
        return NumberCode(0.0, 1.0)
    middle, unit = _tail(values) if tails == "auto" else (0.0, 0.0)
    bent = _bent(values, middle, unit)
    return NumberCode(*_centre_and_scale(bent, scaling), middle, unit)


def fit_angle(values: Array, period: float | None = None) -> AngleCode:
    """Return the code of a column of angles: in degrees, or in radians where none is above 2π."""
    if period is None:
        period = 360.0 if np.abs(values).max() > 2 * np.pi + 1e-9 else 2 * np.pi
    code = AngleCode(float(period), 0.0 if values.min() >= 0 else -period / 2, 1.0)
    return AngleCode(code.period, code.lowest, spread_of(code.encode(values)))


def spread_of(A: Array) -> float:
    """Return the root of the total variance of columns (n, p), or 1 where it is 0."""
    total = float(np.var(A, axis=0).sum())
    return float(np.sqrt(total)) if total > 0 else 1.0


def _bent(values: Array, middle: float, unit: float) -> Array:
    return np.asarray(np.arcsinh((values - middle) / unit)) if unit else values


def _centre_and_scale(values: Array, scaling: str) -> tuple[float, float]:
    """Median and IQR / 1.349 (where that is 0: the standard deviation), or mean and standard deviation."""
    largest = float(np.abs(values).max()) or 1.0
    deviation = float(np.std(values / largest)) * largest  # squares of huge numbers overflow
    if scaling == "standard":
        return float(np.mean(values / largest)) * largest, deviation
    low, median, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    robust = (high - low) / _IQR_OF_NORMAL
    return median, robust if robust > 1e-9 * deviation else deviation


def _tail(values: Array) -> tuple[float, float]:
    """Middle and unit of the asinh that predicts best, or zeros."""
    values = values[:: max(1, len(values) // _MOST)]
    if len(np.unique(values)) < _FEWEST:
        return 0.0, 0.0
    best, chosen = _predicted(values, 0.0, 0.0) + _GAIN, (0.0, 0.0)
    for middle, unit in _candidates(values):
        found = _predicted(values, middle, unit) if unit > 0 else -np.inf
        if found > best:
            best, chosen = found, (middle, unit)
    return chosen


def _candidates(values: Array) -> list[tuple[float, float]]:
    """Symmetric tails around the median; for positive numbers, a logarithm of all but the smallest."""
    low, median, high = (float(q) for q in np.quantile(values, (0.25, 0.5, 0.75)))
    found = [(median, (high - low) / _IQR_OF_NORMAL)]
    if values.min() >= 0:
        found.append((0.0, float(np.quantile(values[values > 0], 0.05))))
    return found


def _predicted(values: Array, middle: float, unit: float) -> float:
    """Mean log density of entries under a Gaussian fitted to the others: each half predicts the other."""
    bent = _bent(values, middle, unit)
    slope = -np.log(unit) - 0.5 * np.log1p(((values - middle) / unit) ** 2) if unit else np.zeros(len(values))
    total = 0.0
    for start in (0, 1):
        known, asked = bent[start::2], slice(1 - start, None, 2)
        deviation: Any = np.std(known)
        if not np.isfinite(deviation) or deviation <= 0:
            return -np.inf
        z = (bent[asked] - known.mean()) / deviation
        total += float(np.mean(slope[asked] - np.log(deviation) - 0.5 * z * z))
    return total / 2
