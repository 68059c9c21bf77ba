"""Errors of rows at charts that were fitted to them are too small, and by how much is estimated without other rows."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import CoordinatedCCA, CoordinatedMixture
from sidelight.maps.left_out_charts import chart_growth


def noisy_rows(n: int, d: int, seed: int) -> np.ndarray:
    """Rows of two strong directions and noise, with heavier columns at the end."""
    rng = np.random.default_rng(seed)
    plane = np.linspace(-1, 1, 2 * d).reshape(2, d)
    return 2.0 * rng.normal(size=(n, 2)) @ plane + rng.normal(size=(n, d)) * np.linspace(0.5, 1.5, d)


def quantile_of_errors(model: CoordinatedMixture, rows: np.ndarray) -> float:
    return float(np.quantile(np.abs(rows - model.inverse_transform(model.transform(rows))), 0.9))


@pytest.mark.parametrize("n", [60, pytest.param(800, marks=pytest.mark.thorough)])
def test_the_factor_makes_up_for_most_of_what_the_fit_knew(n):
    """All of it with many rows; with 20 rows a chart the fit knew more than a step without a fold can tell."""
    X, new = noisy_rows(n, 8, 0), noisy_rows(1000, 8, 1)
    model = CoordinatedMixture(2, n_charts=3, n_jobs=1, random_state=0).fit(X)
    found = chart_growth(model.map_, X, np.arange(8))
    true = quantile_of_errors(model, new) / quantile_of_errors(model, X)
    assert 1.0 + 0.5 * (true - 1.0) - 0.02 < found < true + 0.05
    assert (found > 1.1) == (n == 60)


@pytest.mark.thorough
def test_columns_of_a_view_that_rows_do_not_have_change_nothing():
    X, Y = noisy_rows(80, 4, 0), noisy_rows(80, 3, 1)
    model = CoordinatedCCA(n_charts=2, n_jobs=1, random_state=0).fit(X, Y)
    rows = np.column_stack([X, np.full(Y.shape, np.nan)])
    assert 1.0 <= chart_growth(model.map_, rows, np.arange(4)) < 2.0
    assert chart_growth(model.map_, rows[:15], np.arange(4)) == 1.0  # too few rows to leave some out


@pytest.mark.thorough
def test_intervals_of_charts_of_few_rows_hold_what_they_say():
    shares = []
    for seed in range(5):
        X, new = noisy_rows(100, 8, seed), noisy_rows(400, 8, 50 + seed)
        model = CoordinatedMixture(2, n_jobs=1, random_state=0).fit(X)
        shares.append(model.inverse_transform_interval(model.transform(new)).holds(new).mean())
    assert 0.88 < np.mean(shares) < 0.92
