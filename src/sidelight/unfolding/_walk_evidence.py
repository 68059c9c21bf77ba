r"""How well positions explain a walk: the log evidence that the search compares.

Rows y_1, y_2, ... come one after another. A row at a position that was visited c times before, with mean m of its rows,
and a row at a new position, at squared distance r² from the row before it, have the log densities

    same:  log N(y; m, σ²(1 + 1/c))            new:  log g(log r²) - (k/2) log r² + log Γ(k/2) - (k/2) log π

with g the density of log r² over steps: a new place looks as different from the one before as steps do. The difference
of the two counts for at most 25 nats, so that an outlier costs no more. A step moves by its action's translation with
probability 1 - ε, stays with ε / 2, and moves by that of another action else.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from scipy.special import gammaln

from sidelight.base.types import Array
from sidelight.side.actions import Actions

from ._walk_noise import Observed, log_density, looks_the_same

__all__ = [
    "SETTINGS",
    "OrderedWalk",
    "Setting",
    "Steps",
    "log_evidence",
    "log_new",
    "log_same",
    "ordered_walk",
    "place_evidence",
    "steps_of",
]


CLIP = 25.0
_NEVER = -30.0  # log probability of a step that no action makes


@dataclass(frozen=True)
class Setting:
    """Share of steps that slip, and whether steps that change nothing visible may lead to a place that looks alike.

    A world whose places all differ has slips where two rows in a row look the same; a picture with much sky has not.
    """

    slip: float
    alike: bool


SETTINGS = (Setting(1e-4, True), Setting(0.01, True), Setting(0.1, True), Setting(0.1, False), Setting(0.3, False))


@dataclass(frozen=True, eq=False)
class OrderedWalk:
    """Rows ordered so that each follows the row before it or starts a trajectory.

    Parameters
    ----------
    rows : array of shape (n,)
        Row of the data at each place in the order.
    begins : array of bool, of shape (n,)
        Where a trajectory begins.
    codes : array of shape (n,)
        The action that led to each; -1 where it is not known.
    seen : Observed
        The observations, in this order.
    """

    rows: Array
    begins: Array
    codes: Array
    seen: Observed


@dataclass(frozen=True, eq=False)
class Steps:
    """Translations as differences of position numbers.

    Parameters
    ----------
    moves : array of shape (A,)
        Of each action.
    radix : array of shape (q,)
        A position (q,) has the number ``position @ radix``.
    chart : int
        Number added for each further chart: a piece of the walk whose place relative to the others is not known.
    """

    moves: Array
    radix: Array
    chart: int


def ordered_walk(seen: Observed, actions: Actions) -> OrderedWalk:
    """Put trajectories one after another; a row that several steps lead to follows the last of them."""
    n = actions.n_samples
    before, code, following = np.full(n, -1), np.full(n, -1), np.full(n, -1)
    for (one, other), action in zip(actions.steps.tolist(), actions.codes.tolist(), strict=True):
        if following[one] < 0 and before[other] < 0 and other > one:
            following[one], before[other], code[other] = other, one, action
    rows = []
    for start in np.flatnonzero(before < 0).tolist():
        while start >= 0:
            rows.append(start)
            start = int(following[start])
    order = np.array(rows)
    return OrderedWalk(order, before[order] < 0, code[order], Observed(seen.points[order], seen.variance))


def steps_of(moves: Array, n: int) -> Steps | None:
    """Position numbers for translations (A, q) and walks of n rows; None if the numbers would be too large."""
    span = 4 * int(np.abs(moves).max()) * n + 3
    if span ** (moves.shape[1] + 1) > 2**60:
        return None
    radix = span ** np.arange(moves.shape[1], dtype=np.int64)
    return Steps(moves @ radix, radix, span ** moves.shape[1])


def log_new(walk: OrderedWalk, *, alike: bool) -> Array:
    """Log density of each row (n,) at a new position."""
    Y, floor, k = walk.seen.points, walk.seen.floor, walk.seen.points.shape[1]
    t = np.arange(1, len(Y))[~walk.begins[1:]]
    r2 = np.einsum("ij,ij->i", Y, Y)
    from_mean = np.log(np.maximum(r2, 0.2 * floor))
    logs, found = from_mean.copy(), log_density(from_mean)(from_mean)
    if len(t):
        stepped = walk.seen.squares(t, t - 1)
        near = looks_the_same(walk.seen, stepped)
        logs[t] = np.log(np.maximum(stepped, 0.2 * floor))
        weights = np.ones(len(t)) if alike else np.where(near, 1e-3, 1.0)
        found[t] = log_density(logs[t], weights)(logs[t])
    return np.asarray(found - 0.5 * k * logs + gammaln(0.5 * k) - 0.5 * k * np.log(np.pi))


def log_same(squares: Array, counts: Array, seen: Observed) -> Array:
    """Log density of rows at squared distances from the mean of ``counts`` earlier rows of their place."""
    variance = seen.variance * (1 + 1 / counts)
    return np.asarray(-0.5 * squares / variance - 0.5 * seen.points.shape[1] * np.log(2 * np.pi * variance))


def log_evidence(walk: OrderedWalk, positions: Array, steps: Steps, setting: Setting, new: Array) -> float:
    """Log evidence of position numbers (n,), with the log densities ``new`` (n,) of the setting."""
    moved = np.diff(positions)[~walk.begins[1:]]
    codes = walk.codes[1:][~walk.begins[1:]]
    known = codes >= 0
    right = known & (moved == steps.moves[codes])
    any_move = np.isin(moved, steps.moves)
    prior = np.full(len(moved), _NEVER)
    prior[any_move] = log(setting.slip / 2) - log(max(1, len(steps.moves) - 1))
    prior[moved == 0] = log(setting.slip / 2)
    prior[~known & (any_move | (moved == 0))] = -log(len(steps.moves) + 1)
    prior[right] = log(1 - setting.slip)
    return place_evidence(walk, positions, new) + float(prior.sum())


def place_evidence(walk: OrderedWalk, positions: Array, new: Array) -> float:
    """Log evidence of the observations, without the actions, for any place numbers (n,)."""
    n = len(positions)
    order = np.argsort(positions, kind="stable")
    Y, where = walk.seen.points[order], positions[order]
    first = np.r_[True, where[1:] != where[:-1]]
    start = np.maximum.accumulate(np.where(first, np.arange(n), 0))
    before = np.arange(n) - start
    sums = np.vstack([np.zeros(Y.shape[1]), np.cumsum(Y, axis=0)])
    mean = (sums[:-1] - sums[start]) / np.maximum(before, 1)[:, None]
    same = log_same(((Y - mean) ** 2).sum(axis=1), np.maximum(before, 1), walk.seen)
    base = new[order]
    return float(base.sum() + np.where(first, 0.0, np.clip(same - base, -CLIP, CLIP)).sum())
