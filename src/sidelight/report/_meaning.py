"""What the axes and the groups of a report mean, from a sample of rows that keeps the cost within a share of the fit.

The cost is counted (``explain._cost``) and not timed, so that the same arguments give the same bytes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import last_step_of
from sidelight.base.tiles import one_blas_thread
from sidelight.explain._axes import axis_columns
from sidelight.explain._cost import expected_seconds
from sidelight.explain._difference import Settings, group_columns
from sidelight.plot._colouring import Categories

from ._context import Context

__all__ = ["MOST_GROUPS", "Found", "axes_of", "grouping_of", "groups_of"]

MOST_GROUPS = 12
"""Groups that are compared."""
REGIONS = 3
TOLERANCE = 0.05
"""Of the integrals along a line; contributions sum to the difference in any case."""
SECONDS, SHARE = 5.0, 0.2
"""Seconds that each section may take in any case, and the share of the estimated time of the fit."""
FEWEST, MOST = 60, 1000
"""Rows that are looked at."""


@dataclass(frozen=True)
class Found:
    """Columns of a table of ``sidelight.explain``; or none, and the ``reason`` why not."""

    columns: dict[str, NDArray[Any]] | None
    reason: str = ""
    n_rows: int = 0


def axes_of(context: Context) -> Found:
    """What the axes stand for, over the map and in three regions of it."""
    rows, reason = _rows(context, context.n_rows, 0)
    if rows is None:
        return Found(None, reason)
    assert context.X is not None
    regions = REGIONS if len(rows) >= 20 * REGIONS else 0
    given = context.given_of(rows).get("given")
    try:
        with _ignore_feature_name_warning():
            columns = axis_columns(context.model, context.X[rows], given, regions, 0, MOST)
    except ValueError as refused:
        return Found(None, str(refused))
    return Found(_named(columns, context), n_rows=len(rows))


def grouping_of(context: Context) -> Categories | None:
    """The categories that groups are compared by: those of the opening colour, or the first that the user named."""
    asked = context.offered[context.opening] if context.opening >= 0 else None
    for column in (asked, *context.named):
        if isinstance(column, Categories) and column.entry_codes is None and 2 <= len(column.levels) <= MOST_GROUPS:
            return column
    return None


@one_blas_thread
def groups_of(context: Context, groups: Categories) -> Found:
    """What sets each group apart from all other rows."""
    known = np.flatnonzero(groups.codes >= 0)
    counts = np.bincount(groups.codes[known], minlength=len(groups.levels))
    rows, reason = _rows(context, len(known), int((counts > 1).sum()), known)
    if rows is None:
        return Found(None, reason)
    assert context.X is not None
    counts = np.bincount(groups.codes[rows], minlength=len(groups.levels))
    several = counts[groups.codes[rows]] > 1  # one row has no spread to compare with
    rows = rows[several]
    if len(np.unique(groups.codes[rows])) < 2:
        return Found(None, "Fewer than two groups have more than one row.")
    settings = Settings("explain.groups", 200, 0.95, 0, TOLERANCE)
    given = context.given_of(rows).get("given")
    try:
        with _ignore_feature_name_warning():
            columns = group_columns(context.model, context.X[rows], groups.codes[rows], given, settings)
    except ValueError as refused:
        return Found(None, str(refused))
    return Found(_named(columns, context), n_rows=len(rows))


@contextmanager
def _ignore_feature_name_warning() -> Iterator[None]:
    """Rows of the report are an array, whatever the model was fitted on: scikit-learn need not say so."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
        yield


def _rows(
    context: Context, n: int, lines: int, among: NDArray[np.intp] | None = None
) -> tuple[NDArray[np.intp] | None, str]:
    """Evenly spaced rows without gaps that are affordable beside some lines; or why there are none."""
    offers = capabilities(last_step_of(context.model))
    if context.X is None:
        return None, "The rows were not passed to the report."
    if not offers.has_jacobian or (lines == 0 and not offers.has_inverse):
        return None, "This needs derivatives of the maps, which this model does not have in closed form."
    if context.informed and context.known is None:
        return None, "The given values of these rows are unknown."
    whole = np.isfinite(context.X).all(axis=1)
    if context.known is not None:
        whole &= context.known.complete
    rows = np.flatnonzero(whole) if among is None else among[whole[among]]
    if len(rows) < 4:
        return None, "Too few complete rows."
    allowed = _allowed_seconds(context)
    count = min(len(rows), MOST)
    while _seconds(context, count, lines) > allowed and count > FEWEST:
        count //= 2
    if _seconds(context, count, lines) > allowed:
        seconds = _seconds(context, count, lines)
        return None, f"Left out, because it would take about {seconds:,.0f} s, a large part of the time of the fit."
    return rows[np.unique(np.linspace(0, len(rows) - 1, count).astype(np.intp))], ""


def _seconds(context: Context, rows: int, lines: int) -> float:
    n, d = context.n_rows, max(context.n_features, 1)
    return expected_seconds(n, d, rows=rows, lines=lines, tolerance=TOLERANCE)


def _allowed_seconds(context: Context) -> float:
    if not capabilities(context.model).has_cost:
        return SECONDS
    return max(SECONDS, SHARE * float(context.model.estimate_cost(context.n_rows, context.n_features).seconds))


def _named(columns: dict[str, Any], context: Context) -> dict[str, Any]:
    """The same with the names of the features that the report uses, where the model only has numbers."""
    names = {str(k): name for k, name in enumerate(context.feature_names)}
    features = columns["feature"]
    if {str(feature) for feature in features if not str(feature).startswith("(")} <= set(names):
        columns = columns | {"feature": np.array([names.get(str(f), str(f)) for f in features], dtype=object)}
    return columns
