"""Plans and positions by the maps of actions: on a lattice whose latent points are known, and on the image robot."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight import ActionRespectingEmbedding
from sidelight.datasets import imagebot
from sidelight.maps.frames import Frame
from sidelight.maps.kernel_map import adaptive_map
from sidelight.maps.rigid import fit_rigid
from sidelight.side.actions import as_actions
from sidelight.unfolding._action_model import ActionModel
from sidelight.unfolding._action_steps import action_steps, transitions
from sidelight.unfolding._localization import likelihood_of_places, motion

MOVES = {"forward": (1, 0), "backward": (-1, 0), "left": (0, 1), "right": (0, -1)}


class Lattice(ActionRespectingEmbedding):
    """A model whose latent points are places of a lattice in the plane, turned into more dimensions."""

    def fit(self, path, width=4, jitter=0.0):
        random = np.random.RandomState(0)
        self.places = np.cumsum([(0, 0), *(MOVES[name] for name in path)], axis=0)
        turned = np.linalg.qr(random.standard_normal((width, 2)))[0]
        _, self.place_rows_, states = np.unique(self.places, axis=0, return_index=True, return_inverse=True)
        self.states_ = states.ravel()
        Z = (
            5.0 * self.places @ turned.T
            + jitter * random.standard_normal((self.states_.max() + 1, width))[self.states_]
        )
        self.latent_ = Z - Z.mean(axis=0)
        self.actions_ = as_actions([*path, None], len(Z))
        steps, codes = self.actions_.steps, self.actions_.codes
        self.rigid_maps_ = [
            (name, fit_rigid(*(self.latent_[steps[codes == code, end]] for end in (0, 1))))
            for code, name in enumerate(self.actions_.names)
        ]
        self.X = 5.0 * random.standard_normal((self.states_.max() + 1, 30))[self.states_]
        self.n_features_in_ = 30
        self.frame_ = Frame.of(self.X)
        points = self.frame_.points(self.X)
        self.backward_ = adaptive_map(points, points[:, :2])
        return self


def world_of(model):
    return ActionModel(model.latent_, model.states_, model.place_rows_, model.actions_, model.action_maps_)


def steps_of(model):
    return action_steps("Lattice", world_of(model))


def transitions_of(model):
    return transitions(world_of(model).points, steps_of(model))


def spelled(text):
    names = {name[0]: name for name in MOVES}
    return [names[token[0]] for token in text.split() for _ in range(int(token[1:]))]


A = spelled("f9 r3 b4 l3 f4 b9 f5 r3 b5")


@pytest.fixture(scope="module")
def letter():
    return Lattice().fit(A)


def after(place, plan):
    return tuple(np.sum([place, *(MOVES[name] for name in plan)], axis=0))


def slow_distances(model):
    """Steps from every place to every other in the true world, restricted to the visited places."""
    places = sorted({tuple(place) for place in model.places})
    found = {}
    for start in places:
        ring, seen, length = [start], {start: 0}, 0
        while ring:
            length += 1
            ring = [q for p in ring for move in MOVES.values() if (q := (p[0] + move[0], p[1] + move[1])) in places]
            ring = [q for q in dict.fromkeys(ring) if q not in seen]
            seen.update(dict.fromkeys(ring, length))
        found[start] = seen
    return found


@pytest.mark.thorough
def test_every_plan_leads_to_its_goal_and_is_as_short_as_the_world_allows(letter):
    shortest = slow_distances(letter)
    for start in (0, 11, 18, 27):
        for goal in range(46):
            plan = letter.plan(start, goal)
            here, there = tuple(letter.places[start]), tuple(letter.places[goal])
            assert after(here, plan) == there
            assert len(plan) == shortest[here][there]


def test_steps_that_were_not_taken_are_found_and_none_that_leave_the_visited_world(letter):
    table, steps = transitions_of(letter), steps_of(letter)
    place = {state: tuple(p) for state, p in zip(letter.states_, letter.places, strict=True)}
    node = {p: state for state, p in place.items()}
    for row, step in enumerate(steps):
        for state, p in place.items():
            true = node.get(tuple(np.add(p, MOVES[step.name])), -1)
            assert table[row, state] == true


def test_a_step_along_a_line_keeps_the_distance_from_it():
    """Forward was tried on one line only: it must not lead from beside the line onto it."""
    model = Lattice().fit(spelled("f4 b4 l2 r2"))
    forward = next(step for step in steps_of(model) if step.name == "forward")
    row = {tuple(place): model.states_[k] for k, place in enumerate(model.places)}
    assert forward.error[row[0, 1], row[1, 0]] == pytest.approx(5.0, rel=1e-6)
    assert forward.error[row[0, 0], row[1, 0]] == pytest.approx(0.0, abs=1e-6)


def test_an_action_that_is_undone_by_a_better_known_one_is_known_as_far():
    model = Lattice().fit(A, jitter=0.02)
    steps = steps_of(model)
    assert max(step.residual for step in steps) > 0
    shortest = slow_distances(model)
    same = [len(model.plan(0, goal)) == shortest[0, 0][tuple(model.places[goal])] for goal in range(46)]
    assert np.mean(same) > 0.95


def test_start_and_goal_may_be_latent_points(letter):
    near = letter.latent_[9] + 0.3
    assert letter.plan(letter.latent_[0], near) == ["forward"] * 9
    assert letter.plan(0, letter.latent_[0]) == []


def test_a_goal_that_cannot_be_reached_is_said_to_be():
    one_way = Lattice().fit(["forward"] * 5)
    assert one_way.plan(1, 4) == ["forward"] * 3
    with pytest.raises(ValueError, match=r"Lattice: goal=0 cannot be reached from start=3 by steps that the training"):
        one_way.plan(3, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda model: model.plan(0, 9, max_length=4), r"max_length=4 is too short: the shortest plan has 9 actions"),
        (lambda model: model.plan(46, 0), r"start=46 is not one of the 46 training rows"),
        (lambda model: model.plan(0, True), r"goal=True is not one of the 46"),
        (lambda model: model.plan(0, 1.5), r"goal=1.5 is not one of the 46"),
        (lambda model: model.plan(0, np.zeros(3)), r"is not a finite latent point of 4 or 2 coordinates"),
        (lambda model: model.plan(0, np.full(4, 99.0)), r"goal=.* is .* from the nearest training row, more than half"),
        (lambda model: model.localize(model.X[:2], ["jump", None]), r"actions=jump was not taken in training"),
        (lambda model: model.localize(model.X[:2], ["left", None], wrong=2.0), r"wrong=2.0"),
        (lambda model: model.localize(model.X[:5], ["left", None]), r"does not match the 5 rows"),
    ],
)
def test_wrong_arguments_give_one_sentence(letter, call, message):
    with pytest.raises(ValueError, match=message):
        call(letter)


def walk(model, m, seed, wrong=0.0, slip=0.0):
    """A random walk in the visited world: true states, actions and observations, some of other places."""
    random = np.random.RandomState(seed)
    steps = steps_of(model)
    table = transitions_of(model)
    states, actions = [random.randint(table.shape[1])], []
    for _ in range(m - 1):
        row = random.choice(np.flatnonzero(table[:, states[-1]] >= 0))
        actions.append(steps[row].name)
        states.append(states[-1] if random.uniform() < slip else int(table[row, states[-1]]))
    first = np.unique(model.states_, return_index=True)[1]
    shown = np.where(random.uniform(size=m) < wrong, random.randint(table.shape[1], size=m), states)
    return np.array(states), [*actions, None], model.X[first[shown]]


def test_beliefs_are_probabilities_with_their_mean_and_their_best_row(letter):
    states, actions, X = walk(letter, 30, seed=1)
    found = letter.localize(X, actions)
    assert found.belief.shape == (30, 24)
    np.testing.assert_allclose(found.belief.sum(axis=1), 1.0)
    np.testing.assert_array_equal(letter.states_[found.rows], found.belief.argmax(axis=1))
    np.testing.assert_array_equal(letter.states_[found.rows], states)
    first = np.unique(letter.states_, return_index=True)[1]
    np.testing.assert_allclose(found.points, found.belief @ letter.latent_[first])


def test_wrong_observations_are_outvoted_by_the_walk(letter):
    hits, alone = [], []
    for seed in range(25):
        states, actions, X = walk(letter, 20, seed, wrong=0.1)
        hits.append((letter.states_[letter.localize(X, actions).rows] == states)[5:].mean())
        nearest = ((X[:, None] - letter.X) ** 2).sum(axis=2).argmin(axis=1)
        alone.append((letter.states_[nearest] == states)[5:].mean())
    assert np.mean(hits) > 0.98
    assert np.mean(hits) > np.mean(alone) + 0.05


def test_slips_that_are_allowed_for_do_not_lose_the_walk(letter):
    walks = [walk(letter, 20, seed, wrong=0.1, slip=0.1) for seed in range(25)]
    with_slips, without = (
        np.mean([np.mean(letter.states_[letter.localize(X, a, slip=slip).rows] == s) for s, a, X in walks])
        for slip in (0.1, 0.0)
    )
    assert with_slips > 0.93
    assert with_slips > without


def test_walks_in_one_call_are_walks_by_themselves(letter):
    walks = [walk(letter, 12, seed, wrong=0.2) for seed in (3, 4)]
    together = letter.localize(np.concatenate([X for _, _, X in walks]), [name for _, a, _ in walks for name in a])
    apart = np.concatenate([letter.localize(X, a).belief for _, a, X in walks])
    np.testing.assert_array_equal(together.belief, apart)


def test_the_filter_agrees_with_bayes_rule_summed_over_all_paths():
    """Every sequence of nodes, its probability, and the share of those that end in each node."""
    model = Lattice().fit(spelled("f2 b2"))
    _, actions, X = walk(model, 4, seed=0, wrong=0.5)
    steps = {step.name: motion(step, 0.2) for step in steps_of(model)}
    spread = np.median([step.length for step in steps_of(model)]) ** 2 / 12
    seen = likelihood_of_places(cdist(X, model.X) ** 2, model.states_, spread, 0.1)
    paths = np.array(np.meshgrid(*[range(3)] * 4)).reshape(4, -1)
    weights = np.prod([seen[t, paths[t]] for t in range(4)], axis=0)
    for t in range(3):
        weights = weights * steps[actions[t]][paths[t], paths[t + 1]]
    expected = np.bincount(paths[3], weights) / weights.sum()
    np.testing.assert_allclose(model.localize(X, actions, slip=0.2).belief[-1], expected, atol=1e-12)


def test_without_actions_there_is_nothing_to_plan_with():
    model = Lattice().fit(["forward"] * 3)
    model.actions_ = as_actions(None, 4, trajectory=[0, 0, 0, 0])
    with pytest.raises(ValueError, match="has no action that was taken in training"):
        model.plan(0, 1)


@pytest.fixture(scope="module")
def robot():
    data = imagebot("A", view=24)
    return data, ActionRespectingEmbedding().fit(data.X, actions=data.factors["actions"])


def test_every_plan_of_the_image_robot_is_a_shortest_way(robot):
    """The robot's latent space is no lattice, and steps to the left were only tried on one line."""
    data, model = robot
    places = (data.factors["poses"][:, :2] / 25.0 * [1, -1]).round().astype(int)
    shortest = slow_distances(type("World", (), {"places": places}))
    for start in (12, 45):
        for goal in range(0, 46, 2):
            plan = model.plan(start, goal)
            here, there = tuple(places[start]), tuple(places[goal])
            assert after(here, plan) == there
            assert len(plan) == shortest[here][there]


def test_the_image_robot_finds_itself_without_its_start_and_despite_a_wrong_view(robot):
    data, model = robot
    X = data.X.copy()
    X[17] = X[0]
    found = model.localize(X, data.factors["actions"])
    np.testing.assert_array_equal(model.states_[found.rows], model.states_)
    assert found.belief[40].max() > 0.99


@pytest.mark.parametrize("metric", ["manhattan", "precomputed"])
def test_localization_follows_the_metric_of_the_model(robot, metric):
    data, _ = robot
    D = np.abs(data.X[:, None] - data.X).sum(axis=2)
    X = D if metric == "precomputed" else data.X
    model = ActionRespectingEmbedding(metric=metric).fit(X, actions=data.factors["actions"])
    found = model.localize(X, data.factors["actions"])
    np.testing.assert_array_equal(model.states_[found.rows], model.states_)
    assert model.plan(0, 3) == ["forward"] * 3
