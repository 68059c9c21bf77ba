"""Gram programs in low rank: augmented Lagrangian, Newton inside, rank by certificate.

    K = V Vᵀ,  V (n, r);   repeat:  V ← argmin f(V; y, ρ),   y ← t(V),   ρ ← 6 ρ where violations do not fall by 4

(Burer and Monteiro 2003.) Each inner problem is solved until its decrement is a small share of what the multipliers
moved, ``Σ (t - y)²/(2ρ)`` (Rockafellar's rule), so that early ones cost little. After each, the smallest eigenvalue of
the slack matrix gives a bound on the optimum (``certificate``); its vector, where it is negative, is a way up that V
has no column for, and becomes one. Columns that have emptied are dropped.
Equality rows that are rigid have no finite multipliers; when penalties reach ``stiffness`` times the first, they get
a quadratic slack of that weight, and the answer says so.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.sparse import csc_array

from sidelight.base.result import Callback, Record, State, Status

from .certificate import Slack, dual_bound, smallest_slack
from .newton import NewtonResult, minimise_factor

__all__ = ["Certificate", "GramResult", "solve_gram"]

Array = npt.NDArray[Any]
_FIRST, _GROWTH, _FALL = 10.0, 6.0, 0.25
_STIFFEST, _SHARP = 1e7, 0.03
_STEPS, _ROUNDS = 30, 4  # an inner problem is looked at every 30 steps, and left after four times that
_EMPTY, _SPARE, _UNBOUNDED = 1e-9, 2, 1e3
_EXPECTED_STAGES = 10


class _Program(Protocol):
    """What the solver asks of a program (``objectives.gram.GramProgram``)."""

    @property
    def n(self) -> int: ...

    @property
    def bounds(self) -> Array: ...

    @property
    def equal(self) -> Array: ...

    @property
    def weights(self) -> Array: ...

    @property
    def unit(self) -> float: ...

    @property
    def sizes(self) -> Array: ...

    @property
    def n_pieces(self) -> int: ...

    def residual(self, V: Array) -> Array: ...

    def violation(self, V: Array) -> Array: ...

    def laplacian(self, y: Array) -> csc_array: ...

    def dual_value(self, y: Array, weights: Array | None = None) -> float: ...

    def value(self, V: Array, weights: Array | None = None) -> float: ...

    def augmented(self, V: Array, y: Array, rho: Array, weights: Array | None = None) -> Any: ...


@dataclass(frozen=True)
class Certificate:
    """How good an answer is: ``value ≤ optimum ≤ bound`` up to its violations.

    ``gap`` is (bound - value) / trace; ``slack`` the smallest eigenvalue of S at the multipliers of the bound (0 or
    more: dual feasible as they are); ``feasibility`` the root mean square violation of hard rows in units of the mean
    bound, and ``worst`` the largest relative to its own bound. ``softened``: rigid equality rows were given a slack.
    """

    bound: float
    gap: float
    slack: float
    feasibility: float
    worst: float
    softened: bool = False


@dataclass(frozen=True)
class GramResult:
    """V (n, r) in the units of the bounds, principal axes first; multipliers (R,) of the bound; how it ended.

    ``trouble`` is a sentence where the program has no answer: unbounded, or contradicting itself.
    """

    point: Array
    value: float
    multipliers: Array
    certificate: Certificate
    n_iter: int
    status: Status
    history: tuple[Record, ...]
    trouble: str = ""


def solve_gram(
    program: _Program,
    start: Array,
    *,
    tolerance: float = 1e-4,
    gap: float = 1e-2,
    max_iter: int = 1000,
    stiffness: float = 1e4,
    multipliers: Array | None = None,
    callback: Callback | None = None,
) -> GramResult:
    """Solve from ``start`` (n, r), in the units of the bounds, to a violation and a certified gap.

    ``stiffness`` is where equality rows that did not converge are softened, ``max_iter`` counts the Newton steps of all
    stages, ``multipliers`` of an earlier result are a warm start.
    A ``KeyboardInterrupt`` ends with the best point so far and status ``INTERRUPTED``.
    """
    run = _Run(program, start, multipliers, stiffness, callback)
    if (pieces := program.n_pieces) > 1:
        return run.result(Status.STALLED, f"The rows leave {pieces} pieces that can drift apart: unbounded")
    try:
        return run.solve(tolerance, gap, max_iter)
    except KeyboardInterrupt:
        return run.result(Status.INTERRUPTED)


class _Run:
    """One solve: the point, the multipliers, the penalties and the best bound so far."""

    def __init__(
        self, program: _Program, start: Array, multipliers: Array | None, stiffness: float, callback: Callback | None
    ) -> None:
        self.program, self.callback, self.stiffness = program, callback, stiffness
        V = np.array(start, dtype=np.float64) / np.sqrt(program.unit)
        self.V = _shrunk(program, V - V.mean(axis=0))
        self.y = np.zeros(len(program.bounds)) if multipliers is None else np.array(multipliers, dtype=np.float64)
        self.weights = np.array(program.weights, dtype=np.float64)
        trace = max(float((self.V**2).sum()), 1e-3 * program.n)
        self.tension = trace / len(program.bounds)
        self.factor = _FIRST if multipliers is None else 100.0 * _FIRST
        self.bound, self.best, self.slack = np.inf, self.y, -np.inf
        self.softened, self.stage, self.n_iter = False, 0, 0
        self.history: list[Record] = []
        self.began = time.perf_counter()

    @property
    def rho(self) -> Array:
        return np.asarray(self.factor * self.tension / self.program.sizes)

    def solve(self, tolerance: float, gap: float, max_iter: int) -> GramResult:
        before, stuck, rounds = np.inf, 0, 0
        while True:
            y, found = self.y, self._inner(max_iter - self.n_iter)
            if self._ran_away():
                return self.result(Status.STALLED, "The points run away from each other: unbounded")
            if found.stopped:
                return self.result(Status.STOPPED)
            slack = self._certify()
            now = self.certificate()
            kept = now.softened or now.feasibility <= tolerance
            if kept and abs(now.gap) <= gap:
                return self.result(Status.CONVERGED)
            if self.n_iter >= max_iter:
                return self.result(Status.ITERATIONS)
            rounds = 0 if found.converged or rounds == _ROUNDS else rounds + 1
            if rounds:  # the same inner problem goes on: multipliers of an unsolved one are noise times ρ
                self.y = y
                continue
            stuck = stuck + 1 if now.feasibility > max(0.8 * before, tolerance) else 0
            if (stuck >= 3 or self._disproved()) and (trouble := self._contradiction()):
                return self.result(Status.STALLED, trouble)
            if (stuck >= 8 and not self.softened) or self.stage > 60:
                return self.result(Status.STALLED)
            self._tighten(now.feasibility > _FALL * before or now.feasibility <= tolerance)
            self._fit_rank(slack, found.converged, gap)
            before, self.stage = now.feasibility, self.stage + 1

    def _inner(self, max_iter: int) -> NewtonResult:
        """V at the minimum of the augmented Lagrangian, y its multipliers."""
        y, rho = self.y, self.rho
        floor = 1e-13 * max(float((self.V**2).sum()), 1e-300)

        def enough(point: Any) -> float:
            return max(_SHARP * float(((point.multipliers - y) ** 2 / (2 * rho)).sum()), floor)

        found = minimise_factor(
            lambda V: self.program.augmented(V, y, rho, self.weights),
            self.V,
            enough=enough,
            max_iter=max(1, min(_STEPS, max_iter)),
            on_step=self._on_step,
        )
        self.V, self.y = found.point.V, found.point.multipliers
        return found

    def _on_step(self, iteration: int, point: Any) -> bool:
        self.V = point.V
        self.n_iter += 1
        terms = {"trace": float((point.V**2).sum()) * self.program.unit, "bound": self.bound * self.program.unit}
        seconds = time.perf_counter() - self.began
        value = float(point.value) * self.program.unit
        record = Record(self.stage, float(self.factor * self.tension), iteration, value, terms, seconds)
        self.history.append(record)
        if self.callback is None or self._ran_away():
            return self._ran_away()
        stages = max(_EXPECTED_STAGES, self.stage + 2)
        return bool(self.callback(State(**vars(record), n_stages=stages, point=point.V * np.sqrt(self.program.unit))))

    def _ran_away(self) -> bool:
        """Whether the points are wider than any chain of rows holds them."""
        longest = max(1.0, float(np.abs(self.program.bounds).max()))
        return float((self.V**2).sum()) > _UNBOUNDED * longest * self.program.n**3

    def _certify(self) -> Slack | None:
        """Keep the multipliers if they give the best bound so far."""
        slack = smallest_slack(self.program.laplacian(self.y))
        bound = dual_bound(self.program, self.y, slack, self.weights)
        if slack is not None and bound < self.bound:
            self.bound, self.best, self.slack = bound, self.y / (1.0 + slack.values[0]), float(slack.values[0])
        return slack

    def _disproved(self) -> bool:
        """No trace is below 0: a bound that is says that there is no point set (where no row has slack)."""
        return self.bound < 0 and bool(np.isinf(self.weights).all())

    def _contradiction(self) -> str:
        """A sentence if a bound below 0 proves it, or the residuals u: ``L(Aᵀu) ⪰ 0`` and ``bᵀu < 0``."""
        hard = np.isinf(self.weights)
        c = self.program.residual(self.V)
        u = np.where(hard, np.where(self.program.equal, c, np.maximum(c, 0.0)), 0.0)
        if not self._disproved():
            slack, below = smallest_slack(self.program.laplacian(u)), float(self.program.bounds @ u)
            if slack is None or below >= 0:
                return ""
            room = -min(float(slack.values[0]) + 1.0, 0.0) * float((self.V**2).sum())
            if room > 0.1 * -below:
                return ""
        worst = int(np.argmax(np.abs(u)))
        return f"The rows contradict each other (row {worst} most): no point set of this size keeps to them"

    def _tighten(self, needed: bool) -> None:
        if not needed:
            return
        hard = self.program.equal & np.isinf(self.weights)
        if hard.any() and self.factor >= self.stiffness * _FIRST:
            self.weights = np.where(hard, self.rho, self.weights)
            self.softened, self.bound = True, np.inf
        elif self.factor < _STIFFEST * _FIRST and not self.softened:
            self.factor *= _GROWTH

    def _fit_rank(self, slack: Slack | None, converged: bool, gap: float) -> None:
        """Drop empty columns but two; where the certificate shows a way up, give it a column."""
        squares = (self.V**2).sum(axis=0)
        filled = int((squares > _EMPTY * squares.sum()).sum())
        self.V = self.V[:, : filled + _SPARE]
        if slack is None or not converged or slack.values[0] > -0.5 * gap:
            return
        up = slack.vectors[:, slack.values < -0.5 * gap]
        room = max(0, self.program.n - 1 - self.V.shape[1])
        small = 1e-2 * np.sqrt(squares.sum())
        self.V = np.hstack([self.V, small * up[:, :room]])

    def certificate(self) -> Certificate:
        """Of the point as it is."""
        program, V = self.program, self.V
        value = program.value(V, self.weights)
        hard = np.isinf(program.weights)
        broken = program.violation(V)
        rms = float(np.sqrt((broken[hard] ** 2).mean())) if hard.any() else 0.0
        worst = float((broken / program.sizes)[hard].max(initial=0.0))
        trace = float((V**2).sum())
        gap = (self.bound - value) / trace if trace > 0 else np.inf
        return Certificate(self.bound * program.unit, float(gap), self.slack, rms, worst, self.softened)

    def result(self, status: Status, trouble: str = "") -> GramResult:
        """What there is, in the units of the bounds."""
        unit = self.program.unit
        V = self.V @ np.linalg.eigh(self.V.T @ self.V)[1][:, ::-1] * np.sqrt(unit)
        value = self.program.value(self.V, self.weights) * unit
        done = tuple(self.history)
        return GramResult(V, value, self.best, self.certificate(), self.n_iter, status, done, trouble)


def _shrunk(program: _Program, V: Array) -> Array:
    """A start at which nine of ten rows hold: from a wider one the first stage takes many steps."""
    widths = (program.residual(V) + program.bounds) / program.sizes
    known = widths[program.bounds > 0]
    size = float(np.quantile(known, 0.9)) if len(known) else 1.0
    return V / np.sqrt(size) if size > 0 else V
