"""Pictures of the two maps and the densities: the turntable, noise removed, density and uncertainty."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from canvas import BLUE, GREY, ORANGE, RED, frame, panels, picture, plt, points
from matplotlib.figure import Figure

from sidelight import KernelInformationEmbedding, datasets, plot


@cache
def turntable() -> tuple[Any, KernelInformationEmbedding]:
    """The demo's data and its model, all settings at their defaults."""
    data = datasets.turntable()
    return data, KernelInformationEmbedding(random_state=0).fit(data.X)


def there_and_back() -> Figure:
    """Pictures of turning objects, their map, and pictures made from points of the map."""
    data, model = turntable()
    figure = plt.figure(figsize=(11.0, 3.8), layout="constrained")
    left, middle, right = figure.subfigures(1, 3, width_ratios=(0.75, 1.2, 1.2))
    left.suptitle("pictures in", fontsize=12)
    for ax, row in zip(left.subplots(6, 5).ravel(), _views(data, 5), strict=True):
        picture(ax, data.X[row], data.image_shape, vmin=0, vmax=data.X.max())
    ax = plot.thumbnails(model, data.X, image_shape=data.image_shape, n=70, ax=middle.subplots())
    middle.suptitle("transform →  a map", fontsize=12)
    _bare(ax)
    ax = plot.forward_grid(model, image_shape=data.image_shape, n=15, title="", ax=right.subplots())
    right.suptitle("inverse_transform →  pictures from the map", fontsize=12)
    _bare(ax)
    return figure


def _views(data: Any, columns: int) -> list[int]:
    """Two lines of views of each object."""
    rows = []
    for name in dict.fromkeys(data.factors["object"]):
        own = np.flatnonzero(data.factors["object"] == name)
        rows += list(own[np.linspace(0, len(own), 2 * columns, endpoint=False).astype(int)])
    return rows


def _bare(ax: Any) -> None:
    ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    ax.set_title("")
    for spine in ax.spines.values():
        spine.set(visible=True, color="#cccccc", linewidth=0.8)


def two_maps() -> Figure:
    """A noisy S: rows go to one latent coordinate and come back onto the curve."""
    train, test = datasets.noisy_s(300, random_state=0), datasets.noisy_s(120, random_state=1)
    model = KernelInformationEmbedding(n_components=1, random_state=0).fit(train.X)
    Z, back = model.transform(test.X)[:, 0], model.denoise(test.X)
    figure, (data, latent, curve) = panels(3, height=3.4)
    data.scatter(*train.X.T, s=6, c=GREY, alpha=0.5, linewidths=0)
    data.scatter(*test.X.T, s=14, c=Z, cmap="viridis", linewidths=0)
    frame(data, "new rows X (colour: where they will go)")
    points(latent, Z[:, None], Z, "transform: one latent coordinate Z", size=14)
    grid = np.linspace(Z.min(), Z.max(), 60)
    density = np.exp(model.latent_log_density(grid[:, None]))
    latent.fill_between(grid, 0, 0.5 * np.ptp(Z) * density / density.max(), color=BLUE, alpha=0.15, linewidth=0)
    latent.text(grid[30], 0.3 * np.ptp(Z), "latent density", color=BLUE, ha="center", fontsize=9)
    for before, after in zip(test.X, back, strict=True):
        curve.plot(*np.c_[before, after], color=GREY, lw=0.6, zorder=1)
    curve.scatter(*test.X.T, s=8, c=GREY, linewidths=0)
    curve.scatter(*back.T, s=14, c=Z, cmap="viridis", linewidths=0, zorder=2)
    frame(curve, "inverse_transform: back on the curve")
    for ax in (data, curve):
        ax.set_aspect("equal")
    return figure


def density() -> Figure:
    """What the model knows over the latent plane: density, uncertainty, and samples beside data."""
    data, model = turntable()
    figure = plt.figure(figsize=(10.4, 3.6), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(2.5, 1.0))
    first, second = left.subplots(1, 2)
    plot.density(model, ax=first, title="latent_log_density")
    plot.uncertainty(model, ax=second, title="predictive_variance")
    for ax in (first, second):
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
    right.suptitle("data (left), sample (right)", fontsize=11)
    drawn = model.sample(8, random_state=4)
    rows = np.random.default_rng(0).choice(len(data.X), 8, replace=False)
    for k, ax in enumerate(right.subplots(4, 4).ravel()):
        line, column = divmod(k, 4)
        shown = data.X[rows[2 * line + column]] if column < 2 else drawn[2 * line + column - 2]
        picture(ax, shown, data.image_shape, vmin=0, vmax=data.X.max())
    return figure


def overfitting() -> Figure:
    """Too little regularization: the curve chases the noise, and rows that were held out come back worse."""
    train, test = datasets.noisy_s(300, random_state=0), datasets.noisy_s(300, random_state=1)
    weights = np.array([10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001])
    models = [
        KernelInformationEmbedding(n_components=1, perplexity=10, regularization=w, random_state=0).fit(train.X)
        for w in weights
    ]
    figure, axes = panels(4, height=3.0, width=10.4)
    for ax, wanted in zip(axes, (3.0, 0.1, 0.001), strict=False):
        model = models[int(np.argmin(abs(weights - wanted)))]
        Z = np.linspace(model.embedding_.min(), model.embedding_.max(), 800)[:, None]
        ax.scatter(*train.X.T, s=5, c=GREY, alpha=0.6, linewidths=0)
        ax.plot(*model.inverse_transform(Z).T, color=RED, lw=1.6)
        ax.set_aspect("equal")
        frame(ax, f"λ = {wanted:g}")
    errors = [
        [np.sqrt(np.mean((m.denoise(rows.X) - rows.factors["clean"]) ** 2)) for m in models] for rows in (train, test)
    ]
    axes[3].semilogx(weights, errors[0], "o-", ms=4, color=GREY, label="training rows")
    axes[3].semilogx(weights, errors[1], "o-", ms=4, color=ORANGE, label="new rows")
    axes[3].invert_xaxis()
    axes[3].set_xlabel("regularization λ")
    axes[3].set_title("distance of denoised rows\nfrom the noiseless ones (rms)", fontsize=10)
    axes[3].legend(frameon=False, fontsize=9)
    return figure


def mean_or_mode() -> Figure:
    """A ring on one latent coordinate: two rows share each place, and the mean lies between them."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 300)
    X = np.column_stack([2 * np.cos(angle), np.sin(angle)]) + 0.04 * rng.normal(size=(300, 2))
    model = KernelInformationEmbedding(n_components=1).fit(X)
    Z = np.linspace(model.embedding_.min(), model.embedding_.max(), 120)[:, None]
    figure, axes = panels(3, height=2.6, width=10.4)
    axes[0].scatter(*X.T, s=9, c=model.embedding_[:, 0], cmap="viridis", linewidths=0)
    frame(axes[0], "a ring (colour: its one latent coordinate)")
    for ax, name, rows in (
        (axes[1], "inverse_transform: the mean", model.inverse_transform(Z)),
        (axes[2], "inverse_transform_mode: the mode", model.inverse_transform_mode(Z)),
    ):
        off = np.abs(np.hypot(rows[:, 0] / 2, rows[:, 1]) - 1).max()
        ax.scatter(*X.T, s=4, c=GREY, alpha=0.5, linewidths=0)
        ax.scatter(*rows.T, s=14, c=Z[:, 0], cmap="viridis", linewidths=0)
        frame(ax, f"{name}\nat most {off:.2f} off the ring")
    for ax in axes:
        ax.set_aspect("equal")
    return figure


FIGURES = {
    "there_and_back": there_and_back,
    "two_maps": two_maps,
    "density": density,
    "overfitting": overfitting,
    "mean_or_mode": mean_or_mode,
}
