"""Solid objects turning on a table, rendered in NumPy.

Each view is ray-traced: camera rays meet convex solids in closed form, the light is Lambert's (key, fill and sky)
with a small highlight, and the key light is a patch whose points are dealt to the sub-pixels, so that averaging
the sub-pixels softens both edges and shadows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils import check_random_state

from sidelight.base.messages import error_message

from ._dataset import Dataset
from ._objects import OBJECTS, TABLE
from ._sheets import RandomState, check_count, check_noise
from ._solids import Array, Solid, blocked, dot, first_hit

__all__ = ["turntable"]

_SUPERSAMPLE = 3
_CAMERA = np.array([0.0, -6.4, 3.1])
_TARGET = np.array([0.0, 0.0, 0.50])
_FIELD = 0.182  # half the width of the view, at unit distance
_KEY = np.array([-0.62, -0.48, 0.75])
_FILL = np.array([0.80, -0.55, 0.24])
_LIGHT_SPREAD = 0.16
_BACKGROUND = 0.012
_RAYS_AT_ONCE = 2**16


def turntable(
    n_views: int = 72,
    *,
    objects: Sequence[str] | None = None,
    size: int = 32,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Dataset:
    """Render objects turning on a table.

    Parameters
    ----------
    n_views : int
        Views per object, at equal angles over the full turn (72: every 5 degrees).
    objects : sequence of str, optional
        Which objects: ``"car"``, ``"duck"``, ``"mug"`` (these three by default), ``"chair"``, ``"teapot"``.
    size : int
        Width and height of a view in pixels.
    noise : float
        Standard deviation of pixel noise (values are kept within [0, 1]). Without noise nothing is random.
    random_state : int, RandomState or None
        Seed of the noise.

    Returns
    -------
    Dataset
        ``X`` (objects * n_views, size * size) in [0, 1]; factors ``"object"`` (names), ``"object_index"``
        (place in ``objects``) and ``"angle"`` (degrees).

    See Also
    --------
    load_coil20 : Photographs of turning objects.

    Examples
    --------
    >>> turntable(4, objects=["duck"], size=16)
    Dataset(turntable: 4 rows x 256 columns (16x16 pictures); factors: object, object_index, angle)
    """
    check_count("turntable", "n_views", n_views)
    check_count("turntable", "size", size)
    check_noise("turntable", "noise", noise)
    names = _chosen(objects)
    angles = np.arange(n_views) * (360.0 / n_views)
    batches = np.array_split(angles, -(-n_views * (_SUPERSAMPLE * size) ** 2 // _RAYS_AT_ONCE))
    views = [_render(OBJECTS[name], batch, size) for name in names for batch in batches if batch.size]
    X = np.concatenate(views).reshape(len(names) * n_views, size * size)
    if noise > 0:
        X = np.clip(X + noise * check_random_state(random_state).standard_normal(X.shape), 0.0, 1.0)
    factors = {
        "object": np.repeat(np.array(names), n_views),
        "object_index": np.repeat(np.arange(len(names)), n_views),
        "angle": np.tile(angles, len(names)),
    }
    description = f"{', '.join(names)}: {n_views} views each of a turning object, {size}x{size} pixels."
    return Dataset(X, factors, image_shape=(size, size), name="turntable", description=description)


def _chosen(objects: Sequence[str] | None) -> list[str]:
    if objects is None:
        return ["car", "duck", "mug"]
    names = [objects] if isinstance(objects, str) else list(objects)
    if not names or len(set(names)) < len(names) or not set(names) <= set(OBJECTS):
        rule = "is not a list of different known objects"
        raise ValueError(error_message("turntable", "objects", objects, rule, f"Choose from {', '.join(OBJECTS)}"))
    return names


def _render(solids: Sequence[Solid], degrees: Array, size: int) -> Array:
    """Render views of an object on the table as (views, size, size) grey values in [0, 1].

    All rays of all views go through each solid together: the camera and lights are turned into the table's frame.
    """
    fine = size * _SUPERSAMPLE
    turns = np.stack([_turn(-angle) for angle in degrees])
    eye, fill = _turned(turns, _CAMERA[:, None], fine**2), _turned(turns, _FILL[:, None], fine**2)
    rays, key = _turned(turns, _rays(fine)), _turned(turns, _key_light(fine))
    hit = first_hit([*solids, TABLE], eye, rays)
    seen = np.flatnonzero(np.isfinite(hit.distance))
    normal, rays, key = hit.normal[:, seen], rays[:, seen], key[:, seen]
    points = eye[:, seen] + hit.distance[seen] * rays + 1e-6 * normal
    lit = _lit(solids, points, normal, key)
    picture = np.full(len(degrees) * fine**2, _BACKGROUND)
    picture[seen] = _shade(hit.albedo[seen], normal, key, fill[:, seen], -rays, lit)
    blocks = picture.reshape(-1, size, _SUPERSAMPLE, size, _SUPERSAMPLE)
    grey: Array = np.clip(blocks.mean(axis=(2, 4)), 0.0, 1.0) ** (1 / 2.2)
    return grey


def _turned(turns: Array, vectors: Array, repeats: int = 1) -> Array:
    """Turn (3, n) vectors by each of the (v, 3, 3) rotations, as (3, v * n) columns."""
    turned = np.einsum("vij,jn->ivn", turns, vectors)
    return np.repeat(turned, repeats, axis=2).reshape(3, -1)


def _lit(scene: Sequence[Solid], points: Array, normal: Array, key: Array) -> Array:
    """1 where the key light reaches a point, 0 in shadow."""
    lit: Array = np.where(dot(normal, key) > 0.0, 1.0, 0.0)
    facing = np.flatnonzero(lit)
    lit[facing] = ~blocked(scene, points[:, facing], key[:, facing])
    return lit


def _shade(albedo: Array, normal: Array, key: Array, fill: Array, view: Array, lit: Array) -> Array:
    """Lambert's law for key, fill and sky light, and a highlight where the key light mirrors into the eye."""
    lambert = 1.05 * lit * np.maximum(dot(normal, key), 0.0)
    soft = 0.20 * np.maximum(dot(normal, fill), 0.0) + 0.19 * (0.5 + 0.5 * normal[2])
    half = key + view
    mirror = np.maximum(dot(normal, half), 0.0) / np.sqrt(dot(half, half))
    shaded: Array = albedo * (lambert + soft) + 0.12 * lit * mirror**24 * np.sqrt(albedo)
    return shaded


def _turn(degrees: float) -> Array:
    """Rotation about the vertical axis."""
    cosine, sine = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[cosine, -sine, 0.0], [sine, cosine, 0.0], [0.0, 0.0, 1.0]])


def _rays(fine: int) -> Array:
    """Unit directions of the camera's rays (3, fine²), top row first."""
    forward = (_TARGET - _CAMERA) / np.linalg.norm(_TARGET - _CAMERA)
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    grid = _FIELD * ((np.arange(fine) + 0.5) * 2.0 / fine - 1.0)
    across, down = np.meshgrid(grid, grid)
    rays = forward[:, None] + right[:, None] * across.ravel() - up[:, None] * down.ravel()
    directions: Array = rays / np.linalg.norm(rays, axis=0)
    return directions


def _key_light(fine: int) -> Array:
    """Unit directions to the key light (3, fine²): each sub-pixel of a pixel sees another point of its patch."""
    step = np.arange(fine) % _SUPERSAMPLE - (_SUPERSAMPLE - 1) / 2
    across, down = np.meshgrid(step, step)
    side = np.cross(_KEY, [0.0, 0.0, 1.0])
    side /= np.linalg.norm(side)
    above = np.cross(side, _KEY) / np.linalg.norm(_KEY)
    spread = side[:, None] * across.ravel() + above[:, None] * down.ravel()
    light = _KEY[:, None] + _LIGHT_SPREAD * spread
    directions: Array = light / np.linalg.norm(light, axis=0)
    return directions
