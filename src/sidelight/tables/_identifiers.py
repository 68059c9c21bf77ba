"""Columns that number or name the rows, by name and by content.

A row number or a key says nothing about a row, but varies more than anything else. A measurement that happens to differ
in every row (a population, a year) is no key: without a telling name, only a plain count of the rows is one.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["is_unnamed", "looks_like_key", "says_identifier", "why_identifier"]

_NAMES = (
    r"id|ids|identifier|index|idx|row|rows|rowid|rowname|rownames|row[ _.-]?(?:names?|numbers?|no|nr|id)|uuid|guid|pid|"
    r"unnamed:? ?\d+|key|nr|no|number|obs|observation|record|serial|case"
)
_NAME = re.compile(rf"(?:^|.*[_\s.\-#])(?:{_NAMES})$", re.IGNORECASE)
_CAMEL = re.compile(r".*[a-z](?:Id|ID|Idx|Index|Key|No|Nr|UUID)$|.{3,}(?:nr|nummer)$")
_WEAK = re.compile(r".*(?:nr|nummer|No)$|(?:^|.*[_\s.\-#])(?:row|rows|no|number|key|case|obs|observation|record)$")
_MEASURED = re.compile(
    r"year|date|time|day|week|month|hour|minute|second|age|pop|count|size|price|dose|temp|weight", re.IGNORECASE
)
_TOKEN = re.compile(
    r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}|[0-9a-f]{12,}|\S*\d\S*", re.IGNORECASE
)
_UNNAMED = re.compile(r"(?:unnamed:? ?\d+(?:\.\d+)?)?", re.IGNORECASE)
_YEARS = (1500, 2200)
_FEWEST = 5
"""With fewer rows, entries that all differ say nothing."""


def says_identifier(name: str) -> bool:
    """Whether a name is that of a key: ``id``, ``PID``, ``rownames``, ``customerID``, ``Unnamed: 0``.

    Examples
    --------
    >>> [says_identifier(name) for name in ("PID", "plot_id", "PassengerId", "width", "humid", "number of doors", "")]
    [True, True, True, False, False, False, True]
    """
    bare = name.strip()
    return not bare or bool(_NAME.match(bare) or _CAMEL.match(bare))


def is_unnamed(name: str) -> bool:
    """Whether a column has no name in its file: an empty one, or what pandas makes of it.

    Examples
    --------
    >>> [is_unnamed(name) for name in ("", "Unnamed: 0", "Unnamed: 0.1", "unnamed road")]
    [True, True, True, False]
    """
    return _UNNAMED.fullmatch(name.strip()) is not None


def why_identifier(name: str, values: npt.NDArray[np.float64]) -> str:
    """Return why whole numbers are an identifier, or "" where they are a measurement.

    Parameters
    ----------
    name : str
    values : array of shape (n,)
        Without missing entries.
    """
    n = len(values)
    if n < 3 or not np.array_equal(values, np.round(values)):
        return ""
    steps = np.diff(values)
    if is_unnamed(name) and _is_index(values, steps):
        return "it has no name and numbers the rows, as the index of a table does"
    if len(np.unique(values)) < n:
        return "it counts groups of rows" if not _MEASURED.search(name) and _counts_groups(values, steps) else ""
    if values[0] in (0, 1) and (steps == 1).all():
        return "it counts the rows"
    if n >= _FEWEST and says_identifier(name) and _could_be_key(name, values):
        return "every row has another value, and its name says so"
    if n >= 2 * _FEWEST and not _MEASURED.search(name) and _counts_with_gaps(values, steps):
        return "it counts rows, with gaps"
    return ""


def _is_index(values: npt.NDArray[np.float64], steps: npt.NDArray[np.float64]) -> bool:
    """Whether whole numbers may be an index: of a table, of some of its rows, or of several tables in one."""
    mostly_new = len(np.unique(values)) > len(values) / 2
    return bool(values.min() >= 0 and (mostly_new or np.mean(steps == 1) > 0.5))


def _could_be_key(name: str, values: npt.NDArray[np.float64]) -> bool:
    """A weak name (``number``, ``case``) needs numbers in order, too."""
    return not _WEAK.match(name.strip()) or bool((np.diff(values) > 0).all())


def _counts_with_gaps(values: npt.NDArray[np.float64], steps: npt.NDArray[np.float64]) -> bool:
    """Whether numbers rise in steps most of which are 1; years do so, too, and are none."""
    if not (steps > 0).all() or (_YEARS[0] <= values[0] and values[-1] <= _YEARS[1]):
        return False
    return bool(np.mean(steps == 1) > 0.5 and values[-1] - values[0] < 3 * len(values))


def _counts_groups(values: npt.NDArray[np.float64], steps: npt.NDArray[np.float64]) -> bool:
    """Whether more than ten groups of equal size, one after the other, are numbered from 0 or 1 on."""
    if values[0] not in (0, 1) or not np.isin(steps, (0, 1)).all():
        return False
    sizes = np.unique(values, return_counts=True)[1]
    return len(sizes) > 10 and bool((sizes == sizes[0]).all())


def looks_like_key(texts: list[Any]) -> bool:
    """Whether most texts look like keys: one word with digits in it, such as a UUID or ``N12A1``."""
    return sum(bool(_TOKEN.fullmatch(str(text).strip())) for text in texts) > 0.9 * len(texts)
