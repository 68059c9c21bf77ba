"""How pages of the table of families write numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["first_rivals", "in_red", "is_fresh", "is_time", "number"]


def number(value: float) -> str:
    """Three digits.

    >>> [number(value) for value in (0.98712, -23.317, 104.2, 0.00251)]
    ['0.987', '-23.3', '104', '0.0025']
    """
    if abs(value) >= 100:
        return f"{value:.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    return f"{value:.4f}" if abs(value) < 0.01 and value else f"{value:.3f}"


def in_red(text: object) -> str:
    """Red in the HTML, bold where styles are left out."""
    return f'<strong style="color: #c0392b">{text}</strong>'


def first_rivals(rivals: Mapping[str, float], best: str) -> list[tuple[str, float]]:
    """Rivals and their numbers, the best one first."""
    return [(best, rivals[best]), *((who, value) for who, value in rivals.items() if who != best)]


def is_fresh(row: Mapping[str, Any]) -> bool:
    """Whether a row has numbers, on a set that nothing was chosen on (not other draws of one)."""
    return not row["missing"] and "chosen on" not in row["data"]


def is_time(row: Mapping[str, Any]) -> bool:
    """Whether a row is about time, not about quality."""
    return str(row["measure"]).startswith(("times ", "CPU "))
