"""One evaluation of the plain objective and its gradient, dense kernels, float32, two threads.

Rivals: the plain NumPy reference (float64, n × n arrays), and a bare ``np.exp`` over n² float32 numbers into a ready
array, below which no exact method with one exponential per pair can go on one thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Report, growth_exponent, peak_memory, race
from benchmarks.reference import gaussian_kernel, negative_information
from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.matrices import dense_kernel
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum, information

TITLE = "value and gradient of the objective, exact, float32, two threads"
RIVALS = ()
THREADS = 2

_SETUP = """
import numpy as np
from benchmarks.exact_gradient import evaluation, points
X, Z = points({n})
evaluation(X[:600], Z[:600])()   # BLAS buffers and threads are there before we measure
"""


def points(n: int) -> tuple[Any, Any]:
    """Data (n, 12) of unit variance and a latent plane of it (n, 2)."""
    rng = np.random.default_rng(0)
    Z = 3.0 * rng.standard_normal((n, 2))
    return np.tanh(Z @ rng.standard_normal((2, 12)) / 3) + 0.1 * rng.standard_normal((n, 12)), Z


def evaluation(X: Any, Z: Any) -> Callable[[], Any]:
    """Build kernel and objective; return the call that evaluates them at ``Z``, as a fit does."""
    kernel = dense_kernel(X, 6.0, profile("gaussian"), n_jobs=THREADS)
    objective = EntropySum(information(kernel), profile("gaussian"), n_jobs=THREADS)
    limited: Callable[[], Any] = one_blas_thread(lambda: objective.value_and_grad(Z))
    return limited


def run(*, quick: bool) -> Report:
    report = Report()
    n = 1500 if quick else 4000
    sizes = (500, 1000, 1500) if quick else (1000, 2000, 4000, 8000)
    repeats = 3 if quick else 7
    X, Z = points(n)
    ours = evaluation(X, Z)
    _agreement(report)
    _against_exp(report, ours, n, 12 * repeats)
    _against_numpy(report, ours, X, Z, max(2, repeats // 2))
    _memory(report, n)
    seconds = [race({"ours": evaluation(*points(size))}, repeats=repeats)["ours"].best for size in sizes]
    report.note(f"growth exponent, n = {sizes[0]} to {sizes[-1]}", growth_exponent(sizes, seconds))
    report.details.update(n=n, sizes=list(sizes), seconds_by_size=seconds, threads=THREADS)
    return report


def _agreement(report: Report) -> None:
    X, Z = points(400)
    value, gradient = negative_information(gaussian_kernel(X, 6.0), Z)
    found = evaluation(X, Z)()
    error = np.abs(found.gradient - gradient).max() / np.abs(gradient).max()
    report.at_most("gradient's largest error, relative to the reference, n = 400", float(error), 1e-4)
    report.at_most("value's error", abs(found.value - value), 1e-5)


def _against_exp(report: Report, ours: Callable[[], Any], n: int, repeats: int) -> None:
    numbers = -np.random.default_rng(0).random((n, n), dtype=np.float32)
    out = np.empty_like(numbers)
    times = race({"ours": ours, "exp": lambda: np.exp(numbers, out=out)}, repeats=repeats)
    report.faster(f"throughput, n = {n}", times["ours"], times["exp"], "np.exp, n² float32", at_least=0.5)


def _against_numpy(report: Report, ours: Callable[[], Any], X: Any, Z: Any, repeats: int) -> None:
    K = gaussian_kernel(X, 6.0)
    times = race({"ours": ours, "numpy": lambda: negative_information(K, Z)}, repeats=repeats)
    report.faster(f"value and gradient, n = {len(X)}", times["ours"], times["numpy"], "plain NumPy", at_least=10)


def _memory(report: Report, n: int) -> None:
    """What building the kernel and evaluating takes at its peak, in units of an n × n float32 matrix."""
    matrix = 4 * n * n
    peak = peak_memory(_SETUP.format(n=n), "result = evaluation(X, Z)()")
    report.at_most(
        f"peak memory, n = {n}, in kernel matrices", peak / matrix, 1.3, rival=matrix / 2**20, rival_name="MiB a matrix"
    )
    report.details["peak_bytes"] = peak
