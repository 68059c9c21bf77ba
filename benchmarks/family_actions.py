"""Action respecting embedding beside simple rivals: noise, slips, continuous states, time. Defaults only.

Chosen on: camera, brick, coffee, chelsea, grass, "waves", and seeds 0 to 3. Reported on: other pictures, and other
seeds. ``python -m benchmarks.families actions`` prints the table.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from benchmarks.action_worlds import Drive, Walk, affine_rival, grid_world, pendulum, valley_car, window_world
from benchmarks.family_row import Cell, Task
from sidelight import ActionRespectingEmbedding

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "ActionRespectingEmbedding"
CHOSEN_ON = ("camera", "brick", "coffee", "chelsea", "grass", "waves")
REPORTED_ON = ("astronaut", "gravel", "coins", "rocket", "moon", "blobs")
_WORLDS = ((0.03, 0.0), (0.1, 0.0), (0.03, 0.1), (0.1, 0.1))  # pixel noise, share of slips
_LONG = ((220, 7, 5.0), (2000, 16, 60.0))  # steps, side of the square, seconds at most
DRAWS = 10
_FIRST = 100  # seed of the first world that is reported


def tasks(*, quick: bool) -> list[Task]:
    """Walks on grids with slips, windows on pictures, a car, a pendulum, and the time of long walks."""
    found: list[tuple[str, Callable[[int], Iterator[Cell]]]] = []
    for slip in (0.05, 0.1, 0.2):
        grid = partial(grid_world, noise=0.0, slip=slip)
        found.append((f"grid, 250 steps, {slip:.0%} slip", partial(_walk_cells, grid)))
    for name in REPORTED_ON[:2] if quick else REPORTED_ON:
        for noise, slip in _WORLDS:
            window = partial(window_world, name, noise=noise, slip=slip)
            found.append((f"{name}, 220 steps, noise {noise}, {slip:.0%} slip", partial(_walk_cells, window)))
    for noise in (0.0, 0.05):
        found.append((f"car in a valley, noise {noise}", partial(_drive_cells, valley_car, noise)))
        found.append((f"pendulum, torque, noise {noise}", partial(_drive_cells, pendulum, noise)))
    shown = [Task(name, name, measure, _FIRST, DRAWS) for name, measure in found]
    return shown + [
        Task(f"time, {steps} steps", "gravel, noise 0.1, 10% slip", partial(_time_cells, steps, side, most), _FIRST, 3)
        for steps, side, most in (_LONG[:1] if quick else _LONG)
    ]


def _time_cells(steps: int, side: int, most: float, seed: int) -> Iterator[Cell]:
    """Seconds of the processor beside the bound."""
    walk = window_world("gravel", noise=0.1, slip=0.1, seed=seed, steps=steps, side=side)
    _, seconds = _fitted(walk.X, walk.actions)
    yield Cell(f"fit of {steps} steps", "CPU seconds", {"ours": seconds, "the bound": most}, lower_is_better=True)


def _fitted(X: Any, actions: Any, trajectory: Any = None) -> tuple[Any, float]:
    """A model with defaults, and the processor's seconds of its fit (the machine is shared)."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ActionRespectingEmbedding().fit(X, actions=actions, trajectory=trajectory)
    return model, time.process_time() - began


def _walk_cells(world: Callable[..., Walk], seed: int) -> Iterator[Cell]:
    """Untried steps predicted right, with defaults, and by PCA with one affine map per action."""
    walk = world(seed=seed)
    model, _ = _fitted(walk.X, walk.actions)
    rival = walk.share_right(affine_rival(walk.X, walk.actions))
    yield Cell("untried steps", "share right", {"ours": _right(model, walk), "PCA + affine": rival})


def _right(model: Any, walk: Walk) -> float:
    return walk.share_right(lambda row, name: int(model.predict_next(row, name)[0]))


def _drive_cells(world: Callable[..., Drive], noise: float, seed: int) -> Iterator[Cell]:
    """Squared error of the next frame of new drives, as a share of that of copying the last."""
    train, test, clean = (
        world(seed=seed, noise=noise),
        world(seed=1000 + seed, noise=noise),
        world(seed=1000 + seed),
    )
    model, _ = _fitted(train.X, train.actions, train.trajectory)
    at = np.flatnonzero(test.trajectory[1:] == test.trajectory[:-1])
    told = np.concatenate([model.predict_next(test.X[[row]], test.actions[row]) for row in at])
    half = test.X.shape[1] // 2

    def error(found: Any) -> float:
        return float(((found - clean.X[at + 1])[:, :half] ** 2).sum())

    still = error(test.X[at])
    numbers = {
        "ours": error(told) / still,
        "PCA + ridge": error(_ridge_rival(train, test, at)) / still,
        "copying": 1.0,
    }
    yield Cell("next frame", "error over that of copying", numbers, lower_is_better=True)


def _ridge_rival(train: Drive, test: Drive, at: Any) -> Any:
    """PCA (20) and ridge regression of the next coordinates, for each label or with the action as a column."""
    mean = train.X.mean(axis=0)
    axes = np.linalg.svd(train.X - mean, full_matrices=False)[2][:20]
    Z, T = (train.X - mean) @ axes.T, (test.X - mean) @ axes.T
    steps = np.flatnonzero(train.trajectory[1:] == train.trajectory[:-1])
    if train.actions.ndim == 2:
        R = np.column_stack([Z, train.actions, np.ones(len(Z))])
        B = _ridge(R[steps], Z[steps + 1])
        return np.column_stack([T, test.actions, np.ones(len(T))])[at] @ B @ axes + mean
    found = np.zeros((len(at), 20))
    for label in np.unique(train.actions.astype(str)):
        mine, asked = steps[train.actions[steps] == label], test.actions[at] == label
        B = _ridge(np.column_stack([Z, np.ones(len(Z))])[mine], Z[mine + 1])
        found[asked] = np.column_stack([T, np.ones(len(T))])[at][asked] @ B
    return found @ axes + mean


def _ridge(R: Any, Y: Any) -> Any:
    return np.linalg.solve(R.T @ R + 1e-3 * np.eye(R.shape[1]), R.T @ Y)
