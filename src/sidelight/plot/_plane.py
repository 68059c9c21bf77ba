r"""The plane a latent space is shown in, and lattices over it.

A latent point :math:`z \in \mathbb{R}^q` is shown at its first two coordinates. With one dimension the
second coordinate is a jitter that means nothing; with more than two, a place of the plane stands for the
latent point whose other coordinates are those of the nearest row,

.. math::  z(u) = (u_1, u_2, Z_{i3}, \dots, Z_{iq}), \qquad i = \arg\min_j \lVert u - Z_{j,1:2} \rVert ,

so that what is shown there stays near the data.

Both axes have the same unit, unless they have names: axes that belong to relations are each in the units of its own, so
that the plane is shown three quarters as high as wide whatever they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from sidelight.base.capabilities import axis_names_of, capabilities
from sidelight.base.chain import as_chain
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel

__all__ = ["SHAPE", "LatentPlane", "Lattice", "axis_names", "latent_of", "plane_of", "presence"]

Floats = NDArray[np.float64]

GOLDEN = 0.6180339887498949
"""Its multiples modulo one spread evenly: a jitter without a random number."""

REFERENCE_ROWS = 2000
"""Rows that are enough to say how dense the data usually is."""

SHAPE = 0.75
"""Height by width of a plane whose axes have units of their own."""


@dataclass(frozen=True)
class Lattice:
    """Places in the middle of ``rows`` × ``columns`` cells, top row first (the order of pixels)."""

    rows: int
    columns: int
    points: Floats
    """(rows · columns, q) latent points."""
    step: tuple[float, float]
    """Width and height of a cell."""


@dataclass(frozen=True)
class LatentPlane:
    """The rows of an embedding as shown in the plane, and the part of the plane that is shown."""

    Z: Floats
    shown: Floats
    extent: tuple[float, float, float, float]
    """left, right, bottom, top"""
    names: tuple[str, ...] = ()
    """What each axis shows, "" where nothing says it; none for axes of one unit."""

    @property
    def own_units(self) -> bool:
        """Whether the two axes have units of their own."""
        return bool(self.names) and self.n_components > 1

    @property
    def drawn(self) -> tuple[float, float]:
        """Width and height as drawn, up to a factor."""
        return (1.0, SHAPE) if self.own_units else (self.width, self.height)

    def title(self, k: int) -> str:
        """Label of an axis."""
        name = self.names[k] if self.names else ""
        return f"latent {k + 1}: {name}" if name else f"latent {k + 1}"

    @property
    def n_components(self) -> int:
        """Latent dimensions."""
        return int(self.Z.shape[1])

    @property
    def width(self) -> float:
        """Width of the shown part."""
        return self.extent[1] - self.extent[0]

    @property
    def height(self) -> float:
        """Height of the shown part."""
        return self.extent[3] - self.extent[2]

    def lattice(self, n: int, cell_shape: tuple[float, float] = (1.0, 1.0)) -> Lattice:
        """Return a lattice of about ``n`` cells along the longer side.

        ``cell_shape`` is the (height, width) whose ratio the cells take.
        With one latent dimension it is a single row of ``n`` cells.
        """
        if self.n_components == 1:
            return self.grid(1, n)
        ratio, (width, height) = cell_shape[0] / cell_shape[1], self.drawn
        wide = max(width, height / ratio)
        columns = max(2, round(n * width / wide))
        rows = max(2, round(n * height / ratio / wide))
        return self.grid(rows, columns)

    def grid(self, rows: int, columns: int) -> Lattice:
        """Return the lattice of ``rows`` × ``columns`` equal cells that fills the extent."""
        left, _, _, top = self.extent
        step = self.width / columns, self.height / rows
        across = left + step[0] * (np.arange(columns) + 0.5)
        down = top - step[1] * (np.arange(rows) + 0.5)
        U = np.stack(np.meshgrid(across, down), axis=-1).reshape(-1, 2)
        return Lattice(rows, columns, self.lift(U), step)

    def lift(self, U: Floats) -> Floats:
        """Return the latent points (m, q) that the places ``U`` (m, 2) of the plane stand for."""
        q = self.n_components
        if q <= 2:
            return U[:, :q]
        unit = np.array([self.width, self.height]) if self.own_units else 1.0
        nearest = cKDTree(self.Z[:, :2] / unit).query(U / unit)[1]
        return np.hstack([U, self.Z[nearest, 2:]])


def latent_of(model_or_Z: Any, owner: str) -> Floats:
    """Return the latent points of a fitted model, or the array itself, as (n, q) float64."""
    model = as_chain(model_or_Z)
    if capabilities(model).has_embedding:
        model_or_Z = model.embedding_
    elif capabilities(model_or_Z).has_parameters:
        name = type(model_or_Z).__name__
        raise ValueError(error_message(owner, "model", name, "has no embedding_", "Fit it first, or pass an array"))
    points = np.asarray(model_or_Z, dtype=np.float64)
    if points.ndim == 1:
        points = points[:, None]
    if points.ndim != 2 or points.shape[0] < 1 or points.shape[1] < 1:
        raise ValueError(
            error_message(owner, "Z", f"array of shape {points.shape}", "is not (n, q)", "Pass one row a point")
        )
    if not np.isfinite(points).all():
        raise ValueError(error_message(owner, "Z", "array with NaN or infinity", "cannot be placed", "Drop those rows"))
    return points


def axis_names(model_or_Z: Any) -> tuple[str, ...]:
    """Return the relation of each axis of a model; empty without relations.

    Examples
    --------
    >>> axis_names(np.zeros((3, 2)))
    ()
    """
    names = tuple(axis_names_of(as_chain(model_or_Z)))
    return names if any(names) else ()


def plane_of(Z: ArrayLike, margin: float = 0.06, names: tuple[str, ...] = ()) -> LatentPlane:
    """Return the plane that shows ``Z`` (n, q) with a ``margin`` (share of the larger side) around it.

    Axes that have ``names`` have units of their own.

    Examples
    --------
    >>> plane = plane_of([[0.0, 0.0], [4.0, 2.0]], margin=0.0)
    >>> plane.extent
    (0.0, 4.0, 0.0, 2.0)
    >>> plane.grid(1, 2).points
    array([[1., 1.],
           [3., 1.]])
    """
    points = np.asarray(Z, dtype=np.float64)
    if points.shape[1] == 1:
        shown = np.column_stack([points[:, 0], 0.1 + 0.8 * ((np.arange(len(points)) * GOLDEN) % 1.0)])
        left, right = _sides(shown[:, 0], margin * float(np.ptp(shown[:, 0])))
        return LatentPlane(points, shown, (left, right, 0.0, 1.0), names)
    shown = points[:, :2]
    across, up = (margin * float(span) for span in np.ptp(shown, axis=0))
    if not names:
        across = up = max(across, up)
    return LatentPlane(points, shown, (*_sides(shown[:, 0], across), *_sides(shown[:, 1], up)), names)


def _sides(values: Floats, room: float) -> tuple[float, float]:
    """Ends of an axis; a half unit each way where all values are the same."""
    low, high = float(values.min()) - room, float(values.max()) + room
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def presence(model: FittedModel, points: Floats, Z: Floats) -> Floats:
    r"""Return how much data is at latent ``points``: 1 where rows are, 0 where the density is negligible.

    With :math:`\ell` the log density and :math:`\ell_0` its 1 % quantile over the rows,
    :math:`\mathrm{clip}\bigl(1 + (\ell(z) - \ell_0) / 3,\ 0,\ 1\bigr)`: it vanishes where the density is
    :math:`e^{-3}` times that of the loneliest rows.
    """
    every = -(-len(Z) // REFERENCE_ROWS)
    reference = np.quantile(model.latent_log_density(Z[::every]), 0.01)
    log_density = np.asarray(model.latent_log_density(points), dtype=np.float64)
    share: Floats = np.clip(1.0 + (log_density - reference) / 3.0, 0.0, 1.0)
    return share
