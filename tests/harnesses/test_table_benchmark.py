"""The benchmark of mixed tables: its rivals by hand, and that no table gives its label away."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.table_methods import PlainTable, famd_code, gower_distances, one_hot_code, plain_table, principal_plane
from benchmarks.table_sets import CHOOSING, REPORTING, load_table


@pytest.fixture
def small():
    numbers = np.array([[0.0, 1.0], [5.0, 1.0], [10.0, np.nan], [5.0, 3.0]])
    return PlainTable(numbers, np.array([["a"], ["b"], ["a"], [None]], dtype=object))


def test_gower_distance_is_the_mean_over_columns_that_both_rows_have(small):
    D = gower_distances(small)
    assert D[0, 1] == pytest.approx((0.5 + 0.0 + 1.0) / 3)
    assert D[0, 2] == pytest.approx((1.0 + 0.0) / 2)
    assert D[1, 3] == pytest.approx((0.0 + 1.0) / 2)
    np.testing.assert_array_equal(D, D.T)


def test_factor_analysis_of_mixed_data_gives_a_category_one_variance_less_than_its_levels():
    levels = np.array(["a"] * 5 + ["b"] * 3 + ["c"] * 2, dtype=object)[:, None]
    A = famd_code(PlainTable(np.arange(10.0)[:, None], levels))
    code = A.encode(PlainTable(np.arange(10.0)[:, None], levels))
    variances = code.var(axis=0)
    assert variances[0] == pytest.approx(1.0)
    assert variances[1:].sum() == pytest.approx(2.0)  # inertia of K levels: K - 1


@pytest.mark.parametrize("code_of", [one_hot_code, famd_code])
def test_codes_of_rivals_give_complete_rows_back(small, code_of):
    filled = small.filled(small)
    code = code_of(small)
    back = code.decode(code.encode(filled))
    np.testing.assert_allclose(back.numbers, filled.numbers)
    assert back.categories.tolist() == filled.categories.tolist()


def test_the_principal_plane_returns_rows_that_lie_in_a_plane():
    A = np.random.default_rng(0).normal(size=(20, 2)) @ np.random.default_rng(1).normal(size=(2, 5)) + 3
    plane = principal_plane(A)
    np.testing.assert_allclose(plane.inverse_transform(plane.transform(A)), A)


def test_no_table_is_for_choosing_and_for_reporting():
    assert not {source.name for source in CHOOSING} & {source.name for source in REPORTING}


@pytest.mark.parametrize("source", [*CHOOSING, *REPORTING], ids=lambda source: source.name)
def test_the_label_is_left_out_and_told_by_no_single_category(source):
    mixed = load_table(source)
    assert source.label not in mixed.frame.columns
    table, _ = plain_table(mixed.frame)
    asked = ~pd.isna(mixed.labels)
    for column in table.categories[asked].T:
        by_level = pd.crosstab(pd.Series(column).fillna("missing").to_numpy(), mixed.labels[asked].astype(str))
        assert by_level.max(axis=1).sum() < asked.sum()
