"""Warn where answers about new rows rest on repeated measurements of the same individuals.

Intervals and rates of false alarms are calibrated on training rows that were left out. If every patient has four
visits, a visit that is left out has three others of the same patient beside it, and a new patient has none.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.warnings import ExtrapolationWarning, warn
from sidelight.neighbours.repeats import usual_repeats

__all__ = ["warn_of_repeats"]


def warn_of_repeats(owner: object, rows: npt.NDArray[Any], memo: dict[str, Any]) -> None:
    """Warn (``ExtrapolationWarning``), once for a ``memo``, if training ``rows`` (n, d) are repeated measurements."""
    if "repeats" in memo:
        return
    memo["repeats"] = usual_repeats(np.asarray(rows, dtype=np.float64))
    if memo["repeats"]:
        seen = f"rows in clumps of about {memo['repeats'] + 1}"
        rule = "look like repeated measurements of the same individuals: intervals and rates of false alarms hold for"
        rule = f"{rule} further measurements of these, and not for new individuals"
        remedy = "For new individuals, fit to one row, or the mean row, of each"
        warn(error_message(owner, "training rows", seen, rule, remedy), ExtrapolationWarning)
