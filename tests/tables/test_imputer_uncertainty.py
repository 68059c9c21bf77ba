"""Imputer: draws that vary as they should, and intervals that hold what they say."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom
from scipy.stats import t as t_distribution
from sklearn.datasets import load_breast_cancer

sys.path.insert(0, str(Path(__file__).parent))
from gapped_tables import correlated, holes, mixed

from sidelight import Imputer


def test_draws_have_the_mean_and_the_covariance_of_the_conditional_distribution():
    # one row, two entries of which are missing: their joint distribution given the others is known
    n, d = 4000, 4
    rng = np.random.default_rng(1)
    covariance = 0.3 * np.eye(d) + 0.7
    X = rng.multivariate_normal(np.zeros(d), covariance, size=n)
    model = Imputer("gaussian").fit(X)
    row = np.array([[np.nan, np.nan, 1.0, 0.5]])
    drawn = np.vstack(model.draws(np.repeat(row, 2000, axis=0), 1))[:, :2]
    known = covariance[:2, 2:] @ np.linalg.inv(covariance[2:, 2:])
    left = covariance[:2, :2] - known @ covariance[2:, :2]
    np.testing.assert_allclose(drawn.mean(axis=0), known @ [1.0, 0.5], atol=0.06)
    np.testing.assert_allclose(np.cov(drawn.T), left, atol=0.06)
    assert np.corrcoef(drawn.T)[0, 1] == pytest.approx(left[0, 1] / left[0, 0], abs=0.08)


@pytest.mark.thorough
def test_draws_have_the_variance_of_the_data_where_means_have_less():
    X, G = correlated(600, share=0.4)
    model, gone = Imputer("gaussian").fit(G), np.isnan(G)
    drawn = model.draws(G, 8)
    spread = np.mean([table[gone].var() for table in drawn])
    assert spread == pytest.approx(X[gone].var(), rel=0.1)
    assert model.transform(G)[gone].var() < 0.9 * spread
    np.testing.assert_allclose(np.mean(drawn, axis=0), model.transform(G), atol=1.5)
    for table_drawn in drawn:
        np.testing.assert_array_equal(table_drawn[~gone], G[~gone])


@pytest.mark.thorough
def test_drawn_categories_have_their_probabilities():
    frame = mixed(400)
    model = Imputer("gaussian").fit(frame)
    one = frame.iloc[[5]].assign(kind=None, grown=None)
    probabilities = model.interval(one).probabilities
    many = pd.concat([one] * 150, ignore_index=True)
    drawn = pd.concat(model.draws(many, 40))  # each has parameters of its own, so one alone has other shares
    for column, wanted in probabilities.items():
        shares = drawn[column].astype(str).value_counts(normalize=True)
        for level in wanted:
            assert shares.get(level, 0.0) == pytest.approx(wanted[level].item(), abs=0.03)


@pytest.mark.thorough
def test_draws_are_the_same_for_a_seed_and_as_many_as_asked_for():
    _, G = correlated(80)
    model = Imputer("gaussian", random_state=3).fit(G)
    three, five = model.draws(G, 3), model.draws(G, 5)
    assert (len(three), len(five)) == (3, 5)
    np.testing.assert_array_equal(three, five[:3])
    assert not np.array_equal(five[0], five[1])
    again = Imputer("gaussian", random_state=3).fit(G).draws(G, 3)
    assert np.array(again).tobytes() == np.array(three).tobytes()
    assert not np.array_equal(Imputer("gaussian", random_state=4).fit(G).draws(G, 1)[0], five[0])


def coverage(model, gapped, truth, level=0.9):
    """How many of the missing numbers lie in their intervals, and how many there are."""
    found = model.interval(gapped, level)
    gone = gapped.isna().to_numpy()
    low, middle, high = (one.to_numpy(float) for one in (found.lower, truth, found.upper))
    inside = (low <= middle) & (middle <= high)
    return int(inside[gone].sum()), int(gone.sum())


def band(level, asked, held_out, share=0.999):
    """Between which counts the covered entries must lie: binomial, for entries asked for and for entries held out.

    The widths are order statistics of the errors of the entries held out, whose coverage varies as a binomial share.
    """
    low, high = binom.interval(share, asked, level)
    slack = 3.3 * np.sqrt(level * (1 - level) / held_out) * asked
    return low - slack, high + slack


@pytest.mark.parametrize(("n", "fits"), [(800, 3), (25, 30)], ids=["many rows", "few rows"])
@pytest.mark.thorough
def test_intervals_hold_their_share_of_a_gaussian(n, fits):
    held = total = judged = 0
    for seed in range(fits):
        X, G = correlated(n, share=0.2, seed=seed)
        model = Imputer("gaussian", random_state=seed).fit(G)
        one, of = coverage(model, pd.DataFrame(G), pd.DataFrame(X))
        held, total, judged = held + one, total + of, judged + model.n_held_out_
    low, high = band(0.9, total, judged)
    assert low < held < high


def test_intervals_hold_their_share_of_a_real_table():
    X = load_breast_cancer().data[:, :10]
    rng = np.random.default_rng(0)
    G = np.where(rng.random(X.shape) < 0.2, np.nan, X)
    model = Imputer("gaussian").fit(G)
    held, total = coverage(model, pd.DataFrame(G), pd.DataFrame(X))
    low, high = band(0.9, total, model.n_held_out_)
    assert total > 1000
    assert low < held < high


@pytest.mark.thorough
def test_each_draw_has_parameters_of_its_own():
    # a line through n points: the fitted mean at x has the variance s² / n (1 + (x - mean)² / variance of x)
    n, k = 60, 100
    rng = np.random.default_rng(3)
    x = rng.normal(size=n)
    G = np.column_stack([x, x + 0.5 * rng.normal(size=n)])
    row = np.array([[2.0, np.nan]])
    model = Imputer("gaussian").fit(G)
    means = np.array([table[:, 1].mean() for table in model.draws(np.repeat(row, 4000, axis=0), k)])
    left = G[:, 1] - np.polyval(np.polyfit(x, G[:, 1], 1), x)
    wanted = np.sqrt(left.var() / n * (1 + (2.0 - x.mean()) ** 2 / x.var()))
    assert means.std() == pytest.approx(wanted, rel=0.35)
    assert means.std() > 5 * 0.5 / np.sqrt(4000)  # what one set of parameters would leave
    assert means.mean() == pytest.approx(model.transform(row)[0, 1], abs=3 * wanted / np.sqrt(k))


def test_a_column_with_a_single_entry_is_in_every_draw():
    X, G = correlated(20, share=0.0)
    G[:, 1] = np.nan
    G[7, 1] = X[7, 1]
    G[8, 1] = X[8, 1]
    for table in Imputer("gaussian").fit(G).draws(G, 12):
        assert np.isfinite(table).all()


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 100])
def test_draws_give_honest_errors_of_a_mean_by_rubins_rules(n):
    # 40 % of the first column are missing; 95 % intervals of its mean (0), of which filling once makes too narrow ones
    m, covered, filled_once = 10, 0, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        G = rng.multivariate_normal(np.zeros(3), 0.4 * np.eye(3) + 0.6, size=n)
        G[rng.random(n) < 0.4, 0] = np.nan
        model = Imputer("gaussian", random_state=seed).fit(G)
        first = np.array([drawn[:, 0] for drawn in model.draws(G, m)])
        within, between = first.var(axis=1, ddof=1).mean() / n, first.mean(axis=1).var(ddof=1) * (1 + 1 / m)
        share = between / (within + between)
        seen = n / (n + 2) * (n - 1) * (1 - share)  # Barnard and Rubin 1999
        freedom = 1 / (share**2 / (m - 1) + 1 / seen)
        covered += abs(first.mean()) < t_distribution.ppf(0.975, freedom) * np.sqrt(within + between)
        once = model.transform(G)[:, 0]
        filled_once += abs(once.mean()) < 1.96 * once.std(ddof=1) / np.sqrt(n)
    assert covered >= binom.ppf(0.001, 60, 0.95)
    assert filled_once < covered


def test_intervals_are_wider_for_a_higher_level_and_contain_what_is_filled():
    G = correlated(200)[1] - 3.0  # both signs: no bound at 0
    model = Imputer("gaussian").fit(G)
    filled, gone = model.transform(G), np.isnan(G)
    narrow, wide = model.interval(G, 0.5), model.interval(G, 0.95)
    assert ((wide.lower < narrow.lower) & (narrow.lower < filled))[gone].all()
    assert ((filled < narrow.upper) & (narrow.upper < wide.upper))[gone].all()
    np.testing.assert_array_equal(narrow.lower[~gone], G[~gone])
    np.testing.assert_array_equal(narrow.upper[~gone], G[~gone])


def test_intervals_of_a_mixed_table():
    truth = mixed(200)
    gapped = holes(truth, 0.2)
    found = Imputer("gaussian").fit(gapped).interval(gapped)
    gone = gapped.isna()
    for name in ("mass", "count", "day", "size"):
        assert (found.lower[name] <= found.upper[name]).all()
    assert (found.lower["count"] == np.rint(found.lower["count"])).all()
    assert (found.lower["count"] >= 0).all()
    assert found.lower["kind"].isna().equals(gone["kind"])
    assert set(found.probabilities) == {"kind", "grown"}
    kinds = found.probabilities["kind"]
    assert list(kinds) == ["large", "middling", "small"]
    np.testing.assert_allclose(kinds.sum(axis=1), 1.0)
    known = kinds[~gone["kind"]].to_numpy()
    np.testing.assert_allclose(known.max(axis=1), 1.0)
