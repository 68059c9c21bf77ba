"""Differences of selections: exact sums, intervals that cover, false discoveries that are few; axes and their words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t as student
from scipy.stats import ttest_ind

from sidelight import KernelInformationEmbedding, PPCAMixture, ProbabilisticPCA, TwoWayEmbedding, explain
from sidelight.explain._compared import compared, compared_in_words
from sidelight.explain._statistics import false_discovery_rates, group_of, p_of_one, welch

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def two_kinds(n: int = 80, d: int = 20, n_real: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two kinds that differ in the first columns; the others are noise."""
    kind = np.arange(n) % 2
    shift = np.where(np.arange(d) < n_real, 4.0, 0.0)
    return np.random.default_rng(seed).normal(size=(n, d)) + kind[:, None] * shift, kind


def total(table) -> np.ndarray:
    return table.groupby("axis", sort=False).contribution.sum().to_numpy()


@pytest.fixture(scope="module")
def kinds():
    X, kind = two_kinds(80, 20)
    return TwoWayEmbedding(maps="kernel").fit(X), X, kind


def test_contributions_of_selections_sum_to_the_difference_of_their_mean_places(kinds):
    model, X, kind = kinds
    Z = model.transform(X)
    found = explain.difference(model, X, kind == 1, kind == 0)
    assert np.allclose(total(found), Z[kind == 1].mean(axis=0) - Z[kind == 0].mean(axis=0), atol=1e-10)
    rest = explain.selection(model, X, np.arange(10))
    assert np.allclose(total(rest), Z[:10].mean(axis=0) - Z[10:].mean(axis=0), atol=1e-10)


def test_one_row_is_compared_with_the_others_in_their_standard_deviations():
    X = np.random.default_rng(0).normal(size=(200, 6))
    X[17, 2] = 8.0
    model = TwoWayEmbedding(maps="kernel").fit(X)
    rest = np.delete(X, 17, axis=0)
    t = (X[17] - rest.mean(axis=0)) / (rest.std(axis=0, ddof=1) * np.sqrt(1 + 1 / 199))
    found = explain.selection(model, X, [17])
    of = found[found.axis == found.axis[0]].dropna(subset="difference").set_index("feature")
    order = [str(k) for k in range(6)]
    assert np.allclose(of.loc[order, "standardised"], t * np.sqrt(1 + 1 / 199))
    assert np.allclose(of.loc[order, "p"], 2 * student.sf(np.abs(t), 198))
    assert compared_in_words(compared(found)[0]) == f"more 2 (+{of.loc['2', 'standardised']:.1f} SD)"
    both = explain.difference(model, X, 17, 3)
    assert both.standardised.isna().all()
    assert both.fdr.isna().all()


def test_p_values_of_single_rows_that_are_drawn_like_the_others_are_uniform():
    rng = np.random.default_rng(0)
    one, others = rng.normal(size=(1, 4000)), rng.normal(size=(12, 4000))
    p = p_of_one(group_of(iter([one]), 1, 0, rng), group_of(iter([others]), 12, 0, rng))
    assert abs(np.mean(p < 0.1) - 0.1) < 0.02
    assert abs(np.mean(p < 0.5) - 0.5) < 0.03
    same = group_of(iter([np.ones((12, 2))]), 12, 0, rng)
    assert p_of_one(group_of(iter([np.array([[1.0, 2.0]])]), 1, 0, rng), same).tolist() == [1.0, 0.0]


def test_the_columns_that_differ_are_found_and_noise_is_not(kinds):
    model, X, kind = kinds
    found = explain.difference(model, X, kind == 1, kind == 0)
    longest = found.axis[found.contribution.abs().idxmax()]
    found = found[(found.axis == longest) & found.p.notna()]
    assert set(found.feature[:3]) == {"0", "1", "2"}
    sure = found[found.fdr <= 0.05]
    assert set(sure.feature) >= {"0", "1", "2"}
    assert len(sure) <= 5
    assert (found.low <= found.contribution).all()
    assert (found.contribution <= found.high).all()
    assert found[found.feature == "0"].difference.iloc[0] == pytest.approx(4.0, abs=0.6)
    assert found[found.feature == "0"].standardised.iloc[0] == pytest.approx(4.0, abs=0.8)


def test_a_column_without_variance_within_the_groups_is_said_to_differ_in_the_right_direction():
    X, kind = two_kinds()
    X[:, 0] = np.where(kind == 1, 3.0, 1.0)
    model = TwoWayEmbedding().fit(X)
    found = explain.difference(model, X, kind == 1, kind == 0)
    assert found[found.feature == "0"].standardised.tolist() == [2.0, 2.0]
    other = explain.difference(model, X, kind == 0, kind == 1)
    assert other[other.feature == "0"].standardised.tolist() == [-2.0, -2.0]
    assert "more 0 (+2.0 SD)" in compared_in_words(compared(found)[0])


def test_labels_that_mean_nothing_give_no_discoveries():
    """Of 20 sets of random labels, at a false discovery rate of 0.1, about two may have one."""
    X, _ = two_kinds(n_real=0)
    model = ProbabilisticPCA(2).fit(X)
    rng = np.random.default_rng(0)
    runs = 0
    for _ in range(20):
        labels = rng.permutation(80) < 40
        found = explain.difference(model, X, labels, ~labels, n_resamples=2)
        runs += bool((found.fdr <= 0.1).any())
    assert runs <= 5


def test_intervals_cover_the_true_contribution_about_as_often_as_they_say():
    X, kind = two_kinds(4000, 2, 1, seed=1)
    model = ProbabilisticPCA(1).fit(X)
    true = float(model.jacobian(X[:1])[0, 0, 0]) * 4.0
    covered = 0
    for part in range(40):
        some = slice(100 * part, 100 * (part + 1))
        found = explain.difference(model, X[some], kind[some] == 1, kind[some] == 0)
        record = found[found.feature == "0"].iloc[0]
        covered += record.low <= true <= record.high
    assert 33 <= covered <= 40


def test_welch_and_benjamini_hochberg_agree_with_scipy():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(30, 6)), rng.normal(size=(50, 6)) * 2 + 0.5
    sides = [group_of(iter([V[:11], V[11:]]), len(V), 3, rng) for V in (A, B)]
    assert np.allclose(welch(*sides), ttest_ind(A, B, equal_var=False).pvalue)
    assert np.allclose(sides[0].variance, A.var(axis=0, ddof=1))
    p = rng.uniform(size=50) ** 3
    order = np.sort(p)
    naive = [min(1.0, min(order[j] * 50 / (j + 1) for j in range(i, 50))) for i in range(50)]
    assert np.allclose(np.sort(false_discovery_rates(p)), naive)


@pytest.mark.thorough
def test_groups_are_compared_after_what_is_given():
    """Kinds differ in column 0, batches in column 1; kinds are unequal between batches."""
    rng = np.random.default_rng(0)
    batch = np.arange(100) % 2
    kind = rng.uniform(size=100) < np.where(batch == 1, 0.7, 0.3)
    X = rng.normal(size=(100, 4)) * 0.5 + np.outer(kind, [5.0, 0, 0, 0]) + np.outer(batch, [0, 5.0, 0, 0])
    model = KernelInformationEmbedding(max_iter=5).fit(X, given=batch)
    found = explain.groups(model, X, kind, given=batch, tolerance=1e-3)
    assert list(dict.fromkeys(found.group)) == ["False", "True"]
    Z = model.transform(X, given=batch)
    moved = total(found[found.group == "True"])
    assert np.allclose(moved, Z[kind].mean(axis=0) - Z[~kind].mean(axis=0), atol=1e-10)
    record = found[(found.group == "True") & (found.axis == "1")].set_index("feature")
    assert abs(record.difference["0"]) > 4.0
    assert abs(record.difference["1"]) < 0.6  # 2.0 before the effect of the batch is taken off


def test_axes_name_the_columns_that_follow_them():
    rng = np.random.default_rng(0)
    place = rng.uniform(-3, 3, size=(150, 2))
    X = np.column_stack([10 * place[:, 0], -place[:, 1], place[:, 0] + 5, rng.normal(size=150)])
    X[:, :3] += 0.05 * rng.normal(size=(150, 3))
    model = TwoWayEmbedding(maps="kernel").fit(X, embedding=place)
    found = explain.axes(model, X, regions=3)
    assert list(dict.fromkeys(found.region)) == ["whole map", "region 1", "region 2", "region 3"]
    whole = found[found.region == "whole map"].set_index(["axis", "feature"])
    assert whole.share["1"]["0"] > 0.95
    assert whole.slope["1"]["0"] == pytest.approx(10.0, rel=0.15)
    assert whole.share["2"]["1"] > 0.9
    assert whole.slope["2"]["1"] < 0
    assert whole.share["1"]["3"] < 0.1
    sizes = found.groupby("region").rows.first()
    assert sizes["region 1"] + sizes["region 2"] + sizes["region 3"] == sizes["whole map"] == 150
    words = explain.in_words(found)
    assert words[0].startswith("Axis 1: rises ")
    assert "2 of 4 features" in words[0]
    assert "falls 1" in words[1]


def test_the_same_seed_gives_the_same_table(kinds):
    model, X, kind = kinds
    first, again = (explain.selection(model, X, kind == 1, n_resamples=20, tolerance=1e-2) for _ in range(2))
    assert first.equals(again)
    assert explain.axes(model, X, regions=3).equals(explain.axes(model, X, regions=3))


def test_words_of_a_difference(kinds):
    model, X, kind = kinds
    said = explain.in_words(explain.difference(model, X, kind == 1, kind == 0))
    assert len(said) == 2
    assert "false discovery rate" in said[0]


def test_selections_that_are_none_are_refused(kinds):
    model, X, kind = kinds
    for wrong in ([], kind[:-1] == 1, [len(X)], "a"):
        with pytest.raises(ValueError, match="first"):
            explain.difference(model, X, wrong, 0)
    with pytest.raises(ValueError, match="leaves no row"):
        explain.selection(model, X, np.ones(len(X), dtype=bool))
    with pytest.raises(ValueError, match="two groups"):
        explain.groups(model, X, ["a"] * len(X))
    with pytest.raises(ValueError, match="regions"):
        explain.axes(model, X, regions=1)
    with pytest.raises(ValueError, match="has no inverse_transform"):
        explain.axes(PPCAMixture(2, 2, n_init=1).fit(X), X)
