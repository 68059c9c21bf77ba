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

from ._action_dynamics import ActionDynamics
from ._action_model import ActionModel
from ._action_planning import planned
from ._action_routes import read_actions, trusted_actions
from ._localization import Localization, likelihood_of_places, localized
from ._measured_rows import MeasuredFrame, distances_to_rows, squares_to_rows

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
    trusted_steps_: Array
    solved_by_: str
    dynamics_: ActionDynamics | None
    action_vectors_: Array | None

    @property
    def action_maps_(self) -> dict[Hashable, RigidMap]:
        """The rigid map of each action: label -> rotation and translation of ``latent_``."""
        return dict(self.rigid_maps_)

    @overload
    def predict_next(self, rows: object, action: object, *, return_points: Literal[False] = False) -> Array: ...

    @overload
    def predict_next(self, rows: object, action: object, *, return_points: Literal[True]) -> tuple[Array, Array]: ...

    @one_blas_thread
    def predict_next(self, rows: object, action: object, *, return_points: bool = False) -> Array | tuple[Array, Array]:
        """Predict where an action leads, from training rows or from new observations.

        Parameters
        ----------
        rows : int or array of shape (m,), or array of shape (m, d)
            Training rows by their numbers; or new observations.
        action : label, or array of shape (e,)
            The action taken there: one of ``actions_.names``, or a vector if actions are vectors.
        return_points : bool, default=False
            Return latent points too.

        Returns
        -------
        next : array of shape (m,), or array of shape (m, d)
            For training rows: the first training row of the place that the action leads to: the observed one if the
            action was taken at this place in training, else the place whose distances fit best (4.6), or the place
            nearest to the prediction of the action's map or of the dynamics. For new observations: the expected next
            observation, which is the mean of that place's rows, or the prediction of the dynamics.
        points : array of shape (m, r)
            Only with ``return_points``: the predicted points in ``latent_``.
        """
        check_is_fitted(self)
        world = self._action_model()
        asked = np.asarray(rows)
        numbers = None if asked.ndim == 2 and asked.dtype.kind == "f" else self._training_rows(rows)
        if not world.knows(action):
            rule = f"is not an action that was seen ({self._known_actions(world)})"
            raise ValueError(error_message(self, "action", action, rule, "Give one of them"))
        if numbers is None:
            return self._next_observations(world, asked, action, return_points=return_points)
        following = self.place_rows_[world.next_places(self.states_[numbers], action)]
        return (following, world.moved(self.latent_[numbers], action)) if return_points else following

    def _next_observations(
        self, world: ActionModel, X: Array, action: object, *, return_points: bool
    ) -> Array | tuple[Array, Array]:
        """The observations (m, d) expected after an action at new observations (m, d), and their latent points."""
        if not self._has_data_space():
            rule = "holds observations, and precomputed distances have no inverse map to them"
            raise ValueError(error_message(self, "rows", f"array of shape {X.shape}", rule, "Give row numbers"))
        checked = self._checked(X)
        dynamics, frame = world.dynamics, self.frame_
        if dynamics is not None and len(dynamics.mean):
            points = world.moved(dynamics.encode(frame.inside(checked)) * world.unit, action)
            answer = frame.outside(dynamics.decode(points / world.unit))
        else:
            places = self._nearest_places(checked)
            following = world.next_places(places, action)
            points = world.moved(world.points[places], action)
            answer = self._place_means()[following]
        answer = np.asarray(answer.astype(checked.dtype, copy=False))
        return (answer, points) if return_points else answer

    def _place_means(self) -> Array:
        """Mean observation (n_places, d) of the rows of each place."""
        rows = self.frame_.outside(self.forward_.outputs)
        means = np.zeros((len(self.place_rows_), rows.shape[1]))
        np.add.at(means, self.states_, rows)
        return np.asarray(means / np.bincount(self.states_)[:, None])

    def _known_actions(self, world: ActionModel) -> str:
        if world.dynamics is not None and not world.dynamics.names:
            return f"vectors of {len(world.dynamics.centre) - self.latent_.shape[1]} numbers"
        return ", ".join(map(repr, world.maps)) or "there are none"

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
        return planned(
            owner, world, start, goal,
            n_components=self.n_components, max_length=max_length, vectors=self._vectors(),
        )  # fmt: skip

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
        owner, world = type(self).__name__, self._action_model()
        return localized(
            owner, world, squares, actions, wrong=wrong, slip=slip, noisy=world.by_maps, vectors=self._vectors()
        )

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

        With dynamics (``solved_by_``) there are no discrete places: the score is ``1 - |x̂' - x'|² / |x - x'|²``, the
        improvement of the predicted next observation over no change; without ``X``, on left-out segments of the
        training rows.

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
        if self._action_model().dynamics is not None:
            return self._skill(X, actions, trajectory)
        walk = self.actions_ if X is None else as_actions(actions, len(X), trajectory)
        hits = self._action_model().hits(walk, self.states_ if X is None else self._nearest_places(X))
        if not len(hits):
            rule = "has no step that other steps of its action could predict"
            raise ValueError(error_message(self, "actions", repr(walk), rule, "Give a walk that repeats actions"))
        return float(hits.mean())

    def _skill(self, X: object, actions: object, trajectory: object) -> float:
        """``1 - error / error of copying`` of predicted observations, or of latent points where steps were left out."""
        world = self._action_model()
        dynamics = world.dynamics
        assert dynamics is not None
        if X is None:
            return 1.0 - dynamics.error / dynamics.copying if dynamics.copying > 0 else 0.0
        rows = self._checked(X)
        walk, vectors = read_actions(type(self).__name__, actions, len(rows), trajectory)
        wanted = len(dynamics.centre) - self.latent_.shape[1]
        if (vectors is None) != bool(dynamics.names) or (vectors is not None and vectors.shape[1] != wanted):
            rule = "are not of the type used in fit"
            raise ValueError(error_message(self, "actions", repr(walk), rule, f"Give {self._known_actions(world)}"))
        labels = walk.labels if vectors is None else vectors[walk.steps[:, 0]]
        good = [at for at, label in enumerate(labels) if world.knows(label)]
        if not good:
            rule = "has no step of an action that was seen"
            raise ValueError(error_message(self, "actions", repr(walk), rule, f"Give {self._known_actions(world)}"))
        before, after = walk.steps[good].T
        if not len(dynamics.mean):
            D = distances_to_rows(self.frame_, self.backward_, rows)
            near = self.latent_[D.argmin(axis=1)] / self._unit()
            now, then = near[before], near[after]
        else:
            then, now = self.frame_.inside(rows[after]), self.frame_.inside(rows[before])
        given = np.concatenate([dynamics.inputs(labels[at], 1) for at in good])
        told = dynamics(dynamics.encode(now) if len(dynamics.mean) else now, given)
        told = dynamics.decode(told) if len(dynamics.mean) else told
        still = float(((now - then) ** 2).sum())
        return 1.0 - float(((told - then) ** 2).sum()) / still if still > 0 else 0.0

    def _unit(self) -> float:
        """Length of one unit of the frame of distances, in units of ``latent_``."""
        frame = self.frame_
        return float(frame.unit if isinstance(frame, MeasuredFrame) else frame.scale)

    def _vectors(self) -> Array | None:
        return getattr(self, "action_vectors_", None)

    def _action_model(self) -> ActionModel:
        """The fitted places and maps, collected from the fitted attributes; files of older versions lack the last."""
        trusted = getattr(self, "trusted_steps_", None)
        solved_by = getattr(self, "solved_by_", "program")
        believed = self.actions_ if trusted is None else trusted_actions(self.actions_, trusted)
        return ActionModel(
            self.latent_, self.states_, self.place_rows_, believed, self.action_maps_, self.actions_,
            by_maps=solved_by == "translations",
            dynamics=getattr(self, "dynamics_", None),
            unit=self._unit(),
        )  # fmt: skip

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
        if getattr(self, "solved_by_", "program") == "translations":
            squares = likelihood_of_places(D**2, self.states_, 1.0, 0.0, noisy=True)
            return np.asarray(squares.argmax(axis=1))
        return np.asarray(self.states_[D.argmin(axis=1)])
