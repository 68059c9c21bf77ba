"""The turntable's objects, built from convex solids.

Units: the table has radius 1.2; x is the object's length, y its width, z up, and the table's top is z = 0.
No object looks the same from two directions.
"""

from __future__ import annotations

import numpy as np

from ._solids import Solid, ball, box, cylinder, ellipsoid, ring, wedge

__all__ = ["OBJECTS", "TABLE"]

TABLE = cylinder(0.16, (0, 0, -0.09), (0, 0, 0), 1.22)


def _car() -> list[Solid]:
    paint, glass, tyre, metal = 0.62, 0.11, 0.02, 0.85
    body = [
        wedge(paint, (0.14, 0.34), (-1.0, 1.0, -0.42, 0.42), (-1.02, 1.02, -0.45, 0.45)),
        wedge(paint, (0.34, 0.50), (-1.02, 1.02, -0.45, 0.45), (-0.96, 0.90, -0.40, 0.40)),
        wedge(glass, (0.50, 0.76), (-0.78, 0.46, -0.385, 0.385), (-0.54, 0.12, -0.30, 0.30)),
        wedge(paint, (0.76, 0.81), (-0.56, 0.14, -0.31, 0.31), (-0.50, 0.08, -0.27, 0.27)),
    ]
    pillars = [
        wedge(paint, (0.50, 0.77), (-0.26, -0.18, y, y + 0.02), (-0.26, -0.18, y * 0.78, y * 0.78 + 0.02))
        for y in (-0.40, 0.385)
    ]
    wheels = [
        part
        for x in (-0.60, 0.60)
        for side in (-1.0, 1.0)
        for part in (
            cylinder(tyre, (x, side * 0.26, 0.20), (x, side * 0.475, 0.20), 0.20),
            cylinder(metal, (x, side * 0.40, 0.20), (x, side * 0.485, 0.20), 0.10),
        )
    ]
    lamps = [ellipsoid(1.0, (1.0, y, 0.36), (0.05, 0.10, 0.07)) for y in (-0.30, 0.30)]
    lamps += [ellipsoid(0.06, (-1.0, y, 0.37), (0.04, 0.11, 0.06)) for y in (-0.30, 0.30)]
    return [*body, *pillars, *wheels, *lamps]


def _duck() -> list[Solid]:
    feather, wing, bill, eye = 0.80, 0.55, 0.28, 0.01
    return [
        ellipsoid(feather, (-0.10, 0, 0.40), (0.78, 0.50, 0.40)),
        ellipsoid(feather, (-0.72, 0, 0.62), (0.34, 0.20, 0.13), tilt=-42),
        ellipsoid(feather, (0.36, 0, 0.70), (0.26, 0.25, 0.36)),
        ball(feather, (0.42, 0, 1.06), 0.32),
        ellipsoid(bill, (0.78, 0, 1.00), (0.24, 0.17, 0.07), tilt=4),
        *[ellipsoid(wing, (-0.22, y, 0.47), (0.46, 0.10, 0.24), tilt=-14) for y in (-0.46, 0.46)],
        *[ball(eye, (0.58, y, 1.18), 0.085) for y in (-0.23, 0.23)],
    ]


def _mug() -> list[Solid]:
    glaze, ink = 0.72, 0.06
    hole = cylinder(0.0, (0, 0, 0.10), (0, 0, 2.0), 0.52)
    # Something printed is in sight from every side, so that a hidden handle leaves no two views alike.
    prints = [_print(ink, 180.0, 0.27), _print(0.25, 112.0, 0.15), _print(0.35, 250.0, 0.19)]
    return [
        cylinder(glaze, (0, 0, 0), (0, 0, 1.15), 0.60, hole=hole),
        *ring(glaze, (0.62, 0, 0.58), (0.38, 0.34), (-90, 90), thickness=0.09),
        *prints,
    ]


def _print(albedo: float, degrees: float, radius: float) -> Solid:
    """A round print on the mug: an ellipsoid sunk into the wall until only its face shows."""
    a = np.deg2rad(degrees)
    axes = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    sunk = radius**2 / 2.4
    radii = np.array([sunk + 0.02, 0.85 * radius, 1.15 * radius])
    middle = (0.60 - sunk) * axes[:, 0] + np.array([0.0, 0.0, 0.60])
    return Solid(albedo, middle, 1.15 * radius, quadric=(axes / radii**2) @ axes.T)


def _chair() -> list[Solid]:
    wood, cushion = 0.42, 0.85
    legs = [cylinder(wood, (x, y, 0.0), (x * 0.9, y * 0.9, 0.62), 0.06) for x in (-0.42, 0.42) for y in (-0.42, 0.42)]
    posts = [cylinder(wood, (-0.42, y, 0.6), (-0.56, y, 1.5), 0.055) for y in (-0.38, 0.38)]
    slats = [box(wood, (-0.56, -0.47), (-0.38, 0.38), (z, z + 0.13)) for z in (0.85, 1.08, 1.31)]
    return [
        *legs,
        *posts,
        *slats,
        box(wood, (-0.48, 0.48), (-0.48, 0.48), (0.58, 0.66)),
        ellipsoid(cushion, (0.02, 0, 0.68), (0.42, 0.42, 0.09)),
    ]


def _teapot() -> list[Solid]:
    glaze, lid = 0.50, 0.80
    return [
        ellipsoid(glaze, (0, 0, 0.48), (0.64, 0.64, 0.48)),
        cylinder(glaze, (0, 0, 0.0), (0, 0, 0.2), 0.42),
        ellipsoid(lid, (0, 0, 0.90), (0.34, 0.34, 0.12)),
        ball(lid, (0, 0, 1.08), 0.10),
        cylinder(glaze, (0.45, 0, 0.34), (1.02, 0, 0.86), 0.11),
        *ring(glaze, (-0.56, 0, 0.54), (0.44, 0.32), (90, 270), thickness=0.075),
        ball(0.05, (0.26, -0.54, 0.55), 0.14),
    ]


OBJECTS = {"car": _car(), "duck": _duck(), "mug": _mug(), "chair": _chair(), "teapot": _teapot()}
