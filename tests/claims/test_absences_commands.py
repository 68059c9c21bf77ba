"""What the page about the command line says is refused, where no test of the command itself shows it."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

pytest.importorskip("typer", reason="needs the extra cli")

from typer.testing import CliRunner

from sidelight.cli._app import app


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of 40 rows in an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).normal(size=(40, 3))
    pd.DataFrame(rows, columns=["a", "b", "c"]).assign(batch=["x", "y"] * 20).to_csv("t.csv", index=False)
    return "t.csv"


def refused(*arguments):
    """What the command says as it refuses."""
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == 1, done.output
    return done.stderr


def test_given_with_same_and_different_is_refused(table):
    pd.DataFrame([[0, 1], [2, 3]]).to_csv("same.csv", index=False, header=False)
    pd.DataFrame([[0, 5], [2, 7]]).to_csv("different.csv", index=False, header=False)
    hints = ("--same", "same.csv", "--different", "different.csv")
    assert "--same and --different" in refused("embed", table, "--given", "batch", *hints, "--out", "out")


def test_a_graph_of_distances_is_for_one_method(table):
    sparse.save_npz("graph.npz", sparse.random(40, 40, 0.3, format="csr", random_state=0))
    graph = ("--distances-matrix", "graph.npz", "--method", "hybrid")
    said = refused("embed", table, *graph, "--out", "out")
    assert "graph.npz: is a graph of some distances, and the method hybrid needs those between all rows" in said


@pytest.mark.thorough
def test_rows_with_gaps_are_refused_on_a_cluster(table):
    pytest.importorskip("distributed", reason="needs the extra scale")
    frame = pd.read_csv(table)[["a", "b", "c"]]
    frame.loc[3, "b"] = np.nan
    frame.to_parquet("gaps.parquet")
    said = refused("embed", "gaps.parquet", "--cluster", "local", "--method", "pca", "--out", "out")
    assert "missing" in said or "NaN" in said
