"""Columns of numbers in which a few entries are none: bounds such as ``<0.5``, and words such as ``pending``.

A laboratory writes ``<0.5`` for what is below its limit, and ``haemolysed`` where it could not measure. A bound is read
as its number, and such a word as missing. Neither is done where entries may be labels or codes: few different
numbers, many bounds (those are classes: ``<18``, ``18-29``, ``65+``), words in more than a twentieth of the rows, and
words with digits (``2A``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sidelight.base.messages import count_of

from ._number_text import is_missing_mark, number_format_of, without_bound

__all__ = ["NearlyNumbers", "nearly_numbers"]

_FEW_LEVELS = 12  # up to that many different numbers may be labels
_SHARE_OF_WORDS = 0.05  # of the rows
_SHARE_IF_ASKED = 0.25


@dataclass(frozen=True)
class NearlyNumbers:
    """The format of a column of numbers, its bounds, and the words that are read as missing."""

    number_format: str
    bounds: tuple[str, ...]
    words: tuple[str, ...]

    @property
    def reason(self) -> str:
        """How the bounds were read, after a semicolon; "" where there are none."""
        if not self.bounds:
            return ""
        more = f" and {count_of(len(self.bounds) - 1, 'more bound')}" if len(self.bounds) > 1 else ""
        return f"; {self.bounds[0]!r} read as {without_bound(self.bounds[0])}{more}"


def nearly_numbers(
    counts: Mapping[str, int], *, decimal_comma: bool = False, asked: bool = False
) -> NearlyNumbers | None:
    """Return how a column is read as numbers although some entries are none, or None.

    Parameters
    ----------
    counts : dict
        Entry -> number of rows.
    decimal_comma : bool
        Whether other columns of the table have decimal commas.
    asked : bool
        Whether the user says that these are numbers: then few different ones and more words are no reason against it.

    Examples
    --------
    >>> counts = {f"{k / 10}": 2 for k in range(5, 30)}
    >>> nearly_numbers({**counts, "<0.5": 4}).reason
    "; '<0.5' read as 0.5"
    >>> nearly_numbers({**counts, "pending": 1}).words
    ('pending',)
    >>> nearly_numbers({"<18": 5, "18-64": 20, "65+": 9}) is None
    True
    """
    entries = {text: times for text, times in counts.items() if not is_missing_mark(text)}
    words = tuple(sorted(text for text in entries if not any(map(str.isdigit, text))))
    bounds = tuple(sorted(text for text in entries if without_bound(text) != text.strip()))
    plain = entries.keys() - {*words, *bounds}
    fewest, share = (0, _SHARE_IF_ASKED) if asked else (max(_FEW_LEVELS, len(bounds)), _SHARE_OF_WORDS)
    if not (words or bounds) or len(plain) <= fewest:
        return None
    if sum(entries[word] for word in words) > share * sum(entries.values()):
        return None
    found = number_format_of([*plain, *map(without_bound, bounds)], decimal_comma=decimal_comma)
    return None if found is None else NearlyNumbers(found, bounds, words)
