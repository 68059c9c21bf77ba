"""Pictures of scikit-learn's handwritten digits: perplexity, latent kernel, latent dimensions, regularization, cost."""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
from canvas import BLUE, GREY, ORANGE, panels, picture, plt
from canvas import digits as draw
from matplotlib.figure import Figure

from sidelight import KernelInformationEmbedding, datasets
from sidelight.evaluate import neighbour_hit, trustworthiness


@cache
def data() -> Any:
    return datasets.load_digits()


def _fit(**settings: Any) -> KernelInformationEmbedding:
    return KernelInformationEmbedding(random_state=0, **settings).fit(data().X)


def _map(ax: Any, model: KernelInformationEmbedding, name: str) -> None:
    labels, Z = data().factors["label"], model.embedding_
    measures = f"10-NN {neighbour_hit(Z, labels):.3f}, trust {trustworthiness(data().X, Z):.3f}"
    draw(ax, Z, labels, f"{name}\n{measures}", size=3)


def perplexity() -> Figure:
    figure, axes = panels(4, width=11.6, height=3.3)
    for ax, value in zip(axes, (5, 15, 30, 100), strict=True):
        _map(ax, _fit(perplexity=value), f"perplexity={value}")
    return figure


def latent_kernel() -> Figure:
    figure, axes = panels(3, width=9.6, height=3.5)
    for ax, name in zip(axes, ("gaussian", "student", "quartic"), strict=True):
        _map(ax, _fit(latent_kernel=name), f'latent_kernel="{name}"')
    return figure


def regularization() -> Figure:
    figure, axes = panels(4, width=11.6, height=3.3)
    for ax, value in zip(axes, (3.0, 0.5, 0.1, 0.01), strict=True):
        _map(ax, _fit(regularization=value), f"regularization={value:g}")
    return figure


def n_components() -> Figure:
    """Held-out digits there and back through 1, 2, 5 and 10 latent dimensions."""
    X, labels = data().X, data().factors["label"]
    train, test = X[:1200], X[1200:]
    rows = [int(np.flatnonzero(labels[1200:] == digit)[2]) for digit in range(10)]
    figure = plt.figure(figsize=(8.0, 4.3), layout="constrained")
    axes = figure.subplots(5, 11, gridspec_kw={"width_ratios": [2.6, *[1] * 10]})
    shown = [("the rows", test[rows])]
    for q in (1, 2, 5, 10):
        model = KernelInformationEmbedding(n_components=q, random_state=0).fit(train)
        shown.append((f"n_components={q}\nscore {model.score(test):.2f}", model.denoise(test[rows])))
    for line, (name, pictures) in zip(axes, shown, strict=True):
        line[0].set_axis_off()
        line[0].text(0.95, 0.5, name, ha="right", va="center", fontsize=10)
        for ax, row in zip(line[1:], pictures, strict=True):
            picture(ax, row, (8, 8), cmap="gray_r", vmin=0, vmax=16)
    return figure


def cost() -> Figure:
    """Seconds of a fit against rows, measured on the machine that draws, beside the estimate; and bytes."""
    sizes = np.array([250, 500, 1000, 2000, 4000])
    columns, rng = 20, np.random.default_rng(0)
    seconds = []
    for n in sizes:
        X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, columns)) + 0.1 * rng.normal(size=(n, columns))
        began = time.perf_counter()
        model = KernelInformationEmbedding(random_state=0).fit(X)
        seconds.append(time.perf_counter() - began)
    grid = np.geomspace(250, 100_000, 50)
    estimates = [model.estimate_cost(int(n), columns) for n in grid]
    figure, (left, right) = panels(2, width=8.6, height=3.2)
    left.loglog(grid, [e.seconds for e in estimates], color=GREY, label="estimate_cost")
    left.loglog(sizes, seconds, "o-", color=ORANGE, label="measured here")
    left.set(xlabel="rows n", title="seconds of a fit")
    left.legend(frameon=False)
    right.loglog(grid, [e.bytes / 2**30 for e in estimates], color=BLUE)
    right.set(xlabel="rows n", title="memory at the peak, GiB (estimate)")
    for ax in (left, right):
        ax.grid(alpha=0.3)
        ax.title.set_fontsize(10)
    return figure


FIGURES = {
    "perplexity": perplexity,
    "latent_kernel": latent_kernel,
    "regularization": regularization,
    "n_components": n_components,
    "cost": cost,
}
