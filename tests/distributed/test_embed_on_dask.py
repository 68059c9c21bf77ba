"""Embedding rows of Dask: the bytes of memory, however the rows are cut, whoever places them and whoever dies."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask", reason="needs the extra scale")
import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from sidelight import KernelInformationEmbedding, embed_rows  # noqa: E402
from sidelight.base.random import random_seed  # noqa: E402
from sidelight.datasets import s_curve  # noqa: E402
from sidelight.distributed import DaskRows  # noqa: E402
from sidelight.distributed._row_batches import cuts  # noqa: E402
from sidelight.distributed._sent import Sent  # noqa: E402
from sidelight.information import _sampled_fit  # noqa: E402

X = np.asarray(s_curve(500, random_state=0).X)
BATCH = 64
KNOWN = np.array(["a", "b", "c"], dtype=object)[np.random.default_rng(0).integers(0, 3, len(X))]
KNOWN[::50] = None  # rows of which nothing is known
FRAME = pd.DataFrame(X, columns=["x", "y", "z"]).assign(batch=KNOWN)


def small(**settings):
    return KernelInformationEmbedding(2, solver="multilevel", max_iter=30, random_state=0, **settings)


@pytest.fixture(scope="module")
def fitted():
    return small().fit(X[:120])


@pytest.fixture(scope="module")
def informed():
    return small().fit(X[:120], given=KNOWN[:120])


@pytest.fixture(autouse=True)
def in_this_process(request):
    """Default tests compute without threads; tests of a cluster use the cluster's scheduler."""
    if "cluster" in request.fixturenames or request.node.get_closest_marker("thorough"):
        yield
    else:
        with dask.config.set(scheduler="synchronous"):
            yield


@pytest.fixture(scope="module")
def plain_places(fitted):
    return placed(X, fitted).tobytes()


@pytest.fixture(scope="module")
def informed_places(informed):
    return placed(X, informed, given=KNOWN).tobytes()


def placed(source, model, **settings):
    return embed_rows(source, model=model, batch_size=BATCH, **settings)


@pytest.mark.parametrize("chunk", [30, 350])
def test_places_are_the_bytes_of_memory_however_the_rows_are_cut(fitted, plain_places, chunk):
    """Bytes may be compared: batches are cut by row number, and each is computed on one BLAS thread."""
    found = placed(DaskRows(da.from_array(X, chunks=(chunk, 3))), fitted)
    assert found.tobytes() == plain_places


def test_partitions_of_unequal_and_no_length(fitted, plain_places, tmp_path):
    rows = da.from_array(X, chunks=((1, 0, 150, 5, 3, 64, 27, 250), 3))
    found = placed(DaskRows(rows), fitted, out=tmp_path / "places.npy")
    assert found.tobytes() == plain_places


def test_a_sample_is_drawn_and_fitted_as_from_memory():
    found, expected = (
        placed(source, small(), sample=100, random_state=3)
        for source in (DaskRows(da.from_array(X, chunks=(133, 3))), X)
    )
    assert found.tobytes() == expected.tobytes()


GIVEN = {
    "name": (FRAME, "batch"),
    "names": (FRAME, ["batch"]),
    "series": (FRAME[["x", "y", "z"]], "a series of Dask"),
    "memory": (FRAME[["x", "y", "z"]], KNOWN),
}


@pytest.mark.parametrize("name", GIVEN)
def test_given_comes_from_columns_from_dask_or_from_memory(name, informed, informed_places):
    table, given = GIVEN[name]
    rows = DaskRows(dd.from_pandas(table, npartitions=4))
    given = dd.from_pandas(FRAME, npartitions=4)["batch"] if name == "series" else given
    assert placed(rows, informed, given=given).tobytes() == informed_places


def test_given_of_an_array_is_cut_like_the_rows(informed, informed_places):
    rows = DaskRows(da.from_array(X, chunks=(140, 3)))
    given = da.from_array(KNOWN, chunks=90)
    assert placed(rows, informed, given=given).tobytes() == informed_places


@pytest.mark.thorough
def test_the_sample_is_fitted_with_what_is_given():
    model = small()
    rows = DaskRows(dd.from_pandas(FRAME, npartitions=3))
    found = placed(rows, model, given="batch", sample=100)
    assert model.given_ is not None
    assert len(model.embedding_) == 100
    assert found.tobytes() == placed(X, small(), given=KNOWN, sample=100).tobytes()


def test_single_numbers_stay_single(fitted):
    single = X.astype(np.float32)
    found = placed(DaskRows(da.from_array(single, chunks=(140, 3))), fitted)
    assert found.dtype == np.float32
    assert found.tobytes() == placed(single, fitted).tobytes()


def test_cuts_cover_every_row_once():
    rng = np.random.default_rng(0)
    for _ in range(50):
        lengths, size = rng.integers(0, 9, size=rng.integers(1, 9)).tolist(), int(rng.integers(1, 12))
        start = 0
        for n, cut in zip(lengths, cuts(lengths, size), strict=True):
            assert 0 <= cut.first <= cut.last <= n == cut.n
            if cut.last > cut.first:
                assert (start + cut.first) % size == 0
                assert (start + cut.last) % size == 0 or start + cut.last == sum(lengths)
            assert cut.first < size
            assert n - cut.last < size
            start += n


def test_a_sent_value_arrives_aligned_and_once():
    value = np.arange(1000.0)
    here = Sent(value)
    assert here.value is value
    there = pickle.loads(pickle.dumps(here, protocol=5, buffer_callback=[].append))
    assert there.value is there.value
    assert there.value.flags.aligned
    assert there.value.tobytes() == value.tobytes()
    assert sys.getsizeof(there) > value.nbytes


def frame(**columns):
    return dd.from_pandas(FRAME.assign(**columns), npartitions=3)


REFUSED = {
    "unknown name": (lambda: frame(), "nobody", "column 'nobody' is not among the columns of the data frame"),
    "name of an array": (lambda: da.from_array(X), "batch", "is a name, and the columns of a Dask array have none"),
    "no other column": (lambda: frame()[["batch"]], "batch", "leaves no column to embed"),
    "length": (lambda: da.from_array(X), KNOWN[:7], "given=7 rows does not match the 500 rows"),
    "partitions": (
        lambda: frame()[["x", "y", "z"]],
        dd.from_pandas(FRAME, npartitions=2)["batch"],
        "data in 2 partitions does not have the 3 partitions",
    ),
    "text": (lambda: frame(), None, "is not all numbers"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_placed_is_refused_with_a_sentence(name, fitted, informed):
    source, given, sentence = REFUSED[name]
    with pytest.raises(ValueError, match=sentence):
        placed(DaskRows(source()), fitted if given is None else informed, given=given)


def test_a_model_and_rows_of_which_only_one_has_given_are_refused(fitted, informed):
    rows = DaskRows(da.from_array(X))
    with pytest.raises(ValueError, match="was fitted without given"):
        placed(rows, fitted, given=KNOWN)
    with pytest.raises(ValueError, match="was fitted with given, which the rows lack"):
        placed(rows, informed)


@pytest.fixture(params=[1, 2], ids=["one worker", "two workers"])
def cluster(request):
    distributed = pytest.importorskip("distributed", reason="needs the extra scale")
    local = distributed.LocalCluster(
        n_workers=request.param, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with local, distributed.Client(local) as client:
        yield client


def read_or_die(start, stop, marker):
    """Rows of one partition; the first who reads the one in the middle is killed."""
    if start <= len(X) // 2 < stop and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return X[start:stop]


def mortal(marker, size=40):
    parts = [
        da.from_delayed(dask.delayed(read_or_die)(start, min(start + size, len(X)), str(marker)), (m, 3), float)
        for start in range(0, len(X), size)
        for m in [min(size, len(X) - start)]
    ]
    return da.concatenate(parts)


@pytest.mark.thorough
def test_a_worker_that_is_killed_costs_time_and_no_bit(cluster, fitted, plain_places, tmp_path):
    before = set(cluster.run(os.getpid).values())
    found = placed(DaskRows(mortal(tmp_path / "died")), fitted)
    assert (tmp_path / "died").exists()
    assert before - set(cluster.run(os.getpid).values())
    assert found.tobytes() == plain_places


@pytest.mark.thorough
def test_given_on_a_cluster_is_the_bytes_of_memory(cluster, informed, informed_places):
    found = placed(DaskRows(frame()), informed, given="batch")
    assert found.tobytes() == informed_places


@pytest.mark.thorough
def test_a_spilled_partition_costs_time_and_no_bit(fitted, plain_places):
    distributed = pytest.importorskip("distributed", reason="needs the extra scale")
    limits = {"distributed.worker.memory.target": 1e-6, "distributed.worker.memory.spill": 1e-6}
    with (
        dask.config.set({**limits, "distributed.worker.memory.pause": False}),
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, memory_limit="1GiB", dashboard_address=":0") as one,
        distributed.Client(one) as client,
    ):
        rows = client.persist(da.from_array(X, chunks=(40, 3)))
        distributed.wait(rows)
        spilled = client.run(lambda dask_worker: len(dask_worker.data.slow or ()))
        found = placed(DaskRows(rows), fitted)
    assert max(spilled.values()) > 0
    assert found.tobytes() == plain_places


def test_fit_takes_a_sample_and_says_so(monkeypatch):
    monkeypatch.setattr(_sampled_fit, "_SAMPLE", 80)
    rows = DaskRows(da.from_array(X, chunks=(140, 3)))
    with pytest.warns(UserWarning, match=r"X=500 rows is fitted by a sample of 80 rows, of which embedding_ is"):
        model = small().fit(rows)
    sample = rows.sampled(80, random_seed(0))
    assert model.embedding_.tobytes() == small().fit(sample.X).embedding_.tobytes()
    np.testing.assert_array_equal(sample.X, X[sample.numbers])
    with pytest.raises(TypeError, match=r"X=DaskRows is not in memory.*Use sidelight\.embed_rows"):
        small().fit_transform(rows)
