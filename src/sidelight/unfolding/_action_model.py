r"""The fitted places and rigid maps of actions, as one value that predicts where an action leads (S4 4.2.3).

An action keeps distances, so the distances from its result at i to all places it has led to are known (4.5),

    |T_a(φ_i) - φ_{j+1}| = |φ_i - φ_j|     for all j with a_j = a,

and the prediction is the place whose distances fit best (4.6; an arg min, not the arg max that is printed):

    p = argmin_k Σ_j (|φ_k - φ_{j+1}| - |φ_i - φ_j|)²
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from sidelight.base.types import Array
from sidelight.maps.rigid import RigidMap, fit_rigid
from sidelight.side.actions import Actions

from ._action_dynamics import ActionDynamics

__all__ = ["ActionModel", "action_model"]


_AT_ONCE = 2**22  # numbers of the largest temporary array of distances from queries to candidates
_TIED = 1e-9  # of the largest distance: misfits that differ by less count as ties


@dataclass(frozen=True, eq=False)
class ActionModel:
    """Places in the latent space, and the rigid map of each action.

    Parameters
    ----------
    latent : array of shape (n, r)
        Latent points of the training rows.
    states : array of shape (n,)
        The place of each row: 0 to n_places - 1.
    place_rows : array of shape (n_places,)
        The first row of each place.
    actions : Actions
        Steps between training rows, with labels only where these are trusted.
    maps : dict of label to RigidMap
        Of the actions that were taken.
    every : Actions or None, default=None
        All steps with all labels. Where a place has no trusted step of an action, two or more that agree are believed
        (a wall).
    by_maps : bool, default=False
        Whether the maps say where actions lead; else the distances do (4.6).
    dynamics : ActionDynamics or None, default=None
        What actions do to latent points, where states are continuous; in place of the maps.
    unit : float, default=1.0
        Length of one unit of the dynamics, in units of ``latent``.
    """

    latent: Array
    states: Array
    place_rows: Array
    actions: Actions
    maps: Mapping[Hashable, RigidMap]
    every: Actions | None = None
    by_maps: bool = False
    dynamics: ActionDynamics | None = None
    unit: float = 1.0

    @property
    def points(self) -> Array:
        """Latent points of the places (n_places, r)."""
        return np.asarray(self.latent[self.place_rows], dtype=np.float64)

    @property
    def distances(self) -> Array:
        """Distances between places (n_places, n_places)."""
        return np.asarray(cdist(self.points, self.points))

    def knows(self, action: object) -> bool:
        """Whether an action is one that was taken, or a vector of the right length."""
        if self.dynamics is None or self.dynamics.names:
            return isinstance(action, Hashable) and action in self.maps
        given = np.asarray(action)
        width = len(self.dynamics.centre) - self.latent.shape[1]
        return given.dtype.kind in "fiu" and given.shape in ((width,), () if width == 1 else (width,))

    def moved(self, points: Array, action: object) -> Array:
        """Latent points (m, r) after an action, by its map or by the dynamics."""
        if self.dynamics is not None:
            return self.dynamics(points / self.unit, self.dynamics.inputs(action, len(points))) * self.unit
        return self.maps[action](points)

    def moves(self, action: Hashable) -> Array:
        """The places (from, to) of an action's steps (m, 2), each once."""
        return _moves(self.states, self.actions, action)

    def next_places(self, places: Array, action: object) -> Array:
        """The place (m,) that an action leads to from each of ``places`` (m,).

        The observed one if the action was taken at this place in training, else the best fit by distances (4.6), or the
        place nearest to where the map or the dynamics lead.
        """
        if self.dynamics is not None:
            return self._nearest(self.moved(self.points[places], action))
        moves = self.moves(action)
        by_distances = len(moves) and not self.by_maps
        found = (
            _best_fit(self.distances, moves, places)
            if by_distances
            else self._nearest(self.moved(self.points[places], action))
        )
        seen = _agreed(self.every, self.states, action, len(self.place_rows))
        seen[moves[:, 0]] = moves[:, 1]
        return np.where(seen[places] >= 0, seen[places], found)

    def _nearest(self, points: Array) -> Array:
        """The place (m,) nearest to each latent point (m, r); the first of equals."""
        D = cdist(points, self.points)
        return np.asarray((D.min(axis=1, keepdims=True) + _TIED * D.max(initial=0.0) >= D).argmax(axis=1))

    def hits(self, walk: Actions, places: Array) -> Array:
        """Whether each step of a trajectory is predicted correctly from steps of its action at other places.

        Parameters
        ----------
        walk : Actions
            Steps between rows, which need not be training rows.
        places : array of shape (m,)
            The place of each of the rows.

        Returns
        -------
        hits : array of bool
            One for each step that other steps of its action can predict.
        """
        D = self.distances
        right = []
        for code, name in enumerate(walk.names):
            if name not in self.maps:
                continue
            moves = self.moves(name)
            begins, ends = places[walk.steps[walk.codes == code]].T
            if self.by_maps or not len(moves):
                right.append(self._nearest(self.moved(self.points[begins], name)) == ends)
                continue
            own = begins[:, None] == moves[:, 0]
            if len(moves) < 2:
                begins, ends, own = begins[~own[:, 0]], ends[~own[:, 0]], own[~own[:, 0]]
            misfit = _misfit_without(D, moves, begins, own)
            right.append(misfit.argmin(axis=1) == ends)
        return np.concatenate([np.empty(0, dtype=bool), *right])


def action_model(latent: Array, states: Array, place_rows: Array, actions: Actions) -> ActionModel:
    """Fit the rigid map of each action that was taken; parameters as those of ``ActionModel``."""
    maps = {}
    for code in np.unique(actions.codes[actions.codes >= 0]):
        name = actions.names[code]
        begins, ends = place_rows[_moves(states, actions, name)].T
        maps[name] = fit_rigid(latent[begins], latent[ends])
    return ActionModel(latent, states, place_rows, actions, maps)


def _agreed(actions: Actions | None, states: Array, action: object, n_places: int) -> Array:
    """The place (n_places,) that two or more steps of an action lead to from a place, all of them; -1 where none do."""
    seen = np.full(n_places, -1)
    if actions is None or action not in actions.names:
        return seen
    begins, ends = states[actions.steps[actions.codes == actions.names.index(action)]].T
    low, high = np.full(n_places, n_places), np.full(n_places, -1)
    np.minimum.at(low, begins, ends)
    np.maximum.at(high, begins, ends)
    agreed = (low == high) & (np.bincount(begins, minlength=n_places) > 1)
    seen[agreed] = high[agreed]
    return seen


def _moves(states: Array, actions: Actions, action: Hashable) -> Array:
    steps = actions.steps[actions.codes == actions.names.index(action)]
    return np.unique(states[steps], axis=0)


def _best_fit(D: Array, moves: Array, places: Array) -> Array:
    """The place (m,) that an action with ``moves`` (k, 2) leads to from ``places`` (m,), by distances D (4.6)."""
    found = np.empty(len(places), dtype=np.int64)
    many = max(1, _AT_ONCE // len(D))
    for start in range(0, len(places), many):
        some = places[start : start + many]
        misfit = cdist(D[some][:, moves[:, 0]], D[:, moves[:, 1]])
        tied = misfit <= misfit.min(axis=1, keepdims=True) + _TIED * D.max(initial=0.0)
        found[start : start + many] = tied.argmax(axis=1)  # the first of equals: rounding must not choose
    return found


def _misfit_without(D: Array, moves: Array, begins: Array, own: Array) -> Array:
    """4.6's sum (m, n_places) for each of ``begins``, without the moves that are its ``own`` (m, k)."""
    target, reached = D[begins][:, moves[:, 0]], D[:, moves[:, 1]]
    misfit = cdist(target, reached) ** 2
    row, column = np.nonzero(own)
    np.subtract.at(misfit, row, (target[row, column][:, None] - reached[:, column].T) ** 2)
    return np.maximum(misfit, 0.0)
