"""Semidefinite embedding: what it unfolds, what its spectrum and certificate say, and rows beyond the landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sidelight import SemidefiniteEmbedding
from sidelight._semidefinite_problem import distinct, semidefinite_problem
from sidelight.datasets import swiss_roll
from sidelight.evaluate import recovery


@pytest.fixture(scope="module")
def roll():
    return swiss_roll(400, random_state=0)


@pytest.fixture(scope="module")
def unfolded(roll):
    return SemidefiniteEmbedding().fit(roll.X)


def flat(n=60, seed=0):
    """A sheet of two dimensions, turned in five."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1, 1, (n, 2)) * np.array([3.0, 1.0])
    return places - places.mean(axis=0), np.linalg.qr(rng.normal(size=(5, 2)))[0].T


def test_a_roll_is_unfolded_and_its_spectrum_says_two(roll, unfolded):
    assert unfolded.explained_[:2].sum() >= 0.99
    assert min(recovery(unfolded.embedding_, roll.factors[name]) for name in ("arc", "height")) > 0.9
    np.testing.assert_allclose(unfolded.explained_, unfolded.gram_eigenvalues_ / unfolded.gram_eigenvalues_.sum())


def test_certificate_holds_for_the_answer(unfolded):
    certificate, trace = unfolded.certificate_, unfolded.gram_eigenvalues_.sum()
    assert certificate["feasibility"] <= 1e-3
    assert abs(certificate["gap"]) <= 0.01
    np.testing.assert_allclose(certificate["bound"] / trace - 1, certificate["gap"], atol=1e-9)


def test_distances_of_neighbours_are_not_exceeded(roll, unfolded):
    model = SemidefiniteEmbedding(n_components=len(unfolded.explained_)).fit(roll.X)
    problem = semidefinite_problem(roll.X, 10, None, equality=False, n_jobs=1)
    i, j = problem.program.pairs.T
    now = ((model.embedding_[i] - model.embedding_[j]) ** 2).sum(axis=1) / problem.program.unit
    assert np.sqrt((np.maximum(now - problem.program.bounds, 0) ** 2).mean()) < 1.1e-3


@pytest.mark.parametrize("equality", [False, True])
def test_a_flat_sheet_comes_back_exact_where_all_are_neighbours(equality):
    places, axes = flat(25)
    model = SemidefiniteEmbedding(n_neighbors=24, equality=equality, tol=1e-7, gap=1e-5).fit(places @ axes)
    i, j = np.triu_indices(25, 1)
    true = ((places[i] - places[j]) ** 2).sum(axis=1)
    np.testing.assert_allclose(((model.embedding_[i] - model.embedding_[j]) ** 2).sum(axis=1), true, atol=2e-3)
    assert model.explained_[:2].sum() > 1 - 1e-4


def test_equalities_that_are_rigid_are_softened_and_it_is_said(roll):
    model = SemidefiniteEmbedding(n_neighbors=4, equality=True, gap=0.1).fit(roll.X[:50])
    assert model.certificate_["softened"]
    assert 1e-4 < model.certificate_["feasibility"] < 0.05
    assert abs(model.certificate_["gap"]) <= 0.1


def test_landmarks_unfold_the_same_sheet():
    data = swiss_roll(900, random_state=0)
    model = SemidefiniteEmbedding(n_landmarks=300).fit(data.X)
    assert len(model.landmarks_) == 300
    assert model.embedding_.shape == (900, 2)
    assert model.explained_[:2].sum() >= 0.99
    assert min(recovery(model.embedding_, data.factors[name]) for name in ("arc", "height")) > 0.95


def test_equal_rows_are_one_place():
    X = np.repeat(flat(20)[0], 3, axis=0)
    model = SemidefiniteEmbedding(n_neighbors=19).fit(X)
    np.testing.assert_array_equal(model.embedding_[::3], model.embedding_[1::3])
    assert len(model.landmarks_) == 20
    first, which = distinct(X)
    np.testing.assert_array_equal(first, np.arange(0, 60, 3))
    np.testing.assert_array_equal(X[first][which], X)


def test_more_components_than_the_gram_matrix_has_are_empty():
    X = np.linspace(0, 1, 12)[:, None] * np.ones((1, 3))
    model = SemidefiniteEmbedding(n_components=9, n_neighbors=2).fit(X)
    assert model.embedding_.shape == (12, 9)
    assert np.abs(model.embedding_[:, 1:]).max() < 0.05 * np.abs(model.embedding_[:, 0]).max()


def test_pieces_are_joined_so_that_the_program_is_bounded():
    X = np.concatenate([flat(30)[0], flat(30, 1)[0] + 50.0])
    problem = semidefinite_problem(X, 4, None, equality=False, n_jobs=1)
    assert problem.program.n_pieces == 1
    assert np.isfinite(SemidefiniteEmbedding(n_neighbors=4).fit(X).embedding_).all()


def test_running_out_of_steps_is_warned_of_with_what_was_reached(roll):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 did not let .* ran out of iterations \(violation .* gap"):
        model = SemidefiniteEmbedding(max_iter=3).fit(roll.X)
    assert model.n_iter_ == 3


def test_ctrl_c_keeps_the_best_so_far_and_is_raised_again(roll):
    def interrupt(state):
        if state.stage == 1:
            raise KeyboardInterrupt

    model = SemidefiniteEmbedding(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(roll.X)
    assert model.history_[-1]["stage"] == 1
    assert model.inverse_transform(model.transform(roll.X)).shape == roll.X.shape


def test_a_callback_stops_the_fit_and_history_has_a_record_per_step(roll, unfolded):
    seen = []
    model = SemidefiniteEmbedding(callback=lambda state: seen.append(state) or len(seen) == 4).fit(roll.X)
    assert model.n_iter_ == len(seen) == len(model.history_) == 4
    assert len(unfolded.history_) == unfolded.n_iter_
    assert set(unfolded.history_[0]["terms"]) == {"trace", "bound"}


@pytest.mark.parametrize(
    ("name", "value"),
    [("equality", "yes"), ("n_landmarks", 2), ("n_landmarks", "some"), ("gap", 0.0), ("tol", -1.0), ("n_neighbors", 0)],
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value, roll):
    with pytest.raises(ValueError, match=rf"^SemidefiniteEmbedding: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        SemidefiniteEmbedding(**{name: value}).fit(roll.X)
