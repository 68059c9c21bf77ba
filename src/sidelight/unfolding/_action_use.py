r"""What an embedding with actions is used for: the next row, and how often that is right (S4 4.2.3).

An action keeps distances, so those of where it leads from i are known to all places it has led to (4.5),

    |T_a(φ_i) - φ_{j+1}| = |φ_i - φ_j|     for all j with a_j = a,

and the prediction is the place whose distances fit best (4.6; an arg min, not the arg max that is printed):

    p = argmin_k Σ_j (|φ_k - φ_{j+1}| - |φ_i - φ_j|)²
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import cdist
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.maps.two_way_mixin import TwoWayMixin, has_data_space
from sidelight.side.actions import as_actions

__all__ = ["ActionUse"]

Array = npt.NDArray[Any]
_AT_ONCE = 2**22  # distances of queries to candidates that are held
_TIED = 1e-9  # of the largest distance: misfits that differ by less are equal


class ActionUse:
    """predict_next and score, from ``latent_``, ``states_``, ``actions_`` and ``action_maps_``; no state of its own."""

    @one_blas_thread
    def predict_next(self: Any, rows: Any, action: Any, *, return_points: bool = False) -> Any:
        """Where an action leads from training rows.

        Parameters
        ----------
        rows : int or array of shape (m,)
            Training rows.
        action : label
            What is done there, one of ``actions_.names``.
        return_points : bool, default=False
            Return latent points too.

        Returns
        -------
        next : array of shape (m,)
            The first training row of the place that it leads to: the one that was seen where the action was done at
            this place, else the one whose distances fit best (4.6).
        points : array of shape (m, r)
            Only with ``return_points``: where the action's rotation and translation takes the rows in ``latent_``.
        """
        check_is_fitted(self)
        rows = self._training_rows(rows)
        if action not in self.action_maps_:
            rule = f"is not an action that was seen ({', '.join(map(repr, self.action_maps_)) or 'there are none'})"
            raise ValueError(complain(self, "action", action, rule, "Give one of them"))
        moves = self._moves(action)
        places = self.states_[rows]
        found = _best_fit(self._distances_of_places(), moves, places)
        begins = np.full(int(self.states_.max()) + 1, -1)
        begins[moves[:, 0]] = moves[:, 1]
        found = np.where(begins[places] >= 0, begins[places], found)
        following = self.place_rows_[found]
        return (following, self.action_maps_[action](self.latent_[rows])) if return_points else following

    @one_blas_thread
    def score(
        self: Any,
        X: Any = None,
        y: Any = None,
        *,
        actions: Any = None,
        trajectory: Any = None,
        sample_weight: Any = None,
    ) -> float:
        """Share of steps whose result is predicted right, each from the steps of its action at *other* places.

        Without ``X``: the steps of the training rows, each left out of its own prediction (by distances, 4.6; the
        embedding itself has seen it). With ``X`` and ``actions``: a walk that was held out; its rows count as the
        places nearest to them. With ``X`` alone there is no step to judge, and the score is that of the two maps, as in
        every other model: ``1 - |X - denoise(X)|² / |X - mean|²``.
        """
        check_is_fitted(self)
        if X is not None and actions is None:
            if not has_data_space(self):
                rule = "has no actions, and distances have no way back"
                raise ValueError(complain(self, "X", "distances alone", rule, "Give actions= too"))
            return float(TwoWayMixin.score(self, X, y, sample_weight=sample_weight))
        walked = self.actions_ if X is None else as_actions(actions, len(X), trajectory)
        places = self.states_ if X is None else self._nearest_places(X)
        right = _hits(self, walked, places)
        if not len(right):
            rule = "has no step that other steps of its action could predict"
            raise ValueError(complain(self, "actions", repr(walked), rule, "Give a walk that repeats actions"))
        return float(right.mean())

    def _training_rows(self: Any, rows: Any) -> Array:
        rows = np.atleast_1d(np.asarray(rows))
        n = len(self.states_)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or ((rows < 0) | (rows >= n)).any():
            rule = f"is not a list of training rows, 0 to {n - 1}"
            raise ValueError(complain(self, "rows", rows, rule, "Give their numbers"))
        return np.asarray(rows)

    def _moves(self: Any, action: Any) -> Array:
        """The places (from, to) of an action's steps (m, 2), each once."""
        steps = self.actions_.steps[self.actions_.codes == self.actions_.names.index(action)]
        return np.unique(self.states_[steps], axis=0)

    def _distances_of_places(self: Any) -> Array:
        points = np.asarray(self.latent_[self.place_rows_], dtype=np.float64)
        return np.asarray(cdist(points, points))

    def _nearest_places(self: Any, X: Any) -> Array:
        """The place of the training row nearest to each row (m,)."""
        points = self.frame_.points(self._checked(X))
        measured = hasattr(self.frame_, "unit") or self.metric == "precomputed"
        D = points if measured else cdist(points, self.backward_.weights.inputs)
        return np.asarray(self.states_[D.argmin(axis=1)])


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


def _hits(model: Any, walked: Any, places: Array) -> Array:
    """For each step of a walk through ``places`` whether its result is predicted from steps at other places."""
    D = model._distances_of_places()
    right = []
    for code, name in enumerate(walked.names):
        if name not in model.action_maps_:
            continue
        moves = model._moves(name)
        begins, ends = places[walked.steps[walked.codes == code]].T
        own = begins[:, None] == moves[:, 0]
        if len(moves) < 2:
            begins, ends, own = begins[~own[:, 0]], ends[~own[:, 0]], own[~own[:, 0]]
        misfit = _misfit_without(D, moves, begins, own)
        right.append(misfit.argmin(axis=1) == ends)
    return np.concatenate([np.empty(0, dtype=bool), *right])


def _misfit_without(D: Array, moves: Array, begins: Array, own: Array) -> Array:
    """4.6's sum (m, n_places) for each of ``begins``, without the moves that are its ``own`` (m, k)."""
    target, reached = D[begins][:, moves[:, 0]], D[:, moves[:, 1]]
    misfit = cdist(target, reached) ** 2
    row, column = np.nonzero(own)
    np.subtract.at(misfit, row, (target[row, column][:, None] - reached[:, column].T) ** 2)
    return np.maximum(misfit, 0.0)
