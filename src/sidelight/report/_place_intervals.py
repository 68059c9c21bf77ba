"""Intervals of the rows that a model makes of places, in the units in which it returns them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import Chain, last_step_of
from sidelight.base.model import FittedModel

__all__ = ["LEVEL", "ends_of", "packed_widths"]

LEVEL = 0.9
"""Share of the entries of rows at a place that its intervals should hold."""
_SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


def ends_of(model: FittedModel, Z: NDArray[Any], side: dict[str, Any]) -> Ends | None:
    """Lower and upper ends (m, d) at latent points; None for a model without intervals.

    Ends go back through steps that scale each column by itself; behind any other step there are none.
    """
    last = last_step_of(model)
    before = model.before if isinstance(model, Chain) else ()
    if not capabilities(last).has_row_interval or not all(isinstance(step, _SCALERS) for step in before):
        return None
    try:
        found = last.inverse_transform_interval(Z, level=LEVEL, **side)
    except ValueError:  # too few rows to say anything
        return None
    ends = [np.asarray(end, dtype=np.float64) for end in (found.lower, found.upper)]
    for step in reversed(before):
        ends = [np.asarray(step.inverse_transform(end), dtype=np.float64) for end in ends]
    return ends[0], ends[1]


def packed_widths(values: NDArray[Any], ends: Ends, span: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Widths below and above values (m, p), as bytes (2, m, p) of the widest of each column, and these (p,)."""
    widths = np.maximum([values - ends[0], ends[1] - values], 0.0) / span
    widest = np.nan_to_num(widths, posinf=0.0).max(axis=(0, 1))
    share = np.nan_to_num(widths / np.where(widest > 0, widest, 1.0), posinf=1.0)
    return np.rint(255.0 * np.clip(share, 0.0, 1.0)), widest
