r"""Positions of a walk whose actions are translations that may slip: several starts, each refined, the best kept.

* Dead reckoning: no slips; a later trajectory is put where most of its rows look like earlier ones.
* A pose graph: min Σ_steps 3 |z_j - z_i - t_a|₁ + Σ_pairs w_ij |z_i - z_j|₁ over pairs that look the same, by
  iteratively reweighted least squares; pairs that stay apart are dropped, positions rounded.
* A beam of hypotheses: each row in turn moves, stays or slips; the best sixty are kept.

Each start is refined by Viterbi paths over its own places, each row left out of its place's mean. ``log_evidence``
chooses among them all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from scipy.sparse import coo_array, csc_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from sidelight.base.types import Array

from ._walk_evidence import CLIP, SETTINGS, OrderedWalk, Setting, Steps, log_evidence, log_new, log_same
from ._walk_noise import same_place_odds

__all__ = ["Positions", "best_positions", "position_digits"]


_WIDTH, _BEHIND = 60, 60.0  # hypotheses of the beam, and nats that one may be behind the best
_PAIRS, _FEWER, _SURE = 10, 4, 1.5  # pairs of a row that may be one place (of many rows: fewer), their least log odds
_MANY = 500
_SOFTENING, _REWEIGHTED = 0.02, 25
_STEP_WEIGHT, _PAIR_WEIGHTS = 3.0, (0.1, 0.3)
_JOINED = 6.0  # nats by which a trajectory must agree with earlier ones to be put among them
_ROUNDS, _BEGINNING = 4, 5


@dataclass(frozen=True, eq=False)
class Positions:
    """Position ``numbers`` (n,) under translations ``steps``, the ``setting`` they fit best, their log evidence."""

    numbers: Array
    steps: Steps
    setting: Setting
    evidence: float


def best_positions(walk: OrderedWalk, candidates: Sequence[Steps], *, least: float) -> Positions | None:
    """Search for the positions of largest evidence, under each of the candidate translations.

    None if they do not explain the rows by ``least`` nats better than a new place for each of them; the quick starts
    decide that.
    """
    new = {alike: log_new(walk, alike=alike) for alike in (True, False)}
    Y = walk.seen.points
    norms = np.einsum("ij,ij->i", Y, Y)
    odds = same_place_odds(walk.seen, np.maximum(norms[:, None] + norms - 2 * (Y @ Y.T), 0.0))

    def judged(numbers: Array, steps: Steps) -> Positions:
        found = [(log_evidence(walk, numbers, steps, each, new[each.alike]), each) for each in SETTINGS]
        score, setting = max(found, key=lambda pair: pair[0])
        return Positions(numbers, steps, setting, score)

    def refined(numbers: Array, steps: Steps) -> Positions:
        here = best = judged(numbers, steps)
        for _ in range(_ROUNDS):
            following = _viterbi(walk, here.numbers, steps, here.setting, new[here.setting.alike])
            if np.array_equal(following, here.numbers):
                break
            here = judged(following, steps)
            best = _better(best, here)
        return best

    quick = [refined(_dead_reckoning(walk, steps, odds), steps) for steps in candidates]
    quick += [refined(_pose_graph(walk, steps, odds, _PAIR_WEIGHTS[0]), steps) for steps in candidates]
    best = quick[0]
    for found in quick[1:]:
        best = _better(best, found)
    if best.evidence < float(new[True].sum()) + least:
        return None
    steps = best.steps
    best = _better(best, refined(_pose_graph(walk, steps, odds, _PAIR_WEIGHTS[1]), steps))
    for setting in (SETTINGS[1], SETTINGS[3]):
        best = _better(best, refined(_beam(walk, steps, setting, new[setting.alike]), steps))
    return best


def _better(one: Positions, other: Positions) -> Positions:
    return other if other.evidence > one.evidence + 1e-6 else one


def _dead_reckoning(walk: OrderedWalk, steps: Steps, odds: Array) -> Array:
    moved = np.where(walk.codes >= 0, steps.moves[walk.codes], 0)
    moved[walk.begins] = 0
    whole = np.cumsum(moved)
    starts = np.flatnonzero(walk.begins)
    positions = np.empty_like(whole)
    for chart, (start, stop) in enumerate(zip(starts, [*starts[1:], len(whole)], strict=True)):
        own = whole[start:stop] - whole[start]
        shift = chart * steps.chart
        if start:
            gaps = (positions[:start, None] - own).ravel()
            sums = odds[:start, start:stop].ravel()
            values, place = np.unique(gaps, return_inverse=True)
            votes = np.bincount(place.ravel(), sums)
            if votes.max() > _JOINED:
                shift = int(values[int(votes.argmax())])
        positions[start:stop] = own + shift
    return positions


def _pose_graph(walk: OrderedWalk, steps: Steps, odds: Array, weight: float) -> Array:
    """Robust positions from steps and from pairs of rows that look the same."""
    n, q = len(walk.rows), len(steps.radix)
    t = np.flatnonzero(~walk.begins & (walk.codes >= 0))
    ends = np.column_stack([t - 1, t])
    moves = position_digits(steps.moves, steps)[walk.codes[t]].astype(np.float64)
    pairs, sure = _likely_pairs(odds)
    kept = np.ones(len(pairs), dtype=bool)
    for _ in range(2):
        edges = np.vstack([ends, pairs[kept]])
        offsets = np.vstack([moves, np.zeros((int(kept.sum()), q))])
        weights = np.r_[np.full(len(ends), _STEP_WEIGHT), weight * sure[kept]]
        Z = np.column_stack([_least_absolute(n, edges, offsets[:, c], weights) for c in range(q)])
        near = np.abs(Z[pairs[:, 0]] - Z[pairs[:, 1]]).max(axis=1, initial=0.0) < 0.5
        if np.array_equal(near, kept):
            break
        kept = near
    graph = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n, n))
    chart = connected_components(csc_array(graph), directed=False)[1]
    first = np.unique(chart, return_index=True)[1]
    whole = np.floor(Z - Z[first][chart] + 0.5 + 1e-6).astype(np.int64)  # rounding must not hang on the last bits
    return np.asarray(whole @ steps.radix + chart * steps.chart)


def position_digits(numbers: Array, steps: Steps) -> Array:
    """Positions (m, q) of position numbers (m,) without charts: digits of balanced size."""
    found, left = np.empty((len(numbers), len(steps.radix)), dtype=np.int64), numbers.copy()
    span = steps.chart if len(steps.radix) == 1 else int(steps.radix[1])
    for column in range(len(steps.radix)):
        digit = (left + span // 2) % span - span // 2
        found[:, column], left = digit, (left - digit) // span
    return found


def _likely_pairs(odds: Array) -> tuple[Array, Array]:
    """Pairs (m, 2) of rows that look the same, at most ten for each row, and their log odds (m,)."""
    n = len(odds)
    many = min(_PAIRS if n <= _MANY else _FEWER, n - 1)
    own = odds - 1e9 * np.eye(n)
    near = np.argsort(-own, axis=1, kind="stable")[:, :many]
    i, j = np.repeat(np.arange(n), many), near.ravel()
    sure = own[i, j] > _SURE
    pairs = np.unique(np.sort(np.column_stack([i[sure], j[sure]]), axis=1), axis=0)
    return pairs, odds[pairs[:, 0], pairs[:, 1]]


def _least_absolute(n: int, edges: Array, offsets: Array, weights: Array) -> Array:
    """``argmin_z Σ_e w_e |z_j - z_i - b_e|`` (n,), by reweighted least squares with a softening that shrinks."""
    i, j = edges.T
    z, soft = np.zeros(n), 1.0
    for iteration in range(_REWEIGHTED):
        residual = z[j] - z[i] - offsets
        w = weights / np.sqrt(residual**2 + soft**2) if iteration else weights
        entries = np.r_[w, w, -w, -w, np.full(n, 1e-9 * float(w.max()))]
        places = np.r_[i, j, i, j, np.arange(n)], np.r_[i, j, j, i, np.arange(n)]
        right = np.bincount(j, w * offsets, n) - np.bincount(i, w * offsets, n)
        found = splu(csc_array(coo_array((entries, places), shape=(n, n)))).solve(right)
        change, z = float(np.abs(found - z).max()), found
        soft = max(_SOFTENING, 0.75 * soft)
        if soft == _SOFTENING and change < 1e-3:
            break
    return np.asarray(z)


def _viterbi(walk: OrderedWalk, positions: Array, steps: Steps, setting: Setting, new: Array) -> Array:
    """The best path over the places that are visited and one step around them, each row left out of its own mean."""
    n, Y = len(positions), walk.seen.points
    visited, place = np.unique(positions, return_inverse=True)
    place = place.ravel()
    counts = np.bincount(place)
    means = np.zeros((len(visited), Y.shape[1]))
    np.add.at(means, place, Y)
    means /= counts[:, None]
    states = np.unique(np.concatenate([visited, *(visited + move for move in steps.moves)]))
    known = np.searchsorted(states, visited)
    squares = np.maximum((Y**2).sum(axis=1)[:, None] + (means**2).sum(axis=1) - 2 * (Y @ means.T), 0.0)
    gain = np.clip(log_same(squares, counts, walk.seen) - new[:, None], -CLIP, CLIP)
    rows, c = np.arange(n), counts[place]
    own = squares[rows, place] * (c / np.maximum(c - 1, 1)) ** 2
    gain[rows, place] = np.where(c > 1, np.clip(log_same(own, np.maximum(c - 1, 1), walk.seen) - new, -CLIP, CLIP), 0.0)
    emitted = np.zeros((n, len(states)))
    emitted[:, known] = gain
    return np.asarray(states[_path(walk, emitted, _sources(states, steps), setting)])


def _sources(states: Array, steps: Steps) -> Array:
    """The state (A + 1, S) from which each action leads to each state, -1 if there is none; the last row: staying."""
    before = states - steps.moves[:, None]
    at = np.minimum(np.searchsorted(states, before), len(states) - 1)
    return np.vstack([np.where(states[at] == before, at, -1), np.arange(len(states))])


def _path(walk: OrderedWalk, emitted: Array, sources: Array, setting: Setting) -> Array:
    """The states (n,) of the most probable path."""
    n, n_states = emitted.shape
    n_actions = len(sources) - 1
    slips = np.full(n_actions + 1, log(setting.slip / 2) - log(max(1, n_actions - 1)))
    slips[-1] = log(setting.slip / 2)
    back = np.empty((n, n_states), dtype=np.int64)
    score = np.zeros(n_states)
    every = np.arange(n_states)
    for t in range(n):
        if walk.begins[t]:
            back[t] = int(np.argmax(np.round(score, 6)))
            score = score.max() + emitted[t]
            continue
        prior = slips.copy() if walk.codes[t] >= 0 else np.full(n_actions + 1, -log(n_actions + 1))
        if walk.codes[t] >= 0:
            prior[walk.codes[t]] = log(1 - setting.slip)
        reached = np.where(sources >= 0, score[sources], -np.inf) + prior[:, None]
        choice = np.argmax(np.round(reached, 6), axis=0)
        back[t], score = sources[choice, every], reached[choice, every] + emitted[t]
    path = np.empty(n, dtype=np.int64)
    state = int(np.argmax(np.round(score, 6)))
    for t in reversed(range(n)):
        path[t] = state
        state = int(back[t, state])
    return path


def _beam(walk: OrderedWalk, steps: Steps, setting: Setting, new: Array) -> Array:
    """Positions (n,) of the best of sixty hypotheses that are carried along."""
    Y, n_actions = walk.seen.points, len(steps.moves)
    moves = steps.moves.tolist()
    slips = [log(setting.slip / 2) - log(max(1, n_actions - 1))] * n_actions
    Visits = dict[int, tuple[int, Array]]
    hypotheses: list[tuple[float, Visits, int]] = [(0.0, {}, 0)]
    trail: list[tuple[list[int], list[int]]] = []  # of each row: the hypothesis it came from, and its position
    charts = 0
    for t, code in enumerate(walk.codes.tolist()):
        prior = list(slips) if code >= 0 else [-log(n_actions + 1)] * n_actions
        if code >= 0:
            prior[code] = log(1 - setting.slip)
        stay = log(setting.slip / 2) if code >= 0 else -log(n_actions + 1)
        if walk.begins[t]:
            hypotheses = hypotheses[:_BEGINNING]  # each may begin at any of its places
        cache: dict[int, float] = {}
        grown: list[tuple[float, int, int]] = []
        for number, (score, visits, here) in enumerate(hypotheses):
            options = [(prior[a], here + moves[a]) for a in range(n_actions)] + [(stay, here)]
            if walk.begins[t]:
                options = [(0.0, charts * steps.chart), *((-log(1 + len(visits)), there) for there in visits)]
            for chance, there in options:
                entry = visits.get(there)
                gain = 0.0
                if entry is not None:
                    gain = cache.get(id(entry), np.nan)
                    if gain != gain:
                        gain = _gain(Y[t], entry, walk, float(new[t]))
                        cache[id(entry)] = gain
                grown.append((round(score + chance + gain, 6), number, there))
        charts += int(walk.begins[t])
        grown.sort(key=lambda each: -each[0])
        kept = [each for each in grown[:_WIDTH] if each[0] > grown[0][0] - _BEHIND]
        following = []
        for score, number, there in kept:
            visits = dict(hypotheses[number][1])
            count, total = visits.get(there, (0, np.zeros(Y.shape[1])))
            visits[there] = (count + 1, total + Y[t])
            following.append((score, visits, there))
        hypotheses = following
        trail.append(([number for _, number, _ in kept], [there for *_, there in kept]))
    positions, at = np.empty(len(trail), dtype=np.int64), 0
    for t in reversed(range(len(trail))):
        positions[t] = trail[t][1][at]
        at = trail[t][0][at]
    return positions


def _gain(y: Array, entry: tuple[int, Array], walk: OrderedWalk, new: float) -> float:
    """Log density of a row at a visited position over that at a new one, bounded."""
    count, total = entry
    off = y - total / count
    variance = walk.seen.variance * (1 + 1 / count)
    same = -0.5 * float(off @ off) / variance - 0.5 * len(y) * log(2 * np.pi * variance)
    return min(max(same - new, -CLIP), CLIP)
