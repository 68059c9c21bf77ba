"""Mean Jacobians along straight lines: the integrals that contributions are made of.

    z(x₁) - z(x₀) = J̄ (x₁ - x₀),      J̄ = ∫₀¹ J(x₀ + t (x₁ - x₀)) dt

The line is cut into panels with Gauss-Legendre nodes. A panel is cut again until ``h J̄ Δ`` is the difference of the map
over it, up to its part of the tolerance. Maps of this library are smooth but for kinks, where a training row enters or
leaves a neighbourhood: a panel is cut beside the point where the tangents at its ends meet, so that the part with the
kink is sixteen times shorter each time and the others are smooth.

What is left, below the tolerance, or a jump of the map itself, is distributed by the least change of J̄ that makes it
exact (Broyden's update), so that contributions sum to the difference to rounding:

    J̄ ← J̄ + (Δz - J̄ Δ) Δᵀ / |Δ|²

Cost: 4 evaluations of the Jacobian and one of the map for each panel; memory: a tile of panels at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import spans
from sidelight.maps.smooth_map import SmoothMap

__all__ = ["MeanSlopes", "mean_slopes"]

Array = npt.NDArray[Any]
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
_NODES, _WEIGHTS = 0.5 * (_NODES + 1.0), 0.5 * _WEIGHTS
_FIRST = 4  # panels of every line at the start
_SHORTEST = 2.0**-36  # a panel of this length with a difference has a jump
_JUMP = 0.01  # times the tolerance: the same where integrals need not be exact
_PART = 0.02  # of the tolerance, that any panel may take, however short it is
_ROUNDING = 1e-12  # times the coordinates of the ends: a smaller difference is rounding, and has no integral
_BUDGET = 4_000_000  # numbers of the Jacobians that are held at a time


@dataclass(frozen=True)
class MeanSlopes:
    """Mean Jacobians along lines.

    Parameters
    ----------
    slopes : array of shape (m, q, k)
        J̄ of each line; ``J̄ (end - start)`` is the difference of the map to rounding.
    start, end : arrays of shape (m, q)
        The map at the ends.
    missed : array of shape (m, q)
        What the integrals alone leave of the difference.
    n_evaluations : int
        Jacobians computed.
    """

    slopes: Array
    start: Array
    end: Array
    missed: Array
    n_evaluations: int


@dataclass(frozen=True)
class _Panels:
    """Panels [left, right] (p,) of lines (p,), and the map at their ends (p, q)."""

    line: Array
    left: Array
    right: Array
    at_left: Array
    at_right: Array

    def take(self, rows: Any) -> _Panels:
        return _Panels(self.line[rows], self.left[rows], self.right[rows], self.at_left[rows], self.at_right[rows])


@dataclass(frozen=True)
class _Lines:
    smooth: SmoothMap
    start: Array
    move: Array
    which: Array

    def points(self, line: Array, t: Array) -> Array:
        return np.asarray(self.start[line] + t[:, None] * self.move[line])

    def value(self, line: Array, t: Array) -> Array:
        return self.smooth.value(self.points(line, t), self.which[line])

    def slopes(self, line: Array, t: Array) -> Array:
        return self.smooth.slope(self.points(line, t), self.which[line])


def mean_slopes(smooth: SmoothMap, start: Array, end: Array, which: Array, *, tolerance: float = 1e-6) -> MeanSlopes:
    """Mean Jacobians along the lines from ``start`` (m, k) to ``end`` (m, k), in coordinates of the map.

    Parameters
    ----------
    smooth : SmoothMap
    start, end : arrays of shape (m, k)
    which : array of shape (m,)
        Row whose ``given`` is held along each line.
    tolerance : float
        Of the integrals, relative to the difference of the map between the ends.
    """
    lines = _Lines(smooth, start, end - start, which)
    m, k = start.shape
    every = np.arange(m)
    first, last = lines.value(every, np.zeros(m)), lines.value(every, np.ones(m))
    q = first.shape[1]
    size = np.abs(last - first).max(axis=1, initial=0.0)
    allowed = tolerance * np.maximum(size, 1e-3 * float(size.max(initial=0.0)))
    allowed = np.maximum(allowed, _ROUNDING * float(max(np.abs(first).max(initial=0.0), np.abs(last).max(initial=0.0))))
    shortest = max(_SHORTEST, _JUMP * tolerance)
    total, count = np.zeros((m, q, k)), 0
    panels = _first_panels(lines, first, last)
    while len(panels.line):
        left = []
        for tile in spans(len(panels.line), max(1, _BUDGET // (len(_NODES) * q * k))):
            some = panels.take(tile)
            J, ends, missed = _integrated(lines, some)
            count += len(_NODES) * len(some.line)
            h = some.right - some.left
            done = (missed <= allowed[some.line] * np.maximum(h, _PART)) | (h <= shortest)
            np.add.at(total, some.line[done], h[done, None, None] * J[done])
            left.append(_cut(lines, some.take(~done), ends[~done]))
        panels = _joined(left)
    missed = (last - first) - np.einsum("mqk,mk->mq", total, lines.move)
    squares = np.einsum("mk,mk->m", lines.move, lines.move)
    scale = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0)
    total += (missed * scale[:, None])[:, :, None] * lines.move[:, None, :]
    return MeanSlopes(total, first, last, missed, count)


def _first_panels(lines: _Lines, first: Array, last: Array) -> _Panels:
    m = len(first)
    ends = np.linspace(0.0, 1.0, _FIRST + 1)
    inner = lines.value(np.tile(np.arange(m), _FIRST - 1), np.repeat(ends[1:-1], m)).reshape(_FIRST - 1, m, -1)
    values = np.concatenate([first[None], inner, last[None]])
    return _joined(
        [_Panels(np.arange(m), np.full(m, a), np.full(m, b), values[i], values[i + 1]) for i, (a, b) in _pairs(ends)]
    )


def _pairs(ends: Array) -> list[tuple[int, tuple[float, float]]]:
    return [(i, (float(ends[i]), float(ends[i + 1]))) for i in range(len(ends) - 1)]


def _integrated(lines: _Lines, panels: _Panels) -> tuple[Array, Array, Array]:
    """Mean Jacobians (p, q, k), velocities at the first and the last node (p, 2, q), and what is missed (p,)."""
    p, n = len(panels.line), len(_NODES)
    h = panels.right - panels.left
    t = panels.left[:, None] + h[:, None] * _NODES
    line = np.repeat(panels.line, n)
    J = lines.slopes(line, t.ravel()).reshape(p, n, *_shape(lines, panels))
    move = lines.move[panels.line]
    ends = np.einsum("pnqk,pk->pnq", J[:, [0, -1]], move)
    mean = np.einsum("n,pnqk->pqk", _WEIGHTS, J)
    missed = (panels.at_right - panels.at_left) - h[:, None] * np.einsum("pqk,pk->pq", mean, move)
    return mean, ends, np.abs(missed).max(axis=1, initial=0.0)


def _shape(lines: _Lines, panels: _Panels) -> tuple[int, int]:
    """Shape (q, k) of a Jacobian."""
    return int(panels.at_left.shape[1]), int(lines.start.shape[1])


def _cut(lines: _Lines, panels: _Panels, ends: Array) -> _Panels:
    """The panels cut where the tangents at their ends meet, or in the middle where these do not meet inside."""
    if not len(panels.line):
        return panels
    h = panels.right - panels.left
    turn = ends[:, 0] - ends[:, 1]
    gap = panels.at_right - panels.at_left - h[:, None] * ends[:, 1]
    squares = np.einsum("pq,pq->p", turn, turn)
    meet = np.divide(np.einsum("pq,pq->p", turn, gap), squares * h, out=np.full(len(h), 0.5), where=squares > 0)
    inside = (meet > 0.05) & (meet < 0.95)
    margin = np.where(inside, 1.0 / 32.0, 0.0)
    meet = np.where(inside, meet, 0.5)
    low, high = panels.left + h * (meet - margin), panels.left + h * (meet + margin)
    at_low = lines.value(panels.line, low)
    at_high = at_low.copy()
    if inside.any():
        at_high[inside] = lines.value(panels.line[inside], high[inside])
    middle = _Panels(panels.line, low, high, at_low, at_high).take(inside)
    return _joined(
        [
            _Panels(panels.line, panels.left, low, panels.at_left, at_low),
            middle,
            _Panels(panels.line, high, panels.right, at_high, panels.at_right),
        ]
    )


def _joined(parts: list[_Panels]) -> _Panels:
    columns = zip(*((p.line, p.left, p.right, p.at_left, p.at_right) for p in parts), strict=True)
    return _Panels(*(np.concatenate(column) for column in columns))
