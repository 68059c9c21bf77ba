"""Pictures placed on the map without overlap."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.messages import error_message

from ._axes import RASTERISE_FROM, axes_for, dress, marker_area
from ._pictures import check_image_shape, range_of, to_pictures
from ._plane import axis_names, latent_of, plane_of
from .placement import place_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["thumbnails"]


def thumbnails(
    Z: Any,
    images: Any,
    *,
    image_shape: Sequence[int] | None = None,
    n: int = 60,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw up to ``n`` images at their latent points, without overlap.

    Parameters
    ----------
    Z : array-like of shape (n_rows, q), or fitted model
        Latent points.
    images : array-like of shape (n_rows, pixels) or (n_rows, height, width[, 3])
        The pictures, a row each.
    image_shape : (height, width) or (height, width, 3), optional
        Shape of a picture; not needed where ``images`` has it already.
    n : int
        Maximum number of images; fewer if they would overlap.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    scatter : The map.
    forward_grid : Rows that the model makes of places.
    """
    plane = plane_of(latent_of(Z, "thumbnails"), 0.1, axis_names(Z))
    rows = np.asarray(images)
    if len(rows) != len(plane.Z):
        rule = f"is not one picture for each of the {len(plane.Z)} points"
        raise ValueError(
            error_message("thumbnails", "images", f"{len(rows)} rows", rule, "Pass the rows that Z embeds")
        )
    wanted = rows.shape[1:] if image_shape is None else image_shape
    rows = rows.reshape(len(rows), -1)
    shape = check_image_shape(wanted, rows.shape[1], "thumbnails")
    wide, high = plane.drawn
    width, height = _cell(wide, high, shape, n)
    width, height = width * plane.width / wide, height * plane.height / high
    chosen = place_apart(plane.shown, width, height, n)
    ax = axes_for(ax, "sidelight.plot.thumbnails", (7.0, 7.0))
    many = len(rows) >= RASTERISE_FROM
    area = marker_area(len(rows)) / 4
    ax.scatter(plane.shown[:, 0], plane.shown[:, 1], s=area, color="#9A9A9A", linewidths=0, rasterized=many)
    for picture, (x, y) in zip(to_pictures(rows[chosen], shape, range_of(rows)), plane.shown[chosen], strict=True):
        box = (x - width / 2, x + width / 2, y - height / 2, y + height / 2)
        ax.imshow(picture, extent=box, cmap="gray", vmin=0, vmax=255, aspect="auto", zorder=2)
    dress(ax, plane, title)
    return ax


def _cell(wide: float, high: float, shape: tuple[int, ...], n: int) -> tuple[float, float]:
    """Width and height of a thumbnail such that about 3 n of them would tile the plane."""
    area = wide * high / (3.0 * max(n, 1))
    width = (area * shape[1] / shape[0]) ** 0.5
    return width, area / width
