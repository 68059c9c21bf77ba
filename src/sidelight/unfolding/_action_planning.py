"""Planning: the shortest sequence of actions from one place to another, along transitions known from training steps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.neighbours.distances import squared_distances

from ._action_model import ActionModel
from ._action_steps import Step, action_steps, transitions

__all__ = ["planned"]


def planned(
    owner: str,
    world: ActionModel,
    start: npt.ArrayLike,
    goal: npt.ArrayLike,
    *,
    n_components: int,
    max_length: int | None,
    vectors: Array | None = None,
) -> list[Hashable]:
    """Return the labels of a shortest path of actions from ``start`` to ``goal``.

    Parameters
    ----------
    owner : str
        Class that a message names.
    world : ActionModel
    start, goal : int, or array of shape (r,) or (n_components,)
        Training rows or latent points.
    n_components : int
        Latent points may also be given by this many first columns only.
    max_length : int or None
        Longest plan to accept; None: any.
    vectors : array of shape (n, e) or None
        Actions that are vectors: plans are made of some of them.
    """
    steps = action_steps(owner, world, vectors)
    here = _matching_places(owner, "start", start, world, steps, n_components)[0]
    there = _matching_places(owner, "goal", goal, world, steps, n_components)
    codes = _shortest(transitions(world.points, steps), here, there)
    if codes is None:
        rule = f"cannot be reached from start={start!r} by steps that the training rows determine"
        raise ValueError(error_message(owner, "goal", goal, rule, "Add a path that connects the two, and fit again"))
    if max_length is not None and len(codes) > max_length:
        rule = f"is too short: the shortest plan has {len(codes)} actions"
        raise ValueError(error_message(owner, "max_length", max_length, rule, "Allow a longer plan, or a nearer goal"))
    return [steps[code].name for code in codes]


def _matching_places(
    owner: str, argument: str, place: npt.ArrayLike, world: ActionModel, steps: Sequence[Step], n_components: int
) -> Array:
    """Candidate places of a training row or latent point, nearest first.

    For a row: the places within the tolerance of the maps. For a point: the places within half a step.
    """
    points = world.points
    if np.ndim(place) == 0:
        n = len(world.states)
        if not isinstance(place, (int, np.integer)) or isinstance(place, bool) or not -n <= place < n:
            rule = f"is not one of the {n} training rows"
            raise ValueError(error_message(owner, argument, place, rule, "Give a row number or a latent point"))
        point, reach = points[world.states[place]][None], min(step.tolerance for step in steps)
    else:
        point, reach = np.asarray(place, dtype=np.float64)[None], 0.5 * min(step.length for step in steps)
    width = point.shape[1]
    if point.ndim != 2 or not np.isfinite(point).all() or width not in (points.shape[1], n_components):
        rule = f"is not a finite latent point of {points.shape[1]} or {n_components} coordinates"
        raise ValueError(error_message(owner, argument, place, rule, "Give a row of latent_ or embedding_"))
    away = np.sqrt(squared_distances(point, points[:, :width])[0])
    order = np.argsort(away, kind="stable")
    found = order[away[order] <= reach]
    if len(found) == 0:
        rule = f"is {away.min():.3g} from the nearest training row, more than half a step ({reach:.3g})"
        raise ValueError(error_message(owner, argument, place, rule, "Choose a place that was visited in training"))
    return np.asarray(found)


def _shortest(table: Array, start: int, goals: Array) -> list[int] | None:
    """Action codes of a shortest path from place ``start`` to any of ``goals``, or None if none can be reached."""
    codes, sources = np.nonzero(table >= 0)
    targets = table[codes, sources]
    n = table.shape[1]
    graph = csr_array((np.ones(len(codes)), (sources, targets)), shape=(n, n))
    order, before = breadth_first_order(graph, start, return_predecessors=True)
    reached = order[np.isin(order, goals)]
    if len(reached) == 0:
        return None
    path, place = [], int(reached[0])
    while place != start:
        path.append(int(np.flatnonzero(table[:, before[place]] == place)[0]))
        place = int(before[place])
    return path[::-1]
