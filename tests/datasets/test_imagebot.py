"""The image robot: poses that come back to the bit, views that are honest, paths that are what they are called."""

import numpy as np
import pytest

from sidelight.datasets import Imagebot, Pose, imagebot
from sidelight.datasets._imagebot import ACTIONS, PATHS, built_in_picture, parse_path

OPPOSITE = dict(zip(ACTIONS, [ACTIONS[k ^ 1] for k in range(8)], strict=True))


@pytest.fixture(scope="module")
def robot():
    return Imagebot(view=24)


def slow_view(picture, pose, view, fold):
    """A view by its definition, pixel by pixel and sample by sample; far from the edges."""
    seen = np.zeros((view, view))
    angle, scale = np.deg2rad(pose.angle), 2.0**pose.log_scale
    for v in range(view):
        for u in range(view):
            for below in range(fold):
                for beside in range(fold):
                    across = (u + (beside + 0.5) / fold - view / 2) * scale
                    down = (v + (below + 0.5) / fold - view / 2) * scale
                    x = pose.x + np.cos(angle) * across + np.sin(angle) * down - 0.5
                    y = pose.y - np.sin(angle) * across + np.cos(angle) * down - 0.5
                    column, row = int(np.floor(x)), int(np.floor(y))
                    a, b = x - column, y - row
                    upper = (1 - a) * picture[row, column] + a * picture[row, column + 1]
                    lower = (1 - a) * picture[row + 1, column] + a * picture[row + 1, column + 1]
                    seen[v, u] += ((1 - b) * upper + b * lower) / fold**2
    return seen


@pytest.mark.parametrize(
    "pose", [Pose(500.0, 400.0), Pose(500.3, 400.7, 22.5), Pose(500.0, 400.0, 300.0, 1.0)], ids=str
)
def test_a_view_agrees_with_its_definition_pixel_by_pixel(pose):
    robot = Imagebot(view=8)
    seen, slow = robot.observe(pose), slow_view(robot.picture, pose, 8, 2 if pose.log_scale else 1)
    # The view is taken from the nearest point of a lattice of 2^-10 pixels: on a sharp edge that shows a little.
    np.testing.assert_allclose(seen, slow, atol=2e-3)


def test_at_scale_one_and_whole_pixels_the_view_is_a_piece_of_the_picture(robot):
    seen = robot.observe(Pose(300.0, 200.0))
    np.testing.assert_array_equal(seen, robot.picture[188:212, 288:312])
    turned = robot.observe(Pose(300.0, 200.0, 90.0))
    np.testing.assert_array_equal(turned, np.rot90(robot.picture[188:212, 288:312], -1))


def test_zooming_out_twofold_averages_two_by_two_pixels(robot):
    seen = robot.observe(Pose(300.0, 200.0, 0.0, 1.0))
    blocks = robot.picture[176:224, 276:324].reshape(24, 2, 24, 2)
    np.testing.assert_allclose(seen, blocks.mean(axis=(1, 3)), atol=1e-12)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("pose", [Pose(300.0, 200.0), Pose(311.13, 222.7, 67.5, 0.375), Pose(9.1, 8.2, 213.7, -1.3)])
def test_an_action_and_its_opposite_return_to_the_bit(robot, action, pose):
    pose = robot.act(pose, "forward")
    there = robot.act(pose, action)
    assert there != pose
    assert robot.act(there, OPPOSITE[action]) == pose


def test_sixteen_steps_around_a_circle_close_to_the_bit(robot):
    pose = robot.start
    for _ in range(16):
        pose = robot.act(robot.act(pose, "forward"), "turn left")
    assert pose == robot.start


def test_moves_go_where_the_robot_faces_and_further_when_zoomed_out(robot):
    facing_right = Pose(100.0, 100.0)
    assert robot.act(facing_right, "forward") == Pose(125.0, 100.0)
    assert robot.act(facing_right, "left") == Pose(100.0, 75.0)
    up = facing_right
    for _ in range(4):
        up = robot.act(up, "turn left")
    assert robot.act(up, "forward") == Pose(100.0, 75.0, 90.0)
    assert robot.act(up, "right") == Pose(125.0, 100.0, 90.0)
    assert robot.act(Pose(100.0, 100.0, 0.0, 1.0), "forward") == Pose(150.0, 100.0, 0.0, 1.0)


def test_equal_poses_are_one_state_and_bit_identical_views():
    data = imagebot("zoom", view=24)
    states, X = data.factors["states"], data.X
    assert states[0] == 0
    assert np.all(np.diff(np.maximum.accumulate(states)) <= 1)
    for state in np.unique(states):
        rows = np.flatnonzero(states == state)
        assert np.all(X[rows] == X[rows[0]])
    assert len(np.unique(X, axis=0)) == states.max() + 1


def test_two_small_steps_and_one_double_step_at_twice_the_scale_are_one_place():
    states = imagebot("F2 ZO8 B1 ZI8 F2", view=12).factors["states"]
    assert states[19] == states[0]
    assert states[-1] == states[2]


@pytest.mark.parametrize(
    ("path", "n_actions", "n_states", "kinds"),
    [
        ("line", 60, 41, 2),
        ("line-double-back", 60, 41, 2),
        ("rotation", 24, 16, 2),
        ("A", 45, 24, 4),
        ("A-single", 28, 24, 4),
        ("zoom", 45, 25, 4),
    ],
)
def test_named_paths_have_their_length_and_places(path, n_actions, n_states, kinds):
    data = imagebot(path, view=12)
    actions, states = data.factors["actions"], data.factors["states"]
    assert (len(data.X), states.max() + 1) == (n_actions + 1, n_states)
    assert actions[-1] is None
    assert len(set(actions[:-1])) == kinds
    assert data.factors["poses"].shape == (n_actions + 1, 4)
    assert not data.factors["trajectory"].any()


def test_back_twice_as_far_returns_to_the_start():
    states = imagebot("line-double-back", view=12).factors["states"]
    assert states[-1] == states[0]
    assert imagebot("line", view=12).factors["states"][-1] == 20


def test_gain_makes_one_action_go_further():
    robot = Imagebot(view=8, gain={"turn left": 3.0})
    assert robot.act(robot.start, "turn left").angle == 67.5
    assert robot.act(robot.start, "turn right").angle == 337.5


def test_noise_has_its_size_stays_in_range_and_follows_its_seed():
    clean = imagebot("A", view=24)
    noisy, again = (imagebot("A", view=24, noise=0.03, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(noisy.X, again.X)
    inner = (clean.X > 0.15) & (clean.X < 0.85)
    assert (noisy.X - clean.X)[inner].std() == pytest.approx(0.03, rel=0.03)
    assert noisy.X.min() >= 0.0
    assert noisy.X.max() <= 1.0
    assert np.any(noisy.X != imagebot("A", view=24, noise=0.03, random_state=4).X)


def test_a_small_picture_is_tiled_by_reflection_and_the_world_goes_on_as_a_mirror():
    small = np.random.RandomState(0).randint(0, 256, size=(40, 70)).astype(np.uint8)
    robot = Imagebot(small, view=10)
    assert robot.picture.shape == (1536, 2048)
    np.testing.assert_array_equal(robot.picture[:40, 70:140], small[:, ::-1] / 255)
    np.testing.assert_array_equal(robot.picture[40:80, :70], small[::-1] / 255)
    np.testing.assert_array_equal(robot.observe(Pose(-5.0, 5.0)), robot.observe(Pose(5.0, 5.0))[:, ::-1])


@pytest.mark.thorough
def test_a_large_picture_is_taken_as_it_is():
    large = np.random.RandomState(0).uniform(size=(1600, 2100))
    np.testing.assert_array_equal(Imagebot(large).picture, large)


def test_the_built_in_picture_is_rich_everywhere_and_cannot_be_written_to():
    picture = built_in_picture()
    windows = picture[:1500, :2000].reshape(15, 100, 20, 100).std(axis=(1, 3))
    assert windows.min() > 0.03
    assert not picture.flags.writeable


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("F2 tr", ["forward", "forward", "turn right"]),
        ("zo2,B", ["zoom out", "zoom out", "backward"]),
        ("F1ZI2", ["forward", "zoom in", "zoom in"]),
        (["left", "turn left"], ["left", "turn left"]),
        ("", []),
    ],
)
def test_paths_are_read_from_letters_and_names(path, names):
    assert parse_path(path) == names


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: imagebot("F2 X3"), r"imagebot: path=F2 X3 is neither a known path"),
        (lambda: imagebot("3F"), r"is neither a known path"),
        (lambda: imagebot(["jump"]), r"Imagebot: action=jump is not an action of the robot"),
        (lambda: Imagebot(np.ones((2, 2, 3))), r"picture=\(2, 2, 3\) is not a \(height, width\) array"),
        (lambda: Imagebot(np.array([[0.5, 7.0]])), r"picture=\(1, 2\) is not"),
        (lambda: Imagebot(np.array([[0.5, np.nan]])), r"picture=\(1, 2\) is not"),
        (lambda: Imagebot(zoom=0.5), r"zoom=0.5 is not a factor from 1"),
        (lambda: Imagebot(view=0), r"view=0 is not a whole number"),
        (lambda: Imagebot(gain={"jump": 2.0}), r"action=jump"),
        (lambda: Imagebot(gain={"left": -1.0}), r"left=-1.0 is not a finite number"),
    ],
)
def test_wrong_arguments_give_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_determined_paths_walk_inverse_pairs_over_shared_places():
    for path in ("A", "zoom"):
        data = imagebot(PATHS[path], view=12)
        states, actions = data.factors["states"], data.factors["actions"]
        steps = set(zip(states[:-1], actions[:-1], states[1:], strict=True))
        for action in set(actions[:-1]):
            assert any((end, OPPOSITE[action], start) in steps for start, name, end in steps if name == action)
