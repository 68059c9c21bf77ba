"""``sidelight embed --cluster``: rows of Parquet and NPY files on Dask; this process stands for the cluster."""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np
import pandas as pd
import pytest

import sidelight

dask = pytest.importorskip("dask", reason="needs the extra scale")
from sidelight.cli import _cluster  # noqa: E402

X = np.random.default_rng(0).normal(size=(300, 3)) * [1, 1000, 10] + [0, 5000, 0]


@pytest.fixture
def in_this_process(monkeypatch):
    monkeypatch.setattr(_cluster, "_connected", lambda talk, address: nullcontext())
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture
def parquet(here):
    frame = pd.DataFrame(X, columns=list("abc")).assign(name="x", batch=np.where(np.arange(300) % 3, "u", "v"))
    frame.to_parquet("rows.parquet", row_group_size=70)
    return frame


def test_a_table_on_a_cluster_is_embedded_as_in_batches(run, parquet, in_this_process):
    options = ("--sample", 200, "--method", "pca", "--no-report", "--drop", "batch")
    done = run("embed", "rows.parquet", "--cluster", "tcp://here:8786", *options, "--out", "out")
    assert done.code == 0, done.err
    assert "Not embedded: name, batch." in done.out
    assert run("embed", "rows.parquet", "--batches", *options, "--out", "batches").code == 0
    np.testing.assert_allclose(np.load("out/embedding.npy"), np.load("batches/embedding.npy"), atol=1e-9)
    assert run("transform", "out/model.sidelight", "rows.parquet", "--out", "z.csv").code == 0
    np.testing.assert_allclose(pd.read_csv("z.csv")[["z1", "z2"]], np.load("out/embedding.npy"), atol=1e-9)


def test_an_array_and_the_address_of_a_store_are_read(run, here, parquet, in_this_process):
    np.save("rows.npy", X)
    options = ("--sample", 200, "--method", "pca", "--no-report", "--no-standardize")
    assert run("embed", "rows.npy", "--cluster", "local", *options, "--out", "out").code == 0
    address = f"file://{here}/rows.parquet"
    done = run("embed", address, "--cluster", "local", *options, "--drop", "batch", "--out", "store")
    assert done.code == 0, done.err
    np.testing.assert_allclose(np.load("out/embedding.npy"), np.load("store/embedding.npy"), atol=1e-9)


@pytest.mark.thorough
def test_columns_are_given_by_name(run, here, parquet, in_this_process):
    done = run("embed", "rows.parquet", "--cluster", "local", "--given", "batch", "--sample", 120, "--out", "out")
    assert done.code == 0, done.err
    assert "Given: batch." in done.out
    model = sidelight.load("out/model.sidelight")
    assert [column.name for column in model.given_.columns] == ["batch"]
    assert (here / "out/report.html").exists()


@pytest.mark.thorough
def test_a_cluster_of_this_machine_is_started_and_ended(run, parquet):
    done = run("embed", "rows.parquet", "--cluster", "local", "--method", "pca", "--no-report", "--out", "out")
    assert done.code == 0, done.err
    assert "Dask cluster of" in done.out
    assert len(np.load("out/embedding.npy")) == 300


@pytest.mark.parametrize(
    ("file", "options", "sentence"),
    [
        ("nowhere.parquet", [], "there is no such file or folder"),
        ("flowers.csv", [], "--cluster reads .npy and Parquet files"),
        ("cube.npy", [], "has 3 axes, and --cluster embeds rows and columns"),
        ("cube.npy", ["--given", "kind"], "the columns of an array have no names"),
        ("text.parquet", [], "has no numeric column to embed"),
        ("text.parquet", ["--same", "pairs.csv"], "--same: --cluster reads rows without it"),
    ],
)
def test_what_is_wrong_is_said(file, options, sentence, table, run, here, in_this_process):
    np.save("cube.npy", np.ones((2, 2, 2)))
    pd.DataFrame({"a": ["x", "y"]}).to_parquet("text.parquet")
    done = run("embed", file, "--cluster", "local", *options)
    assert done.code == 1
    assert sentence in done.err


def test_a_scheduler_that_does_not_answer_is_named(run, parquet, monkeypatch):
    monkeypatch.setattr(_cluster, "_SECONDS", 0.1)
    done = run("embed", "rows.parquet", "--cluster", "tcp://127.0.0.1:9")
    assert done.code == 1
    assert "--cluster tcp://127.0.0.1:9: no scheduler answers there; start one" in done.err
