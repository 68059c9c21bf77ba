"""Kernel information embeddings of a sparse graph of distances, as scikit-learn's neighbours give it."""

from __future__ import annotations

import functools
import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph, radius_neighbors_graph
from sklearn.pipeline import make_pipeline

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.evaluate import leakage, neighbour_hit
from sidelight.maps.frames import Frame
from sidelight.neighbours.search import nearest

QUICK = {"max_iter": 60, "tol": 1e-4}


def clusters(n=150, d=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    return 4.0 * rng.standard_normal((3, d))[labels] + rng.standard_normal((n, d)), labels


def of_graph(**parameters):
    return KernelInformationEmbedding(metric="precomputed", **{**QUICK, **parameters})


@pytest.fixture(scope="module")
def fitted():
    X, labels = clusters()
    graph = kneighbors_graph(X, 40, mode="distance")
    return graph, labels, of_graph(solver="multilevel").fit(graph)


def as_the_model_sees(X, k):
    """The graph of the neighbours of ``X`` in the frame of a model of ``X``, distances to the bit as in its fit."""
    near = nearest(Frame.of(X).points(X), k=k)
    n = len(X)
    return csr_array((near.distance.ravel(), near.index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


@functools.cache
def of_one_piece(solver):
    """Rows whose graph has all the links that they have themselves, and their model."""
    X = np.random.default_rng(0).standard_normal((120, 4))
    return X, KernelInformationEmbedding(solver=solver, **QUICK).fit(X)


@pytest.mark.parametrize(("solver", "k"), [("multilevel", 30), ("multilevel", 50), ("annealed", 15), ("annealed", 50)])
def test_the_map_of_a_graph_is_that_of_the_rows_to_the_bit(solver, k):
    X, rows = of_one_piece(solver)
    graph = of_graph(solver=solver).fit(as_the_model_sees(X, k))
    np.testing.assert_array_equal(graph.embedding_, rows.embedding_)
    np.testing.assert_allclose(graph.bandwidth_ * rows.frame_.scale**2, rows.bandwidth_, rtol=1e-12)


@pytest.mark.thorough
def test_several_levels_of_a_graph_are_those_of_the_rows(monkeypatch):
    monkeypatch.setattr("sidelight.information._multilevel._COARSEST", 60)
    X, labels = clusters(200)
    rows = KernelInformationEmbedding(solver="multilevel", init="spectral", **QUICK).fit(X)
    graph = as_the_model_sees(X, 30)
    np.testing.assert_array_equal(of_graph(solver="multilevel", init="spectral").fit_transform(graph), rows.embedding_)
    for init in ("mds", "pca", "random"):
        Z = of_graph(solver="multilevel", init=init, random_state=0).fit_transform(graph)
        assert neighbour_hit(Z, labels) > 0.9


def test_a_pipeline_embeds_rows_and_places_new_ones():
    X, labels = clusters(160)
    pipe = make_pipeline(KNeighborsTransformer(n_neighbors=30), of_graph()).fit(X[:120])
    placed = pipe.transform(X[120:])
    assert placed.shape == (40, 2)
    Z = pipe[-1].embedding_
    near = np.linalg.norm(placed[:, None] - Z[None], axis=2).argmin(axis=1)
    assert (labels[:120][near] == labels[120:]).mean() > 0.9


def test_all_stored_distances_say_what_a_dense_array_says():
    X, _ = clusters(60)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    dense, sparse = of_graph().fit(D), of_graph().fit(csr_array(D))
    np.testing.assert_array_equal(sparse.embedding_, dense.embedding_)
    stored = csr_matrix((np.ravel(D[:7]), np.tile(np.arange(60), 7), np.arange(0, 421, 60)), shape=(7, 60))
    np.testing.assert_array_equal(sparse.transform(stored), dense.transform(D[:7]))
    np.testing.assert_array_equal(dense.transform(stored), dense.transform(D[:7]))
    np.testing.assert_allclose(sparse.transform_mode(stored), dense.transform_mode(D[:7]), rtol=1e-12)


def test_rows_are_placed_one_by_one_as_in_a_batch(fitted):
    graph, _, model = fitted
    some = csr_array(graph[:12])
    some.data[some.indptr[3] + 4 : some.indptr[4]] = 1e3  # a row that is far from all but four
    for name in ("transform", "transform_mode"):
        batch = getattr(model, name)(some)
        alone = np.concatenate([getattr(model, name)(csr_array(some[i : i + 1])) for i in range(12)])
        np.testing.assert_allclose(batch, alone, rtol=1e-12)


@pytest.mark.thorough
def test_rows_may_know_different_numbers_of_others_and_pieces_need_not_be_linked():
    X, labels = clusters(150)
    X = X + 40.0 * np.eye(3, 4)[labels]
    graph = radius_neighbors_graph(X, 2.0, mode="distance")
    counts = np.diff(graph.indptr)
    linked = counts > 0
    graph = graph[linked][:, linked]
    assert counts[linked].min() < 5 < 30 < counts.max()
    for solver in ("annealed", "multilevel"):
        Z = of_graph(solver=solver).fit_transform(graph)
        assert np.isfinite(Z).all()
        assert neighbour_hit(Z, labels[linked]) > 0.95


def test_a_graph_of_fewer_neighbours_than_the_perplexity_has_half_of_those(fitted):
    assert fitted[2].perplexity_ == 15.0
    few = of_graph(solver="multilevel").fit(kneighbors_graph(clusters()[0], 6, mode="distance"))
    assert 3.0 <= few.perplexity_ <= 5.0


def test_duplicates_are_stored_zeros_and_are_put_together():
    X, _ = clusters(60)
    twice = np.repeat(X, 2, axis=0)
    Z = of_graph().fit_transform(kneighbors_graph(twice, 12, mode="distance"))
    apart = np.linalg.norm(Z[::2] - Z[1::2], axis=1)
    assert np.median(apart) < 0.2 * np.median(np.linalg.norm(Z[::2] - Z[np.r_[2:120:2, 0]], axis=1))


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
def test_what_is_given_is_factored_out_by_the_known_neighbours(solver):
    rng = np.random.default_rng(1)
    groups = np.arange(200) % 2
    X = np.column_stack([rng.uniform(-3, 3, (200, 2)), 1.5 * groups])
    graph = kneighbors_graph(X, 40, mode="distance")
    without, informed = (of_graph(solver=solver).fit(graph, given=given) for given in (None, groups))
    assert leakage(informed.embedding_, groups).value < leakage(without.embedding_, groups).value - 0.1
    D, some = np.linalg.norm(X[:100, None] - X[None, :100], axis=2), groups[:100]
    every = of_graph(solver=solver).fit(csr_array(D), given=some)
    np.testing.assert_array_equal(every.embedding_, of_graph(solver=solver).fit(D, given=some).embedding_)


def test_rows_of_which_nothing_is_known_are_placed_among_their_known_neighbours(fitted):
    graph, labels, _ = fitted
    some = np.where(np.arange(150) % 5 == 0, np.nan, np.arange(150) % 2)
    model = of_graph().fit(graph, given=some)
    assert neighbour_hit(model.embedding_, labels) > 0.9
    with pytest.raises(ValueError, match="row 0 of a sparse array has no distance to another row"):
        of_graph().fit(kneighbors_graph(np.arange(20.0)[:, None], 1, mode="distance"), given=[None, "a", None, "b"] * 5)


def test_it_is_the_same_with_any_number_of_threads_from_a_file_and_a_pickle(fitted, tmp_path):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    graph, _, model = fitted
    again = of_graph(solver="multilevel", n_jobs=1).fit(graph)
    assert again.embedding_.tobytes() == model.embedding_.tobytes()
    sidelight.save(model, tmp_path / "model.sidelight")
    for other in (sidelight.load(tmp_path / "model.sidelight"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.transform(graph[:9]), model.transform(graph[:9]))
        np.testing.assert_array_equal(other.embedding_, model.embedding_)


def test_tables_come_out_and_single_numbers_stay_single(fitted):
    graph, _, _ = fitted
    model = of_graph().set_output(transform="pandas").fit(graph.astype(np.float32))
    table = model.transform(graph[:5].astype(np.float32))
    assert list(table.columns) == ["kernelinformationembedding0", "kernelinformationembedding1"]
    assert (model.embedding_.dtype, set(table.dtypes)) == (np.float32, {np.dtype(np.float32)})


def test_a_graph_has_no_way_back(fitted):
    for name in ("inverse_transform", "denoise", "sample", "score_samples", "score", "counterfactual"):
        assert not hasattr(fitted[2], name)


@pytest.mark.thorough
def test_a_report_of_a_graph_shows_the_map_and_no_columns(fitted, tmp_path):
    graph, labels, model = fitted
    for name, rows in (("with", graph), ("without", None)):
        sidelight.report.write(model, tmp_path / name, X=rows, colours={"kind": labels})
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()


@pytest.mark.thorough
def test_nothing_is_made_of_all_pairs():
    n = 6000
    graph = kneighbors_graph(np.random.default_rng(0).normal(size=(n, 3)), 30, mode="distance")
    tracemalloc.start()
    try:
        with pytest.warns(ConvergenceWarning):
            model = of_graph(max_iter=1).fit(graph)
        model.transform(graph)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * n * n
    assert model.estimate_cost(20_000, 31).bytes < 2**30 < model.estimate_cost(20_000, 20_000).bytes


@pytest.mark.parametrize("bandwidth", ["loo", 2.0])
def test_kernels_of_all_pairs_need_all_pairs(fitted, bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth=.* needs all distances, and a sparse array holds some"):
        of_graph(bandwidth=bandwidth).fit(fitted[0])


def test_what_a_graph_cannot_do_is_said(fitted):
    graph, labels, model = fitted
    with pytest.raises(ValueError, match="same=1 pair needs all distances"):
        of_graph().fit(graph, given=labels, same=[[0, 1]])
    with pytest.raises(ValueError, match="X has 20 features, but KernelInformationEmbedding is expecting 150"):
        model.transform(graph[:, :20])
    with pytest.raises(ValueError, match="row 1 of a sparse array has no distance"):
        model.transform(csr_array(([1.0], ([0], [3])), shape=(2, 150)))
    with pytest.raises(ValueError, match="is a negative distance"):
        model.transform(csr_array(([-1.0], ([0], [3])), shape=(1, 150)))
    with pytest.raises(NotFittedError):
        of_graph().transform(graph)
    with pytest.raises(ValueError, match="missing=impute needs rows"):
        of_graph(missing="impute").fit(graph)
