"""Which columns belong to which view, which views have seen a row, and latent points by the views in X."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import by_block
from sidelight.base.types import Array, ColumnSelector
from sidelight.maps.coordinated import CoordinatedMap
from sidelight.maps.views import refuse_half_rows

__all__ = ["embedded_by_x", "placed", "refuse_blind_views", "refuse_unseen_rows", "view_columns"]


def view_columns(
    owner: str, views: Sequence[ColumnSelector] | None, names: Sequence[str], n_columns: int, n_columns_y: int
) -> list[Array]:
    """The columns of each view; those of y come after those of X.

    Parameters
    ----------
    owner : str
        Class name, for messages.
    views : sequence of slices and lists, or None
        Selectors of columns of X, every column in one of them; None: X is one view.
    names : sequence of str
        Names of the columns of X; empty where it has none.
    n_columns, n_columns_y : int
        Columns of X and of y; 0: there is no y.
    """
    d = n_columns
    chosen = [np.arange(d)] if views is None else [_selected(owner, view, names, d) for view in views]
    counts = np.bincount(np.concatenate(chosen), minlength=d) if chosen else np.zeros(d, dtype=int)
    if not (counts == 1).all():
        column = int(np.flatnonzero(counts != 1)[0])
        rule = "is in no view" if counts[column] == 0 else "is in two views"
        raise ValueError(error_message(owner, "views", f"column {column}", rule, "Put every column of X in one view"))
    return [*chosen, np.arange(d, d + n_columns_y)] if n_columns_y else chosen


def _selected(owner: str, view: ColumnSelector, names: Sequence[str], d: int) -> Array:
    """The numbers of the columns that a selector means."""
    known = {name: number for number, name in enumerate(names)}
    shown: object = view
    try:
        if isinstance(view, slice):
            columns = np.arange(d)[view]
        else:
            shown = numbers = [known[column] if isinstance(column, str) else column for column in view]
            columns = np.atleast_1d(np.arange(d)[numbers])
    except (KeyError, IndexError, TypeError):
        columns = np.empty(0, dtype=int)
    if len(columns) == 0:
        rule, remedy = f"selects none of the {d} columns of X", "Give a slice, or a list of numbers or names"
        raise ValueError(error_message(owner, "views", shown, rule, remedy))
    return columns


def refuse_blind_views(owner: str, sample: Array, columns: Sequence[Array]) -> None:
    """A view must have seen at least two rows of the sample to be fitted."""
    for number, own in enumerate(columns):
        if (~np.isnan(sample[:, own]).any(axis=1)).sum() < 2:
            rule, remedy = "was seen in fewer than two rows", "Leave the view out, or give more rows"
            raise ValueError(error_message(owner, "views", f"view {number}", rule, remedy))


def refuse_unseen_rows(owner: str, X: Array, columns: Sequence[Array]) -> None:
    """A view has seen a row whole or not at all, and at least one view has seen it; X may lack the columns of y."""
    seen = np.zeros(len(X), dtype=bool)
    for number, own in enumerate(columns):
        if own[-1] < X.shape[1]:
            refuse_half_rows(owner, f"view {number}", X[:, own])
            seen |= ~np.isnan(X[:, own[0]])
    if not seen.all():
        row = int(np.flatnonzero(~seen)[0])
        raise ValueError(error_message(owner, "X", f"row {row}", "is NaN in every view", "Leave such rows out"))


def placed(V: Array, columns: Array, n_columns: int) -> Array:
    """Rows V (m, p) of some columns as rows (m, n_columns) of all, NaN elsewhere."""
    wide = np.full((len(V), n_columns), np.nan)
    wide[:, columns] = V
    return wide


def embedded_by_x(both: CoordinatedMap, joint: Array, by_all: Array, d: int, n_jobs: int | None) -> Array:
    """Latent points (n, q) of fitted rows by their first d columns, as by ``transform``; by all where these are NaN.

    ``joint`` (n, D) are the rows with y, and ``by_all`` (n, q) their latent points by all views.
    """
    seen = ~np.isnan(joint[:, :d]).all(axis=1)
    n_columns = joint.shape[1]
    if n_columns == d or not seen.any():
        return by_all
    Z = by_all.copy()
    own = np.arange(d)
    Z[seen] = by_block(lambda part: both.backward(placed(part, own, n_columns)), joint[seen, :d], n_jobs)
    return Z
