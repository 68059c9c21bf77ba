"""Widths of intervals by the errors of held-out entries: by order statistics, and beyond them by the normal tail."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sidelight.maps.entry_intervals import draw_scale, half_width
from sidelight.maps.entry_models import EntryModel, fit_entry_model


@pytest.fixture(scope="module")
def model():
    X = np.random.default_rng(0).normal(size=(300, 3))
    return fit_entry_model(X, "gaussian", owner="test", seed=0, n_jobs=1)


def with_errors(model, errors):
    """The model as if these had been the errors of its held-out entries."""
    return EntryModel(model.density, model.centre, model.scale, 1.0, np.quantile(errors, np.linspace(0, 1, 201)))


def test_a_further_error_is_below_the_half_width_as_often_as_it_should(model):
    rng = np.random.default_rng(1)
    for m in (15, 40, 200):
        found = []
        for _ in range(400):
            errors = np.abs(rng.normal(size=m))
            found.append(2 * norm.cdf(half_width(with_errors(model, errors), 0.9, m)) - 1)
        assert np.mean(found) == pytest.approx(0.9, abs=0.015)


def test_beyond_the_largest_error_the_tail_is_normal(model):
    few = with_errors(model, np.array([0.2, 0.5, 1.0]))
    wanted = 1.0 * norm.ppf(0.975) / norm.ppf((1 + 3 / 4) / 2)
    assert half_width(few, 0.95, 3) == pytest.approx(wanted)
    assert half_width(few, 0.95, 0) == pytest.approx(norm.ppf(0.975))


def test_widths_grow_with_the_level(model):
    levels = np.linspace(0.05, 0.99, 40)
    for m in (2, 5, 20, 300):
        widths = [half_width(model, level, m) for level in levels]
        assert np.all(np.diff(widths) >= 0)


def test_few_errors_leave_draws_to_the_model_and_many_leave_them_to_the_errors(model):
    def scale(m):
        """With errors as those of m normal entries are expected, three times as wide as the model says."""
        return draw_scale(with_errors(model, 3.0 * norm.ppf((1 + np.arange(1, m + 1) / (m + 1)) / 2)), m)

    assert draw_scale(model, 0) * np.sqrt(model.factor) == pytest.approx(1.0)
    assert 1.0 < scale(3) < scale(10) < scale(50) < 3.0
    assert scale(5000) == pytest.approx(3.0, rel=0.02)
