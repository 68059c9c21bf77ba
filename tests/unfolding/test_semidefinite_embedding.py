"""Semidefinite embedding: what it unfolds, what its spectrum and certificate say, and rows beyond the landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import solved_by
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances

import sidelight
from sidelight import SemidefiniteEmbedding
from sidelight.datasets import swiss_roll
from sidelight.evaluate import recovery
from sidelight.unfolding._semidefinite_problem import distinct, semidefinite_problem


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


@pytest.mark.thorough
def test_a_roll_is_unfolded_and_its_spectrum_says_two(roll, unfolded):
    assert unfolded.explained_[:2].sum() >= 0.99
    assert min(recovery(unfolded.embedding_, roll.factors[name]) for name in ("arc", "height")) > 0.9
    np.testing.assert_allclose(unfolded.explained_, unfolded.gram_eigenvalues_ / unfolded.gram_eigenvalues_.sum())


def test_certificate_holds_for_the_answer(unfolded):
    certificate, trace = unfolded.certificate_, unfolded.gram_eigenvalues_.sum()
    assert certificate["feasibility"] <= 1e-3
    assert abs(certificate["gap"]) <= 0.01
    np.testing.assert_allclose(certificate["bound"] / trace - 1, certificate["gap"], atol=1e-9)


@pytest.mark.thorough
def test_distances_of_neighbours_are_not_exceeded(roll):
    X = roll.X[::2]
    model = SemidefiniteEmbedding(n_components=len(X)).fit(X)  # all dimensions of the solution
    problem = semidefinite_problem(X, 10, None, equality=False, n_jobs=1)
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


@pytest.mark.thorough
def test_equalities_that_are_rigid_are_softened_and_it_is_said(roll):
    model = SemidefiniteEmbedding(n_neighbors=4, equality=True, gap=0.1).fit(roll.X[:50])
    assert model.certificate_["softened"]
    assert 1e-4 < model.certificate_["feasibility"] < 0.05
    assert abs(model.certificate_["gap"]) <= 0.1


@pytest.mark.thorough
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


@pytest.mark.thorough
def test_pieces_are_joined_so_that_the_program_is_bounded():
    X = np.concatenate([flat(30)[0], flat(30, 1)[0] + 50.0])
    problem = semidefinite_problem(X, 4, None, equality=False, n_jobs=1)
    assert problem.program.n_pieces == 1
    assert np.isfinite(SemidefiniteEmbedding(n_neighbors=4).fit(X).embedding_).all()


def test_the_published_graph_refuses_pieces_that_could_be_moved_apart_for_ever():
    pieces = np.vstack([flat(20)[0], flat(20, seed=1)[0] + 100])
    with pytest.raises(ValueError, match=r"graph=nearest leaves 2 unconnected pieces with 5 neighbours.*mutual"):
        SemidefiniteEmbedding(n_neighbors=5, graph="nearest").fit(pieces)


@pytest.mark.parametrize("n_landmarks", [None, 40])
def test_the_published_graph_of_a_flat_sheet_gives_it_back(n_landmarks):
    """Rigid with equality, so that the answer is known; with landmarks distances are along the graph."""
    places, axes = flat()
    X = places @ axes
    model = SemidefiniteEmbedding(
        n_neighbors=12, graph="nearest", equality=n_landmarks is None, n_landmarks=n_landmarks
    )
    Z = model.fit(X).embedding_
    centred = X - X.mean(axis=0)
    turn = np.linalg.lstsq(Z, centred, rcond=None)[0]
    error = np.sqrt(((Z @ turn - centred) ** 2).sum() / (centred**2).sum())
    assert error < (1e-6 if n_landmarks is None else 0.1)


def test_running_out_of_steps_is_warned_of_with_what_was_reached(roll):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=3 did not let .* ran out of iterations \(violation .* gap"):
        model = SemidefiniteEmbedding(max_iter=3).fit(roll.X[::3])
    assert model.n_iter_ == 3


def test_ctrl_c_keeps_the_best_so_far_and_is_raised_again(roll):
    def interrupt(state):
        if state.stage == 1:
            raise KeyboardInterrupt

    model = SemidefiniteEmbedding(callback=interrupt)
    X = roll.X[::3]
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.history_[-1]["stage"] == 1
    assert model.inverse_transform(model.transform(X)).shape == X.shape


def test_a_callback_stops_the_fit_and_history_has_a_record_per_step(roll, unfolded):
    seen = []
    model = SemidefiniteEmbedding(callback=lambda state: seen.append(state) or len(seen) == 4).fit(roll.X[::3])
    assert model.n_iter_ == len(seen) == len(model.history_) == 4
    assert len(unfolded.history_) == unfolded.n_iter_
    assert set(unfolded.history_[0]["terms"]) == {"trace", "bound"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("metric", "sideways"),
        ("metric", 3),
        ("graph", "union"),
        ("equality", "yes"),
        ("n_landmarks", 2),
        ("n_landmarks", "some"),
        ("gap", 0.0),
        ("tol", -1.0),
        ("n_neighbors", 0),
    ],
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value, roll):
    with pytest.raises(ValueError, match=rf"^SemidefiniteEmbedding: {name}=.* is not .*\. (Give|Choose) .*\.$"):
        SemidefiniteEmbedding(**{name: value}).fit(roll.X)


@pytest.mark.thorough
def test_a_thin_roll_whose_neighbours_bridge_its_layers_is_unfolded_too():
    data = swiss_roll(200, random_state=1)
    model = SemidefiniteEmbedding().fit(data.X)
    assert model.explained_[:2].sum() >= 0.99
    assert recovery(model.embedding_, data.factors["arc"]) > 0.95


@pytest.mark.parametrize("n_landmarks", [None, 60])
@pytest.mark.thorough
def test_precomputed_distances_give_what_the_rows_give(n_landmarks):
    X = swiss_roll(100, random_state=1).X
    by_rows = SemidefiniteEmbedding(n_landmarks=n_landmarks, tol=1e-5).fit(X)
    by_distances = SemidefiniteEmbedding(n_landmarks=n_landmarks, tol=1e-5, metric="precomputed").fit(cdist(X, X))
    spread = np.abs(by_rows.embedding_).max()
    assert np.abs(np.abs(by_distances.embedding_) - np.abs(by_rows.embedding_)).max() < 0.02 * spread
    assert by_distances.certificate_["bound"] == pytest.approx(by_rows.certificate_["bound"], rel=1e-3)


@pytest.mark.thorough
def test_new_rows_are_placed_by_their_distances_to_the_training_rows(roll):
    model = SemidefiniteEmbedding(metric="precomputed").fit(cdist(roll.X[::2], roll.X[::2]))
    Z = model.transform(cdist(roll.X[1::2], roll.X[::2]))
    assert recovery(Z, roll.factors["arc"][1::2]) > 0.95
    np.testing.assert_allclose(Z[3:4], model.transform(cdist(roll.X[7:8], roll.X[::2])), rtol=1e-12)
    assert not hasattr(model, "inverse_transform")
    assert not hasattr(model, "score")
    assert model.__sklearn_tags__().input_tags.pairwise


@pytest.mark.parametrize("metric", ["manhattan", "cosine", pytest.param("chebyshev", marks=pytest.mark.slow)])
def test_a_metric_is_the_same_as_its_distances_and_goes_both_ways(metric):
    X = np.random.default_rng(0).uniform(1, 3, (50, 4))
    model = SemidefiniteEmbedding(metric=metric).fit(X)
    known = SemidefiniteEmbedding(metric="precomputed").fit(pairwise_distances(X, metric=metric))
    np.testing.assert_allclose(model.embedding_, known.embedding_, atol=1e-6 * np.abs(known.embedding_).max())
    np.testing.assert_allclose(model.transform(X[:5])[2:3], model.transform(X[2:3]), rtol=1e-10)
    assert model.inverse_transform(model.embedding_).shape == X.shape
    assert model.score(X) > 0


def test_a_function_of_two_rows_is_a_metric():
    X = flat(30)[0]
    model = SemidefiniteEmbedding(metric=lambda a, b: float(np.abs(a - b).sum())).fit(X)
    named = SemidefiniteEmbedding(metric="manhattan").fit(X)
    np.testing.assert_allclose(model.embedding_, named.embedding_, atol=1e-6)


def test_a_model_of_a_metric_is_saved_with_its_rows(tmp_path):
    X = flat(30)[0]
    model = SemidefiniteEmbedding(metric="manhattan").fit(X)
    sidelight.save(model, tmp_path / "m")
    np.testing.assert_array_equal(sidelight.load(tmp_path / "m").transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones((4, 3)), r"X=array of shape \(4, 3\) is not square"),
        (-np.ones((4, 4)), "metric=.* returns a value that is not a finite distance"),
    ],
)
def test_what_is_no_matrix_of_distances_is_refused(X, words):
    with pytest.raises(ValueError, match=rf"^SemidefiniteEmbedding: {words}.*\. Give .*\.$"):
        SemidefiniteEmbedding(metric="precomputed").fit(X)


def test_equalities_that_leave_one_rigid_body_give_the_rows_themselves_and_say_so(roll):
    X = roll.X[:60] - roll.X[:60].mean(axis=0)
    with pytest.warns(UserWarning, match=r"equality=True leaves nothing to unfold: with 12 neighbours"):
        model = SemidefiniteEmbedding(equality=True).fit(X)
    assert model.gram_eigenvalues_.sum() == pytest.approx((X**2).sum())
    assert model.certificate_["gap"] == 0.0
    whole = SemidefiniteEmbedding(3, equality=True).fit(X).embedding_
    np.testing.assert_allclose(cdist(whole, whole), cdist(X, X), atol=1e-9 * np.abs(X).max())


def test_a_generic_solver_finds_the_rows_themselves_in_a_rigid_program_too(roll):
    cvxpy = pytest.importorskip("cvxpy")
    X = roll.X[:25] - roll.X[:25].mean(axis=0)
    problem = semidefinite_problem(X, 10, None, equality=True, n_jobs=1)
    assert problem.rigid
    i, j = problem.program.pairs.T
    assert len(i) < 25 * 24 / 2
    K = cvxpy.Variable((25, 25), PSD=True)
    distances = cvxpy.diag(K)[i] + cvxpy.diag(K)[j] - 2 * K[i, j]
    rules = [cvxpy.sum(K) == 0, distances == problem.program.bounds]
    oracle = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(K)), rules)
    solver = solved_by(oracle, accepted=("optimal", "optimal_inaccurate"))  # there is no point inside
    found = np.trace(K.value) * problem.program.unit
    np.testing.assert_allclose(found, (X**2).sum(), rtol=1e-3, err_msg=f"the oracle is {solver}")
