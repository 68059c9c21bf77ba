"""What it costs to factor something out: an evaluation of the informed objective beside a plain one, and a whole fit.

The rival is our own plain fit of the same rows. Per evaluation the informed objective multiplies each tile of the
latent kernel with one of ``given``; the sparse kernel of the data is about as long. A whole fit also looks for
neighbours in each group, estimates the effect of ``given``, and follows the end of the path twice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Report, growth_exponent, peak_memory, race
from sidelight import KernelInformationEmbedding
from sidelight.base.tiles import one_blas_thread
from sidelight.information._problem import informed_problem
from sidelight.information._settings import GivenSettings, KernelSettings
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum, information
from sidelight.side.given import Given

TITLE = "an informed evaluation and fit beside plain ones, two threads"
RIVALS = ()
THREADS = 2

_SETUP = """
import numpy as np
from benchmarks.informed_cost import plain_evaluation, informed_evaluation, rows
X, group, Z = rows({n})
informed_evaluation(*rows(300))()   # BLAS buffers and threads are there before we measure
"""


def rows(n: int) -> tuple[Any, Any, Any]:
    """Rows (n, 12) on a bent plane in five groups, each moved by an offset of its own; their group; the plane."""
    rng = np.random.default_rng(0)
    Z = 3.0 * rng.standard_normal((n, 2))
    group = rng.integers(0, 5, n)
    X = np.tanh(Z @ rng.standard_normal((2, 12)) / 3) + 0.1 * rng.standard_normal((n, 12))
    return X + rng.standard_normal((5, 12))[group], group, Z


def plain_evaluation(X: Any, group: Any, Z: Any) -> Callable[[], Any]:
    """Build the plain problem; return the call that evaluates it at ``Z``."""
    del group
    return _call(information(perplexity_kernel(X, 30.0, 15, n_jobs=THREADS).matrix), Z)


def informed_evaluation(X: Any, group: Any, Z: Any) -> Callable[[], Any]:
    """Build the informed problem; return the call that evaluates it at ``Z``."""
    given = Given.learn("informed_cost", group, len(X))
    known = given.encode("informed_cost", group, len(X))
    kernel = KernelSettings(
        "informed_cost", "perplexity", 30.0, 15, "euclidean", "gaussian", "auto", multilevel=False, n_jobs=THREADS
    )
    settings = GivenSettings("balanced", 1.0, None)
    return _call(informed_problem(X, 1.0, given, known, None, kernel, settings, ("gaussian", 2)).terms, Z)


def _call(terms: Any, Z: Any) -> Callable[[], Any]:
    objective = EntropySum(terms, profile("gaussian"), n_jobs=THREADS)
    limited: Callable[[], Any] = one_blas_thread(lambda: objective.value_and_grad(Z))
    return limited


def run(*, quick: bool) -> Report:
    report = Report()
    sizes = (500, 1000) if quick else (1000, 2000, 4000)
    for n in sizes:
        data = rows(n)
        times = race(
            {"informed": informed_evaluation(*data), "plain": plain_evaluation(*data)}, repeats=5 if quick else 15
        )
        ratio = times["informed"].best / times["plain"].best
        report.at_most(f"evaluation, n = {n}, times a plain one", ratio, 1.5)
    _memory(report, 4000)  # at few rows the imports and buffers of the libraries outweigh the matrices
    _whole_fits(report, sizes)
    return report


def _memory(report: Report, n: int) -> None:
    """Peak memory of building and evaluating each, in units of an n × n float32 matrix."""
    matrix = 4 * n * n
    setup = _SETUP.format(n=n)
    peaks = {name: peak_memory(setup, f"r = {name}_evaluation(X, group, Z)()") for name in ("plain", "informed")}
    more = (peaks["informed"] - peaks["plain"]) / matrix
    report.at_most(f"memory more than plain, n = {n}, in kernel matrices", more, 1.0)
    report.details["peak_bytes"] = peaks


def _whole_fits(report: Report, sizes: tuple[int, ...]) -> None:
    seconds = {"informed": [], "plain": []}
    for n in sizes:
        X, group, _ = rows(n)
        fits = {
            "informed": lambda X=X, g=group: KernelInformationEmbedding(n_jobs=THREADS).fit(X, given=g),
            "plain": lambda X=X: KernelInformationEmbedding(n_jobs=THREADS).fit(X),
        }
        times = race(fits, repeats=1, warm_up=False)
        for name, timing in times.items():
            seconds[name].append(timing.best)
    for n, informed, plain in zip(sizes, seconds["informed"], seconds["plain"], strict=True):
        report.note(f"whole fit, n = {n}", informed, unit="s", rival=plain, rival_name="plain", ratio=informed / plain)
    report.note(f"growth exponent, n = {sizes[0]} to {sizes[-1]}", growth_exponent(sizes, seconds["informed"]))
