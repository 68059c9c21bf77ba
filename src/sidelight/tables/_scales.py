"""Words that have an order, and words that mean true and false."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["TRUTH", "order_of"]

TRUTH = {
    **dict.fromkeys(("yes", "y", "true", "t", "on", "ja", "j", "oui", "si", "sí", "wahr", "1", "1.0"), True),
    **dict.fromkeys(("no", "n", "false", "f", "off", "nein", "non", "falsch", "0", "0.0"), False),
}
"""Words in lower case -> what they mean."""

_SCALES = (
    "very low, low, lower, medium low, medium, moderate, medium high, high, higher, very high",
    "extra small, xxs, xs, small, s, medium, m, large, l, extra large, xl, xxl",
    "tiny, small, medium, mid, large, big, huge",
    "very poor, poor, fair, average, good, very good, premium, excellent, ideal",
    "very bad, bad, neutral, okay, ok, good, very good",
    "never, rarely, seldom, sometimes, often, usually, always",
    "strongly disagree, disagree, neither agree nor disagree, neutral, undecided, agree, strongly agree",
    "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
    "none, mild, moderate, severe, critical",
    "first, second, third, fourth, fifth",
    "primary, secondary, tertiary",
)
_ORDERS = tuple({word: rank for rank, word in enumerate(scale.split(", "))} for scale in _SCALES)
_RANGE = re.compile(
    r"[<>≤≥]?=?\s*(\d+(?:\.\d+)?)\s*(?:(?:(?:-|–|to)\s*\d+(?:\.\d+)?|\+)(?:\s*[a-z%][a-z%/]*)?)?|"
    r"(?:under|over|below|above)\s+(\d+(?:\.\d+)?)(?:\s*[a-z%][a-z%/]*)?"
)


def order_of(words: Collection[str]) -> list[str] | None:
    """Return words in their order, lowest first, where they are of a known scale or ranges of numbers.

    Examples
    --------
    >>> order_of({"High", "low", "medium"})
    ['low', 'medium', 'High']
    >>> order_of({"65+", "<18", "18-64"})
    ['<18', '18-64', '65+']
    >>> order_of({"12+ yrs", "0-5yrs", "6-11yrs"})
    ['0-5yrs', '6-11yrs', '12+ yrs']
    >>> order_of({"red", "green", "blue"}) is None
    True
    """
    if len(words) < 3:
        return None
    lowered = {word: " ".join(word.lower().replace("_", " ").split()) for word in words}
    for ranks in _ORDERS:
        if all(word in ranks for word in lowered.values()):
            return sorted(words, key=lambda word: ranks[lowered[word]])
    if all(map(_RANGE.fullmatch, lowered.values())) and not all(map(str.isdigit, lowered.values())):
        return sorted(words, key=lambda word: (_start(lowered[word]), word))
    return None


def _start(text: str) -> float:
    """Where a range begins; just below its number for ``<18``."""
    found = _RANGE.fullmatch(text)
    number = float(next(part for part in found.groups() if part)) if found else 0.0
    return number - 0.5 if text.startswith(("<", "≤", "under", "below")) else number
