"""Relations say what they were told, survive being cut, and refuse what cannot be."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.utils import _safe_indexing

from sidelight import Relation, Relations
from sidelight.kernels.relations import similarity
from sidelight.side.relations import as_relations


def every_kind(n: int = 8) -> dict[str, Relation]:
    rng = np.random.default_rng(0)
    return {
        "data": Relation.from_data(rng.normal(size=(n, 3))),
        "labels": Relation.from_labels(list("abababab")),
        "values": Relation.from_values(rng.normal(size=n)),
        "pairs": Relation.from_pairs([[0, 5], [2, 7]], n),
        "matrix": Relation.from_matrix(rng.uniform(size=(n, n))),
        "sparse": Relation.from_matrix(csr_array(np.eye(n))),
    }


def test_missing_entries_are_not_in_the_relation():
    assert Relation.from_labels(["a", None, "b", np.nan]).index.tolist() == [0, 2]
    assert Relation.from_values([1.0, np.nan, 3.0]).index.tolist() == [0, 2]
    assert Relation.from_values(np.array([[1.0, 2.0], [np.nan, 2.0], [3.0, 4.0]])).index.tolist() == [0, 2]
    assert Relation.from_data([[1.0, 2.0], [np.nan, np.nan], [0.0, 1.0]]).index.tolist() == [0, 2]
    assert Relation.from_labels(pd.Series(["a", None, "b"], dtype="category")).index.tolist() == [0, 2]


def test_entries_come_in_the_order_of_their_rows():
    relation = Relation.from_values([30.0, 10.0, 20.0], [5, 1, 3])
    assert relation.index.tolist() == [1, 3, 5]
    assert relation.entries.ravel().tolist() == [10.0, 20.0, 30.0]
    matrix = Relation.from_matrix(np.arange(9.0).reshape(3, 3), [2, 0, 1])
    assert matrix.entries[0, 0] == 4.0  # row 0 of the data was the second of the matrix


@pytest.mark.parametrize("kind", every_kind())
def test_a_cut_keeps_what_is_said_of_the_rows_that_stay(kind):
    relation = every_kind()[kind]
    rows = np.array([7, 2, 5, 0])
    cut = relation.take(rows)
    assert len(cut) == 4
    if kind == "pairs":
        whole = {frozenset(relation.index[pair]) for pair in relation.entries}
        assert {frozenset(rows[cut.index[pair]]) for pair in cut.entries} == whole
    else:
        entries = relation.entries.toarray() if kind == "sparse" else relation.entries
        found = cut.entries.toarray() if kind == "sparse" else cut.entries
        expected = entries[np.ix_(rows, rows)] if kind in ("matrix", "sparse") else entries[rows]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("rows", [np.array([1, 4]), np.arange(8) < 3, slice(2, 6), [0, 0, 3]])
def test_scikit_learn_cuts_relations_as_it_cuts_arrays(rows):
    relations = Relations(every_kind())
    cut = _safe_indexing(relations, rows) if not isinstance(rows, slice) else relations[rows]
    assert len(cut) == len(np.arange(8)[rows])
    assert cut["values"].entries.shape[0] == len(np.arange(8)[rows])


def test_relations_are_frozen():
    relation = Relation.from_values([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="read-only"):
        relation.entries[0] = 9.0
    with pytest.raises(ValueError, match="read-only"):
        relation.index[0] = 9
    with pytest.raises(AttributeError):
        relation.kind = "labels"  # type: ignore[misc]


def test_making_a_relation_leaves_the_array_it_was_made_of_writable():
    X, P = np.zeros((3, 2)), np.eye(3)
    Relation.from_data(X)
    Relation.from_matrix(P)
    assert X.flags.writeable
    assert P.flags.writeable


def test_an_open_relation_takes_the_number_of_rows_of_the_others():
    relations = Relations(
        {"some": Relation.from_labels(["a", "b"], [0, 2]), "all": Relation.from_values(np.arange(5.0))}
    )
    assert len(relations) == 5
    assert len(relations["some"]) == 5
    assert len(Relations({"some": Relation.from_labels(["a", "b"], [0, 2])})) == 3


def test_periodic_values_meet_at_the_end_of_their_period():
    features = Relation.from_values([1.0, 359.0, 180.0], period=360.0).features
    assert features is not None
    near, far = np.linalg.norm(features[0] - features[1]), np.linalg.norm(features[0] - features[2])
    assert near < 0.1 < 2.0 < far


def test_values_are_standardised_whatever_their_units():
    values = np.array([1.0, 2.0, 4.0])
    for unit in (1e-150, 1.0, 1e150):
        features = Relation.from_values(values * unit).features
        np.testing.assert_allclose(features.std(), 1.0)
        np.testing.assert_allclose(features.mean(), 0.0, atol=1e-12)


def test_repr_says_what_and_of_how_many():
    assert repr(Relation.from_pairs([[0, 1]], 4)) == "Relation(1 pair among 2 of 4 rows)"
    assert repr(Relation.from_labels(["a", None, "b"])) == "Relation(labels of 2 of 3 rows)"
    assert "values of 8" in repr(Relations(every_kind()))


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Relation.from_values(["a", "b"]), "from_labels"),
        (lambda: Relation.from_values([1.0, np.inf]), "infinite"),
        (lambda: Relation.from_values([1.0, 2.0], bandwidth=0.0), "bandwidth=0"),
        (lambda: Relation.from_values([1.0, 2.0], period=-1.0), "period=-1"),
        (lambda: Relation.from_values([1.0, 2.0], [0, 0]), "names a row twice"),
        (lambda: Relation.from_values([1.0, 2.0], [0]), "one per entry"),
        (lambda: Relation.from_values([1.0, 2.0], [0, -1]), "negative"),
        (lambda: Relation.from_values([1.0, 2.0], [0, 9], n_samples=5), "outside the 5 rows"),
        (lambda: Relation.from_labels([0.5, 1.5]), "labels are names"),
        (lambda: Relation.from_labels([["a", "x"], ["b", "y"]]), "labels=table of 2 columns does not say which"),
        (lambda: Relation.from_labels(pd.DataFrame({"a": [1, 2], "b": [1, 1]})), "one relation of each column"),
        (lambda: Relation.from_matrix([[0, 1e153], [1e153, 0]], distances=True), "P=1e\\+153 is 1e153 or more in size"),
        (lambda: Relation.from_data([[1.0, np.nan], [0.0, 1.0]]), "NaN beside numbers"),
        (lambda: Relation.from_data([[1.0], [2.0]], perplexity=0.5), "perplexity=0.5"),
        (lambda: Relation.from_matrix(np.ones((2, 3))), "not square"),
        (lambda: Relation.from_matrix(-np.eye(2)), "negative"),
        (lambda: Relation.from_pairs([[0, 9]], 5), "outside the 5 rows"),
        (lambda: Relations({"a": np.ones(3)}), "is not a Relation"),
        (lambda: as_relations([1, 2], 3), "Give {name: Relation}"),
        (lambda: Relation.from_values([1.0, 2.0]).validate(3), "does not match the 3 rows"),
    ],
)
def test_bad_relations_get_a_sentence(make, sentence):
    with pytest.raises(ValueError, match=sentence):
        make()


def test_one_column_of_labels_is_labels():
    found = Relation.from_labels(pd.DataFrame({"kind": ["b", None, "a", "b"]}))
    assert found.index.tolist() == [0, 2, 3]
    assert found.entries.tolist() == [1, 0, 1]


def test_distances_may_be_as_large_as_those_between_the_largest_rows():
    """Rows below 1e151 in size are accepted, so that distances between them may be larger."""
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))) * 1e152
    found = Relation.from_matrix(D, distances=True)
    np.testing.assert_array_equal(found.entries, D)
    small = Relation.from_matrix(D / 1e152, distances=True)
    np.testing.assert_allclose(similarity(found).matrix.toarray(), similarity(small).matrix.toarray(), rtol=1e-9)
