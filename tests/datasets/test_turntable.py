"""The rendered turntable: geometry against a slow reference, and views that turn smoothly and differ."""

import numpy as np
import pytest

from sidelight.datasets import turntable
from sidelight.datasets._objects import OBJECTS, TABLE
from sidelight.datasets._solids import ball, blocked, box, cylinder, ellipsoid, first_hit, wedge


@pytest.fixture(scope="module")
def views():
    return turntable(72, objects=list(OBJECTS), size=24)


def inside(solid, points):
    """Slow obvious membership test of points (3, n)."""
    ok = np.ones(points.shape[1], dtype=bool)
    for normal, offset in zip(solid.normals, solid.offsets, strict=True):
        ok &= normal @ points <= offset
    if solid.quadric is not None:
        shifted = points - solid.middle[:, None]
        ok &= np.sum(shifted * (solid.quadric @ shifted), axis=0) <= 1.0
    if solid.hole is not None:
        ok &= ~inside(solid.hole, points)
    return ok


def random_rays(n, seed=0):
    random = np.random.RandomState(seed)
    origin = random.standard_normal((3, n))
    origin *= 4.0 / np.linalg.norm(origin, axis=0)
    toward = random.uniform(-0.9, 0.9, size=(3, n)) - origin
    return origin, toward / np.linalg.norm(toward, axis=0)


HOLLOW = cylinder(0.5, (0, 0, -0.8), (0, 0, 0.8), 0.9, hole=cylinder(0.0, (0, 0, -0.5), (0, 0, 2.0), 0.7))
SOLIDS = {
    "ball": ball(0.5, (0.2, 0.1, 0.0), 0.8),
    "ellipsoid": ellipsoid(0.5, (0.0, 0.1, 0.0), (0.9, 0.4, 0.6), tilt=30),
    "box": box(0.5, (-0.5, 0.7), (-0.3, 0.6), (-0.8, 0.2)),
    "wedge": wedge(0.5, (-0.5, 0.5), (-1.0, 1.0, -0.6, 0.6), (-0.3, 0.6, -0.2, 0.4)),
    "cylinder": cylinder(0.5, (-0.5, 0, -0.2), (0.6, 0.4, 0.5), 0.4),
    "hollow": HOLLOW,
}


@pytest.mark.parametrize("name", SOLIDS)
def test_first_hit_agrees_with_marching_along_the_ray(name):
    solid = SOLIDS[name]
    origin, direction = random_rays(60)
    hit = first_hit([solid], origin, direction)
    steps = np.linspace(0.0, 8.0, 8001)
    met = 0
    for i in range(60):
        marched = inside(solid, origin[:, [i]] + steps * direction[:, [i]])
        expected = steps[marched.argmax()] if marched.any() else np.inf
        assert hit.distance[i] == pytest.approx(expected, abs=2e-3)
        met += marched.any()
    assert 10 < met < 60


@pytest.mark.parametrize("name", SOLIDS)
def test_normals_are_unit_face_the_ray_and_point_out_of_the_solid(name):
    solid = SOLIDS[name]
    origin, direction = random_rays(400, seed=1)
    hit = first_hit([solid], origin, direction)
    met = np.isfinite(hit.distance)
    points = origin[:, met] + hit.distance[met] * direction[:, met]
    normal = hit.normal[:, met]
    np.testing.assert_allclose(np.linalg.norm(normal, axis=0), 1.0, atol=1e-9)
    assert ((normal * direction[:, met]).sum(axis=0) < 1e-9).all()
    assert not inside(solid, points + 1e-5 * normal).any()
    assert inside(solid, points - 1e-5 * normal).mean() > 0.99


def test_nearer_solid_hides_the_farther_one_and_shadows_it():
    near, far = ball(0.9, (0, 0, 2.0), 0.5), ball(0.1, (0, 0, 0.0), 0.5)
    origin, down = np.array([[0.0], [0.0], [5.0]]), np.array([[0.0], [0.0], [-1.0]])
    hit = first_hit([far, near], origin, down)
    assert hit.albedo[0] == 0.9
    assert hit.distance[0] == pytest.approx(2.5)
    top_of_far = np.array([[0.0], [0.0], [0.51]])
    assert blocked([near], top_of_far, -down).all()
    assert not blocked([near], top_of_far, np.array([[1.0], [0.0], [0.0]])).any()


@pytest.mark.thorough
def test_rows_are_pictures_in_the_unit_interval_with_their_factors(views):
    assert views.X.shape == (5 * 72, 24 * 24)
    assert views.image_shape == (24, 24)
    assert 0.0 <= views.X.min() < 0.1
    assert 0.85 < views.X.max() <= 1.0
    assert views.factors["object"].tolist()[::72] == list(OBJECTS)
    np.testing.assert_array_equal(views.factors["angle"][:72], np.arange(0.0, 360.0, 5.0))
    np.testing.assert_array_equal(views.factors["object_index"], np.repeat(np.arange(5), 72))


@pytest.mark.parametrize("name", OBJECTS)
def test_all_views_of_an_object_differ_and_turn_smoothly_through_the_full_circle(views, name):
    X = views.X[views.factors["object"] == name]
    distance = np.linalg.norm(X[:, None] - X[None], axis=2)
    step = np.linalg.norm(X - np.roll(X, -1, axis=0), axis=1)
    others = distance[~np.eye(72, dtype=bool)]
    assert others.min() > 0.15
    assert step.max() < 0.75 * distance.max()
    ring = np.minimum(*(np.abs(np.arange(72)[:, None] - np.arange(72)[None]) % 72,) * 2)
    ring = np.minimum(ring, 72 - ring)
    assert step.mean() < 0.6 * distance[ring > 9].mean()


@pytest.mark.thorough
def test_every_views_nearest_neighbour_is_the_same_object(views):
    squared = ((views.X[:, None, ::3] - views.X[None, :, ::3]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    index = views.factors["object_index"]
    assert (index[squared.argmin(axis=1)] == index).all()


@pytest.mark.thorough
def test_nearly_all_views_have_a_neighbouring_view_nearest():
    data = turntable(72)
    hits = []
    for index in range(3):
        X = data.X[data.factors["object_index"] == index]
        squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        np.fill_diagonal(squared, np.inf)
        gap = np.abs(squared.argmin(axis=1) - np.arange(72))
        hits.append(np.minimum(gap, 72 - gap) == 1)
    assert np.mean(hits) > 0.97


def test_views_do_not_depend_on_how_many_are_rendered_together():
    few, many = turntable(4, objects=["mug"], size=20), turntable(8, objects=["mug"], size=20)
    np.testing.assert_array_equal(few.X, many.X[::2])


def test_same_call_gives_the_same_bytes_and_noise_follows_the_seed():
    assert turntable(3, size=12).X.tobytes() == turntable(3, size=12, random_state=5).X.tobytes()
    noisy = [turntable(3, size=12, noise=0.1, random_state=seed).X for seed in (0, 0, 1)]
    np.testing.assert_array_equal(noisy[0], noisy[1])
    assert not np.array_equal(noisy[0], noisy[2])
    assert noisy[0].min() >= 0.0
    assert noisy[0].max() <= 1.0


def test_the_bare_table_is_round():
    origin, direction = random_rays(50)
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    plain, turned = first_hit([TABLE], origin, direction), first_hit([TABLE], turn @ origin, turn @ direction)
    np.testing.assert_allclose(plain.distance, turned.distance)


@pytest.mark.parametrize("bad", [[], ["cat"], ["car", "car"], "boat"])
def test_unknown_objects_get_a_sentence_that_lists_the_known_ones(bad):
    with pytest.raises(ValueError, match=r"turntable: objects=.*Choose from car, duck, mug, chair, teapot"):
        turntable(2, objects=bad)
