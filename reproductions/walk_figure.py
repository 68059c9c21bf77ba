"""The picture of ``walk_cycle``: poses, the unfolding map, and a channel with missing entries."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.figures import COLOURS, GREY, INK, bare, grey_density
from reproductions.skeleton import read_skeleton, segments
from sidelight.datasets import data_home

__all__ = ["draw"]

MARKED = (10, 60, 110, 160, 210, 260)
LAMBDAS = (0.64, 0.4, 0.2, 0.1, 0.05)
CHANNEL, WINDOW = 48, slice(64, 180)


def draw(plt: Any, X: Any, published: Any, ours: Any, fill: dict[str, Any]) -> Any:
    """Three rows: poses; the path of maps and our default; the missing values."""
    figure = plt.figure(figsize=(9.6, 6.0))
    poses, maps, bottom = figure.subfigures(3, 1, height_ratios=(1.1, 1.0, 1.05))
    _draw_poses(poses.subplots(1, len(MARKED)), X, published)
    *path, last = maps.subplots(1, len(LAMBDAS) + 1)
    for ax, value in zip(path, LAMBDAS, strict=True):
        stage = int(np.abs(np.log(published.regularization_path_ / value)).argmin())
        title = f"λ = {published.regularization_path_[stage]:.2g}"
        _draw_map(ax, published.path_[stage], title, marks=value == LAMBDAS[-1])
    _draw_map(last, ours.embedding_, "our defaults", marks=True)
    channel, errors = bottom.subplots(1, 2, width_ratios=(3, 1.6))
    _draw_channel(channel, X, fill)
    _draw_errors(errors, X, fill)
    return figure


def _draw_poses(axes: Any, X: Any, model: Any) -> None:
    home = data_home()
    assert home is not None
    bones = read_skeleton(home / "cmu_mocap" / "35.asf")
    channels = [str(name) for name in np.load(home / "cmu_mocap" / "cmu_amc_120hz.npz")["channels"]][3:]
    mapped = model.inverse_transform(model.embedding_[list(MARKED)])
    for column, (ax, frame) in enumerate(zip(axes, MARKED, strict=True)):
        bare(ax, f"frame {frame}")
        for pose, colour, width in ((mapped[column], COLOURS[1], 2.2), (X[frame], INK, 1.0)):
            lines = segments(bones, channels, pose)
            ax.plot(lines[:, :, 2].T, lines[:, :, 1].T, color=colour, lw=width, solid_capstyle="round", alpha=0.8)
        ax.spines[:].set_visible(False)
        ax.set(xlim=(-12, 12), ylim=(-19, 12))


def _draw_map(ax: Any, Z: Any, title: str, *, marks: bool) -> None:
    bare(ax, title)
    grey_density(ax, Z)
    ax.plot(Z[:, 0], Z[:, 1], color=GREY, lw=0.4)
    ax.scatter(Z[:, 0], Z[:, 1], s=3, c=np.arange(len(Z)), cmap="viridis", linewidths=0)
    ax.set(aspect="auto", box_aspect=1)
    if marks:
        for frame in MARKED:
            ax.annotate(str(frame), Z[frame], (3, 3), textcoords="offset points", fontsize=6.5, color=INK)
            ax.plot(*Z[frame], "o", ms=3.5, mfc="none", mec=INK, mew=0.8)


def _draw_channel(ax: Any, X: Any, fill: dict[str, Any]) -> None:
    frames = np.arange(len(X))[WINDOW]
    ax.plot(frames, X[WINDOW, CHANNEL], color="0.7", lw=3, label="the walk")
    ax.step(
        frames,
        fill["nearest-frame fill"][WINDOW, CHANNEL],
        where="mid",
        color=COLOURS[0],
        lw=0.7,
        label="nearest-frame fill",
    )
    ax.plot(frames, fill["our defaults"][WINDOW, CHANNEL], color=COLOURS[1], lw=1.0, label="projected by our defaults")
    ax.set(xlabel="frame", ylabel="degrees", title="one channel, half of its entries missing")
    ax.legend(loc="best", ncols=3)


def _draw_errors(ax: Any, X: Any, fill: dict[str, Any]) -> None:
    names = [name for name in fill if name != "missing"]
    errors = [float(np.sqrt(((fill[name] - X)[fill["missing"]] ** 2).mean())) for name in names]
    colours = [COLOURS[0] if "fill" in name else COLOURS[1] if name.startswith("our") else "0.75" for name in names]
    ax.barh(names[::-1], errors[::-1], color=colours[::-1], height=0.65)
    for place, error in enumerate(errors[::-1]):
        ax.text(error, place, f" {error:.2f}", va="center", fontsize=7)
    ax.set(xlabel="error on removed entries, degrees, rms", xlim=(0, 1.15 * max(errors)))
