"""How large the description of a model may be, checked on its text before anything is built from it.

JSON expands: ``[],`` is three characters and 56 bytes of Python. A real model spends most characters on names and
digits (its arrays are not in the text), so containers and entries are allowed in proportion to the length of the text,
with a number free. The longest real descriptions are histories of thousands of iterations and tuples of thousands of
categories; `tests/persistence/test_persistence_limits.py` measures them.
"""

from __future__ import annotations

import re

import numpy as np

__all__ = ["LONGEST_TEXT", "allowed", "counted", "too_much"]

LONGEST_TEXT = 50_000_000
"""Characters of a description."""

_DEEPEST = 200
_FREE_CONTAINERS, _CHARACTERS_PER_CONTAINER = 2_000, 12
_FREE_ENTRIES, _CHARACTERS_PER_ENTRY = 20_000, 6
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_BLOCK = 1 << 16
_STEPS = np.zeros(256, dtype=np.int64)
_STEPS[[ord("["), ord("{")]] = 1
_STEPS[[ord("]"), ord("}")]] = -1


def too_much(text: str) -> str | None:
    """Return which limit a description exceeds, or None; needs about as much memory as the text.

    Examples
    --------
    >>> too_much('{"a": [1, 2]}') is None
    True
    >>> too_much("[" * 1000)
    'lists nested 1000 deep'
    """
    if len(text) > LONGEST_TEXT:
        return f"{len(text) / 1e6:.0f} MB of text"
    bare = _STRING.sub("", text)
    (containers, entries), most = _counted(bare), allowed(len(text))
    if containers > most[0]:
        return f"{containers} lists and dictionaries in {len(text)} characters"
    if entries > most[1]:
        return f"{entries} entries in {len(text)} characters"
    depth = _depth(bare)
    return f"lists nested {depth} deep" if depth > _DEEPEST else None


def counted(text: str) -> tuple[int, int]:
    """Return how many containers and further entries of containers a description has."""
    return _counted(_STRING.sub("", text))


def allowed(characters: int) -> tuple[float, float]:
    """Return the maximum number of containers and further entries for a description of this many characters."""
    containers = _FREE_CONTAINERS + characters / _CHARACTERS_PER_CONTAINER
    return containers, _FREE_ENTRIES + characters / _CHARACTERS_PER_ENTRY


def _counted(bare: str) -> tuple[int, int]:
    return bare.count("[") + bare.count("{"), bare.count(",")


def _depth(bare: str) -> int:
    """How deep lists and dictionaries are nested in JSON without its strings."""
    deepest = now = 0
    for start in range(0, len(bare), _BLOCK):
        block = bare[start : start + _BLOCK].encode("latin-1", "replace")
        levels = now + np.cumsum(_STEPS[np.frombuffer(block, dtype=np.uint8)])
        deepest, now = max(deepest, int(levels.max())), int(levels[-1])
    return deepest
