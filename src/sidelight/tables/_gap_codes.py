"""Codes for the gaps of a table, by a model of the entries: means, standard deviations, joint draws.

Each function returns an array (n, p) beside the code of the table; only rows with gaps go through the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import spans
from sidelight.maps.entry_models import EntryModel

from ._category_code import CategoryCode
from ._fill_plan import GappedTable
from ._level_draws import drawn_levels

__all__ = ["deviation_code", "drawn_code", "mean_code"]

Array = npt.NDArray[Any]
_BLOCK = 4096  # rows between two reports of progress


def mean_code(
    found: GappedTable, model: EntryModel | None, n_jobs: int | None, done: Callable[[int, int], None] | None = None
) -> Array:
    """Return the code of a table with means in its gaps; ``done(rows, all)`` is told how many rows are filled."""
    A, rows = found.code.copy(), found.rows
    if model is None:
        return A
    for part in spans(len(rows), _BLOCK):
        A[rows[part]] = model.mean(found.code[rows[part]], n_jobs)
        if done is not None:
            done(part.stop, len(rows))
    return A


def deviation_code(found: GappedTable, model: EntryModel | None, n_jobs: int | None) -> Array:
    """Return the standard deviations of the gaps, 0 elsewhere."""
    deviation, rows = np.zeros_like(found.code), found.rows
    if model is not None and len(rows):
        deviation[rows] = np.sqrt(model.variance(found.code[rows], n_jobs))
    return deviation


def drawn_code(
    found: GappedTable,
    model: EntryModel | None,
    mean: Array,
    deviation: Array,
    shift: Array,
    rng: np.random.Generator,
    scale: float,
    n_jobs: int | None,
) -> Array:
    """Return the code of a table with a joint draw in its gaps.

    Parameters
    ----------
    found : GappedTable
    model : EntryModel or None
    mean, deviation : arrays of shape (n, p)
        Of the gaps.
    shift : array of shape (m, p)
        Error of the means of the m rows with gaps (``maps.parameter_draws``).
    rng : Generator
    scale : float
        Of the deviations from the mean that the model draws.
    n_jobs : int or None
    """
    A, rows = found.code.copy(), found.rows
    if model is None or not len(rows):
        return A
    mean = mean.copy()
    A[rows] = mean[rows] + shift + scale * (model.draw(found.code[rows], rng, n_jobs) - mean[rows])
    mean[rows] += shift
    for block, code, _ in found.plan.used:
        gaps = found.gaps[block.name]
        if isinstance(code, CategoryCode) and len(gaps):
            # levels go by their probabilities, and by the order of the draws alone
            expected, spread, drawn = (one[gaps, block.columns] for one in (mean, deviation, A))
            A[gaps, block.columns] = drawn_levels(code, expected, scale * spread, drawn, rng)
    return A
