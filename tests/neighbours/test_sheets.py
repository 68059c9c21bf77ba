"""Neighbour graphs of folded sheets, and of rows that are no sheet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, triu
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris, load_wine

from sidelight import Annealing, KernelInformationEmbedding
from sidelight.datasets import s_curve, swiss_roll
from sidelight.evaluate import sheet_correlation
from sidelight.neighbours.graph import joined_graph
from sidelight.neighbours.search import nearest, nearest_precomputed
from sidelight.neighbours.sheets import planar_misfit, sheet_graph
from sidelight.neighbours.sparse_distances import SparseDistances


def edges_off_the_sheet(graph, data):
    """Edges between rows that are far apart along the sheet, for their length, and the number of all edges."""
    sheet = np.column_stack([data.factors["arc"], data.factors["height"]])
    edges = triu(graph, k=1).tocoo()
    along = np.linalg.norm(sheet[edges.row] - sheet[edges.col], axis=1)
    straight = np.linalg.norm(data.X[edges.row] - data.X[edges.col], axis=1)
    return int((along > 2 * straight + 4).sum()), len(along)


def ring(n, *, height=0.0, noise=0.0, seed=0):
    random = np.random.default_rng(seed)
    t = 2 * np.pi * random.uniform(size=n)
    X = np.column_stack([np.cos(t), np.sin(t), height * random.uniform(size=n)])
    return X + noise * random.normal(size=X.shape)


def clusters():
    random = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 50)
    return (2 * random.normal(size=(6, 8)))[labels] + random.normal(size=(300, 8))


UNCHANGED = {
    "ring": lambda: ring(200),
    "noisy ring": lambda: ring(300, noise=0.1),
    "tube": lambda: ring(300, height=2.0),
    "short tube": lambda: ring(300, height=0.5),
    "clusters": clusters,
    "wine": lambda: load_wine().data / load_wine().data.std(axis=0),
    "iris": lambda: load_iris().data,
    "digits": lambda: load_digits().data[:400],
    "roll without bridges": lambda: swiss_roll(1500, random_state=0).X,
    "few rows": lambda: swiss_roll(80, random_state=0).X,
    "equal rows": lambda: np.ones((120, 3)),
}


def in_columns(X, n_columns, noise, seed=0):
    """Rows (n, 3), rotated into more columns, with noise in all of them."""
    random = np.random.default_rng(seed)
    turn = np.linalg.qr(random.normal(size=(n_columns, n_columns)))[0][:3]
    return X @ turn + noise * random.normal(size=(len(X), n_columns))


@pytest.mark.parametrize("seed", [2, pytest.param(4, marks=pytest.mark.thorough)])
def test_bridges_are_found_where_most_columns_are_noise(seed):
    data = swiss_roll(600, random_state=seed)
    X = in_columns(data.X, 50, 0.5, seed)
    near = nearest(X, k=15)
    assert planar_misfit(joined_graph(X, near)) > 0.05
    assert planar_misfit(sheet_graph(X, near)) < 0.01


def test_a_tube_stays_closed_where_most_columns_are_noise():
    X = in_columns(10 * ring(300, height=0.8), 50, 0.5)
    near = nearest(X, k=15)
    assert (sheet_graph(X, near) != joined_graph(X, near)).nnz == 0


@pytest.mark.parametrize(("n", "noise", "seed"), [(300, 0.0, 11), (200, 0.0, 12), (600, 0.5, 14)])
def test_a_thin_or_noisy_roll_has_no_edge_between_its_layers(n, noise, seed):
    data = swiss_roll(n, noise=noise, random_state=seed)
    near = nearest(data.X, k=15)
    before, _ = edges_off_the_sheet(joined_graph(data.X, near), data)
    graph = sheet_graph(data.X, near)
    after, kept = edges_off_the_sheet(graph, data)
    assert before >= 1
    assert after == 0
    assert kept >= joined_graph(data.X, near).nnz / 2 - before - 10
    assert connected_components(graph, directed=False)[0] == 1


@pytest.mark.parametrize("name", UNCHANGED)
def test_rows_that_are_no_folded_sheet_keep_every_edge(name):
    X = UNCHANGED[name]()
    near = nearest(X, k=15)
    assert (sheet_graph(X, near) != joined_graph(X, near)).nnz == 0


def test_distances_give_the_graph_of_the_rows():
    X = swiss_roll(200, random_state=12).X
    D = cdist(X, X)
    rows = sheet_graph(X, nearest(X, k=15))
    known = sheet_graph(D, nearest_precomputed(D, k=15, own=True), precomputed=True)
    np.testing.assert_array_equal(rows.indices, known.indices)
    np.testing.assert_allclose(rows.data, known.data)


def test_a_sparse_array_of_distances_keeps_every_edge():
    X = swiss_roll(200, random_state=12).X
    near = nearest(X, k=15)
    stored = csr_array((near.distance.ravel(), near.index.ravel(), np.arange(0, 200 * 15 + 1, 15)), shape=(200, 200))
    D = SparseDistances.between_rows(stored)
    assert (sheet_graph(D, near, precomputed=True) != joined_graph(D, near, precomputed=True)).nnz == 0


def test_the_graph_does_not_depend_on_threads_or_scale():
    X = swiss_roll(300, random_state=11).X
    one, two = (sheet_graph(X, nearest(X, k=15), n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.data.tobytes() == two.data.tobytes()
    assert one.indices.tobytes() == two.indices.tobytes()
    large = sheet_graph(1024.0 * X, nearest(1024.0 * X, k=15))
    np.testing.assert_array_equal(large.indices, one.indices)


def test_the_misfit_is_small_for_a_plane_and_large_for_a_sphere():
    random = np.random.default_rng(0)
    plane, ball = random.uniform(size=(400, 2)), random.normal(size=(400, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    flat, round_ = (planar_misfit(joined_graph(X, nearest(X, k=15))) for X in (plane, ball))
    assert flat < 0.01
    assert round_ > 0.2


@pytest.mark.parametrize(("load", "least"), [(swiss_roll, 0.95), (s_curve, 0.97)])
def test_the_map_of_three_hundred_rows_of_a_sheet_is_unrolled(load, least):
    data = load(300, random_state=21)
    Z = KernelInformationEmbedding().fit_transform(data.X)
    assert sheet_correlation(Z, data.factors) >= least


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(30, 40))
def test_the_map_of_a_small_or_noisy_roll_is_unrolled_in_every_draw(seed):
    for n, noise in ((300, 0.0), (600, 0.5)):
        data = swiss_roll(n, noise=noise, random_state=seed)
        Z = KernelInformationEmbedding().fit_transform(data.X)
        assert sheet_correlation(Z, data.factors) >= 0.95


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_annealing_begins_near_its_end_where_a_sheet_was_unfolded():
    X, flat = swiss_roll(200, random_state=12).X, np.random.default_rng(0).uniform(size=(100, 2))
    short = KernelInformationEmbedding(max_iter=1).fit(X)
    np.testing.assert_allclose(short.regularization_path_[0], 3 * short.regularization_path_[-1])
    given = KernelInformationEmbedding(max_iter=1, regularization=Annealing(0.1, start=2.0)).fit(X)
    assert given.regularization_path_[0] == 2.0
    for model, rows in (
        (KernelInformationEmbedding(init="pca", max_iter=1), X),
        (KernelInformationEmbedding(max_iter=1), flat),
    ):
        np.testing.assert_allclose(model.fit(rows).regularization_path_[0], 3.0)
