"""From map to data: ``inverse_transform`` on a grid of latent points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import require

from ._axes import axes_for, dress
from ._colouring import CATEGORIES
from ._pictures import check_image_shape, range_of, to_pictures
from ._plane import Floats, LatentPlane, Lattice, axis_names, latent_of, plane_of, presence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MOST_BARS", "draw_profiles", "forward_grid", "mosaic"]

MOST_BARS = 24
"""Features drawn as bars; more are drawn as a line."""


def forward_grid(
    model: Any,
    *,
    image_shape: Sequence[int] | None = None,
    n: int = 15,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw ``inverse_transform`` on a grid of latent points.

    Cells fade as the latent density falls and are blank where it is negligible: there the forward map
    extrapolates.

    Parameters
    ----------
    model : fitted two-way model
        Has ``embedding_``, ``latent_log_density`` and ``inverse_transform``.
    image_shape : (height, width) or (height, width, 3), optional
        Rows are pictures of this shape. Without it every cell shows the profile of the row's features:
        bars for up to 24 features, a line for more, each feature scaled to its range over the lattice.
    n : int
        Cells along the longer side.
    title : str, optional
        Title of the picture; by default it says what the cells show.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    thumbnails : Pictures on the map.
    counterfactual_grid : Rows under other values of what was given.
    """
    plane = plane_of(latent_of(model, "forward_grid"), names=axis_names(model))
    require("forward_grid", model, "has_inverse", "has_latent_density")
    ax = axes_for(ax, "sidelight.plot.forward_grid", (7.0, 7.0))
    cell_shape = (1.0, 1.0) if image_shape is None else (float(image_shape[0]), float(image_shape[1]))
    lattice = plane.lattice(n, cell_shape)
    rows = np.asarray(model.inverse_transform(lattice.points), dtype=np.float64)
    share = presence(model, lattice.points, plane.Z)
    if image_shape is not None:
        shape = check_image_shape(image_shape, rows.shape[1], "forward_grid")
        tiles = mosaic(to_pictures(rows, shape, range_of(rows)), share, lattice)
        ax.imshow(tiles, extent=plane.extent, aspect="auto", interpolation="nearest")
        caption = "forward map: a picture a cell"
    else:
        caption = draw_profiles(ax, plane, lattice, rows, share)
    dress(ax, plane, title if title is not None else caption)
    return ax


def mosaic(pictures: NDArray[np.uint8], share: Floats, lattice: Lattice) -> NDArray[np.uint8]:
    """Return one RGBA image of the lattice's ``pictures``, as opaque as its ``share``, with thin gaps."""
    if pictures.ndim == 3:
        pictures = np.repeat(pictures[..., None], 3, axis=3)
    m, height, width, _ = pictures.shape
    opacity = np.rint(255.0 * share).astype(np.uint8)[:, None, None, None]
    gap = max(1, min(height, width) // 16)
    cells = np.zeros((m, height + gap, width + gap, 4), dtype=np.uint8)
    cells[:, :height, :width, :3] = pictures
    cells[:, :height, :width, 3:] = opacity
    grid = cells.reshape(lattice.rows, lattice.columns, *cells.shape[1:])
    joined: NDArray[np.uint8] = grid.swapaxes(1, 2).reshape(lattice.rows * cells.shape[1], -1, 4)
    return joined


def draw_profiles(ax: Axes, plane: LatentPlane, lattice: Lattice, rows: Floats, share: Floats) -> str:
    """Draw every row as bars or a line inside its cell, and return the artists."""
    from matplotlib.collections import LineCollection, PolyCollection

    here = share > 0.0
    low = rows[here].min(axis=0) if here.any() else rows.min(axis=0)
    span = np.maximum((rows[here].max(axis=0) if here.any() else rows.max(axis=0)) - low, np.finfo(float).tiny)
    heights = np.clip((rows - low) / span, 0.0, 1.0)
    corners = _cell_corners(plane, lattice)
    colours = [(*_rgb(CATEGORIES[0]), float(opacity)) for opacity in share[here]]
    d = rows.shape[1]
    if d <= MOST_BARS:
        bars = np.concatenate(
            [_bars(corner, h, lattice.step) for corner, h in zip(corners[here], heights[here], strict=True)]
        )
        ax.add_collection(PolyCollection(list(bars), facecolors=np.repeat(colours, d, axis=0), linewidths=0))
        kind = f"bars: its {d} features" if d > 1 else "a bar: its feature"
    else:
        lines = [_line(corner, h, lattice.step) for corner, h in zip(corners[here], heights[here], strict=True)]
        ax.add_collection(LineCollection(lines, colors=colours, linewidths=0.8))
        kind = f"a line: its {d} features in order"
    return f"forward map: {kind}, each scaled to its range"


def _cell_corners(plane: LatentPlane, lattice: Lattice) -> Floats:
    """Lower left corner of every cell."""
    left, _, _, top = plane.extent
    row, column = np.divmod(np.arange(lattice.rows * lattice.columns), lattice.columns)
    return np.column_stack([left + column * lattice.step[0], top - (row + 1) * lattice.step[1]])


def _bars(corner: Floats, heights: Floats, step: tuple[float, float]) -> Floats:
    """(d, 4, 2) corners of the bars of one cell, which keep a tenth of it as a gap."""
    left = corner[0] + step[0] * (0.05 + 0.9 * np.arange(len(heights)) / len(heights))
    right = left + 0.9 * step[0] * 0.8 / len(heights)
    bottom = np.full(len(heights), corner[1] + 0.05 * step[1])
    top = bottom + 0.9 * step[1] * np.maximum(heights, 0.03)
    return np.stack([np.column_stack(c) for c in ((left, bottom), (right, bottom), (right, top), (left, top))], axis=1)


def _line(corner: Floats, heights: Floats, step: tuple[float, float]) -> Floats:
    """(d, 2) points of the line of one cell."""
    across = corner[0] + step[0] * np.linspace(0.08, 0.92, len(heights))
    return np.column_stack([across, corner[1] + step[1] * (0.08 + 0.84 * heights)])


def _rgb(colour: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour[k : k + 2], 16) / 255.0 for k in (1, 3, 5))
    return red, green, blue
