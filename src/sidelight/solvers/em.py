r"""Expectation maximisation (EM), optionally accelerated (SQUAREM); the likelihood never falls.

    θ_{t+1} = argmax_θ  E[ log p(x, z | θ) | x, θ_t ],      L(θ_{t+1}) ≥ L(θ_t)

A step does E and M and returns the new parameters with the mean log likelihood of the old ones, a by-product of the
E step. Slow convergence can be accelerated by extrapolation (SQUAREM, Varadhan and Roland 2008): two steps give
r = θ₁ - θ₀ and v = (θ₂ - θ₁) - r. The next step starts from θ₀ + 2a r + a² v, a = |r| / |v|, if that is at least as
likely as θ₁, and else from θ₂.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from sidelight.base.result import Callback, Record, State, Status
from sidelight.base.types import Array

__all__ = ["EMResult", "em", "squarem_extrapolation"]

P = TypeVar("P")

_ROUNDING = 1e-9  # relative fall of the likelihood that is put down to rounding


@dataclass(frozen=True)
class EMResult(Generic[P]):
    """Result of EM; ``log_likelihood`` is that of the parameters before the last step, so a lower bound."""

    parameters: P
    log_likelihood: float
    n_iter: int
    status: Status
    history: tuple[Record, ...]

    @property
    def message(self) -> str:
        """Status and number of iterations as text."""
        return f"{self.status.value} after {self.n_iter} iterations"


def em(
    step: Callable[[P], tuple[P, float]],
    start: P,
    *,
    max_iter: int,
    tol: float,
    callback: Callback | None = None,
    extrapolate: Callable[[P, P, P], P | None] | None = None,
) -> EMResult[P]:
    """Repeat ``step`` until a step gains less than ``tol`` (mean log likelihood per row).

    Parameters
    ----------
    step : callable
        Parameters to (new parameters, mean log likelihood of the old ones).
    start : parameters
    max_iter : int
        Maximum number of steps.
    tol : float
        Converged when a step gains less.
    callback : callable or None
        Called with a State after each step (``objective`` is minus the log likelihood); returning True stops the run.
    extrapolate : callable or None
        Three consecutive parameters to extrapolated ones, or None where that is not possible; see :func:`squared`.

    Returns
    -------
    EMResult
        Status ``STALLED``: a step lowered the likelihood by more than rounding; the parameters before it are returned.

    Examples
    --------
    >>> found = em(lambda mean: (0.5 * mean + 1.0, -((mean - 2.0) ** 2)), 10.0, max_iter=100, tol=1e-9)
    >>> found.status.name, round(found.parameters, 3)
    ('CONVERGED', 2.0)
    """
    run = _Run(step, start, tol, callback)
    try:
        while run.status is None and run.iteration < max_iter:
            before = run.parameters
            run.advance()
            if extrapolate is None or run.status is not None or run.iteration + 2 > max_iter:
                continue
            first = run.parameters
            run.advance()
            if run.status is None and (further := extrapolate(before, first, run.parameters)) is not None:
                run.try_extrapolated(further)
    except KeyboardInterrupt:
        run.status = Status.INTERRUPTED
    status = run.status or Status.ITERATIONS
    return EMResult(run.parameters, run.value, run.iteration, status, tuple(run.history))


class _Run(Generic[P]):
    """State of one run: current parameters, likelihood before the last step, and history."""

    def __init__(
        self,
        step: Callable[[P], tuple[P, float]],
        start: P,
        tol: float,
        callback: Callback | None,
    ) -> None:
        self.step, self.parameters, self.tol, self.callback = step, start, tol, callback
        self.value, self.iteration, self.began = -np.inf, 0, time.perf_counter()
        self.status: Status | None = None
        self.history: list[Record] = []
        self._previous = start

    def advance(self) -> None:
        """One EM step from the current parameters."""
        new, value = self.step(self.parameters)
        gain = value - self.value
        if not np.isfinite(value) or gain < -_ROUNDING * (1.0 + abs(value)):
            self.parameters, self.status = self._previous, Status.STALLED
            return
        self._take(new, value)
        if gain < self.tol:
            self.status = self.status or Status.CONVERGED

    def try_extrapolated(self, further: P) -> None:
        """One EM step from the extrapolated parameters ``further``; rejected if these are less likely."""
        new, value = self.step(further)
        if np.isfinite(value) and value >= self.value:
            self.parameters = further
            self._take(new, value)

    def _take(self, new: P, value: float) -> None:
        self._previous, self.parameters, self.value = self.parameters, new, value
        self.iteration += 1
        seconds = time.perf_counter() - self.began
        known = {"stage": 0, "regularization": 0.0, "iteration": self.iteration, "objective": -value}
        terms = {"log_likelihood": value}
        self.history.append(Record(**known, terms=terms, seconds=seconds))  # type: ignore[arg-type]
        if self.callback is None:
            return
        state = State(**known, terms=terms, seconds=seconds, n_stages=1, point=np.empty(0))  # type: ignore[arg-type]
        if self.callback(state):
            self.status = Status.STOPPED


def squarem_extrapolation(before: Array, first: Array, second: Array) -> Array | None:
    """SQUAREM extrapolation ``θ₀ + 2a r + a² v`` from three consecutive iterates; None where a ≤ 1 or v = 0.

    >>> squarem_extrapolation(np.array([8.0]), np.array([4.0]), np.array([2.0]))
    array([0.])
    """
    r, v = first - before, (second - first) - (first - before)
    length, bend = float(np.linalg.norm(r)), float(np.linalg.norm(v))
    if bend == 0.0 or length <= bend:
        return None
    a = length / bend
    return np.asarray(before + 2.0 * a * r + a * a * v)
