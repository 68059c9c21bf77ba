"""A quantity shaded over the latent plane: the density, the predictive variance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sidelight.base.capabilities import require

from ._axes import RASTERISE_FROM, axes_for, dress, marker_area
from ._plane import Floats, LatentPlane, axis_names, latent_of, plane_of, presence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["affordable", "density", "uncertainty"]

MOST_EVALUATIONS = 4e8
"""Kernel evaluations (lattice points × rows) a picture may cost: a few seconds."""
DEEPEST = 12.0
"""Nats below the peak at which the log density is cut: e^-12 is one in 160,000."""


def affordable(resolution: int, n: int) -> int:
    """Return ``resolution``, lowered until resolution² × n rows is affordable.

    Examples
    --------
    >>> affordable(200, 1000), affordable(200, 100_000)
    (200, 63)
    """
    return max(2, min(resolution, int((MOST_EVALUATIONS / max(n, 1)) ** 0.5)))


def density(
    model: Any,
    *,
    resolution: int = 200,
    log: bool = False,
    points: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Shade the density over the latent plane, ``model.latent_log_density``.

    Parameters
    ----------
    model : fitted two-way model
        Has ``embedding_`` and ``latent_log_density``.
    resolution : int
        Pixels along the longer side; reduced for many rows (200: from 10,000 rows), because the time grows with
        resolution² × rows.
    log : bool
        Shade the log density, cut 12 nats below its peak, instead of the density.
    points : bool
        Draw the rows lightly over it.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes
        With one latent dimension a curve over a histogram-like rug; with more than two the slice through the
        nearest rows, which is not the marginal density.

    See Also
    --------
    uncertainty : How much rows at a place differ.
    scatter : The map.
    """
    plane = plane_of(latent_of(model, "density"), 0.12, axis_names(model))
    require("density", model, "has_latent_density")
    ax = axes_for(ax, "sidelight.plot.density")
    if plane.n_components == 1:
        return _density_curve(ax, plane, model, resolution, log, title)
    lattice = plane.lattice(affordable(resolution, len(plane.Z)))
    values = np.asarray(model.latent_log_density(lattice.points), dtype=np.float64)
    values = np.maximum(values, values.max() - DEEPEST) if log else np.exp(values)
    _shade(
        ax,
        plane,
        values.reshape(lattice.rows, lattice.columns),
        "log density" if log else "density",
        "cividis",
    )
    if points:
        _sprinkle(ax, plane)
    dress(ax, plane, title)
    return ax


def uncertainty(
    model: Any,
    *,
    resolution: int = 80,
    points: bool = True,
    title: str | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Shade the total predictive variance over the latent plane, left blank where the density is negligible.

    Parameters
    ----------
    model : fitted two-way model
        Has ``embedding_``, ``latent_log_density`` and ``predictive_variance``.
    resolution : int
        Pixels along the longer side; reduced for many rows.
    points : bool
        Draw the rows lightly over it.
    title : str, optional
        Title of the picture.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib.axes.Axes

    See Also
    --------
    density : Where rows are expected.
    """
    plane = plane_of(latent_of(model, "uncertainty"), names=axis_names(model))
    require("uncertainty", model, "has_variance", "has_latent_density")
    ax = axes_for(ax, "sidelight.plot.uncertainty")
    lattice = plane.lattice(affordable(resolution, len(plane.Z)))
    here = presence(model, lattice.points, plane.Z) > 0.0
    values = np.full(len(lattice.points), np.nan)
    values[here] = np.asarray(model.predictive_variance(lattice.points[here])).sum(axis=1)
    _shade(
        ax,
        plane,
        values.reshape(lattice.rows, lattice.columns),
        "predictive variance, all features",
        "cividis",
    )
    if points:
        _sprinkle(ax, plane)
    dress(ax, plane, title)
    return ax


def _shade(ax: Axes, plane: LatentPlane, values: Floats, caption: str, palette: str) -> None:
    shaded = ax.imshow(values, extent=plane.extent, cmap=palette, interpolation="bilinear", aspect="auto")
    bar = ax.figure.colorbar(shaded, ax=ax, shrink=0.8, label=caption)
    bar.outline.set_visible(False)


def _sprinkle(ax: Axes, plane: LatentPlane) -> None:
    n = len(plane.shown)
    ax.scatter(
        plane.shown[:, 0],
        plane.shown[:, 1],
        s=marker_area(n) / 5,
        color="white",
        alpha=0.35,
        linewidths=0,
        rasterized=n >= RASTERISE_FROM,
    )


def _density_curve(ax: Axes, plane: LatentPlane, model: Any, resolution: int, log: bool, title: str | None) -> Axes:
    lattice = plane.lattice(max(resolution, 2))
    values = np.asarray(model.latent_log_density(lattice.points), dtype=np.float64)
    values = np.maximum(values, values.max() - DEEPEST) if log else np.exp(values)
    across = lattice.points[:, 0]
    ax.fill_between(across, values, values.min() if log else 0.0, color="#0072B2", alpha=0.25, linewidth=0)
    ax.plot(across, values, color="#0072B2")
    floor = np.full(len(plane.Z), values.min() if log else 0.0)
    ax.plot(plane.Z[:, 0], floor, "|", color="#555555", alpha=0.5, markersize=8, clip_on=False)
    ax.set_xlim(plane.extent[:2])
    ax.set_xlabel(plane.title(0))
    ax.set_ylabel("log density" if log else "density")
    ax.spines[["top", "right"]].set_visible(False)
    if title:
        ax.set_title(title)
    return ax
