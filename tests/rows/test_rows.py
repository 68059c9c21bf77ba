"""Rows in memory and in batches: the same sums, the same sample rules, and what is refused."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sidelight.rows import ArrayRows, BatchRows, as_rows, check_batch

X = np.random.default_rng(0).normal(size=(20_000, 3))


def moments(block):
    return {"n": np.array(len(block)), "sum": block.sum(axis=0), "outer": block.T @ block}


def cut():
    return (X[start : start + 3_001] for start in range(0, len(X), 3_001))


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "rows.npy", X)
    table = pa.table({f"c{k}": X[:, k] for k in range(3)})
    parquet.write_table(table, tmp_path / "rows.parquet", row_group_size=700)
    (tmp_path / "folder").mkdir()
    for k in range(2):
        parquet.write_table(table[10_000 * k : 10_000 * (k + 1)], tmp_path / "folder" / f"part{k}.parquet")
    return tmp_path


SOURCES = {
    "array": lambda _: X,
    "callable": lambda _: cut,
    "list": lambda _: list(cut()),
    "pandas": lambda _: lambda: (pd.DataFrame(batch) for batch in cut()),
    "polars": lambda _: lambda: (pl.DataFrame(batch) for batch in cut()),
    "memory map": lambda files: np.load(files / "rows.npy", mmap_mode="r"),
    "npy": lambda files: files / "rows.npy",
    "parquet": lambda files: str(files / "rows.parquet"),
    "folder": lambda files: files / "folder",
}


@pytest.mark.parametrize("name", SOURCES)
def test_sums_do_not_depend_on_where_rows_come_from(name, files):
    rows = as_rows(SOURCES[name](files), owner="Test")
    expected = moments(X)
    found = rows.total(moments)
    assert rows.count() == len(X)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-12, atol=1e-9)


def test_threads_do_not_change_a_bit():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    one, two = (ArrayRows(X, n_jobs=jobs).total(moments)["outer"] for jobs in (1, 2))
    assert one.tobytes() == two.tobytes()


@pytest.mark.parametrize("rows", [ArrayRows(X), BatchRows(cut)], ids=["array", "batches"])
def test_a_sample_is_of_rows_without_repetition_in_their_order(rows):
    found = rows.sample(500, seed=3)
    place = np.searchsorted(np.sort(X[:, 0]), found[:, 0])
    where = np.argsort(X[:, 0])[place]
    np.testing.assert_array_equal(X[where], found)
    assert (np.diff(where) > 0).all()
    np.testing.assert_array_equal(found, rows.sample(500, seed=3))
    assert abs(where.mean() - 10_000) < 5 * 20_000 / np.sqrt(12 * 500)
    assert len(rows.sample(10**6, seed=0)) == len(X)


def test_memory_of_batches_does_not_depend_on_their_number():
    def walk(k):
        return lambda: (np.full((5_000, 20), float(i)) for i in range(k))

    peaks = []
    for k in (4, 40):
        tracemalloc.start()
        BatchRows(walk(k), n_jobs=1).total(moments)
        BatchRows(walk(k)).sample(1_000, seed=0)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]


def test_a_generator_is_walked_only_once_and_is_refused():
    with pytest.raises(TypeError, match=r"^Test: source=generator cannot be read more than once\. Give a callable"):
        as_rows(cut(), owner="Test")
    once = cut()
    with pytest.raises(ValueError, match=r"^Test: source=function can be walked only once\. Give a callable"):
        as_rows(lambda: once, owner="Test")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([], "source=no batch has no rows"),
        ([np.zeros((3, 2)), np.zeros((3, 1))], r"source=a batch of shape \(3, 1\) is not an array of 2 columns"),
        ([np.zeros(3)], r"source=a batch of shape \(3,\) is not an array of rows and columns"),
        ([np.array([[np.nan, 1.0]])], "source=a batch with NaN or infinite numbers is not data"),
    ],
)
def test_batches_that_are_no_rows_are_refused(source, said):
    with pytest.raises(ValueError, match=rf"^Test: {said}"):
        as_rows(source, owner="Test").count()


def test_missing_values_pass_where_they_are_allowed():
    batch = np.array([[np.nan, 1.0], [2.0, 3.0]])
    assert as_rows([batch], owner="Test", missing=True).count() == 2
    with pytest.raises(ValueError, match="a batch with infinite numbers"):
        as_rows([batch * np.inf], owner="Test", missing=True).count()


def test_files_that_are_not_there_or_not_known_are_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"^Test: source=nothing\.npy does not exist"):
        as_rows(tmp_path / "nothing.npy", owner="Test")
    (tmp_path / "rows.txt").write_text("1 2")
    with pytest.raises(ValueError, match=r"^Test: source=rows\.txt is not a file that can be read in batches"):
        as_rows(tmp_path / "rows.txt", owner="Test")


@pytest.mark.parametrize("offset", [0, 1, 5, 8])
def test_a_batch_has_the_same_bytes_wherever_its_memory_begins(offset):
    """Arrays from another process begin at any byte; NumPy gives those to another BLAS routine unless they move."""
    X = np.random.default_rng(0).normal(size=(1000, 3))
    raw = np.zeros(X.nbytes + 16, dtype=np.uint8)
    placed = raw[offset : offset + X.nbytes].view(np.float64).reshape(X.shape)
    placed[:] = X
    found = check_batch("Test", placed, 3, missing=False)
    assert found.flags.aligned
    assert found.flags.c_contiguous
    assert (found.T @ found).tobytes() == (X.T @ X).tobytes()
