r"""Which combinations of actions cancel: integer translations of a world in which the order of actions does not matter.

A *window* is a stretch of at most six steps; c (A,) counts its actions. If the actions are translations t_a, a window
ends where it began exactly if Σ_a c_a t_a = 0. The relation c is accepted *in the mean*: over all windows that it
predicts to close, the log odds that their ends show the same place are added,

    gain(c) = Σ_windows log((1 - ε)^g exp(odds) + 1 - (1 - ε)^g),      ε: share of steps that slip, g: steps

so that one slip or one outlier costs a bounded amount; windows with a step that visibly did nothing (a slip, a wall)
are left out, unless most steps look like that. Relations are added while the sum over all windows grows; the
translations are the integer solutions of the accepted ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from sidelight.base.types import Array
from sidelight.side.actions import Actions

from ._walk_noise import Observed, looks_the_same, same_place_odds

__all__ = ["Translations", "find_translations", "integer_solutions"]


_LONGEST, _CANDIDATES = 6, 40  # steps of a window, and relations that are tried
_FEW, _LONGER = 100, 16  # rows of a short walk, which says little twice: its windows are longer
_SLIP = 0.1
_LEAST = 3.0  # nats that a relation must add
_STOOD = 0.6  # share of steps that change nothing visible, up to which these are taken for slips and walls here
_MIXED = 5  # windows that close only if actions commute, from which on they are asked whether they do


@dataclass(frozen=True, eq=False)
class Translations:
    """Integer translations ``moves`` (A, q) of the actions, and the ``gain`` in nats of the windows they close.

    ``sure``: every relation gained; else they are the best guess.
    """

    moves: Array
    gain: float
    sure: bool = True


@dataclass(frozen=True, eq=False)
class _Windows:
    """First and last row (m,), counts of actions (m, A), and the words themselves (m, longest), -1 after the end."""

    first: Array
    last: Array
    counts: Array
    words: Array


def find_translations(seen: Observed, actions: Actions) -> list[Translations]:
    """Candidate translations, the best first; empty if windows say that the order of the actions matters."""
    n_actions = len(actions.names)
    stood = looks_the_same(seen, seen.squares(*actions.steps.T))
    many_stood = stood.mean() > _STOOD if len(stood) else True
    windows = _windows(actions, np.zeros_like(stood) if many_stood else stood)
    if not len(windows.first):
        return []
    squares = seen.squares(windows.first, windows.last)
    stays = (1 - _SLIP) ** windows.counts.sum(axis=1)
    gains = np.log(stays * np.exp(same_place_odds(seen, squares, bound=30.0)) + 1 - stays)
    keys, place = np.unique(windows.counts, axis=0, return_inverse=True)
    place = place.ravel()
    total, many = np.bincount(place, gains), np.bincount(place)
    order = np.argsort(-total, kind="stable")
    sure = _greedy(keys[order[:_CANDIDATES]], keys, total, n_actions, _LEAST)
    if sure.gain > 0 and not _commute(windows, gains, sure.moves):
        return []
    often = np.flatnonzero(many >= 3)
    mean = often[np.argsort(-(total / many)[often], kind="stable")][:_CANDIDATES]
    bold = _greedy(keys[mean], keys, total, n_actions, -np.inf, most=2)
    bold = replace(bold, sure=False)
    found = [sure, bold] if sure.gain > 0 else [bold]
    return [each for each in found if each.moves.shape[1]]


def integer_solutions(relations: Array) -> Array:
    """Integer translations (A, q) that satisfy ``relations @ moves = 0``, for relations (m, A), by exact elimination.

    Examples
    --------
    >>> integer_solutions(np.array([[1, 1, 0], [0, 2, 1]])).tolist()  # b undoes a, and c is twice a
    [[1], [-1], [2]]
    """
    rows = [[Fraction(int(x)) for x in relation] for relation in relations]
    n_actions, pivots = relations.shape[1], list[int]()
    for column in reversed(range(n_actions)):
        done = len(pivots)
        found = next((r for r in range(done, len(rows)) if rows[r][column] != 0), None)
        if found is None:
            continue
        rows[done], rows[found] = rows[found], rows[done]
        rows[done] = [x / rows[done][column] for x in rows[done]]
        for r in range(len(rows)):
            if r != done and rows[r][column] != 0:
                rows[r] = [x - rows[r][column] * y for x, y in zip(rows[r], rows[done], strict=True)]
        pivots.append(column)
    free = [column for column in range(n_actions) if column not in pivots]
    moves = [[Fraction(int(action == column)) for column in free] for action in range(n_actions)]
    for row, column in zip(rows, pivots, strict=False):
        moves[column] = [-row[f] for f in free]
    whole = lcm(*[x.denominator for row in moves for x in row]) if free else 1
    return np.array([[int(x * whole) for x in row] for row in moves], dtype=np.int64).reshape(n_actions, len(free))


def _windows(actions: Actions, stood: Array) -> _Windows:
    """Windows without steps of unknown actions, and without those (m,) that ``stood`` still."""
    n, n_actions = actions.n_samples, len(actions.names)
    following, taken = np.full(n, -1), np.full(n, -1)
    following[actions.steps[:, 0]], taken[actions.steps[:, 0]] = actions.steps[:, 1], np.where(stood, -1, actions.codes)
    first = last = np.arange(n)
    longest = _LONGER if n <= _FEW else _LONGEST
    counts, words = np.zeros((n, n_actions), dtype=np.int64), np.full((n, longest), -1)
    parts = []
    for length in range(longest):
        on = (following[last] >= 0) & (taken[last] >= 0)
        first, last, counts, words = first[on], last[on], counts[on], words[on]
        counts[np.arange(len(last)), taken[last]] += 1
        words[:, length] = taken[last]
        last = following[last]
        parts.append((first, last, counts.copy(), words.copy()))
    return _Windows(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _greedy(tried: Array, keys: Array, total: Array, n_actions: int, least: float, most: int = 99) -> Translations:
    """Add the relation of ``tried`` (m, A) that gains most, while it gains ``least`` and every action still moves."""
    relations: list[Array] = []
    best = Translations(np.eye(n_actions, dtype=np.int64), 0.0)
    while best.moves.shape[1] > 1 and len(relations) < most:
        found = None
        for relation in tried:
            if not (relation @ best.moves).any():
                continue
            moves = integer_solutions(np.array([*relations, relation]))
            if moves.shape[1] == 0 or not moves.any(axis=1).all():
                continue
            gain = float(total[~(keys @ moves).any(axis=1)].sum())
            if found is None or gain > found[0] + 1e-9:
                found = (gain, relation, moves)
        if found is None or found[0] <= best.gain + least:
            break
        relations.append(found[1])
        best = Translations(found[2], found[0])
    return best


def _commute(windows: _Windows, gains: Array, moves: Array) -> bool:
    """Whether windows close that do so only if actions commute, as forward, left, backward, right."""
    closed = np.flatnonzero(~(windows.counts @ moves).any(axis=1))
    undoes = np.asarray(~(moves[:, None] + moves).any(axis=2))
    mixed = [at for at in closed if _reduced(windows.words[at], undoes)]
    return len(mixed) < _MIXED or float(gains[mixed].sum()) > 0


def _reduced(word: Array, undoes: Array) -> list[int]:
    """A word without adjacent letters that cancel."""
    left: list[int] = []
    for action in word[word >= 0].tolist():
        if left and undoes[left[-1], action]:
            left.pop()
        else:
            left.append(action)
    return left
