r"""Convex solids and the rays that meet them.

A solid is the intersection of half-spaces and, optionally, one quadric:

.. math::

    S = \{p : N p \le b\} \cap \{p : (p - c)^\top Q\, (p - c) \le 1\}, \qquad Q \succeq 0

with :math:`N` (m, 3), :math:`b` (m,), :math:`Q` (3, 3): boxes and wedges have no quadric, ellipsoids no half-spaces,
cylinders both. A ray :math:`p(t) = o + t d` is inside :math:`S` on one interval of :math:`t`; the constraint that
opens the interval gives the surface normal. A solid may be hollowed by another convex solid (a mug).

Points and directions are stored as (3, n) columns; every function is vectorised over the n rays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Hit", "Solid", "ball", "blocked", "box", "cylinder", "dot", "ellipsoid", "first_hit", "ring", "wedge"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Solid:
    """A convex solid with a grey value, a bounding ball, and possibly a convex hole."""

    albedo: float
    middle: Array
    reach: float
    normals: Array = field(default_factory=lambda: np.zeros((0, 3)))
    offsets: Array = field(default_factory=lambda: np.zeros(0))
    quadric: Array | None = None
    hole: Solid | None = None


class Hit(NamedTuple):
    """Where rays first meet a scene: distance (inf for a miss), outward unit normals (3, n), grey values."""

    distance: Array
    normal: Array
    albedo: Array


def ellipsoid(albedo: float, middle: ArrayLike, radii: ArrayLike, *, tilt: float = 0.0) -> Solid:
    """Ellipsoid with half-axes ``radii``, tilted nose-up by ``tilt`` degrees about the y axis."""
    radii = np.asarray(radii, dtype=float)
    turn = _tilt(tilt)
    return Solid(albedo, np.asarray(middle, dtype=float), float(radii.max()), quadric=(turn / radii**2) @ turn.T)


def ball(albedo: float, middle: ArrayLike, radius: float) -> Solid:
    """Ball."""
    return ellipsoid(albedo, middle, [radius] * 3)


def cylinder(albedo: float, start: ArrayLike, end: ArrayLike, radius: float, *, hole: Solid | None = None) -> Solid:
    """Cylinder with flat ends at ``start`` and ``end``."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    middle, length = (start + end) / 2, float(np.linalg.norm(end - start))
    axis = (end - start) / length
    normals = np.stack([axis, -axis])
    return Solid(
        albedo,
        middle,
        float(np.hypot(length / 2, radius)),
        normals,
        np.array([axis @ end, -axis @ start]),
        (np.eye(3) - np.outer(axis, axis)) / radius**2,
        hole,
    )


def wedge(albedo: float, z: tuple[float, float], bottom: ArrayLike, top: ArrayLike) -> Solid:
    """Box with sloping sides: rectangles (x0, x1, y0, y1) at both heights, joined by flat faces."""
    corners = np.array(
        [(x, y, h) for h, r in zip(z, np.asarray([bottom, top]), strict=True) for x in r[:2] for y in r[2:]]
    )
    lower, upper, rise = np.asarray(bottom, dtype=float), np.asarray(top, dtype=float), z[1] - z[0]
    signs = np.array([-1.0, 1.0, -1.0, 1.0])
    normals = np.zeros((6, 3))
    normals[[0, 1], 0] = normals[[2, 3], 1] = [-1.0, 1.0]
    normals[:4, 2] = -signs * (upper - lower) / rise
    normals[[4, 5], 2] = [-1.0, 1.0]
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    middle = corners.mean(axis=0)
    reach = float(np.linalg.norm(corners - middle, axis=1).max())
    return Solid(albedo, middle, reach, normals, (corners @ normals.T).max(axis=0))


def box(albedo: float, x: tuple[float, float], y: tuple[float, float], z: tuple[float, float]) -> Solid:
    """Box with faces along the axes."""
    return wedge(albedo, z, (*x, *y), (*x, *y))


def ring(
    albedo: float, middle: ArrayLike, radii: tuple[float, float], arc: tuple[float, float], *, thickness: float
) -> list[Solid]:
    """Handle: a bent rod in the x-z plane, over an arc in degrees, as a chain of overlapping balls."""
    angles = np.deg2rad(np.linspace(*arc, 17))
    x0, y0, z0 = np.asarray(middle, dtype=float)
    return [ball(albedo, (x0 + radii[0] * np.cos(a), y0, z0 + radii[1] * np.sin(a)), thickness) for a in angles]


def first_hit(scene: Sequence[Solid], origin: Array, direction: Array) -> Hit:
    """Return where each ray first meets the scene; ``direction`` has unit columns."""
    n = direction.shape[1]
    hit = Hit(np.full(n, np.inf), np.zeros((3, n)), np.zeros(n))
    for solid, rays in _candidates(scene, origin, direction):
        start, toward = origin.take(rays, axis=1), direction.take(rays, axis=1)
        distance = _meet(solid, start, toward)
        nearer = np.flatnonzero(distance < hit.distance[rays])
        chosen, distance = rays[nearer], distance[nearer]
        points = start.take(nearer, axis=1) + distance * toward.take(nearer, axis=1)
        hit.distance[chosen] = distance
        hit.normal[:, chosen] = _normal(solid, points)
        hit.albedo[chosen] = solid.albedo
    return hit


def blocked(scene: Sequence[Solid], origin: Array, direction: Array) -> NDArray[np.bool_]:
    """Return whether anything lies ahead of each ray."""
    dark = np.zeros(origin.shape[1], dtype=bool)
    for solid, rays in _candidates(scene, origin, direction):
        rays = rays[~dark[rays]]
        dark[rays] = np.isfinite(_meet(solid, origin.take(rays, axis=1), direction.take(rays, axis=1)))
    return dark


def _tilt(degrees: float) -> Array:
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[cosine, 0.0, -sine], [0.0, 1.0, 0.0], [sine, 0.0, cosine]])


def dot(left: Array, right: Array) -> Any:
    """Inner products of vectors stored as columns."""
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2]


def _candidates(scene: Sequence[Solid], origin: Array, direction: Array) -> Iterator[tuple[Solid, NDArray[np.intp]]]:
    """Yield each solid with the rays that pass through its bounding ball: most rays miss most solids.

    The squared distance of a ray's line from the middle m is |m - o|² - ((m - o)·d)², here multiplied out, because
    most of it is the same for every solid.
    """
    square, along = dot(origin, origin), dot(origin, direction)
    for solid in scene:
        ahead = np.einsum("i,in->n", solid.middle, direction) - along
        gap = square - 2.0 * np.einsum("i,in->n", solid.middle, origin)
        gap -= ahead**2
        near = gap < solid.reach**2 - solid.middle @ solid.middle + 1e-9
        yield solid, np.flatnonzero(near & (ahead > -solid.reach))


def _meet(solid: Solid, origin: Array, direction: Array) -> Array:
    """Distance at which rays enter the solid, or meet the far wall of its hole; inf for a miss."""
    enter, leave = _interval(solid, origin, direction)
    distance = np.where((enter < leave) & (enter > 0.0), enter, np.inf)
    if solid.hole is None:
        return distance
    hole_enter, hole_leave = _interval(solid.hole, origin, direction)
    # Either the ray enters through the mouth, or it starts in the hole (a shadow ray): it meets the far wall.
    begun = np.maximum(enter, 0.0)
    in_hole = (hole_enter <= begun + 1e-9) & (hole_leave > begun) & (enter < leave)
    beyond = np.where(hole_leave >= leave - 1e-9, np.inf, hole_leave)
    return np.where(in_hole, beyond, distance)


def _interval(solid: Solid, origin: Array, direction: Array) -> tuple[Array, Array]:
    """The interval [enter, leave] of each ray inside the solid; empty (enter > leave) for a miss."""
    n = direction.shape[1]
    enter, leave = np.full(n, -np.inf), np.full(n, np.inf)
    if solid.quadric is not None:
        enter, leave = _quadric_interval(solid.quadric, origin - solid.middle[:, None], direction)
    for normal, offset in zip(solid.normals, solid.offsets, strict=True):
        slope = dot(normal, direction)
        # A ray parallel to the plane is wholly inside or outside: a tiny slope sends its crossing far away.
        crossing = (offset - dot(normal, origin)) / np.where(np.abs(slope) < 1e-12, 1e-12, slope)
        enter = np.maximum(enter, np.where(slope < 0.0, crossing, -np.inf))
        leave = np.minimum(leave, np.where(slope < 0.0, np.inf, crossing))
    return enter, leave


def _quadric_interval(Q: Array, offset: Array, direction: Array) -> tuple[Array, Array]:
    """Solve a t² + 2 b t + c ≤ 0; rays that miss get an empty interval."""
    pulled = np.einsum("ij,jn->in", Q, direction)
    a = np.maximum(dot(direction, pulled), 1e-12)
    b = dot(offset, pulled)
    c = dot(offset, np.einsum("ij,jn->in", Q, offset)) - 1.0
    discriminant = b**2 - a * c
    hits = discriminant > 0.0
    root = np.sqrt(np.where(hits, discriminant, 0.0))
    return np.where(hits, (-b - root) / a, np.inf), np.where(hits, (-b + root) / a, -np.inf)


def _normal(solid: Solid, points: Array) -> Array:
    """Outward unit normals at points on the surface: those of the nearest constraint."""
    gap, normal = _nearest_face(solid, points)
    if solid.hole is None:
        return normal
    hole_gap, hole_normal = _nearest_face(solid.hole, points)
    return np.where(hole_gap < gap, -hole_normal, normal)


def _nearest_face(solid: Solid, points: Array) -> tuple[Array, Array]:
    """Distance to the nearest constraint's surface (to first order for the quadric), and its unit normal."""
    gap, normal = np.full(points.shape[1], np.inf), np.zeros(points.shape)
    if solid.quadric is not None:
        offset = points - solid.middle[:, None]
        gradient = np.einsum("ij,jn->in", solid.quadric, offset)
        length = np.sqrt(dot(gradient, gradient)) + 1e-12
        gap, normal = np.abs(dot(offset, gradient) - 1.0) / (2.0 * length), gradient / length
    for face, offset in zip(solid.normals, solid.offsets, strict=True):
        face_gap = np.abs(dot(face, points) - offset)
        normal = np.where(face_gap < gap, face[:, None], normal)
        gap = np.minimum(gap, face_gap)
    return gap, normal
