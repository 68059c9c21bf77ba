r"""Plans and positions by the maps of actions: which actions lead there, and where am I.

An action a is a rotation and translation that takes the places φ_j where it was tried to φ_{j+1}. These say what it
does within their hull; across it they keep the distance from the hull, and do not say which way. So the error of
"a leads from node i to node k" that the steps can vouch for is

    e_a(i, k)² = |R (φ_i - m)∥ - (φ_k - m')∥|² + (|(φ_i - m)⊥| - |(φ_k - m')⊥|)²

with m and m' the mean places before and after a, and ∥ and ⊥ the parts within the hull and across it.

plan      fewest edges i → k, where k is the node of least e_a(i, k), and this is at most the tolerance √(ρ_a ℓ_a / 2):
          between the error ρ_a of the map on its own steps and half of their length ℓ_a, in the geometric middle.
          Or at most half a step, where an action that undoes a leads back from k to i by the tolerance.
localize  b_t(k) ∝ p(x_t | k) Σ_i b_{t-1}(i) p_a(k | i),     p_a ∝ exp(-½ e_a² / (tolerance² + ℓ_a² / 12))
          for a node stands for the places around it, up to half a step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_integer, check_number
from sidelight.maps.weights import PrecomputedWeights
from sidelight.neighbours.distances import squared_distances
from sidelight.side.actions import as_actions

__all__ = ["ActionPlanning", "Localization", "Step", "steps_of"]

Array = npt.NDArray[Any]
_CELL = 1 / 12  # variance of a uniform spread over one step, in squared steps
_EXACT = 1e-5  # of a step: no solver is more exact
_TIED = 1e-9  # of a step: errors that differ by less are equal


@dataclass(frozen=True, eq=False)
class Localization:
    """Where a walk was: at each of its m rows a belief over the nodes, its mean, and its most probable row.

    Parameters
    ----------
    points : array of shape (m, r)
        Mean latent points under the belief, in the units of ``latent_``.
    belief : array of shape (m, n_nodes)
        Probability of each node, by its number in ``states_``, after the row's own observation.
    rows : array of shape (m,)
        First training row of the most probable node.
    """

    points: Array
    belief: Array
    rows: Array


@dataclass(frozen=True, eq=False)
class Step:
    """What is known of an action.

    Its ``name``, the nodes (m, 2) at the ``ends`` of its steps, the ``error`` (N, N) of leading from node to node, the
    distance of each node from where the map leads (a ``guess`` across the hull), and ``length`` and ``residual`` of the
    steps (root mean squares).
    """

    name: Any
    ends: Array
    error: Array
    guess: Array
    length: float
    residual: float

    @property
    def tolerance(self) -> float:
        """Up to which error a node is the one that the action leads to."""
        return float(np.sqrt(0.5 * max(self.residual, _EXACT * self.length) * self.length))


class ActionPlanning:
    """plan and localize, for a model with ``latent_``, ``states_``, ``actions_`` and ``action_maps_``."""

    @one_blas_thread
    def plan(self: Any, start: Any, goal: Any, *, max_length: int | None = None) -> list[Any]:
        """Find the shortest list of actions that leads from one place to another.

        Every step leads from a node of the training rows to another one, as closely as the map of the action is known;
        steps that were taken in training are known. Where the model cannot vouch for a step, it is not taken.

        Parameters
        ----------
        start, goal : int, or array of shape (r,) or (q,)
            Training rows, or latent points (as in ``latent_``, or its first columns as in ``embedding_``).
        max_length : int or None, default=None
            Longest plan to accept; None: any.

        Returns
        -------
        list
            Labels of the actions; empty when the start is the goal.
        """
        check_is_fitted(self, "action_maps_")
        if max_length is not None:
            check_integer(self, "max_length", max_length, 0)
        nodes, steps = _nodes(self), steps_of(self)
        here = _places(self, "start", start, nodes, steps)[0]
        there = _places(self, "goal", goal, nodes, steps)
        labels = _shortest(transitions(self, steps), here, there)
        if labels is None:
            rule = f"cannot be reached from start={start!r} by steps that the training rows vouch for"
            raise ValueError(complain(self, "goal", goal, rule, "Drive a path that connects the two, and fit again"))
        if max_length is not None and len(labels) > max_length:
            rule = f"is too short: the shortest plan has {len(labels)} actions"
            raise ValueError(complain(self, "max_length", max_length, rule, "Allow a longer plan, or a nearer goal"))
        return [steps[row].name for row in labels]

    @one_blas_thread
    def localize(self: Any, X: Array, actions: Any, *, wrong: float = 0.1, slip: float = 0.0) -> Localization:
        """Follow a walk: a Bayes filter over the nodes, moved by the actions and corrected by the observations.

        Parameters
        ----------
        X : array of shape (m, d)
            What was seen on the walk (for precomputed distances, distances to the n training rows).
        actions : array-like of shape (m,) or (m - 1,)
            What was done at each row; missing where a walk ends, and the next row begins another.
        wrong : float, default=0.1
            Share of observations that may be of anything at all.
        slip : float, default=0.0
            Share of actions that may have had no effect.

        Returns
        -------
        Localization
        """
        check_is_fitted(self, "action_maps_")
        check_number(self, "wrong", wrong, -1e-300, 1.0)
        check_number(self, "slip", slip, -1e-300, 1.0)
        X = self._checked(X)
        nodes, steps = _nodes(self), steps_of(self)
        moves = np.stack([_motion(step, slip) for step in steps])
        spread = float(np.median([step.length for step in steps])) ** 2 * _CELL
        likelihood = _likelihood(_squares(self, X), nodes.inverse, spread, wrong)
        belief = _filtered(likelihood, moves, _moves_before(self, actions, [step.name for step in steps], len(X)))
        best = nodes.first[np.argmax(belief, axis=1)]
        return Localization(belief @ nodes.points, belief, best)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """Distinct places: ``points`` (N, r), their ``first`` rows (N,), the node of each row ``inverse`` (n,)."""

    points: Array
    first: Array
    inverse: Array


def _nodes(model: Any) -> _Nodes:
    _, first, inverse = np.unique(model.states_, return_index=True, return_inverse=True)
    return _Nodes(np.asarray(model.latent_, dtype=np.float64)[first], first, inverse.ravel())


def steps_of(model: Any) -> list[Step]:
    """What the training steps say of each action that was taken."""
    nodes, actions = _nodes(model), model.actions_
    ends = nodes.inverse[actions.steps]
    taken = np.unique(actions.codes[actions.codes >= 0])
    if len(taken) == 0:
        rule, remedy = "has no action that was taken in training", "Fit with actions="
        raise ValueError(complain(model, "actions", actions, rule, remedy))
    names = [actions.names[code] for code in taken]
    parts = [ends[actions.codes == code] for code in taken]
    return [_step(name, nodes.points, model.action_maps_[name], part) for name, part in zip(names, parts, strict=True)]


def _step(name: Any, Z: Array, rigid: Any, ends: Array) -> Step:
    before, after = Z[ends[:, 0]], Z[ends[:, 1]]
    residual = _rms(rigid(before) - after)
    _, sizes, directions = np.linalg.svd(before - before.mean(axis=0), full_matrices=False)
    # A direction in which the places differ by no more than the map errs says nothing.
    hull = directions[sizes > max(residual, 1e-9 * _rms(Z)) * np.sqrt(len(ends))]
    turned = rigid(hull) - rigid(np.zeros((1, Z.shape[1])))
    inside, across = _parts(Z - before.mean(axis=0), hull)
    inside_after, across_after = _parts(Z - after.mean(axis=0), turned)
    error = np.sqrt(squared_distances(inside, inside_after) + (across[:, None] - across_after) ** 2)
    guess = np.sqrt(squared_distances(rigid(Z), Z))
    return Step(name, ends, error, guess, _rms(after - before), residual)


def _parts(offsets: Array, hull: Array) -> tuple[Array, Array]:
    """Coordinates within the hull (N, p), and the distance from it (N,)."""
    inside = offsets @ hull.T
    rest = offsets - inside @ hull
    return inside, np.sqrt(np.einsum("ij,ij->i", rest, rest))


def _rms(vectors: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(vectors**2, axis=1)))) if len(vectors) else 0.0


def transitions(model: Any, steps: Sequence[Step]) -> Array:
    """Where each action leads from each node, (actions, N): a node, or -1 where the model cannot say."""
    nodes, every = _nodes(model), np.arange(len(steps[0].error))
    known = np.full((len(steps), len(every)), -1)
    for row, step in enumerate(steps):
        known[row, step.ends[:, 0]] = step.ends[:, 1]
    best = [_best_nodes(step) for step in steps]
    near = [step.error[every, k] <= step.tolerance for step, k in zip(steps, best, strict=True)]
    undoing = _undoing(known, nodes.points, steps)
    sure = _consistent(np.where(known >= 0, known, np.where(near, best, -1)), known, nodes.points, steps, undoing)
    table = sure.copy()
    for a, b in zip(*np.nonzero(undoing), strict=True):
        back = np.flatnonzero(sure[b] >= 0)
        free = (table[a, sure[b, back]] < 0) & (steps[a].error[sure[b, back], back] <= 0.5 * steps[a].length)
        table[a, sure[b, back[free]]] = back[free]
    return table


def _best_nodes(step: Step) -> Array:
    """The node (N,) that an action leads to from each; of those with equal errors the one nearest to the map's guess.

    Steps along a line fit a place and its mirror image equally well, and rounding must not choose between them.
    """
    tied = step.error <= step.error.min(axis=1, keepdims=True) + _TIED * step.length
    return np.asarray(np.where(tied, step.guess, np.inf).argmin(axis=1))


def _consistent(table: Array, known: Array, Z: Array, steps: Sequence[Step], undoing: Array) -> Array:
    """Drop an edge that contradicts another: two places never lead to one, and undoing an action leads back.

    Steps along a line cannot tell a place from its mirror image: of two edges the one nearer to the map's guess stays.
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
    """Which action (column) undoes which (row): where it was seen to follow, it led back, and it was seen to."""
    undoes = np.zeros((len(steps), len(steps)), dtype=bool)
    for a, b in np.ndindex(undoes.shape):
        begin = np.flatnonzero(known[a] >= 0)
        end = known[b, known[a, begin]]
        begin, end = begin[end >= 0], end[end >= 0]
        if len(begin):
            away = np.sqrt(((Z[end] - Z[begin]) ** 2).sum(axis=1).max())
            undoes[a, b] = away <= max(steps[a].tolerance, steps[b].tolerance)
    return undoes


def _places(model: Any, argument: str, place: Any, nodes: _Nodes, steps: Sequence[Step]) -> Array:
    """Nodes that are the place, nearest first: as near to a row as the maps can tell, within half a step of a point."""
    if np.ndim(place) == 0:
        n = len(nodes.inverse)
        if not isinstance(place, (int, np.integer)) or isinstance(place, bool) or not -n <= place < n:
            rule = f"is not one of the {n} training rows"
            raise ValueError(complain(model, argument, place, rule, "Give a row number or a latent point"))
        point, reach = nodes.points[nodes.inverse[place]][None], min(step.tolerance for step in steps)
    else:
        point, reach = np.asarray(place, dtype=np.float64)[None], 0.5 * min(step.length for step in steps)
    width = point.shape[1]
    if point.ndim != 2 or not np.isfinite(point).all() or width not in (nodes.points.shape[1], model.n_components):
        rule = f"is not a finite latent point of {nodes.points.shape[1]} or {model.n_components} coordinates"
        raise ValueError(complain(model, argument, place, rule, "Give a row of latent_ or embedding_"))
    away = np.sqrt(squared_distances(point, nodes.points[:, :width])[0])
    order = np.argsort(away, kind="stable")
    found = order[away[order] <= reach]
    if len(found) == 0:
        rule = f"is {away.min():.3g} from the nearest training row, more than half a step ({reach:.3g})"
        raise ValueError(complain(model, argument, place, rule, "Choose a place that the training rows went through"))
    return np.asarray(found)


def _shortest(table: Array, start: int, goals: Array) -> list[int] | None:
    """Codes of the actions of a shortest path from a node to the nearest of some, or None."""
    codes, sources = np.nonzero(table >= 0)
    targets = table[codes, sources]
    n = table.shape[1]
    graph = csr_array((np.ones(len(codes)), (sources, targets)), shape=(n, n))
    order, before = breadth_first_order(graph, start, return_predecessors=True)
    reached = order[np.isin(order, goals)]
    if len(reached) == 0:
        return None
    path, node = [], int(reached[0])
    while node != start:
        path.append(int(np.flatnonzero(table[:, before[node]] == node)[0]))
        node = int(before[node])
    return path[::-1]


def _motion(step: Step, slip: float) -> Array:
    """p(k | i) of an action (N, N): rows sum to 1."""
    variance = step.tolerance**2 + _CELL * step.length**2
    logs = -0.5 * step.error**2 / (variance or 1.0)
    moved = np.exp(logs - logs.max(axis=1, keepdims=True))
    moved /= moved.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - slip) * moved + slip * np.eye(len(moved)))


def _squares(model: Any, X: Array) -> Array:
    """Squared distances of observations to the training rows (m, n), in units of the data."""
    points = model.frame_.points(X)
    if isinstance(model.backward_.weights, PrecomputedWeights):
        return np.asarray((points * getattr(model.frame_, "unit", model.frame_.scale)) ** 2)
    return np.asarray(squared_distances(points, model.backward_.weights.inputs) * model.frame_.scale**2)


def _likelihood(squares: Array, node: Array, spread: float, wrong: float) -> Array:
    """p(x | k) up to a factor (m, N): of the rows of a node the most similar one counts."""
    order = np.argsort(node, kind="stable")
    starts = np.searchsorted(node[order], np.arange(node.max() + 1))
    nearest = np.minimum.reduceat(squares[:, order], starts, axis=1)
    seen = np.exp(-0.5 * (nearest - nearest.min(axis=1, keepdims=True)) / (spread or 1.0))
    seen /= seen.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - wrong) * seen + wrong / seen.shape[1])


def _filtered(likelihood: Array, moves: Array, before: Array) -> Array:
    """Beliefs (m, N): each the last one moved, times what is seen; uniform at the beginning of a walk."""
    belief = np.empty_like(likelihood)
    uniform = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    for t, code in enumerate(before):
        prior = uniform if code < 0 else belief[t - 1] @ moves[code]
        belief[t] = prior * likelihood[t]
        total = belief[t].sum()
        belief[t] = belief[t] / total if total > 0 else likelihood[t] / likelihood[t].sum()
    return belief


def _moves_before(model: Any, actions: Any, names: Sequence[Any], m: int) -> Array:
    """The place in ``names`` of the action that led to each row (m,); -1 where a walk begins."""
    done = as_actions(actions, m)
    known = {name: place for place, name in enumerate(names)}
    unknown = [done.names[code] for code in np.unique(done.codes[done.codes >= 0]) if done.names[code] not in known]
    if unknown:
        rule = "was not taken in training"
        raise ValueError(complain(model, "actions", unknown[0], rule, f"Use {', '.join(map(str, known))}"))
    if np.any(done.steps[:, 1] != done.steps[:, 0] + 1):
        raise ValueError(
            complain(model, "actions", done, "do not lead from each row to the next", "Put walks in order")
        )
    before = np.full(m, -1)
    before[done.steps[:, 1]] = np.array([*(known.get(name, -1) for name in done.names), -1])[done.codes]
    return before
