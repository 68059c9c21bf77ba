"""How charts are placed by default: glued on sheets, along the graph on clusters, linear where nothing bends."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.neighbors import KNeighborsClassifier

import sidelight
from sidelight import CoordinatedCCA, CoordinatedMixture, PPCAMixture
from sidelight.coordinated._coordination_fit import best_placement, kept_placement
from sidelight.coordinated._targets import Placement, along_graphs, explained_by_neighbours, target
from sidelight.datasets import s_curve


def clusters(n=40, k=6, d=10, seed=0):
    """Clusters at the corners of a simplex, which two principal components cannot keep apart."""
    rng = np.random.default_rng(seed)
    labels = np.tile(np.arange(k), n)
    return 8 * np.eye(k, d)[labels] + rng.normal(size=(n * k, d)), labels


def told(Z, labels, new, truth):
    return KNeighborsClassifier(5).fit(Z, labels).score(new, truth)


@pytest.fixture(scope="module")
def found():
    return CoordinatedMixture(random_state=0).fit(clusters()[0])


@pytest.mark.thorough
def test_clusters_are_told_apart_where_principal_components_mix_them(found):
    (X, labels), (new, truth) = clusters(), clusters(seed=1)
    assert found.alignment_ == "geodesic"
    linear = PCA(2).fit(X)
    ours = told(found.embedding_, labels, found.transform(new), truth)
    assert ours > told(linear.transform(X), labels, linear.transform(new), truth) + 0.03
    assert ours > 0.97
    back = ((new - linear.inverse_transform(linear.transform(new))) ** 2).sum()
    assert ((new - found.denoise(new)) ** 2).sum() < back


def test_a_placed_map_is_centred_and_of_mean_variance_one(found):
    np.testing.assert_allclose(found.embedding_.mean(axis=0), 0.0, atol=1e-9)
    assert found.embedding_.var(axis=0).mean() == pytest.approx(1.0, rel=1e-9)
    assert (found.disagreement_ >= 0).all()


def test_rows_one_by_one_equal_the_batch(found):
    rows = clusters(seed=2)[0][:40]
    alone = np.concatenate([found.transform(rows[i : i + 1]) for i in range(40)])
    np.testing.assert_allclose(alone, found.transform(rows), rtol=0, atol=1e-12)


def test_a_file_keeps_how_charts_were_placed(found, tmp_path):
    path = tmp_path / "model.sidelight"
    sidelight.save(found, path)
    again = sidelight.load(path)
    assert again.alignment_ == "geodesic"
    np.testing.assert_array_equal(again.transform(clusters()[0]), found.embedding_)


def test_a_file_from_before_the_attribute_still_loads(found, tmp_path):
    from copy import copy

    old = copy(found)
    del old.alignment_
    sidelight.save(old, tmp_path / "old.sidelight")
    again = sidelight.load(tmp_path / "old.sidelight")
    assert not hasattr(again, "alignment_")
    np.testing.assert_array_equal(again.transform(clusters()[0]), found.embedding_)


@pytest.mark.thorough
def test_batches_place_charts_where_all_rows_do(found):
    X = clusters()[0]
    parts = CoordinatedMixture(random_state=0).fit_batches([X[:100], X[100:101], X[101:]])
    assert parts.alignment_ == "geodesic"
    np.testing.assert_allclose(parts.transform(X), found.embedding_, atol=1e-8)


@pytest.mark.thorough
def test_a_plane_in_noise_is_mapped_by_one_chart_and_the_model_says_so():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) @ rng.normal(size=(2, 8)) * 3 + rng.normal(size=(200, 8))
    model = CoordinatedMixture(random_state=0).fit(X)
    linear = PCA(2).fit(X)
    assert (model.alignment_, model.n_charts_) == ("linear", 1)
    assert model.score(X) > linear.explained_variance_ratio_.sum() - 0.01
    R = np.corrcoef(model.embedding_.T, linear.transform(X).T)[:2, 2:]
    np.testing.assert_allclose(np.abs(np.diag(R)), 1.0, atol=0.02)


@pytest.mark.thorough
def test_a_sheet_is_glued_as_before():
    X = s_curve(1000, random_state=0).X
    auto = CoordinatedMixture(n_charts=10, random_state=0).fit(X)
    glued = CoordinatedMixture(n_charts=10, alignment="coordination", random_state=0).fit(X)
    assert auto.alignment_ == "coordination"
    np.testing.assert_array_equal(auto.embedding_, glued.embedding_)


def test_a_balance_that_is_given_is_one_of_coordination():
    X = clusters(10)[0]
    given = CoordinatedMixture(n_charts=4, balance=None, random_state=0).fit(X)
    published = CoordinatedMixture(n_charts=4, balance=None, alignment="coordination", random_state=0).fit(X)
    assert given.alignment_ == "coordination"
    np.testing.assert_array_equal(given.embedding_, published.embedding_)


@pytest.mark.thorough
def test_charts_of_the_user_are_placed_along_the_graph_too():
    X, labels = clusters()
    charts = PPCAMixture(6, 2, random_state=0).fit(X).charts_
    model = CoordinatedMixture(mixture=charts, random_state=0).fit(X)
    assert model.alignment_ == "geodesic"
    asked = CoordinatedMixture(mixture=charts, alignment="geodesic", random_state=0).fit(X)
    np.testing.assert_array_equal(asked.embedding_, model.embedding_)
    glued = CoordinatedMixture(mixture=charts, alignment="coordination").fit(X)
    assert told(model.embedding_, labels, model.embedding_, labels) > 0.9
    assert glued.alignment_ == "coordination"


@pytest.mark.thorough
def test_wide_rows_are_mapped_by_their_components(tmp_path):
    X, labels = clusters(20, 4, 90)
    model = CoordinatedMixture(random_state=0).fit(X)
    assert model.map_.views[0].charts.components.axes.shape == (90, 50)
    assert told(model.embedding_, labels, model.embedding_, labels) > 0.9
    assert model.inverse_transform(model.embedding_).shape == X.shape
    sidelight.save(model, tmp_path / "wide.sidelight")
    again = sidelight.load(tmp_path / "wide.sidelight")
    np.testing.assert_array_equal(again.score_samples(X), model.score_samples(X))
    new = clusters(20, 4, 90, seed=1)[0]
    assert np.median(model.typicality(new)) > 0.2


def test_latent_points_along_a_curve_are_its_length_and_missing_dimensions_are_zero():
    t = np.linspace(0, 3, 60)
    X = np.column_stack([np.cos(t), np.sin(t)])
    latent = target(X, Placement("geodesic", 2), 1, None)[:, 0]
    assert abs(np.corrcoef(latent, t)[0, 1]) > 0.9999
    line = np.column_stack([t, 2 * t])
    np.testing.assert_allclose(target(line, Placement("linear"), 3, None)[:, 2], 0.0, atol=1e-12)
    assert target(line, Placement("geodesic", 5), 3, None).shape == (60, 3)


def test_every_placement_that_is_tried_can_be_made_again_by_itself():
    X = clusters(10)[0]
    tried = along_graphs(X, 2, None)
    assert [one.power for one in tried] == [2.0, 1.0, 1.0, 1.0, 1.0]
    assert [one.n_neighbors for one in tried] == [0, 0, 5, 8, 12]
    for placement, latent in tried.items():
        np.testing.assert_array_equal(target(X, placement, 2, None), latent)
    assert all(latent.shape == (3, 2) for latent in along_graphs(X[:3], 2, None).values())  # fewer rows than neighbours


def test_squared_steps_make_gaps_between_clusters_wide():
    X, labels = clusters(20, 4, 10)
    gaps = []
    for power in (1.0, 2.0):
        Z = target(X, Placement("geodesic", 0, power), 3, None)
        means = np.array([Z[labels == label].mean(axis=0) for label in range(4)])
        apart = np.linalg.norm(means[:, None] - means, axis=2)[np.triu_indices(4, 1)].min()
        gaps.append(apart / np.linalg.norm(Z - means[labels], axis=1).mean())
    assert gaps[1] > 1.25 * gaps[0]


def test_a_length_of_steps_and_one_of_squared_steps_are_alike_where_rows_are_even():
    t = np.linspace(0, 3, 90)
    X = np.column_stack([np.cos(t), np.sin(t)])
    plain, dense = (target(X, Placement("geodesic", 2, power), 1, None)[:, 0] for power in (1.0, 2.0))
    assert np.corrcoef(plain, dense)[0, 1] > 0.999


def test_neighbours_on_a_good_map_tell_the_rows():
    rng = np.random.default_rng(0)
    Z = rng.uniform(size=(300, 2))
    Y = np.column_stack([Z, Z[:, 0] ** 2])
    assert explained_by_neighbours(Y, Z, None) > 0.95
    assert explained_by_neighbours(Y, rng.uniform(size=(300, 2)), None) < 0.1
    assert explained_by_neighbours(Y[:200], Z[:200], None, Y[200:], Z[200:]) > 0.9
    assert explained_by_neighbours(np.ones((5, 2)), Z[:5], None) == 0.0


def test_the_simplest_map_is_kept_unless_another_is_better_by_a_tenth():
    assert best_placement([1.0, 0.95, 0.92]) == 0
    assert best_placement([1.0, 0.8, 0.75]) == 1
    assert best_placement([1.0, 0.8, 0.5]) == 2


def test_squared_steps_are_taken_only_where_plain_ones_leave_something_unexplained():
    squared, plain = Placement("geodesic", 0, 2.0), Placement("geodesic")
    assert kept_placement({squared: 0.05, plain: 0.05}) == squared
    assert kept_placement({squared: 0.05, plain: 0.04}) == plain
    assert kept_placement({squared: 0.0001, plain: 0.0001}) == plain  # a sheet, whose lengths count


def views(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, np.column_stack([np.sin(3 * X[:, 0]) * X[:, 1], X[:, 0] * X[:, 1]]) + 0.05 * rng.normal(size=(n, 2))


def test_a_view_that_charts_predict_poorly_is_predicted_by_a_kernel(tmp_path):
    (X, Y), (new, truth) = views(250), views(100, seed=1)
    options = {"n_components": 1, "n_charts": 2, "max_iter": 20, "tol": 1e-2, "random_state": 0}
    auto, charts = (CoordinatedCCA(regression=name, **options).fit(X, Y) for name in ("auto", "charts"))
    assert [kernel.view for kernel in auto.cross_.kernels] == [0, 1] or auto.cross_.kernels[-1].view == 1
    assert charts.cross_.kernels == ()
    assert auto.score(new, truth) > 0.95 > charts.score(new, truth)
    alone = np.concatenate([auto.predict(new[i : i + 1]) for i in range(20)])
    np.testing.assert_allclose(alone, auto.predict(new[:20]), rtol=0, atol=1e-10)
    sidelight.save(auto, tmp_path / "cca.sidelight")
    np.testing.assert_array_equal(sidelight.load(tmp_path / "cca.sidelight").predict(new), auto.predict(new))


def test_a_linear_relation_is_left_to_the_regression_on_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 8))
    Y = X @ rng.normal(size=(8, 3)) + 0.1 * rng.normal(size=(200, 3))
    found = CoordinatedCCA(1, n_charts=2, max_iter=20, tol=1e-2, random_state=0).fit(X, Y)
    assert 1 not in [kernel.view for kernel in found.cross_.kernels]
