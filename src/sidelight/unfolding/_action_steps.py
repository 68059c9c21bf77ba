r"""Uncertainty of each action: the error of "action a leads from place i to place k".

An action a is a rotation and translation that takes the places φ_j where it was tried to φ_{j+1}. These determine it
within their affine hull. Perpendicular to it they determine the distance from the hull, but not the direction. So the
error of "a leads from place i to place k", as far as the steps determine it, is

    e_a(i, k)² = |R (φ_i - m)∥ - (φ_k - m')∥|² + (|(φ_i - m)⊥| - |(φ_k - m')⊥|)²

with m and m' the mean places before and after a, and ∥ and ⊥ the parts within the hull and perpendicular to it.

The transition i → k of action a is that of least e_a(i, k), if this is at most the tolerance √(ρ_a ℓ_a / 2): the
geometric mean of the error ρ_a of the map on its own steps and half of their length ℓ_a. An error of up to half a step
is also accepted if the inverse action leads back from k to i within the tolerance.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.rigid import RigidMap
from sidelight.neighbours.distances import squared_distances

from ._action_model import ActionModel

__all__ = ["Step", "action_steps", "dynamic_step", "transitions"]


_EXACT = 1e-5  # of a step: lower bound of the residual, as no solver is more exact
_VECTORS = 9  # action vectors that plans are made of
_TIED = 1e-9  # of a step: errors that differ by less count as ties


@dataclass(frozen=True, eq=False)
class Step:
    """Transition errors of one action.

    Parameters
    ----------
    name : label
    ends : array of shape (m, 2)
        Places at the ends of its steps.
    error : array of shape (n_places, n_places)
        e_a(i, k) of the transition from place i to place k.
    guess : array of shape (n_places, n_places)
        Distance of place k from the image of place i under the rigid map, which is arbitrary perpendicular to the hull.
    length, residual : float
        Root mean square length of the steps, and of the map's errors on them.
    """

    name: Hashable
    ends: Array
    error: Array
    guess: Array
    length: float
    residual: float

    @property
    def tolerance(self) -> float:
        """Largest error at which a place is accepted as the result of the action."""
        return float(np.sqrt(0.5 * max(self.residual, _EXACT * self.length) * self.length))


def action_steps(owner: str, world: ActionModel, vectors: Array | None = None) -> list[Step]:
    """The transition errors of each action that was taken in training; of ``vectors`` (n, e): of some of them."""
    actions, points = world.actions, world.points
    ends = world.states[actions.steps]
    if world.dynamics is not None:
        return [dynamic_step(world, action) for action in _representatives(world, vectors)]
    taken = np.unique(actions.codes[actions.codes >= 0])
    if len(taken) == 0:
        rule, remedy = "has no action that was taken in training", "Fit with actions="
        raise ValueError(error_message(owner, "actions", actions, rule, remedy))
    names = [actions.names[code] for code in taken]
    if world.by_maps:
        return [_mapped_step(world, name) for name in names]
    parts = [ends[actions.codes == code] for code in taken]
    return [_step(name, points, world.maps[name], part) for name, part in zip(names, parts, strict=True)]


def dynamic_step(world: ActionModel, action: object) -> Step:
    """The errors of one action under dynamics: distances from where it leads to all rows."""
    dynamics, points = world.dynamics, world.points
    assert dynamics is not None
    error = np.sqrt(squared_distances(world.moved(points, action), points))
    length, residual = (world.unit * float(np.sqrt(square)) for square in (dynamics.copying, dynamics.error))
    name = action if isinstance(action, Hashable) else tuple(np.ravel(np.asarray(action)).tolist())
    return Step(name, np.empty((0, 2), dtype=np.int64), error, error, length, residual)


def _mapped_step(world: ActionModel, name: Hashable) -> Step:
    """The errors of one action whose map is known everywhere."""
    points, ends = world.points, world.moves(name)
    error = np.sqrt(squared_distances(world.moved(points, name), points))
    length = _rms(world.moved(points, name) - points)
    return Step(name, ends, error, error, length, _rms(world.moved(points[ends[:, 0]], name) - points[ends[:, 1]]))


def _representatives(world: ActionModel, vectors: Array | None) -> list[object]:
    """The labels of the actions, or at most nine vectors, each the farthest from those before it."""
    dynamics = world.dynamics
    assert dynamics is not None
    if vectors is None or dynamics.names:
        return list(dynamics.names)
    rows = vectors[np.isfinite(vectors).all(axis=1)]
    scaled = rows / np.maximum(rows.std(axis=0), 1e-300)
    chosen = [int(np.argmax(np.round(((scaled - scaled.mean(axis=0)) ** 2).sum(axis=1), 9)))]
    while len(chosen) < _VECTORS:
        away = squared_distances(scaled, scaled[chosen]).min(axis=1)
        if away.max() <= 0:
            break
        chosen.append(int(np.argmax(np.round(away, 9))))
    return [rows[row] for row in chosen]


def transitions(points: Array, steps: Sequence[Step]) -> Array:
    """Transition table (actions, n_places): the place that each action leads to from each place; -1: not determined.

    Parameters
    ----------
    points : array of shape (n_places, r)
        Latent points of the places.
    steps : sequence of Step
        Of all actions.
    """
    every = np.arange(len(points))
    known = np.full((len(steps), len(every)), -1)
    for row, step in enumerate(steps):
        known[row, step.ends[:, 0]] = step.ends[:, 1]
    best = [_best_places(step) for step in steps]
    near = [step.error[every, k] <= step.tolerance for step, k in zip(steps, best, strict=True)]
    undoing = _undoing(known, points, steps)
    sure = _consistent(np.where(known >= 0, known, np.where(near, best, -1)), known, points, steps, undoing)
    table = sure.copy()
    for a, b in zip(*np.nonzero(undoing), strict=True):
        back = np.flatnonzero(sure[b] >= 0)
        free = (table[a, sure[b, back]] < 0) & (steps[a].error[sure[b, back], back] <= 0.5 * steps[a].length)
        table[a, sure[b, back[free]]] = back[free]
    return table


def _best_places(step: Step) -> Array:
    """The place of least error from each place (n_places,); ties go to the place nearest to the rigid map's image.

    Steps along a line fit a place and its mirror image equally well; rounding must not decide between them.
    """
    tied = step.error <= step.error.min(axis=1, keepdims=True) + _TIED * step.length
    return np.asarray(np.where(tied, step.guess, np.inf).argmin(axis=1))


def _consistent(table: Array, known: Array, Z: Array, steps: Sequence[Step], undoing: Array) -> Array:
    """Drop transitions that contradict others: actions are one-to-one, and an inverse action leads back.

    Steps along a line do not distinguish a place from its mirror image: of two contradicting transitions the one nearer
    to the rigid map's image is kept.
    """
    every = np.arange(len(Z))
    costs = np.array([step.guess[every, row] for step, row in zip(steps, table, strict=True)])
    costs[known >= 0] = 0.0
    apart = np.sqrt(squared_distances(Z, Z)) > 2.0 * max(step.tolerance for step in steps)
    kept = table >= 0
    for a, row in enumerate(table):
        rival = (row[:, None] == row) & apart & (costs[a][:, None] > costs[a])
        kept[a] &= ~rival.any(axis=1)
    for a, b in zip(*np.nonzero(undoing), strict=True):
        back = table[b, table[a]]
        kept[a] &= ~((back >= 0) & apart[every, back] & (costs[a] > costs[b, table[a]]))
    return np.where(kept, table, -1)


def _undoing(known: Array, Z: Array, steps: Sequence[Step]) -> Array:
    """Boolean (actions, actions): [a, b] if b is the inverse of a: whenever b followed a in training, it led back."""
    undoes = np.zeros((len(steps), len(steps)), dtype=bool)
    for a, b in np.ndindex(undoes.shape):
        begin = np.flatnonzero(known[a] >= 0)
        end = known[b, known[a, begin]]
        begin, end = begin[end >= 0], end[end >= 0]
        if len(begin):
            away = np.sqrt(((Z[end] - Z[begin]) ** 2).sum(axis=1).max())
            undoes[a, b] = away <= max(steps[a].tolerance, steps[b].tolerance)
    return undoes


def _step(name: Hashable, Z: Array, rigid: RigidMap, ends: Array) -> Step:
    """The errors of one action over places Z (n_places, r), from the places (m, 2) at the ends of its steps."""
    before, after = Z[ends[:, 0]], Z[ends[:, 1]]
    residual = _rms(rigid(before) - after)
    _, sizes, directions = np.linalg.svd(before - before.mean(axis=0), full_matrices=False)
    # A direction in which the places differ by no more than the map errs is not determined.
    hull = directions[sizes > max(residual, 1e-9 * _rms(Z)) * np.sqrt(len(ends))]
    turned = rigid(hull) - rigid(np.zeros((1, Z.shape[1])))
    inside, across = _parts(Z - before.mean(axis=0), hull)
    inside_after, across_after = _parts(Z - after.mean(axis=0), turned)
    error = np.sqrt(squared_distances(inside, inside_after) + (across[:, None] - across_after) ** 2)
    guess = np.sqrt(squared_distances(rigid(Z), Z))
    return Step(name, ends, error, guess, _rms(after - before), residual)


def _parts(offsets: Array, hull: Array) -> tuple[Array, Array]:
    """Coordinates within the hull (n_places, p), and distances from the hull (n_places,)."""
    inside = offsets @ hull.T
    rest = offsets - inside @ hull
    return inside, np.sqrt(np.einsum("ij,ij->i", rest, rest))


def _rms(vectors: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1)))) if len(vectors) else 0.0
