"""EquivalenceMetric: the closed form against an SDP solver and discriminant analysis, and its traps."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from oracle import solved_by
from scipy.linalg import subspace_angles
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_circles
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap
from sklearn.metrics.pairwise import linear_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sidelight import EquivalenceMetric, Pairs, load, save
from sidelight.evaluate import neighbour_hit
from sidelight.metrics._chosen_prior import _best_weight

RNG = np.random.default_rng(0)


def angles(A, B):
    return subspace_angles(A.components_.T, B.components_.T).max()


def random_pairs(n, m, seed):
    rng = np.random.default_rng(seed)
    numbers = rng.choice(n * (n - 1) // 2, m, replace=False)
    first, second = np.triu_indices(n, 1)
    return np.column_stack([first[numbers], second[numbers]])


def loss(A, X, same, different):
    def total(pairs):
        D = X[pairs[:, 0]] - X[pairs[:, 1]]
        return np.einsum("ei,ij,ej->", D, A, D)

    return total(same) - total(different)


def within_limits(values, top):
    """The nearest numbers between 0 and ``top`` whose sum is 1."""
    shift = brentq(lambda t: np.clip(values + t, 0, top).sum() - 1, -2, 2, xtol=1e-15)
    return np.clip(values + shift, 0, top)


@pytest.mark.parametrize("r", [1, 2, 4])
@pytest.mark.parametrize(("n_same", "n_different"), [(20, 5), (15, 15), (0, 9), (30, 0)])
def test_the_literal_form_is_never_above_the_semidefinite_program(r, n_same, n_different):
    cvxpy = pytest.importorskip("cvxpy", reason="the oracle is an SDP solver")
    X = np.random.default_rng(5).normal(size=(40, 6))
    pairs = random_pairs(40, n_same + n_different, seed=r)
    same, different = pairs[:n_same], pairs[n_same:]
    found = EquivalenceMetric(r, form="literal").fit(X, same=same, different=different).mahalanobis_
    assert np.trace(found) == pytest.approx(1)
    D = [(X[p[:, 0]] - X[p[:, 1]]) for p in (same, different)]
    M = D[0].T @ D[0] - D[1].T @ D[1]
    A = cvxpy.Variable((6, 6), PSD=True)
    limits = [cvxpy.trace(A) == 1, np.eye(6) / r - A >> 0]
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(M @ A)), limits)
    solver = solved_by(program)
    values, vectors = np.linalg.eigh(A.value)
    oracle = (vectors * within_limits(values, 1 / r)) @ vectors.T  # a solver's answer breaks them a little
    ours = loss(found, X, same, different)
    assert ours <= loss(oracle, X, same, different) + 1e-9, f"the oracle is {solver}"
    assert ours == pytest.approx(program.value, rel=1e-5, abs=1e-5), f"the oracle is {solver}"


def test_labels_are_short_for_all_pairs():
    X, y = RNG.normal(size=(40, 5)), RNG.integers(0, 3, 40)
    first, second = np.triu_indices(40, 1)
    equal = y[first] == y[second]
    index = np.column_stack([first, second])
    for form in ("generalised", "literal"):
        labels = EquivalenceMetric(2, form=form).fit(X, y)
        pairs = EquivalenceMetric(2, form=form).fit(X, same=index[equal], different=index[~equal])
        np.testing.assert_allclose(labels.components_, pairs.components_, atol=1e-8)
        assert labels.n_pairs_ == pairs.n_pairs_ == (equal.sum(), (~equal).sum())


@pytest.mark.thorough
def test_labels_of_many_rows_are_not_listed_as_pairs():
    X, y = RNG.normal(size=(50_000, 3)), RNG.integers(0, 4, 50_000)
    tracemalloc.start()
    model = EquivalenceMetric().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sum(model.n_pairs_) == 50_000 * 49_999 // 2
    assert peak < 20 * X.nbytes


def test_labels_of_equal_classes_with_little_shrinkage_are_discriminant_analysis():
    X, y = load_iris(return_X_y=True)
    model = EquivalenceMetric(2, regularization=1e-9).fit(X, y)
    rival = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    ours, theirs = model.transform(X), rival.transform(X - X.mean(axis=0))
    np.testing.assert_allclose(np.abs(ours / ours.std(axis=0)), np.abs(theirs / theirs.std(axis=0)), atol=1e-5)


def test_units_of_columns_do_not_matter_without_shrinkage_and_do_in_the_literal_form():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    stretched = X * np.logspace(-1, 1, X.shape[1])

    def moved(**parameters):
        Z, W = (EquivalenceMetric(2, **parameters).fit(rows, y).transform(rows) for rows in (X, stretched))
        return np.abs(np.abs(Z) / np.abs(Z).max() - np.abs(W) / np.abs(W).max()).max()

    assert moved(regularization=1e-10) < 1e-4
    assert moved(form="literal") > 0.1


def test_nothing_given_is_pca():
    X = RNG.normal(size=(60, 4)) * [1, 2, 3, 4]
    axes = PCA(2).fit(X).components_.T
    for form in ("generalised", "literal"):
        model = EquivalenceMetric(2, form=form).fit(X)
        assert subspace_angles(model.components_.T, axes).max() < 1e-6
        assert model.n_pairs_ == (0, 0)


def test_nothing_given_at_full_rank_is_the_plain_distance():
    X = RNG.normal(size=(60, 4)) * [1, 2, 3, 4] + 9
    model = EquivalenceMetric().fit(X)
    plain = np.linalg.norm(X[:30] - X[30:], axis=1)
    np.testing.assert_allclose(model.pair_distance(X[:30], X[30:]), plain, rtol=1e-10)
    np.testing.assert_allclose(np.abs(model.transform(X)), np.abs(PCA().fit_transform(X)), atol=1e-8)


def nuisance(seed, n=120, d=60):
    """Four classes in a few columns; three wide directions that have nothing to do with them; noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 4
    X = rng.normal(size=(n, d)) * 0.3
    X[:, :4] += 2.0 * np.eye(4)[y]
    return X + rng.normal(size=(n, 3)) @ np.linalg.qr(rng.normal(size=(d, 3)))[0].T * 12, y


@pytest.mark.parametrize("seed", range(5))
def test_eight_same_pairs_take_out_what_same_rows_differ_in(seed):
    X, y = nuisance(seed)
    rng = np.random.default_rng(seed + 50)
    same = [rng.choice(np.flatnonzero(y == c), 2, replace=False) for c in (0, 1, 2, 3, 0, 1, 2, 3)]
    Z = EquivalenceMetric(regularization=30).fit(X, same=same).transform(X)
    assert neighbour_hit(X, y) < 0.5
    assert neighbour_hit(Z, y) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_different_pairs_alone_bring_out_what_they_differ_in(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 6)) * [4, 1, 1, 1, 1, 1]
    y = X[:, 3] > 0
    pairs = random_pairs(200, 300, seed)
    told = EquivalenceMetric(regularization=6).fit(X, different=pairs[y[pairs[:, 0]] != y[pairs[:, 1]]])
    weights = np.diag(told.mahalanobis_)
    assert weights.argmax() == 3
    assert weights[3] > 1.2 * np.median(weights)


def test_the_data_is_as_spread_out_under_the_metric_as_it_was():
    X, y = load_wine(return_X_y=True)
    Z = EquivalenceMetric().fit(X, y).transform(X)
    assert Z.var(axis=0).sum() == pytest.approx(X.var(axis=0).sum())


def test_the_way_back_is_exact_at_full_rank_and_the_best_linear_one_below():
    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    model = EquivalenceMetric().fit(X, y)
    np.testing.assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-8)
    low = EquivalenceMetric(2).fit(X, y)
    Z = low.transform(X)
    np.testing.assert_allclose(low.inverse_transform(Z), Z @ np.linalg.lstsq(Z, X)[0], atol=1e-8)
    with pytest.raises(ValueError, match=r"^EquivalenceMetric: Z=3 columns does not have the 2 columns of transform"):
        low.inverse_transform(X[:, :3])
    assert not hasattr(EquivalenceMetric(kernel="rbf"), "inverse_transform")


def test_labels_of_one_class_say_nothing():
    X = RNG.normal(size=(60, 4)) * [1, 2, 3, 4]
    model = EquivalenceMetric(2).fit(X, np.zeros(60, dtype=int))
    assert angles(model, EquivalenceMetric(2).fit(X)) < 1e-4


@pytest.mark.parametrize("form", ["generalised", "literal"])
def test_only_same_pairs_in_many_dimensions_do_not_make_every_distance_zero(form):
    X = np.zeros((30, 200))
    X[:, :60] = RNG.normal(size=(30, 60))
    model = EquivalenceMetric(form=form).fit(X, same=[[0, 1], [2, 3]])
    Z = model.transform(X)
    assert Z.std() > 0.1 * (1 if form == "generalised" else X.std(axis=0).max())
    assert not model.components_[:, 60:].any() or np.abs(model.components_[:, 60:]).max() < 1e-12


def test_a_hint_is_followed_where_it_decides():
    X = RNG.normal(size=(300, 6)) * [5, 1, 1, 1, 1, 1]
    y = X[:, 3] > 0
    pairs = random_pairs(300, 200, seed=1)
    equal = y[pairs[:, 0]] == y[pairs[:, 1]]
    told = EquivalenceMetric(1).fit(X, same=pairs[equal], different=pairs[~equal])
    assert abs(told.components_[0, 3]) / np.linalg.norm(told.components_) > 0.9
    assert abs(EquivalenceMetric(1).fit(X).components_[0, 0]) > 0.9


def test_many_columns_need_no_square_matrix_of_them():
    X = RNG.normal(size=(40, 30_000))
    tracemalloc.start()
    EquivalenceMetric(2).fit(X, np.arange(40) % 2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * X.nbytes  # a matrix of 30,000 x 30,000 is 750 times the data


def test_a_rank_one_metric_makes_a_line_and_a_rank_two_metric_a_plane():
    X, y = RNG.normal(size=(80, 5)), np.arange(80) % 2
    for r in (1, 2):
        Z = make_pipeline(EquivalenceMetric(r), PCA(min(r, 2))).fit_transform(X, y)
        assert np.linalg.matrix_rank(Z, tol=1e-8) == r


def test_goes_before_any_embedding():
    X = np.concatenate([RNG.normal(size=(40, 20)), RNG.normal(size=(40, 20))])
    X[40:, 7] += 4
    X[:, 0] *= 12
    y = np.repeat([0, 1], 40)
    informed = make_pipeline(EquivalenceMetric(2), Isomap(n_neighbors=20)).fit_transform(X, y)
    plain = Isomap(n_neighbors=20).fit_transform(X)
    assert neighbour_hit(informed, y) > 0.95 > neighbour_hit(plain, y)


def test_the_linear_kernel_is_the_model_without_a_kernel():
    X, y = RNG.normal(size=(50, 4)) + 3, RNG.integers(0, 2, 50)
    for form in ("generalised", "literal"):
        plain = EquivalenceMetric(2, form=form).fit(X, y)
        kernel = EquivalenceMetric(2, form=form, kernel=linear_kernel).fit(X, y)
        new = RNG.normal(size=(9, 4))
        np.testing.assert_allclose(kernel.pair_distance(new, new[::-1]), plain.pair_distance(new, new[::-1]), atol=1e-8)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_kernel_separates_rings_that_no_line_does(kernel):
    X, y = make_circles(200, factor=0.4, noise=0.05, random_state=0)
    train, test = np.arange(0, 200, 2), np.arange(1, 200, 2)
    hit = {}
    for name in (None, kernel):
        model = EquivalenceMetric(1, kernel=name, degree=2, regularization=30).fit(X[train], y[train])
        hit[name] = neighbour_hit(model.transform(X[test]), y[test])
    assert hit[kernel] > 0.97
    assert hit[None] < 0.8


def test_gamma_is_in_units_of_the_data():
    X, y = RNG.normal(size=(40, 3)), np.arange(40) % 2
    Z = [EquivalenceMetric(kernel="rbf", gamma=0.3 / s**2).fit(X * s, y).transform(X * s) for s in (1.0, 100.0)]
    np.testing.assert_allclose(np.abs(Z[0]), np.abs(Z[1]), atol=1e-9)


def test_pairs_come_before_labels_and_labels_may_be_missing():
    X, y = RNG.normal(size=(30, 3)), np.arange(30) % 2
    same = Pairs([[0, 2], [4, 6]], 30)
    np.testing.assert_array_equal(
        EquivalenceMetric().fit(X, np.arange(30.0) / 7, same=same).components_,
        EquivalenceMetric().fit(X, same=same).components_,
    )
    gaps = pd.Series(y).where(np.arange(30) < 20)
    assert EquivalenceMetric().fit(X, gaps).n_pairs_ == EquivalenceMetric().fit(X[:20], y[:20]).n_pairs_


def test_contradictions_duplicates_and_ranges_are_said_with_their_rows():
    X = RNG.normal(size=(10, 3))
    with pytest.raises(ValueError, match=r"^EquivalenceMetric: same=\(1, 2\) is among the pairs of different too"):
        EquivalenceMetric().fit(X, same=[[1, 2]], different=[[2, 1]])
    with pytest.warns(UserWarning, match=r"^EquivalenceMetric: same=\(1, 2\) occurs more than once"):
        twice = EquivalenceMetric().fit(X, same=[[1, 2], [2, 1]])
    assert twice.n_pairs_ == (1, 0)
    with pytest.raises(ValueError, match="index=10 points outside the 10 rows"):
        EquivalenceMetric().fit(X, different=[[1, 10]])
    with pytest.raises(ValueError, match="n_samples=9 does not match the 10 rows of X"):
        EquivalenceMetric().fit(X, same=Pairs([[0, 1]], 9))


@pytest.mark.parametrize("y", [np.zeros((10, 2), dtype=int), np.linspace(0, 1, 10)])
def test_labels_that_are_no_classes_are_refused(y):
    with pytest.raises(ValueError, match=r"^EquivalenceMetric: y="):
        EquivalenceMetric().fit(RNG.normal(size=(10, 3)), y)


def test_an_unknown_form_is_refused():
    with pytest.raises(ValueError, match=r"^EquivalenceMetric: form=convex is not an option\. Choose one of"):
        EquivalenceMetric(form="convex").fit(RNG.normal(size=(10, 3)))


def test_pairs_that_say_nothing_mostly_leave_the_metric_as_it_is():
    kept = 0
    for seed in range(8):
        X, pairs = np.random.default_rng(seed).normal(size=(60, 5)), random_pairs(60, 24, seed)
        model = EquivalenceMetric().fit(X, same=pairs[:12], different=pairs[12:])
        if np.isinf(model.regularization_):
            kept += 1
            np.testing.assert_allclose(model.mahalanobis_, np.eye(5), atol=1e-12)
    assert kept >= 6  # of 200 draws 70 %: a lower bound of 0.85, and eight weights to choose from


@pytest.mark.parametrize("seed", range(2))
def test_forty_same_pairs_are_enough_to_be_sure(seed):
    X, y = nuisance(seed, n=160, d=30)
    rng = np.random.default_rng(seed)
    same = [rng.choice(np.flatnonzero(y == k % 4), 2, replace=False) for k in range(40)]
    model = EquivalenceMetric().fit(X, same=np.unique(np.sort(same, axis=1), axis=0))
    assert np.isfinite(model.regularization_)
    assert neighbour_hit(model.transform(X), y) > 0.9 > 0.5 > neighbour_hit(X, y)


def test_fewer_than_three_pairs_leave_the_metric_euclidean_unless_taken_at_their_word():
    X, same = RNG.normal(size=(30, 4)), [[0, 1], [2, 3]]
    np.testing.assert_allclose(EquivalenceMetric().fit(X, same=same).mahalanobis_, np.eye(4), atol=1e-12)
    told = EquivalenceMetric(regularization=4).fit(X, same=same)
    assert told.regularization_ == 4
    assert np.abs(told.mahalanobis_ - np.eye(4)).max() > 0.01


@pytest.mark.parametrize("count", [20, 100])
def test_neighbours_under_the_metric_of_few_pairs_are_no_worse_than_without_it(count):
    X, y = load_breast_cancer(return_X_y=True)
    X, worse = StandardScaler().fit_transform(X), []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X))
        first, second = order[:280], order[280:]
        pairs = random_pairs(280, count, seed)
        equal = y[first][pairs[:, 0]] == y[first][pairs[:, 1]]
        model = EquivalenceMetric().fit(X[first], same=pairs[equal], different=pairs[~equal])
        hits = [
            KNeighborsClassifier(3).fit(mapped(X[first]), y[first]).score(mapped(X[second]), y[second])
            for mapped in (np.asarray, model.transform)
        ]
        worse.append(hits[0] - hits[1])
    assert np.mean(worse) <= 0.005


def test_pairs_that_share_rows_count_as_what_is_independent_of_them():
    gains = [np.tile([0.4, -0.15], (1, 6))]
    assert _best_weight(np.array([3.0]), gains, [12], "within") == 3.0
    assert np.isinf(_best_weight(np.array([3.0]), gains, [3], "within"))


def test_the_metric_within_is_the_inverse_of_the_scatter_of_same_pairs_shrunk_to_that_of_any_two_rows():
    rng = np.random.default_rng(0)
    X, same = rng.normal(size=(40, 4)) * [3, 1, 1, 2], random_pairs(40, 6, 0)
    found = EquivalenceMetric(form="within", regularization=2.5).fit(X, same=same)
    steps = X[same[:, 0]] - X[same[:, 1]]
    free = 40 - connected_components(coo_array((np.ones(6), same.T), shape=(40, 40)), directed=False)[0]
    wanted = np.linalg.inv(free * steps.T @ steps / 12 + 2.5 * X.var(axis=0, ddof=1).mean() * np.eye(4))
    wanted *= np.trace(np.cov(X.T)) / np.trace(wanted @ np.cov(X.T))
    np.testing.assert_allclose(found.mahalanobis_, wanted, rtol=1e-9)


def test_one_same_pair_changes_one_direction_of_the_metric_within():
    X = np.random.default_rng(1).normal(size=(50, 5)) * [1, 2, 3, 4, 5]
    A = EquivalenceMetric(form="within", regularization=1).fit(X, same=[[0, 1]]).mahalanobis_
    values = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(values[1:], values[1], rtol=1e-9)
    assert values[0] < 0.9 * values[1]


def test_the_form_follows_from_the_weight_and_the_pairs():
    X, y = nuisance(0, n=80, d=6)
    pairs = random_pairs(80, 30, 0)
    assert EquivalenceMetric().fit(X, y).form_ == "within"
    assert EquivalenceMetric(regularization=30).fit(X, y).form_ == "generalised"
    assert EquivalenceMetric().fit(X, different=pairs).form_ == "generalised"
    assert EquivalenceMetric(form="generalised").fit(X, y).form_ == "generalised"
    assert EquivalenceMetric(form="literal").fit(X, y).form_ == "literal"


def test_different_pairs_help_to_choose_the_weight_where_same_pairs_are_fewer_than_three():
    X, y = nuisance(1, n=160, d=10)
    pairs = random_pairs(160, 60, 2)
    equal = y[pairs[:, 0]] == y[pairs[:, 1]]
    same, different = pairs[equal][:2], pairs[~equal]
    assert np.isinf(EquivalenceMetric().fit(X, same=same).regularization_)
    model = EquivalenceMetric().fit(X, same=same, different=different)
    assert np.isfinite(model.regularization_)
    assert neighbour_hit(model.transform(X), y) > neighbour_hit(X, y) + 0.1


def test_a_saved_metric_keeps_the_weight_of_its_prior(tmp_path):
    X = RNG.normal(size=(30, 4))
    for model in (EquivalenceMetric().fit(X), EquivalenceMetric(regularization=3).fit(X, same=[[0, 1]])):
        save(model, tmp_path / "metric")
        assert load(tmp_path / "metric").regularization_ == model.regularization_
