"""Small worlds for embeddings that know actions: a window on a picture, a grid with slips, a car, a pendulum.

The first two have places and labels of actions, and are asked where actions lead that were never tried at a place. The
other two have continuous states; an observation is two frames, so that it holds the velocity; asked is the next one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from sidelight.datasets import data_home

MOVES = {"forward": (1, 0), "backward": (-1, 0), "left": (0, -1), "right": (0, 1)}


@dataclass(frozen=True)
class Walk:
    """Observations X (n, d), the label of what was done at each row (n,), None at the end, and true places (n, 2)."""

    X: Any
    actions: list[Any]
    places: Any

    def untried(self) -> list[tuple[int, str, tuple[int, int]]]:
        """Row, action and resulting place of all steps that no row took, and that lead to a place that was seen."""
        spots = [tuple(place) for place in self.places.tolist()]
        first = {place: row for row, place in reversed(list(enumerate(spots)))}
        tried = set(zip(spots, self.actions, strict=True))
        return [
            (row, name, there)
            for place, row in first.items()
            for name, (dx, dy) in MOVES.items()
            if (place, name) not in tried and (there := (place[0] + dx, place[1] + dy)) in first
        ]

    def share_right(self, predict: Any) -> float:
        """Share of untried steps for which ``predict(row, action)`` is a row of the right place."""
        asked = self.untried()
        return float(np.mean([tuple(self.places[predict(row, name)]) == there for row, name, there in asked]))


def walk(side: int, steps: int, *, slip: float = 0.0, astray: bool = False, seed: int = 0) -> tuple[list[Any], Any]:
    """A random walk inside a square: labels (steps + 1,), None at the end, and places (steps + 1, 2).

    An action slips with probability ``slip``: then nothing happens, or with ``astray`` another action does.
    """
    rng = np.random.default_rng(seed)
    here, last = np.array([side // 2, side // 2]), "forward"
    done: list[Any] = []
    places = [here]
    for _ in range(steps):
        able = [name for name, move in MOVES.items() if _inside(here + move, side)]
        last = last if last in able and rng.random() < 0.7 else able[rng.integers(len(able))]
        done.append(last)
        if rng.random() >= slip:
            here = here + MOVES[last]
        elif astray:
            here = here + MOVES[able[rng.integers(len(able))]]
        places.append(here)
    return [*done, None], np.array(places)


def _inside(place: Any, side: int) -> bool:
    return bool((place >= 0).all() and (place < side).all())


@cache
def picture(name: str) -> Any:
    """One of the natural pictures, or a texture made here ("waves", "blobs"), in [0, 1]."""
    if name in ("waves", "blobs"):
        return _texture(name)
    home = data_home()
    if home is None:
        raise FileNotFoundError("The pictures are read from the folder that SIDELIGHT_DATA names.")
    with np.load(home / "natural_images" / "natural_gray.npz") as archive:
        return archive[name] / 255.0


def _texture(name: str) -> Any:
    """Low-pass noise of 300 x 300 pixels: of one scale ("waves"), or thresholded ("blobs")."""
    rng = np.random.default_rng(7)
    radius = np.hypot(np.fft.fftfreq(300)[:, None], np.fft.fftfreq(300))
    spectrum = np.fft.fft2(rng.normal(size=(300, 300))) * np.exp(-((radius - 0.04) ** 2) / 2e-4)
    field = np.fft.ifft2(spectrum).real
    field = field / field.std()
    return np.clip(0.5 + 0.2 * field, 0, 1) if name == "waves" else 0.2 + 0.6 * (field > 0.4)


def window_world(
    name: str, *, noise: float, slip: float = 0.0, astray: bool = False, seed: int = 0, steps: int = 220,
    side: int = 7, view: int = 24, step: int = 8,
) -> Walk:  # fmt: skip
    """A window of ``view`` pixels that moves over a picture by ``step`` pixels, over side x side places."""
    done, places = walk(side, steps, slip=slip, astray=astray, seed=seed)
    whole, rng = picture(name), np.random.default_rng([seed, 1])
    reach = (side - 1) * step + view
    top, left = (int(rng.integers(size - reach)) for size in whole.shape)
    corner = np.array([top, left]) + step * places
    X = np.array([whole[y : y + view, x : x + view].ravel() for y, x in corner])
    return Walk(X + noise * rng.normal(size=X.shape), done, places)


def grid_world(*, noise: float, slip: float, astray: bool = False, seed: int = 0, steps: int = 250) -> Walk:
    """A grid of 7 x 7 places, seen through 36 bumps that overlap (place fields)."""
    done, places = walk(7, steps, slip=slip, astray=astray, seed=seed)
    rng = np.random.default_rng([seed, 2])
    centres = rng.uniform(-0.5, 6.5, size=(36, 2))
    X = np.exp(-((places[:, None] - centres) ** 2).sum(axis=2) / (2 * 1.5**2))
    return Walk(X + noise * rng.normal(size=X.shape), done, places)


@dataclass(frozen=True)
class Drive:
    """Observations X (n, d) of two frames each, actions (n,) of labels or (n, 1) of forces, trajectory of each row."""

    X: Any
    actions: Any
    trajectory: Any


def valley_car(*, seed: int = 0, drives: int = 12, steps: int = 40, noise: float = 0.0) -> Drive:
    """A car in a valley that pushes left, right or not (MountainCar), seen as a picture of 16 x 24 pixels."""
    rng = np.random.default_rng([seed, 3])
    frames, actions, lots = [], [], []
    for lot in range(drives):
        at, speed = rng.uniform(-1.0, 0.3), rng.uniform(-0.04, 0.04)
        push = 0
        before = _car(at - speed)
        for _ in range(steps):
            push = push if rng.random() < 0.8 else int(rng.integers(-1, 2))
            frames.append(np.r_[_car(at), before])
            actions.append(("left", "none", "right")[push + 1])
            lots.append(lot)
            before = _car(at)
            speed = float(np.clip(speed + 0.002 * push - 0.0025 * np.cos(3 * at), -0.07, 0.07))
            at = float(np.clip(at + speed, -1.2, 0.6))
            speed = 0.0 if at in (-1.2, 0.6) else speed
    X = np.array(frames)
    return Drive(X + noise * rng.normal(size=X.shape), np.array(actions, dtype=object), np.array(lots))


def _car(at: float) -> Any:
    y, x = np.mgrid[0:16, 0:24]
    cx, cy = 2 + 20 * (at + 1.2) / 1.8, 8 - 5 * np.sin(3 * at)
    return np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / (2 * 1.5**2)).ravel()


def pendulum(*, seed: int = 0, drives: int = 12, steps: int = 40, noise: float = 0.0) -> Drive:
    """A pendulum under a continuous torque in [-2, 2], seen as a picture of 20 x 20 pixels."""
    rng = np.random.default_rng([seed, 4])
    frames, actions, lots = [], [], []
    for lot in range(drives):
        angle, speed, torque = rng.uniform(-np.pi, np.pi), rng.uniform(-2, 2), 0.0
        before = _rod(angle - 0.05 * speed)
        for _ in range(steps):
            torque = float(np.clip(0.7 * torque + rng.normal(), -2, 2))
            frames.append(np.r_[_rod(angle), before])
            actions.append([torque])
            lots.append(lot)
            before = _rod(angle)
            speed = float(np.clip(speed + 0.05 * (15 * np.sin(angle) + 3 * torque), -8, 8))
            angle += 0.05 * speed
    X = np.array(frames)
    return Drive(X + noise * rng.normal(size=X.shape), np.array(actions), np.array(lots))


def _rod(angle: float) -> Any:
    y, x = np.mgrid[0:20, 0:20] - 9.5
    along = np.clip(x * np.sin(angle) + y * -np.cos(angle), 0, 8)
    away = (x - along * np.sin(angle)) ** 2 + (y + along * np.cos(angle)) ** 2
    return np.exp(-away / (2 * 1.2**2)).ravel()


def affine_rival(X: Any, actions: list[Any], n_components: int = 20) -> Any:
    """PCA and one affine map per action: a function of (row, action) to the nearest training row."""
    centred = X - X.mean(axis=0)
    U, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    Z = (U * sizes)[:, :n_components]
    raised = np.column_stack([Z, np.ones(len(Z))])
    maps = {}
    for name in {name for name in actions if name is not None}:
        begin = np.array([row for row, done in enumerate(actions[:-1]) if done == name])
        maps[name] = np.linalg.lstsq(raised[begin], Z[begin + 1], rcond=None)[0]
    return lambda row, name: int(((raised[row] @ maps[name] - Z) ** 2).sum(axis=1).argmin())
