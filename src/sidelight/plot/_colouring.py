"""Colours of a column: categories, numbers, and missing values.

Categories take the seven chromatic colours of Okabe and Ito (2008), which stay apart for the colour-blind,
and after seven levels the same colours with another marker; numbers take viridis; angles and other periodic numbers a
circle of colours, in which opposite places differ in hue and in lightness. What is missing is grey.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import error_message
from sidelight.side.columns import is_missing

__all__ = [
    "CATEGORIES",
    "CYCLE",
    "MARKERS",
    "MISSING",
    "Categories",
    "Numbers",
    "column_names",
    "column_of",
    "name_of_column",
]

CATEGORIES = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442")
CYCLE = (
    "#E69D12", "#B7AC00", "#69AC3C", "#06976D", "#007A7A", "#006581",
    "#0053A5", "#5546AF", "#8C47A8", "#C05296", "#E86777", "#F8834A",
)  # fmt: skip
"""A full turn of hue; lightness (OKLab) 0.60 + 0.15 cos of the angle, as much chroma up to 0.16 as screens show."""
MARKERS = ("o", "^", "s", "D")
MISSING = "#9A9A9A"

MOST_LEVELS = len(CATEGORIES) * len(MARKERS)
"""Categories that can be told apart; the rarer ones share the last."""
FEW_INTEGERS = 12
"""Integer columns with at most so many values are read as categories."""
FENCE = 3.0
"""Values so many distances of the quartiles beyond them are outliers for the colours (Tukey's outer fences)."""


@dataclass(frozen=True)
class Categories:
    """A categorical column: ``codes`` into ``levels``, -1 where missing."""

    name: str
    levels: tuple[str, ...]
    codes: NDArray[np.int64]
    entries: tuple[str, ...] = ()
    """The categories before rare ones were merged into one level; empty where none were merged."""
    entry_codes: NDArray[np.int64] | None = None
    """Codes into ``entries``, -1 where missing."""

    @property
    def n_categories(self) -> int:
        """Number of different categories in the data, merged ones included."""
        return len(self.entries) or len(self.levels)


@dataclass(frozen=True)
class Numbers:
    """A numerical column, NaN where missing; ``period`` for periodic values such as angles."""

    name: str
    values: NDArray[np.float64]
    period: float | None = None
    is_date: bool = False
    """Whether values are points in time, in days since 1 January 1970."""

    @property
    def limits(self) -> tuple[float, float]:
        """Smallest and largest value; (0, 1) if there is none; one period for periodic values."""
        if self.period is not None:
            return 0.0, self.period
        known = self.values[np.isfinite(self.values)]
        return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)

    @property
    def colour_limits(self) -> tuple[float, float]:
        """Values at the two ends of the colours: :attr:`limits`, without outliers that would make all rows one colour.

        Values beyond three times the distance between the quartiles, counted from these, take the colour of the ends,
        but only where they stretch the range to twice that of the others or more.

        Examples
        --------
        >>> Numbers("price", np.array([1.0, 2.0, 3.0, 4.0, 1000.0])).colour_limits
        (1.0, 4.0)
        """
        if self.period is not None:
            return self.limits
        low, high = self.limits
        known = self.values[np.isfinite(self.values)]
        kept = known[_within_fences(known)] if known.size else known
        inner = (float(kept.min()), float(kept.max())) if kept.size else (low, high)
        return inner if 0.0 < inner[1] - inner[0] <= (high - low) / 2 else (low, high)

    def beyond_colours(self, values: NDArray[np.float64]) -> tuple[int, int]:
        """Return how many of some values are below and above :attr:`colour_limits`."""
        if self.period is not None:
            return 0, 0
        low, high = self.colour_limits
        return int((values < low).sum()), int((values > high).sum())


def column_of(
    values: Any, n: int, *, name: str = "", categorical: bool | None = None, period: float | None = None
) -> Categories | Numbers:
    """Return ``values`` (n,) as a column of categories or numbers.

    Text, booleans, pandas categories and integers with at most 12 different values are categories; other
    numbers are numbers. ``categorical`` decides otherwise, and ``period`` makes them numbers that go round.

    Examples
    --------
    >>> column_of(["cup", None, "cup", "pan"], 4).levels
    ('cup', 'pan')
    >>> column_of([1.5, float("nan")], 2).limits
    (1.5, 1.5)
    """
    if isinstance(values, str):
        rule, remedy = "is a text, not one value a row", f"Pass the column itself, such as table[{values!r}]"
        raise ValueError(error_message("column", name or "colour", repr(values), rule, remedy))
    array = _as_objects_or_numbers(values)
    if array.shape != (n,):
        rule = f"does not give {n} rows one value each"
        raise ValueError(
            error_message("column", name or "colour", f"shape {array.shape}", rule, "Pass one value a row")
        )
    if period is not None and array.dtype.kind not in "iuf":
        raise ValueError(
            error_message("column", name or "colour", "text", "has a period", "Pass numbers, or no period")
        )
    if categorical is None:
        categorical = period is None and _looks_categorical(array)
    if categorical:
        return _categories(array, values, name)
    numbers = np.array(array, dtype=np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    return Numbers(name, numbers, period, _is_time(values))


def column_names(table: Any) -> list[Any]:
    """Return the names of the columns of a mapping or a data frame; of anything else, none.

    Examples
    --------
    >>> column_names({"kind": ["cup", "pan"]}), column_names([1.0, 2.0])
    (['kind'], [])
    """
    return list(table) if isinstance(table, Mapping) else list(getattr(table, "columns", ()))


def name_of_column(values: Any, otherwise: str = "") -> str:
    """Return the name that a series carries, or ``otherwise``."""
    return str(getattr(values, "name", None) or otherwise)


def _within_fences(known: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether values are within three times the distance between the quartiles from these.

    Where half of the values are the same (counts that are mostly 0), the quartiles are those of the others.
    """
    middle = float(np.median(known))
    first, third = np.quantile(known, (0.25, 0.75))
    others = known[known != middle]
    if first == third and others.size:
        first, third = np.quantile(others, (0.25, 0.75))
    reach = FENCE * (third - first)
    within: NDArray[np.bool_] = (known >= first - reach) & (known <= third + reach)
    within |= known == middle
    return within


def _as_objects_or_numbers(values: Any) -> NDArray[Any]:
    """A one-dimensional array: numeric, boolean or object, whatever the container was."""
    dtype = getattr(values, "dtype", None)
    if getattr(dtype, "kind", "") == "M" and not isinstance(dtype, np.dtype):
        values = np.asarray(values, dtype="datetime64[ns]")  # times with a time zone, in UTC
    if hasattr(values, "to_numpy") and not (isinstance(dtype, np.dtype) and dtype.kind in "biuf"):
        values = values.to_numpy()
    array = np.asarray(values if hasattr(values, "shape") else np.array(values, dtype=object))
    if array.dtype.kind in "Mm":
        days = array.astype("datetime64[s]" if array.dtype.kind == "M" else "timedelta64[s]").astype(np.float64)
        return np.where(np.isnat(array), np.nan, days / 86400.0)
    if array.dtype == object and all(_is_number(value) or is_missing(value) for value in array.flat):
        if all(_is_integer(value) for value in array.flat):
            return array.astype(np.int64)
        return np.array([np.nan if is_missing(value) else float(value) for value in array.flat])
    return array


def _is_time(values: Any) -> bool:
    """Whether values are points in time, in a NumPy array or in a series with time zone or not."""
    dtype = getattr(values, "dtype", None)
    return getattr(dtype, "kind", "") == "M" or str(dtype).lower().startswith(("datetime", "date"))


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.bool_)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or isinstance(value, float | np.floating)


def _looks_categorical(array: NDArray[Any]) -> bool:
    if array.dtype.kind in "iu":
        return len(np.unique(array)) <= FEW_INTEGERS
    return array.dtype.kind not in "f"


def _categories(array: NDArray[Any], values: Any, name: str) -> Categories:
    """Number the levels: a pandas Categorical keeps its order, others are sorted (numbers as numbers)."""
    missing = np.array([is_missing(value) for value in array.tolist()], dtype=bool)
    text = np.array([_level_name(value) for value in array.tolist()], dtype=object)
    present = set(text[~missing])
    declared = getattr(getattr(values, "cat", values), "categories", None)
    if declared is not None:
        levels = [level for level in map(_level_name, declared) if level in present]
    else:
        levels = sorted(present, key=_natural)
    return _keep_commonest(name, levels, text, missing)


def _level_name(value: Any) -> str:
    """One name for a level, so that 1 and 1.0 are the same."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _natural(level: str) -> tuple[int, float, str]:
    """Numbers by value, before text by alphabet."""
    try:
        number = float(level)
    except ValueError:
        return 1, 0.0, level
    return (0, number, level) if number == number else (1, 0.0, level)


def _keep_commonest(name: str, levels: list[str], text: NDArray[Any], missing: NDArray[np.bool_]) -> Categories:
    """Codes of the levels; beyond the number of distinguishable colours the rarest share one level."""
    entries, entry_codes = tuple(levels), _codes(levels, text, missing)
    if len(levels) <= MOST_LEVELS:
        return Categories(name, entries, entry_codes)
    counts = np.bincount(entry_codes[entry_codes >= 0], minlength=len(levels))
    kept = np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])
    shared = np.full(len(levels) + 1, len(kept), dtype=np.int64)
    shared[kept], shared[-1] = np.arange(len(kept)), -1  # the code -1, missing, is the last place
    shown = (*(levels[k] for k in kept), f"{len(levels) - len(kept)} others")
    return Categories(name, shown, shared[entry_codes], entries, entry_codes)


def _codes(levels: list[str], text: NDArray[Any], missing: NDArray[np.bool_]) -> NDArray[np.int64]:
    number = {level: k for k, level in enumerate(levels)}
    return np.array([-1 if gone else number[value] for value, gone in zip(text, missing, strict=True)], dtype=np.int64)
