"""The drive of the image robot: world and map, arrows by action, and the animation."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sidelight.datasets import Imagebot, imagebot
from sidelight.plot import action_arrows, drive, write_drive


@pytest.fixture(scope="module")
def data():
    return imagebot("F3 R2 B1 TL2 ZO1", view=16)


@pytest.fixture(scope="module")
def Z(data):
    return data.factors["poses"][:, :2] * [1.0, -1.0]


def arrows(ax):
    return {q.get_label(): len(q.U) for q in ax.collections if hasattr(q, "U")}


def test_a_drive_shows_the_world_some_views_and_the_map(data, Z):
    world, learned = drive(Z, data, Imagebot().picture, n_views=4)
    assert len(world.child_axes) == 4
    np.testing.assert_array_equal(world.child_axes[0].images[0].get_array(), data.images[0])
    left, right = world.get_xlim()
    assert left < data.factors["poses"][:, 0].min() - 8
    assert right > data.factors["poses"][:, 0].max() + 8
    assert arrows(learned) == {"forward": 3, "right": 2, "backward": 1, "turn left": 0, "zoom out": 0}


def test_no_arrow_leads_from_one_drive_to_the_next():
    ax = action_arrows(np.arange(8.0).reshape(4, 2), ["a", "a", "a", None], trajectory=[0, 0, 1, 1])
    assert arrows(ax) == {"a": 2}


def test_ways_there_and_back_are_drawn_beside_each_other():
    ax = action_arrows([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0]], ["there", "back", None])
    there, back = (q.XY[0, 1] for q in ax.collections if hasattr(q, "U"))
    assert there < 0.0 < back


def test_a_map_of_one_dimension_is_drawn_on_a_line():
    ax = action_arrows([[0.0], [1.0], [2.0]], ["a", "a", None])
    assert arrows(ax) == {"a": 2}


def test_given_axes_are_used(data, Z):
    axes = plt.subplots(1, 2)[1]
    assert drive(Z, data, Imagebot().picture, n_views=0, axes=axes) == tuple(axes)


def test_the_animation_has_a_frame_for_every_row_and_leaves_no_figure(data, Z, tmp_path):
    image = pytest.importorskip("PIL.Image")
    path = write_drive(Z[:4], data.take(slice(0, 4)), Imagebot().picture, tmp_path / "drive.gif")
    with image.open(path) as film:
        assert film.n_frames == 4
        assert film.info["duration"] == 200
    assert not plt.get_fignums()


def test_data_without_poses_and_actions_of_another_length_are_refused(data, Z):
    from sidelight.datasets import s_curve

    with pytest.raises(ValueError, match=r"drive: data=s_curve has no factor actions, poses, states, trajectory"):
        drive(Z, s_curve(10), Imagebot().picture)
    with pytest.raises(ValueError, match=r"action_arrows: actions=\(2,\) does not say what was done at each of 9"):
        action_arrows(Z[:9], ["a", None])
