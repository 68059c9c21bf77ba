"""Tables of ``sidelight.explain`` as pictures: bars, an image, or a profile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.messages import error_message

from ._axes import axes_for
from ._colouring import CATEGORIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["attributions"]

_OWNER = "attributions"
_VALUES = {
    "contribution": "contribution, in units of the map",
    "share": "share of the feature's variance",
    "standardised": "map units per standard deviation",
}
"""Columns that can be drawn, the first that the table has by default, and what their axis says."""
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_TICKS = 4  # names along a profile
_UP, _DOWN = CATEGORIES[0], "#C0504D"


def attributions(
    table: Any,
    *,
    kind: str = "bars",
    axis: str | int | None = None,
    part: Any = None,
    n_features: int = 15,
    shape: tuple[int, int] | None = None,
    order: Sequence[str] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw which features move, place or tell apart rows on the map, from a table of :mod:`sidelight.explain`.

    Parameters
    ----------
    table : DataFrame of pandas or polars
        Of ``explain.difference``, ``selection``, ``groups``, ``axes``, ``rows`` or ``local``.
    kind : {"bars", "image", "profile"}, default="bars"
        "bars": the features with the largest values, with intervals where the table has them. "image": all features as
        a picture of ``shape``, for rows that are pictures. "profile": all features as a line, in their order.
    axis : str, int or None, default=None
        Name of the axis of the map; None: the first one of the table.
    part : default=None
        Group, region or row number, for tables of several; None: the first one.
    n_features : int, default=15
        Bars.
    shape : tuple (height, width), optional
        Of a picture; by default it is a square.
    order : sequence of str, optional
        Features in the order of the columns; by default by the numbers in their names where these differ in nothing
        else (``"3"``, ``"1050 nm"``, ``"pixel_3_7"``), else as in the table.
    title : str, optional
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    sidelight.explain.axes : A table to draw.
    scatter : The map.
    """
    if kind not in ("bars", "image", "profile"):
        rule = "is not a kind of picture"
        raise ValueError(error_message(_OWNER, "kind", kind, rule, 'Give "bars", "image" or "profile"'))
    chosen, name, words = _chosen(table, axis, part)
    ax = axes_for(ax, "sidelight.plot.attributions", (5.6, 3.8))
    if kind == "bars":
        _bars(ax, chosen, name, n_features)
        ax.set_xlabel(_VALUES[name])
    else:
        places = _in_order(chosen["feature"], order)
        values = chosen[name][places]
        if kind == "image":
            _image(ax, values, shape)
        else:
            _profile(ax, values, [str(feature) for feature in chosen["feature"][places]])
            ax.set_ylabel(_VALUES[name])
    ax.set_title(words if title is None else title)
    return ax


def _chosen(table: Any, axis: str | int | None, part: Any) -> tuple[dict[str, Any], str, str]:
    """Records of one axis and part that are of features, the column to draw, and what they are about."""
    columns = {name: np.asarray(table[name]) for name in table.columns}
    name = next((name for name in _VALUES if name in columns), None)
    if name is None or "axis" not in columns:
        rule = f"has no column {', '.join(_VALUES)}"
        raise ValueError(error_message(_OWNER, "table", list(columns), rule, "Give a table of sidelight.explain"))
    kept, words = np.ones(len(columns["axis"]), dtype=bool), []
    for column, wanted in (("axis", axis), (_part_of(columns), part)):
        if column is None:
            continue
        names = list(dict.fromkeys(columns[column][kept].tolist()))
        found = next((own for own in names if wanted is None or str(own) == str(wanted)), None)
        if found is None:
            rule = f"is not in the column {column} of the table"
            raise ValueError(error_message(_OWNER, column, wanted, rule, f"There is: {', '.join(map(str, names[:8]))}"))
        kept &= columns[column] == found
        words.append(f"axis {found}" if column == "axis" else f"row {found}" if column == "row" else str(found))
    if "difference" in columns:
        kept &= ~np.isnan(columns["difference"])
    return {key: values[kept] for key, values in columns.items()}, name, ", ".join(words)


def _part_of(columns: dict[str, Any]) -> str | None:
    return next((name for name in ("group", "region", "row") if name in columns), None)


def _bars(ax: Axes, chosen: dict[str, Any], name: str, n_features: int) -> None:
    order = np.argsort(-np.abs(chosen[name]), kind="stable")[:n_features][::-1]
    values, places = chosen[name][order].astype(float), np.arange(len(order))
    signs = chosen["slope"][order] if name == "share" else values
    errors = None
    if name == "contribution" and "low" in chosen and not np.isnan(chosen["low"][order]).any():
        errors = np.maximum([values - chosen["low"][order], chosen["high"][order] - values], 0.0)
    ax.barh(places, values, xerr=errors, color=[_UP if s >= 0 else _DOWN for s in signs], ecolor="#444444", height=0.7)
    ax.set_yticks(places, [str(feature) for feature in chosen["feature"][order]])
    ax.axvline(0.0, color="#999999", linewidth=0.8, zorder=0)
    ax.spines[["top", "right"]].set_visible(False)


def _image(ax: Axes, values: Any, shape: tuple[int, int] | None) -> None:
    side = round(len(values) ** 0.5)
    shape = (side, side) if shape is None else shape
    if shape[0] * shape[1] != len(values):
        rule = f"does not match the {len(values)} features"
        raise ValueError(error_message(_OWNER, "shape", shape, rule, "Give the height and width of a picture"))
    largest = float(np.abs(values).max()) or 1.0
    ax.imshow(np.reshape(values.astype(float), shape), cmap="RdBu", vmin=-largest, vmax=largest)
    ax.set_xticks([])
    ax.set_yticks([])


def _profile(ax: Axes, values: Any, names: list[str]) -> None:
    ax.fill_between(np.arange(len(values)), values.astype(float), color=_UP, alpha=0.25, linewidth=0)
    ax.plot(np.arange(len(values)), values.astype(float), color=_UP, linewidth=1.2)
    ax.axhline(0.0, color="#999999", linewidth=0.8, zorder=0)
    if not all(name.isdigit() for name in names):  # numbers are their own places
        shown = np.unique(np.linspace(0, len(names) - 1, _TICKS).round().astype(int))
        ax.set_xticks(shown, [names[place] for place in shown])
        ax.tick_params(axis="x", labelsize="small")
    ax.set_xlabel("feature")
    ax.spines[["top", "right"]].set_visible(False)


def _in_order(features: Any, order: Sequence[str] | None) -> Any:
    """Places of the records in the order of the columns."""
    names = [str(feature) for feature in features]
    if order is not None:
        at = {name: place for place, name in enumerate(names)}
        missing = [name for name in order if str(name) not in at]
        if missing:
            rule = "is not a feature of the table"
            raise ValueError(error_message(_OWNER, "order", missing[0], rule, "Give the names of the features"))
        return np.array([at[str(name)] for name in order])
    if len({_NUMBER.sub("#", name) for name in names}) == 1:  # "1050 cm-1", "pixel_3_7"
        numbers = [tuple(map(float, _NUMBER.findall(name))) for name in names]
        return np.array(sorted(range(len(names)), key=numbers.__getitem__))
    return np.arange(len(names))
