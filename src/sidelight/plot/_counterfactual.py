"""Counterfactuals: the same rows, or latent points, under several values of ``given``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.capabilities import given_of
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel

from ._axes import axes_for
from ._forward import draw_profiles, mosaic
from ._pictures import check_image_shape, range_of, to_pictures
from ._plane import Floats, LatentPlane, Lattice

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["counterfactual_grid", "decoded", "entries_of", "entry_in_words"]

MOST_VALUES = 8
"""Values of a given column that are shown where nobody chose them."""


def counterfactual_grid(
    model: Any,
    X: Any,
    *,
    values: Sequence[Any] | None = None,
    column: str | None = None,
    given: Any = None,
    image_shape: Sequence[int] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw rows (first line) and their counterfactuals under other values of ``given``.

    Parameters
    ----------
    model : fitted model
        Was fitted with ``given``.
    X : array-like of shape (m, d)
        The rows, a column of the grid each.
    values : sequence, optional
        Values of that column, one line of the grid each; by default its categories, or evenly spaced numbers.
    column : str, optional
        Column of ``given`` to change, if there are several; by default the first.
    given : array-like of shape (m,) or (m, g), or table, optional
        Current values of the rows: they are then embedded more precisely, and the other columns of ``given`` are kept.
        Required if ``given`` has several columns.
    image_shape : (height, width) or (height, width, 3), optional
        Rows are pictures of this shape. Without it every cell shows the profile of the row's features.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    forward_grid : Rows that the model makes of places.
    known_and_rest : The map by what was given and by the rest.
    """
    rows = np.asarray(X, dtype=np.float64)
    changed = _column(model, column)
    entries = entries_of(changed, None, MOST_VALUES) if values is None else list(values)
    own = None if given is None else decoded(model.given_, model.given_.encode("counterfactual_grid", given, len(rows)))
    if own is None and len(model.given_.columns) > 1:
        rule = "leaves the other columns of given unknown"
        raise ValueError(error_message("counterfactual_grid", "given", None, rule, "Give the values of the rows"))
    Z = model.transform(X, given=own)
    shown = [rows]
    for entry in entries:
        asked = {**(own or {}), changed.name: [entry] * len(rows)}
        shown.append(np.asarray(model.inverse_transform(Z, given=asked), dtype=np.float64))
    names = ["as it is", *(f"{changed.name} = {entry_in_words(entry)}" for entry in entries)]
    return _draw(np.concatenate(shown), names, image_shape, title, ax)


def _column(model: FittedModel, name: str | None) -> Any:
    known = given_of(model)
    if known is None:
        rule, remedy = "was not given anything that could change", "Fit it with given"
        raise ValueError(error_message("counterfactual_grid", "model", type(model).__name__, rule, remedy))
    columns = {column.name: column for column in known.columns}
    if name is None:
        return known.columns[0]
    if name not in columns:
        rule = "is not a column that the model was given"
        raise ValueError(
            error_message("counterfactual_grid", "column", name, rule, f"Choose from {', '.join(columns)}")
        )
    return columns[name]


def entries_of(column: Any, values: Floats | None, most: int) -> list[Any]:
    """Return at most ``most`` entries of a given column: its categories, or numbers spread over its range.

    ``values`` are the coded entries of the rows: of many categories the commonest are taken, and numbers are quantiles
    of the rows. Without them, the first categories and numbers around the centre.

    Examples
    --------
    >>> from sidelight.side.given import Column
    >>> entries_of(Column("turn", "angle", period=360.0), None, 4)
    [0.0, 90.0, 180.0, 270.0]
    """
    if column.kind == "angle":
        return [float(column.period * k / most) for k in range(most)]
    if column.kind == "category":
        return _commonest(column, values, most)
    if column.categories:
        chosen = np.unique(np.linspace(0, len(column.categories) - 1, most).round().astype(int))
        return [column.categories[k] for k in chosen]
    if values is None:
        return [float(column.centre + column.scale * share) for share in np.linspace(-1.5, 1.5, min(most, 5))]
    spread = np.quantile(values[np.isfinite(values)], np.linspace(0.05, 0.95, min(most, 6)))
    return [float(value) for value in np.unique(spread)]


def _commonest(column: Any, values: Floats | None, most: int) -> list[Any]:
    count = len(column.categories)
    chosen = np.arange(min(count, most))
    if values is not None and count > most:
        seen = np.bincount(values[np.isfinite(values)].astype(int), minlength=count)
        chosen = np.sort(np.argsort(-seen, kind="stable")[:most])
    return [column.categories[k] for k in chosen]


def decoded(given: Any, known: Any) -> dict[str, list[Any]]:
    """Return encoded rows as the entries they were made of, None where missing."""
    table: dict[str, list[Any]] = {}
    for c, column in enumerate(given.columns):
        codes = known.values[:, c].tolist()
        if column.categories:
            table[column.name] = [None if code != code else column.categories[int(code)] for code in codes]
        else:
            table[column.name] = [None if code != code else code for code in codes]
    return table


def entry_in_words(entry: Any) -> str:
    """Return an entry as people write it.

    Examples
    --------
    >>> [entry_in_words(entry) for entry in ("car", 3, 0.123456, 90.0)]
    ['car', '3', '0.123', '90']
    """
    return f"{entry:.3g}" if isinstance(entry, float) else str(entry)


def _draw(
    rows: Floats, names: list[str], image_shape: Sequence[int] | None, title: str | None, ax: Axes | None
) -> Axes:
    """Draw the lines of a grid one below the other, the first apart from the others."""
    lines, m = len(names), len(rows) // len(names)
    shape = None if image_shape is None else check_image_shape(image_shape, rows.shape[1], "counterfactual_grid")
    ratio = 1.0 if shape is None else shape[0] / shape[1]
    side = min(1.0, 12.0 / m)
    ax = axes_for(ax, "sidelight.plot.counterfactual_grid", (side * m + 1.6, side * lines * ratio + 0.5))
    lattice = Lattice(lines, m, np.empty((0, 2)), (1.0, 1.0))
    frame = (0.0, float(m), 0.0, float(lines))
    if shape is not None:
        tiles = mosaic(to_pictures(rows, shape, range_of(rows)), np.ones(len(rows)), lattice)
        ax.imshow(tiles, extent=frame, aspect=ratio, interpolation="nearest")
    else:
        plane = LatentPlane(np.empty((0, 2)), np.empty((0, 2)), frame)
        title = draw_profiles(ax, plane, lattice, rows, np.ones(len(rows))) if title is None else title
        ax.set(xlim=frame[:2], ylim=frame[2:])
    ax.axhline(lines - 1 + 0.02, color="#555555", linewidth=1.0)
    ax.set_yticks(lines - 0.5 - np.arange(lines), names)
    ax.set_xticks([])
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    if title:
        ax.set_title(title)
    return ax
