"""Errors that a model stores are summarised where they are many: bounded files, the same coverage, older files."""

from __future__ import annotations

import numpy as np
import pytest

import sidelight
from sidelight import CoordinatedCCA, ProbabilisticPCA
from sidelight.maps.calibration import Calibration, half_widths
from sidelight.maps.calibration_summary import CalibrationSummary, WidthTable, bounded_errors, bounded_multiples


def some_errors(m: int, d: int, seed: int = 0) -> Calibration:
    """Errors whose size grows along the first coordinate of their places, and with the number of the column."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(size=(m, 2))
    return Calibration(places, (0.5 + places[:, :1]) * np.linspace(1.0, 3.0, d) * rng.normal(size=(m, d)))


@pytest.mark.parametrize("d", [25, pytest.param(700, marks=pytest.mark.thorough)])
def test_a_summary_covers_what_the_errors_themselves_cover(d):
    full, new = some_errors(1700 if d < 100 else 300, d), some_errors(400, d, seed=1)
    short = CalibrationSummary.of(full)
    for level in (0.5, 0.9, 0.99):
        widths = [one.half_widths(new.places, level) for one in (full, short)]
        shares = [(np.abs(new.errors) <= half).mean() for half in widths]
        assert abs(shares[0] - shares[1]) < 0.01
        assert widths[1].mean() == pytest.approx(widths[0].mean(), rel=0.05)
    left = new.places[:, 0] < 0.2
    ratios = [half[left].mean() / half[~left].mean() for half in widths]
    assert ratios[1] < 0.8  # widths stay local
    assert ratios[1] == pytest.approx(ratios[0], abs=0.05)


def test_a_table_of_widths_is_exact_at_its_levels_and_normal_beyond_them():
    rng = np.random.default_rng(0)
    scaled = np.abs(rng.normal(size=(500, 3)))
    scaled[rng.random(scaled.shape) < 0.5] = np.nan
    table = WidthTable.of(scaled)
    np.testing.assert_allclose(table.half_widths(0.9), half_widths(scaled, 0.9), rtol=1e-6)
    np.testing.assert_allclose(table.half_widths(0.63), half_widths(scaled, 0.63), rtol=0.02)
    assert (table.half_widths(0.99999) > table.half_widths(0.9999)).all()
    assert (WidthTable.of(np.full((50, 2), np.nan)).half_widths(0.9) == 0).all()


def test_few_errors_are_kept_as_they_are_and_columns_without_errors_have_no_width():
    few, scaled = some_errors(100, 5), np.ones((100, 5))
    assert bounded_errors(few) is few
    assert bounded_multiples(scaled) is scaled
    full = some_errors(900, 50)
    full.errors[:, 7] = 0.0
    short = bounded_errors(full)
    assert isinstance(short, CalibrationSummary)
    half = short.half_widths(full.places[:9], 0.9)
    assert (half[:, 7] == 0).all()
    assert (half[:, 8] > 0).all()


@pytest.mark.parametrize("d", [120, pytest.param(3000, marks=pytest.mark.thorough)])
def test_stored_errors_add_less_than_a_megabyte_to_a_file(d, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 3)) @ rng.normal(size=(3, d)) + rng.normal(size=(600, d))
    model = ProbabilisticPCA(2, n_jobs=1).fit(X)
    sidelight.save(model, tmp_path / "with")
    loaded = sidelight.load(tmp_path / "with")
    Z = model.transform(X[:20])
    assert np.array_equal(loaded.inverse_transform_interval(Z).upper, model.inverse_transform_interval(Z).upper)
    gaps = np.where(rng.random((20, d)) < 0.1, np.nan, X[:20])
    assert np.array_equal(loaded.impute_interval(gaps).upper, model.impute_interval(gaps).upper)
    del loaded.row_errors_, loaded.entry_errors_
    sidelight.save(loaded, tmp_path / "without")
    assert (tmp_path / "with").stat().st_size - (tmp_path / "without").stat().st_size < 1e6


def test_files_with_all_errors_still_load(tmp_path):
    """As they were written before errors were summarised."""
    X = np.random.default_rng(0).normal(size=(300, 30))
    model = ProbabilisticPCA(2, n_jobs=1).fit(X)
    model.row_errors_ = Calibration(model.embedding_.astype(np.float64), X - model.inverse_transform(model.embedding_))
    model.entry_errors_ = np.where(np.random.default_rng(1).random((1500, 30)) < 0.5, np.nan, 1.0)
    sidelight.save(model, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    Z, gaps = model.embedding_[:5], np.where(np.eye(30, dtype=bool)[:5], np.nan, X[:5])
    assert np.array_equal(loaded.inverse_transform_interval(Z).upper, model.inverse_transform_interval(Z).upper)
    assert np.array_equal(loaded.impute_interval(gaps).upper, model.impute_interval(gaps).upper)


@pytest.mark.thorough
def test_a_coordinated_model_stores_summaries(tmp_path):
    rng = np.random.default_rng(0)
    U = rng.uniform(-1, 1, size=(900, 2))
    X, Y = (U @ rng.normal(size=(2, 60)) + 0.1 * rng.normal(size=(900, 60)) for _ in range(2))
    model = CoordinatedCCA(n_charts=2, n_jobs=1, random_state=0).fit(X[:750], Y[:750])
    assert isinstance(model.prediction_errors_, CalibrationSummary)
    found = model.predict_interval(X[750:])
    assert 0.86 < found.holds(Y[750:]).mean() < 0.94
    sidelight.save(model, tmp_path / "model")
    assert np.array_equal(sidelight.load(tmp_path / "model").predict_interval(X[750:]).upper, found.upper)
