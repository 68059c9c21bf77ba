"""Worlds with noise, slips and continuous states: places by evidence, translations, dynamics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import sidelight
from sidelight import ActionRespectingEmbedding
from sidelight.side.actions import as_actions
from sidelight.unfolding._action_dynamics import fit_dynamics
from sidelight.unfolding._walk_evidence import Setting, log_evidence, log_new, ordered_walk, steps_of
from sidelight.unfolding._walk_noise import Observed, observed, same_place_odds
from sidelight.unfolding._walk_translations import find_translations, integer_solutions

MOVES = {"east": (1, 0), "north": (0, 1), "south": (0, -1), "west": (-1, 0)}


def grid(side, n_steps, *, slip=0.0, noise=0.0, seed=0, walls=False):
    """Observations of a walk on a grid by actions that slip, its places (n, 2), and what was done.

    With ``walls``, an action that would leave the grid does nothing; else it is not taken.
    """
    rng = np.random.default_rng(seed)
    places, done = [np.array([1, 1])], []
    while len(done) < n_steps:
        name = list(MOVES)[rng.integers(4)]
        there = places[-1] + MOVES[name]
        inside = (there >= 0).all() and (there < side).all()
        if inside or walls:
            done.append(name)
            places.append(there if inside and rng.random() >= slip else places[-1])
    places = np.array(places)
    X = np.cos(places @ rng.normal(size=(2, 30)) / 2 + rng.uniform(0, 6, 30))
    return X + noise * rng.normal(size=X.shape), places, [*done, None]


def untried(places, actions):
    spots = [tuple(place) for place in places.tolist()]
    first = {place: row for row, place in reversed(list(enumerate(spots)))}
    tried = set(zip(spots, actions, strict=True))
    return [
        (row, name, there)
        for place, row in first.items()
        for name, move in MOVES.items()
        if (place, name) not in tried and (there := (place[0] + move[0], place[1] + move[1])) in first
    ]


def share_right(model, places, asked):
    return np.mean([tuple(places[int(model.predict_next(row, name)[0])]) == there for row, name, there in asked])


@pytest.fixture(scope="module")
def slipping():
    X, places, actions = grid(4, 70, slip=0.15, noise=0.05, seed=3)
    return X, places, actions, ActionRespectingEmbedding().fit(X, actions=actions)


def test_slips_and_noise_do_not_fold_places_and_untried_steps_are_predicted(slipping):
    _, places, actions, model = slipping
    assert model.solved_by_ == "translations"
    assert len(model.place_rows_) == len(np.unique(places, axis=0))
    assert share_right(model, places, untried(places, actions)) == 1.0
    slipped = (places[1:] == places[:-1]).all(axis=1)
    np.testing.assert_array_equal(model.trusted_steps_, ~slipped)


def test_without_noise_slips_leave_as_many_places_as_there_are_observations():
    X, places, actions = grid(4, 70, slip=0.15, seed=5)
    model = ActionRespectingEmbedding().fit(X, actions=actions)
    assert len(model.place_rows_) == len(np.unique(places, axis=0))
    assert share_right(model, places, untried(places, actions)) == 1.0
    with pytest.warns(UserWarning, match="into one place"):
        assert len(ActionRespectingEmbedding(merge=0.3).fit(X, actions=actions).place_rows_) == 1


def test_an_exact_world_is_the_published_program_to_the_last_bit():
    X, _, actions = grid(4, 60, seed=1)
    auto, published = (ActionRespectingEmbedding(merge=merge).fit(X, actions=actions) for merge in ("auto", 0.3))
    assert auto.solved_by_ == "program"
    assert auto.latent_.tobytes() == published.latent_.tobytes()
    assert auto.certificate_ == published.certificate_


def test_the_score_of_a_held_out_walk_counts_slips_as_misses(slipping):
    X, places, actions, model = slipping
    slipped = (places[1:] == places[:-1]).all(axis=1)
    assert model.score() == pytest.approx(1 - slipped.mean())
    assert model.score(X[:6], actions=actions[:5]) == pytest.approx(1 - slipped[:5].mean())


def test_new_observations_plans_and_localization_in_a_noisy_world(slipping):
    X, places, actions, model = slipping
    rng = np.random.default_rng(0)
    step = int(np.flatnonzero((places[1:] != places[:-1]).any(axis=1))[0])
    again = X[[step]] + 0.05 * rng.normal(size=(1, X.shape[1]))
    told, point = model.predict_next(again, actions[step], return_points=True)
    mean = X[(places == places[step + 1]).all(axis=1)].mean(axis=0)
    np.testing.assert_allclose(told[0], mean, atol=1e-9)
    np.testing.assert_allclose(point[0], model.latent_[step + 1], atol=1e-9)
    goal = int(np.flatnonzero((places == places.max(axis=0)).all(axis=1))[0])
    plan = model.plan(0, goal)
    assert len(plan) == np.abs(places[goal] - places[0]).sum()
    np.testing.assert_array_equal(places[0] + np.sum([MOVES[name] for name in plan], axis=0), places[goal])
    found = model.localize(X[:12], actions[:12], slip=0.15)
    np.testing.assert_array_equal(places[found.rows], places[:12])


def test_noisy_walks_that_share_no_place_are_embedded_apart_under_one_translation_each():
    one, _, actions = grid(3, 40, noise=0.02, seed=1)
    other = 10.0 + grid(3, 40, noise=0.02, seed=1)[0]
    with pytest.warns(UserWarning, match="leaves 2 trajectories without a common place"):
        model = ActionRespectingEmbedding().fit(np.vstack([one, other]), actions=[*actions, *actions])
    assert not set(model.states_[:41]) & set(model.states_[41:])
    np.testing.assert_allclose(np.diff(model.latent_[:41], axis=0), np.diff(model.latent_[41:], axis=0), atol=1e-9)


@pytest.mark.thorough
def test_walls_do_not_fold_places_and_are_believed_where_they_were_met_twice():
    X, places, actions = grid(3, 80, noise=0.02, seed=2, walls=True)
    model = ActionRespectingEmbedding().fit(X, actions=actions)
    assert len(model.place_rows_) == len(np.unique(places, axis=0))
    met = [(tuple(place), name) for place, name in zip(places[:-1].tolist(), actions, strict=False)]
    blocked = [met[row] for row in np.flatnonzero((places[1:] == places[:-1]).all(axis=1))]
    twice = {each for each in blocked if blocked.count(each) > 1}
    assert twice
    for place, name in twice:
        row = int(np.flatnonzero((places == place).all(axis=1))[0])
        assert model.states_[model.predict_next(row, name)[0]] == model.states_[row]


def test_a_saved_noisy_model_predicts_the_same(slipping, tmp_path):
    model = slipping[3]
    sidelight.save(model, tmp_path / "noisy")
    loaded = sidelight.load(tmp_path / "noisy")
    assert loaded.score() == model.score()
    np.testing.assert_array_equal(loaded.predict_next(range(9), "east"), model.predict_next(range(9), "east"))


def test_one_and_two_threads_give_the_same_bytes(slipping):
    X, _, actions, model = slipping
    assert ActionRespectingEmbedding(n_jobs=2).fit(X, actions=actions).latent_.tobytes() == model.latent_.tobytes()


# the parts


def test_integer_solutions_satisfy_their_relations():
    relations = np.array([[1, 1, 0, 0], [0, 0, 3, 2]])
    moves = integer_solutions(relations)
    assert moves.shape == (4, 2)
    assert not (relations @ moves).any()
    assert integer_solutions(np.eye(2, dtype=int)).shape == (2, 0)


def test_opposite_actions_are_found_in_the_mean_and_turns_that_do_not_commute_are_refused():
    X, _, actions = grid(4, 80, slip=0.1, noise=0.05, seed=7)
    found = find_translations(observed(X, None), as_actions(actions, len(X)))[0]
    east, north, south, west = found.moves
    assert not (east + west).any()
    assert not (north + south).any()
    assert found.moves.shape == (4, 2)
    rng = np.random.default_rng(0)
    pose, seen, done = np.array([0, 0, 0]), [], []
    names, ahead = ("ahead", "back", "turn", "unturn"), np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
    for _ in range(150):
        seen.append(pose)
        sides = [a for a in range(4) if a > 1 or (np.abs(pose[:2] + ahead[pose[2]] * (1, -1)[a]) <= 2).all()]
        action = int(rng.choice(sides))
        done.append(names[action])
        move = ahead[pose[2]] * (1, -1)[action] if action < 2 else (0, 0)
        pose = np.array([*(pose[:2] + move), (pose[2] + (0, 0, 1, -1)[action]) % 4])
    codes = {pose: rng.normal(size=20) for pose in {tuple(p) for p in seen}}
    views = np.array([codes[tuple(p)] for p in seen]) + 0.1 * rng.normal(size=(150, 20))
    for each in find_translations(observed(views, None), as_actions(done, 150)):
        assert each.gain <= 0 or not each.moves.any(axis=1).all()


def test_noise_is_estimated_and_equal_rows_mean_none():
    X, *_ = grid(4, 120, noise=0.1, seed=4)
    assert np.sqrt(observed(X, None).variance) == pytest.approx(0.1, rel=0.2)
    exact = observed(grid(4, 120, seed=4)[0], None)
    assert np.sqrt(exact.variance) < 0.01


def test_rows_of_one_place_have_positive_odds_and_others_negative():
    X, places, _ = grid(4, 120, noise=0.05, seed=6)
    seen = observed(X, None)
    odds = same_place_odds(seen, ((seen.points[:, None] - seen.points) ** 2).sum(axis=2))
    same = (places[:, None] == places).all(axis=2)
    assert np.mean(odds[same] > 0) > 0.99
    assert np.mean(odds[~same] < 0) > 0.98


def test_the_evidence_is_that_of_rows_one_after_another():
    """A slow reference: each row's density given the earlier rows of its place."""
    X, places, actions = grid(3, 25, slip=0.2, noise=0.1, seed=2)
    seen = observed(X, None)
    walk = ordered_walk(seen, as_actions(actions, len(X)))
    steps = steps_of(np.array([MOVES[name] for name in MOVES]), len(X))
    numbers, new, setting = places @ steps.radix, log_new(walk, alike=True), Setting(0.1, True)
    total, k = 0.0, seen.points.shape[1]
    for t, y in enumerate(seen.points):
        before = [i for i in range(t) if numbers[i] == numbers[t]]
        gain = 0.0
        if before:
            cov = seen.variance * (1 + 1 / len(before)) * np.eye(k)
            gain = multivariate_normal(seen.points[before].mean(axis=0), cov).logpdf(y) - new[t]
        total += new[t] + np.clip(gain, -25, 25)
        if t:
            moved = tuple(places[t] - places[t - 1])
            right = moved == MOVES[actions[t - 1]]
            total += np.log(0.9 if right else 0.05)
    assert log_evidence(walk, numbers, steps, setting, new) == pytest.approx(total, rel=1e-9)


# continuous states and actions


def pushed(n, seed):
    """Walks of ten steps of a point in the plane that is pushed by vectors, seen through smooth curves."""
    rng = np.random.default_rng(seed)
    lens, phase = np.random.default_rng(9).normal(size=(2, 12)), np.linspace(0, 6, 12)
    states, forces = [], rng.uniform(-0.3, 0.3, size=(n, 2))
    for t in range(n):
        state = rng.uniform(-1, 1, 2) if t % 10 == 0 else np.clip(states[-1] + forces[t - 1], -2, 2)
        states.append(state)
    return np.sin(np.array(states) @ lens / 2 + phase), forces, np.arange(n) // 10


@pytest.fixture(scope="module")
def vectors():
    X, forces, walks = pushed(300, 0)
    return X, forces, ActionRespectingEmbedding().fit(X, actions=forces, trajectory=walks)


def test_actions_that_are_vectors_predict_new_observations(vectors):
    *_, model = vectors
    assert model.solved_by_ == "dynamics"
    Y, given, walks = pushed(60, 1)
    at = np.flatnonzero(walks[1:] == walks[:-1])
    told = np.concatenate([model.predict_next(Y[[row]], given[row]) for row in at])
    assert ((told - Y[at + 1]) ** 2).sum() < 0.1 * ((Y[at] - Y[at + 1]) ** 2).sum()
    score = model.score(Y, actions=given, trajectory=walks)
    assert score == pytest.approx(1 - ((told - Y[at + 1]) ** 2).sum() / ((Y[at] - Y[at + 1]) ** 2).sum())
    assert abs(score - model.score()) < 0.1  # the score of training is that of stretches left out


def test_plans_and_localization_with_vectors(vectors, tmp_path):
    X, forces, model = vectors
    assert all(len(step) == 2 for step in model.plan(3, 6))
    found = model.localize(X[:8], forces[:8])
    step = np.linalg.norm(np.diff(model.latent_[:8], axis=0), axis=1).mean()
    assert np.linalg.norm(model.latent_[found.rows] - model.latent_[:8], axis=1).max() < 0.5 * step
    sidelight.save(model, tmp_path / "vectors")
    again = sidelight.load(tmp_path / "vectors").predict_next(X[:3], forces[5])
    np.testing.assert_array_equal(again, model.predict_next(X[:3], forces[5]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, X, f: m.predict_next(X[:2], [1.0]), r"action=.* is not an action that was seen \(vectors of 2"),
        (lambda m, X, f: m.localize(X[:4], f[:4, :1]), "does not hold a vector of 2 numbers for each of the 4 rows"),
        (lambda m, X, f: m.score(X[:4], actions=["a"] * 4), "are not of the type used in fit"),
        (lambda m, X, f: type(m)().fit(X, actions=f[:9]), r"actions=array of shape \(9, 2\) does not match the 300"),
        (lambda m, X, f: type(m)(merge=0.3).fit(X, actions=f), "merge=0.3 needs labels, and actions= are vectors"),
    ],
)
def test_vectors_that_do_not_fit_are_said(vectors, call, message):
    X, forces, model = vectors
    with pytest.raises(ValueError, match=message):
        call(model, X, forces)


def test_dynamics_are_never_worse_than_no_change_where_steps_were_left_out():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    dynamics, _ = fit_dynamics(X, None, as_actions(["a", "b"] * 30, 60), None)
    assert dynamics.error <= dynamics.copying


def test_an_observed_noise_floor_is_twice_the_variance_of_all_axes():
    assert Observed(np.zeros((3, 4)), 0.5).floor == 4.0
