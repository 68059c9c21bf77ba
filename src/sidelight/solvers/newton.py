"""Truncated Newton method for a function of a factor V (n, r) that is invariant under rotation of the columns.

Before each step V is rotated to its principal axes. The widest ``main`` columns, in which constraints couple the
coordinates, share one sparse factorisation as preconditioner; the other columns share a second one. Each step is
found by preconditioned conjugate gradients, which end at a direction of negative curvature. The step is then halved
until the value decreases sufficiently. The stopping rule uses the Newton decrement ``gᵀM⁻¹g`` (M the preconditioner).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sidelight.base.types import Array, SparseColumns

from .factor import factored

__all__ = ["NewtonPoint", "NewtonResult", "minimise_factor"]


_MAIN_SHARE, _MAX_MAIN, _MAX_UNKNOWNS = 1e-5, 6, 8000
_MAX_PRODUCTS, _C1 = 60, 1e-4


class NewtonPoint(Protocol):
    """A function at V with its derivatives (implemented by ``objectives.gram`` and ``objectives.action_gram``)."""

    @property
    def V(self) -> Array:  # noqa: N802 - as in the formulas
        """The factor (n, r)."""

    @property
    def value(self) -> float:
        """f(V)."""

    @property
    def multipliers(self) -> Array:
        """Updated multipliers of the constraints."""

    @property
    def gradient(self) -> Array:
        """∇f (n, r)."""

    def turned(self, R: Array) -> NewtonPoint:
        """The same point with rotated columns ``V R``, R (r, r) orthogonal."""

    def product(self, U: Array) -> Array:
        """Hessian-vector product ∇²f[U] (n, r)."""

    def curvature(self, main: int) -> tuple[SparseColumns, SparseColumns]:
        """Positive definite approximations of ∇²f: of the first ``main`` columns together, and of one other column."""


@dataclass(frozen=True)
class NewtonResult:
    """The last point, the number of steps, whether it converged, and whether ``on_step`` stopped it."""

    point: NewtonPoint
    n_iter: int
    converged: bool
    stopped: bool


def minimise_factor(
    at: Callable[[Array], NewtonPoint],
    start: Array,
    *,
    enough: Callable[[NewtonPoint], float],
    max_iter: int,
    on_step: Callable[[int, NewtonPoint], bool] | None = None,
) -> NewtonResult:
    """Minimise by truncated Newton steps.

    Parameters
    ----------
    at : callable
        V (n, r) to a :class:`NewtonPoint`.
    start : array of shape (n, r)
        Initial V, centred.
    enough : callable
        Point to the Newton decrement at which it counts as converged.
    max_iter : int
        Maximum number of steps.
    on_step : callable or None
        Called with (iteration, point) after each step; returning True stops the run.

    Returns
    -------
    NewtonResult
    """
    point = at(start)
    for iteration in range(max_iter + 1):
        point = point.turned(_axes(point.V))
        precondition = _preconditioner(point)
        moved = precondition(-point.gradient)
        decrement = -float(np.vdot(point.gradient, moved))
        if decrement <= enough(point):
            return NewtonResult(point, iteration, True, False)
        if iteration == max_iter:
            break
        step = _conjugate_gradients(point, precondition, moved, decrement)
        found = _line_search(at, point, step)
        if found is None:
            return NewtonResult(point, iteration, False, False)
        point = found
        if on_step is not None and on_step(iteration + 1, point):
            return NewtonResult(point, iteration + 1, False, True)
    return NewtonResult(point, max_iter, False, False)


def _axes(V: Array) -> Array:
    """Principal axes of V (r, r), widest first."""
    _, vectors = np.linalg.eigh(V.T @ V)
    return np.asarray(vectors[:, ::-1])


def _preconditioner(point: NewtonPoint) -> Callable[[Array], Array]:
    """Approximate inverse Hessian at a point, as a function of a gradient (n, r)."""
    n, r = point.V.shape
    squares = (point.V**2).sum(axis=0)
    wide = int((squares > _MAIN_SHARE * squares.sum()).sum())
    main = max(1, min(wide, _MAX_MAIN, r, _MAX_UNKNOWNS // n))
    whole, single = point.curvature(main)
    solve = factored(whole)
    solve_rest = factored(single) if main < r else None

    def apply(G: Array) -> Array:
        H = np.empty_like(G)
        H[:, :main] = solve(np.ascontiguousarray(G[:, :main]).ravel()).reshape(n, main)
        if solve_rest is not None:
            H[:, main:] = solve_rest(G[:, main:])
        return np.asarray(H - H.mean(axis=0))

    return apply


def _conjugate_gradients(
    point: NewtonPoint, precondition: Callable[[Array], Array], first: Array, decrement: float
) -> Array:
    """Approximate Newton step ``-(∇²f)⁻¹ ∇f``; the preconditioned gradient if that has negative curvature."""
    step, residual, direction = np.zeros_like(first), -point.gradient, first
    promise, sharpness = decrement, min(0.25, np.sqrt(decrement / max(abs(point.value), 1e-300)))
    for count in range(_MAX_PRODUCTS):
        curved = point.product(direction)
        curvature = float(np.vdot(direction, curved))
        if curvature <= 1e-10 * float(np.vdot(direction, direction)):
            return direction if count == 0 else step
        length = promise / curvature
        step = step + length * direction
        residual = residual - length * curved
        moved = precondition(residual)
        fresh = float(np.vdot(residual, moved))
        if fresh <= sharpness**2 * decrement:
            break
        direction, promise = moved + (fresh / promise) * direction, fresh
    return step


def _line_search(at: Callable[[Array], NewtonPoint], point: NewtonPoint, step: Array) -> NewtonPoint | None:
    """Backtracking: the point at the first halved step with sufficient decrease; None if there is none."""
    slope, length = float(np.vdot(point.gradient, step)), 1.0
    while length > 1e-7:
        V = point.V + length * step
        found = at(V - V.mean(axis=0))
        if found.value <= point.value + _C1 * length * slope:
            return found
        length *= 0.5
    return None
