"""Action respecting embedding: its solver beside SCS and Clarabel, and long random walks.

The program is that of a straight drive there and back on the built-in picture; all contenders get it in the same form,
one unknown a class of distances. Walks go over a square of places with four actions and turn now and then; asked is
where untried actions lead.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from benchmarks.harness import Report, Timing, growth_exponent
from sidelight import ActionRespectingEmbedding
from sidelight.datasets import Imagebot, imagebot
from sidelight.side.actions import as_actions
from sidelight.solvers.interior import solve_interior
from sidelight.unfolding._action_program import (
    ActionProblem,
    action_problem,
    distance_classes,
    find_places,
    neighbours_by_actions,
    place_squares,
    row_squares,
)

TITLE = "action respecting embedding beside SCS and Clarabel, and long walks"
RIVALS = ("cvxpy",)
MOVES = {"forward": (1, 0), "backward": (-1, 0), "left": (0, -1), "right": (0, 1)}


def run(*, quick: bool) -> Report:
    report = Report()
    _race(report, 30 if quick else 60)
    _walks(report, ((5, 200),) if quick else ((7, 500), (10, 1000), (14, 2000)))
    return report


def problem_of(n: int) -> ActionProblem:
    """The program of n places on a line, driven forth and a third of it back."""
    data = imagebot(f"F{n - 1} B{n // 3}", view=40)
    actions = as_actions(data.factors["actions"], len(data.X))
    squares = row_squares(data.X - data.X.mean(axis=0))
    places = find_places(squares, actions, 0.3)
    between = place_squares(squares, places)
    near = neighbours_by_actions(between, places, actions, 1)
    return action_problem(between, near, distance_classes(places, actions), np.empty((0, 3)))


def _race(report: Report, n: int) -> None:
    program: Any = problem_of(n).program
    began = time.perf_counter()
    found = solve_interior(program)
    seconds = time.perf_counter() - began
    report.at_most(f"{n} places: certified gap", abs(found.certificate.gap), 0.01)
    for solver, options in (("CLARABEL", {}), ("SCS", {"eps_abs": 1e-5, "eps_rel": 1e-5, "max_iters": 20_000})):
        value, slow = _generic(program, solver, options)
        report.at_most(f"{n} places: |trace / {solver}'s - 1|", abs(found.value / program.unit / value - 1), 0.01)
        report.faster(f"{n} places", Timing((seconds,)), Timing((slow,)), solver, at_least=1.0)


def _generic(program: Any, solver: str, options: dict[str, Any]) -> tuple[float, float]:
    """Trace and seconds of a generic solver."""
    import cvxpy

    K, g = cvxpy.Variable((program.n, program.n), PSD=True), cvxpy.Variable(len(program.members))
    i, j = program.pairs.T
    squares = cvxpy.diag(K)[i] - 2 * K[i, j] + cvxpy.diag(K)[j]
    held = g[program.row_class] <= program.bounds[: len(program.row_class)]
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(K)), [squares == g[program.tied], held, cvxpy.sum(K) == 0])
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be inaccurate": the traces are compared
        problem.solve(solver=solver, **options)
    return float(problem.value), time.perf_counter() - began


def _walks(report: Report, sizes: tuple[tuple[int, int], ...]) -> None:
    taken = []
    for side, steps in sizes:
        done, visited = walk(side, steps)
        data = Imagebot(view=40).drive(done)
        began = time.perf_counter()
        model = ActionRespectingEmbedding().fit(data.X, actions=data.factors["actions"])
        taken.append(time.perf_counter() - began)
        label = f"{steps:,} steps over {len(model.place_rows_)} places"
        report.at_most(f"{label}: certified gap", abs(model.certificate_["gap"]), 0.01)
        right, asked = untried(model, done, visited)
        report.at_least(f"{label}: untried steps predicted right ({asked})", right, 0.99)
        report.note(f"{label}: seconds of the fit ({model.n_iter_} steps)", taken[-1], unit="s")
    if len(sizes) > 1:
        report.note("growth exponent in steps", growth_exponent([steps for _, steps in sizes], taken))


def walk(side: int, steps: int) -> tuple[list[str], Any]:
    """Actions of a walk inside a square, and the places (steps + 1, 2) it goes through."""
    rng = np.random.default_rng(0)
    here, last = np.array([side // 2, side // 2]), "forward"
    done, visited = [], [here]
    for _ in range(steps):
        able = [name for name, move in MOVES.items() if ((here + move >= 0) & (here + move < side)).all()]
        last = last if last in able and rng.random() < 0.7 else able[rng.integers(len(able))]
        here = here + MOVES[last]
        done.append(last)
        visited.append(here)
    return done, np.array(visited)


def untried(model: Any, done: list[str], visited: Any) -> tuple[float, int]:
    """Share of (place, action) that were never tried, and lead to a place that was seen, predicted right; how many."""
    rows = {tuple(place): row for row, place in reversed(list(enumerate(visited.tolist())))}
    tried = {(*place, action) for place, action in zip(visited.tolist(), done, strict=False)}
    right = [
        model.states_[model.predict_next(row, action)[0]] == model.states_[rows[after]]
        for place, row in rows.items()
        for action, move in MOVES.items()
        if (*place, action) not in tried and (after := (place[0] + move[0], place[1] + move[1])) in rows
    ]
    return (float(np.mean(right)) if right else 1.0), len(right)
