"""Our L-BFGS beside SciPy's, and our multigrid cycle beside pyamg's, on the problems they are there for.

L-BFGS: the whole annealed path of an information embedding (1,000 rows, default settings), the same stages, stopping
rule (relative decrease of the objective below the tolerance) and memory. SciPy takes no preconditioner, so it runs
twice: as it is, and in variables u with Z = S u, S Sᵀ the preconditioner. Evaluations do not depend on the load of the
machine.

Multigrid: (L + diag(h)) x = g for the attraction of a fitted map of digits, whose weights change with every renewal of
the optimiser's inverse: so a solver pays for new weights again and again, and once for the pattern. A cycle is judged
as the optimiser uses it, as a preconditioner: iterations of conjugate gradients to a residual of 1e-6, and seconds for
new weights and for a cycle.
"""

from __future__ import annotations

import importlib.util
import time
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import LinearOperator, cg

from benchmarks.harness import Report
from benchmarks.large_maps import digits
from sidelight import datasets
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.kernels.matrices import adaptive_kernel
from sidelight.kernels.profiles import profile
from sidelight.maps.frames import Frame
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.neighbours.search import nearest
from sidelight.objectives.entropy import EntropySum, information
from sidelight.objectives.evaluation import penalised
from sidelight.objectives.penalties import Stretch
from sidelight.solvers.anneal import best_size, geometric
from sidelight.solvers.eigen import GraphSpectrum, graph_spectrum, landmark_scaling
from sidelight.solvers.lbfgs import minimise
from sidelight.solvers.levels import levels_of
from sidelight.solvers.multigrid import DIRECT, Hierarchy

TITLE = "our L-BFGS and SciPy's, our multigrid cycle and pyamg's"
RIVALS = ("SciPy L-BFGS-B", "pyamg (if installed)")
TOLERANCE, MEMORY, MAX_ITER = 1e-6, 12, 500
SHIFT = 1e-2


def run(*, quick: bool) -> Report:
    report = Report()
    n = 300 if quick else 1000
    sets = {
        "S-curve": lambda: datasets.s_curve(n, random_state=0).X,
        "swiss roll": lambda: datasets.swiss_roll(n, random_state=0).X,
        "digits": lambda: _digits(n),
    }
    for name, load in sets.items():
        _paths(report, name, np.asarray(load(), dtype=np.float64))
    _multigrid(report, _digits(500) if quick else digits(20_000)[0])
    return report


def _digits(n: int) -> Any:
    from sklearn.datasets import load_digits

    return load_digits().data[:n]


def _paths(report: Report, name: str, X: Any) -> None:
    """Evaluations of a whole path by each solver, and where it ends."""
    points = Frame.of(X).points(X)
    kernel = perplexity_kernel(points, 30.0, 15, n_jobs=1)
    entropies = EntropySum(information(kernel.matrix), profile("gaussian"), n_jobs=1)
    objective_at = penalised({"-I": (1.0, entropies)}, Stretch(kernel.matrix))
    schedule = geometric(3.0, 0.1, 0.5)
    spectrum = graph_spectrum(kernel.matrix, 64)
    rows, D = landmark_distances(points, kernel.graph, n_jobs=1)
    start = best_size(objective_at(schedule[0]), landmark_scaling(D, rows, 2))
    found = {
        "ours": _ours(objective_at, schedule, start, spectrum.precondition),
        "ours, no preconditioner": _ours(objective_at, schedule, start, None),
        "SciPy": _scipy(objective_at, schedule, start, None),
        "SciPy in preconditioned variables": _scipy(objective_at, schedule, start, spectrum),
    }
    evaluations, value = found["ours"]
    for rival, (theirs, end) in list(found.items())[1:]:
        what = f"{name} ({len(X)} rows): evaluations of a path"
        report.note(what, evaluations, rival=theirs, rival_name=rival, ratio=theirs / evaluations)
        report.note(f"{name}: objective at its end", value, rival=end, rival_name=rival)


def _ours(objective_at: Any, schedule: list[float], start: Any, precondition: Any) -> tuple[int, float]:
    point, count, value = start, 0, np.inf
    for stage, weight in enumerate(schedule):
        last = stage == len(schedule) - 1
        found = minimise(
            objective_at(weight),
            point,
            max_iter=MAX_ITER,
            tolerance=TOLERANCE if last else 10 * TOLERANCE,
            memory=MEMORY,
            precondition=precondition,
        )
        point, count, value = found.point, count + found.n_evaluations, found.value
    return count, float(value)


def _scipy(objective_at: Any, schedule: list[float], start: Any, spectrum: GraphSpectrum | None) -> tuple[int, float]:
    forward, backward, gradient = _variables(spectrum, start.shape)
    u, count, value = backward(start), 0, np.inf
    for stage, weight in enumerate(schedule):
        value_and_grad = objective_at(weight)

        def call(u: Any, f: Any = value_and_grad) -> tuple[float, Any]:
            found = f(forward(u))
            return found[0], gradient(found[1])

        tolerance = TOLERANCE if stage == len(schedule) - 1 else 10 * TOLERANCE
        options = {"maxiter": MAX_ITER, "maxcor": MEMORY, "ftol": tolerance, "gtol": 0.0, "maxfun": 10**6}
        found = minimize(call, u, jac=True, method="L-BFGS-B", options=options)
        u, count, value = found.x, count + found.nfev, found.fun
    return count, float(value)


def _variables(spectrum: GraphSpectrum | None, shape: tuple[int, int]) -> tuple[Any, Any, Any]:
    """From u to Z, back, and gradients to u: Z = D^(-1/2) M^(1/2) u with the preconditioner D^(-1/2) M D^(-1/2)."""
    if spectrum is None:
        return lambda u: u.reshape(shape), np.ravel, np.ravel
    V, root = spectrum.vectors, spectrum.root[:, None]
    rest = 1.0 / (spectrum.values[-1] + SHIFT)
    gain = np.sqrt(1.0 / (spectrum.values + SHIFT))

    def scaled(Y: Any, inner: Any, outer: float) -> Any:
        return V @ ((inner - outer)[:, None] * (V.T @ Y)) + outer * Y

    return (
        lambda u: scaled(u.reshape(shape), gain, np.sqrt(rest)) / root,
        lambda Z: scaled(Z * root, 1.0 / gain, 1.0 / np.sqrt(rest)).ravel(),
        lambda G: scaled(G / root, gain, np.sqrt(rest)).ravel(),
    )


def _multigrid(report: Report, X: Any) -> None:
    """Cost of new weights and of a cycle, and iterations of conjugate gradients with it."""
    points = Frame.of(X).points(X)
    K = csr_array(adaptive_kernel(nearest(points, k=30, n_jobs=2), 15.0)[0])
    K = csr_array(K * (K.shape[0] / K.sum()))
    began = time.perf_counter()
    hierarchy = Hierarchy(levels_of(K, DIRECT))
    pattern = time.perf_counter() - began
    K = hierarchy.levels[0].kernel
    n = K.shape[0]
    rng = np.random.default_rng(0)
    links = np.asarray(K.data, dtype=np.float64) / (1.0 + rng.exponential(size=K.nnz))
    W = csr_array((links, K.indices, K.indptr), shape=K.shape)
    W = csr_array(0.5 * (W + W.T))
    W.sort_indices()
    held = 0.01 * (W @ np.ones(n) + 1e-3)
    A = csr_array(diags_array(W @ np.ones(n) + held) - W)
    g = rng.standard_normal(n)
    links = np.asarray(W[np.repeat(np.arange(n), np.diff(K.indptr)), K.indices]).ravel()
    ours = _timed(lambda: hierarchy.cycle(0, links, held))
    cycle = _timed(lambda: ours[1](g[:, None]))
    steps = _conjugate(A, g, lambda v: ours[1](v[:, None])[:, 0])
    report.note(f"digits ({n} rows): seconds for the pattern, once", pattern, unit="s")
    report.note("conjugate gradients without help: iterations", _conjugate(A, g, None))
    if importlib.util.find_spec("pyamg") is None:
        report.note("seconds for new weights", ours[0], unit="s")
        report.note("seconds for a cycle", cycle[0], unit="s")
        report.note("conjugate gradients with a cycle: iterations", steps)
        return
    import pyamg

    for label, make in {
        "pyamg, smoothed aggregation": pyamg.smoothed_aggregation_solver,
        "pyamg, Ruge-Stuben": pyamg.ruge_stuben_solver,
    }.items():
        theirs = _timed(lambda make=make: make(A.tocsr(), max_coarse=DIRECT).aspreconditioner(cycle="V"))
        one = _timed(lambda theirs=theirs: theirs[1] @ g)
        count = _conjugate(A, g, lambda v, theirs=theirs: theirs[1] @ v)
        for what, mine, his, unit in (
            ("seconds for new weights", ours[0], theirs[0], "s"),
            ("seconds for a cycle", cycle[0], one[0], "s"),
            ("conjugate gradients with a cycle: iterations", steps, count, ""),
        ):
            report.note(what, mine, unit=unit, rival=his, rival_name=label, ratio=his / mine)


def _timed(call: Any, repeats: int = 7) -> tuple[float, Any]:
    """The fastest of a few calls, in seconds, and what the last returned."""
    seconds, found = [], None
    for _ in range(repeats):
        began = time.perf_counter()
        found = call()
        seconds.append(time.perf_counter() - began)
    return min(seconds), found


def _conjugate(A: Any, g: Any, inverse: Any) -> int:
    """Iterations of conjugate gradients to a residual of 1e-6."""
    count = [0]

    def counted(_: Any) -> None:
        count[0] += 1

    M = None if inverse is None else LinearOperator(A.shape, matvec=inverse, dtype=np.float64)
    cg(A, g, rtol=1e-6, maxiter=2000, M=M, callback=counted)
    return count[0]
