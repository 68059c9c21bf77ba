"""Which model a walk gets: the semidefinite program, translations of a noisy walk, or dynamics of continuous states.

The program is exact, and right for a world without noise whose actions are one-to-one. It has no way to pay for a slip
or for noise: one wrong equality folds all places into one, and rows that noise keeps apart are as many places. So

* equal rows and actions that are one-to-one: the program (S4 4.2), as published;
* else, if combinations of actions cancel: places and translations by evidence (``_walk_world``), unless observations
  fit the places of the next rule better, or as well as those of translations that are a guess (turns and zooms);
* else, if noise lets at most a hundred places be told apart: the program over these;
* else, and for actions that are vectors: dynamics (``_action_dynamics``), every row a state of its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.rigid import RigidMap
from sidelight.side.actions import Actions, as_actions
from sidelight.solvers.interior import interior_cost

from ._action_dynamics import ActionDynamics, fit_dynamics
from ._action_program import distance_classes, equal_places, find_places, folds_unlike_rows
from ._gram_answer import GramSpectrum
from ._walk_world import WalkedWorld, walked_world

__all__ = ["PUBLISHED", "Route", "chosen_route", "read_actions", "trusted_actions"]


_BETTER = 10.0  # nats by which observations must fit the program's places better than those of translations
_RETURNS = 0.75  # places by equal rows, as a share of the rows, up to which many of these are a world that is exact
PUBLISHED = 0.3  # share of the shortest step below which rows are one place, where the program is used under noise
_PLACES, _OPERATIONS = 100, 1e9  # of a noisy world, up to which the program is used: places, and a Newton step's cost


@dataclass(frozen=True, eq=False)
class Route:
    """How a walk is modelled.

    Parameters
    ----------
    solved_by : {"program", "translations", "dynamics"}
    states : array of shape (n,)
        The place of each row.
    trusted : array of bool, of shape (m,)
        Steps whose action is believed.
    spectrum : GramSpectrum or None
        Latent points of the places; None: the program is still to be solved.
    maps : dict of label to RigidMap, or None
        The actions' maps; None: they are fitted to the latent points.
    dynamics : ActionDynamics or None
    n_pieces : int
        Pieces of the walk that share no place.
    """

    solved_by: str
    states: Array
    trusted: Array
    spectrum: GramSpectrum | None = None
    maps: dict[Hashable, RigidMap] | None = None
    dynamics: ActionDynamics | None = None
    n_pieces: int = 1


def read_actions(owner: str, actions: object, n: int, trajectory: object) -> tuple[Actions, Array | None]:
    """Steps with labels, or steps and action vectors (n, e): two-dimensional numbers are vectors.

    A row of vectors with a missing entry ends a trajectory.
    """
    shape: tuple[int, ...] = tuple(getattr(actions, "shape", ()))
    if isinstance(actions, Actions) or len(shape) != 2:
        return as_actions(actions, n, trajectory), None
    try:
        vectors: Array = np.asarray(actions, dtype=np.float64)
    except (TypeError, ValueError):
        rule, remedy = "does not hold numbers", "Give labels (n,), or a vector of numbers for each row (n, e)"
        raise ValueError(error_message(owner, "actions", f"array of shape {shape}", rule, remedy)) from None
    if shape[0] not in (n, n - 1) or shape[1] == 0:
        rule, remedy = f"does not match the {n} rows of X", "Give one vector per row"
        raise ValueError(error_message(owner, "actions", f"array of shape {shape}", rule, remedy))
    if shape[0] == n - 1:
        vectors = np.vstack([vectors, np.full((1, shape[1]), np.nan)])
    here = np.asarray(np.isfinite(vectors).all(axis=1))
    if trajectory is None:
        begins = np.flatnonzero(here[:-1])
        steps = np.column_stack([begins, begins + 1])
    else:
        steps = as_actions(None, n, trajectory).steps
        steps = steps[here[steps[:, 0]]]
    return Actions(steps, np.full(len(steps), -1), (), n), vectors


def chosen_route(
    points: Array, squares: Array, measured: bool, actions: Actions, vectors: Array | None, unit: float
) -> Route:
    """Choose the model of a walk from its rows and actions; parameters as those of ``walked_world``.

    ``squares`` (n, n) are the squared distances of the rows, ``measured`` if these are not Euclidean.
    """
    n, every = len(points), np.ones(len(actions.steps), dtype=bool)
    given = squares if measured else None
    if vectors is not None:
        return _by_dynamics(points, given, actions, vectors, unit)
    if not (actions.codes >= 0).any():
        return Route("program", find_places(squares, actions, PUBLISHED), every)
    equal = equal_places(squares)
    n_equal = int(equal.max()) + 1
    exact = n_equal < n and (n_equal <= _PLACES or n_equal <= _RETURNS * n)  # a few rows may be equal by chance
    if exact:
        folded = find_places(squares, actions, 0.0)
        if not folds_unlike_rows(squares, folded, actions):
            return Route("program", folded, every)
    states = equal if exact else find_places(squares, actions, PUBLISHED)
    walked = walked_world(points, given, actions, unit, states)
    if walked is not None and (exact or _is_preferred(walked, states, actions)):
        return Route(
            "translations", walked.states, walked.trusted, walked.spectrum, walked.maps, n_pieces=walked.n_charts
        )
    if exact:
        return Route("program", equal, _majority(equal, actions))
    if _is_quick(states, actions):
        return Route("program", states, every)
    return _by_dynamics(points, given, actions, None, unit)


def trusted_actions(actions: Actions, trusted: Array) -> Actions:
    """The same steps, without the labels of those that are not trusted."""
    return actions if trusted.all() else replace(actions, codes=np.where(trusted, actions.codes, -1))


def _by_dynamics(points: Array, squares: Array | None, actions: Actions, vectors: Array | None, unit: float) -> Route:
    dynamics, Z = fit_dynamics(points, squares, actions, vectors)
    values = (Z**2).sum(axis=0)
    spectrum = GramSpectrum(Z * unit, values * unit * unit, values / (float(values.sum()) or 1.0))
    return Route("dynamics", np.arange(len(Z)), np.ones(len(actions.steps), dtype=bool), spectrum, dynamics=dynamics)


def _is_preferred(walked: WalkedWorld, states: Array, actions: Actions) -> bool:
    """Whether translations are believed rather than the program over the places ``states`` (n,)."""
    return walked.advantage > (-_BETTER if walked.sure else _BETTER / 10) or not _is_quick(states, actions)


def _is_quick(states: Array, actions: Actions) -> bool:
    """Whether the program over these places takes some seconds at most."""
    n = int(states.max()) + 1
    if n > _PLACES:
        return False
    return interior_cost(n, int(distance_classes(states, actions).max(initial=0)) + 1) <= _OPERATIONS


def _majority(states: Array, actions: Actions) -> Array:
    """Steps (m,) that agree with the majority of steps of their action from the same place and to the same place."""
    begins, ends = states[actions.steps].T
    kept = np.ones(len(begins), dtype=bool)
    n = int(states.max()) + 1
    for one, other in ((begins, ends), (ends, begins)):
        key = actions.codes * n + one
        pairs, place, counts = np.unique(key * n + other, return_inverse=True, return_counts=True)
        keys, group = np.unique(pairs // n, return_inverse=True)
        most = np.zeros(len(keys), dtype=np.int64)
        np.maximum.at(most, group.ravel(), counts)
        ties = np.bincount(group.ravel(), counts == most[group.ravel()])
        best = (counts == most[group.ravel()]) & (ties[group.ravel()] == 1)
        kept &= best[place.ravel()]
    return kept & (actions.codes >= 0)
