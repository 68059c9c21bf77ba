"""Intervals of the rows that a model makes of places, in the units in which it returns them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.model import FittedModel

__all__ = ["LEVEL", "ends_of", "packed_widths"]

LEVEL = 0.9
"""Share of the entries of rows at a place that its intervals should hold."""

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]


def ends_of(model: FittedModel, Z: NDArray[Any], side: dict[str, Any]) -> Ends | None:
    """Lower and upper ends (m, d) at latent points, in units of the data; None for a model without intervals."""
    if not capabilities(model).has_row_interval:
        return None
    try:
        found = model.inverse_transform_interval(Z, level=LEVEL, **side)
    except ValueError:  # too few rows to say anything
        return None
    return np.asarray(found.lower, dtype=np.float64), np.asarray(found.upper, dtype=np.float64)


def packed_widths(values: NDArray[Any], ends: Ends, span: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Widths below and above values (m, p), as bytes (2, m, p) of the widest of each column, and these (p,)."""
    widths = np.maximum([values - ends[0], ends[1] - values], 0.0) / span
    widest = np.nan_to_num(widths, posinf=0.0).max(axis=(0, 1))
    share = np.nan_to_num(widths / np.where(widest > 0, widest, 1.0), posinf=1.0)
    return np.rint(255.0 * np.clip(share, 0.0, 1.0)), widest
