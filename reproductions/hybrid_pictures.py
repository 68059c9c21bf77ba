"""Pictures for the hybrids of S4 chapter 2: things that move in steps, digits shifted, teapots and objects turned."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from sidelight.datasets import load_coil20, load_mnist, shifted_digits, turntable
from sidelight.evaluate import neighbour_hit, recovery
from sidelight.spectral._transformations import rotated

FRESH = tuple(range(18, 30))  # draws that nothing was chosen on or changed after
SIDE, TURNS, TEAPOT_STEP, COIL_STEP = 40, 9, 20.0, 10.0


@dataclass(frozen=True)
class Pictures:
    """Several things, each moved in steps: rows, which thing, which step, the shape of a picture."""

    X: Any
    thing: Any
    step: Any
    shape: tuple[int, int]
    full_turn: bool = False

    def scores(self, Z: Any) -> tuple[float, float]:
        """Whether the nearest other point shows the same thing; how well the map tells the step."""
        hit = neighbour_hit(Z, self.thing, n_neighbors=1)
        if self.full_turn:
            return hit, recovery(Z, self.step, n_neighbors=5, period=360.0)
        return hit, _order(Z, self.step)

    def own_order(self, Z: Any) -> float:
        """The order of each thing by itself, in a direction of its own: the median over the things."""
        chosen = [self.thing == one for one in np.unique(self.thing)]
        return float(np.median([_order(Z[rows], self.step[rows]) for rows in chosen]))


def _order(Z: Any, step: Any) -> float:
    """|Spearman| of the step along the direction of the map that tells it best."""
    centred = Z - Z.mean(axis=0)
    direction = np.linalg.lstsq(centred, step - step.mean(), rcond=None)[0]
    return float(abs(spearmanr(centred @ direction, step)[0]))


@cache
def _mnist() -> Any:
    return load_mnist()


def digits(digits: tuple[int, ...], n_shifts: int, step: int) -> Callable[[int], Pictures]:
    @cache
    def draw(seed: int) -> Pictures:
        data = _mnist()
        label = data.factors["label"]
        rows = [int(np.flatnonzero(label == digit)[seed]) for digit in digits]
        moved = shifted_digits(digits, n_shifts=n_shifts, step=step, pictures=data.images[rows])
        assert moved.image_shape is not None
        return Pictures(moved.X, moved.factors["digit"], moved.factors["shift"], moved.image_shape)

    return draw


def _turned(pair: Any, shape: tuple[int, int], step: float) -> Pictures:
    """Two pictures, each turned in its plane."""
    angles = step * np.arange(TURNS)
    X = np.concatenate([rotated(one[None], angle, shape) for one in pair for angle in angles])
    return Pictures(X, np.repeat([0, 1], TURNS), np.tile(angles, 2), shape)


@cache
def teapots(seed: int) -> Pictures:
    views = turntable(12, objects=["teapot"], size=SIDE).X
    chosen = ((0, 3), (1, 4), (2, 5), (0, 2), (1, 6), (3, 8))
    rest = [(a, b) for a in range(12) for b in range(a + 1, 12) if (a, b) not in chosen]
    pair = (*chosen, *np.random.default_rng(0).permutation(rest))[seed]
    return _turned(views[list(pair)], (SIDE, SIDE), TEAPOT_STEP)


@cache
def coil_turned(seed: int) -> Pictures:
    rng = np.random.default_rng(seed)
    objects, views = rng.choice(20, 2, replace=False), rng.integers(72, size=2)
    data = load_coil20(32)
    rows = [_row(data, thing, view) for thing, view in zip(objects, views, strict=True)]
    room = np.pad(data.images[rows], ((0, 0), (8, 8), (8, 8))).astype(np.float64)  # corners stay inside when turned
    return _turned(room.reshape(2, -1), (48, 48), COIL_STEP)


def _row(data: Any, thing: int, view: int) -> int:
    return int(np.flatnonzero((data.factors["object_index"] == thing) & (data.factors["view"] == view))[0])


@cache
def coil_views(seed: int) -> Pictures:
    chosen = ((2, 5), (2, 18), (0, 3), (7, 12), (5, 18), (0, 1))
    rest = [(a, b) for a in range(20) for b in range(a + 1, 20) if (a, b) not in chosen]
    pair = (*chosen, *np.random.default_rng(0).permutation(rest))[seed]
    return _full_turn(load_coil20(32, [int(one) for one in pair]))


@cache
def table_views(seed: int) -> Pictures:
    names = ("car", "duck", "mug", "chair", "teapot")
    chosen = (("car", "duck"), ("mug", "teapot"), ("car", "chair"))
    rest = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if (a, b) not in chosen]
    return _full_turn(turntable(72, objects=(*chosen, *rest)[seed], size=32))


def _full_turn(data: Any) -> Pictures:
    X = np.asarray(data.X, dtype=np.float64)
    return Pictures(X, data.factors["object_index"], data.factors["angle"], data.image_shape, full_turn=True)
