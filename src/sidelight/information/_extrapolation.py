"""Warn where rows are asked for that are unlike the training rows of a value of ``given``."""

from __future__ import annotations

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.base.warnings import ExtrapolationWarning, warn
from sidelight.maps.overlap import UNUSUAL, extrapolates

__all__ = ["warn_of_extrapolation"]


def warn_of_extrapolation(owner: str, overlap: Array) -> None:
    """Warn if more than a few of the rows are unlike the training rows of the ``given`` asked for."""
    if extrapolates(overlap):
        n_far = int((overlap < UNUSUAL).sum())
        rule = f"was never seen near {n_far} of the {len(overlap)} rows, so that the result is an extrapolation"
        remedy = "Look at overlap(X, given=...), and keep to rows where it is above 0.01"
        warn(error_message(owner, "given", "the value asked for", rule, remedy), ExtrapolationWarning)
