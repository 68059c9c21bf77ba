"""MultiAttributeMetric: the span of what each attribute learns by itself."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import subspace_angles

from sidelight import EquivalenceMetric, MultiAttributeMetric, Pairs
from sidelight.evaluate import neighbour_hit

RNG = np.random.default_rng(2)
X = RNG.normal(size=(200, 8)) * np.array([6, 1, 1, 1, 1, 1, 1, 1])
TABLE = pd.DataFrame({"beard": X[:, 3] > 0, "glasses": np.where(X[:, 5] > 0.3, "yes", "no")})


@pytest.mark.parametrize("form", ["generalised", "literal"])
def test_it_spans_the_directions_of_the_attributes_one_by_one(form):
    model = MultiAttributeMetric(form=form, regularization=0.5).fit(X, TABLE)
    columns = [
        EquivalenceMetric(1, form=form, regularization=0.5).fit(X, same=_same(TABLE[name])).components_[0]
        for name in TABLE
    ]
    assert model.attributes_ == ("beard", "glasses")
    assert subspace_angles(model.components_.T, np.array(columns).T).max() < 1e-6


def _same(labels):
    codes = pd.factorize(labels)[0]
    first, second = np.triu_indices(len(codes), 1)
    equal = codes[first] == codes[second]
    return np.column_stack([first[equal], second[equal]])


def test_the_literal_metric_is_a_projection_and_the_generalised_one_whitens():
    literal = MultiAttributeMetric(form="literal").fit(X, TABLE)
    np.testing.assert_allclose(literal.components_ @ literal.components_.T, np.eye(2), atol=1e-10)
    whitened = MultiAttributeMetric(regularization=1e-9).fit(X, TABLE).transform(X)
    np.testing.assert_allclose(whitened.T @ whitened / (len(X) - 1), np.eye(2), atol=1e-6)


def test_every_attribute_is_seen_in_one_space():
    Z = MultiAttributeMetric().fit(X, TABLE).transform(X)
    for name in TABLE:
        assert neighbour_hit(Z, TABLE[name]) > 0.9 > neighbour_hit(X, TABLE[name])


def test_two_directions_for_each_attribute():
    assert MultiAttributeMetric(2).fit(X, TABLE).components_.shape == (4, 8)


def test_an_attribute_told_twice_counts_once():
    twice = pd.DataFrame({"a": TABLE["beard"], "b": TABLE["beard"]})
    assert MultiAttributeMetric().fit(X, twice).components_.shape == (1, 8)


def test_pairs_by_name_are_labels_by_pairs():
    pairs = {name: Pairs(_same(TABLE[name]), 200) for name in TABLE}
    np.testing.assert_allclose(
        MultiAttributeMetric().fit(X, same=pairs).mahalanobis_,
        MultiAttributeMetric().fit(X, TABLE).mahalanobis_,
        atol=1e-9,
    )


def test_nothing_given_is_one_attribute_that_says_nothing():
    wide = MultiAttributeMetric().fit(X).components_, EquivalenceMetric(1).fit(X).components_
    assert subspace_angles(wide[0].T, wide[1].T).max() < 1e-7


@pytest.mark.parametrize("same", [np.array([[0, 1]]), {}, [[0, 1]]])
def test_pairs_without_a_name_are_refused(same):
    with pytest.raises(ValueError, match=r"^MultiAttributeMetric: same=\w+ does not name attributes\. Give a dict"):
        MultiAttributeMetric().fit(X, same=same)


def test_an_attribute_with_bad_pairs_is_named():
    with pytest.raises(ValueError, match=r"^MultiAttributeMetric: same\['beard'\]=\(4, 4\) pairs a row with itself"):
        MultiAttributeMetric().fit(X, same={"beard": [[4, 4]]})


@pytest.mark.parametrize("form", ["generalised", "literal"])
def test_an_attribute_may_have_different_pairs_as_well_or_alone(form):
    same, different = {"a": [[0, 1], [2, 3]], "b": [[4, 5]]}, {"a": [[0, 9]], "c": [[7, 8]]}
    model = MultiAttributeMetric(form=form).fit(X, same=same, different=different)
    columns = [
        EquivalenceMetric(1, form=form, regularization=min(X.shape[1], 30))
        .fit(X, same=same.get(name), different=different.get(name))
        .components_[0]
        for name in "abc"
    ]
    assert model.attributes_ == ("a", "b", "c")
    assert subspace_angles(model.components_.T, np.array(columns).T).max() < 1e-6
    without = MultiAttributeMetric(form=form).fit(X, same=same)
    assert without.attributes_ == ("a", "b")
    together = MultiAttributeMetric(form=form).fit(X, same=same, different={"a": different["a"]})
    assert subspace_angles(without.components_.T, together.components_.T).max() > 1e-3


def test_pairs_of_one_attribute_may_be_different_in_another_and_not_in_the_same():
    MultiAttributeMetric().fit(X, same={"a": [[0, 1]]}, different={"b": [[0, 1]]})
    message = r"^MultiAttributeMetric: same\['a'\]=\(0, 1\) is among the pairs of different\['a'\] too\. Decide"
    with pytest.raises(ValueError, match=message):
        MultiAttributeMetric().fit(X, same={"a": [[0, 1]]}, different={"a": [[1, 0]]})


def test_different_pairs_without_a_name_are_refused():
    with pytest.raises(
        ValueError, match=r"^MultiAttributeMetric: different=list does not name attributes\. Give a dict"
    ):
        MultiAttributeMetric().fit(X, same={"a": [[0, 1]]}, different=[[0, 1]])


def test_pairs_without_a_name_are_one_attribute():
    same, different = Pairs([[0, 1], [2, 3]], 200), Pairs([[4, 5]], 200)
    found = MultiAttributeMetric().fit(X, same=same, different=different)
    named = MultiAttributeMetric().fit(X, same={"a": same}, different={"a": different})
    np.testing.assert_array_equal(found.components_, named.components_)
