"""Numbers given, alone and with categories: what kinds of rows differ by is kept."""

from __future__ import annotations

import functools

import numpy as np

from sidelight import KernelInformationEmbedding, load, save
from sidelight.evaluate import neighbour_hit


@functools.cache
def batches_and_a_number(seed=0):
    """Three kinds of rows in two batches, one of which lacks a kind; kinds differ in a number that moves all rows."""
    rng = np.random.default_rng(seed)
    kind, batch = np.repeat([0, 1, 2, 0, 1], 40), np.repeat([0, 0, 0, 1, 1], 40)
    number = rng.normal(size=200) + kind
    X = 3.0 * rng.normal(size=(3, 8))[kind] + rng.normal(size=(2, 8))[batch] + 0.4 * rng.normal(size=(200, 8))
    return X + np.outer(number, rng.normal(size=8)), kind, batch, {"batch": batch.astype(str), "number": number}


@functools.cache
def of_batch_and_number():
    X, _, _, given = batches_and_a_number()
    return KernelInformationEmbedding(n_jobs=1).fit(X, given=given)


def test_kinds_stay_apart_given_a_batch_that_lacks_one_and_a_number_they_differ_in():
    X, kind, batch, given = batches_and_a_number()
    model = of_batch_and_number()
    both = kind < 2
    for Z in (model.embedding_, model.corrected(X, given=given)):
        assert neighbour_hit(Z, kind, n_neighbors=10) > 0.95
        assert neighbour_hit(Z[both], batch[both], n_neighbors=10) < 0.65


def test_rows_of_the_missing_kind_have_no_counterparts():
    _, kind, _, _ = batches_and_a_number()
    found = of_batch_and_number().represented_
    assert found.shape == (200, 2)
    assert found[kind == 2, 1].mean() < 0.2 < 0.8 < found[kind == 0, 1].mean()


def test_corrected_rows_are_one_by_one_and_at_a_reference():
    X, _, _, given = batches_and_a_number()
    model = of_batch_and_number()
    together = model.corrected(X, given=given, to={"batch": "0", "number": 1.0})
    alone = model.corrected(
        X[130:131], given={k: v[130:131] for k, v in given.items()}, to={"batch": "0", "number": 1.0}
    )
    np.testing.assert_allclose(alone[0], together[130], rtol=1e-12)
    here = {"batch": "0", "number": given["number"][5]}
    np.testing.assert_allclose(model.corrected(X[5:6], given=here, to=here), X[5:6], rtol=1e-10)


def test_the_model_is_saved_whole(tmp_path):
    X, _, _, given = batches_and_a_number()
    model = of_batch_and_number()
    save(model, tmp_path / "m.sidelight")
    back = load(tmp_path / "m.sidelight")
    assert back.corrected(X, given=given).tobytes() == model.corrected(X, given=given).tobytes()
    assert back.transform(X, given=given).tobytes() == model.transform(X, given=given).tobytes()


def test_kinds_stay_apart_given_a_number_alone():
    X, kind, batch, given = batches_and_a_number()
    one = np.flatnonzero(batch == 0)
    model = KernelInformationEmbedding(n_jobs=1).fit(X[one], given=given["number"][one])
    assert neighbour_hit(model.embedding_, kind[one], n_neighbors=10) > 0.95
    assert model.represented_ is None
