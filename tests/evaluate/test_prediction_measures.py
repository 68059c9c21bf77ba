"""Leakage and recovery against slow references, known values, and chance."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sidelight.base.warnings import DesignWarning
from sidelight.evaluate import Leakage, leakage, recovery
from sidelight.side.given import Given
from sidelight.tables._column_kinds import understand


def two_rings(n=120, seed=0):
    """Two people on one circle of poses, slightly apart."""
    random = np.random.RandomState(seed)
    angle = random.uniform(0.0, 360.0, n)
    person = np.arange(n) % 2
    radius = 1.0 + 0.5 * person
    Z = np.column_stack([radius * np.cos(np.deg2rad(angle)), radius * np.sin(np.deg2rad(angle))])
    return Z, angle, person


def slow_prediction(Z, values, k, groups=None):
    guess = []
    for i in range(len(Z)):
        others = [j for j in range(len(Z)) if (j != i if groups is None else groups[j] != groups[i])]
        near = sorted(others, key=lambda j: np.linalg.norm(Z[i] - Z[j]))[:k]
        guess.append(np.mean([values[j] for j in near]))
    return np.array(guess)


@pytest.mark.parametrize("grouped", [False, True])
def test_recovery_of_numbers_is_the_r_squared_of_left_out_predictions(grouped):
    Z, angle, person = two_rings()
    groups = person if grouped else None
    guess = slow_prediction(Z, angle, 4, groups)
    expected = 1.0 - ((angle - guess) ** 2).sum() / ((angle - angle.mean()) ** 2).sum()
    assert recovery(Z, angle, n_neighbors=4, groups=groups) == pytest.approx(expected, abs=1e-12)


def test_leakage_of_numbers_is_the_same_r_squared_averaged_over_columns_with_chance_zero():
    Z, angle, _ = two_rings()
    noise = np.random.RandomState(1).standard_normal(120)
    result = leakage(Z, np.column_stack([angle, noise]), n_neighbors=4)
    parts = [recovery(Z, column, n_neighbors=4) for column in (angle, noise)]
    assert result == Leakage("number", pytest.approx(np.mean(parts), abs=1e-12), 0.0)
    assert parts[0] > 0.7
    assert parts[1] < 0.1


def test_leakage_of_categories_is_accuracy_beside_the_majority_rate():
    random = np.random.RandomState(0)
    labels = np.where(random.uniform(size=300) < 0.7, "common", "rare")
    apart = (labels == "rare")[:, None] * 10.0 + random.standard_normal((300, 2))
    mixed = random.standard_normal((300, 2))
    majority = np.mean(labels == "common")
    shown, hidden = leakage(apart, labels), leakage(mixed, labels)
    assert shown == Leakage("category", 1.0, pytest.approx(majority))
    assert hidden.chance == pytest.approx(majority)
    assert abs(hidden.excess) < 0.08
    assert shown.excess == pytest.approx(1.0 - majority)


def test_several_category_columns_are_averaged():
    Z, _, person = two_rings()
    coin = np.random.RandomState(2).randint(0, 2, 120)
    both = leakage(Z, np.column_stack([person, coin]))
    one, other = leakage(Z, person), leakage(Z, coin)
    assert both.value == pytest.approx((one.value + other.value) / 2)
    assert both.chance == pytest.approx((one.chance + other.chance) / 2)


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        (np.arange(120.0), "number"),
        (np.arange(120, dtype=np.float32), "number"),
        ([0.5] * 119 + [1], "number"),
        (np.arange(120) % 3, "category"),
        (np.arange(120) % 24, "category"),
        (np.arange(120) % 25, "number"),
        (np.arange(120), "number"),
        (np.arange(120) % 2 == 0, "category"),
        (["a", "b"] * 60, "category"),
        (pd.Series(np.arange(120) % 3, index=range(5, 125)), "category"),
        (pd.Series(np.linspace(0, 1, 120)), "number"),
        (pd.Series([0.5, 1.5] * 60, dtype="category"), "category"),
        (pd.Series([1, 2] * 60, dtype="Int64"), "category"),
        (pd.Series([1.5, 2.5] * 60, dtype="Float64"), "number"),
        (pl.Series(["x", "y"] * 60), "category"),
        (pl.Series([0.25, 0.5] * 60), "number"),
        (pd.DataFrame({"a": [1.0, 2.0] * 60, "b": [0.5, 0.1] * 60}), "number"),
    ],
)
def test_kinds_are_those_of_given_in_a_fit(given, kind):
    assert leakage(two_rings()[0], given).kind == kind
    columns = given if isinstance(given, pd.DataFrame) else pd.DataFrame({"given": list(given)})
    if not isinstance(given, pd.DataFrame) and str(getattr(given, "dtype", "")) != "category":
        assert Given.learn("Model", columns, 120).columns[0].kind == kind


def test_whole_numbers_that_repeat_like_labels_are_named_by_measures_and_tables():
    school = np.repeat(np.arange(79), 12)
    sentence = "79 whole numbers, each on 12 rows on average: taken as a quantity"
    Z = np.random.default_rng(0).normal(size=(948, 2))
    with pytest.warns(DesignWarning, match=f"leakage: given has {sentence}; pass kind='category' if these are labels"):
        assert leakage(Z, school).kind == "number"
    with pytest.warns(DesignWarning, match=f"recovery: factor has {sentence}"):
        recovery(Z, school)
    assert sentence in understand(pd.DataFrame({"school": np.random.default_rng(0).permutation(school)}))[0].reason
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert leakage(Z, school, kind="category").kind == "category"
        assert leakage(Z, school, kind="number").kind == "number"


def test_kind_overrides_the_type():
    Z, angle, person = two_rings()
    assert leakage(Z, person.astype(float), kind="category") == leakage(Z, person)
    whole = angle.astype(int)
    assert leakage(Z, whole, kind="number") == leakage(Z, whole.astype(float))


@pytest.mark.parametrize("kind", ["number", "category"])
def test_rows_with_missing_values_are_left_out(kind):
    Z, angle, person = two_rings()
    full = angle if kind == "number" else person.astype(object)
    gaps = full.astype(object)
    gaps[:30] = [None, np.nan, pd.NA] * 10
    assert leakage(Z, gaps) == leakage(Z[30:], full[30:])
    assert leakage(Z, pd.Series(gaps)) == leakage(Z[30:], full[30:])
    assert recovery(Z, gaps) == recovery(Z[30:], full[30:])
    groups = person.astype(object)
    groups[-20:] = None
    expected = recovery(Z[30:-20], full[30:-20], groups=person[30:-20])
    assert recovery(Z, gaps, groups=groups) == expected


def test_recovery_across_groups_fails_when_each_group_has_its_own_layout():
    random = np.random.RandomState(0)
    pose = random.uniform(0, 1, 200)
    person = np.arange(200) % 2
    shared = np.column_stack([pose, 0.5 * person])
    mirrored = np.column_stack([np.where(person == 0, pose, 1 - pose), 0.5 * person])
    assert recovery(shared, pose, groups=person) > 0.95
    assert recovery(mirrored, pose, groups=person) < 0.0
    assert recovery(mirrored, pose) > 0.95


def test_angles_are_recovered_across_the_seam():
    Z, angle, person = two_rings(400)
    assert recovery(Z, angle, period=360.0) > 0.99
    assert recovery(Z, angle) < recovery(Z, angle, period=360.0)
    assert recovery(Z, angle + 720.0, period=360.0) == pytest.approx(recovery(Z, angle, period=360.0), abs=1e-9)
    assert recovery(Z, np.deg2rad(angle), period=2 * np.pi) == pytest.approx(recovery(Z, angle, period=360.0), abs=1e-9)
    assert recovery(Z, angle, period=360.0, groups=person) > 0.99


def test_circular_r_squared_is_the_formula_and_zero_for_guessing():
    Z, angle, _ = two_rings(80)
    theta = np.deg2rad(angle)
    guess = np.arctan2(slow_prediction(Z, np.sin(theta), 3), slow_prediction(Z, np.cos(theta), 3))
    best = min(np.mean(1 - np.cos(theta - c)) for c in np.linspace(0, 2 * np.pi, 20001))
    expected = 1 - np.mean(1 - np.cos(theta - guess)) / best
    assert recovery(Z, angle, n_neighbors=3, period=360.0) == pytest.approx(expected, abs=1e-6)
    random = np.random.RandomState(0)
    assert abs(recovery(random.standard_normal((800, 2)), random.uniform(0, 360, 800), period=360.0)) < 0.1


def test_recovery_of_categories_is_accuracy():
    Z, _, person = two_rings(400)
    names = np.array(["ann", "bob"])[person]
    assert recovery(Z, names) > 0.95
    assert recovery(Z, names) == pytest.approx(leakage(Z, names, n_neighbors=5).value)


def test_constants_have_nothing_to_reveal():
    Z, _, _ = two_rings()
    assert leakage(Z, np.full(120, 0.1)) == Leakage("number", 0.0, 0.0)
    assert leakage(Z, ["only"] * 120) == Leakage("category", 1.0, 1.0)
    assert recovery(Z, np.full(120, 90.0), period=360.0) == 0.0


@pytest.mark.parametrize("scale", [1e-150, 1e150, 1e300])
def test_huge_and_tiny_scales_give_the_same_value(scale):
    Z, angle, _ = two_rings()
    expected = recovery(Z, angle)
    assert recovery(Z * scale, angle) == pytest.approx(expected, abs=1e-12)
    assert recovery(Z, angle * scale) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda Z: leakage(Z, np.zeros(3)), r"leakage: given=.*one entry per row \(120\)"),
        (lambda Z: leakage(Z, np.zeros((120, 0))), r"leakage: given="),
        (lambda Z: leakage(Z, np.full(120, np.inf)), r"leakage: given=inf is not finite"),
        (lambda Z: leakage(Z, ["a"] * 120, kind="number"), r"cannot be read as numbers"),
        (lambda Z: leakage(Z, ["a"] * 120, kind="colour"), r"leakage: kind=colour is not known"),
        (lambda Z: leakage(Z, pd.DataFrame({"a": [1.5] * 120, "b": ["x"] * 120})), r"mixes numbers and categories"),
        (lambda Z: leakage(Z, [1.0] * 5 + [None] * 115), r"n_neighbors=10 is not a whole number from 1 to 4"),
        (lambda Z: recovery(Z, np.zeros(120), period=0.0), r"recovery: period=0.0 is not a number > 0"),
        (lambda Z: recovery(Z, np.arange(120.0), groups=np.zeros(120)), r"0 rows outside the largest group"),
        (lambda Z: recovery(Z, np.arange(120.0), groups=np.zeros(7)), r"recovery: groups="),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call(two_rings()[0])
