"""Warnings and errors for counterfactuals without similar training rows of the requested ``given``."""

from __future__ import annotations

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.base.warnings import DesignWarning, ExtrapolationWarning, warn
from sidelight.maps.overlap import UNUSUAL, extrapolates
from sidelight.side.given import Given

__all__ = ["check_row_can_be_kept", "warn_of_extrapolation", "warn_of_nothing_kept"]


def check_row_can_be_kept(owner: object, given: Given | None, given_now: object, *, return_std: bool) -> None:
    """Raise for ``residual="row"`` without ``given_now``, for numbers, and with standard deviations."""
    rule = remedy = None
    if given_now is None:
        rule, remedy = "needs the current values of the rows", "Give given_now"
    elif given is not None and not given.categorical:
        rule, remedy = "compares categories, and given has numbers", 'Use residual="auto", or bin the numbers'
    elif return_std:
        rule = "has no standard deviations"
        remedy = 'Use residual="auto", or counterfactual_interval with individuals'
    if rule is not None and remedy is not None:
        raise ValueError(error_message(owner, "residual", "row", rule, remedy))


def warn_of_extrapolation(owner: str, overlap: Array) -> None:
    """Warn if more than a few of the rows are unlike the training rows of the ``given`` asked for."""
    if extrapolates(overlap):
        n_far = int((overlap < UNUSUAL).sum())
        rule = f"was never seen near {n_far} of the {len(overlap)} rows, so that the result is an extrapolation"
        remedy = "Look at overlap(X, given=...), and keep to rows where it is above 0.01"
        warn(error_message(owner, "given", "the value asked for", rule, remedy), ExtrapolationWarning)


def warn_of_nothing_kept(owner: str) -> None:
    """Warn that ``residual="auto"`` keeps nothing of rows whose current values were passed."""
    rule = "keeps nothing of the rows: what groups leave of them points in unlike directions (change_.kept is 0)"
    remedy = "Rows with the same place come out the same; set residual=1 to keep the whole difference, or 0 to agree"
    warn(error_message(owner, "residual", "auto", rule, remedy), DesignWarning)
