"""What every picture of the documentation shares: panels, colours, small files."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from PIL import Image

FOLDER = Path(__file__).parent
BLUE, ORANGE, GREEN, PINK, RED = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00"
GREY = "#9A9A9A"
DIGITS = plt.get_cmap("tab10").colors
LIMIT = 150_000


def panels(columns: int, *, rows: int = 1, width: float = 9.6, height: float = 3.2) -> tuple[Figure, list[Axes]]:
    """A figure and its Axes in reading order."""
    figure, axes = plt.subplots(rows, columns, figsize=(width, height), layout="constrained", squeeze=False)
    return figure, list(axes.ravel())


def points(ax: Axes, Z: Any, colour: Any, title: str = "", *, size: float = 6.0) -> None:
    """Points of a map: equal units, no ticks (a latent axis has no name), a thin frame."""
    Z = np.asarray(Z)
    if Z.shape[1] == 1:
        Z = np.column_stack([Z[:, 0], np.zeros(len(Z))])
    ax.scatter(Z[:, 0], Z[:, 1], c=colour, s=size, linewidths=0, alpha=0.9)
    frame(ax, title)
    ax.set_aspect("equal", adjustable="datalim")


def digits(ax: Axes, Z: Any, labels: Any, title: str = "", *, size: float = 5.0) -> None:
    """Points of a map of digits, each class named at its middle."""
    points(ax, Z, np.array(DIGITS)[labels], title, size=size)
    for label in np.unique(labels):
        x, y = np.median(Z[labels == label], axis=0)
        ax.text(x, y, str(label), ha="center", va="center", fontsize=9, weight="bold",
                bbox={"boxstyle": "circle,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.75})  # fmt: skip


def solid(
    figure: Figure, place: tuple[int, int, int], X: Any, colour: Any, title: str, view: tuple[float, float] = (12, -72)
) -> Axes:
    """Points in three dimensions."""
    ax = figure.add_subplot(*place, projection="3d")
    ax.scatter(*X.T, c=colour, s=5, linewidths=0)
    ax.view_init(*view)
    ax.set(xticks=[], yticks=[], zticks=[])
    ax.set_title(title, fontsize=10)
    ax.set_box_aspect(np.ptp(X, axis=0), zoom=1.15)
    return ax


def frame(ax: Axes, title: str = "") -> None:
    """No ticks, a thin grey frame, a small title."""
    ax.set(xticks=[], yticks=[])
    for spine in ax.spines.values():
        spine.set(color="#cccccc", linewidth=0.8)
    ax.set_title(title, fontsize=10)


def picture(ax: Axes, row: Any, shape: tuple[int, int], **style: Any) -> None:
    """One row as a picture."""
    ax.imshow(np.asarray(row).reshape(shape), **({"cmap": "gray"} | style))
    ax.set_axis_off()


def write(figure: Figure, name: str) -> Path:
    """Save as a PNG of at most 256 colours, refusing a file too large to commit."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, facecolor="white")
    plt.close(figure)
    return write_image(Image.open(buffer), name)


def write_image(image: Image.Image, name: str) -> Path:
    """Save an image as ``write`` does."""
    path = FOLDER / f"{name}.png"
    image.convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)
    if path.stat().st_size > LIMIT:
        raise ValueError(f"{path.name} has {path.stat().st_size} bytes, more than {LIMIT}: draw less")
    return path
