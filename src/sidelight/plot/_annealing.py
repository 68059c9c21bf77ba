"""The objective and its terms along the annealing path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.capabilities import history_of
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel

from ._axes import axes_for
from ._colouring import CATEGORIES
from ._plane import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["AnnealingPath", "Stage", "path", "path_of"]

MOST_STAGE_NAMES = 14
"""Stages whose λ is written; of more, evenly spaced ones."""


@dataclass(frozen=True)
class Stage:
    """A run of iterations under one λ, from iteration ``start`` up to ``stop``."""

    start: int
    stop: int
    regularization: float


@dataclass(frozen=True)
class AnnealingPath:
    """``history_`` as columns: the iterations of all stages one after the other."""

    objective: Floats
    terms: dict[str, Floats]
    stages: tuple[Stage, ...]

    @property
    def annealed(self) -> bool:
        """Whether there is a λ to speak of."""
        return any(stage.regularization > 0.0 for stage in self.stages)


def path_of(model: FittedModel) -> AnnealingPath:
    """Return the ``history_`` of a fitted model as columns; a term that an iteration does not have is NaN."""
    history = history_of(model)
    if not history:
        raise ValueError(
            error_message("path", "model", type(model).__name__, "has no history_", "Fit a model that is annealed")
        )
    names = list(dict.fromkeys(name for record in history for name in record["terms"]))
    terms = {
        name: np.array([record["terms"].get(name, np.nan) for record in history], dtype=np.float64) for name in names
    }
    numbers = np.array([record["stage"] for record in history])
    starts = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist()]
    stops = [*starts[1:], len(history)]
    stages = tuple(Stage(a, b, float(history[a]["regularization"])) for a, b in zip(starts, stops, strict=True))
    return AnnealingPath(np.array([record["objective"] for record in history], dtype=np.float64), terms, stages)


def path(model: Any, *, title: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw the objective and its terms against the iterations of all stages, each stage marked with its λ.

    Parameters
    ----------
    model : fitted model
        Has ``history_``: a record per iteration, with ``stage``, ``regularization``, ``objective``, ``terms``.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    spectrum : Eigenvalues of a spectral model.
    """
    history = path_of(model)
    ax = axes_for(ax, "sidelight.plot.path", (7.4, 4.2))
    iterations = np.arange(1, len(history.objective) + 1)
    ax.plot(iterations, history.objective, color="#222222", linewidth=2.0, label="objective")
    for k, (name, values) in enumerate(history.terms.items()):
        colour, dashes = CATEGORIES[k % len(CATEGORIES)], ("-", "--", ":")[k // len(CATEGORIES) % 3]
        ax.plot(iterations, values, color=colour, linestyle=dashes, linewidth=1.2, label=name)
    if history.annealed:
        _mark_stages(ax, history)
    ax.set_xlim(0.5, len(iterations) + 0.5)
    ax.set_xlabel("iteration, all stages" if history.annealed else "iteration")
    ax.set_ylabel("value")
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    if title:
        ax.set_title(title, pad=54 if history.annealed else None)
    return ax


def _mark_stages(ax: Axes, history: AnnealingPath) -> None:
    every = -(-len(history.stages) // MOST_STAGE_NAMES)
    for k, stage in enumerate(history.stages):
        ax.axvline(stage.start + 0.5, color="#BBBBBB", linewidth=0.7, zorder=0)
        if k % every == 0:
            ax.annotate(
                f"λ = {stage.regularization:.3g}",
                (stage.start + 0.5, 1.0),
                xycoords=("data", "axes fraction"),
                xytext=(2, 2),
                textcoords="offset points",
                rotation=60,
                fontsize=8,
                color="#666666",
            )
