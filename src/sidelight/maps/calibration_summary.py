r"""Errors of left-out rows in at most 0.7 MB, for models that store them because they keep no rows.

Up to 40,000 errors are kept as they are (``maps.calibration``). Of more, with columns in blocks b(c) of neighbours
(each its own block up to 500 columns), kept are

====================  ====================  ========================================================================
u_c                   (d,)                  root mean square of the errors of column c
s_{rb}                (100, blocks)         scale of e_c / u_c, c in block b, at 100 places, from the 30 nearest rows
q_b(a)                (61, blocks)          half widths at 61 levels a, in units of u_c s
====================  ====================  ========================================================================

so that an interval at z is ``± q_b(a) u_c s_b(z)``, ``s_b(z)^2`` the mean of that at the 3 places nearest to z. Widths
between levels are interpolated; beyond the last one the tail is taken as normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest

from .calibration import PRIOR, Calibration, local_squares, normal_half_width, width_table
from .weights import list_weighted_mean

__all__ = ["CalibrationSummary", "Errors", "WidthTable", "bounded_errors", "bounded_multiples", "keeps"]

Array = npt.NDArray[Any]
_ENTRIES = 40_000  # errors that are kept as they are
_BLOCKS, _UNITS, _PLACES, _NEAREST = 500, 25_000, 100, 3
_LEVELS = np.concatenate([np.linspace(0.0, 0.9, 46), 1.0 - np.geomspace(0.1, 1e-4, 16)[1:]])


def _block_numbers(n_columns: int, n_blocks: int) -> Array:
    """Block (d,) of each column: neighbours, of nearly equal numbers."""
    return np.arange(n_columns) * n_blocks // max(n_columns, 1)


@dataclass(frozen=True)
class WidthTable:
    """Half widths of intervals at some levels, by blocks of columns.

    Parameters
    ----------
    levels : array of shape (k,)
        Increasing.
    widths : array of shape (k, b)
    n_columns : int
        Columns d, at least b.
    """

    levels: Array
    widths: Array
    n_columns: int

    @classmethod
    def of(cls, scaled: Array) -> WidthTable:
        """Summarise absolute scaled errors (m, d); NaN marks missing ones."""
        n_columns = scaled.shape[1]
        blocks = _block_numbers(n_columns, min(n_columns, _BLOCKS))
        return cls(_LEVELS, width_table(scaled, _LEVELS, blocks).astype(np.float32), n_columns)

    def half_widths(self, level: float) -> Array:
        """Half widths (d,) that hold a share ``level`` of further entries."""
        last = float(self.levels[-1])
        if level > last:
            found = self.widths[-1] * (normal_half_width(level) / normal_half_width(last))
        else:
            above = min(max(int(np.searchsorted(self.levels, level)), 1), len(self.levels) - 1)
            low, high = self.levels[above - 1], self.levels[above]
            share = (level - low) / (high - low)
            found = (1.0 - share) * self.widths[above - 1] + share * self.widths[above]
        return np.asarray(found[_block_numbers(self.n_columns, len(found))], dtype=np.float64)


@dataclass(frozen=True)
class CalibrationSummary:
    """Summary of the errors of left-out rows: their scale at some latent points, and widths relative to it.

    Parameters
    ----------
    places : array of shape (r, q)
    scales : array of shape (r, b)
    unit : array of shape (u,)
        Of blocks of columns, if there are more than 25,000.
    multiples : WidthTable
    """

    places: Array
    scales: Array
    unit: Array
    multiples: WidthTable

    @classmethod
    def of(cls, errors: Calibration) -> CalibrationSummary:
        """Summarise errors (m, d) at places (m, q)."""
        d = errors.errors.shape[1]
        in_units = _block_numbers(d, min(d, _UNITS))
        unit = np.sqrt(_block_means(np.square(errors.errors).mean(axis=0, keepdims=True), in_units))[0]
        units = unit[in_units]
        relative = np.divide(errors.errors, units, out=np.zeros(errors.errors.shape), where=units > 0)
        blocks = _block_numbers(d, min(d, _BLOCKS))
        together = Calibration(errors.places, np.sqrt(_block_means(np.square(relative), blocks)))
        places = errors.places[spread_rows(len(errors.places), _PLACES)]
        near = together.near(places, 1)
        squares = local_squares(together.errors, near)
        own = np.sqrt(_squares_without(squares, near, together, places))[:, blocks]
        scaled = np.divide(np.abs(relative), own, out=np.full(own.shape, np.nan), where=(own > 0) & (units > 0))
        return cls(places, np.sqrt(squares).astype(np.float32), unit, WidthTable.of(scaled))

    def half_widths(self, Z: Array, level: float, n_jobs: int | None = None) -> Array:
        """Half-widths (k, d) of intervals at latent points ``Z`` (k, q)."""
        near = nearest(self.places, Z, k=_NEAREST, n_jobs=n_jobs).index
        squares = np.square(self.scales, dtype=np.float64)
        scales = np.sqrt(list_weighted_mean(np.full(near.shape, 1.0 / _NEAREST), squares, near))
        d = self.multiples.n_columns
        widths = self.multiples.half_widths(level) * self.unit[_block_numbers(d, len(self.unit))]
        return np.asarray(scales[:, _block_numbers(d, scales.shape[1])] * widths)


def _squares_without(squares: Array, near: Array, errors: Calibration, places: Array) -> Array:
    """``s²`` (m, b) at the places of the rows themselves, each row left out of those that it is part of.

    Parameters
    ----------
    squares : array of shape (r, b)
        ``s²`` at the places that are kept.
    near : array of shape (r, K)
        The rows that each of them is from.
    errors : Calibration
    places : array of shape (r, q)
    """
    total, own = near.shape[1] + PRIOR, np.square(errors.errors)
    found = np.zeros(own.shape)
    for place in nearest(places, errors.places, k=_NEAREST, n_jobs=1).index.T:
        part = (near[place] == np.arange(len(own))[:, None]).any(axis=1).astype(np.float64)[:, None]
        found += (total * squares[place] - part * own) / (total - part) / _NEAREST
    return np.maximum(found, 0.0)


def _block_means(values: Array, blocks: Array) -> Array:
    """Means (m, b) of the columns of each block."""
    starts = np.flatnonzero(np.diff(blocks, prepend=-1))
    if len(starts) == len(blocks):
        return values
    return np.asarray(np.add.reduceat(values, starts, axis=1) / np.diff(starts, append=len(blocks)))


Errors = Calibration | CalibrationSummary
"""Errors of left-out rows as a model stores them."""


def bounded_errors(errors: Calibration) -> Errors:
    """The errors, or their summary if there are more than 40,000."""
    return errors if errors.errors.size <= _ENTRIES else CalibrationSummary.of(errors)


def bounded_multiples(scaled: Array) -> Array | WidthTable:
    """Absolute scaled errors (m, d), or a table of widths if there are more than 40,000."""
    return scaled if scaled.size <= _ENTRIES else WidthTable.of(scaled)


def keeps(errors: str, fitted: str) -> Callable[[object], bool]:
    """From a model to whether it stored the attribute ``errors``; before a fit, which sets ``fitted``, it may.

    A fit to fewer than 20 rows stores none, nor does one in batches, and older files have none.
    """

    def check(model: object) -> bool:
        return fitted not in vars(model) or errors in vars(model)

    return check
