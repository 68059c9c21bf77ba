r"""Expectation maximisation: one step after the other, each at least as likely as the one before.

    θ_{t+1} = argmax_θ  E[ log p(x, z | θ) | x, θ_t ],      L(θ_{t+1}) ≥ L(θ_t)

A step does both halves and returns the new parameters with the mean log likelihood of the old ones, which the first
half gives for nothing. Where steps are short they can be lengthened (SQUAREM, Varadhan and Roland 2008): two steps give
r = θ₁ - θ₀ and v = (θ₂ - θ₁) - r, and the next step starts from θ₀ + 2a r + a² v, a = |r| / |v|, if that is more likely
than θ₁, and from θ₂ if it is not. So the likelihood never falls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sidelight.base.result import Callback, Record, State, Status

__all__ = ["EMResult", "em", "squared"]

P = TypeVar("P")
Array = npt.NDArray[Any]
_ROUNDING = 1e-9  # of the likelihood: a fall below it is not one


@dataclass(frozen=True)
class EMResult(Generic[P]):
    """Where EM ended; ``log_likelihood`` is that of the parameters before the last step: a lower bound."""

    parameters: P
    log_likelihood: float
    n_iter: int
    status: Status
    history: tuple[Record, ...]

    @property
    def message(self) -> str:
        """The status in words, with the iterations."""
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
        Steps at most.
    tol : float
    callback : callable or None
        Sees a State after each step (``objective`` is minus the log likelihood) and stops the run by returning True.
    extrapolate : callable or None
        Three consecutive parameters to parameters further on (None: there are none), see :func:`squared`.

    Returns
    -------
    EMResult
        ``STALLED``: a step made the likelihood fall by more than rounding, and the parameters are those before it.

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
                run.leap(further)
    except KeyboardInterrupt:
        run.status = Status.INTERRUPTED
    status = run.status or Status.ITERATIONS
    return EMResult(run.parameters, run.value, run.iteration, status, tuple(run.history))


class _Run(Generic[P]):
    """One run: the parameters reached, the likelihood before the last step, and what was told of it."""

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
        """One step from where the run is."""
        new, value = self.step(self.parameters)
        gain = value - self.value
        if not np.isfinite(value) or gain < -_ROUNDING * (1.0 + abs(value)):
            self.parameters, self.status = self._previous, Status.STALLED
            return
        self._take(new, value)
        if gain < self.tol:
            self.status = self.status or Status.CONVERGED

    def leap(self, further: P) -> None:
        """One step from ``further``, kept only where that is more likely than what the run has."""
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


def squared(before: Array, first: Array, second: Array) -> Array | None:
    """The point that three consecutive ones lead to, ``θ₀ + 2a r + a² v``; None where it would not be further on.

    >>> squared(np.array([8.0]), np.array([4.0]), np.array([2.0]))
    array([0.])
    """
    r, v = first - before, (second - first) - (first - before)
    length, bend = float(np.linalg.norm(r)), float(np.linalg.norm(v))
    if bend == 0.0 or length <= bend:
        return None
    a = length / bend
    return np.asarray(before + 2.0 * a * r + a * a * v)
