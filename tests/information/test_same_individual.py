"""Intervals of rows that are kept hold the same individual under the new category, if pairs are known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from sidelight import KernelInformationEmbedding
from sidelight.information._individuals import checked_individuals
from sidelight.pipeline import make_pipeline

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
ASKED = {"given": "after", "given_now": "before", "residual": "row"}


def twins(both=25, alone=40, new=100, seed=0):
    """Rows, groups and individuals of a fit, rows of new individuals before, and after."""
    rng = np.random.default_rng(seed)
    n = both + 2 * alone + new
    content = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 8))
    before = content + 0.3 * rng.normal(size=content.shape)
    change = (np.arange(8) < 3) * (3.0 + rng.normal(size=content.shape))
    after = content + change + 0.3 * rng.normal(size=content.shape)
    i, first, second, others = np.split(np.arange(n), np.cumsum([both, alone, alone]))
    X = np.concatenate([before[i], after[i], before[first], after[second]])
    group = np.repeat(["before", "after", "before", "after"], [both, both, alone, alone])
    return X, group, np.concatenate([i, i, first, second]), before[others], after[others]


def test_they_hold_the_same_individual():
    X, group, who, new, truth = twins()
    found = KernelInformationEmbedding(max_iter=10, tol=1e-2).fit(X, given=group)
    ends = found.counterfactual_interval(new, **ASKED, individuals=who, level=0.8)
    np.testing.assert_allclose((ends.lower + ends.upper) / 2, found.counterfactual(new, **ASKED))
    assert abs(ends.holds(truth).mean() - 0.8) < 0.06
    wider = found.counterfactual_interval(new, **ASKED, individuals=who.astype(str), level=0.9)
    assert (wider.upper > ends.upper).all()
    unchanged = {**ASKED, "given": "before"}
    same = found.counterfactual_interval(new[:3], **unchanged, individuals=who)
    np.testing.assert_array_equal(same.lower, same.upper)


def test_a_pipeline_takes_individuals_and_says_how_sure_places_are():
    X, group, who, new, _ = twins(both=25, alone=20, new=5)
    model = KernelInformationEmbedding(max_iter=5, tol=1e-1)
    found = make_pipeline(StandardScaler(with_std=False), model).fit(X, given=group)
    plain = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(X - X.mean(axis=0), given=group)
    ends = found.counterfactual_interval(new, **ASKED, individuals=who)
    expected = plain.counterfactual_interval(new - X.mean(axis=0), **ASKED, individuals=who)
    np.testing.assert_allclose(ends.lower, expected.lower + X.mean(axis=0), rtol=1e-9, atol=1e-9)
    radius = found.transform_radius(new, given="before", level=0.8)
    np.testing.assert_allclose(radius, plain.transform_radius(new - X.mean(axis=0), given="before", level=0.8))


def test_what_cannot_be_calibrated_is_refused():
    X, group, who, new, _ = twins(both=5, alone=20, new=5)
    found = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(X, given=group)
    with pytest.raises(ValueError, match=r"individuals=5 are in both categories, and level=0.9 needs 9.*most 0.83"):
        found.counterfactual_interval(new, **ASKED, individuals=who)
    assert found.counterfactual_interval(new[:2], **ASKED, individuals=who, level=0.83).lower.shape == (2, 8)
    with pytest.raises(ValueError, match="residual=row needs individuals for intervals"):
        found.counterfactual_interval(new, **ASKED)
    with pytest.raises(ValueError, match="does not have one entry for each of the 50 training rows with a known given"):
        found.counterfactual_interval(new, **ASKED, individuals=who[:-1])
    now = np.array(["before", None], dtype=object)
    with pytest.raises(ValueError, match="is missing in some rows"):
        found.counterfactual_interval(new[:2], **{**ASKED, "given_now": now}, individuals=who)
    with pytest.raises(ValueError, match='is for residual="row"'):
        found.counterfactual_interval(new, given="after", individuals=who)
    one = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(X, given=np.full(len(X), "before"))
    with pytest.raises(ValueError, match="was one value in the whole fit"):
        one.counterfactual_interval(new, given="before", given_now="before", residual="row", individuals=who)
    with pytest.raises(ValueError, match=r"has no standard deviations.*counterfactual_interval with individuals"):
        found.counterfactual(new, **ASKED, return_std=True)


def test_the_widths_are_in_units_of_the_data():
    X, group, who, new, _ = twins(both=12, alone=20, new=5)
    widths = []
    for scale in (1.0, 1000.0):
        found = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(scale * X, given=group)
        ends = found.counterfactual_interval(scale * new, **ASKED, individuals=who)
        widths.append((ends.upper - ends.lower) / scale)
    np.testing.assert_allclose(widths[1], widths[0], rtol=1e-3)


@pytest.mark.parametrize("labels", [[1.0, np.nan, 1.0, np.nan], ["a", None, "a", float("nan")]])
def test_rows_of_unknown_individuals_are_of_nobody_else(labels):
    assert checked_individuals("Model", np.array(labels, dtype=object), 4).tolist() == [0, 1, 0, 2]
    assert checked_individuals("Model", np.array(labels), 4).tolist() == [0, 1, 0, 2]


def test_rows_without_a_category_have_no_individual():
    X, group, who, new, _ = twins(both=12, alone=20, new=5)
    group = np.array([None, *group[1:]], dtype=object)
    found = KernelInformationEmbedding(max_iter=5, tol=1e-1).fit(X, given=group)
    with pytest.raises(ValueError, match=r"each of the 63 training rows with a known given.*without the rows whose"):
        found.counterfactual_interval(new, **ASKED, individuals=who, level=0.8)
    assert found.counterfactual_interval(new, **ASKED, individuals=who[1:], level=0.8).lower.shape == new.shape
