r"""A world with noise and slips: places, and a latent space in which the actions are translations.

From positions p (integers) to a latent space in units of the data: the step lengths and angles follow from

    |y_i - y_j|² - noise ≈ Δpᵀ G Δp       over places at most two steps apart, least squares for G (q, q), G ⪰ 0

and the latent points are p G^{1/2}. Charts (pieces of the walk that share no place) are put side by side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.rigid import RigidMap
from sidelight.side.actions import Actions

from ._gram_answer import GramSpectrum, gram_spectrum
from ._walk_evidence import log_new, ordered_walk, place_evidence, steps_of
from ._walk_noise import Observed, observed
from ._walk_search import Positions, best_positions, position_digits
from ._walk_translations import find_translations

__all__ = ["WalkedWorld", "walked_world"]


_LEAST_GAIN = 10.0  # nats by which places must explain the rows better than new places for all of them
_FLATTEST = 0.05  # of the widest: least length of a step along any axis, squared
_FEWEST = 12  # rows


@dataclass(frozen=True, eq=False)
class WalkedWorld:
    """Places of a noisy walk, and its latent space.

    Parameters
    ----------
    states : array of shape (n,)
        The place of each row, numbered in order of appearance.
    spectrum : GramSpectrum
        Latent points of the places and their spectrum.
    maps : dict of label to RigidMap
        The translation of each action.
    trusted : array of bool, of shape (m,)
        Steps that went where their action leads; the others slipped, or met a wall.
    n_charts : int
        Number of pieces that share no place.
    sure : bool
        Whether the translations follow from stretches of the walk that come back; else they are the best guess.
    advantage : float
        By how many nats the observations fit these places better than they fit the ``others`` of ``walked_world``.
    """

    states: Array
    spectrum: GramSpectrum
    maps: dict[object, RigidMap]
    trusted: Array
    n_charts: int
    sure: bool = True
    advantage: float = 0.0


def walked_world(
    points: Array, squares: Array | None, actions: Actions, unit: float, others: Array
) -> WalkedWorld | None:
    """Find the places of a walk whose actions are translations; None without evidence for that.

    Parameters
    ----------
    points : array of shape (n, d)
        Rows in units of the frame.
    squares : array of shape (n, n) or None
        Squared distances in units of the frame, where these are not Euclidean.
    actions : Actions
    unit : float
        Length of one unit of the frame, in units of the data.
    others : array of shape (n,)
        Places that were found another way, to compare with.
    """
    if len(points) < _FEWEST or not len(actions.names):
        return None
    seen = observed(points, squares)
    walk = ordered_walk(seen, actions)
    kinds = [(steps_of(each.moves, len(points)), each.sure) for each in find_translations(seen, actions)]
    usable = [(steps, sure) for steps, sure in kinds if steps is not None]
    if not usable:
        return None
    found = best_positions(walk, [steps for steps, _ in usable], least=_LEAST_GAIN)
    if found is None:
        return None
    numbers = np.empty_like(found.numbers)
    numbers[walk.rows] = found.numbers
    new = log_new(walk, alike=found.setting.alike)
    ahead = place_evidence(walk, found.numbers, new) - place_evidence(walk, others[walk.rows], new)
    sure = next(sure for steps, sure in usable if steps is found.steps)
    world = replace(_world_of(numbers, found, seen, actions, unit), sure=sure, advantage=ahead)
    return world if world.trusted.sum() >= 0.5 * (actions.codes >= 0).sum() else None


def _world_of(numbers: Array, found: Positions, seen: Observed, actions: Actions, unit: float) -> WalkedWorld:
    steps = found.steps
    _, first, label = np.unique(numbers, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    states = np.argsort(order, kind="stable")[label.ravel()]
    places = numbers[first[order]]
    chart = (places + steps.chart // 2) // steps.chart
    P = position_digits(places - chart * steps.chart, steps).astype(np.float64)
    moves = position_digits(steps.moves, steps).astype(np.float64)
    root = _metric_root(P, chart, states, moves, seen)
    V = P @ root
    charts = np.unique(chart)
    aside = 0.0
    for each in charts:
        mine = chart == each
        V[mine] -= V[mine].mean(axis=0)
        V[mine, 0] += aside - V[mine, 0].min()
        aside = float(V[mine, 0].max()) + 3.0 * float(np.linalg.norm(moves @ root, axis=1).max())
    V -= V.mean(axis=0)
    spectrum = gram_spectrum(V, unit)
    turn = np.linalg.lstsq(V, spectrum.axes, rcond=None)[0]
    shifts = moves @ root @ turn
    stay = np.eye(spectrum.axes.shape[1])
    maps = {name: RigidMap(stay, shift) for name, shift in zip(actions.names, shifts, strict=True)}
    moved = numbers[actions.steps[:, 1]] - numbers[actions.steps[:, 0]]
    trusted = (actions.codes >= 0) & (moved == steps.moves[actions.codes])
    return WalkedWorld(states, spectrum, maps, trusted, len(charts))


def _metric_root(P: Array, chart: Array, states: Array, moves: Array, seen: Observed) -> Array:
    """G^{1/2} (q, q) from the distances of the mean observations of places at most two steps apart."""
    q, counts = P.shape[1], np.bincount(states)
    means = np.zeros((len(P), seen.points.shape[1]))
    np.add.at(means, states, seen.points)
    means /= counts[:, None]
    reach = 2.0 * float(np.abs(moves).max()) + 1e-9
    i, j = np.triu_indices(len(P), 1)
    gaps = P[i] - P[j]
    near = (chart[i] == chart[j]) & (np.abs(gaps).sum(axis=1) <= reach)
    i, j, gaps = i[near], j[near], gaps[near]
    squares = ((means[i] - means[j]) ** 2).sum(axis=1) - 0.5 * seen.floor * (1 / counts[i] + 1 / counts[j])
    a, b = np.triu_indices(q)
    design = gaps[:, a] * gaps[:, b] * np.where(a == b, 1.0, 2.0)
    G = np.zeros((q, q))
    if len(design):
        G[a, b] = np.linalg.lstsq(design, np.maximum(squares, 0.0), rcond=None)[0]
    G = G + np.triu(G, 1).T
    values, vectors = np.linalg.eigh(G)
    top = float(values.max())
    values = np.maximum(values, _FLATTEST * top) if top > 0 else np.ones(q)
    return np.asarray((vectors * np.sqrt(values)) @ vectors.T)
