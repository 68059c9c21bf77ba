"""Semidefinite embedding: the low-rank solver beside SCS and Clarabel (through cvxpy), its growth, and landmarks.

Swiss rolls, the default of twelve mutual neighbours and the rows that share one, distances not exceeded. All contenders
get the same program. Feasibility is the root mean square violation of the squared distances in units of their mean,
measured by us for everyone. The generic solvers run once (they take minutes), at the tolerance that reaches our
feasibility.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.harness import Report, Timing, growth_exponent
from sidelight import SemidefiniteEmbedding
from sidelight.datasets import Dataset, swiss_roll
from sidelight.evaluate import recovery
from sidelight.solvers.semidefinite import GramResult, solve_gram
from sidelight.unfolding._semidefinite_problem import SemidefiniteProblem, semidefinite_problem

TITLE = "semidefinite embedding beside SCS and Clarabel, and how it grows"
RIVALS = ("cvxpy",)


def run(*, quick: bool) -> Report:
    report = Report()
    for n in (40,) if quick else (40, 60):
        _against_oracle(report, n)
    rival = _race(report, 100 if quick else 200)
    _growth(report, (100, 200) if quick else (200, 500, 1000, 2000), rival)
    _spectrum(report, 400 if quick else 1000)
    _landmarks(report, 2100 if quick else 10_000, 200 if quick else 1000)
    return report


def problem_of(n: int) -> SemidefiniteProblem:
    """The program of a swiss roll."""
    X = swiss_roll(n, random_state=0).X
    k = SemidefiniteEmbedding().n_neighbors
    return semidefinite_problem(X - X.mean(axis=0), k, None, equality=False, n_jobs=1)


def ours(problem: SemidefiniteProblem) -> tuple[GramResult, float]:
    """Our answer and its seconds."""
    began = time.perf_counter()
    found = solve_gram(problem.program, problem.start)
    return found, time.perf_counter() - began


def generic(problem: SemidefiniteProblem, solver: str, **options: Any) -> tuple[float, float, float]:
    """Trace, feasibility and seconds of a generic solver."""
    import cvxpy

    program = problem.program
    i, j = program.pairs.T
    K = cvxpy.Variable((program.n, program.n), PSD=True)
    rules = [cvxpy.sum(K) == 0, cvxpy.diag(K)[i] + cvxpy.diag(K)[j] - 2 * K[i, j] <= program.bounds]
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": that is what feasibility says
        cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(K)), rules).solve(solver=solver, **options)
    seconds = time.perf_counter() - began
    G = K.value
    broken = np.maximum(G[i, i] + G[j, j] - 2 * G[i, j] - program.bounds, 0.0)
    return float(np.trace(G)) * program.unit, float(np.sqrt((broken**2).mean())), seconds


def _against_oracle(report: Report, n: int) -> None:
    problem = problem_of(n)
    found, seconds = ours(problem)
    best, _, slow = generic(problem, "CLARABEL")
    report.at_most(f"{n} rows: |trace / Clarabel's - 1|", abs(found.value / best - 1), 0.01)
    report.at_least(f"{n} rows: smallest eigenvalue of the slack", found.certificate.slack, -1e-2)
    report.at_least(f"{n} rows: bound / Clarabel's trace", found.certificate.bound / best, 1 - 1e-6)
    report.note(f"{n} rows: seconds", seconds, unit="s", rival=slow, rival_name="Clarabel", ratio=slow / seconds)


def _race(report: Report, n: int) -> float:
    """Ours and SCS to the same feasibility; return SCS's seconds."""
    problem = problem_of(n)
    found, seconds = ours(problem)
    report.at_most(f"{n} rows: feasibility", found.certificate.feasibility, 1e-4)
    report.at_most(f"{n} rows: certified gap", abs(found.certificate.gap), 0.01)
    for accuracy in (1e-4, 1e-5, 1e-6):
        trace, broken, slow = generic(problem, "SCS", eps_abs=accuracy, eps_rel=accuracy, max_iters=20_000)
        mine = {"feasibility": found.certificate.feasibility, "trace / bound": found.value / found.certificate.bound}
        theirs = {"feasibility": broken, "trace / bound": trace / found.certificate.bound}
        for what, number in mine.items():
            name = f"SCS at {accuracy:g}"
            report.note(f"{n} rows: {what}, beside {name}", number, rival=theirs[what], rival_name=name)
        if broken <= 1e-4:
            break
    report.faster(f"{n} rows: to feasibility 1e-4", Timing((seconds,)), Timing((slow,)), "SCS", at_least=1.0)
    return slow


def _growth(report: Report, sizes: tuple[int, ...], rival: float) -> None:
    taken = []
    for n in sizes:
        found, seconds = ours(problem_of(n))
        taken.append(seconds)
        report.at_most(f"{n} rows: certified gap", abs(found.certificate.gap), 0.01)
        report.at_most(f"{n} rows: feasibility", found.certificate.feasibility, 1e-4)
        report.note(f"{n} rows: seconds ({found.n_iter} steps)", seconds, unit="s")
    report.at_most(f"{sizes[-1]} rows: seconds / those of SCS above", taken[-1] / rival, 10.0)
    report.note(f"growth exponent, {sizes[0]} to {sizes[-1]} rows", growth_exponent(sizes, taken))


def _spectrum(report: Report, n: int) -> None:
    """The share of the first two eigenvalues, for both forms."""
    data = swiss_roll(n, random_state=0)
    for equality in (False, True):
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # equalities are rigid, and the model says so
            model = SemidefiniteEmbedding(equality=equality, max_iter=300).fit(data.X)
        seconds = time.perf_counter() - began
        form = "equal" if equality else "not exceeded"
        share = float(model.explained_[:2].sum())
        if equality:
            report.note(f"{n} rows, {form}: first two eigenvalues", share)
        else:
            report.at_least(f"{n} rows, {form}: first two eigenvalues", share, 0.99)
        report.note(f"{n} rows, {form}: certified gap", model.certificate_["gap"])
        report.note(f"{n} rows, {form}: feasibility", model.certificate_["feasibility"])
        report.note(f"{n} rows, {form}: recovery of arc and height, the worse", _recovered(model, data))
        report.note(f"{n} rows, {form}: seconds of the fit", seconds, unit="s")


def _landmarks(report: Report, n: int, n_landmarks: int) -> None:
    data = swiss_roll(n, random_state=0)
    began = time.perf_counter()
    model = SemidefiniteEmbedding(n_landmarks=n_landmarks).fit(data.X)
    label = f"{n} rows, {n_landmarks} landmarks"
    report.note(f"{label}: seconds of the fit", time.perf_counter() - began, unit="s")
    report.at_most(f"{label}: certified gap", abs(model.certificate_["gap"]), 0.01)
    report.at_least(f"{label}: first two eigenvalues", float(model.explained_[:2].sum()), 0.99)
    report.note(f"{label}: recovery of arc and height, the worse", _recovered(model, data))


def _recovered(model: SemidefiniteEmbedding, data: Dataset) -> float:
    return min(recovery(model.embedding_, data.factors[name]) for name in ("arc", "height"))
