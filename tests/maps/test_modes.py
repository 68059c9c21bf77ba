from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.maps.kernel_map import KernelMap, adaptive_map
from sidelight.maps.modes import InformationContent, conditional_log_density, conditional_mode, content_mode
from sidelight.maps.weights import FixedWeights, PrecomputedWeights
from sidelight.neighbours.search import nearest

PENALTIES = ["stretch", "l2", "l4", "box"]
PROFILES = ["gaussian", "student", "quartic"]


def bend(n=120, seed=0):
    """A noisy half circle and where its points are along it, in units of the latent kernel."""
    rng = np.random.default_rng(seed)
    t = np.sort(rng.uniform(0, np.pi, n))
    X = np.column_stack([np.cos(t), np.sin(t)]) + 0.05 * rng.normal(size=(n, 2))
    return X, np.column_stack([2 * t, 0.3 * rng.normal(size=n)])


def folded(n=200, seed=0):
    """A closed curve squashed onto a line: above every point of the line lie two points of the curve."""
    t = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(t), np.sin(t)]), 3 * np.cos(t)[:, None]


def content(penalty, kernel, weight=0.3):
    X, Z = bend()
    W = FixedWeights(X, 0.1).matrix(X[::10] + 0.1)
    return InformationContent(Z, W, kernel, penalty, weight)


@pytest.mark.parametrize("kernel", PROFILES)
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_gradient_of_the_information_content_is_its_finite_difference(kernel, penalty):
    function = content(penalty, kernel)
    at = function.W @ function.points + 0.2
    gradient = function.value_and_grad(at)[1]
    for k in range(2):
        step = np.zeros(2)
        step[k] = 1e-5
        ends = [function.value_and_grad(at + sign * step)[0] for sign in (1, -1)]
        np.testing.assert_allclose(gradient[:, k], (ends[0] - ends[1]) / 2e-5, rtol=1e-5, atol=1e-7)


def test_the_information_content_is_the_printed_sum():
    function = content("l2", "gaussian")
    at = np.array([[0.4, -0.2]] * len(function.W))
    k = np.exp(-((function.points - at[0]) ** 2).sum(axis=1))
    printed = np.log(function.W @ k) - np.log(k.sum()) - 0.3 * (at[0] ** 2).sum()
    np.testing.assert_allclose(function.value_and_grad(at)[0], printed, rtol=1e-12)


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_backward_mode_is_stationary_and_no_worse_than_the_mean(kernel, penalty):
    X, Z = bend()
    Q = X[::10] + 0.1
    backward = KernelMap(FixedWeights(X, 0.1), Z)
    found = content_mode(backward, Q, kernel=kernel, penalty=penalty, weight=0.3)
    function = InformationContent(Z, backward.weights.matrix(Q), kernel, penalty, 0.3)
    height, slope = function.value_and_grad(found)
    assert (height >= function.value_and_grad(backward(Q))[0]).all()
    assert np.abs(slope).max() < 1e-4
    rng = np.random.default_rng(1)
    around = [function.value_and_grad(found + 1e-3 * rng.normal(size=found.shape))[0] for _ in range(8)]
    assert (np.array(around) <= height + 1e-9).all()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_under_a_compact_kernel_the_backward_mode_is_within_reach_and_no_worse_than_the_mean(penalty):
    X, Z = bend()
    Q = X[::10] + 0.1
    backward = KernelMap(FixedWeights(X, 0.1), Z)
    found = content_mode(backward, Q, kernel="quartic", penalty=penalty, weight=0.3)
    function = InformationContent(Z, backward.weights.matrix(Q), "quartic", penalty, 0.3)
    height = function.value_and_grad(found)[0]
    assert np.isfinite(height).all()
    assert (height >= function.value_and_grad(backward(Q))[0]).all()


def test_without_its_penalty_the_backward_mode_would_leave_the_data():
    X, Z = bend()
    backward = KernelMap(FixedWeights(X, 0.1), Z)
    last = X[-1:] + np.array([[-0.5, -0.3]])
    how = {"kernel": "gaussian", "penalty": "l2"}
    away = [np.abs(content_mode(backward, last, weight=weight, **how)).max() for weight in (1e-9, 0.05)]
    assert away[0] > 2 * np.abs(Z).max() > away[1]


def test_a_strong_stretch_penalty_gives_the_mean():
    X, Z = bend()
    backward = KernelMap(FixedWeights(X, 0.1), Z)
    found = content_mode(backward, X, kernel="gaussian", penalty="stretch", weight=1e6)
    np.testing.assert_allclose(found, backward(X) / (1 + 1e-3), atol=1e-4)


def test_the_forward_mode_is_stationary_and_denser_than_the_mean():
    X, Z = bend()
    forward = KernelMap(FixedWeights(Z, 1.0), X)
    Q = Z[::7] + 0.1
    found = conditional_mode(forward, Q, np.full(len(X), 0.02))
    W, h = forward.weights.matrix(Q), np.full(len(Q), 0.02)
    height = conditional_log_density(found, X, W, h)
    assert (height >= conditional_log_density(forward(Q), X, W, h)).all()
    for step in ([1e-4, 0.0], [0.0, 1e-4]):
        ends = [conditional_log_density(found + sign * np.array(step), X, W, h) for sign in (1, -1)]
        assert np.abs(ends[0] - ends[1]).max() / 2e-4 < 1e-3


def test_with_a_wide_kernel_there_is_one_mode_the_mean():
    X, Z = bend()
    forward = KernelMap(FixedWeights(Z, 1.0), X)
    np.testing.assert_allclose(conditional_mode(forward, Z, np.full(len(X), 1e7)), forward(Z), atol=1e-6)


def test_where_two_branches_share_a_place_the_mode_is_on_one_and_the_mean_on_none():
    X, Z = folded()
    forward = KernelMap(FixedWeights(Z, 0.1), X)
    Q = np.linspace(-2, 2, 9)[:, None]
    radius_of_mean = np.linalg.norm(forward(Q), axis=1)
    radius_of_mode = np.linalg.norm(conditional_mode(forward, Q, np.full(len(X), 0.02)), axis=1)
    assert radius_of_mean.max() < 0.85
    assert np.abs(radius_of_mode - 1).max() < 0.05


def test_modes_of_distances_are_those_of_their_rows():
    X, Z = bend()
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    backward = KernelMap(PrecomputedWeights(40, 8.0), Z)
    found = content_mode(backward, D, kernel="gaussian", penalty="stretch", weight=0.1)
    lists = nearest(X, k=39).index
    adaptive = adaptive_map(X, Z, lists=lists)
    assert adaptive.weights.matrix(X).sum(axis=1) == pytest.approx(1.0)
    assert backward.weights.matrix(D).sum(axis=1) == pytest.approx(1.0)
    assert abs(spearmanr(found[:, 0], Z[:, 0]).statistic) > 0.99


@pytest.fixture(scope="module")
def models():
    X, _ = bend(90)
    group = np.repeat(["a", "b"], 45)
    return X, {
        "plain": KernelInformationEmbedding(1).fit(X),
        "student": KernelInformationEmbedding(2, latent_kernel="student", penalty="l2").fit(X),
        "given": KernelInformationEmbedding(1).fit(X, given=group),
        "two-way": TwoWayEmbedding().fit(X),
    }


@pytest.mark.parametrize("name", ["plain", "student", "given", "two-way"])
def test_modes_of_rows_one_by_one_equal_those_of_the_batch(models, name):
    X, model = models[0][::9] + 0.03, models[1][name]
    Z = model.transform_mode(X)
    back = model.inverse_transform_mode(Z)
    assert Z.shape == (len(X), model.embedding_.shape[1])
    assert back.shape == X.shape
    for i in range(len(X)):
        np.testing.assert_allclose(model.transform_mode(X[i : i + 1])[0], Z[i], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(model.inverse_transform_mode(Z[i : i + 1])[0], back[i], rtol=1e-12, atol=1e-12)


def test_the_modes_of_a_model_go_there_and_back(models):
    X, model = models[0], models[1]["plain"]
    back = model.inverse_transform_mode(model.transform_mode(X))
    assert np.linalg.norm(back - X) < 0.2 * np.linalg.norm(X - X.mean(axis=0))


def test_modes_take_given_and_keep_the_type(models):
    X, model = models[0], models[1]["given"]
    group = np.repeat(["a", "b"], 45)
    Z = model.transform_mode(X.astype(np.float32), given=group)
    assert Z.dtype == np.float32
    assert model.inverse_transform_mode(Z, given=group).dtype == np.float32
    shown = [model.inverse_transform_mode(Z[:5], given=[name] * 5) for name in "ab"]
    assert np.abs(shown[0] - shown[1]).max() > 0.1


def test_a_model_of_distances_has_no_forward_mode():
    X, _ = bend(40)
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    model = KernelInformationEmbedding(1, metric="precomputed").fit(D)
    assert not hasattr(model, "inverse_transform_mode")
    assert np.isfinite(model.transform_mode(D)).all()
