"""Widths of intervals from the errors of left-out rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from sidelight.maps.calibration import Calibration, calibrated_rows, fold_numbers, half_widths
from sidelight.maps.left_out_entries import hidden_errors, hide_in_turns, hide_like_others
from sidelight.maps.left_out_rows import in_folds


def local_errors(m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Places in a square, and errors of three columns that grow along the first coordinate; one is 0."""
    rng = np.random.default_rng(seed)
    Z = rng.uniform(0, 1, size=(m, 2))
    scale = np.array([1.0, 5.0, 0.0, 0.2]) * (0.2 + Z[:, :1])
    return Z, scale * rng.standard_t(4, size=(m, 4))


@pytest.mark.parametrize("level", [0.5, 0.8, 0.9, 0.95])
def test_new_errors_are_within_as_often_as_said_everywhere(level):
    calibration = Calibration(*local_errors(1000, 0))
    Z, E = local_errors(4000, 1)
    inside = np.abs(E) <= calibration.half_widths(Z, level)
    assert abs(inside[:, [0, 1, 3]].mean() - level) < 0.02
    one_width = np.abs(E) <= np.quantile(np.abs(local_errors(1000, 0)[1]), level, axis=0)
    local, same = (found[Z[:, 0] < 0.3].mean() - found[Z[:, 0] > 0.7].mean() for found in (inside, one_width))
    assert abs(local) < 0.8 * same  # the scale is drawn towards that of all rows, so that some of it stays


def test_a_column_without_errors_has_no_width():
    assert not Calibration(*local_errors(100, 0)).half_widths(np.zeros((3, 2)), 0.9)[:, 2].any()


def test_widths_are_row_by_row_and_the_same_with_two_threads():
    calibration, Z = Calibration(*local_errors(300, 0)), local_errors(50, 2)[0]
    whole = calibration.half_widths(Z, 0.9, 1)
    assert np.array_equal(whole, np.concatenate([calibration.half_widths(Z[i : i + 1], 0.9, 1) for i in range(50)]))
    assert np.array_equal(whole, calibration.half_widths(Z, 0.9, 2))


def test_the_width_of_few_rows_is_more_than_their_quantile_and_ends_normally():
    errors = np.abs(ndtri((np.arange(19) + 1) / 20))[:, None]
    assert half_widths(errors, 0.9)[0] >= np.quantile(errors, 0.9)
    wide, wider = (half_widths(errors, level)[0] for level in (0.95, 0.999))
    assert wider / wide == pytest.approx(ndtri(0.9995) / ndtri(0.975), rel=1e-6)


def test_few_rows_of_a_column_count_for_less_than_all_columns_together():
    scaled = np.ones((20, 3))
    scaled[:, 0] = 8.0
    assert half_widths(scaled, 0.5)[0] == pytest.approx((20 * 8.0 + 50 * 1.0) / 70)


def test_folds_leave_every_row_out_once_and_few_at_a_time():
    seen = []

    def answer(kept, rows):
        assert len(np.intersect1d(kept, rows)) == 0
        assert len(kept) + len(rows) == 130
        assert len(rows) <= 8
        seen.extend(rows)
        return (rows,)

    assert np.array_equal(in_folds(130, 4, answer)[0], np.arange(130))
    assert sorted(seen) == list(range(130))


def test_of_many_rows_two_thousand_are_left_out_at_once():
    rows = calibrated_rows(70_000, 50)
    assert len(rows) == len(set(rows.tolist())) == 2000
    assert not fold_numbers(70_000, rows).any()
    assert len(calibrated_rows(70_000, 100_000)) == 200


def test_hidden_entries_have_the_gaps_of_other_rows_and_leave_something():
    observed = np.ones((50, 4), dtype=bool)
    observed[:10, 3] = False
    hidden = hide_like_others(observed)
    assert np.array_equal(hidden.any(axis=0), [False, False, False, True])
    assert not (hidden & ~observed).any()
    assert (np.ones((50, 4), dtype=bool) & ~hide_like_others(np.ones((50, 4), dtype=bool))).any(axis=1).all()


def test_rows_with_hidden_entries_miss_as_much_as_rows_with_missing_ones():
    observed = np.random.default_rng(0).random((2000, 10)) > 0.2
    hidden = hide_in_turns(observed, np.arange(2000))
    gaps = np.logical_not(observed)
    beside_missing = np.average(gaps.sum(axis=1), weights=gaps.sum(axis=1))
    beside_hidden = np.average((gaps | hidden).sum(axis=2).ravel(), weights=hidden.sum(axis=2).ravel())
    assert beside_hidden == pytest.approx(beside_missing, abs=0.1)
    others = hide_like_others(observed)
    assert np.average((gaps | others).sum(axis=1), weights=others.sum(axis=1)) > beside_missing + 1.0


def test_entries_that_are_missing_together_are_hidden_together():
    observed = np.ones((200, 6), dtype=bool)
    observed[:60, :3] = False
    observed[50:70, 5] = False
    hidden = hide_in_turns(observed, np.arange(200))[:, 60:].reshape(-1, 6)
    together = hidden[hidden[:, :3].any(axis=1)]
    assert len(together) > 100
    assert together[:, :3].all()
    assert together[:, 3:].mean() < 0.1
    assert hidden[:, 3].any()  # a column without gaps may have one in a new row
    assert not (hide_in_turns(observed, np.arange(60))[:, :, :3]).any()


def test_a_row_of_one_entry_keeps_it():
    observed = np.eye(4, dtype=bool)
    assert not hide_in_turns(observed, np.arange(4)).any()


@pytest.mark.parametrize(("n_columns", "share"), [(3, 20), (40, 5)])
def test_entries_are_hidden_from_models_of_nearly_all_rows_where_fits_are_cheap(n_columns, share):
    rows = np.random.default_rng(0).normal(size=(400, n_columns))
    left = []

    def predict(kept, queries):
        left.append(len(rows) - len(kept))
        assert len(queries) == 4 * left[-1]
        return np.zeros(queries.shape), np.ones(queries.shape)

    errors = hidden_errors(rows, np.ones(rows.shape, dtype=bool), predict)
    assert left == [400 // share] * share
    hidden = ~np.isnan(errors)
    assert np.array_equal(errors[hidden], np.abs(np.tile(rows, (4, 1)))[hidden])
