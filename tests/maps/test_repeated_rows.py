"""Answers about new rows say when the training rows are repeated measurements of the same individuals."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_swiss_roll

from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.base.warnings import ExtrapolationWarning
from sidelight.neighbours.repeats import usual_repeats


def people(seed, n, visits, noise):
    """Rows (n · visits, 6) on a curved sheet of two factors, each individual measured several times."""
    rng = np.random.default_rng(seed)
    u = rng.uniform(-1, 1, (n, 2))
    sheet = np.column_stack([u, u[:, 0] ** 2, np.sin(3 * u[:, 1]), u.prod(axis=1), np.cos(2 * u[:, 0])])
    sheet = np.repeat(sheet + 0.1 * rng.normal(size=sheet.shape), visits, axis=0)
    return sheet + noise * rng.normal(size=sheet.shape)


@pytest.mark.parametrize("visits", [2, 3, 5])
def test_the_number_of_repeats_is_found(visits):
    assert usual_repeats(people(0, 150, visits, 0.01)) == visits - 1


def test_numbers_of_visits_that_differ_are_found():
    X, rng = people(0, 200, 5, 0.01), np.random.default_rng(1)
    assert 2 <= usual_repeats(X[rng.random(len(X)) < 0.7]) <= 4


@pytest.mark.parametrize("load", [load_digits, load_wine, load_iris, load_breast_cancer])
def test_tables_without_repeats_have_none(load):
    X = load().data
    assert usual_repeats((X - X.mean(axis=0)) / (X.std(axis=0) + 1e-9)) == 0


@pytest.mark.parametrize("d", [1, 2, 10, 50])
def test_smooth_densities_and_whole_numbers_have_none(d):
    X = np.random.default_rng(0).normal(size=(500, d))
    assert usual_repeats(X) == 0
    assert usual_repeats(np.round(X)) == 0
    assert usual_repeats(make_swiss_roll(500, random_state=0)[0]) == 0


def test_few_and_equal_rows_have_none():
    assert usual_repeats(np.zeros((50, 3))) == 0
    assert usual_repeats(np.random.default_rng(0).normal(size=(12, 3))) == 0


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, X: model.is_novel(X),
        lambda model, X: model.novelty_p_value(X),
        lambda model, X: model.inverse_transform_interval(model.transform(X)),
        lambda model, X: model.transform_interval(X),
    ],
    ids=["is_novel", "novelty_p_value", "rows", "places"],
)
def test_intervals_and_alarms_warn_once_and_say_what_to_do(ask):
    X = people(0, 80, 4, 0.01)
    model = TwoWayEmbedding().fit(X)
    with pytest.warns(ExtrapolationWarning, match=r"clumps of about 4 look like .* new individuals\. .* one row"):
        ask(model, X[:5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ask(model, X[:5])


def test_new_individuals_raise_false_alarms_unless_each_has_one_row_as_the_warning_advises():
    new, X = people(1, 500, 1, 0.01), people(0, 300, 4, 0.01)
    assert TwoWayEmbedding().fit(X[::4]).is_novel(new, false_alarm=0.05).mean() < 0.09
    with pytest.warns(ExtrapolationWarning):
        assert TwoWayEmbedding().fit(X).is_novel(new, false_alarm=0.05).mean() > 0.3


@pytest.mark.thorough
def test_intervals_hold_too_little_of_new_individuals_unless_each_has_one_row_as_the_warning_advises():
    new, X = people(1, 500, 1, 0.01), people(0, 200, 4, 0.01)
    alone = KernelInformationEmbedding().fit(X[::4])
    assert 0.86 < alone.inverse_transform_interval(alone.transform(new)).holds(new).mean() < 0.94
    model = KernelInformationEmbedding().fit(X)
    with pytest.warns(ExtrapolationWarning):
        assert model.inverse_transform_interval(model.transform(new)).holds(new).mean() < 0.8
