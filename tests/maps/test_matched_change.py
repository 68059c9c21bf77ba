"""The change of rows between groups, from matched rows, and the residuals that are kept."""

import numpy as np
import pytest

from sidelight.maps.changed_rows import LeftOut, group_shares, residual_model
from sidelight.maps.matched_change import find_matches, matched_change, place_features

CENTRES = 8.0 * np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [-1, -1, -1, 0], [1, -1, 0, 0.0]])
SLOPE = np.array([[0, 0, 0, 0.5], [0.3, 0, 0, 0], [0, 0.3, 0, 0], [0, 0, 0, 0.0]])


def two_groups(slope, n=40, seed=0):
    """Rows of five kinds in two groups, the second changed by its kind times ``slope``; kinds and groups."""
    rng = np.random.default_rng(seed)
    kinds, codes = np.tile(np.repeat(np.arange(5), n), 2), np.repeat([0, 1], 5 * n)
    X = CENTRES[kinds] + 0.5 * rng.normal(size=(len(kinds), 4))
    return X + codes[:, None] * (CENTRES[kinds] @ slope), kinds, codes


def predicted(change, rows):
    """Predicted change of rows from the first group to the second."""
    content = change.content[rows]
    ones = np.tile([[-1.0, 1.0]], (len(content), 1))
    return place_features(ones, content) @ change.coefficients


@pytest.mark.parametrize("d", [4, 60])
def test_a_change_that_is_linear_in_the_row_is_found_for_a_kind_without_matches(d):
    X, kinds, codes = two_groups(SLOPE)
    wide = X @ np.linalg.qr(np.random.default_rng(1).normal(size=(d, 4)))[0].T
    kept = (kinds != 4) | (codes == 0)
    change = matched_change(wide[kept], codes[kept])
    rows = np.flatnonzero((kinds[kept] == 4) & (codes[kept] == 0))
    true = wide[(kinds == 4) & (codes == 1)].mean(axis=0) - wide[(kinds == 4) & (codes == 0)].mean(axis=0)
    wrong = predicted(change, rows).mean(axis=0) - true
    assert np.linalg.norm(wrong) < 0.3 * np.linalg.norm(true)


def test_where_there_is_no_change_almost_none_is_found():
    X, _, codes = two_groups(0.0 * SLOPE)
    found = predicted(matched_change(X, codes), np.flatnonzero(codes == 0))
    assert np.sqrt(np.mean(found**2)) < 0.1  # the noise of the rows is 0.5


def test_it_does_not_depend_on_the_order_of_the_rows():
    X, _, codes = two_groups(SLOPE)
    order = np.random.default_rng(2).permutation(len(X))
    one, other = matched_change(X, codes), matched_change(X[order], codes[order])
    rows = np.arange(20)
    where = np.argsort(order)[rows]
    np.testing.assert_allclose(predicted(other, where), predicted(one, rows), atol=1e-6)


def test_matches_are_mutual_and_between_groups():
    X, _, codes = two_groups(0.0 * SLOPE, n=10)
    found = find_matches(X, codes)
    assert (codes[found.i] < codes[found.j]).all()
    assert (found.own[:, 0] == np.arange(len(X))).all()
    assert (codes[found.own] == codes[:, None]).all()
    assert find_matches(X[:5], codes[:5]) is None


def test_values_between_groups_count_to_the_nearest():
    groups = np.eye(3)
    np.testing.assert_array_equal(group_shares(np.array([[0.9, 0.1, 0.0]]), groups), [[1, 0, 0]])
    np.testing.assert_array_equal(group_shares(np.zeros((1, 3)), groups), np.full((1, 3), 1 / 3))


@pytest.mark.parametrize(("same", "kept"), [(True, 1.0), (False, 0.0)])
def test_residuals_are_kept_where_the_groups_have_the_same_directions(same, kept):
    X, _, codes = two_groups(0.0 * SLOPE)
    rng = np.random.default_rng(3)
    residuals = np.zeros((len(X), 8))
    first, second = slice(0, 4), slice(0, 4) if same else slice(4, 8)
    residuals[codes == 0, first] = rng.normal(size=(200, 4))
    residuals[codes == 1, second] = 2.0 * rng.normal(size=(200, 4))
    rows = LeftOut(residuals, codes, np.arange(len(X)), lambda values: np.full_like(values, values.mean()))
    change = matched_change(X, codes)
    model = residual_model(rows, np.eye(2), change, change.content)
    assert abs(model.kept - kept) <= 0.35
    moved = model.moved(residuals[codes == 0], np.tile(np.eye(2)[0], (200, 1)), np.tile(np.eye(2)[1], (200, 1)))
    if same:  # rescaled to the spread of the second group
        assert abs(moved.std() / residuals[codes == 1].std() - 1) < 0.1
