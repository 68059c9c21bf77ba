"""Draws of the error of fitted means: their width, and what they are made from."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.entry_models import fit_entry_model
from sidelight.maps.parameter_draws import RowSample, mean_shifts, sample_rows


def line(n, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return np.column_stack([x, x + 0.5 * rng.normal(size=n)])


def shifts(sample, X, k=80):
    model = fit_entry_model(sample.rows, "gaussian", owner="test", seed=0, n_jobs=1)
    generators = [np.random.default_rng([5, i]) for i in range(k)]
    return np.array(list(mean_shifts(model, sample, X, generators, 1)))


def test_shifts_have_the_standard_error_of_a_regression_and_observed_entries_have_none():
    rows = line(80)
    asked = np.array([[0.0, np.nan], [2.5, np.nan]])
    found = shifts(RowSample(rows, len(rows)), asked)
    assert not found[:, :, 0].any()
    x, y = rows.T
    left = (y - np.polyval(np.polyfit(x, y, 1), x)).var()
    wanted = np.sqrt(left / len(x) * (1 + (asked[:, 0] - x.mean()) ** 2 / x.var()))
    np.testing.assert_allclose(found[:, :, 1].std(axis=0), wanted, rtol=0.3)
    assert (np.abs(found[:, :, 1].mean(axis=0)) < 4 * wanted / np.sqrt(len(found))).all()


def test_rows_of_a_draw_are_moved_together():
    asked = np.array([[1.0, np.nan], [1.1, np.nan]])
    first, second = shifts(RowSample(line(60), 60), asked, 40)[:, :, 1].T
    assert np.corrcoef(first, second)[0, 1] > 0.99


def test_a_sample_of_many_rows_is_as_certain_as_all_of_them():
    rows = line(4000)
    sample = sample_rows(rows, 0)
    assert (sample.rows.shape, sample.n_rows) == ((1000, 2), 4000)
    asked = np.array([[0.5, np.nan]])
    narrow, wide = (shifts(one, asked, 60)[:, 0, 1].std() for one in (sample, RowSample(sample.rows, 1000)))
    assert narrow == pytest.approx(wide / 2, rel=1e-9)
    assert wide == pytest.approx(0.5 * np.sqrt(1.25 / 1000), rel=0.35)


def test_a_sample_keeps_every_column_and_small_tables_whole():
    rows = line(3000)
    rows[:, 1] = np.nan
    rows[2999, 1] = 1.0
    assert np.isfinite(sample_rows(rows, 0).rows[:, 1]).any()
    few = line(50)
    np.testing.assert_array_equal(sample_rows(few, 0).rows, few)


def test_columns_that_a_draw_would_lose_are_kept():
    rows = line(25)
    rows[1:, 1] = np.nan
    rows[3, 1] = 0.4
    assert np.isfinite(shifts(RowSample(rows, 25), np.array([[1.0, np.nan]]), 30)).all()
