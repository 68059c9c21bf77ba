"""DistanceMetric: planted metrics come back, with noise and without; cost; what happens along the way."""

from __future__ import annotations

import time
import tracemalloc

import numpy as np
import pytest
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold
from sklearn.utils import _safe_indexing

from sidelight import DistanceMetric, EquivalenceMetric, Pairs


def planted(rank, d=10, n=300, m=1200, noise=0.0, seed=0):
    """Rows, pairs, distances of a random metric of that rank (relative noise), and the metric."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.linspace(1, 3, d) + 5
    L = rng.normal(size=(rank, d))
    first = rng.integers(0, n, m)
    pairs = np.column_stack([first, (first + rng.integers(1, n, m)) % n])
    exact = np.linalg.norm((X[pairs[:, 0]] - X[pairs[:, 1]]) @ L.T, axis=1)
    return X, pairs, np.abs(exact * (1 + noise * rng.normal(size=m))), L.T @ L


def error(A, B):
    return np.linalg.norm(A - B) / np.linalg.norm(B)


@pytest.mark.parametrize("asked", ["its rank", None])
@pytest.mark.parametrize("rank", [1, 3, 10])
def test_a_planted_metric_comes_back(rank, asked):
    X, pairs, distances, A = planted(rank)
    model = DistanceMetric(None if asked is None else rank, regularization=1e-7, tol=1e-13)
    assert error(model.fit(X, pairs=pairs, distances=distances).mahalanobis_, A) < 1e-3


@pytest.mark.parametrize("rank", [1, 3, 10])
@pytest.mark.parametrize(("noise", "bar"), [(0.01, 0.02), (0.05, 0.1), (0.1, 0.2)])
def test_noise_of_the_distances_stays_noise_of_the_metric(rank, noise, bar):
    X, pairs, distances, A = planted(rank, noise=noise)
    found = DistanceMetric(rank).fit(X, pairs=pairs, distances=distances)
    assert error(found.mahalanobis_, A) < bar
    new = planted(rank, seed=9)[0]
    truth = np.sqrt(np.einsum("ni,ij,nj->n", new - new[::-1], A, new - new[::-1]))
    assert np.median(np.abs(found.pair_distance(new, new[::-1]) / truth - 1)[:150]) < bar / 2


def test_held_out_distances_say_how_strong_the_prior_is():
    for noise, strong in ((0.0, False), (0.2, True)):
        X, pairs, distances, A = planted(2, d=60, m=350, noise=noise)
        chosen = DistanceMetric(2, prior="trace").fit(X, pairs=pairs, distances=distances)
        usual = DistanceMetric(2, prior="trace", regularization=1e-3).fit(X, pairs=pairs, distances=distances)
        assert (chosen.regularization_ > 1e-3) == strong
        assert error(chosen.mahalanobis_, A) <= error(usual.mahalanobis_, A) + 1e-12


def test_nothing_given_is_the_identity():
    X = planted(1)[0]
    np.testing.assert_allclose(DistanceMetric().fit(X).mahalanobis_, np.eye(10), atol=1e-12)
    np.testing.assert_allclose(DistanceMetric().fit(X, pairs=[], distances=[]).mahalanobis_, np.eye(10), atol=1e-12)
    model = DistanceMetric(2).fit(X)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(2), atol=1e-12)


def test_in_many_dimensions_nothing_given_keeps_the_distances_of_the_data():
    X = np.random.default_rng(0).normal(size=(12, 300))
    model = DistanceMetric().fit(X)
    assert model.components_.shape == (11, 300)
    assert model.pair_distance(X, pairs=[[0, 5]])[0] == pytest.approx(np.linalg.norm(X[0] - X[5]))


def test_distances_of_the_data_itself_change_nothing():
    X, pairs, _, _ = planted(1)
    plain = 2.5 * np.linalg.norm(X[pairs[:, 0]] - X[pairs[:, 1]], axis=1)
    model = DistanceMetric(prior="identity", regularization=1e-2).fit(X, pairs=pairs, distances=plain)
    assert error(model.mahalanobis_, 2.5**2 * np.eye(10)) < 1e-4


@pytest.mark.parametrize("prior", ["trace", "identity"])
def test_what_the_pairs_do_not_see_is_left_to_the_prior(prior):
    X = np.random.default_rng(1).normal(size=(50, 4))
    X[:2] = [[0, 0, 0, 0], [1, 0, 0, 0]]
    model = DistanceMetric(prior=prior, regularization=1e-5, tol=1e-13).fit(X, pairs=[[0, 1]], distances=[3.0])
    unseen = 9.0 if prior == "identity" else 0.0
    np.testing.assert_allclose(model.mahalanobis_, np.diag([9.0, unseen, unseen, unseen]), atol=0.02)
    assert model.misfit_ < 1e-4


def test_a_strong_trace_prior_has_few_directions():
    X, pairs, distances, _ = planted(10, noise=0.1)
    ranks = [
        DistanceMetric(prior="trace", regularization=strength, tol=1e-12)
        .fit(X, pairs=pairs, distances=distances)
        .n_components_
        for strength in (1e-3, 0.5)
    ]
    assert ranks[1] < ranks[0]


@pytest.mark.thorough
def test_five_hundred_dimensions_and_two_thousand_distances_take_seconds_and_memory_of_a_factor():
    X, pairs, distances, A = planted(2, d=500, n=1000, m=2000)
    tracemalloc.start()
    began = time.process_time()
    model = DistanceMetric(2).fit(X, pairs=pairs, distances=distances)
    seconds = time.process_time() - began
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert seconds < 30
    assert peak < 8 * X.nbytes  # the list of differences is 2 X, the matrix of the source's program 15,000 X
    assert error(model.mahalanobis_, A) < 0.1


def test_many_columns_need_no_square_matrix_of_them():
    X = np.random.default_rng(0).normal(size=(40, 20_000))
    tracemalloc.start()
    DistanceMetric(2).fit(X, pairs=[[0, 1], [2, 3], [4, 5]], distances=[1.0, 2.0, 3.0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nbytes


def test_distances_go_with_their_pairs_through_a_split():
    X, pairs, distances, _ = planted(1, m=400)
    told = Pairs(pairs, 300, values=distances)
    train = next(KFold(3).split(X))[0]
    with config_context(enable_metadata_routing=True):
        cut = _safe_indexing(told, train)
    model = DistanceMetric(1).fit(X[train], pairs=cut)
    inside = np.isin(pairs, train).all(axis=1)
    kept = np.searchsorted(train, pairs[inside])
    expected = DistanceMetric(1).fit(X[train], pairs=kept, distances=distances[inside])
    np.testing.assert_array_equal(model.components_, expected.components_)


@pytest.mark.thorough
@pytest.mark.parametrize("factor", [1e150, 1e-150])
def test_the_scale_of_the_distances_is_that_of_the_metric(factor):
    X, pairs, distances, _ = planted(2, m=100)
    plain = DistanceMetric(2).fit(X, pairs=pairs, distances=distances).pair_distance(X, pairs=pairs)
    scaled = DistanceMetric(2).fit(X, pairs=pairs, distances=distances * factor).pair_distance(X, pairs=pairs)
    np.testing.assert_allclose(scaled / factor, plain, rtol=1e-6)


def test_distances_without_pairs_are_refused():
    with pytest.raises(ValueError, match=r"^DistanceMetric: pairs=None leaves distances without rows\."):
        DistanceMetric().fit(planted(1)[0], distances=[1.0])


@pytest.mark.parametrize(
    ("name", "value"), [("prior", "ridge"), ("max_iter", 0), ("tol", 0.0), ("regularization", "strong")]
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=rf"^DistanceMetric: {name}={value} is not "):
        DistanceMetric(**{name: value}).fit(planted(1)[0])


def test_running_out_of_iterations_is_warned_of():
    X, pairs, distances, _ = planted(3)
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=2 did not let the search converge: it ran out of iterations"
    ):
        DistanceMetric(max_iter=2).fit(X, pairs=pairs, distances=distances)


def test_a_callback_sees_the_state_and_stops_the_fit():
    X, pairs, distances, _ = planted(3)
    seen = []

    def stop(state):
        seen.append((state.objective, sorted(state.terms)))
        return len(seen) == 5

    model = DistanceMetric(3, callback=stop).fit(X, pairs=pairs, distances=distances)
    assert model.n_iter_ == len(seen) == len(model.history_) == 5
    assert seen[0][1] == ["misfit", "prior"]
    assert model.components_.shape == (3, 10)


def test_ctrl_c_keeps_the_best_so_far_and_is_raised_again():
    X, pairs, distances, _ = planted(3)

    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    model = DistanceMetric(3, callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, pairs=pairs, distances=distances)
    assert model.transform(X).shape == (300, 3)


def test_verbose_draws_the_objective(capsys):
    X, pairs, distances, _ = planted(1)
    DistanceMetric(verbose=1).fit(X, pairs=pairs, distances=distances)
    drawn = capsys.readouterr().err
    assert "DistanceMetric" in drawn
    assert "converged" in drawn


@pytest.mark.thorough
def test_a_kernel_learns_distances_that_no_linear_map_has():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    radius = np.linalg.norm(X, axis=1)
    pairs = rng.permutation(150)[:140].reshape(70, 2)
    pairs = np.concatenate([pairs, rng.permutation(150)[:140].reshape(70, 2)])
    told = np.abs(radius[pairs[:, 0]] - radius[pairs[:, 1]])
    correlation = {}
    for kernel in (None, "rbf"):
        Z = DistanceMetric(1, kernel=kernel).fit(X, pairs=pairs, distances=told).transform(X)[:, 0]
        correlation[kernel] = abs(np.corrcoef(Z, radius)[0, 1])
    assert correlation["rbf"] > 0.9 > correlation[None]


def test_distances_of_two_values_are_same_and_different_pairs():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = np.column_stack([3.0 * y, np.zeros(120), np.zeros(120)]) + rng.normal(size=(120, 3)) * [1.0, 1.0, 20.0]
    pairs = rng.permutation(120).reshape(60, 2)
    equal = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = DistanceMetric().fit(X, pairs=pairs, distances=np.where(equal, 0.0, 7.0))
    rival = EquivalenceMetric().fit(X, same=pairs[equal], different=pairs[~equal])
    assert (model.prior_, model.regularization_) == ("pairs", rival.regularization_)
    assert np.isfinite(model.regularization_)
    A, B = (found.mahalanobis_ / np.trace(found.mahalanobis_) for found in (model, rival))
    np.testing.assert_allclose(A, B, atol=1e-9)


def test_distances_that_say_nothing_leave_the_metric_euclidean_but_for_its_scale():
    rng = np.random.default_rng(0)
    X, pairs = rng.normal(size=(60, 4)), rng.permutation(60).reshape(30, 2)
    model = DistanceMetric().fit(X, pairs=pairs, distances=rng.uniform(1, 2, 30))
    assert (model.prior_, model.regularization_) == ("identity", np.inf)
    np.testing.assert_allclose(model.mahalanobis_, model.mahalanobis_[0, 0] * np.eye(4), atol=1e-12)
    assert 0 < model.misfit_ < 1


def test_fewer_than_five_distances_leave_the_metric_euclidean_unless_a_prior_is_named():
    X, told = np.random.default_rng(1).normal(size=(20, 3)), {"pairs": [[0, 1], [2, 3]], "distances": [1.0, 5.0]}
    assert np.isinf(DistanceMetric().fit(X, **told).regularization_)
    assert DistanceMetric(prior="trace").fit(X, **told).misfit_ < 0.01


def test_distances_of_a_metric_are_found_by_the_default():
    X, pairs, distances, A = planted(2)
    model = DistanceMetric().fit(X, pairs=pairs, distances=distances)
    assert np.isfinite(model.regularization_)
    assert error(model.mahalanobis_, A) < 0.05
