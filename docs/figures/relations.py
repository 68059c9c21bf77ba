"""The picture of several relations in one map: objects on a turntable, a third of them labelled."""

from __future__ import annotations

from typing import Any

import numpy as np
from canvas import BLUE, GREEN, ORANGE, frame, plt, points
from matplotlib.figure import Figure

from sidelight import MultipleRelationalEmbedding, Relation, datasets
from sidelight.evaluate import axis_recovery
from sidelight.plot import relation_weights


def relations() -> Figure:
    """Told nothing; told object and angle of a third of the rows; and which axes each relation looks at."""
    data = datasets.turntable()
    thing, angle = data.factors["object"], data.factors["angle"]
    n = len(data.X)
    known = np.sort(np.random.default_rng(0).choice(n, n // 3, replace=False))
    hidden = np.setdiff1d(np.arange(n), known)
    told = {
        "object": Relation.from_labels(thing[known], known, n_samples=n),
        "angle": Relation.from_values(angle[known], known, n_samples=n, period=360.0),
    }
    plain = MultipleRelationalEmbedding(3, transformation="identity").fit_transform(data.X)
    model = MultipleRelationalEmbedding(3).fit(data.X, relations=told)
    Z = model.embedding_
    figure = plt.figure(figsize=(11.4, 3.5), layout="constrained")
    axes = figure.subplots(1, 4, width_ratios=(1.0, 1.0, 1.0, 1.15))
    _by_angle(axes[0], plain[:, :2], angle, "told nothing, by angle\ntwo of three axes")
    _by_angle(axes[1], Z[hidden][:, 1:], angle[hidden], _title(Z, angle, hidden))
    axes[1].set(xlabel="axis 2", ylabel="axis 3")
    codes = np.unique(thing, return_inverse=True)[1]
    right = axis_recovery(Z, {"object": thing}, rows=hidden)["object"].values[0]
    colours = np.array([BLUE, ORANGE, GREEN])[codes[hidden]]
    points(axes[2], Z[hidden][:, [0, 1]], colours, f"told, by object\naxis 1 tells {right:.2f} of them", size=12)
    axes[2].set_aspect("auto")
    axes[2].set(xlabel="axis 1: object", ylabel="axis 2: angle")
    relation_weights(model, ax=axes[3])
    return figure


def _title(Z: Any, angle: Any, hidden: Any) -> str:
    found = axis_recovery(Z[:, 1:], {"angle": angle}, rows=hidden, kinds="angle")["angle"].pair_value
    return f"told, by angle\naxes 2 and 3: R² {found:.2f}"


def _by_angle(ax: Any, Z: Any, angle: Any, title: str) -> None:
    ax.scatter(*Z.T, c=angle, cmap="twilight_shifted", vmin=0, vmax=360, s=12, linewidths=0)
    frame(ax, title)


FIGURES = {"relations": relations}
