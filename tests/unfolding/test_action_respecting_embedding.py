"""Action respecting embedding: what it predicts, where it equals simpler programs, and what it says of bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV

import sidelight
from sidelight import ActionRespectingEmbedding, Pairs
from sidelight.datasets import imagebot
from sidelight.side.actions import as_actions
from sidelight.solvers.semidefinite import solve_gram
from sidelight.unfolding._action_program import (
    action_problem,
    distance_classes,
    find_places,
    merge_until_one_to_one,
    place_squares,
    row_squares,
)
from sidelight.unfolding.action_respecting_embedding import solve_interior

MOVES = {"east": (1, 0), "west": (-1, 0), "north": (0, 1), "south": (0, -1)}


def grid_walk(width, height, n_steps, seed=0):
    """Observations of a random walk on a grid, its places (n, 2), and what was done."""
    rng = np.random.default_rng(seed)
    places, done = [np.array([width // 2, height // 2])], []
    while len(done) < n_steps:
        name = list(MOVES)[rng.integers(4)]
        there = places[-1] + MOVES[name]
        if (there >= 0).all() and (there < (width, height)).all():
            places.append(there)
            done.append(name)
    places = np.array(places)
    X = np.cos(places @ rng.normal(size=(2, 40)) / 4 + rng.uniform(0, 6, 40))
    return X, places, [*done, None]


def unknown_steps(places, actions):
    """Rows, actions and true places of all steps within the walk that were never taken."""
    seen, taken = {}, {(tuple(p), a) for p, a in zip(places, actions, strict=True)}
    for row, place in enumerate(places):
        seen.setdefault(tuple(place), row)
    found = []
    for place, row in seen.items():
        for name, move in MOVES.items():
            there = (place[0] + move[0], place[1] + move[1])
            if there in seen and (place, name) not in taken:
                found.append((row, name, there))
    return found


def share_right(model, places, queries):
    hits = [tuple(places[model.predict_next(row, name)[0]]) == there for row, name, there in queries]
    assert hits
    return np.mean(hits)


@pytest.fixture(scope="module")
def line():
    return imagebot("line", view=20)


@pytest.fixture(scope="module")
def fitted(line):
    return ActionRespectingEmbedding().fit(line.X, actions=line.factors["actions"])


def test_steps_that_nobody_took_are_predicted(line, fitted):
    back = fitted.predict_next(np.arange(1, 20), "backward")
    np.testing.assert_array_equal(line.factors["states"][back], np.arange(19))


def test_steps_that_were_taken_are_known(line, fitted):
    np.testing.assert_array_equal(fitted.predict_next([0, 50], "forward"), [1, 31])
    np.testing.assert_array_equal(fitted.states_, line.factors["states"])


def test_actions_are_rotations_and_translations_that_undo_each_other(fitted):
    forward, backward = fitted.action_maps_["forward"], fitted.action_maps_["backward"]
    _, points = fitted.predict_next(np.arange(40), "forward", return_points=True)
    step = np.linalg.norm(fitted.latent_[1] - fitted.latent_[0])
    assert np.abs(points - fitted.latent_[1:41]).max() < 1e-3 * step
    r = fitted.latent_.shape[1]
    np.testing.assert_allclose(forward.rotation @ forward.rotation.T, np.eye(r), atol=1e-9)
    assert np.linalg.norm(backward(forward(fitted.latent_[:5])) - fitted.latent_[:5], axis=1).max() < 0.5 * step


def test_distances_of_equal_actions_are_equal_and_neighbours_not_farther_than_in_the_data(line, fitted):
    D = cdist(fitted.latent_, fitted.latent_)
    np.testing.assert_allclose(D[:39, :39], D[1:40, 1:40], atol=1e-4 * D.max())
    steps = np.linalg.norm(np.diff(line.X, axis=0), axis=1)
    assert (np.diag(D, 1) <= steps * (1 + 1e-3)).all()
    assert fitted.certificate_["gap"] < 1e-5


@pytest.mark.parametrize("path", ["line-double-back", "rotation", "A", "zoom"])
def test_determined_paths_are_understood_whole(path):
    data = imagebot(path, view=30)
    model = ActionRespectingEmbedding().fit(data.X, actions=data.factors["actions"])
    assert model.score() == 1.0
    assert len(model.place_rows_) == data.factors["states"].max() + 1


def test_a_walk_on_a_grid_is_a_plane_and_all_its_steps_are_predicted():
    X, places, actions = grid_walk(6, 5, 140)
    model = ActionRespectingEmbedding().fit(X, actions=actions)
    assert model.explained_[:2].sum() > 0.95
    assert share_right(model, places, unknown_steps(places, actions)) == 1.0


@pytest.mark.thorough
def test_noise_is_averaged_over_rows_that_are_one_place():
    X, places, actions = grid_walk(5, 4, 120)
    noisy = X + np.random.default_rng(1).normal(scale=0.02, size=X.shape)
    model = ActionRespectingEmbedding().fit(noisy, actions=actions)
    assert len(model.place_rows_) == len(np.unique(places, axis=0))
    queries = unknown_steps(places, actions)
    assert share_right(model, places, queries) == 1.0
    assert len(ActionRespectingEmbedding(merge=0).fit(noisy[:20], actions=actions[:19]).place_rows_) == 20


@pytest.mark.thorough
def test_without_actions_it_is_the_plain_program_with_the_same_neighbours(line):
    squares = row_squares(line.X[:25])
    near = np.abs(np.arange(25)[:, None] - np.arange(25)) <= 2
    np.fill_diagonal(near, False)
    none = np.empty((0, 3))
    plain = action_problem(squares, near, None, none)
    tied = action_problem(squares, near, np.arange(300), none)
    one = solve_gram(plain.program, plain.start, tolerance=1e-6, gap=1e-5)
    other = solve_interior(tied.program)
    np.testing.assert_allclose(one.value, other.value, rtol=1e-4)
    assert np.abs(one.point @ one.point.T - other.point @ other.point.T).max() < 2e-2 * np.abs(other.point).max() ** 2
    assert not ActionRespectingEmbedding().fit(line.X[:25], trajectory=np.zeros(25)).action_maps_


def test_flat_distances_come_back_exact():
    """Places on a plane, each a neighbour of all others, moved by one translation."""
    rng = np.random.default_rng(0)
    base = rng.normal(size=(7, 2))
    X = np.stack([base, base + [0.7, 0.3]], axis=1).reshape(-1, 2)
    actions = ["go", None] * 7
    known = [(i, j, float(np.linalg.norm(X[i] - X[j]))) for i, j in ((0, 2), (2, 4), (4, 6), (6, 8), (8, 10), (10, 12))]
    index, distances = [(i, j) for i, j, _ in known], [distance for *_, distance in known]
    model = ActionRespectingEmbedding(merge=0).fit(X, actions=actions, pairs=index, distances=distances)
    D, latent = cdist(X, X), cdist(model.latent_, model.latent_)
    for i, j, distance in known:
        np.testing.assert_allclose(latent[i, j], distance, rtol=1e-5)
        np.testing.assert_allclose(latent[i + 1, j + 1], distance, rtol=1e-5)
    problem = action_problem(
        D**2, ~np.eye(14, dtype=bool), distance_classes(model.states_, model.actions_), np.empty((0, 3))
    )
    found = solve_interior(problem.program, gap=1e-9, sharp=1e-9)
    np.testing.assert_allclose(cdist(found.point, found.point), D, atol=2e-4 * D.max())


def test_places_are_folded_until_each_action_is_one_to_one():
    """Two walks by the same actions from one place see the same places."""
    actions = as_actions(["a", "b", "a", None, "a", "b", "a", None], 8)
    start = np.array([0, 1, 2, 3, 0, 4, 5, 6])
    np.testing.assert_array_equal(merge_until_one_to_one(start, actions), [0, 1, 2, 3, 0, 1, 2, 3])
    end = np.array([0, 1, 2, 3, 4, 5, 6, 3])
    np.testing.assert_array_equal(merge_until_one_to_one(end, actions), [0, 1, 2, 3, 0, 1, 2, 3])


def test_distances_of_places_are_those_of_the_means_of_their_rows():
    rng = np.random.default_rng(0)
    X, places = rng.normal(size=(9, 4)), np.array([0, 1, 0, 2, 1, 3, 3, 3, 0])
    means = np.array([X[places == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(place_squares(row_squares(X), places), cdist(means, means) ** 2, atol=1e-12)


def test_a_merger_that_would_glue_the_ends_of_steps_is_not_made():
    """A path that passes itself at a third of a step: chains of near rows would make one place of all."""
    x = np.r_[np.arange(0, 8, 1.0), np.arange(7.3, 0, -1.0), np.arange(0.6, 8, 1.0)]
    actions = as_actions(None, len(x), trajectory=np.zeros(len(x)))
    places = find_places((x[:, None] - x) ** 2, actions, 0.4)
    np.testing.assert_array_equal(places, np.arange(len(x)))


def test_classes_of_a_line_are_its_lengths():
    actions = as_actions(["go"] * 9, 10)
    classes = distance_classes(np.arange(10), actions)
    i, j = np.triu_indices(10, 1)
    assert len(np.unique(classes)) == 9
    assert all(len(np.unique((j - i)[classes == c])) == 1 for c in range(9))


def test_two_walks_that_share_places_are_one_map(line):
    rows = np.r_[0:30, 20:45]
    actions = np.array(line.factors["actions"])[rows]
    trajectory = np.r_[np.zeros(30), np.ones(25)]
    model = ActionRespectingEmbedding().fit(line.X[rows], actions=actions, trajectory=trajectory)
    assert len(model.actions_.steps) == 53
    np.testing.assert_array_equal(model.states_, line.factors["states"][rows])
    assert model.predict_next(5, "backward")[0] == 4


def test_walks_that_nothing_holds_together_are_embedded_apart_with_a_warning_and_a_known_distance_helps(line):
    X = np.concatenate([line.X[:5], line.X[:5] + 100.0])
    actions = [*line.factors["actions"][:4], None] * 2
    with pytest.warns(
        UserWarning, match=r"leaves 2 trajectories without a common place; they are embedded separately.*pairs="
    ):
        apart = ActionRespectingEmbedding().fit(X, actions=actions)
    between = cdist(apart.latent_[:5], apart.latent_[5:])
    assert between.min() > np.linalg.norm(np.diff(apart.latent_[:5], axis=0), axis=1).max()
    assert between.min() <= cdist(X[:5], X[5:]).min() * (1 + 1e-3)
    model = ActionRespectingEmbedding().fit(X, actions=actions, pairs=Pairs([(2, 7)], 10, values=[3.0]))
    np.testing.assert_allclose(np.linalg.norm(model.latent_[2] - model.latent_[7]), 3.0, rtol=1e-3)


def test_any_distance_does(line, fitted):
    actions = line.factors["actions"]
    D = cdist(line.X, line.X)
    given = ActionRespectingEmbedding(metric="precomputed").fit(D, actions=actions)
    np.testing.assert_allclose(cdist(given.latent_, given.latent_), cdist(fitted.latent_, fitted.latent_), atol=1e-2)
    assert not hasattr(given, "inverse_transform")
    assert given.transform(D[:3]).shape == (3, 2)
    for metric in ("manhattan", lambda a, b: np.abs(a - b).max()):
        model = ActionRespectingEmbedding(metric=metric).fit(line.X, actions=actions)
        np.testing.assert_array_equal(model.predict_next(np.arange(1, 20), "backward"), np.arange(19))


def test_score_is_that_of_steps_predicted_from_others(line, fitted):
    assert fitted.score() == 1.0
    held_out = line.X[np.r_[10, 9, 8, 7]]
    assert fitted.score(held_out, actions=["backward"] * 3) == 1.0
    assert fitted.score(held_out, actions=["forward"] * 3) == 0.0
    assert 0 < fitted.score(line.X) <= 1
    with pytest.raises(ValueError, match="has no step that other steps"):
        fitted.score(held_out, actions=["jump"] * 3)


def test_actions_that_do_nothing_at_a_wall_collapse_in_the_published_program_and_it_is_said(line):
    X = np.concatenate([line.X[:5], line.X[4:5]])
    with pytest.warns(
        UserWarning, match=r"puts both ends of 4 steps into one place, though they look different.*walls"
    ):
        collapsed = ActionRespectingEmbedding(merge=0.3).fit(X, actions=["forward"] * 5)
    assert len(collapsed.place_rows_) == 1
    assert len(ActionRespectingEmbedding().fit(X, actions=["forward"] * 5).place_rows_) == 5


def test_saved_models_predict_the_same(fitted, tmp_path):
    sidelight.save(fitted, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    rows = np.arange(1, 20)
    np.testing.assert_array_equal(loaded.predict_next(rows, "backward"), fitted.predict_next(rows, "backward"))
    np.testing.assert_array_equal(loaded.action_maps_["forward"].rotation, fitted.action_maps_["forward"].rotation)
    assert loaded.score() == fitted.score()
    numbered = ActionRespectingEmbedding().fit(np.arange(4.0)[:, None], actions=[1, 1, 2])
    sidelight.save(numbered, tmp_path / "numbered")
    assert set(sidelight.load(tmp_path / "numbered").action_maps_) == {1, 2}


def test_ctrl_c_keeps_the_best_so_far_and_before_it_the_old_model(line, fitted):
    def interrupt(state):
        if state.iteration == 3:
            raise KeyboardInterrupt

    model = ActionRespectingEmbedding(callback=interrupt)
    with pytest.raises(KeyboardInterrupt):
        model.fit(line.X, actions=line.factors["actions"])
    assert model.n_iter_ == 3
    assert model.predict_next(0, "forward")[0] == 1
    before = dict(vars(model))
    with pytest.raises(ValueError, match="does not match"):
        model.fit(line.X, actions=["forward"])
    assert vars(model) == before


def test_running_out_of_steps_is_warned_of_with_what_was_reached(line):
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 did not let .* ran out of iterations \(violation .* gap"):
        ActionRespectingEmbedding(max_iter=2).fit(line.X, actions=line.factors["actions"])


@pytest.mark.parametrize(
    ("name", "value"), [("window", 0), ("metric", "miles"), ("merge", 1.5), ("merge", -0.1), ("gap", 0.0), ("tol", "a")]
)
def test_a_bad_parameter_is_named_with_its_value_and_a_way_out(name, value, line):
    with pytest.raises(ValueError, match=rf"^ActionRespectingEmbedding: {name}=.* is not .*\. Give .*\.$"):
        ActionRespectingEmbedding(**{name: value}).fit(line.X)


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ([(0, 1)], r"known=array of shape \(1, 2\) does not hold two rows and a distance"),
        ([(0, 99, 1.0)], "names a row that is not one of 0 to 60"),
        ([(0, 1.5, 1.0)], "names a row that is not one of 0 to 60"),
        ([(0, 1, -1.0)], "known=-1.0 is not a distance above 0"),
        ([(39, 41, 1.0)], "gives a distance to two rows of one place"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*known=list is deprecated:FutureWarning")
def test_hints_that_are_wrong_are_said(known, message, line):
    with pytest.raises(ValueError, match=message):
        ActionRespectingEmbedding().fit(line.X, actions=line.factors["actions"], known=known)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"pairs": [(0, 1)]}, "distances=None leaves the pairs without a distance"),
        ({"distances": [1.0]}, "pairs=None leaves distances without rows"),
        ({"pairs": [(0, 1)], "distances": [1.0, 2.0]}, r"distances=array of shape \(2,\) does not match the 1 pair"),
        ({"pairs": [(0, 99)], "distances": [1.0]}, "index=99 points outside the 61 rows"),
        ({"pairs": Pairs([(0, 1)], 9, values=[1.0])}, "n_samples=9 does not match the 61 rows"),
        ({"pairs": [(3, 3)], "distances": [1.0]}, r"pairs=\(3, 3\) pairs a row with itself"),
        ({"pairs": [(0, 1)], "distances": [-1.0]}, r"distances=-1.0 for rows \(0, 1\) is not a distance"),
        (
            {"pairs": [(0, 1)], "distances": [0.0]},
            r"distances=0 for rows \(0, 1\) is not a distance above 0",
        ),
        (
            {"pairs": [(39, 41)], "distances": [1.0]},
            r"pairs=\[39.0, 41.0, 1.0\] gives a distance to two rows",
        ),
        ({"pairs": [(0, 5)], "distances": [1e6]}, "pairs=1 distances contradicts the bounds"),
        (
            {"pairs": [(0, 1)], "distances": [1.0], "known": [(0, 1, 1.0)]},
            "known=array is the old name of pairs, which is given too",
        ),
    ],
)
def test_pairs_with_wrong_distances_get_a_sentence(given, message, line):
    with pytest.raises(ValueError, match=message):
        ActionRespectingEmbedding().fit(line.X, actions=line.factors["actions"], **given)


def test_the_old_name_of_pairs_gives_the_same_bits_and_a_warning_at_the_users_line(line):
    X = np.concatenate([line.X[:5], line.X[:5] + 100.0])
    actions = [*line.factors["actions"][:4], None] * 2
    pairs = Pairs([(2, 7), (0, 9)], 10, values=[3.0, 3.5])
    by_pairs = ActionRespectingEmbedding().fit(X, actions=actions, pairs=pairs)
    by_distances = ActionRespectingEmbedding().fit_transform(
        X, actions=actions, pairs=pairs.index, distances=[3.0, 3.5]
    )
    with pytest.warns(FutureWarning, match=r"known=list is deprecated.*pairs=Pairs\(index, n_samples, val") as warned:
        old = ActionRespectingEmbedding().fit(X, actions=actions, known=[(2, 7, 3.0), (0, 9, 3.5)])
    assert [warning.filename for warning in warned] == [__file__]
    for name in ("latent_", "embedding_", "states_", "gram_eigenvalues_"):
        assert getattr(by_pairs, name).tobytes() == getattr(old, name).tobytes()
    assert by_distances.tobytes() == old.embedding_.tobytes()
    assert by_pairs.certificate_ == old.certificate_


def test_pairs_are_cut_with_the_rows(line):
    """What cross-validation does: distances follow their rows, and those with a row outside are left out."""
    X = np.concatenate([line.X[:5], line.X[:5] + 100.0])
    actions = as_actions([*line.factors["actions"][:4], None] * 2, 10)
    rows = np.r_[1:5, 6:10]
    cut = Pairs([(2, 7), (0, 9)], 10, values=[3.0, 3.5])[rows]
    model = ActionRespectingEmbedding().fit(X[rows], actions=actions[rows], pairs=cut)
    np.testing.assert_allclose(np.linalg.norm(model.latent_[1] - model.latent_[5]), 3.0, rtol=1e-3)
    with config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            ActionRespectingEmbedding().set_fit_request(actions=True, pairs=True).set_score_request(actions=False),
            {"window": [1]},
            cv=[(rows, rows[:4])],
            refit=False,
            scoring=lambda model, X, y=None: float(np.linalg.norm(model.latent_[1] - model.latent_[5])),
        ).fit(X, actions=actions, pairs=Pairs([(2, 7), (0, 9)], 10, values=[3.0, 3.5]))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], 3.0, rtol=1e-3)


def test_rows_and_actions_that_are_not_there_are_said(fitted):
    with pytest.raises(ValueError, match=r"action=jump is not an action that was seen \('backward', 'forward'\)"):
        fitted.predict_next(0, "jump")
    for rows in ([99], [-1], [0.5], [[0]]):
        with pytest.raises(ValueError, match="is not a list of training rows, 0 to 60"):
            fitted.predict_next(rows, "forward")
