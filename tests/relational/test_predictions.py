"""Labels and values of rows that a relation does not know: logistic regression, and mixtures of predictions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from sidelight.relational._relational_logistic import logistic_predictions
from sidelight.relational._relational_prediction import predict_labels, predict_values


def rows_and_labels(n, d, seed=0):
    """Three overlapping groups, and the rows that are labelled."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, d))
    X[:, :2] += 1.5 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[y]
    return X, y, np.sort(rng.choice(n, 30, replace=False))


def no_graph(n):
    """Every row alike to every other: kernels along the graph tell nothing."""
    return csr_array(np.ones((n, n)) - np.eye(n))


@pytest.mark.parametrize("d", [4, 80])
def test_logistic_regression_is_that_of_scikit_learn_also_with_more_columns_than_labelled_rows(d):
    X, y, known = rows_and_labels(120, d)
    unit = (X - X.mean(axis=0)) / np.sqrt(X.var(axis=0).sum())
    found = list(logistic_predictions(X, known, np.eye(3)[y[known]]))
    for (values, _), C in zip(found, (1.0, 10.0, 100.0), strict=True):
        rival = LogisticRegression(C=C, tol=1e-10, max_iter=10_000).fit(unit[known], y[known]).predict_proba(unit)
        np.testing.assert_allclose(values, rival, atol=5e-3)


def test_left_out_predictions_do_not_depend_on_the_rows_own_label():
    X, y, known = rows_and_labels(90, 3)
    told = np.eye(3)[y[known]]
    other = told.copy()
    other[7] = np.roll(told[7], 1)
    for (_, before), (_, after) in zip(*(logistic_predictions(X, known, T) for T in (told, other)), strict=True):
        np.testing.assert_array_equal(after[7], before[7])
        assert np.abs(after - before).max() > 0.01


def test_labels_along_a_narrow_direction_are_told_where_distances_and_the_graph_do_not_tell_them():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=(200, 4)) * 5.0, 2.0 * y - 1.0 + 0.3 * rng.normal(size=200)])
    known = np.arange(0, 200, 5)
    found = predict_labels(X, no_graph(200), known, np.eye(2)[y[known]])
    rest = np.setdiff1d(np.arange(200), known)
    nearest = ((X[rest, None] - X[known]) ** 2).sum(axis=2).argmin(axis=1)
    assert np.mean(found.values[rest].argmax(axis=1) == y[rest]) > 0.9
    assert np.mean(y[known][nearest] == y[rest]) < 0.8
    assert np.mean(found.left_out.argmax(axis=1) == y[known]) > 0.85


def test_values_are_told_from_the_features_or_along_the_sheet_whichever_tells_them():
    rng = np.random.default_rng(1)
    turn, height = rng.uniform(0.0, 25.0, size=300), rng.uniform(0.0, 10.0, size=300)
    roll = np.column_stack([5.0 * np.cos(turn), 5.0 * np.sin(turn), height])  # round and round on one circle
    known = np.sort(rng.choice(300, 20, replace=False))
    rest = np.setdiff1d(np.arange(300), known)

    def correlation(layout, values):
        found = predict_values(roll, layout, known, values[known, None] - values[known].mean())
        return np.corrcoef(found.values[rest, 0], values[rest])[0, 1]

    sheet, noise = np.column_stack([turn, height]), rng.normal(size=(300, 2))
    assert correlation(sheet, turn) > 0.97  # which the features cannot tell
    assert correlation(noise, turn) < 0.8
    assert correlation(noise, height) > 0.97
