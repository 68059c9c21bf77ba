"""Pictures of what is left when something is known: the README's, and those of the page on informed embedding."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from canvas import frame, picture, plt, points
from matplotlib.figure import Figure

from sidelight import Conditioning, KernelInformationEmbedding, datasets, evaluate

VIEWS = (0, 24, 48)  # of 72: hinted, 120 degrees apart
OBJECTS = ("car", "duck", "mug")


@cache
def models() -> tuple[Any, dict[str, KernelInformationEmbedding]]:
    """The turntable, embedded knowing nothing, knowing the object (with three hinted views), and knowing the angle."""
    data = datasets.turntable()
    thing, angle = data.factors["object"], data.factors["angle"]
    rows = [np.flatnonzero(thing == name)[list(VIEWS)] for name in OBJECTS]
    same = np.concatenate([np.column_stack([rows[0], other]) for other in rows[1:]])
    return data, {
        "plain": KernelInformationEmbedding().fit(data.X),
        "object": KernelInformationEmbedding().fit(data.X, given=thing, same=same),
        "angle": KernelInformationEmbedding(conditioning=Conditioning(types="angle")).fit(data.X, given=angle),
    }


def readme() -> Figure:
    """The plain map, the map that knows the object, and one pose of every object."""
    data, found = models()
    angle = data.factors["angle"]
    figure = plt.figure(figsize=(11.0, 3.9), layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=(1.0, 1.0, 1.15))
    for part, name, title in (
        (left, "plain", "fit(X)\nthree objects, three loops"),
        (middle, "object", "fit(X, given=object, same=hints)\nthe rest: one loop of angles"),
    ):
        ax = part.subplots()
        _coloured(ax, data, found[name].embedding_, angle, named=name == "plain")
        ax.set_title(title, fontsize=11)
    right.suptitle("counterfactual(X, given=...)\nthis pose, of every object", fontsize=11)
    _poses(right, data, found["object"])
    return figure


def _coloured(ax: Any, data: Any, Z: Any, angle: Any, *, named: bool) -> None:
    """A map coloured by angle, a marker for each object."""
    colours = {"cmap": "twilight_shifted", "vmin": 0, "vmax": 360}
    thing = data.factors["object"]
    for name, marker in zip(OBJECTS, "osD", strict=True):
        own = thing == name
        ax.scatter(*Z[own].T, c=angle[own], marker=marker, s=22, linewidths=0, **colours)
        if named:
            ax.text(*Z[own].mean(axis=0), name, fontsize=11, ha="center", va="center", color="#444444")
    ax.set(xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="datalim")


def _poses(part: Any, data: Any, model: KernelInformationEmbedding) -> None:
    """Views of the car in the first line, and what they would be as the other objects."""
    chosen = np.flatnonzero(data.factors["object"] == "car")[[6, 18, 34, 44, 62]]
    lines = [data.X[chosen]]
    lines += [model.counterfactual(data.X[chosen], given=[name] * len(chosen)) for name in OBJECTS[1:]]
    axes = part.subplots(len(lines), len(chosen))
    for line, row, name in zip(lines, axes, ("in", "as duck", "as mug"), strict=True):
        for values, ax in zip(line, row, strict=True):
            picture(ax, values, data.image_shape, vmin=0, vmax=data.X.max())
        row[0].set_ylabel(name, fontsize=9)


def both_factors() -> Figure:
    """The same pictures three times: coloured by the angle above and by the object below."""
    data, found = models()
    thing, angle = data.factors["object"], data.factors["angle"]
    codes = np.unique(thing, return_inverse=True)[1]
    figure, axes = plt.subplots(2, 3, figsize=(9.6, 6.2), layout="constrained")
    titles = ("knowing nothing", "given the object (three hinted views)", "given the angle")
    for column, (name, title) in enumerate(zip(("plain", "object", "angle"), titles, strict=True)):
        Z = found[name].embedding_
        leak = evaluate.leakage(Z, thing)
        axes[0, column].scatter(*Z.T, c=angle, cmap="twilight_shifted", s=12, linewidths=0)
        frame(axes[0, column], f"{title}\nangle: R² {evaluate.recovery(Z, angle, period=360.0):.2f}")
        points(axes[1, column], Z, codes, f"object: guessed {leak.value:.2f} (chance {leak.chance:.2f})", size=12)
    return figure


FIGURES = {"readme": readme, "both_factors": both_factors}
