"""Pictures of mixtures of flat pieces."""

from __future__ import annotations

from typing import Any

import numpy as np
from canvas import BLUE, GREY, ORANGE, panels, points
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from sidelight import PPCAMixture


def spiral(n: int, seed: int) -> Any:
    """A spiral with noise."""
    rng = np.random.default_rng(seed)
    t = 3 * np.pi * np.sqrt(rng.uniform(0.08, 1, n))
    return np.column_stack([t * np.cos(t), t * np.sin(t)]) + 0.25 * rng.normal(size=(n, 2))


def charts(ax: Axes, model: PPCAMixture) -> None:
    """Each chart as the ellipse of two standard deviations."""
    for mean, (axis,), noise in zip(model.means_, model.components_, model.noise_variance_, strict=True):
        long, short = np.sqrt(axis @ axis + noise), np.sqrt(noise)
        angle = np.degrees(np.arctan2(axis[1], axis[0]))
        ax.add_patch(Ellipse(mean, 4 * long, 4 * short, angle=angle, fc="none", ec=BLUE, lw=1.2))


def ppca_mixture() -> Figure:
    """Too few charts bridge the turns; the criterion finds how many follow them; what one column tells of the other."""
    X, new = spiral(800, 0), spiral(2000, 1)
    figure, axes = panels(4, width=11.6, height=3.1)
    for ax, k in zip(axes, (4, 10, "auto"), strict=False):
        model = PPCAMixture(k, 1).fit(X)
        asked = f'"auto": {model.n_charts_}' if k == "auto" else str(k)
        points(ax, X, GREY, f"n_charts = {asked}\nlog density of new rows {model.score(new):.2f}", size=4)
        charts(ax, model)
    broken = np.column_stack([np.linspace(-8.5, 9, 60), np.full(60, np.nan)])
    mean, spread = model.impute(broken)[:, 1], np.sqrt(model.impute_variance(broken)[:, 1])
    points(axes[3], X, GREY, "the second column missing:\nits mean, ± one standard deviation", size=4)
    axes[3].errorbar(broken[:, 0], mean, spread, color=ORANGE, lw=0, elinewidth=1.2, marker="o", ms=3)
    return figure


FIGURES = {"ppca_mixture": ppca_mixture}
