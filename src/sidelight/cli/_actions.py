"""Rows in temporal order: ``--actions COLUMN`` (action at each row) and ``--trajectory COLUMN``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import count_of
from sidelight.side.actions import as_actions

from ._matrix import Matrix
from ._output import CommandError
from ._sparse_rows import has_gaps

__all__ = ["SequenceColumns", "read_sequence"]


@dataclass(frozen=True)
class SequenceColumns:
    """Columns of the action and of the trajectory of each row."""

    actions: str | None = None
    trajectory: str | None = None

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return [name for name in (self.actions, self.trajectory) if name is not None]


def read_sequence(sequence: SequenceColumns, matrix: Matrix, whole: Matrix) -> tuple[dict[str, Any], str]:
    """Return actions or trajectories of the rows of ``matrix`` as an argument of ``fit``, and a sentence about them.

    The file had the rows ``whole``; a step from or to a row that was left out is left out, too. Without actions, the
    trajectories are for missing entries, and there is nothing to return if none is missing.
    """
    if sequence.actions is None:
        return ({}, "") if sequence.trajectory is None else _order(sequence.trajectory, matrix)
    done = _labels(whole.related[sequence.actions])
    if all(label is None for label in done):
        raise CommandError(f"--actions {sequence.actions}: every entry is empty; fill in what was done at each row")
    runs = None if sequence.trajectory is None else _labels(whole.related[sequence.trajectory])
    there = as_actions(done, whole.n_rows, runs)
    here = there.take(matrix.rows)
    words = f"{count_of(len(here.steps), 'step')} with {count_of(len(here.names), 'different action')}"
    words += "" if runs is None else f" in {count_of(len(set(runs)), 'trajectory')}"
    lost = len(there.steps) - len(here.steps)
    gaps = f"; {lost} steps from or to rows that were left out are not used" if lost else ""
    return {"actions": here}, f"Rows in temporal order: {words}{gaps}."


def _order(name: str, matrix: Matrix) -> tuple[dict[str, Any], str]:
    """The trajectory of each row, for filling missing entries."""
    runs = _labels(matrix.related[name])
    if any(label is None for label in runs):
        raise CommandError(f"--trajectory {name}: some entries are empty; name the trajectory of each row")
    if not has_gaps(matrix.X):
        return {}, f"--trajectory {name}: nothing is missing, so that the order of the rows changes nothing."
    runs_in_words = count_of(len(set(runs)), "trajectory")
    words = f"Rows in temporal order in {runs_in_words}: adjacent rows help to fill missing entries."
    return {"trajectory": runs}, words


def _labels(column: pd.Series[Any]) -> Any:
    """The entries as text, None where there is none; whole numbers that gaps made fractional stay whole."""
    numbers = pd.to_numeric(column, errors="coerce") if pd.api.types.is_float_dtype(column) else None
    if numbers is not None and (numbers.dropna() == np.rint(numbers.dropna())).all():
        column = numbers.astype("Int64")
    return np.array([None if pd.isna(entry) else str(entry) for entry in column], dtype=object)
