"""Rows that are held on the next map: pinned where they are, or moved to where they should be.

A map has no direction, scale or origin of its own, so a statement says places together with those of reference rows.
A fit that nothing is held in comes first; the similarity that takes it nearest to what is said then gives the places in
its coordinates, and a second fit from there holds the rows and moves the others (``held=`` of the model).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._align import aligned
from .statement import Statement

__all__ = ["HeldPlaces", "held_places", "placed_statement", "shown_moves"]

Array = NDArray[Any]
_REFERENCES = 40  # rows that say what the places of a statement refer to
_DIGITS = 6  # of a place in a statement, relative to the spread of the map


@dataclass(frozen=True)
class HeldPlaces:
    """Row numbers that are held (m,) and where (m, q), and rows that only say what the places refer to."""

    rows: Array
    places: Array
    others: Array
    other_places: Array

    def start(self, Z: Array) -> Array:
        """Initial points (n, q): a map ``Z`` that nothing was held in, with the held rows where they should be."""
        W = np.full(Z.shape, np.nan)
        W[self.others] = self.other_places
        if len(self.others) <= Z.shape[1]:  # too few to say how the map is turned: what is held says it, too
            W[self.rows] = self.places
        out = np.array(Z, dtype=np.float64)
        out[self.rows] = aligned(Z, W).latent(self.places)
        return out

    def targets(self, before: Array) -> Array:
        """Places (n, q) to align the new map with: those of the map before, and where rows are held."""
        if before.shape[1] != self.places.shape[1]:
            return before
        out = np.array(before)
        out[self.rows] = self.places
        return out


def held_places(statements: Sequence[Statement], kept: Array, q: int) -> HeldPlaces | None:
    """What statements that are on hold, in numbers of the ``kept`` rows; the last one about a row counts."""
    held: dict[int, tuple[float, ...]] = {}
    reference: dict[int, tuple[float, ...]] = {}
    for one in statements:
        if one.on and one.places and len(one.places[0]) == q:
            held |= dict(zip(one.rows, map(tuple, one.places), strict=False))
            reference |= dict(zip(one.others, map(tuple, one.places[len(one.rows) :]), strict=True))
            if one.kind == "pin":  # they are where the map had them, so that they say how it is turned
                reference |= dict(zip(one.rows, map(tuple, one.places), strict=False))
    moved = {row for one in statements if one.on and one.kind == "move" for row in one.rows}
    numbers = {row: at for at, row in enumerate(kept.tolist())}
    rows = sorted(row for row in held if row in numbers)
    others = sorted(row for row in reference if row in numbers and row not in moved)
    if not rows:
        return None
    at = np.array([numbers[row] for row in rows])
    beside = np.array([numbers[row] for row in others], dtype=np.int64)
    return HeldPlaces(
        at, np.array([held[row] for row in rows]), beside, np.array([reference[row] for row in others]).reshape(-1, q)
    )


def shown_moves(places: Array, statements: Sequence[Statement]) -> Array:
    """Places (n, q) with the rows of some statements "move" where they should be."""
    out = np.array(places)
    for one in statements:
        if len(one.places[0]) == places.shape[1]:
            out[list(one.rows)] = one.places[: len(one.rows)]
    return out


def placed_statement(rows: Sequence[int], kind: str, places: Array, shift: Array | float = 0.0) -> Statement:
    """A statement "pin" or "move" with the places of its rows on a map (n, q), shifted, and of reference rows.

    Reference rows are up to 40 others, evenly in the order of rows.
    """
    known: Array = np.asarray(np.isfinite(places).all(axis=1))
    known[list(rows)] = False
    free = np.flatnonzero(known)
    others = free[np.unique(np.linspace(0, len(free) - 1, min(len(free), _REFERENCES)).astype(np.int64))]
    there = places[list(rows)] + shift
    digits = _DIGITS - int(np.floor(np.log10(max(float(np.nanstd(places)), 1e-100))))
    W = np.round(np.concatenate([there, places[others]]), digits)
    return Statement(kind, rows, others.tolist(), places=W.tolist())
