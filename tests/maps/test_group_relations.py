"""Groups that differ by more than a shift."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.datasets import load_digits
from sidelight.maps.group_relations import group_relations


def digits(n=600):
    """Pictures of 8 x 8 and a random group of each."""
    return load_digits().X[:n] / 16.0, np.random.default_rng(0).integers(0, 2, n)


def related(X, group):
    """What is reported, with the means of the groups as the effect that was found."""
    rest = X - np.stack([X[group == code].mean(axis=0) for code in range(int(group.max()) + 1)])[group]
    return group_relations(X, rest, group)


def changed(X, rows, change):
    X = X.copy()
    X[rows] = change(X[rows])
    return X


CHANGES = {
    "inverted": lambda rows: 1.0 - rows,
    "scaled": lambda rows: 3.0 * rows + 2.0,
    "inverted and scaled": lambda rows: 5.0 - 3.0 * rows,
    "mirrored": lambda rows: rows.reshape(-1, 8, 8)[:, :, ::-1].reshape(-1, 64),
    "upside down": lambda rows: rows.reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64),
}


@pytest.mark.parametrize("what", CHANGES)
def test_a_change_of_one_group_is_named(what):
    X, group = digits()
    (found,) = related(changed(X, group == 0, CHANGES[what]), group)
    assert found.what == what
    assert found.column is None
    if "scaled" in what:
        assert abs(np.log(found.factor)) == pytest.approx(np.log(3.0), abs=0.1)


def test_random_groups_and_shifts_are_not_reported():
    X, group = digits()
    assert related(X, group) == []
    assert related(changed(X, group == 0, lambda rows: rows + np.arange(64.0)), group) == []
    noise = np.random.default_rng(0).normal(size=(400, 6))
    assert related(noise, np.random.default_rng(1).integers(0, 3, 400)) == []


def test_a_column_that_is_inverted_or_in_another_unit_is_named():
    rng = np.random.default_rng(0)
    t, group = rng.uniform(0, 3, 500), rng.integers(0, 2, 500)
    X = np.column_stack([t, t**2 / 3, np.sin(2 * t), np.exp(t) / 8]) + 0.02 * rng.normal(size=(500, 4))
    assert related(X, group) == []
    column = np.eye(4, dtype=bool)[1]
    (inverted,) = related(changed(X, group == 0, lambda rows: np.where(column, -rows, rows)), group)
    assert (inverted.what, inverted.column) == ("inverted", 1)
    (unit,) = related(changed(X, group == 0, lambda rows: np.where(column, 2.54 * rows, rows)), group)
    assert (unit.what, unit.column) == ("scaled", 1)


def test_of_several_groups_the_one_that_differs_is_named():
    X, _ = digits()
    group = np.random.default_rng(0).choice(3, len(X), p=[0.25, 0.25, 0.5])
    (found,) = related(changed(X, group == 1, CHANGES["inverted"]), group)
    assert (found.group, found.reference) == (1, 2)


def test_groups_that_look_unlike_are_not_reported():
    data = load_digits()
    label = np.asarray(data.factors[next(iter(data.factors))])
    two = np.isin(label, [1, 7])
    assert related(data.X[two], (label[two] == 7).astype(int)) == []
