"""L-BFGS with a weak Wolfe line search.

The direction is ``-H g`` with H the limited-memory BFGS approximation of the inverse Hessian from the last ``memory``
steps (two-loop recursion). A step is accepted when it satisfies the weak Wolfe conditions: sufficient decrease (``c1``)
and curvature (``c2``). It is found by bisection and doubling. The first step of a run is scaled so that no point moves
by more than 1.

``inverse_at`` gives an approximate inverse Hessian at the current point. The recursion then begins with it, unscaled.
It is renewed every five iterations (the stored steps are kept), and the first trial step is 1.

Converged when an iteration decreases the value by at most ``tolerance · max(|f|, 1)`` twice in a row; when the gradient
vanishes; or when no step along the gradient decreases the value because of curvature (the value rises by at least twice
what the slope promised, and the promised decrease is below the tolerance).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from sidelight.base.result import Result, Status
from sidelight.base.types import Array

__all__ = ["minimise"]


Step = Callable[[int, float, Array, dict[str, float]], bool]
Linear = Callable[[Array], Array]
_C1, _C2 = 1e-4, 0.9
_RENEWED = 5  # iterations after which the approximate inverse Hessian is renewed
_VANISHED = 1e-150  # the square of a smaller gradient is 0


def minimise(
    value_and_grad: Callable[[Array], tuple[float, Array, dict[str, float]]],
    start: Array,
    *,
    max_iter: int = 300,
    tolerance: float = 1e-6,
    memory: int = 12,
    precondition: Linear | None = None,
    inverse_at: Callable[[Array], Linear] | None = None,
    on_step: Step | None = None,
) -> Result:
    """Minimise a function from ``start`` by L-BFGS.

    Parameters
    ----------
    value_and_grad : callable
        Point to (value, gradient, terms by name).
    start : array
        Initial point, of any shape; the gradient has the same.
    max_iter : int
        Maximum number of iterations.
    tolerance : float
        Relative decrease of the value below which the run has converged.
    memory : int
        Number of steps from which the inverse Hessian is approximated.
    precondition : callable or None
        A fixed approximate inverse Hessian, applied to a gradient. It is rescaled by the last step.
    inverse_at : callable or None
        Point to an approximate inverse Hessian there, used without rescaling; replaces ``precondition``.
    on_step : callable or None
        Called with (iteration, value, point, terms) after each iteration; returning True stops the run.

    Returns
    -------
    Result
        A ``KeyboardInterrupt`` ends the run with the best point so far and status ``INTERRUPTED``.

    Examples
    --------
    >>> found = minimise(lambda x: (float((x**2).sum()), 2 * x, {}), np.array([3.0, -4.0]))
    >>> found.status.name, bool(np.abs(found.point).max() < 1e-3)
    ('CONVERGED', True)
    """
    x = np.array(start, dtype=np.float64)
    n_evaluations, iteration, small, renewed = 0, 0, 0, 0
    pairs: deque[tuple[Array, Array, float]] = deque(maxlen=memory)
    f = np.inf
    try:
        f, g, _ = value_and_grad(x)
        n_evaluations += 1
        for iteration in range(1, max_iter + 1):
            if np.abs(g).max() < _VANISHED:
                return Result(x, f, iteration - 1, n_evaluations, Status.CONVERGED)
            if inverse_at is not None and iteration >= renewed:
                precondition, renewed = inverse_at(x), iteration - iteration % _RENEWED + _RENEWED
            direction = _direction(g, pairs, precondition, scaled=inverse_at is None)
            first = _first_step(direction, pairs) if inverse_at is None else 1.0
            searched = _line_search(value_and_grad, x, f, g, direction, first)
            n_evaluations += searched.n_evaluations
            if searched.step == 0.0:
                if pairs:
                    pairs.clear()  # rounding spoilt the approximation: restart along the gradient
                    continue
                promised = -searched.rise * float(np.vdot(g, direction))
                at_bottom = 2 * promised <= searched.risen and promised <= tolerance * max(abs(f), 1.0)
                return Result(x, f, iteration, n_evaluations, Status.CONVERGED if at_bottom else Status.STALLED)
            step = searched.step * direction
            change = searched.gradient - g
            if (curvature := float(np.vdot(step, change))) > 1e-12 * float(np.vdot(change, change)):
                pairs.append((step, change, curvature))
            decrease = f - searched.value
            x, f, g = x + step, searched.value, searched.gradient
            if on_step is not None and on_step(iteration, f, x, searched.terms):
                return Result(x, f, iteration, n_evaluations, Status.STOPPED)
            small = small + 1 if decrease <= tolerance * max(abs(f), 1.0) else 0
            if small == 2:
                return Result(x, f, iteration, n_evaluations, Status.CONVERGED)
    except KeyboardInterrupt:
        return Result(x, f, iteration, n_evaluations, Status.INTERRUPTED)
    return Result(x, f, max_iter, n_evaluations, Status.ITERATIONS)


def _direction(
    g: Array, pairs: deque[tuple[Array, Array, float]], precondition: Linear | None, *, scaled: bool
) -> Array:
    """Search direction ``-H g`` by the two-loop recursion, begun with the preconditioner (None: the identity)."""
    q = -g
    alphas = []
    for step, change, curvature in reversed(pairs):
        alpha = float(np.vdot(step, q)) / curvature
        alphas.append(alpha)
        q = q - alpha * change
    if precondition is not None:
        q = precondition(q)
    if pairs and scaled:
        _, change, curvature = pairs[-1]
        moved = change if precondition is None else precondition(change)
        q = q * (curvature / float(np.vdot(change, moved)))
    for (step, change, curvature), alpha in zip(pairs, reversed(alphas), strict=True):
        q = q + (alpha - float(np.vdot(change, q)) / curvature) * step
    return q


def _first_step(direction: Array, pairs: deque[tuple[Array, Array, float]]) -> float:
    """First trial step: 1, or at the start of a run the step that moves no point by more than 1."""
    if pairs:
        return 1.0
    longest = float(np.sqrt((direction**2).reshape(len(direction), -1).sum(axis=1)).max())
    return 1.0 / longest


class _Search:
    """Outcome of a line search: step (0: none found), evaluation there, and the shortest step that raised the value."""

    def __init__(self) -> None:
        self.rise, self.risen = np.inf, 0.0
        self.step, self.value, self.n_evaluations = 0.0, np.inf, 0
        self.gradient: Array = np.empty(0)
        self.terms: dict[str, float] = {}


def _line_search(
    value_and_grad: Callable[[Array], tuple[float, Array, dict[str, float]]],
    x: Array,
    f: float,
    g: Array,
    direction: Array,
    step: float,
) -> _Search:
    """Step that satisfies the weak Wolfe conditions, by bisection and doubling (Lewis and Overton).

    If 25 evaluations find none (8 once a step has decreased the value), the best decreasing step is returned.
    """
    slope = float(np.vdot(g, direction))
    found, low, high = _Search(), 0.0, np.inf
    if slope >= 0:
        return found
    for _ in range(25):
        value, gradient, terms = value_and_grad(x + step * direction)
        found.n_evaluations += 1
        if value > f and step < found.rise:
            found.rise, found.risen = step, value - f
        if not np.isfinite(value) or value > f + _C1 * step * slope:
            high = step
        else:
            if value < found.value:
                found.step, found.value, found.gradient, found.terms = step, value, gradient, terms
            if float(np.vdot(gradient, direction)) >= _C2 * slope:
                return found
            low = step
        if found.step and found.n_evaluations >= 8:
            return found
        step = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
    return found
