"""Value and gradient of H(Z), the normaliser of every latent kernel: the way the rule takes beside exact tiles.

Points fill a box at one to a unit of volume, as maps do (a plane of 10,000 rows is 100 units wide), in float32 tiles
or float64 transforms, two threads. Rival: openTSNE's repulsive forces by FFT, for the same plane (Student kernel,
polynomial interpolation; it computes no value and is not meant to be exact).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.harness import Report, growth_exponent, peak_memory, race
from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.gauss_transform import FastSums, fast_sums, modes_of
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import Entropy, EntropySum, fast_entropy

TITLE = "value and gradient of the normaliser H(Z), by transform and by tiles, two threads"
RIVALS = ("openTSNE",)
THREADS = 2
_SLOW = 30_000  # rows from which exact tiles are timed once, and in the plane only

_SETUP = """
from benchmarks.normaliser import evaluation, points
Z = points({n}, {q})
evaluation(points(3000, {q}), exact={exact})()   # BLAS buffers, the library and threads are there before we measure
"""


def points(n: int, q: int) -> Any:
    """Points (n, q) of unit density."""
    return float(n) ** (1 / q) * np.random.default_rng(0).random((n, q))


def evaluation(Z: Any, name: str = "gaussian", *, exact: bool = False, dtype: Any = np.float32) -> Callable[[], Any]:
    """The call that evaluates H(Z) as a fit does; ``exact``: by tiles, whatever the rule says."""
    objective = EntropySum([Entropy("H(Z)", 1.0)], profile(name), dtype=dtype, n_jobs=THREADS)
    objective.plain = objective.plain and not exact
    limited: Callable[[], Any] = one_blas_thread(lambda: objective.value_and_grad(Z))
    return limited


def transformed(Z: Any, name: str = "gaussian") -> Callable[[], Any]:
    """The call that evaluates it by transform, whatever the rule says."""
    modes = modes_of(profile(name), len(Z), np.ptp(Z, axis=0))
    assert modes is not None
    return lambda: fast_entropy(FastSums(Z, profile(name), modes, THREADS), len(Z))


def repulsion(Z: Any) -> float:
    """OpenTSNE's repulsive forces on a plane, and the sum of its kernel over all pairs, which is returned."""
    from openTSNE._tsne import estimate_negative_gradient_fft_2d

    return float(estimate_negative_gradient_fft_2d(np.ascontiguousarray(Z), np.zeros(Z.shape)))


def run(*, quick: bool) -> Report:
    report = Report()
    sizes = (2000, 5000) if quick else (2000, 5000, 20_000, 70_000)
    repeats = 3 if quick else 5
    for name in ("gaussian", "student"):
        _agreement(report, name)
    seconds = {q: [_beside_tiles(report, n, q, repeats) for n in sizes] for q in (1, 2, 3)}
    _beside_tiles(report, 2000 if quick else 20_000, 4, 2)
    for q in (1, 2):
        _beside_tiles(report, 5000 if quick else 20_000, q, 2, "student")
    for q, taken in seconds.items():
        report.note(f"growth exponent, {q}-D, n = {sizes[0]:,} to {sizes[-1]:,}", growth_exponent(sizes, taken))
    if not quick:
        growth = growth_exponent(sizes[1:], seconds[2][1:])
        report.at_most(f"growth exponent, 2-D, n = {sizes[1]:,} to {sizes[-1]:,}", growth, 1.3)
    _choices(report, quick)
    for n in sizes:
        _beside_opentsne(report, n, repeats)
    _sum_of_kernels(report)
    _memory(report, sizes[-1])
    report.details.update(sizes=list(sizes), seconds={str(q): taken for q, taken in seconds.items()}, threads=THREADS)
    return report


def _agreement(report: Report, name: str) -> None:
    """Errors of the transform against exact float64 pairs: a plane with half of its points in a tight clump."""
    Z = points(3000, 2)
    Z[:1500] = 15.0 + 1e-2 * np.random.default_rng(1).standard_normal((1500, 2))
    found = evaluation(Z, name, exact=True, dtype=np.float64)()
    value, moved = transformed(Z, name)()
    error = np.linalg.norm(2 * moved / len(Z) - found.gradient) / np.linalg.norm(found.gradient)
    report.at_most(f"{name}: value's error, 3,000 points, half in a clump", abs(value - found.value), 1e-6)
    report.at_most(f"{name}: gradient's error, relative", float(error), 1e-5)


def _beside_tiles(report: Report, n: int, q: int, repeats: int, name: str = "gaussian") -> float:
    Z = points(n, q)
    way = "tiles" if fast_sums(Z, profile(name)) is None else "transform"
    ours, exact = evaluation(Z, name), evaluation(Z, name, exact=True)
    what = f"{name}, {q}-D, n = {n:,}: {way}"
    if n < _SLOW:
        times = race({"ours": ours, "exact": exact}, repeats=repeats)
        report.faster(what, times["ours"], times["exact"], "exact tiles")
        return times["ours"].best
    alone = race({"ours": ours}, repeats=repeats)["ours"]
    if q == 2:
        once = race({"exact": exact}, repeats=1, warm_up=False)["exact"]
        report.faster(what, alone, once, "exact tiles", at_least=5.0)
    else:
        report.note(what, alone.best, unit="s")
    return alone.best


def _choices(report: Report, quick: bool) -> None:
    """What the rule loses where it is near its edge: the way taken against the better of both."""
    losses = []
    for n in (1500, 3000) if quick else (1500, 3000, 6000):
        for q, width in ((1, 50.0), (2, 3.0), (2, 50.0), (3, 3.0), (3, 20.0)):
            Z = width * np.random.default_rng(2).random((n, q))
            ways = {"tiles": evaluation(Z, exact=True), "transform": transformed(Z), "rule": evaluation(Z)}
            times = {way: timing.best for way, timing in race(ways, repeats=3).items()}
            losses.append(times["rule"] / min(times["tiles"], times["transform"]))
            report.details.setdefault("choices", []).append({"n": n, "q": q, "width": width, **times})
    report.note("the way taken over the better way, median of clouds near the edge", float(np.median(losses)))
    report.note("the same, worst", float(np.max(losses)))


def _beside_opentsne(report: Report, n: int, repeats: int) -> None:
    Z = points(n, 2)
    times = race({"ours": evaluation(Z), "theirs": lambda: repulsion(Z)}, repeats=repeats)
    report.faster(f"gaussian, 2-D, n = {n:,}", times["ours"], times["theirs"], "openTSNE FFT, student")


def _sum_of_kernels(report: Report) -> None:
    """How far the sum of the Student kernel over all pairs is from the exact one."""
    Z = points(5000, 2)
    modes = modes_of(profile("student"), len(Z), np.ptp(Z, axis=0))
    assert modes is not None
    ones = np.ones((len(Z), 1))
    ours = float(FastSums(Z, profile("student"), modes).sums(ones).sum()) - len(Z)
    rows = np.array_split(np.arange(len(Z)), 20)
    exact = sum((1 / (1 + ((Z[part, None] - Z[None]) ** 2).sum(axis=-1))).sum() for part in rows) - len(Z)
    error, theirs = abs(ours / exact - 1), abs(repulsion(Z) / exact - 1)
    report.note("student, 5,000 points: error of the sum over pairs", error, rival=theirs, rival_name="openTSNE FFT")


def _memory(report: Report, n: int) -> None:
    """What an evaluation takes at its peak; the tiles of the kernel would take 2 n² bytes."""
    for q, exact in ((2, False), (3, False), (2, True)):
        if exact and n >= _SLOW:
            n = 20_000
        peak = peak_memory(_SETUP.format(n=n, q=q, exact=exact), f"evaluation(Z, exact={exact})()")
        what = f"peak memory, {q}-D, n = {n:,}, {'exact tiles' if exact else 'as the rule says'}"
        report.at_most(what, peak / 2**20, 1024, unit="MiB", rival=2 * n * n / 2**20, rival_name="MiB of kept tiles")
