"""Multilevel fits in more than three latent dimensions, whose sums are over cells instead of all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sidelight import KernelInformationEmbedding
from sidelight.evaluate import leakage, neighbour_hit, trustworthiness
from sidelight.information import _level_sums, _multilevel


def clusters(n, d=12, seed=0):
    """Rows (n, d) in five clusters of eight dimensions, and their labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, n)
    X = 6.0 * rng.standard_normal((5, d))[labels] + rng.standard_normal((n, 8)) @ rng.standard_normal((8, d))
    return X, labels


@pytest.fixture
def cells(monkeypatch):
    """Sums over cells also of few rows, with short lists."""
    monkeypatch.setattr(_level_sums, "_FEW", 100)
    monkeypatch.setattr(_level_sums, "_LISTED", (2, 4))


def test_the_error_of_the_sums_is_said_and_iterations_of_both_rounds_are_counted_on(cells):
    X, labels = clusters(130)
    model = KernelInformationEmbedding(4, solver="multilevel", tol=1e-5, n_jobs=1).fit(X)
    assert 1e-5 < model.sum_error_ < 0.2
    assert neighbour_hit(model.embedding_, labels) > 0.99
    for stage in {record["stage"] for record in model.history_}:
        counted = [record["iteration"] for record in model.history_ if record["stage"] == stage]
        assert counted == list(range(1, len(counted) + 1))
    assert max(record["iteration"] for record in model.history_) > _level_sums._FIRST_ROUND


@pytest.mark.thorough
def test_the_same_bytes_with_one_and_two_threads(cells):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X, _ = clusters(600)
    one, two = (KernelInformationEmbedding(5, solver="multilevel", n_jobs=jobs).fit(X) for jobs in (1, 2))
    assert one.embedding_.tobytes() == two.embedding_.tobytes()
    assert one.sum_error_ == two.sum_error_ > 1e-4


def test_a_fit_that_ends_on_merged_rows_says_the_error_of_all_rows(cells, monkeypatch):
    monkeypatch.setattr(_multilevel, "_COARSEST", 60)
    X, _ = clusters(160)
    model = KernelInformationEmbedding(4, solver="multilevel", callback=lambda state: state.iteration == 2).fit(X)
    assert 0.0 < model.sum_error_ < 0.6
    assert model.embedding_.shape == (160, 4)


def test_the_cost_of_many_dimensions_grows_far_less_than_that_of_all_pairs():
    flat, some, many = (KernelInformationEmbedding(q).estimate_cost(50_000, 50) for q in (2, 10, 30))
    pairs = 40 * 8e-9 * 50_000**2 / 2  # seconds of forty evaluations over all pairs (``kernels.gauss_transform``)
    assert flat.seconds < some.seconds < many.seconds < pairs / 3
    twice = KernelInformationEmbedding(10).estimate_cost(100_000, 50)
    assert twice.seconds < 2.9 * some.seconds  # all pairs: 4 times


@pytest.mark.thorough
@pytest.mark.parametrize("latent_kernel", ["student", "gaussian"])
@pytest.mark.parametrize("q", [5, 10])
def test_maps_of_digits_are_as_good_as_with_sums_over_all_pairs(latent_kernel, q, monkeypatch):
    X, y = load_digits(return_X_y=True)
    found = []
    for few in (500, 10_000):
        monkeypatch.setattr(_level_sums, "_FEW", few)
        model = KernelInformationEmbedding(q, solver="multilevel", latent_kernel=latent_kernel).fit(X)
        found.append((neighbour_hit(model.embedding_, y), trustworthiness(X, model.embedding_), model.sum_error_))
    (hit, trust, error), (exact_hit, exact_trust, none) = found
    assert none == 0.0 < error < 0.2
    assert hit >= exact_hit - 0.005
    assert trust >= exact_trust - 0.003


@pytest.mark.thorough
def test_another_order_of_the_rows_gives_an_equally_good_map(monkeypatch):
    monkeypatch.setattr(_level_sums, "_FEW", 500)
    X, y = load_digits(return_X_y=True)
    hits, trusts = [], []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(X)) if seed else np.arange(len(X))
        Z = KernelInformationEmbedding(10, solver="multilevel").fit(X[order]).embedding_
        hits.append(neighbour_hit(Z, y[order]))
        trusts.append(trustworthiness(X[order], Z))
    assert max(hits) - min(hits) < 0.006
    assert max(trusts) - min(trusts) < 0.003


@pytest.mark.thorough
def test_given_is_hidden_in_many_dimensions_and_the_rest_stays(monkeypatch):
    monkeypatch.setattr(_level_sums, "_FEW", 500)
    X, labels = clusters(1200)
    side = np.random.default_rng(1).integers(0, 2, len(X))
    X = X + 8.0 * side[:, None] * np.random.default_rng(2).standard_normal(X.shape[1])
    model = KernelInformationEmbedding(6, solver="multilevel").fit(X, given=side)
    leak = leakage(model.embedding_, side)
    assert leak.value < leak.chance + 0.05
    assert neighbour_hit(model.embedding_, labels) > 0.99
    assert 0.0 < model.sum_error_ < 0.2
