"""Localization of a trajectory by a Bayes filter over the places.

b_t(k) ∝ p(x_t | k) Σ_i b_{t-1}(i) p_a(k | i),     p_a ∝ exp(-½ e_a² / (tolerance² + ℓ_a² / 12))

with the errors e_a of ``_action_steps``. The ℓ_a² / 12 is the variance of a uniform distribution over one step: a place
stands for its surroundings up to half a step.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.side.actions import as_actions

from ._action_model import ActionModel
from ._action_steps import Step, action_steps, dynamic_step

__all__ = ["Localization", "likelihood_of_places", "localized", "motion"]


_CELL = 1 / 12  # variance of a uniform spread over one step, in squared steps


@dataclass(frozen=True, eq=False)
class Localization:
    """Result of ``localize`` for each of m rows: posterior over the places, its mean, and the most probable place.

    Parameters
    ----------
    points : array of shape (m, r)
        Posterior mean latent points, in units of ``latent_``.
    belief : array of shape (m, n_places)
        Probability of each place, by its number in ``states_``, after the row's own observation.
    rows : array of shape (m,)
        First training row of the most probable place.
    """

    points: Array
    belief: Array
    rows: Array


def localized(
    owner: str,
    world: ActionModel,
    squares: Array,
    actions: object,
    *,
    wrong: float,
    slip: float,
    noisy: bool = False,
    vectors: Array | None = None,
) -> Localization:
    """Run the Bayes filter along a trajectory.

    Parameters
    ----------
    owner : str
        Class that a message names.
    world : ActionModel
    squares : array of shape (m, n)
        Squared distances of the observations to the training rows, in units of the data.
    actions : array-like of shape (m,) or (m - 1,), or Actions
        Action taken at each row.
    wrong, slip : float
        Share of observations that are outliers, and of actions that had no effect.
    noisy : bool, default=False
        Compare observations with all rows of a place in the mean, instead of with the nearest.
    vectors : array of shape (n, e) or None
        The actions of training, if they are vectors.

    Returns
    -------
    Localization
    """
    steps = action_steps(owner, world, vectors)
    spread = float(np.median([step.length for step in steps])) ** 2 * _CELL
    likelihood = likelihood_of_places(squares, world.states, spread, wrong, noisy=noisy)
    if vectors is None:
        moves = np.stack([motion(step, slip) for step in steps])
        before = _moves_before(owner, actions, [step.name for step in steps], len(squares))
        belief = _filtered(likelihood, [None if code < 0 else moves[code] for code in before])
    else:
        taken = _vectors_before(owner, actions, len(squares), vectors.shape[1])
        belief = _filtered(
            likelihood, (None if given is None else motion(dynamic_step(world, given), slip) for given in taken)
        )
    return Localization(belief @ world.points, belief, world.place_rows[np.argmax(belief, axis=1)])


def motion(step: Step, slip: float) -> Array:
    """Transition probabilities p(k | i) of an action (n_places, n_places): rows sum to 1."""
    variance = step.tolerance**2 + _CELL * step.length**2
    logs = -0.5 * step.error**2 / (variance or 1.0)
    moved = np.exp(logs - logs.max(axis=1, keepdims=True))
    moved /= moved.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - slip) * moved + slip * np.eye(len(moved)))


def likelihood_of_places(squares: Array, states: Array, spread: float, wrong: float, *, noisy: bool = False) -> Array:
    """Likelihood p(x | k) up to a factor (m, n_places); ``wrong``: outlier share.

    By the nearest row of each place; if ``noisy``, by the mean square over its rows, which noise raises alike.
    """
    order = np.argsort(states, kind="stable")
    starts = np.searchsorted(states[order], np.arange(states.max() + 1))
    reduced = np.add if noisy else np.minimum
    nearest = reduced.reduceat(squares[:, order], starts, axis=1)
    if noisy:
        nearest = nearest / np.bincount(states)
    seen = np.exp(-0.5 * (nearest - nearest.min(axis=1, keepdims=True)) / (spread or 1.0))
    seen /= seen.sum(axis=1, keepdims=True)
    return np.asarray((1.0 - wrong) * seen + wrong / seen.shape[1])


def _filtered(likelihood: Array, moves: Iterable[Array | None]) -> Array:
    """Posteriors (m, n_places): prediction from the last one times the likelihood; uniform prior where a walk begins.

    ``moves``: the transition probabilities (n_places, n_places) that led to each row, None where a walk begins.
    """
    belief = np.empty_like(likelihood)
    uniform = np.full(likelihood.shape[1], 1.0 / likelihood.shape[1])
    for t, move in enumerate(moves):
        prior = uniform if move is None else belief[t - 1] @ move
        belief[t] = prior * likelihood[t]
        total = belief[t].sum()
        belief[t] = belief[t] / total if total > 0 else likelihood[t] / likelihood[t].sum()
    return belief


def _vectors_before(owner: str, actions: object, m: int, width: int) -> list[Array | None]:
    """The action vector that led to each row (m,); None where a trajectory begins."""
    given = np.asarray(actions, dtype=np.float64)
    given = given[:, None] if given.ndim == 1 and width == 1 else given
    if given.ndim != 2 or given.shape[0] not in (m, m - 1) or given.shape[1] != width:
        rule = f"does not hold a vector of {width} numbers for each of the {m} rows"
        seen = f"array of shape {given.shape}"
        raise ValueError(error_message(owner, "actions", seen, rule, "Give the actions in the form of training"))
    return [None, *(row if np.isfinite(row).all() else None for row in given[: m - 1])]


def _moves_before(owner: str, actions: object, names: Sequence[Hashable], m: int) -> Array:
    """Index in ``names`` of the action that led to each row (m,); -1 where a trajectory begins."""
    done = as_actions(actions, m)
    known = {name: place for place, name in enumerate(names)}
    unknown = [done.names[code] for code in np.unique(done.codes[done.codes >= 0]) if done.names[code] not in known]
    if unknown:
        rule = "was not taken in training"
        raise ValueError(error_message(owner, "actions", unknown[0], rule, f"Use {', '.join(map(str, known))}"))
    if np.any(done.steps[:, 1] != done.steps[:, 0] + 1):
        raise ValueError(
            error_message(owner, "actions", done, "do not lead from each row to the next", "Put walks in order")
        )
    before = np.full(m, -1)
    before[done.steps[:, 1]] = np.array([*(known.get(name, -1) for name in done.names), -1])[done.codes]
    return before
