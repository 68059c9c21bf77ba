"""The share of a stratum around a row, by how often rows of the strata choose each other."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels.balanced import balanced_kernel
from sidelight.kernels.local_shares import local_shares
from sidelight.neighbours.strata import nearest_in_strata


def two_kinds_in_two_groups(shift=0.0):
    """Group 0 has 300 rows of kind 0 and 60 of kind 1, group 1 has 100 and 240; group 1 is shifted."""
    rng = np.random.default_rng(0)
    kind, codes = np.repeat([0, 1, 0, 1], [300, 60, 100, 240]), np.repeat([0, 0, 1, 1], [300, 60, 100, 240])
    X = rng.normal(size=(700, 3)) + 20.0 * kind[:, None] + shift * codes[:, None]
    return X, kind, codes


def shares(X, codes, close=None, effect_left=None):
    strata = nearest_in_strata(X, codes, np.array([10, 10]))
    weights = [np.full(stratum.neighbours.index.shape, 0.1) for stratum in strata]
    return local_shares(strata, weights, codes, np.ones((len(X), 2)) if close is None else close, effect_left)


def test_shares_are_those_of_the_kind_and_not_of_the_groups():
    X, kind, codes = two_kinds_in_two_groups()
    found = shares(X, codes)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    for which, share in ((0, 0.25), (1, 0.8)):  # of group 1
        assert abs(np.median(found[kind == which, 1]) - share) < 0.08


def test_an_effect_that_is_left_does_not_change_them():
    """Rows shifted so far that the nearest ones of a row are all of its own group."""
    X, kind, codes = two_kinds_in_two_groups(shift=4.0)
    found = shares(X, codes)
    for which, share in ((0, 0.25), (1, 0.8)):
        assert abs(found[kind == which, 1].mean() - share) < 0.1


def test_rows_that_face_the_other_group_do_not_take_it_all_where_an_effect_is_left():
    """Of a shifted group the rows in front are chosen by all; the share of their kind is the same for those behind."""
    X, kind, codes = two_kinds_in_two_groups(shift=2.0)
    of_kind = np.where(kind == 0, 0.25, 0.8)
    much = np.array([[0.0, 0.2], [0.2, 0.0]])
    plain, smooth = (np.abs(shares(X, codes, effect_left=left)[:, 1] - of_kind).mean() for left in (None, much))
    assert smooth < 0.95 * plain
    np.testing.assert_array_equal(shares(X, codes, effect_left=0.2 * much), shares(X, codes))  # 0.04: too little


def test_rows_that_are_represented_nowhere_give_nothing_to_others():
    X, _, codes = two_kinds_in_two_groups()
    close = np.eye(2)[codes]
    np.testing.assert_array_equal(shares(X, codes, close), close)


def test_neighbourhoods_have_the_shares_of_their_kind():
    X, kind, codes = two_kinds_in_two_groups()
    K = balanced_kernel(X, codes, 20.0, 15, represented=np.ones((700, 2))).matrix.toarray()
    in_group_1 = K[:, codes == 1].sum(axis=1) / K.sum(axis=1)
    assert abs(in_group_1[kind == 0].mean() - 0.25) < 0.05
    assert abs(in_group_1[kind == 1].mean() - 0.8) < 0.05
    everywhere = balanced_kernel(X, codes, 20.0, 15).matrix.toarray()
    assert abs((everywhere[:, codes == 1].sum(axis=1) / everywhere.sum(axis=1))[kind == 0].mean() - 0.25) > 0.1


def one_kind_in_groups_at_random(sizes, seed):
    """Rows of one kind in ten columns, of which as many as in ``sizes`` are in each group, at random."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(sum(sizes), 10)), rng.permutation(np.repeat(np.arange(len(sizes)), sizes))


def test_rows_in_the_middle_have_the_shares_of_rows_at_the_edge():
    """A row in the middle is chosen by many rows of every group, which must not make its other groups look larger."""
    middle, edge = [], []
    for seed in range(4):
        X, codes = one_kind_in_groups_at_random((200, 200), seed)
        others = shares(X, codes)[np.arange(400), 1 - codes]
        order = np.argsort(np.linalg.norm(X, axis=1))
        middle.append(others[order[:100]].mean())
        edge.append(others[order[-100:]].mean())
    assert abs(np.mean(middle) - np.mean(edge)) < 0.06
    assert abs(np.mean(middle) - 0.5) < 0.04


@pytest.mark.parametrize("sizes", [(200, 200), (60, 340), (40, 300, 60)], ids=["equal", "unequal", "three"])
def test_groups_at_random_have_the_share_of_a_neighbourhood_with_the_row_in_it(sizes):
    """The row counts in its own group, N_s / (1 + N_a + N_s): between 0.9 and 1 of the random share."""
    n, found = sum(sizes), []
    for seed in range(6):
        X, codes = one_kind_in_groups_at_random(sizes, seed)
        K = balanced_kernel(X, codes, 15.0, None, represented=np.ones((n, len(sizes))), short=True).matrix.tocoo()
        between = K.data[codes[K.row] != codes[K.col]].sum() / K.data.sum()
        found.append(between / (np.square(n) - np.square(sizes).sum()) * n * (n - 1))
    assert 0.9 < np.mean(found) < 1.0


def test_a_row_that_nobody_chooses_has_finite_shares():
    X, codes = one_kind_in_groups_at_random((40, 40), 0)
    X[:3] += 40.0 * np.arange(1, 4)[:, None]  # no row has them among its nearest
    found = shares(X, codes)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def test_between_cells_of_numbers_the_own_cell_counts_as_one():
    X, codes = one_kind_in_groups_at_random((60, 90), 0)
    strata = nearest_in_strata(X, codes, np.array([10, 10]))
    weights = [np.full(stratum.neighbours.index.shape, 0.1) for stratum in strata]
    n, chosen = len(codes), np.zeros((len(codes), 2))
    for stratum in strata:
        for row, near in zip(stratum.rows, stratum.neighbours.index, strict=True):
            chosen[near, codes[row]] += 0.1
    own = strata[0].rows.size  # every row searches every cell
    assert own == n
    lists = np.empty((n, 10), dtype=np.int64)
    for s, stratum in enumerate(strata):
        lists[codes == s] = stratum.neighbours.index[codes[stratum.rows] == s]
    other = np.arange(n), 1 - codes
    received = 0.75 * chosen[other] + 0.25 * chosen[lists, (1 - codes)[:, None]].mean(axis=1)
    found = local_shares(strata, weights, codes, np.ones((n, 2)), numbers=True)
    np.testing.assert_allclose(found[other], received / (1.0 + received), rtol=1e-12)
