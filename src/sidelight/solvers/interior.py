r"""Primal-dual interior point method for Gram programs over classes of pairs: exact for any rank of K.

    maximise  Σ_c τ_c g_c - ½ Σ σ s²     K(g) = -½ J D²(g) J ⪰ 0,   g_c - s_c ≤ b_c  (known classes: g_c = b_c)

There is one unknown per class, its squared distance g_c, and ``τ_c = members / n``, since ``tr K`` is the mean over
points of half their squared distances. With P = K⁻¹ on centred vectors, X the slack matrix, y and z = b + y/σ - g, each
step solves (the direction of Helmberg, Rendl, Vanderbei and Wolkowicz, and of Kojima, Shindoh and Hara, Monteiro)

    Σ_d (H_cd + δ_cd y/(z + y/σ)) Δg_d = τ_c + tr(μP M_c) - y_c - (μ - y z)/(z + y/σ),    H_cd = tr(M_c X M_d P)

then ``ΔX = μP - X - sym(X ΔK P)``: a predictor with μ = 0, then a corrector with the μ that it suggests (Mehrotra).
A regular simplex (all points equally far apart) satisfies every class, so it is a feasible interior start.
Cost: about fifteen steps of O(C n³), for a few hundred points. For more, use the low-rank solver ``solve_gram``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import coo_array, csr_array

from sidelight.base.eigenvalues import selected_eigenvalues
from sidelight.base.result import Callback, Record, State, Status
from sidelight.base.types import Array

from .certificate import DistanceProgram, dual_bound, smallest_slack
from .semidefinite import Certificate, GramResult

__all__ = ["interior_cost", "solve_interior"]


_BACK, _PATIENCE, _CHUNK = 0.95, 5, 2**24  # share of the step to the boundary; steps without progress; numbers at once
_IDLE, _BALANCED = 1e-3, 1e-6
_EMPTY = 1e-10  # share of the trace: eigenvalues of K below it count as 0


class _Tied(DistanceProgram, Protocol):
    """Interface of a program (``objectives.action_gram.TiedProgram``): all pairs, in order, with their classes."""

    @property
    def pairs(self) -> Array: ...

    @property
    def tied(self) -> Array: ...

    @property
    def members(self) -> Array: ...

    @property
    def row_class(self) -> Array: ...

    def multipliers_of(self, w: Array) -> Array: ...


def interior_cost(n: int, n_classes: int) -> float:
    """Approximate floating point operations of one step."""
    return 2.0 * n_classes * n**3 + n_classes**3 / 3.0


def solve_interior(
    program: _Tied,
    *,
    tolerance: float = 1e-6,
    gap: float = 1e-6,
    sharp: float = 1e-6,
    max_iter: int = 100,
    callback: Callback | None = None,
) -> GramResult:
    """Solve a tied Gram program by the interior point method.

    Parameters
    ----------
    program : TiedProgram
    tolerance : float
        Largest accepted violation of the known distances.
    gap : float
        Largest accepted relative gap between the dual bound and the value.
    sharp : float
        Iterations continue to this smaller gap while they make progress; rounding may end them before.
    max_iter : int
        Maximum number of steps.
    callback : callable or None
        Called with a State after each step; returning True stops the run.

    Returns
    -------
    GramResult
        As from ``solvers.semidefinite.solve_gram``.
    """
    run = _Run(program, callback)
    if (pieces := program.n_pieces) > 1:
        return run.result(Status.STALLED, f"The rows leave {pieces} pieces that can drift apart: unbounded")
    try:
        return run.solve(tolerance, gap, min(gap, sharp), max_iter)
    except KeyboardInterrupt:
        return run.result(Status.INTERRUPTED)


@dataclass(frozen=True)
class _Step:
    """Changes of g (C,), y (k,) and X (n, n)."""

    g: Array
    y: Array
    X: Array


class _Run:
    """State of one solve: squared distances g (C,) of the classes, slack X (n, n), multipliers y of the bounds."""

    def __init__(self, program: _Tied, callback: Callback | None) -> None:
        self.program, self.callback = program, callback
        self.n, self.i, self.j = program.n, program.pairs[:, 0], program.pairs[:, 1]
        k = len(program.row_class)
        self.fixed = program.row_class[program.equal[:k]]
        at = ~program.equal[:k]
        self.held, self.b, self.sigma = program.row_class[at], program.bounds[:k][at], program.weights[:k][at]
        self.known = program.bounds[:k][~at]
        self.share = program.members / self.n
        ends = np.r_[self.i, self.j], np.r_[self.j, self.i]
        rows = np.r_[program.tied, program.tied] * self.n + ends[0]
        ones = np.ones(len(rows))
        self.stacked = csr_array(coo_array((ones, (rows, ends[1])), shape=(len(program.members) * self.n, self.n)))
        half = np.ones(len(program.tied)), (np.arange(len(program.tied)), program.tied)
        self.classes = csr_array(coo_array(half, shape=(len(program.tied), len(program.members))))
        small = float(self.b.min(initial=np.inf if len(self.known) == 0 else float(self.known.max())))
        self.g = np.full(len(program.members), 0.5 * small)
        self.K = self._gram(self.g)
        self.y = np.full(len(self.b), 1.0)
        self.X = self._centred(np.eye(self.n))
        self.n_iter = 0
        self.history: list[Record] = []
        self.began = time.perf_counter()

    def solve(self, tolerance: float, gap: float, sharp: float, max_iter: int) -> GramResult:
        best, stuck = np.inf, 0
        while True:
            if self._near(tolerance, sharp) and self._within(tolerance, sharp):
                return self.result(Status.CONVERGED)
            if self.n_iter >= max_iter or stuck >= _PATIENCE:
                done = self._within(tolerance, gap)
                end = Status.ITERATIONS if self.n_iter >= max_iter else Status.STALLED
                return self.result(Status.CONVERGED if done else end, "" if done else self._why())
            try:
                moved = self._advance()
            except np.linalg.LinAlgError:  # too close to the boundary for floating point
                stuck = _PATIENCE
                continue
            left = self._off() + self._products()
            closing = self._imbalance() <= _BALANCED or self._near(tolerance, gap)
            gained = left < 0.8 * best if closing else moved > _IDLE
            stuck, best = (0, left) if gained else (stuck + 1, best)
            if self._report():
                return self.result(Status.STOPPED)

    def _within(self, tolerance: float, gap: float) -> bool:
        now = self.certificate()
        return abs(now.gap) <= gap and now.feasibility <= tolerance

    def _advance(self) -> float:
        """One predictor-corrector step; returns the smaller of the primal and dual step lengths."""
        P = self._inverse()
        system = self._system(P)
        mu = self._complementarity(self.K, self.X, self.y, self.g)
        first = system(0.0, None)
        a, c = self._lengths(first)
        K, X = self._gram(self.g + a * first.g), self.X + c * first.X
        ahead = self._complementarity(K, X, self.y + c * first.y, self.g + a * first.g)
        centring = min(1.0, max((max(ahead, 0.0) / mu) ** 2, 1e-3 if min(a, c) > 0.5 else 0.1))
        step = system(centring * mu, first if min(a, c) > 0.2 else None)
        a, c = self._lengths(step)
        self.g = self.g + a * step.g
        self.y, self.X = self.y + c * step.y, self.X + c * step.X
        self.K = self._gram(self.g)
        return min(a, c)

    def _system(self, P: Array) -> Callable[[float, _Step | None], _Step]:
        """Factor the linear system of a step; returns ``(μ, predictor step or None) -> step``."""
        z = self._room(self.y, self.g)
        give = z + self.y / self.sigma
        H = self._curvature(P)
        H[self.held, self.held] += self.y / give
        free = np.setdiff1d(np.arange(len(self.g)), self.fixed)
        inner = H[np.ix_(free, free)]
        inner[np.diag_indices(len(free))] += 1e-13 * float(inner.diagonal().max(initial=0.0))
        factor = cho_factor(inner, lower=True, check_finite=False) if len(free) else None

        def step(mu: float, first: _Step | None) -> _Step:
            second = np.zeros_like(self.y) if first is None else first.y * (first.y / self.sigma - first.g[self.held])
            across = np.zeros_like(P) if first is None else _symmetric(first.X @ self._gram(first.g) @ P)
            target = mu - self.y * z - second
            right = self.share - self._sums(mu * P - across)
            right[self.held] -= self.y + target / give
            dg = np.zeros(len(self.g))
            dg[self.fixed] = self.known - self.g[self.fixed]
            if factor is not None:
                dg[free] = cho_solve(factor, right[free] - H[np.ix_(free, self.fixed)] @ dg[self.fixed])
            dX = mu * P - self.X - _symmetric(self.X @ self._gram(dg) @ P) - across
            return _Step(dg, (target + self.y * dg[self.held]) / give, self._centred(dX))

        return step

    def _curvature(self, P: Array) -> Array:
        """H (C, C), ¼ tr(E_c X E_d P) with E the members of a class."""
        n, C = self.n, len(self.g)
        many = max(1, _CHUNK // n**2)
        flat, back = self.i * n + self.j, self.j * n + self.i
        H = np.empty((C, C))
        for start in range(0, C, many):
            end = min(C, start + many)
            part = np.asarray(self.stacked[start * n : end * n] @ P).reshape(end - start, n, n)
            W = np.matmul(self.X, part).reshape(end - start, n * n)
            H[start:end] = 0.25 * ((W[:, flat] + W[:, back]) @ self.classes)
        return 0.5 * (H + H.T)

    def _lengths(self, step: _Step) -> tuple[float, float]:
        """Primal and dual step lengths that keep K and X positive definite, y positive and the bounds satisfied."""
        a = min(1.0, _BACK * _furthest(self.K, self._gram(step.g)))
        c = min(1.0, _BACK * _furthest(self.X, step.X), _BACK * _ratio(self.y, step.y))
        while (self._room(self.y + c * step.y, self.g + a * step.g) <= 0).any():
            a, c = 0.8 * a, 0.8 * c
        return a, c

    def _room(self, y: Array, g: Array) -> Array:
        return np.asarray(self.b + y / self.sigma - g[self.held])

    def _complementarity(self, K: Array, X: Array, y: Array, g: Array) -> float:
        """Mean complementarity μ: of the products that are 0 at the optimum."""
        products = float(np.vdot(K, X)) + float(y @ self._room(y, g))
        return products / (self.n - 1 + len(y))

    def _inverse(self) -> Array:
        level = float(np.trace(self.K)) / self.n
        factor = cho_factor(self.K + level / self.n, lower=True, check_finite=False)
        return self._centred(cho_solve(factor, np.eye(self.n), check_finite=False))

    def _gram(self, g: Array) -> Array:
        D = np.zeros((self.n, self.n))
        D[self.i, self.j] = g[self.program.tied]
        return self._centred(-0.5 * (D + D.T))

    def _centred(self, M: Array) -> Array:
        M = M - M.mean(axis=0)
        M = M - M.mean(axis=1, keepdims=True)
        return np.asarray(0.5 * (M + M.T))

    def _sums(self, M: Array) -> Array:
        """``-tr(M M_c)`` (C,) for a centred symmetric M: sums over the members of a class."""
        return np.bincount(self.program.tied, M[self.i, self.j], len(self.g))

    def _near(self, tolerance: float, gap: float) -> bool:
        """Whether the point may satisfy the stopping rule, so that a certificate (expensive) is worth computing."""
        return self._off() <= tolerance and self._products() <= gap * float(np.trace(self.K))

    def _off(self) -> float:
        """Largest violation of the known squared distances."""
        return float(np.abs(self.g[self.fixed] - self.known).max(initial=0.0))

    def _imbalance(self) -> float:
        """Dual infeasibility: largest residual of the dual equations, relative to each class's share."""
        rest = self.share - self._sums(self.X)
        rest[self.held] -= self.y
        rest[self.fixed] = 0.0
        return float(np.abs(rest / self.share).max())

    def _products(self) -> float:
        """Duality gap, valid where the multipliers are dual feasible."""
        return self._complementarity(self.K, self.X, self.y, self.g) * (self.n - 1 + len(self.y))

    def _report(self) -> bool:
        self.n_iter += 1
        unit, trace, products = self.program.unit, float(np.trace(self.K)), self._products()
        terms = {"trace": trace * unit, "bound": (trace + products) * unit}
        record = Record(
            0,
            products / (self.n - 1 + len(self.y)),
            self.n_iter,
            -trace * unit,
            terms,
            time.perf_counter() - self.began,
        )
        self.history.append(record)
        if self.callback is None:
            return False
        return bool(self.callback(State(**vars(record), n_stages=1, point=self.factor() * np.sqrt(unit))))

    def _why(self) -> str:
        if self._off() > 1e-3:
            return "The rows contradict each other: no point set keeps to the known distances"
        return ""

    def factor(self) -> Array:
        """Point set V (n, r) with ``V Vᵀ = K``, principal axes, widest first."""
        values, vectors = np.linalg.eigh(self.K)
        used = values > _EMPTY * max(float(values.sum()), 1e-300)
        return np.asarray((vectors[:, used] * np.sqrt(values[used]))[:, ::-1])

    def multipliers(self) -> Array:
        """Multipliers of all rows of the program.

        Off its diagonal the slack matrix is ``1/n - w``, w the weights on the pairs.
        """
        return self.program.multipliers_of(1.0 / self.n - self.X[self.i, self.j])

    def certificate(self) -> Certificate:
        """Certificate of the current point, by the same dual bound as in the low-rank solver."""
        program, V, y = self.program, self.factor(), self.multipliers()
        y = np.where(program.equal, y, np.maximum(y, 0.0))
        slack = smallest_slack(program.laplacian(y))
        bound = dual_bound(program, y, slack, program.weights)
        hard = np.isinf(program.weights)
        broken = program.violation(V)
        rms = float(np.sqrt((broken[hard] ** 2).mean())) if hard.any() else 0.0
        worst = float((broken / program.sizes)[hard].max(initial=0.0))
        trace = float((V**2).sum())
        gap = (bound - program.value(V)) / trace if trace > 0 else np.inf
        low = -np.inf if slack is None else float(slack.values[0])
        return Certificate(bound * program.unit, float(gap), low, rms, worst)

    def result(self, status: Status, trouble: str = "") -> GramResult:
        """Result at the current point, in the units of the bounds."""
        V, unit = self.factor(), self.program.unit
        done = tuple(self.history)
        value = self.program.value(V) * unit
        V = V * np.sqrt(unit)
        return GramResult(V, value, self.multipliers(), self.certificate(), self.n_iter, status, done, trouble)


def _symmetric(M: Array) -> Array:
    return np.asarray(0.5 * (M + M.T))


def _ratio(y: Array, dy: Array) -> float:
    """Largest step t for which ``y + t dy`` is not negative; inf if there is none."""
    falls = dy < 0
    return float((-y[falls] / dy[falls]).min(initial=np.inf))


def _furthest(M: Array, dM: Array) -> float:
    """Largest step t for which ``M + t dM`` is positive semidefinite on centred vectors; inf if there is none."""
    level = float(np.trace(M)) / len(M)
    lowest = float(selected_eigenvalues(dM, 0, 0, M + level / len(M))[0])
    return -1.0 / lowest if lowest < 0 else np.inf
