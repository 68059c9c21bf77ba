"""Pictures of data in separate pieces."""

from __future__ import annotations

import numpy as np
from canvas import BLUE, GREEN, ORANGE, panels, points
from matplotlib.figure import Figure

from sidelight import KernelInformationEmbedding


def disconnected() -> Figure:
    """Three clusters, one of them moved ever further away: the map hardly changes."""
    rng = np.random.default_rng(0)
    shapes = [rng.normal(size=(150, 5)) * width for width in (1.0, 1.0, 0.3)]
    colour = np.repeat([BLUE, ORANGE, GREEN], 150)
    figure, axes = panels(6, width=11.6, height=2.7)
    for k, far in enumerate((12.0, 40.0, 400.0)):
        moves = [np.zeros(5), np.r_[12.0, np.zeros(4)], np.r_[0.0, far, np.zeros(3)]]
        X = np.concatenate([shape + move for shape, move in zip(shapes, moves, strict=True)])
        Z = KernelInformationEmbedding(random_state=0).fit_transform(X)
        points(axes[2 * k], X[:, :2], colour, f"data: green {far:g} away", size=4)
        points(axes[2 * k + 1], Z, colour, "map", size=4)
    return figure


FIGURES = {"disconnected": disconnected}
