from __future__ import annotations

import numpy as np
import pytest

from sidelight.neighbours.cell_index import CellIndex
from sidelight.neighbours.cells import cells_of
from sidelight.neighbours.reduction import reduction
from sidelight.neighbours.search import nearest


def mixture(n, d, seed=0):
    """Thirty clusters, each a sheet of four dimensions with a little noise in all."""
    rng = np.random.default_rng(seed)
    label = rng.integers(30, size=n)
    sheets = rng.normal(size=(30, 4, d))
    return (
        3 * rng.normal(size=(30, d))[label]
        + np.einsum("ij,ijd->id", rng.normal(size=(n, 4)), sheets[label])
        + 0.05 * rng.normal(size=(n, d))
    )


def recall(found, true):
    return np.mean([len(np.intersect1d(a, b)) / len(b) for a, b in zip(found.index, true.index, strict=True)])


def clouds():
    rng = np.random.default_rng(1)
    yield "sheets", mixture(1500, 6)
    yield "offset", 1e5 + rng.normal(size=(1200, 3))
    yield "one column", rng.normal(size=(1200, 1))
    yield "constant columns", np.c_[rng.normal(size=(1200, 2)), np.full((1200, 2), 7.0)]
    yield "lattice", rng.integers(0, 12, size=(1500, 2)).astype(float)
    yield "duplicates", np.repeat(rng.normal(size=(5, 3)), 300, axis=0)
    yield "constant", np.full((1000, 2), 0.3)
    yield "a lump and a few", np.r_[1e-3 * rng.normal(size=(1400, 3)), rng.normal(size=(100, 3))]
    yield "one far row", np.r_[1e-4 * rng.normal(size=(1200, 4)), np.full((1, 4), 1e3)]
    yield "huge", 1e140 * rng.normal(size=(1000, 3))
    yield "tiny", 1e-140 * rng.normal(size=(1000, 3))
    yield "float32", rng.normal(size=(1200, 5)).astype(np.float32)
    yield "many columns", mixture(1200, 90)


CLOUDS = dict(clouds())


@pytest.mark.parametrize("name", CLOUDS)
def test_the_distances_are_those_of_the_exact_neighbours_nearly_everywhere(name):
    X = CLOUDS[name]
    found, true = CellIndex(X, size=32).nearest(k=10), nearest(X, k=10)
    assert found.index.shape == (len(X), 10)
    assert not (found.index == np.arange(len(X))[:, None]).any()
    assert (np.diff(np.sort(found.index, axis=1), axis=1) > 0).all()
    measured = np.sqrt(((X[found.index] - X[:, None]) ** 2).sum(axis=-1))
    np.testing.assert_allclose(found.distance, measured, rtol=1e-6 if X.dtype == np.float32 else 1e-12)
    same = np.isclose(found.distance, true.distance, rtol=1e-5, atol=0)
    assert same.mean() > 0.99


@pytest.mark.parametrize("name", CLOUDS)
def test_all_cells_searched_give_the_exact_answer(name):
    X = CLOUDS[name]
    found, true = CellIndex(X, n_probes=len(X), size=100).nearest(k=7), nearest(X, k=7)
    if X.shape[1] > 64:
        assert recall(found, true) > 0.995  # found in fewer columns, so not exact
    elif X.dtype == np.float64:
        np.testing.assert_array_equal(found.index, true.index)
        np.testing.assert_array_equal(found.distance, true.distance)


@pytest.mark.parametrize("name", CLOUDS)
def test_a_query_is_answered_alike_alone_and_in_company(name):
    X = CLOUDS[name]
    index = CellIndex(X, size=32, n_probes=4)
    Q = np.r_[X[::90], X[::90] + X.std(axis=0) / 50, X[:1] + 1e4 * X.std(axis=0)]
    together = index.nearest(Q, k=5)
    alone = [index.nearest(Q[i : i + 1], k=5) for i in range(len(Q))]
    np.testing.assert_array_equal(together.index, np.concatenate([a.index for a in alone]))
    np.testing.assert_array_equal(together.distance, np.concatenate([a.distance for a in alone]))
    backwards = index.nearest(Q[::-1], k=5)
    np.testing.assert_array_equal(backwards.index[::-1], together.index)


@pytest.mark.thorough
@pytest.mark.parametrize("d", [5, 80])
def test_the_same_bytes_with_one_and_two_threads(d):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = mixture(5000, d)
    one, two = (CellIndex(X, size=64, n_probes=8, n_jobs=jobs).nearest(k=12, n_jobs=jobs) for jobs in (1, 2))
    assert one.index.tobytes() == two.index.tobytes()
    assert one.distance.tobytes() == two.distance.tobytes()
    assert recall(one, nearest(X, k=12, exact=True)) > 0.99


def test_queries_that_are_rows_find_themselves_first():
    X = mixture(2000, 8)
    found = CellIndex(X, size=32).nearest(X, k=3)
    np.testing.assert_array_equal(found.index[:, 0], np.arange(len(X)))
    assert not found.distance[:, 0].any()


@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_k_is_cut_to_the_rows_there_are(n):
    X = np.random.default_rng(2).normal(size=(n, 3))
    index = CellIndex(X, size=8)
    own, other = index.nearest(k=100), index.nearest(X, k=100)
    assert own.index.shape == (n, n - 1)
    assert all(sorted([i, *row]) == list(range(n)) for i, row in enumerate(own.index.tolist()))
    np.testing.assert_array_equal(np.sort(other.index, axis=1), np.tile(np.arange(n), (n, 1)))


def test_no_queries_have_no_neighbours():
    assert CellIndex(mixture(300, 3)).nearest(np.empty((0, 3)), k=4).index.shape == (0, 4)


def test_whole_numbers_are_searched_as_numbers():
    X = np.random.default_rng(3).integers(0, 255, size=(800, 4), dtype=np.uint8)
    found = CellIndex(X, n_probes=800).nearest(k=5)
    np.testing.assert_array_equal(found.index, nearest(X.astype(float), k=5).index)


@pytest.mark.parametrize("name", CLOUDS)
def test_cells_hold_every_row_once_and_none_is_far_too_large(name):
    P = reduction(CLOUDS[name])(CLOUDS[name])
    cells = cells_of(P, size=50)
    np.testing.assert_array_equal(np.sort(cells.order), np.arange(len(P)))
    assert cells.start[0] == 0
    assert cells.start[-1] == len(P)
    assert cells.sizes.min() >= 1
    assert cells.sizes.max() <= 150
    assert cells.means.shape == (len(cells.sizes), P.shape[1])


def test_rows_are_nearer_to_the_mean_of_their_cell_than_to_others():
    P = CLOUDS["sheets"].astype(np.float32)
    cells = cells_of(P, size=50)
    home = np.empty(len(P), dtype=int)
    home[cells.order] = np.repeat(np.arange(len(cells.sizes)), cells.sizes)
    assert np.mean(((P[:, None] - cells.means) ** 2).sum(axis=-1).argmin(axis=1) == home) > 0.9


def test_another_seed_is_another_search_of_like_quality():
    X = mixture(3000, 10)
    true = nearest(X, k=10)
    found = [CellIndex(X, size=32, n_probes=6, seed=seed).nearest(k=10) for seed in range(3)]
    assert all(recall(f, true) > 0.97 for f in found)


def test_directions_are_orthonormal_and_keep_nine_tenths_of_the_variance():
    X = mixture(1000, 100)
    V = reduction(X).V
    np.testing.assert_allclose(V.T @ V, np.eye(V.shape[1]), atol=1e-12)
    A = X - X.mean(axis=0)
    assert np.sum((A @ V) ** 2) > 0.9 * np.sum(A**2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("far", [1e6, 1e19, 1e30])
@pytest.mark.parametrize("d", [3, 80])
def test_queries_from_very_far_find_the_rows_that_lie_in_their_direction(d, far, dtype):
    X = np.random.default_rng(4).normal(size=(3000, d)).astype(dtype)
    ray = np.random.default_rng(5).normal(size=(20, d))
    ray /= np.linalg.norm(ray, axis=1, keepdims=True)
    found = CellIndex(X, size=32).nearest((far * ray).astype(dtype), k=3)
    along = X @ ray.T
    assert (along[found.index[:, 0], np.arange(20)] > np.quantile(along, 0.98, axis=0)).all()
    np.testing.assert_allclose(found.distance, far, rtol=1e-4)
    assert (np.diff(found.distance, axis=1) >= 0).all()
