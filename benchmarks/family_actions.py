"""Action respecting embedding beside simple rivals: noise, slips, continuous states, time. Defaults only.

Chosen on: camera, brick, coffee, chelsea, grass, "waves", and seeds 0 to 3. Reported on: other pictures, and other
seeds. ``python -m benchmarks.family_actions [--quick]`` prints the table and writes its JSON.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.action_worlds import Drive, Walk, affine_rival, grid_world, pendulum, valley_car, window_world
from benchmarks.family_row import Row
from benchmarks.harness import RESULTS, Report, table
from sidelight import ActionRespectingEmbedding

TITLE = "action respecting embedding beside PCA with affine maps, under noise, slips and continuous states"
RIVALS: tuple[str, ...] = ()
FAMILY = "ActionRespectingEmbedding"
CHOSEN_ON = ("camera", "brick", "coffee", "chelsea", "grass", "waves")
REPORTED_ON = ("astronaut", "gravel", "coins", "rocket", "moon", "blobs")
_WORLDS = ((0.03, 0.0), (0.1, 0.0), (0.03, 0.1), (0.1, 0.1))  # pixel noise, share of slips
SEEDS, MORE_SEEDS = 3, 10
_FLAT = ("rocket", "moon")  # where noise of 0.1 decides each world for itself: more seeds there
_FIRST = 100  # seed of the first world that is reported


def rows(*, quick: bool) -> Iterator[Row]:
    """The rows of the table of all families."""
    for found in measured(quick=quick):
        yield Row(
            found["set"], "next frame" if found["lower_is_better"] else "untried steps", found["measure"],
            found["ours"], {found["rival_name"]: found["rival"]}, found["lower_is_better"], seeds=found["seeds"],
        )  # fmt: skip


def measured(*, quick: bool = False) -> list[dict[str, Any]]:
    """Set, what is measured, ours, the rival's and its name, seconds, seeds, and the numbers of each seed."""
    seeds = range(_FIRST, _FIRST + (2 if quick else SEEDS))
    found = []
    for slip in (0.05, 0.1, 0.2):
        walks = (grid_world(noise=0.0, slip=slip, seed=seed) for seed in seeds)
        found.append(_walk_row(f"grid, 250 steps, {slip:.0%} slip", walks))
    for name in REPORTED_ON[:2] if quick else REPORTED_ON:
        for noise, slip in _WORLDS:
            more = range(_FIRST, _FIRST + MORE_SEEDS) if name in _FLAT and noise == 0.1 and not quick else seeds
            walks = (window_world(name, noise=noise, slip=slip, seed=seed) for seed in more)
            found.append(_walk_row(f"{name}, 220 steps, noise {noise}, {slip:.0%} slip", walks))
    for noise in (0.0, 0.05):
        found.append(_drive_row(f"car in a valley, noise {noise}", valley_car, noise, seeds))
        found.append(_drive_row(f"pendulum, torque, noise {noise}", pendulum, noise, seeds))
    return found


def run(*, quick: bool) -> Report:
    """The table as a report; a row that loses to its rival fails."""
    report = Report()
    for row in measured(quick=quick):
        report.details.setdefault("rows", []).append(row)
        (report.at_most if row["lower_is_better"] else report.at_least)(
            f"{row['set']}: {row['measure']} ({row['rival_name']}: {row['rival']:.3f})", row["ours"], row["rival"]
        )
    for steps, side, most in ((220, 7, 5.0),) if quick else ((220, 7, 5.0), (2000, 16, 60.0)):
        walk = window_world("gravel", noise=0.1, slip=0.1, seed=_FIRST, steps=steps, side=side)
        model, seconds = _fitted(walk.X, walk.actions)
        right = walk.share_right(lambda row, name, model=model: int(model.predict_next(row, name)[0]))
        report.at_most(f"gravel, {steps} steps, noise 0.1, 10% slip: seconds of processor", seconds, most)
        report.note(f"gravel, {steps} steps, noise 0.1, 10% slip: untried steps right", right)
    return report


def _fitted(X: Any, actions: Any, trajectory: Any = None) -> tuple[Any, float]:
    """A model with defaults, and the processor's seconds of its fit (the machine is shared)."""
    began = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ActionRespectingEmbedding().fit(X, actions=actions, trajectory=trajectory)
    return model, time.process_time() - began


def _walk_row(name: str, walks: Any) -> dict[str, Any]:
    """Untried steps predicted right, with defaults, and by PCA with one affine map per action."""
    ours, rival, seconds, kinds = [], [], [], []
    for walk in walks:
        model, taken = _fitted(walk.X, walk.actions)
        ours.append(_right(model, walk))
        rival.append(walk.share_right(affine_rival(walk.X, walk.actions)))
        seconds.append(taken)
        kinds.append(model.solved_by_)
    return _shown({
        "family": "ActionRespectingEmbedding", "set": name, "measure": "untried steps right",
        "ours": float(np.mean(ours)), "rival": float(np.mean(rival)), "rival_name": "PCA + affine",
        "lower_is_better": False, "seconds": float(np.max(seconds)), "seeds": len(ours),
        "each": ours, "rival_each": rival, "solved_by": kinds,
    })  # fmt: skip


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    """Print a row as soon as it is there; the whole table takes minutes."""
    short = f"{row['ours']:.3f}  {row['rival_name']} {row['rival']:.3f}  {row['seconds']:.1f} s"
    print(f"  {row['set']}: {row['measure']} {short}", flush=True)
    return row


def _right(model: Any, walk: Walk) -> float:
    return walk.share_right(lambda row, name: int(model.predict_next(row, name)[0]))


def _drive_row(name: str, world: Any, noise: float, seeds: Any) -> dict[str, Any]:
    """Squared error of the next frame of new drives, as a share of that of copying the last."""
    ours, rival, seconds, scores = [], [], [], []
    for seed in seeds:
        train, test = world(seed=seed, noise=noise), world(seed=1000 + seed, noise=noise)
        clean = world(seed=1000 + seed)
        model, taken = _fitted(train.X, train.actions, train.trajectory)
        at = np.flatnonzero(test.trajectory[1:] == test.trajectory[:-1])
        told = np.concatenate([model.predict_next(test.X[[row]], test.actions[row]) for row in at])
        half = test.X.shape[1] // 2
        still = float(((test.X[at] - clean.X[at + 1])[:, :half] ** 2).sum())
        ours.append(float(((told - clean.X[at + 1])[:, :half] ** 2).sum()) / still)
        other = _ridge_rival(train, test, at)
        rival.append(float(((other - clean.X[at + 1])[:, :half] ** 2).sum()) / still)
        seconds.append(taken)
        scores.append((model.score(), model.score(test.X, actions=test.actions, trajectory=test.trajectory)))
    return _shown({
        "family": "ActionRespectingEmbedding", "set": name, "measure": "next frame's error / copying",
        "ours": float(np.mean(ours)), "rival": float(np.mean(rival)), "rival_name": "PCA + ridge",
        "lower_is_better": True, "seconds": float(np.max(seconds)), "seeds": len(ours), "each": ours,
        "rival_each": rival, "score_training_and_held_out": np.mean(scores, axis=0).tolist(),
    })  # fmt: skip


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


if __name__ == "__main__":
    found = run(quick="--quick" in sys.argv)
    print(table(found))
    print(found.write(RESULTS / "family_actions.json", name="family_actions", quick="--quick" in sys.argv))
