"""The three pictures of the landing page: know it, factor it out, go back (wines by two machines, and digits)."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from canvas import BLUE, ORANGE, frame, plt
from matplotlib.figure import Figure
from sklearn.datasets import load_digits, load_wine
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding

COLOURS = np.array(["#440154", "#21918c", "#b5de2b"])


@cache
def machines() -> tuple[Any, Any, Any]:
    """Wines, which of two machines measured each, and the cultivar, which no map is told."""
    wine = load_wine()
    rng = np.random.default_rng(3)
    machine = rng.integers(2, size=len(wine.data))
    X = StandardScaler().fit_transform(wine.data) + np.outer(machine, 1.6 * rng.normal(size=wine.data.shape[1]))
    return X, machine, wine.target


def _panel() -> tuple[Figure, Any]:
    return plt.subplots(figsize=(3.6, 3.4), layout="constrained")


def landing_know() -> Figure:
    """The plain map: two machines, coloured by machine."""
    X, machine, _ = machines()
    figure, ax = _panel()
    Z = KernelInformationEmbedding().fit(X).embedding_
    for code, colour in enumerate((BLUE, ORANGE)):
        ax.scatter(*Z[machine == code].T, color=colour, s=16, label=f"machine {'AB'[code]}")
    frame(ax)
    ax.legend(fontsize=9)
    return figure


def landing_factor() -> Figure:
    """The map that was given the machine, coloured by what it was not told."""
    X, machine, cultivar = machines()
    figure, ax = _panel()
    Z = KernelInformationEmbedding().fit(X, given=machine.astype(str)).embedding_
    for code, marker in enumerate("o^"):
        own = machine == code
        ax.scatter(*Z[own].T, color=COLOURS[cultivar[own]], marker=marker, s=18, label=f"machine {'AB'[code]}")
    frame(ax)
    return figure


def landing_back() -> Figure:
    """A walk over a map of digits, and the digits along it."""
    X, y = load_digits(n_class=5, return_X_y=True)
    model = KernelInformationEmbedding().fit(X[:600])
    Z = model.embedding_
    start, end = (np.median(Z[y[:600] == digit], axis=0) for digit in (0, 4))
    way = start + np.linspace(0, 1, 6)[:, None] * (end - start)
    figure = plt.figure(figsize=(3.6, 3.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(4.2, 1))
    ax = above.subplots()
    ax.scatter(*Z.T, c=y[:600], cmap="Set2", s=8, linewidths=0)
    ax.plot(*way.T, "o-", color="black", ms=4, lw=1)
    frame(ax)
    for panel, values in zip(below.subplots(1, 6), model.inverse_transform(way), strict=True):
        panel.imshow(values.reshape(8, 8), cmap="gray_r")
        panel.set(xticks=[], yticks=[])
    return figure


FIGURES = {"landing_know": landing_know, "landing_factor": landing_factor, "landing_back": landing_back}
