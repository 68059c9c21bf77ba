"""The effect of what is known: means, matched offsets where groups are confounded, smooth regression."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.effect import Effect, category_effect, local_effect, subtract_effect
from sidelight.maps.matched import mismatch
from sidelight.maps.smooth_effect import smooth_effect


def one_hot(codes):
    return np.eye(int(codes.max()) + 1)[codes]


def circle(degrees, bandwidth=0.3):
    turn = np.deg2rad(degrees)
    return np.sqrt(2 / bandwidth) * np.column_stack([np.cos(turn), np.sin(turn)])


def standard(values, bandwidth=0.3):
    return ((values - values.mean()) / values.std() / np.sqrt(bandwidth))[:, None]


def share_left(X, effect, features):
    rest = X - effect(features)
    return (rest**2).sum() / ((X - X.mean(axis=0)) ** 2).sum()


def two_clusters_in_three_groups(seed, confounded, size=3.0, d=5):
    """Clusters 15 apart, groups shifted by ``size``; confounded: two of the groups hold one cluster each."""
    rng = np.random.default_rng(seed)
    codes = np.repeat([0, 1, 2], 150)
    cluster = np.arange(450) % 2
    if confounded:
        cluster = np.where(codes == 0, cluster, codes - 1)
    shift = rng.normal(size=(3, d))
    shift *= size / np.linalg.norm(shift, axis=1, keepdims=True)
    X = rng.normal(size=(450, d)) + 15.0 * np.eye(d)[0] * cluster[:, None] + shift[codes]
    return X, codes, shift - shift.mean(axis=0)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(3))
def test_the_effect_of_balanced_groups_is_their_means(seed):
    X, codes, _ = two_clusters_in_three_groups(seed, confounded=False)
    effect, confounded = category_effect(X, one_hot(codes), codes)
    assert not confounded
    means = [X[codes == c].mean(axis=0) for c in range(3)]
    np.testing.assert_allclose(effect(np.eye(3)), means, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_matched_rows_recover_the_shift_of_confounded_groups(seed):
    X, codes, shift = two_clusters_in_three_groups(seed, confounded=True)
    effect, confounded = category_effect(X, one_hot(codes), codes)
    assert confounded
    found = effect(np.eye(3))
    means = np.array([X[codes == c].mean(axis=0) for c in range(3)])
    wrong_by, means_wrong_by = (np.linalg.norm(offsets - offsets.mean(axis=0) - shift) for offsets in (found, means))
    assert wrong_by < 0.1 * means_wrong_by
    assert wrong_by < 1.0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("groups", [2, 5])
@pytest.mark.thorough
def test_groups_of_pure_noise_are_not_called_confounded(seed, groups):
    rng = np.random.default_rng(seed)
    assert not category_effect(rng.normal(size=(200, 6)), one_hot(np.arange(200) % groups), np.arange(200) % groups)[1]


def test_removing_the_effect_removes_the_means_weighted_by_the_groups():
    X, codes, _ = two_clusters_in_three_groups(0, confounded=True)
    effect, _ = category_effect(X, one_hot(codes), codes)
    np.testing.assert_allclose((X - effect(one_hot(codes))).mean(axis=0), 0.0, atol=1e-9)


@pytest.mark.parametrize("count", [60, 449])
def test_more_groups_than_strata_and_groups_of_one_have_their_means(count):
    X, _, _ = two_clusters_in_three_groups(0, confounded=False)
    codes = np.arange(450) % count
    effect, confounded = category_effect(X, one_hot(codes), codes)
    assert not confounded
    np.testing.assert_allclose(effect(np.eye(count)[:5]), [X[codes == c].mean(axis=0) for c in range(5)], atol=1e-12)


@pytest.mark.thorough
@pytest.mark.parametrize("width", [1e-6, 1.0, 1e6])
def test_categories_are_looked_up_whatever_their_bandwidth(width):
    X, codes, _ = two_clusters_in_three_groups(0, confounded=False)
    F = one_hot(codes) / np.sqrt(width)
    effect, _ = category_effect(X, F, codes)
    np.testing.assert_allclose(effect(F[:3]), np.repeat(X[:150].mean(axis=0)[None], 3, axis=0), atol=1e-12)


def test_a_combination_never_seen_takes_the_mean_of_the_nearest_ones():
    """Columns a, b with categories 0, 1 each; (1, 1) was never seen: (0, 1) and (1, 0) are one step away."""
    pairs = np.repeat([[0, 0], [0, 1], [1, 0]], 30, axis=0)
    features = np.concatenate([np.eye(2)[pairs[:, 0]], np.eye(2)[pairs[:, 1]]], axis=1)
    codes = np.repeat([0, 1, 2], 30)
    X = np.random.default_rng(0).normal(size=(90, 2)) + codes[:, None]
    effect, _ = category_effect(X, features, codes)
    unseen = np.array([[0.0, 1.0, 0.0, 1.0]])
    expected = 0.5 * (X[30:60].mean(axis=0) + X[60:].mean(axis=0))
    np.testing.assert_allclose(effect(unseen)[0], expected, atol=1e-12)


def test_mismatch_is_zero_for_one_cloud_and_grows_with_the_distance():
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(400, 3)), np.arange(400) % 2
    near, far = (mismatch(X + step * codes[:, None], codes) for step in (2.0, 20.0))
    assert abs(mismatch(X, codes)) < 0.05
    assert 0.3 < near < far
    assert mismatch(np.zeros((10, 2)), np.arange(10) % 2) == 0.0


@pytest.mark.parametrize("n", [40, 400])
def test_a_smooth_effect_follows_the_function(n):
    t = np.random.default_rng(0).uniform(0, 5, n)
    X = np.column_stack([np.sin(t), np.cos(2 * t), t**2])
    assert share_left(X, smooth_effect(X, standard(t)), standard(t)) < 1e-6


@pytest.mark.parametrize("n", [30, 100, 400])
@pytest.mark.parametrize("seed", range(3))
def test_near_unique_values_that_say_nothing_explain_nothing(n, seed):
    """As many values as rows: least squares would interpolate X to nothing."""
    rng = np.random.default_rng(seed)
    features = np.column_stack([standard(rng.uniform(size=n)), standard(rng.uniform(size=n))])
    X = rng.normal(size=(n, 4))
    assert share_left(X, smooth_effect(X, features), features) > 0.8


def test_noise_around_a_smooth_effect_stays():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 5, 300)
    noise = 0.1 * rng.normal(size=(300, 2))
    X = np.column_stack([np.sin(t), np.cos(t)]) + noise
    rest = X - smooth_effect(X, standard(t))(standard(t))
    np.testing.assert_allclose((rest**2).sum() / (noise**2).sum(), 1.0, atol=0.1)
    assert np.corrcoef(rest.ravel(), noise.ravel())[0, 1] > 0.97


def test_the_effect_of_an_angle_is_periodic():
    angle = np.random.default_rng(0).uniform(0, 360, 200)
    turn = np.deg2rad(angle)
    X = np.column_stack([np.cos(turn), np.sin(2 * turn)])
    effect = smooth_effect(X, circle(angle))
    np.testing.assert_allclose(effect(circle(np.array([-10.0, 725.0]))), effect(circle(np.array([350.0, 5.0]))))
    across = np.array([359.5, 0.5])
    np.testing.assert_allclose(effect(circle(across))[:, 0], np.cos(np.deg2rad(across)), atol=0.01)
    assert np.abs(np.diff(effect(circle(across)), axis=0)).max() < 0.05


def test_the_mean_belongs_to_the_effect_whatever_the_ridge():
    rng = np.random.default_rng(0)
    X, features = rng.normal(size=(50, 3)) + 100.0, standard(rng.normal(size=50))
    np.testing.assert_allclose(smooth_effect(X, features)(features).mean(axis=0), X.mean(axis=0), rtol=0.01)


def test_many_columns_are_fitted_in_full():
    """The ridge is chosen on the main directions; what is fitted is every column."""
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 5, 200)
    X = np.column_stack([np.sin(t + phase) for phase in np.linspace(0, 3, 120)])
    effect = smooth_effect(X, standard(t))
    assert effect(standard(t)).shape == (200, 120)
    assert share_left(X, effect, standard(t)) < 1e-6


def test_more_values_than_landmarks_are_followed_too():
    t = np.random.default_rng(0).uniform(0, 5, 900)
    X = np.column_stack([np.sin(t), t])
    effect = smooth_effect(X, standard(t))
    assert len(effect.landmarks) == 300
    assert share_left(X, effect, standard(t)) < 1e-6


@pytest.mark.parametrize("n", [2, 3])
def test_constant_data_and_few_rows_have_finite_effects(n):
    features = standard(np.arange(float(n)))
    X = np.full((n, 2), 3.0)
    np.testing.assert_allclose(smooth_effect(X, features)(features), X)
    assert np.isfinite(smooth_effect(np.eye(3)[:n], features)(features)).all()


@pytest.mark.thorough
def test_a_row_has_the_same_effect_alone_and_in_company():
    X, codes, _ = two_clusters_in_three_groups(0, confounded=False)
    for effect, features in (
        (category_effect(X, one_hot(codes), codes)[0], one_hot(codes)),
        (smooth_effect(X, standard(X[:, 1])), standard(X[:, 1])),
    ):
        assert isinstance(effect, Effect)
        alone = np.concatenate([effect(features[i : i + 1]) for i in range(0, 450, 50)])
        np.testing.assert_allclose(alone, effect(features)[::50], rtol=1e-12, atol=1e-12)


def test_the_local_effect_finds_an_effect_that_depends_on_the_place():
    rng = np.random.default_rng(0)
    place, group = rng.uniform(-6, 6, size=(600, 2)), rng.integers(0, 2, 600)
    shift = np.where(group == 0, -1.0, 1.0) * np.tanh(place[:, 0] / 3)  # the groups change sides along the map
    X = np.column_stack([shift, rng.normal(size=600)])
    features = np.eye(2)[group]
    overall = np.zeros_like(X)
    found = local_effect(X, place, features, group, overall)
    assert np.corrcoef(found[:, 0], shift)[0, 1] > 0.9
    assert np.abs(found[:, 1]).mean() < 0.35  # noise of the size of a mean over the group's rows nearby


def test_the_local_effect_of_a_group_with_few_rows_is_nearly_the_overall_one():
    rng = np.random.default_rng(1)
    place, group = rng.normal(size=(200, 2)) * 3, np.zeros(200, dtype=int)
    group[:1] = 1
    X = rng.normal(size=(200, 3))
    overall = np.where(group[:, None] == 1, 7.0, 0.0) * np.ones(3)
    typical = overall - overall.mean(axis=0)
    found = local_effect(X, place, np.eye(2)[group], group, overall)
    own = X[0] - X.mean(axis=0)
    np.testing.assert_allclose(found[0], 0.75 * typical[0] + 0.25 * own, atol=0.25)


def rows_on_a_map(n=900, seed=0):
    """A map, a number, three groups, and data in which what a group or the number does depends on the place."""
    rng = np.random.default_rng(seed)
    Z, t, groups = rng.normal(size=(n, 2)), rng.normal(size=n), rng.permutation(np.arange(n) % 3)
    X = np.column_stack([np.sin(Z[:, 0]) + groups * Z[:, 1], t * Z[:, 0], t**2 + groups])
    return X + 0.1 * rng.normal(size=X.shape), Z, t, groups


@pytest.mark.parametrize("known", ["group", "number", "both"])
def test_the_local_effect_of_many_rows_on_a_grid_is_that_over_all_pairs(monkeypatch, known):
    X, Z, t, groups = rows_on_a_map()
    parts = {"group": [one_hot(groups)], "number": [standard(t)], "both": [one_hot(groups), standard(t)]}[known]
    features, categories = np.hstack(parts), np.zeros_like(groups) if known == "number" else groups
    pairs = local_effect(X, Z, features, categories, np.zeros_like(X))
    monkeypatch.setattr("sidelight.maps.effect._MANY", 500)
    grid = local_effect(X, Z, features, categories, np.zeros_like(X))
    assert not np.array_equal(grid, pairs)
    assert np.linalg.norm(grid - pairs) < 0.08 * np.linalg.norm(pairs)


def test_the_local_effect_of_many_rows_in_many_dimensions_is_that_of_a_sample(monkeypatch):
    X, Z, _, groups = rows_on_a_map()
    Z = np.column_stack([Z, np.zeros((900, 2))])
    pairs = local_effect(X, Z, one_hot(groups), groups, np.zeros_like(X))
    monkeypatch.setattr("sidelight.maps.effect._MANY", 600)
    sample = local_effect(X, Z, one_hot(groups), groups, np.zeros_like(X))
    assert not np.array_equal(sample, pairs)
    assert np.linalg.norm(sample - pairs) < 0.25 * np.linalg.norm(pairs)


def test_the_smooth_effect_of_many_rows_is_chosen_on_a_sample_and_fitted_on_all(monkeypatch):
    X, _, t, groups = rows_on_a_map()
    features = np.hstack([one_hot(groups), standard(t)])
    everything = smooth_effect(X, features)(features)
    monkeypatch.setattr("sidelight.maps.effect._MANY", 500)
    monkeypatch.setattr("sidelight.maps.smooth_effect._MANY", 500)
    effect = smooth_effect(X, features)
    assert np.linalg.norm(effect(features) - everything) < 0.1 * np.linalg.norm(everything)
    np.testing.assert_allclose(subtract_effect(X, effect, features), X - effect(features), atol=1e-12)
    single = subtract_effect(X.astype(np.float32), effect, features)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, X - effect(features), atol=1e-5)
