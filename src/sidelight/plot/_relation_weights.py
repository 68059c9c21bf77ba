"""Which axes each relation looks at: relations by axes, as a heat map with its numbers."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.capabilities import axis_names_of, capabilities
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel

from ._axes import axes_for
from ._plane import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["relation_weights", "shares_of"]

MOST_NUMBERS = 400
"""Cells that have room for their number."""
WIDEST = 12
"""Letters of a line below an axis."""


def relation_weights(model: Any, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw which axes each relation looks at: the share of its weight that is on each axis, line by line.

    An axis that one relation looks at and no other means that relation; its name stands below it.

    Parameters
    ----------
    model : fitted MultipleRelationalEmbedding
        Has ``relation_shares_``, ``relation_names_`` and ``axis_names_``.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    sidelight.MultipleRelationalEmbedding : The model.
    scatter : The map.
    """
    names, shares = shares_of(model, "relation_weights")
    c, q = shares.shape
    titles = _titles(axis_names_of(model))
    cell = max(0.85, 0.1 * max(len(line) for title in titles for line in title.splitlines()))
    ax = axes_for(ax, "sidelight.plot.relation_weights", (1.9 + max(cell * q, 2.2), 1.1 + 0.55 * c))
    shaded = ax.imshow(shares, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
    # Gaps between the cells, as white lines on their edges.
    ax.set_xticks(np.arange(q + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(c + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", linewidth=2.0)
    if shares.size <= MOST_NUMBERS:
        for (row, column), share in np.ndenumerate(shares):
            ink = "white" if share > 0.55 else "#222222"
            ax.text(column, row, f"{share:.2f}", ha="center", va="center", color=ink, fontsize=9)
    ax.set_xticks(np.arange(q), titles)
    ax.set_yticks(np.arange(c), names)
    ax.tick_params(which="both", length=0)
    ax.spines[:].set_visible(False)
    ax.set_ylabel("relation")
    bar = ax.figure.colorbar(shaded, ax=ax, fraction=0.05, pad=0.03, label="share of its weight")
    bar.outline.set_visible(False)
    if title:
        ax.set_title(title)
    return ax


def shares_of(model: FittedModel, owner: str) -> tuple[list[str], Floats]:
    """Return the names of the relations and the share of the weight of each (C, q) that is on each axis."""
    if not capabilities(model).has_relations:
        rule, remedy = "has no relation_shares_", "Fit a MultipleRelationalEmbedding"
        raise ValueError(error_message(owner, "model", type(model).__name__, rule, remedy))
    return [str(name) for name in model.relation_names_], np.asarray(model.relation_shares_, dtype=np.float64)


def _titles(names: list[str]) -> list[str]:
    """The number of each axis and, below it, the relation whose axis it is, in lines that are not wide."""
    return ["\n".join([f"axis {k + 1}", *wrap(name, WIDEST)]) for k, name in enumerate(names)]
