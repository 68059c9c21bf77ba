"""A trajectory of the image robot: its world with path and views, beside the map with the action arrows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.messages import error_message, require_extra

from ._axes import axes_for
from ._colouring import CATEGORIES, MISSING
from ._plane import Floats, latent_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from sidelight.datasets import Dataset

__all__ = ["action_arrows", "drive", "write_drive"]

INK, HERE = "#222222", "#D7191C"
MARGIN = 0.06
"""Room around a map, as a share of its longer side."""
COLOURS = 48
"""Of an animation: greys and a few actions need no more, and the file is small."""


def drive(
    model: Any, data: Dataset, picture: Any, *, n_views: int = 6, axes: Sequence[Axes] | None = None
) -> tuple[Axes, Axes]:
    """Draw a trajectory: the world with the path and some views on the left, the learned map on the right.

    Parameters
    ----------
    model : fitted ActionRespectingEmbedding
        Fitted to ``data.X``, or its embedding (n, q).
    data : Dataset
        What :func:`sidelight.datasets.imagebot` returns.
    picture : array of shape (height, width)
        The world: ``Imagebot().picture``.
    n_views : int
        Views to show below the world, evenly along the drive.
    axes : two matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    tuple of two matplotlib.axes.Axes
        World and map.

    See Also
    --------
    write_drive : The walk as a film.
    action_arrows : Steps of the walk.
    """
    pyplot = require_extra("matplotlib.pyplot", "sidelight.plot.drive", "report")
    _check(data)
    if axes is None:
        axes = pyplot.subplots(1, 2, figsize=(10.4, 4.6), layout="constrained", width_ratios=(1.25, 1.0))[1]
    world, learned = axes
    _world(world, data, np.asarray(picture), n_views)
    action_arrows(model, data.factors["actions"], trajectory=data.factors["trajectory"], ax=learned)
    learned.set_title("what the actions do in the learned map")
    return world, learned


def action_arrows(model: Any, actions: Any, *, trajectory: Any = None, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw a map with an arrow for every step, coloured by its action.

    Parameters
    ----------
    model : fitted model, or array of shape (n, q)
        Latent points, in the order of the drive.
    actions : array-like of shape (n,)
        The action taken at each row; None at the end of a trajectory.
    trajectory : array-like of shape (n,), optional
        Trajectory of each row; no arrows are drawn between trajectories.
    title : str
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    drive : A walk over the map.

    Examples
    --------
    >>> import matplotlib; matplotlib.use("Agg")
    >>> ax = action_arrows([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]], ["ahead", "aside", None])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['ahead', 'aside']
    """
    ax = axes_for(ax, "sidelight.plot.action_arrows")
    Z = latent_of(model, "action_arrows")
    Z = np.column_stack([Z, np.zeros(len(Z))])[:, :2] if Z.shape[1] == 1 else Z[:, :2]
    labels = np.asarray(actions, dtype=object)
    if labels.shape != (len(Z),):
        rule = f"does not say what was done at each of {len(Z)} rows"
        raise ValueError(
            error_message("action_arrows", "actions", labels.shape, rule, "Give None at the end of a trajectory")
        )
    drives = np.zeros(len(Z)) if trajectory is None else np.asarray(trajectory)
    stepping = np.array([label is not None for label in labels[:-1]]) & (drives[1:] == drives[:-1])
    ax.scatter(Z[:, 0], Z[:, 1], s=14, color=MISSING, linewidths=0, zorder=1)
    _arrows(ax, Z, labels, stepping, float(np.ptp(Z, axis=0).max()))
    low, high = Z.min(axis=0), Z.max(axis=0)
    room = MARGIN * float((high - low).max() or 1.0)
    ax.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room), aspect="equal")
    ax.set(xticks=[], yticks=[], xlabel="latent 1", ylabel="latent 2", title=title)
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=4, frameon=False, fontsize=8)
    return ax


def write_drive(model: Any, data: Dataset, picture: Any, file: str | Path, *, seconds: float = 0.2) -> Path:
    """Write the drive as an animated GIF: the window on the world, the view, and the point of the map.

    Parameters
    ----------
    model, data, picture
        As for :func:`drive`.
    file : str or path
        Where to write, ending in ``.gif``.
    seconds : float
        Time of a step.

    Returns
    -------
    Path

    See Also
    --------
    drive : A walk over the map.
    """
    pyplot = require_extra("matplotlib.pyplot", "sidelight.plot.write_drive", "report")
    imaging = require_extra("PIL.Image", "sidelight.plot.write_drive", "report")
    figure, axes = pyplot.subplots(1, 3, figsize=(8.4, 3.0), layout="constrained", width_ratios=(1.4, 0.8, 1.4), dpi=72)
    drive(model, data, picture, n_views=0, axes=(axes[0], axes[2]))
    axes[2].set_title("the learned map")
    shown = axes[1].imshow(data.images[0], cmap="gray", vmin=0.0, vmax=1.0)
    axes[1].set(xticks=[], yticks=[], title="what the robot sees", xlabel="the end")
    window = axes[0].plot([], [], color=HERE, lw=1.6)[0]
    point = axes[2].plot([], [], "o", color=HERE, ms=8, zorder=5)[0]
    Z = latent_of(model, "write_drive")
    flat = np.column_stack([Z, np.zeros(len(Z))])[:, :2]
    figure.canvas.draw()
    figure.set_layout_engine("none")  # the same places in every frame, and found once

    def frame(row: int) -> Any:
        shown.set_data(data.images[row])
        window.set_data(*_window(data.factors["poses"][row], data.images.shape[1]).T)
        point.set_data(flat[row, :1], flat[row, 1:2])
        axes[1].set_xlabel(data.factors["actions"][row] or "the end")
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
        return imaging.fromarray(np.ascontiguousarray(pixels))

    pictures = [frame(row) for row in range(len(Z))]
    pyplot.close(figure)
    palette = pictures[0].quantize(COLOURS, dither=0)  # one for all, so that what stands still costs nothing
    first, *rest = [picture.quantize(palette=palette, dither=0) for picture in pictures]
    first.save(file, save_all=True, append_images=rest, duration=round(1000 * seconds), loop=0, optimize=True)
    return Path(file)


def _check(data: Dataset) -> None:
    missing = {"actions", "poses", "states", "trajectory"} - set(data.factors)
    if missing:
        rule = f"has no factor {', '.join(sorted(missing))}"
        raise ValueError(error_message("drive", "data", data.name, rule, "Pass what imagebot returns"))


def _colours(labels: Any) -> dict[str, str]:
    names = dict.fromkeys(label for label in labels if label is not None)
    return {name: CATEGORIES[k % len(CATEGORIES)] for k, name in enumerate(names)}


def _arrows(ax: Axes, Z: Floats, labels: Any, stepping: Any, size: float) -> None:
    """An arrow for every step, a little aside so that ways there and back can both be seen; no two on one another."""
    for label, colour in _colours(labels).items():
        rows = np.flatnonzero(stepping & (labels[:-1] == label))
        way = Z[rows + 1] - Z[rows]
        length = np.sqrt(np.sum(way**2, axis=1, keepdims=True))
        rows, way, length = (part[length[:, 0] > 1e-9 * size] for part in (rows, way, length))
        aside = np.column_stack([way[:, 1], -way[:, 0]]) / length
        start = Z[rows] + 0.05 * way + 0.011 * size * aside
        style: Any = {"angles": "xy", "scale_units": "xy", "scale": 1.0, "width": 0.005, "zorder": 3}
        ax.quiver(*start.T, *(0.9 * way).T, color=colour, label=label, **style)


def _window(pose: Floats, view: int) -> Floats:
    """Corners of the window in the world (5, 2), closed."""
    x, y, angle, log_scale = pose
    corners = 0.5 * view * 2.0**log_scale * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1], [-1, -1]], dtype=np.float64)
    cosine, sine = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    return np.asarray([x, y] + corners @ np.array([[cosine, -sine], [sine, cosine]]))


def _world(ax: Axes, data: Dataset, picture: Any, n_views: int) -> None:
    """Draw the part of the world around the path, the path coloured by action, and the views."""
    poses, labels = data.factors["poses"], data.factors["actions"]
    view = data.images.shape[1]
    outlines = np.array([_window(pose, view) for pose in poses])
    low, high = outlines.min(axis=(0, 1)) - 0.4 * view, outlines.max(axis=(0, 1)) + 0.4 * view
    low, high = np.maximum(low, 0), np.minimum(high, picture.shape[::-1])
    (left, top), (right, bottom) = low.astype(int), high.astype(int)
    cut = picture[top:bottom, left:right]
    # Half faded, so that the path stands out.
    ax.imshow(0.45 + 0.55 * cut, cmap="gray", vmin=0.0, vmax=1.0, extent=(left, right, bottom, top))
    drives = data.factors["trajectory"]
    ax.plot(*poses[:, :2].T, "o", color=INK, ms=2.6, lw=0)
    _arrows(ax, poses[:, :2], labels, drives[1:] == drives[:-1], float(max(right - left, bottom - top)))
    ax.set(xlim=(left, right), ylim=(bottom, top), xticks=[], yticks=[], title="the world, and the way through it")
    rows = np.unique(np.linspace(0, len(poses) - 1, max(n_views, 1)).round().astype(int))
    for place, row in enumerate(rows[:n_views]):
        ax.plot(*outlines[row].T, color=INK, lw=0.8)
        label = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
        ax.annotate(str(row), outlines[row][0], (3, -8), textcoords="offset points", fontsize=7, color=INK, bbox=label)
        wide = 1.0 / max(len(rows), 5)
        inset = ax.inset_axes((place * wide + 0.02 * wide, -wide * 1.25, 0.96 * wide, wide), transform=ax.transAxes)
        inset.imshow(data.images[row], cmap="gray", vmin=0.0, vmax=1.0)
        inset.set(xticks=[], yticks=[])
        inset.text(0.03, 0.97, str(row), fontsize=7, va="top", transform=inset.transAxes, bbox=label)
