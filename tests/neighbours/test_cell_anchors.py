from __future__ import annotations

import numpy as np
import pytest

from sidelight.neighbours import cell_anchors
from sidelight.neighbours.cell_index import CellIndex
from sidelight.neighbours.search import nearest


def sheet(n, d, seed=0, dtype=np.float64):
    """A noisy sheet in ``d`` columns."""
    rng = np.random.default_rng(seed)
    Z, waves = rng.uniform(-3, 3, size=(n, 2)), np.random.default_rng(9).normal(size=(2, d))
    return (np.sin(Z @ waves) + 0.05 * rng.normal(size=(n, d))).astype(dtype)


@pytest.fixture
def every_cell(monkeypatch):
    monkeypatch.setattr(cell_anchors, "_COSINE", 1e6)
    monkeypatch.setattr(cell_anchors, "_MOST", 10**9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [2, 20, 80])
def test_the_nearest_row_or_one_beside_it_is_found(d, dtype):
    X, Q = sheet(4000, d, dtype=dtype), sheet(800, d, seed=1, dtype=dtype)
    found, near = CellIndex(X, size=32).anchors(Q), nearest(X, Q, k=10).index
    assert (found == near[:, 0]).mean() > 0.9
    assert (found[:, None] == near).any(axis=1).mean() > 0.99


@pytest.mark.parametrize("d", [1, 5, 40])
def test_with_every_cell_looked_into_it_is_always_found(every_cell, d):
    X, Q = sheet(1500, d), np.r_[sheet(200, d, seed=1), 5 * sheet(20, d, seed=2)]
    np.testing.assert_array_equal(CellIndex(X, size=20).anchors(Q), nearest(X, Q, k=1).index[:, 0])


def test_of_rows_that_tie_the_lowest_number_is_taken(every_cell):
    rows = np.random.default_rng(2).permutation(np.repeat(np.arange(5), 300))
    X = sheet(5, 12)[rows]
    np.testing.assert_array_equal(CellIndex(X, size=32).anchors(sheet(5, 12)), [np.argmax(rows == i) for i in range(5)])


def test_tight_clusters_far_apart_are_told_apart(every_cell):
    centres = 1e3 * np.random.default_rng(3).normal(size=(30, 10))
    X = np.repeat(centres, 60, axis=0) + 1e-3 * np.random.default_rng(4).normal(size=(1800, 10))
    Q = X[::7] + 2e-4 * np.random.default_rng(5).normal(size=X[::7].shape)
    np.testing.assert_array_equal(CellIndex(X, size=32).anchors(Q), nearest(X, Q, k=1).index[:, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_queries_alone_in_company_and_on_two_threads_have_the_same_row(dtype):
    X, Q = sheet(3000, 30, dtype=dtype), sheet(700, 30, seed=1, dtype=dtype)
    index = CellIndex(X, size=16)
    together = index.anchors(Q, n_jobs=1)
    np.testing.assert_array_equal(index.anchors(Q, n_jobs=2), together)
    for part in (slice(0, 1), slice(5, 14), slice(300, 700)):
        np.testing.assert_array_equal(index.anchors(Q[part]), together[part])


@pytest.mark.parametrize("n", [1, 2, 30])
def test_few_rows_and_no_queries_are_no_exception(n):
    X = sheet(n, 12)
    index = CellIndex(X, size=8)
    np.testing.assert_array_equal(index.anchors(X), np.arange(n))
    assert index.anchors(X[:0]).shape == (0,)
