"""Trustworthiness, continuity and neighbour hit against scikit-learn and slow obvious references."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.manifold import trustworthiness as sklearn_trustworthiness
from sklearn.neighbors import KNeighborsClassifier

from sidelight.datasets import load_digits, s_curve
from sidelight.evaluate import _ranks as ranks
from sidelight.evaluate import continuity, neighbour_hit, trustworthiness


def torn_sheet(n=150, d=3, seed=0):
    random = np.random.RandomState(seed)
    X = random.standard_normal((n, d))
    return X, X[:, :2] + 0.3 * random.standard_normal((n, 2))


def slow_ranks(X):
    """r(i, j) by definition."""
    n = len(X)
    table = np.zeros((n, n), dtype=int)
    for i in range(n):
        distance = np.array([np.linalg.norm(X[i] - X[j]) for j in range(n)])
        for j in range(n):
            table[i, j] = 1 + sum(distance[other] < distance[j] for other in range(n) if other != i)
    return table


@pytest.mark.parametrize("d", [2, 3, 10, 40])
@pytest.mark.parametrize("k", [1, 5, 12])
def test_trustworthiness_equals_scikit_learns(d, k):
    X, Z = torn_sheet(d=d)
    expected = sklearn_trustworthiness(X, Z, n_neighbors=k)
    assert 0.5 < expected < 1.0
    assert trustworthiness(X, Z, n_neighbors=k) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("d", [3, 40])
def test_continuity_is_trustworthiness_with_the_roles_exchanged(d):
    X, Z = torn_sheet(d=d)
    assert continuity(X, Z) == trustworthiness(Z, X)
    assert continuity(X, Z) == pytest.approx(sklearn_trustworthiness(Z, X, n_neighbors=12), abs=1e-12)
    assert continuity(X, Z) != trustworthiness(X, Z)


@pytest.mark.parametrize("d", [2, 50])
def test_ranks_equal_the_definition_whatever_the_tile(d, monkeypatch):
    X = ranks.rows_of("test", "X", np.random.RandomState(0).standard_normal((40, d)))
    queries = np.array([3, 17, 39, 0])
    neighbours = ranks.nearest(X, 7, queries)
    expected = np.take_along_axis(slow_ranks(X)[queries], neighbours, axis=1)
    np.testing.assert_array_equal(expected, np.tile(np.arange(1, 8), (4, 1)))
    for elements in (1, 90, 2**20):
        monkeypatch.setattr(ranks, "_TILE_ELEMENTS", elements)
        np.testing.assert_array_equal(ranks.neighbour_ranks(X, queries, neighbours), expected)


def test_neighbours_exclude_the_row_itself_even_among_duplicates():
    X = np.repeat(np.random.RandomState(0).standard_normal((6, 3)), 8, axis=0)
    found = ranks.nearest(X, 5)
    assert not (found == np.arange(48)[:, None]).any()
    np.testing.assert_array_equal(found // 8, np.arange(48)[:, None] // 8 + np.zeros((1, 5), dtype=int))


def test_sampled_queries_estimate_the_full_value_and_repeat_with_the_seed():
    X, Z = torn_sheet(n=600)
    full = trustworthiness(X, Z)
    assert trustworthiness(X, Z, sample=600) == full
    sampled = trustworthiness(X, Z, sample=200, random_state=1)
    assert sampled != full
    assert sampled == pytest.approx(full, abs=0.02)
    assert sampled == trustworthiness(X, Z, sample=200, random_state=1)
    assert trustworthiness(X, Z, sample=200) == trustworthiness(X, Z, sample=200)


@pytest.mark.thorough
def test_memory_stays_far_below_all_pairs():
    X, Z = torn_sheet(n=8000)
    tracemalloc.start()
    value = trustworthiness(X, Z, sample=2000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.5 < value < 1.0
    assert peak < 0.3 * 8000 * 8000 * 8


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e-300, 1e300])
def test_huge_and_tiny_scales_give_the_same_value(scale):
    X, Z = torn_sheet()
    assert trustworthiness(X * scale, Z / scale) == pytest.approx(trustworthiness(X, Z), abs=1e-12)
    labels = (X[:, 0] > 0).astype(int)
    assert neighbour_hit(Z * scale, labels) == neighbour_hit(Z, labels)


def test_an_outlier_does_not_blur_the_ranks_of_the_others():
    X, Z = torn_sheet(n=100, d=40)
    Z = np.vstack([Z, [[1e9, 0.0]]])
    X = np.vstack([X, np.full((1, 40), 1e9)])
    exact = 0.0
    for i, neighbours in enumerate(ranks.nearest(Z, 5)):
        order = slow_row_ranks(X, i)
        exact += np.maximum(order[neighbours] - 5, 0).sum()
    expected = 1.0 - exact * 2.0 / (101 * 5 * (2 * 101 - 3 * 5 - 1))
    assert trustworthiness(X, Z, n_neighbors=5) == pytest.approx(expected, abs=1e-12)


def slow_row_ranks(X, i):
    distance = np.sqrt(((X - X[i]) ** 2).sum(axis=1))
    distance[i] = np.inf
    return 1 + (distance[None, :] < distance[:, None]).sum(axis=1)


def test_constant_maps_and_duplicate_rows_give_finite_values():
    X, _ = torn_sheet(n=60)
    assert np.isfinite(trustworthiness(X, np.zeros((60, 2))))
    assert continuity(X, np.zeros((60, 2))) == 1.0
    assert np.isfinite(trustworthiness(np.repeat(X[:20], 3, axis=0), np.repeat(X[:20, :2], 3, axis=0)))


def test_row_order_does_not_matter():
    data = s_curve(300, random_state=0)
    shuffle = np.random.RandomState(0).permutation(300)
    Z = data.X[:, :2]
    assert trustworthiness(data.X[shuffle], Z[shuffle]) == pytest.approx(trustworthiness(data.X, Z), abs=1e-12)


@pytest.mark.parametrize("k", [1, 3])
def test_neighbour_hit_equals_leave_one_out_with_scikit_learns_classifier(k):
    data = load_digits().take(slice(0, 300))
    X, label = data.X + 1e-3 * np.random.RandomState(0).standard_normal(data.X.shape), data.factors["label"]
    hits = []
    for i in range(300):
        rest = np.arange(300) != i
        near = np.argsort(np.linalg.norm(X[rest] - X[i], axis=1))[:k]
        votes = label[rest][near]
        counts = np.array([(votes == vote).sum() for vote in votes])
        hits.append(votes[counts.argmax()] == label[i])
    assert neighbour_hit(X, label, n_neighbors=k) == pytest.approx(np.mean(hits), abs=1e-15)
    if k == 1:
        rest = KNeighborsClassifier(1).fit(X[1:], label[1:])
        assert hits[0] == (rest.predict(X[:1])[0] == label[0])


def test_tied_votes_go_to_the_nearest():
    Z = np.array([[0.0], [1.0], [2.5], [100.0], [101.0]])
    labels = ["b", "b", "a", "c", "c"]
    hits = [True, False, False, True, True]
    # Row 0 sees b, a (tie: b is nearest); row 1 sees b, a -> b; row 2 sees b, b; rows 3, 4 see c, then a.
    hits[1] = True
    assert neighbour_hit(Z, labels, n_neighbors=2) == pytest.approx(np.mean(hits))


def test_neighbour_hit_takes_labels_of_any_type_and_leaves_out_missing_ones():
    Z = np.array([[0.0], [0.1], [5.0], [5.1], [9.0]])
    expected = neighbour_hit(Z[:4], [1, 1, 2, 2], n_neighbors=1)
    assert expected == 1.0
    for labels in (
        ["a", "a", "b", "b", None],
        pd.Series(["a", "a", "b", "b", pd.NA], dtype="string"),
        pd.Series([1.0, 1.0, 2.0, 2.0, np.nan]),
        pd.Categorical(["x", "x", "y", "y", None]),
        np.array([True, True, False, False, None], dtype=object),
    ):
        assert neighbour_hit(Z, labels, n_neighbors=1) == expected


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda X, Z: trustworthiness(X, Z[:-1]), r"trustworthiness: Z=array of 149 rows does not have as many"),
        (lambda X, Z: trustworthiness(X, Z, n_neighbors=75), r"n_neighbors=75 is not a whole number from 1 to 74"),
        (lambda X, Z: trustworthiness(X, Z, n_neighbors=2.5), r"n_neighbors=2.5 is not a whole number"),
        (lambda X, Z: continuity(X, Z, sample=0), r"continuity: sample=0 is not a whole number >= 1"),
        (lambda X, Z: neighbour_hit(Z, np.zeros(3)), r"neighbour_hit: labels=.* one entry per row \(150\)"),
        (lambda X, Z: neighbour_hit(Z, np.zeros(150), n_neighbors=150), r"from 1 to 149"),
        (lambda X, Z: neighbour_hit(Z, np.zeros((150, 2))), r"is not one label per row"),
        (lambda X, Z: neighbour_hit(Z, [None] * 150), r"leaves no row"),
        (lambda X, Z: neighbour_hit(Z, [[1], [1, 2]] * 75), r"cannot be compared as labels"),
        (lambda X, Z: trustworthiness(X * np.nan, Z), r"Input X contains NaN"),
        (lambda X, Z: trustworthiness(X, Z[:, 0]), r"Expected 2D array"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    X, Z = torn_sheet()
    with pytest.raises(ValueError, match=words):
        call(X, Z)
