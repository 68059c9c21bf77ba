"""A million rows and twenty columns, twenty charts: mixture and coordination beside scikit-learn's GaussianMixture.

Both take the same number of EM steps from the same kind of start. Ours is fitted from batches that are made as they are
walked, so that memory is that of the fit and not of the data. Dask: the same fit on one and on two worker processes.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture

from benchmarks.harness import Report, growth_exponent, peak_memory
from sidelight import CoordinatedMixture, PPCAMixture
from sidelight.rows import ArrayRows

TITLE = "a million rows: mixture and coordination beside GaussianMixture; batches; Dask"
RIVALS = ("scikit-learn", "dask")
COLUMNS, CHARTS, STEPS = 20, 20, 10
_BATCH = 65_536


def sheet(n: int, seed: int = 0) -> Any:
    """Rows (n, 20) around a curved sheet."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(-1, 1, size=(n, 2))
    turn = np.random.default_rng(99).normal(size=(6, COLUMNS))
    curved = np.column_stack([t, np.sin(2 * t), t[:, 0] * t[:, 1], t[:, 0] ** 2])
    return curved @ turn + 0.05 * rng.normal(size=(n, COLUMNS))


def batches(n: int) -> Any:
    """The same, made as they are walked."""

    def walk() -> Iterator[Any]:
        for start in range(0, n, _BATCH):
            yield sheet(min(_BATCH, n - start), seed=start)

    return walk


def coordinated() -> CoordinatedMixture:
    """Ours, with a fixed number of steps; it is not meant to converge."""
    return CoordinatedMixture(
        2, n_charts=CHARTS, n_mixtures=1, alignment="coordination", max_iter=STEPS, tol=1e-300, random_state=0
    )


def run(*, quick: bool) -> Report:
    report = Report()
    sizes = (20_000, 40_000) if quick else (62_500, 250_000, 1_000_000)
    ours, rival = {}, {}
    for n in sizes:
        X = sheet(n)
        ours[n] = _seconds(lambda X=X: coordinated().fit_batches(ArrayRows(X)))
        rival[n] = _seconds(lambda X=X: _gaussian().fit(X))
        label = f"{n:,} x {COLUMNS}, {CHARTS} charts, {STEPS} steps"
        report.note(
            f"{label}: mixture and coordination", ours[n], unit="s", rival=rival[n], rival_name="GaussianMixture"
        )
    last = sizes[-1]
    report.at_most(f"{last:,} rows: time over that of GaussianMixture", ours[last] / rival[last], 1.5)
    report.at_most("growth exponent, ours", growth_exponent(sizes, list(ours.values())), 1.05)
    report.note("growth exponent, GaussianMixture", growth_exponent(sizes, list(rival.values())))
    _memory(report, last)
    _dask(report, sizes[0] if quick else sizes[1])
    return report


def _seconds(work: Any) -> float:
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # neither is to converge
        work()
    return time.perf_counter() - began


def _gaussian() -> GaussianMixture:
    return GaussianMixture(
        CHARTS, covariance_type="full", max_iter=STEPS, tol=0.0, init_params="k-means++", random_state=0
    )


def _memory(report: Report, n: int) -> None:
    setup = "from benchmarks.many_rows import batches, coordinated; import warnings; warnings.simplefilter('ignore')"
    peak = peak_memory(setup, f"coordinated().fit_batches(batches({n}))")
    report.at_most(f"{n:,} rows in batches: peak memory", peak / 2**30, 2.0, unit="GiB")


def _dask(report: Report, n: int) -> None:
    import dask.array
    from distributed import Client, LocalCluster

    from sidelight.distributed import DaskRows

    X = sheet(n)
    reference = PPCAMixture(CHARTS, 2, max_iter=STEPS, tol=1e-300, random_state=0)
    _seconds(lambda: reference.fit_batches(ArrayRows(X)))
    found = {}
    for workers in (1, 2):
        with (
            LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            rows = DaskRows(client.persist(dask.array.from_array(X, chunks=(_BATCH // 2, COLUMNS))))
            model = PPCAMixture(CHARTS, 2, max_iter=STEPS, tol=1e-300, random_state=0)
            found[workers] = _seconds(lambda rows=rows, model=model: model.fit_batches(rows))
            gap = float(np.abs(model.means_ - reference.means_).max())
            report.at_most(f"Dask, {workers} workers, {n:,} rows: largest difference of the means", gap, 1e-8)
    report.note(f"Dask, {n:,} rows: two workers", found[2], unit="s", rival=found[1], rival_name="one worker")
