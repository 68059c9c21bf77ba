"""Pairs of rows survive being cut by scikit-learn."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.utils import _safe_indexing

from sidelight import Pairs
from sidelight.side.pairs import as_pairs


def test_pairs_are_frozen_and_leave_the_array_they_came_from_alone():
    index = np.array([[0, 1], [2, 3]])
    pairs = Pairs(index, 4)
    with pytest.raises(FrozenInstanceError):
        pairs.n_samples = 7
    with pytest.raises(ValueError, match="read-only"):
        pairs.index[0, 0] = 3
    index[0, 0] = 2
    assert pairs.index[0, 0] == 0


@pytest.mark.parametrize(
    "rows",
    [
        [3, 1, 2],
        np.array([3, 1, 2]),
        slice(1, 4),
        np.array([False, True, True, True, False]),
        [False, True, True, True] + [False],
    ],
    ids=["list", "array", "slice", "mask", "list mask"],
)
def test_taken_pairs_point_at_the_same_rows(rows):
    data = np.arange(5) * 10
    pairs = Pairs([[0, 1], [1, 3], [2, 1], [4, 3], [2, 2]], 5)
    taken = pairs.take(rows)
    kept = {tuple(pair) for pair in data[rows][taken.index].tolist()}
    assert kept == {(10, 30), (20, 10), (20, 20)}
    assert taken.n_samples == 3
    assert pairs[rows].index.tolist() == taken.index.tolist()


def test_no_pairs_are_left_when_one_side_is_gone():
    taken = Pairs([[0, 1]], 3).take([0, 2])
    assert taken.index.shape == (0, 2)
    assert len(taken) == 2


def test_a_row_taken_twice_keeps_its_pairs_at_its_last_place():
    assert Pairs([[0, 1]], 2).take([0, 1, 0]).index.tolist() == [[2, 1]]


def test_pairs_behave_as_an_array_with_one_entry_per_row():
    pairs = Pairs([[0, 3]], 4)
    assert len(pairs) == 4
    assert pairs.shape == (4,)
    assert _safe_indexing(pairs, np.array([3, 0])).index.tolist() == [[1, 0]]
    assert repr(pairs) == "Pairs(1 pair of 4 rows)"


def test_negative_and_repeated_cuts_compose():
    pairs = Pairs([[1, 4], [0, 2]], 5)
    assert pairs[-4:][[0, 3]].index.tolist() == [[0, 1]]


BAD = {
    "three columns": ([[0, 1, 2]], 4, "does not hold two row numbers a line"),
    "one dimension": ([0, 1], 4, "does not hold two row numbers a line"),
    "floats": ([[0.0, 1.0]], 4, "does not hold two row numbers a line"),
    "too large": ([[0, 4]], 4, r"index=4 points outside the 4 rows\. Number the rows from 0\."),
    "negative": ([[0, -1]], 4, r"index=-1 points outside the 4 rows"),
    "rows that are no number": ([[0, 1]], "4", "n_samples=4 is not an integer in range"),
    "half a row": ([[0, 1]], 4.5, r"n_samples=4\.5 is not an integer in range"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_pairs_get_a_sentence(name):
    index, n, message = BAD[name]
    with pytest.raises(ValueError, match=f"^Pairs: .*{message}"):
        Pairs(index, n)


def test_pairs_of_other_data_are_refused():
    with pytest.raises(ValueError, match=r"Pairs: n_samples=4 does not match the 5 rows of X\."):
        as_pairs(Pairs([[0, 1]], 4), 5)


def test_plain_arrays_are_wrapped_and_pairs_kept_as_they_are():
    pairs = Pairs([[0, 1]], 4)
    assert as_pairs(pairs, 4) is pairs
    assert as_pairs([[0, 1]], 4).index.tolist() == [[0, 1]]
    assert as_pairs([], 4).index.shape == (0, 2)


class Recorder(BaseEstimator):
    """Keeps in ``seen`` (shared by clones) which rows of the data the fit was told about."""

    seen: list = []  # noqa: RUF012

    def __init__(self, size=1):
        self.size = size

    def fit(self, X, y=None, *, given=None, same=None):
        self.seen.append((X[:, 0], given, X[same.index, 0]))
        return self

    def score(self, X, y=None, *, given=None):
        return float(np.array_equal(given, X[:, 0] % 3))


@pytest.fixture
def recorded():
    Recorder.seen.clear()
    X = np.arange(12.0)[:, None]
    pairs = Pairs([[i, (i + 5) % 12] for i in range(12)], 12)
    return X, X[:, 0] % 3, pairs


def _check_seen():
    for rows, given, together in Recorder.seen:
        np.testing.assert_array_equal(given, rows % 3)
        np.testing.assert_array_equal((together[:, 0] + 5) % 12, together[:, 1])
        wanted = {(a, (a + 5) % 12) for a in rows if (a + 5) % 12 in rows}
        assert {tuple(pair) for pair in together} == wanted


def test_a_grid_search_with_given_and_same_routed_finds_the_right_rows(recorded):
    X, given, same = recorded
    with config_context(enable_metadata_routing=True):
        model = Recorder().set_fit_request(given=True, same=True).set_score_request(given=True)
        search = GridSearchCV(model, {"size": [1, 2]}, cv=KFold(3, shuffle=True, random_state=0))
        search.fit(X, given=given, same=same)
    assert len(Recorder.seen) == 7
    assert search.best_score_ == 1.0
    _check_seen()


def test_cross_validation_cuts_pairs_with_the_rows(recorded):
    X, given, same = recorded
    with config_context(enable_metadata_routing=True):
        model = Recorder().set_fit_request(given=True, same=True).set_score_request(given=True)
        found = cross_validate(model, X, cv=KFold(4), params={"given": given, "same": same})
    assert found["test_score"].tolist() == [1.0] * 4
    assert len(Recorder.seen) == 4
    _check_seen()
