"""Low-rank solver for Gram programs (semidefinite programs in squared distances): augmented Lagrangian and Newton.

    K = V Vᵀ,  V (n, r);   repeat:  V ← argmin f(V; y, ρ),   y ← t(V),   ρ ← 6 ρ where violations do not fall by 4

(Burer and Monteiro 2003.) Each inner problem is solved until its Newton decrement is a small share of the change of the
multipliers, ``Σ (t - y)²/(2ρ)`` (Rockafellar's rule), so that early ones are cheap. After each, the smallest eigenvalue
of the slack matrix gives a dual bound on the optimum (``solvers.certificate``). If it is negative, its eigenvector is
an ascent direction outside the columns of V, and is appended to V. Columns that are nearly 0 are dropped.
Rigid equality rows have no finite multipliers. When penalties reach ``stiffness`` times the first, these rows get a
quadratic slack of that weight, and the result reports it (``Certificate.softened``).
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from sidelight.base.result import Callback, Record, State, Status
from sidelight.base.types import Array

from .certificate import DistanceProgram, Slack, dual_bound, smallest_slack
from .newton import NewtonPoint, NewtonResult, minimise_factor

__all__ = ["Certificate", "GramResult", "solve_gram"]


_FIRST, _GROWTH, _FALL = 10.0, 6.0, 0.25
_STIFFEST, _SHARP = 1e7, 0.03
_STEPS, _ROUNDS = 30, 4  # Newton steps between certificates of an inner problem, and how often it is continued
_EMPTY, _SPARE, _UNBOUNDED = 1e-9, 2, 1e3
_EXPECTED_STAGES = 10


class _Program(DistanceProgram, Protocol):
    """Interface of a program (``objectives.gram.GramProgram``)."""

    def residual(self, V: Array) -> Array: ...

    def augmented(self, V: Array, y: Array, rho: Array, weights: Array | None = None) -> NewtonPoint: ...


@dataclass(frozen=True)
class Certificate:
    """Quality of a solution: ``value ≤ optimum ≤ bound``, up to its violations.

    Parameters
    ----------
    bound : float
        Dual upper bound on the optimum.
    gap : float
        (bound - value) / trace.
    slack : float
        Smallest eigenvalue of S at the multipliers of the bound; 0 or more: they are dual feasible.
    feasibility : float
        Root mean square violation of hard rows, in units of the mean bound.
    worst : float
        Largest violation of a hard row, relative to its own bound.
    softened : bool
        Whether rigid equality rows were given a slack.
    """

    bound: float
    gap: float
    slack: float
    feasibility: float
    worst: float
    softened: bool = False


@dataclass(frozen=True)
class GramResult:
    """Solution of a Gram program.

    Parameters
    ----------
    point : array of shape (n, r)
        V in the units of the bounds, columns along principal axes, the widest first.
    value : float
    multipliers : array of shape (R,)
        Those of the best dual bound.
    certificate : Certificate
    n_iter : int
    status : Status
    history : tuple of Record
    trouble : str
        Message for the user if the program has no solution (unbounded or infeasible), else empty.
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
    """Solve a Gram program in low rank.

    Parameters
    ----------
    program : GramProgram
    start : array of shape (n, r)
        Initial V, in the units of the bounds.
    tolerance : float
        Largest accepted violation (``Certificate.feasibility``).
    gap : float
        Largest accepted relative gap between dual bound and value.
    max_iter : int
        Maximum number of Newton steps over all stages.
    stiffness : float
        Growth of the penalties at which equality rows that did not converge are softened.
    multipliers : array of shape (R,) or None
        Of an earlier result, as a warm start.
    callback : callable or None
        Called with a State after each Newton step; returning True stops the run.

    Returns
    -------
    GramResult
        A ``KeyboardInterrupt`` ends with the best point so far and status ``INTERRUPTED``: the current one, or that of
        an earlier stage if this one has not come as far yet (a new stage may begin with larger violations).
    """
    run = _Run(program, start, multipliers, stiffness, callback)
    if (pieces := program.n_pieces) > 1:
        return run.result(Status.STALLED, f"The rows leave {pieces} pieces that can drift apart: unbounded")
    try:
        return run.solve(tolerance, gap, max_iter)
    except KeyboardInterrupt:
        run.return_to_best()
        return run.result(Status.INTERRUPTED)


class _Run:
    """State of one solve: the point, the multipliers, the penalties and the best bound so far."""

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
        self.kept: Array | None = None  # the best point at the end of a stage
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
            self._keep_best()
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
        """Minimise the augmented Lagrangian over V, and update the multipliers y."""
        y, rho = self.y, self.rho
        floor = 1e-13 * max(float((self.V**2).sum()), 1e-300)

        def enough(point: NewtonPoint) -> float:
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

    def _on_step(self, iteration: int, point: NewtonPoint) -> bool:
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
        """Whether the point set is wider than any chain of distance bounds allows: the program is unbounded."""
        longest = max(1.0, float(np.abs(self.program.bounds).max()))
        return float((self.V**2).sum()) > _UNBOUNDED * longest * self.program.n**3

    def _certify(self) -> Slack | None:
        """Compute the dual bound of the current multipliers, and keep them if it is the best so far."""
        slack = smallest_slack(self.program.laplacian(self.y))
        bound = dual_bound(self.program, self.y, slack, self.weights)
        if slack is not None and bound < self.bound:
            self.bound, self.best, self.slack = bound, self.y / (1.0 + slack.values[0]), float(slack.values[0])
        return slack

    def _merit(self, V: Array) -> float:
        """Value less twice the price of the violations, ``2 Σ |y_r| violation_r`` over hard rows.

        An exact penalty: with the multipliers y of the optimum as prices, no V has a larger merit than the optimum.
        """
        prices = self.best if np.isfinite(self.bound) else self.y
        hard = np.isinf(self.weights)
        broken = self.program.violation(V)[hard]
        return self.program.value(V, self.weights) - 2.0 * float(np.abs(prices)[hard] @ broken)

    def _keep_best(self) -> None:
        if self.kept is None or self._merit(self.V) >= self._merit(self.kept):
            self.kept = self.V

    def return_to_best(self) -> None:
        """Make the best of the current point and the ends of stages the current one."""
        self._keep_best()
        assert self.kept is not None
        self.V = self.kept

    def _disproved(self) -> bool:
        """Whether the dual bound proves infeasibility: it is below 0, which no trace is (if no row has slack)."""
        return self.bound < 0 and bool(np.isinf(self.weights).all())

    def _contradiction(self) -> str:
        """Message if the program is proved infeasible, else "".

        The proof is a dual bound below 0, or Farkas multipliers from the residuals u: ``L(Aᵀu) ⪰ 0`` and ``bᵀu < 0``.
        """
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
        """Adapt the rank: drop all but two nearly empty columns, append ascent directions of the certificate."""
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
        """Certificate of the current point."""
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
        """Result at the current point, in the units of the bounds."""
        unit = self.program.unit
        V = self.V @ np.linalg.eigh(self.V.T @ self.V)[1][:, ::-1] * np.sqrt(unit)
        value = self.program.value(self.V, self.weights) * unit
        done = tuple(self.history)
        return GramResult(V, value, self.best, self.certificate(), self.n_iter, status, done, trouble)


def _shrunk(program: _Program, V: Array) -> Array:
    """Rescale V so that nine of ten rows hold: from a wider initial point the first stage takes many steps."""
    widths = (program.residual(V) + program.bounds) / program.sizes
    known = widths[program.bounds > 0]
    size = float(np.quantile(known, 0.9)) if len(known) else 1.0
    return V / np.sqrt(size) if size > 0 else V
