"""The methods of ActionRespectingEmbedding: arguments are validated here, ``ActionModel`` computes the results."""

from __future__ import annotations

from collections.abc import Hashable, Sized
from typing import Literal, overload

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import check_integer, check_number
from sidelight.maps.rigid import RigidMap
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.side.actions import Actions, as_actions

from ._action_model import ActionModel
from ._action_planning import planned
from ._localization import Localization, localized
from ._measured_rows import distances_to_rows, squares_to_rows

__all__ = ["ActionMixin"]


class ActionMixin(TwoWayMixin):
    """``predict_next``, ``plan``, ``localize`` and ``score``.

    ``fit`` sets the attributes below and those of ``TwoWayMixin``.
    """

    n_components: int
    latent_: Array
    states_: Array
    place_rows_: Array
    actions_: Actions
    rigid_maps_: list[tuple[Hashable, RigidMap]]

    @property
    def action_maps_(self) -> dict[Hashable, RigidMap]:
        """The rigid map of each action: label -> rotation and translation of ``latent_``."""
        return dict(self.rigid_maps_)

    @overload
    def predict_next(self, rows: object, action: Hashable, *, return_points: Literal[False] = False) -> Array: ...

    @overload
    def predict_next(self, rows: object, action: Hashable, *, return_points: Literal[True]) -> tuple[Array, Array]: ...

    @one_blas_thread
    def predict_next(
        self, rows: object, action: Hashable, *, return_points: bool = False
    ) -> Array | tuple[Array, Array]:
        """Predict where an action leads from training rows.

        Parameters
        ----------
        rows : int or array of shape (m,)
            Training rows.
        action : label
            The action taken there, one of ``actions_.names``.
        return_points : bool, default=False
            Return latent points too.

        Returns
        -------
        next : array of shape (m,)
            First training row of the place that the action leads to: the observed one if the action was taken at this
            place in training, else the place whose distances fit best (4.6).
        points : array of shape (m, r)
            Only with ``return_points``: where the action's rotation and translation takes the rows in ``latent_``.
        """
        check_is_fitted(self)
        rows, world = self._training_rows(rows), self._action_model()
        if action not in world.maps:
            rule = f"is not an action that was seen ({', '.join(map(repr, world.maps)) or 'there are none'})"
            raise ValueError(error_message(self, "action", action, rule, "Give one of them"))
        following = self.place_rows_[world.next_places(self.states_[rows], action)]
        return (following, world.maps[action](self.latent_[rows])) if return_points else following

    @one_blas_thread
    def plan(self, start: npt.ArrayLike, goal: npt.ArrayLike, *, max_length: int | None = None) -> list[Hashable]:
        """Find the shortest list of actions that leads from one place to another.

        Every step leads from a place of the training rows to another one. Steps taken in training are known; others are
        predicted, within the accuracy of the action's rigid map. A step that the training rows do not determine is not
        used.

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
        check_is_fitted(self)
        if max_length is not None:
            check_integer(self, "max_length", max_length, 0)
        owner, world = type(self).__name__, self._action_model()
        return planned(owner, world, start, goal, n_components=self.n_components, max_length=max_length)

    @one_blas_thread
    def localize(self, X: object, actions: object, *, wrong: float = 0.1, slip: float = 0.0) -> Localization:
        """Localize a new trajectory: a Bayes filter over places, with the actions as motion and X as observations.

        Parameters
        ----------
        X : array of shape (m, d)
            Observations along the trajectory (for precomputed distances, distances to the n training rows).
        actions : array-like of shape (m,) or (m - 1,)
            Action taken at each row; missing where a trajectory ends and the next row begins another.
        wrong : float, default=0.1
            Share of observations that may be outliers, with the same likelihood for every place.
        slip : float, default=0.0
            Share of actions that may have had no effect.

        Returns
        -------
        Localization
            With ``points`` (m, r), ``belief`` (m, n_places) and ``rows`` (m,).
        """
        check_is_fitted(self)
        check_number(self, "wrong", wrong, -1e-300, 1.0)
        check_number(self, "slip", slip, -1e-300, 1.0)
        squares = squares_to_rows(self.frame_, self.backward_, self._checked(X))
        return localized(type(self).__name__, self._action_model(), squares, actions, wrong=wrong, slip=slip)

    @one_blas_thread
    def score(
        self,
        X: Sized | None = None,
        y: object = None,
        *,
        actions: object = None,
        trajectory: object = None,
        sample_weight: object = None,
    ) -> float:
        """Accuracy of predicted steps: each step is predicted from the steps of the same action at *other* places.

        Without ``X``: the steps of the training rows, each left out of its own prediction (by distances, 4.6; the
        embedding itself was fitted with it). With ``X`` and ``actions``: a held-out trajectory; each row is assigned to
        the nearest place. With ``X`` alone there are no steps, and the score is the R² of the reconstruction, as in
        every other model: ``1 - |X - denoise(X)|² / |X - mean|²``.

        Parameters
        ----------
        X : array of shape (m, d) or None, default=None
        y : ignored
        actions, trajectory : arrays of shape (m,) or None, default=None
            As in ``fit``.
        sample_weight : array of shape (m,) or None, default=None
            Weights for the R² of the reconstruction.

        Returns
        -------
        score : float
        """
        check_is_fitted(self)
        if X is not None and actions is None:
            if not self._has_data_space():
                rule = "has no actions, and distances have no way back"
                raise ValueError(error_message(self, "X", "distances alone", rule, "Give actions= too"))
            return float(super().score(X, y, sample_weight=sample_weight))
        walk = self.actions_ if X is None else as_actions(actions, len(X), trajectory)
        hits = self._action_model().hits(walk, self.states_ if X is None else self._nearest_places(X))
        if not len(hits):
            rule = "has no step that other steps of its action could predict"
            raise ValueError(error_message(self, "actions", repr(walk), rule, "Give a walk that repeats actions"))
        return float(hits.mean())

    def _action_model(self) -> ActionModel:
        """The fitted places and rigid maps, collected from the fitted attributes."""
        return ActionModel(self.latent_, self.states_, self.place_rows_, self.actions_, self.action_maps_)

    def _training_rows(self, rows: object) -> Array:
        rows = np.atleast_1d(np.asarray(rows))
        n = len(self.states_)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or ((rows < 0) | (rows >= n)).any():
            rule = f"is not a list of training rows, 0 to {n - 1}"
            raise ValueError(error_message(self, "rows", rows, rule, "Give their numbers"))
        return np.asarray(rows)

    def _nearest_places(self, X: object) -> Array:
        """The place of the training row nearest to each row (m,)."""
        D = distances_to_rows(self.frame_, self.backward_, self._checked(X))
        return np.asarray(self.states_[D.argmin(axis=1)])
