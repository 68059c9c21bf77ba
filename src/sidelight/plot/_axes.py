"""Axes to draw on, and the drawing habits all pictures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sidelight.base.messages import require_extra

from ._plane import SHAPE

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ._plane import LatentPlane

__all__ = ["RASTERISE_FROM", "axes_for", "dress", "marker_area"]

RASTERISE_FROM = 2000
"""Rows from which a vector file stores points as pixels: more shapes make it larger, not better."""


def axes_for(ax: Axes | None, owner: str, size: tuple[float, float] = (6.4, 5.6)) -> Axes:
    """Return ``ax``, or the Axes of a new figure."""
    pyplot = require_extra("matplotlib.pyplot", owner, "report")
    if ax is not None:
        return ax
    created: Axes = pyplot.subplots(figsize=size, layout="constrained")[1]
    return created


def marker_area(n: int) -> float:
    """Area of a marker in points²: 36 for a few hundred rows, shrinking to 1 at 100,000.

    Examples
    --------
    >>> [round(marker_area(n), 1) for n in (100, 1000, 10_000, 100_000)]
    [36.0, 18.0, 1.8, 1.0]
    """
    return float(min(36.0, max(1.0, 18_000.0 / max(n, 1))))


def dress(ax: Axes, plane: LatentPlane, title: str | None) -> None:
    """Frame ``ax`` to the plane: limits, equal units on both axes (unless they have their own), names, few ticks."""
    left, right, bottom, top = plane.extent
    ax.set_xlim(left, right)
    ax.set_ylim(bottom, top)
    ax.set_xlabel(plane.title(0))
    if plane.n_components == 1:
        ax.set_yticks([])
    else:
        ax.set_ylabel(plane.title(1))
        if plane.own_units:
            ax.set_box_aspect(SHAPE)
        else:
            ax.set_aspect("equal")
    ax.spines[["top", "right"]].set_visible(False)
    notes = [title] if title else []
    if plane.n_components > 2:
        notes.append(f"first two of {plane.n_components} latent dimensions")
    if notes:
        ax.set_title("\n".join(notes))
