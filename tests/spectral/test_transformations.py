from __future__ import annotations

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter, rotate
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree, shortest_path
from scipy.stats import spearmanr

import sidelight
from sidelight import HybridEmbedding, ReconstructionDistance, TangentDistance
from sidelight.datasets import load_digits, shifted_digits
from sidelight.evaluate import neighbour_hit
from sidelight.spectral._transformations import (
    filter_neighbours,
    filtered,
    orthonormal,
    rotated,
    shifted,
    squared_sines,
    tangents,
)

SHAPE = (7, 9)
X = np.random.default_rng(0).normal(size=(12, 63))


def test_shift_wraps_and_interpolates():
    moved = shifted(X, 2, SHAPE).reshape(-1, *SHAPE)
    np.testing.assert_array_equal(moved[:, :, 2:], X.reshape(-1, *SHAPE)[:, :, :-2])
    np.testing.assert_array_equal(moved[:, :, :2], X.reshape(-1, *SHAPE)[:, :, -2:])
    np.testing.assert_allclose(shifted(X, 0.25, SHAPE), 0.75 * X + 0.25 * shifted(X, 1, SHAPE))
    np.testing.assert_allclose(shifted(X, -1, SHAPE), shifted(X, 8, SHAPE))


def test_rotation_by_a_right_angle_moves_whole_pixels():
    squares = X[:, :49]
    turned = rotated(squares, 90, (7, 7)).reshape(-1, 7, 7)
    np.testing.assert_allclose(turned, np.rot90(squares.reshape(-1, 7, 7), axes=(1, 2)), atol=1e-12)


@pytest.mark.parametrize("degrees", [10.0, -37.0])
def test_rotation_is_that_of_scipy_inside_the_picture(degrees):
    smooth = np.exp(-((np.indices((31, 31)) - 15 - np.array([2, 5])[:, None, None]) ** 2).sum(axis=0) / 20)
    ours = rotated(smooth.reshape(1, -1), degrees, (31, 31))[0].reshape(31, 31)
    inside = ((np.indices((31, 31)) - 15) ** 2).sum(axis=0) < 14**2  # at the edge scipy takes all or nothing
    np.testing.assert_allclose(ours[inside], rotate(smooth, degrees, reshape=False, order=1)[inside], atol=1e-10)


def test_tangents_are_derivatives():
    found = tangents(X, lambda rows, theta: rows * (1 + theta[0]) + 3 * theta[1], [1e-3, 1e-3])
    np.testing.assert_allclose(found[:, 0], X, atol=1e-9)
    np.testing.assert_allclose(found[:, 1], 3, atol=1e-9)


def test_angles_between_spans_are_those_of_the_definition():
    rng = np.random.default_rng(1)
    P, Q = orthonormal(rng.normal(size=(5, 2, 8))), orthonormal(rng.normal(size=(4, 2, 8)))
    found = squared_sines(P, Q, n_jobs=2)
    for i in range(5):
        for j in range(4):
            cosines = np.linalg.svd(P[i] @ Q[j].T, compute_uv=False)
            assert found[i, j] == pytest.approx(np.mean(1 - cosines**2))
    np.testing.assert_allclose(P @ P.transpose(0, 2, 1), np.broadcast_to(np.eye(2), (5, 2, 2)), atol=1e-10)


def test_a_tangent_that_vanishes_is_at_a_right_angle_to_all_others():
    blank = np.vstack([np.ones(63), X[:2]])
    D = TangentDistance("shift", image_shape=SHAPE)(blank)
    np.testing.assert_allclose(D[0, 1:], 1)
    np.testing.assert_array_equal(np.diag(D), 0)


def test_the_local_filter_finds_the_shift_to_the_nearest_row():
    pair = np.vstack([X[0], shifted(X[:1], 1, SHAPE)[0], 100 * X[2:3]])
    np.testing.assert_allclose(filtered(pair, SHAPE, 3)[0], pair[1], atol=1e-5)


def test_the_best_filter_of_each_pair_leaves_what_least_squares_leaves():
    found = filter_neighbours(X, SHAPE, 3, k=11)
    images = X.reshape(-1, *SHAPE)
    moved = [np.roll(images[0], (dy, dx), axis=(0, 1)).ravel() for dy in (-1, 0, 1) for dx in (-1, 0, 1)]
    A = np.stack(moved, axis=1)
    for j, error in zip(found.index[0], found.distance[0], strict=True):
        theta = np.linalg.lstsq(A, X[j], rcond=None)[0]
        assert error == pytest.approx(np.linalg.norm(A @ theta - X[j]))


def test_distance_to_other_rows_is_the_part_of_the_whole():
    distance = TangentDistance("shift", image_shape=SHAPE)
    np.testing.assert_allclose(distance(X[:5], X[5:]), distance(X)[:5, 5:], atol=1e-9)


def test_a_chain_of_shifts_has_no_length():
    data = shifted_digits(n_shifts=6)
    D = ReconstructionDistance("shift", image_shape=data.image_shape)(data.X)
    same = data.factors["digit"][:, None] == data.factors["digit"]
    assert D[same].max() < 1e-6
    assert D[~same].min() > 1.0
    np.testing.assert_allclose(D, D.T, atol=1e-12)


def test_reconstruction_distance_is_that_of_shortest_paths_over_all_pairs():
    data = shifted_digits((1, 7), n_shifts=4)
    rows = data.X + 0.01 * np.random.default_rng(0).normal(size=data.X.shape)
    D = ReconstructionDistance("shift", image_shape=data.image_shape, n_neighbors=8)(rows)
    moved = [np.roll(rows.reshape(-1, *data.image_shape), step, axis=2).reshape(rows.shape) for step in (-1, 1)]
    edges = np.min([np.linalg.norm(m[:, None] - rows[None], axis=2) for m in moved], axis=0)
    np.fill_diagonal(edges, 0)
    np.testing.assert_allclose(D, shortest_path(np.minimum(edges, edges.T), directed=False), rtol=1e-9)


def test_transformations_of_ones_own_with_two_parameters():
    def scaled(rows, theta):
        return rows * (1 + theta[0]) + theta[1]

    tangent = TangentDistance(scaled, step=(0.1, 0.1))
    assert tangent.tangents(X).shape == (12, 2, 63)
    assert tangent(X).shape == (12, 12)
    family = np.vstack([X[0], 1.1 * X[0] + 0.1, X[1]])
    D = ReconstructionDistance(scaled, parameters=[(0.1, 0.1), (0.2, 0.0)])(family)
    assert D[0, 1] < 1e-9 < D[0, 2]


def test_tangents_are_those_of_smoothed_pictures():
    blurred = gaussian_filter(X.reshape(-1, *SHAPE), (0, 2.0, 2.0), mode="nearest").reshape(X.shape)
    plain = TangentDistance("shift", image_shape=SHAPE, smoothing=0)
    np.testing.assert_allclose(
        TangentDistance("shift", image_shape=SHAPE, smoothing=2.0).tangents(X), plain.tangents(blurred), atol=1e-12
    )
    np.testing.assert_array_equal(plain.tangents(X), tangents(X, lambda rows, theta: shifted(rows, theta, SHAPE), [1]))


def test_smoothing_grows_with_the_picture_and_leaves_lines_of_values_alone():
    large = X.reshape(-1, *SHAPE).repeat(4, axis=1).repeat(4, axis=2).reshape(12, -1)
    shape = (28, 36)
    found, given = (TangentDistance("shift", image_shape=shape, smoothing=s).tangents(large) for s in ("auto", 4.0))
    np.testing.assert_array_equal(found, given)
    moving = TangentDistance("shift", image_shape=shape, paths=True, parameters=(-1, 1))
    np.testing.assert_array_equal(
        moving.tangents(large), TangentDistance("shift", image_shape=shape, smoothing=1.0).tangents(large)
    )
    np.testing.assert_array_equal(
        TangentDistance("shift").tangents(X), TangentDistance("shift", smoothing=0).tangents(X)
    )


def test_smoothing_keeps_the_tangents_of_a_moved_picture_alike():
    data = shifted_digits((5,), n_shifts=5)
    sharp, smooth = (TangentDistance("shift", image_shape=data.image_shape, smoothing=s)(data.X) for s in (0, "auto"))
    assert sharp[0, 1] > 0.7
    assert smooth[0, 1] < 0.4


@pytest.mark.parametrize("moves", [None, (-1, 2)])
def test_tangent_paths_are_shortest_sums_of_squared_sines(moves):
    distance = TangentDistance("shift", image_shape=SHAPE, smoothing=0, paths=True, parameters=moves, n_neighbors=11)
    basis = orthonormal(distance.tangents(X))
    moved = [orthonormal(distance.tangents(shifted(X, theta, SHAPE))) for theta in moves or ()]
    edges = np.min([squared_sines(P, basis) for P in (basis, *moved)], axis=0)
    np.fill_diagonal(edges, 0)
    np.testing.assert_allclose(distance(X), shortest_path(np.minimum(edges, edges.T), directed=False), rtol=1e-9)


def test_tangent_paths_join_pieces_by_their_smallest_angle():
    distance = TangentDistance("shift", image_shape=SHAPE, smoothing=0, paths=True, n_neighbors=1)
    graph = distance.graph(X)
    assert connected_components(graph, directed=False)[0] == 1
    basis = orthonormal(distance.tangents(X))
    squares = squared_sines(basis, basis)
    np.fill_diagonal(squares, 0)
    tree = minimum_spanning_tree(squares)
    np.testing.assert_allclose(np.sort(graph.data)[::2], np.sort(tree.data), rtol=1e-9)


@pytest.mark.parametrize("transformation", ["shift", "local"])
def test_tangent_paths_show_digit_and_shift(transformation):
    data = load_digits()
    first = [int(np.flatnonzero(data.factors["label"] == digit)[0]) for digit in (5, 6, 8)]
    moved = shifted_digits(pictures=data.images[first].repeat(3, axis=1).repeat(3, axis=2))
    distance = TangentDistance(transformation, image_shape=moved.image_shape, paths=True)
    hit, order = hit_and_order(distance, moved, n_neighbors=8, alpha=0.2)
    assert hit == 1.0
    assert order > 0.95


def test_tangents_of_moved_rows_bridge_wide_steps():
    data = shifted_digits(step=2)
    moving = TangentDistance("shift", image_shape=data.image_shape, paths=True, parameters=(-2, 2))
    hit, order = hit_and_order(moving, data, n_neighbors=5, alpha=0.6)
    assert hit == 1.0
    assert order > 0.9
    still = TangentDistance("shift", image_shape=data.image_shape, paths=True)
    assert hit_and_order(still, data, n_neighbors=5, alpha=0.6)[0] < 0.7


def hit_and_order(distance, data, **settings):
    Z = HybridEmbedding(metric=distance, graph="union", **settings).fit_transform(data.X)
    shift = data.factors["shift"]
    direction = np.linalg.lstsq(Z - Z.mean(axis=0), shift - shift.mean(), rcond=None)[0]
    return neighbour_hit(Z, data.factors["digit"], n_neighbors=1), abs(spearmanr(Z @ direction, shift)[0])


def test_only_tangents_that_follow_paths_have_a_graph():
    assert hasattr(TangentDistance(paths=True), "graph")
    assert not hasattr(TangentDistance(), "graph")


def test_general_vectors_are_lines_of_values():
    line = ReconstructionDistance("shift")(np.eye(6)[:4])
    np.testing.assert_allclose(line, 0, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: TangentDistance("warp")(X), "TangentDistance: transformation=warp is not an option"),
        (lambda: TangentDistance("shift", image_shape=(5, 5))(X), r"image_shape=\(5, 5\) does not have as many pixels"),
        (lambda: TangentDistance("shift", step=0.0)(X), "step=0.0 is not a number in range"),
        (lambda: TangentDistance("shift", smoothing="some")(X), "smoothing=some is not an option"),
        (lambda: TangentDistance("shift", image_shape=SHAPE, smoothing=-1)(X), "smoothing=-1 is not a number in range"),
        (lambda: TangentDistance("shift", smoothing=2.0)(X), "smoothing=2.0 needs pictures. Give image_shape"),
        (lambda: TangentDistance(paths=True)(X, X), "paths=True follows paths among the rows of one array"),
        (lambda: TangentDistance(paths=True, parameters=(1,))(X), "transformation=local moves rows by a filter"),
        (lambda: TangentDistance(paths=True, n_neighbors=0)(X), "n_neighbors=0 is not an integer in range"),
        (lambda: TangentDistance("local", size=1)(X), "size=1 is not an integer in range"),
        (lambda: TangentDistance(lambda rows, t: rows[:, :3])(X), "Return finite rows, one for each"),
        (
            lambda: ReconstructionDistance(lambda rows, t: rows)(X),
            "parameters=None has no default for a callable transformation",
        ),
        (lambda: ReconstructionDistance(n_neighbors=0)(X), "n_neighbors=0 is not an integer in range"),
    ],
)
def test_what_cannot_be_done_is_said(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    "distance",
    [
        TangentDistance("local", image_shape=SHAPE),
        TangentDistance("shift", image_shape=SHAPE, paths=True, parameters=(-1, 1)),
        ReconstructionDistance("local"),
    ],
)
def test_a_model_with_a_transformation_is_saved_with_it(distance, tmp_path):
    model = HybridEmbedding(metric=distance, n_neighbors=4).fit(X)
    sidelight.save(model, tmp_path / "model")
    loaded = sidelight.load(tmp_path / "model")
    assert loaded.metric == distance
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))
