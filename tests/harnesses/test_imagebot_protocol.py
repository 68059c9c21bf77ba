"""What the reproductions ask of the image robot: which queries there are, and ways of answering them."""

import numpy as np
import pytest

from reproductions.imagebot_plans import World, _follow, _plans, _walk
from reproductions.imagebot_protocol import by_distances, by_linear_maps, queries, respecting, true_results
from reproductions.robot_wifi import aligned, errors
from sidelight.datasets import imagebot


@pytest.fixture(scope="module")
def line():
    return imagebot("F4 B2", view=8)


def test_queries_are_all_pairs_with_a_known_result_less_what_was_done_there(line):
    """Rows at 0 1 2 3 4 3 2; forward is done at the first four, backward at the next two."""
    asked = queries(line, "F4 B2")
    found = set(zip(asked.rows.tolist(), asked.actions.tolist(), asked.results.tolist(), strict=True))
    forward = {(5, "forward", 4), (6, "forward", 3)}
    backward = {(1, "backward", 0), (2, "backward", 1), (3, "backward", 2), (6, "backward", 1)}
    assert found == forward | backward
    fresh = {(row, action) for row, action, new in zip(asked.rows, asked.actions, asked.fresh, strict=True) if new}
    assert fresh == {(1, "backward"), (2, "backward"), (6, "backward")}


def test_results_follow_the_world_with_its_longer_steps_back():
    data = imagebot("line-double-back", view=8)
    results = true_results(data, "line-double-back")
    assert results["backward"][:4].tolist() == [-1, -1, 0, 1]
    assert results["forward"][[0, 39, 40]].tolist() == [1, 40, -1]


@pytest.mark.parametrize("way", [by_distances, by_linear_maps])
def test_on_the_true_places_every_answer_is_right(line, way):
    Z = line.factors["poses"][:, :2]
    assert queries(line, "F4 B2").accuracy(line.factors["states"], way(Z, line.factors["actions"])) == 1.0


def test_the_number_of_queries_is_near_the_sources():
    """Table 4.2's percentages are of 59, 57, 25, 48 and 36 queries; paths of the same kind have about as many."""
    counts = [len(queries(imagebot(path, view=4), path).rows) for path in ("line", "line-double-back", "rotation", "A")]
    assert counts == [60, 58, 26, 50]


@pytest.fixture(scope="module")
def world():
    data = imagebot("A", view=20)
    results = true_results(data, "A")
    first = np.unique(data.factors["states"], return_index=True)[1]
    return World(data, respecting(data), list(results), np.stack(list(results.values())), first)


def test_plans_are_judged_in_the_true_world(world):
    optimal, by_known, reaching = _plans(world, every=8)
    assert optimal == reaching == 1.0
    assert 0.4 < by_known < 0.9
    assert _follow(world, 0, ["backward", "forward"]) == -1


def test_walks_know_the_truth_that_they_are_judged_by(world):
    found = _walk(world, np.random.default_rng(0), 0.0)
    assert {way: len(errors) for way, errors in found.items()} == dict.fromkeys(found, 41)
    assert found["dead reckoning"][0] == 0.0
    wrong = (found["nearest view"] > 0).mean()
    assert 0.0 < wrong < 0.3


def test_positions_are_aligned_on_every_other_row_and_judged_on_the_rest():
    places = np.random.RandomState(0).standard_normal((20, 2))
    Z = places @ np.array([[2.0, 1.0], [0.0, -1.0]]) + 3.0
    np.testing.assert_allclose(aligned(Z, places), places, atol=1e-12)
    moved = Z.copy()
    moved[1] += 1.0
    assert errors(moved, places).shape == (10,)
    assert np.flatnonzero(errors(moved, places) > 1e-9).tolist() == [0]
