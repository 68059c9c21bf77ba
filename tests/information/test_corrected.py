"""``corrected``: rows without the effect of what is given; and rows that exist in one group only keep their place."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.base.capabilities import capabilities
from sidelight.evaluate import neighbour_hit

QUICK = {"tol": 1e-3, "max_iter": 60}


def batches(seed=0, count=40, d=6, shift=1.5):
    """Four clusters in two batches that are shifted against each other; the last exists in batch "b" only."""
    rng = np.random.default_rng(seed)
    kind = np.concatenate([np.repeat([0, 1, 2], count), np.repeat([0, 1, 2, 3], count)])
    batch = np.repeat(["a", "b"], [3 * count, 4 * count])
    direction = np.full(d, shift / np.sqrt(d))
    X = rng.normal(size=(len(kind), d)) + 7.0 * np.eye(d)[kind] + np.where(batch == "b", 1.0, 0.0)[:, None] * direction
    return X, batch, kind, direction


@pytest.fixture(scope="module")
def model():
    X, batch, _, _ = batches()
    return KernelInformationEmbedding(**QUICK).fit(X, given=pd.DataFrame({"batch": batch}))


def test_a_cluster_in_one_group_only_keeps_its_place_and_is_reported(model):
    X, batch, kind, _ = batches()
    assert model.confounded_
    assert model.represented_.shape == (len(X), 2)
    assert model.represented_[kind == 3, 0].mean() < 0.05
    assert model.represented_[kind != 3].mean() > 0.9
    assert len(model.only_here_) == 1
    count, rest = model.only_here_[0].split(" ", 1)
    assert rest == "of 160 rows with batch = 'b' have no counterparts in another group"
    assert 38 <= int(count) <= 44
    near = np.argsort(np.linalg.norm(model.embedding_[kind == 3][:, None] - model.embedding_[None], axis=2), axis=1)
    assert (kind[near[:, 1:11]] == 3).mean() > 0.97
    assert neighbour_hit(model.embedding_, kind, n_neighbors=10) > 0.97
    shared = np.flatnonzero(kind != 3)
    assert neighbour_hit(model.embedding_[shared], batch[shared], n_neighbors=10) < 0.62  # 0.5 at random


def test_groups_that_cannot_be_compared_have_no_representation():
    rng = np.random.default_rng(0)
    t = np.tile(np.linspace(0, 2 * np.pi, 40, endpoint=False), 2)
    ring = np.column_stack([np.cos(t), np.sin(t)])
    X = np.zeros((80, 4))
    X[:40, :2], X[40:, 2:] = ring[:40], 3.0 * ring[40:]
    found = KernelInformationEmbedding(**QUICK).fit(X + 0.01 * rng.normal(size=X.shape), given=np.arange(80) // 40)
    assert found.represented_ is None
    assert found.only_here_ == []


def test_without_given_there_is_nothing_to_represent_and_nothing_to_correct():
    plain = KernelInformationEmbedding(**QUICK).fit(batches()[0])
    assert plain.represented_ is None
    assert plain.only_here_ == []
    assert not hasattr(plain, "corrected")
    assert not capabilities(plain).has_corrected


def test_corrected_rows_lose_the_shift_and_nothing_else(model):
    X, batch, kind, direction = batches()
    rows = model.corrected(X, given=batch)
    change = rows - X
    for name in "ab":
        np.testing.assert_allclose(
            change[batch == name], np.broadcast_to(change[batch == name][0], (sum(batch == name), 6))
        )
    found = change[batch == "a"][0] - change[batch == "b"][0]
    assert np.linalg.norm(found - direction) < 0.35 * np.linalg.norm(direction)
    np.testing.assert_allclose(rows.mean(axis=0), X.mean(axis=0), atol=1e-9)
    assert neighbour_hit(rows, kind, n_neighbors=10) > 0.99


def test_moved_to_a_value_rows_of_that_value_stay_as_they_are(model):
    X, batch, _, _ = batches()
    rows = model.corrected(X, given=batch, to="b")
    np.testing.assert_allclose(rows[batch == "b"], X[batch == "b"], atol=1e-12)
    np.testing.assert_allclose(rows, model.corrected(X, given=batch, to=np.repeat("b", len(X))))
    there_and_back = model.corrected(rows, given="b", to=batch)
    np.testing.assert_allclose(there_and_back, X, atol=1e-12)


def test_one_by_one_equals_batch_and_float32_stays(model):
    X, batch, _, _ = batches(seed=1)
    together = model.corrected(X[:9], given=batch[:9])
    alone = np.concatenate([model.corrected(X[i : i + 1], given=batch[i : i + 1]) for i in range(9)])
    np.testing.assert_allclose(alone, together, rtol=1e-12)
    assert model.corrected(X[:9].astype(np.float32), given=batch[:9]).dtype == np.float32


def test_saved_and_pickled_models_correct_to_the_same_bits(model, tmp_path):
    X, batch, _, _ = batches()
    sidelight.save(model, tmp_path / "model")
    for again in (sidelight.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(again.corrected(X, given=batch), model.corrected(X, given=batch))
        np.testing.assert_array_equal(again.represented_, model.represented_)
        assert again.only_here_ == model.only_here_


@pytest.mark.parametrize("argument", ["given", "to"])
def test_a_missing_entry_is_refused_in_a_sentence(model, argument):
    X, batch, _, _ = batches()
    gap = np.where(np.arange(len(batch)) == 3, None, batch)
    entries = {"given": batch, "to": batch} | {argument: gap}
    with pytest.raises(ValueError, match=f"{argument}=a missing entry does not say which effect"):
        model.corrected(X, **entries)
    with pytest.raises(ValueError, match="given=nothing does not say which effect"):
        model.corrected(X, given=None)


@pytest.mark.thorough
def test_numbers_are_taken_off_too_and_rows_without_an_entry_have_no_representation():
    rng = np.random.default_rng(0)
    dose = rng.uniform(0, 3, 120)
    X = rng.normal(size=(120, 4)) + np.column_stack([2 * dose, -dose, np.sin(dose), 0 * dose])
    model = KernelInformationEmbedding(**QUICK).fit(X, given=dose)
    rows = model.corrected(X, given=dose)
    assert abs(np.corrcoef(rows[:, 0], dose)[0, 1]) < 0.1 < abs(np.corrcoef(X[:, 0], dose)[0, 1])
    X, batch, _, _ = batches()
    gap = np.where(np.arange(len(batch)) % 50 == 3, None, batch)
    found = KernelInformationEmbedding(**QUICK).fit(X, given=gap)
    np.testing.assert_array_equal(np.isnan(found.represented_).any(axis=1), gap == None)  # noqa: E711


def test_without_an_effect_there_is_nothing_to_correct():
    X, batch, _, _ = batches(count=15)
    assert not hasattr(KernelInformationEmbedding(conditioning="product", **QUICK).fit(X, given=batch), "corrected")
    assert not hasattr(KernelInformationEmbedding(**QUICK).fit(X, given=["one"] * len(X)), "corrected")
