"""Signs that stand for a missing entry in a column of words: "?", "-", "n/a" and the like.

In a column of numbers nothing else could be meant by them, and ``_number_text.is_missing_mark`` takes more of them. A
column of words may have a level that is called "unknown", "none" or "NA" (Namibia), so there only what is no word
counts, and nothing does where signs are levels, such as "+" and "-".
"""

from __future__ import annotations

from collections.abc import Collection

__all__ = ["MARKS", "has_sign_levels"]

MARKS = frozenset({
    "?", "??", "???", "-", "--", "---", "\u2013", "\u2014", ".", "..", "...", "N/A", "n/a", "N.A.", "n.a.", "#N/A",
    "#NA", "<NA>", "NaN", "nan", "NaT", "NULL", "null",
})  # fmt: skip
"""Entries that stand for a missing one."""


def has_sign_levels(texts: Collection[str]) -> bool:
    """Whether signs are levels of a column with these entries: one that is no mark has neither letter nor digit.

    Examples
    --------
    >>> has_sign_levels({"+", "-"}), has_sign_levels({"Private", "?", "Local-gov"})
    (True, False)
    """
    return any(not any(map(str.isalnum, text)) for text in texts if text.strip() not in MARKS)
