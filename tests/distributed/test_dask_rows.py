"""Rows on Dask: the same sums and samples as in memory, and a worker that dies costs time, not the result."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask", reason="needs the extra scale")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from sidelight.distributed import DaskRows  # noqa: E402
from sidelight.rows import ArrayRows, as_rows  # noqa: E402

X = np.random.default_rng(0).normal(size=(20_000, 3))


def moments(block):
    return {"n": np.array(len(block)), "sum": block.sum(axis=0), "outer": block.T @ block}


SOURCES = {
    "array": lambda: da.from_array(X, chunks=(3_001, 3)),
    "frame": lambda: dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=7),
    "one partition": lambda: da.from_array(X, chunks=(20_000, 3)),
}


@pytest.mark.parametrize("name", SOURCES)
def test_sums_and_samples_are_those_of_memory(name):
    rows, memory = DaskRows(SOURCES[name]()), ArrayRows(X)
    assert (rows.count(), rows.n_features) == (20_000, 3)
    for key, value in memory.total(moments).items():
        np.testing.assert_allclose(rows.total(moments)[key], value, rtol=1e-12, atol=1e-9)
    np.testing.assert_array_equal(rows.sample(700, seed=5), memory.sample(700, seed=5))
    np.testing.assert_array_equal(np.concatenate(list(rows.blocks())), X)


def test_the_order_of_the_sums_does_not_depend_on_the_scheduler():
    """Bytes may be compared: blocks are the same, each on one BLAS thread, and added pair by pair in fixed order."""
    rows = DaskRows(SOURCES["array"]())
    found = []
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found.append(rows.total(moments)["outer"].tobytes())
    assert found[0] == found[1]


def test_what_is_no_table_of_dask_is_refused():
    with pytest.raises(TypeError, match=r"^DaskRows: source=ndarray is no Dask array or data frame"):
        DaskRows(X)
    with pytest.raises(ValueError, match=r"^DaskRows: source=.* is cut into 3 parts along the columns\. Give"):
        DaskRows(da.from_array(X, chunks=(5_000, 1)))
    with pytest.raises(TypeError, match=r"^Test: source=Array is computed by Dask\. Give sidelight\.distributed\.Dask"):
        as_rows(SOURCES["array"](), owner="Test")


def test_missing_values_are_refused_unless_they_are_expected():
    gaps = np.where(X > 2, np.nan, X)
    with pytest.raises(ValueError, match=r"^DaskRows: source=a batch with NaN or infinite numbers is not data"):
        DaskRows(da.from_array(gaps, chunks=(5_000, 3))).total(moments)
    assert DaskRows(da.from_array(gaps, chunks=(5_000, 3)), missing=True).total(moments)["n"] == 20_000


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed", reason="needs the extra scale")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as local,
        distributed.Client(local) as client,
    ):
        yield client


def slowly(block):
    time.sleep(0.05)
    return moments(block)


@pytest.mark.thorough
def test_a_worker_that_is_killed_costs_time_not_the_result(cluster):
    """Bytes may be compared: the worker that takes over aligns the same blocks and adds them in the same order."""
    rows = DaskRows(da.from_array(X, chunks=(1_000, 3)))
    expected = rows.total(moments)["outer"].tobytes()
    victim = next(iter(cluster.run(os.getpid).values()))
    killer = threading.Timer(0.3, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found = rows.total(slowly)["outer"].tobytes()
    killer.join()
    assert victim not in cluster.run(os.getpid).values()
    assert found == expected
