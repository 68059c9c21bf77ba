"""A table of reliability in sentences: how much of the map can be believed, and what is wrong with the rest."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ._calibration import RELIABLE

__all__ = ["believed"]

Array = npt.NDArray[Any]
_DOUBTFUL = 0.5  # rows below are more often wrong than right
_MOST, _FEW = 0.75, 0.1  # shares of rows
_LOW = 0.7  # a part below is a complaint


def believed(columns: dict[str, Array]) -> list[str]:
    """Sentences about the columns of a table of reliability."""
    said = columns["reliability"]
    share, doubtful = float((said >= RELIABLE).mean()), said < _DOUBTFUL
    first = f"{share:.0%} of {len(said):,} rows are reliable (0.8 or more), {doubtful.mean():.0%} are not (below 0.5)."
    if doubtful.mean() >= _MOST:
        verdict = "Do not read groups or neighbours from this map: it looks like a map of noise."
    elif doubtful.mean() <= _FEW and share >= _MOST:
        verdict = "Neighbours and groups of this map can be read."
    else:
        verdict = "Read the map where rows are reliable only."
    return [f"{first} {verdict}", *_complaints(columns, doubtful)]


def _complaints(columns: dict[str, Array], doubtful: Array) -> list[str]:
    """What is wrong with the doubtful rows, most frequent first."""
    if not doubtful.any():
        return []
    reasons = {
        "kept": "lie apart from rows that they are near to in the data (torn)",
        "true": "lie beside rows that they are far from in the data (folded, or crowded)",
        "stays": "would be put elsewhere if left out",
        "stable": "have other neighbours in maps of half of the rows",
    }
    shares = {name: float((columns[name][doubtful] < _LOW).mean()) for name in reasons if name in columns}
    named = [
        f"{shares[name]:.0%} {reasons[name]}"
        for name in sorted(shares, key=lambda n: -shares[n])
        if shares[name] >= _FEW
    ]
    return [f"Of the doubtful rows, {'; '.join(named)}."] if named else []
