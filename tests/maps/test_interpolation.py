"""Backward maps are exact at training rows, continuous, and no worse than the regression elsewhere."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.datasets import swiss_roll
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.maps import interpolation, nearby
from sidelight.maps.interpolation import anchor_shares, correction_at_rows, interpolate, nearest_anchors
from sidelight.maps.kernel_map import KernelMap, adaptive_weights
from sidelight.maps.weights import AdaptiveWeights, FixedWeights, PrecomputedWeights
from sidelight.neighbours.search import nearest, squares_to_listed
from sidelight.neighbours.sparse_distances import nearest_known


def bent_sheet(n=300, seed=0, noise=0.05):
    rng = np.random.default_rng(seed)
    Z = rng.uniform(-1, 1, size=(n, 2))
    X = np.column_stack([Z[:, 0], Z[:, 1], Z[:, 0] ** 2 - Z[:, 1], np.sin(2 * Z[:, 1])])
    return X + noise * rng.normal(size=X.shape), Z


def lists_of(X, k=40):
    return nearest(X, k=k).index


MAPS = {
    "adaptive": lambda X, Z: KernelMap(AdaptiveWeights(X, lists_of(X), 8.0), Z),
    "fixed": lambda X, Z: KernelMap(FixedWeights(X, 0.3), Z),
    "student": lambda X, Z: KernelMap(FixedWeights(X, 0.3, "student"), Z),
}
each = pytest.mark.parametrize("make", MAPS.values(), ids=MAPS.keys())


def error(truth, found):
    return float(np.sqrt(((truth - found) ** 2).sum() / ((truth - truth.mean(axis=0)) ** 2).sum()))


@each
def test_a_training_row_is_mapped_to_its_own_output(make):
    X, Z = bent_sheet()
    mean = make(X, Z)
    assert error(Z, mean(X)) > 0.02
    np.testing.assert_allclose(interpolate(mean)(X), Z, rtol=0, atol=1e-14)


def test_rows_known_by_distances_are_mapped_to_their_own_outputs():
    X, Z = bent_sheet()
    D = cdist(X, X)
    near = nearest_known(D, k=39, own=True)
    found = interpolate(KernelMap(PrecomputedWeights(40, 8.0), Z), near)
    np.testing.assert_allclose(found(D), Z, rtol=0, atol=1e-14)
    adaptive = interpolate(MAPS["adaptive"](X, Z))
    new = bent_sheet(seed=1)[0][:50]
    assert error(adaptive(new), found(cdist(new, X))) < 0.02


def naive(mapped, q):
    """``g(q)`` by the formula of the module, for adaptive weights, one query at a time."""
    weights, correction = mapped.mean.weights, mapped.correction
    D = np.linalg.norm(weights.inputs - q, axis=1)
    first = int(D.argmin())
    order = np.argsort(D)
    reach = min(1.1 * D[first], D[order[4]])
    shares = {a: max(reach - D[a], 0.0) for a in order[:4]}
    if not sum(shares.values()):
        shares[first] = 1.0
    total = np.zeros(mapped.outputs.shape[1])
    for a, share in shares.items():
        if share:
            own = weights.average_from(q[None], np.array([a]), mapped.outputs)[0]
            total += share * (own + np.exp(-correction.falloff[a] * D[a] ** 2) * correction.residuals[a])
    return total / sum(shares.values())


def test_answers_are_those_of_the_formula():
    X, Z = bent_sheet()
    found = interpolate(MAPS["adaptive"](X, Z))
    Q = np.vstack([bent_sheet(seed=1)[0][:40], X[:5], 0.5 * (X[:5] + X[5:10])])
    np.testing.assert_allclose(found(Q), [naive(found, q) for q in Q], rtol=0, atol=1e-13)


def largest_jump(mapped, a, b, n_halvings=40):
    """The step of the map across the sharpest place on the way from a to b, found by looking ever closer."""
    low, high = 0.0, 1.0
    for _ in range(n_halvings):
        t = np.linspace(low, high, 9)
        steps = np.linalg.norm(np.diff(mapped(a + t[:, None] * (b - a)), axis=0), axis=1)
        worst = int(steps.argmax())
        low, high = t[worst], t[worst + 1]
        if high - low < 1e-13:
            break
    return float(steps.max())


@pytest.mark.thorough
def test_the_map_is_continuous_where_the_regression_alone_jumps():
    rng = np.random.default_rng(0)
    X, Z = rng.normal(size=(150, 10)), rng.normal(size=(150, 2))
    mean = KernelMap(AdaptiveWeights(X, lists_of(X, 20), 5.0), Z)
    found = interpolate(mean)
    pairs = [(X[i], X[lists_of(X, 20)[i, 2]]) for i in range(0, 150, 6)]
    assert max(largest_jump(mean, *pair) for pair in pairs) > 0.1
    assert max(largest_jump(found, *pair) for pair in pairs) < 1e-9


@each
def test_new_rows_are_placed_no_worse_than_by_the_regression(make):
    X, Z = bent_sheet(500)
    new, truth = bent_sheet(300, seed=1)
    mean = make(X, Z)
    assert error(truth, interpolate(mean)(new)) < error(truth, mean(new))


@each
def test_outputs_that_are_noise_are_left_to_the_regression(make):
    X, _ = bent_sheet(400)
    noise = np.random.default_rng(3).normal(size=(400, 2))
    mean = make(X, noise)
    new, truth = bent_sheet(300, seed=1)[0], np.random.default_rng(4).normal(size=(300, 2))
    found = interpolate(mean)
    np.testing.assert_allclose(found(X), noise, rtol=0, atol=1e-13)
    assert error(truth, found(new)) < 1.05 * error(truth, mean(new))


def test_the_layers_of_a_roll_stay_apart():
    data = swiss_roll(800, random_state=0)
    X, arc = data.X, data.factors["arc"][:, None]
    lists = perplexity_kernel(X, 10.0, 8).lists
    found = interpolate(KernelMap(AdaptiveWeights(X, lists, 5.0), arc))
    new = swiss_roll(300, random_state=1)
    assert np.abs(found(new.X) - new.factors["arc"][:, None]).max() < 0.1 * np.ptp(arc)


def test_each_query_is_answered_by_itself():
    X, Z = bent_sheet()
    found, Q = interpolate(MAPS["adaptive"](X, Z)), bent_sheet(seed=1)[0][:30]
    alone = np.concatenate([found(Q[i : i + 1]) for i in range(len(Q))])
    np.testing.assert_array_equal(alone, found(Q))


@each
def test_many_rows_are_exact_too_and_answer_as_few_do(make, monkeypatch):
    X, Z = bent_sheet(600)
    Q = np.vstack([X[:50], bent_sheet(seed=1)[0]])
    few = interpolate(make(X, Z))(Q)
    monkeypatch.setattr(nearby, "MANY", 100)
    many = interpolate(make(X, Z))
    np.testing.assert_allclose(many(X), Z, rtol=0, atol=1e-6)
    if make is MAPS["adaptive"]:  # a fixed bandwidth of many rows counts the nearest 60 only
        np.testing.assert_allclose(many(Q), few, rtol=0, atol=1e-6)


@pytest.mark.parametrize("columns", [4, 12])
def test_rows_in_the_order_of_the_search_answer_the_same_to_the_bit(columns, monkeypatch):
    """Bytes may be compared: the same sums over the same rows, which only stand elsewhere in memory."""
    monkeypatch.setattr(nearby, "MANY", 100)
    X, Z = bent_sheet(600)
    X = np.hstack([X] * (columns // 4))
    Q = X[::7] + 0.01
    found = interpolate(MAPS["adaptive"](X, Z))
    kept = len(pickle.dumps(found))
    answers = found(Q)
    assert len(pickle.dumps(found)) == kept  # the copy is not part of the model
    monkeypatch.setattr(interpolation, "_SORTED", 0)
    assert interpolate(MAPS["adaptive"](X, Z))(Q).tobytes() == answers.tobytes()


def test_shares_end_where_rows_enter_or_leave():
    near = np.array([[1.0, 1.05, 1.1, 1.2, 1.3], [0.0, 0.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    found = anchor_shares(near)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found[0], [2 / 3, 1 / 3, 0, 0], atol=1e-12)
    np.testing.assert_array_equal(found[1:], [[1, 0, 0, 0], [1, 0, 0, 0]])
    np.testing.assert_array_equal(anchor_shares(np.array([[2.0]])), [[1.0]])


def test_a_correction_makes_any_map_exact():
    X, Z = bent_sheet()
    plane = np.linalg.lstsq(X, Z, rcond=None)[0]
    correction = correction_at_rows(X, Z - X @ plane, fade=1.0)
    np.testing.assert_allclose(X @ plane + correction(*nearest_anchors(X, X)), Z, rtol=0, atol=1e-14)


def test_a_far_query_gets_a_finite_place():
    X, Z = bent_sheet()
    for make in MAPS.values():
        assert np.isfinite(interpolate(make(X, Z))(1e100 * np.ones((1, 4)))).all()


@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
@each
def test_few_rows_are_enough(make, n):
    X, Z = bent_sheet(n)
    np.testing.assert_allclose(interpolate(make(X, Z))(X), Z, rtol=0, atol=1e-13)


def test_known_distances_of_lists_give_the_same_map():
    """To the bit: they are those that the map would compute."""
    rng = np.random.default_rng(4)
    X, V = rng.standard_normal((300, 6)), rng.standard_normal((300, 2))
    lists = nearest(X, k=12).index
    squares = squares_to_listed(X, X, lists)
    weights, known = adaptive_weights(X, V, lists), adaptive_weights(X, V, lists, squares)
    assert weights.perplexity == known.perplexity
    one, other = interpolate(KernelMap(weights, V)), interpolate(KernelMap(known, V), squares=squares)
    assert one.correction.residuals.tobytes() == other.correction.residuals.tobytes()
    assert one.correction.falloff.tobytes() == other.correction.falloff.tobytes()
