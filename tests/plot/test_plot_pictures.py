"""What each picture shows."""

import itertools

import numpy as np
import pytest
from matplotlib.colors import to_hex

from sidelight import TwoWayEmbedding, plot
from sidelight.plot._annealing import path_of
from sidelight.plot._plane import plane_of, presence
from sidelight.plot.placement import place_apart


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_scatter_places_points_where_they_are(model):
    ax = plot.scatter(model)
    np.testing.assert_allclose(ax.collections[0].get_offsets(), model.embedding_)


def test_scatter_gives_every_category_its_own_look():
    labels = np.arange(40) % 10
    ax = plot.scatter(np.random.default_rng(0).normal(size=(40, 2)), labels=labels)
    looks = {(to_hex(drawn.get_facecolor()[0]), drawn.get_paths()[0].vertices.tobytes()) for drawn in ax.collections}
    assert legend_of(ax) == [str(k) for k in range(10)]
    assert len(looks) == 10


def test_scatter_of_numbers_has_a_colour_bar_and_missing_values_in_grey():
    colour = np.linspace(0.0, 1.0, 30)
    colour[:3] = np.nan
    ax = plot.scatter(np.random.default_rng(0).normal(size=(30, 2)), colour=colour, name="height")
    (bar,) = ax.child_axes
    missing, known = ax.collections[:2]
    assert bar.get_ylabel() == "height"
    assert legend_of(ax) == ["missing"]
    assert len(missing.get_offsets()) == 3
    assert len({to_hex(missing.get_facecolor()[0])[k : k + 2] for k in (1, 3, 5)}) == 1
    assert known.get_clim() == (colour[3], 1.0)


def test_scatter_refuses_two_colours_at_once():
    with pytest.raises(ValueError, match=r"scatter: labels=array is given together with colour"):
        plot.scatter(np.zeros((2, 2)), colour=[1, 2], labels=[1, 2])


def test_density_shows_the_models_density(model):
    ax = plot.density(model, resolution=40, points=False)
    picture = ax.images[0]
    lattice = plane_of(model.embedding_, margin=0.12).lattice(40)
    expected = np.exp(model.latent_log_density(lattice.points)).reshape(lattice.rows, lattice.columns)
    np.testing.assert_allclose(picture.get_array(), expected)
    assert picture.origin == "upper"


def test_density_is_highest_at_the_upper_left_when_the_rows_are_there():
    Z = np.vstack([np.random.default_rng(0).normal(size=(50, 2)) * 0.1 + [-3, 3], [[3.0, -3.0], [3.0, 3.0]]])
    model = TwoWayEmbedding().fit(np.hstack([Z, Z**2]), embedding=Z)
    shade = np.asarray(plot.density(model, resolution=30).images[0].get_array())
    row, column = np.unravel_index(np.argmax(shade), shade.shape)
    assert row < len(shade) / 3
    assert column < shade.shape[1] / 3


def test_forward_grid_of_pictures_is_a_mosaic_of_the_forward_map(model, views):
    ax = plot.forward_grid(model, image_shape=views.image_shape, n=6)
    mosaic = np.asarray(ax.images[0].get_array())
    plane = plane_of(model.embedding_)
    lattice = plane.lattice(6, views.image_shape)
    share = presence(model, lattice.points, plane.Z)
    rows = model.inverse_transform(lattice.points)
    scaled = (rows - rows.min()) / (rows.max() - rows.min())
    k = int(np.argmax(share))
    row, column = divmod(k, lattice.columns)
    height, width = (side // n for side, n in zip(mosaic.shape[:2], (lattice.rows, lattice.columns), strict=True))
    cell = mosaic[row * height : row * height + 12, column * width : column * width + 12]
    np.testing.assert_allclose(cell[..., 0], 255 * scaled[k].reshape(12, 12), atol=0.51)
    assert (cell[..., 3] == 255).all()


def test_forward_grid_is_blank_far_from_the_data():
    turn = np.linspace(0.0, 2 * np.pi, 200)
    ring = 10 * np.column_stack([np.cos(turn), np.sin(turn)])
    model = TwoWayEmbedding().fit(np.hstack([ring, ring**2]), embedding=ring)
    mosaic = np.asarray(plot.forward_grid(model, image_shape=(2, 2), n=9).images[0].get_array())
    middle = mosaic[mosaic.shape[0] // 2, mosaic.shape[1] // 2]
    assert middle[3] == 0
    assert mosaic[..., 3].max() == 255


@pytest.mark.parametrize(("features", "kind"), [(6, "bars: its 6 features"), (40, "a line: its 40 features")])
def test_forward_grid_of_tables_says_what_its_profiles_are(features, kind):
    X = np.random.default_rng(0).normal(size=(50, features))
    ax = plot.forward_grid(TwoWayEmbedding().fit(X), n=5)
    assert kind in ax.get_title()
    assert len(ax.collections) == 1


def test_wrong_image_shape_gets_a_sentence(model):
    with pytest.raises(ValueError, match=r"image_shape=\(5, 5\) has 25 pixels, but a row has 144 values"):
        plot.forward_grid(model, image_shape=(5, 5))


def test_path_draws_objective_and_terms_and_marks_every_stage(model):
    ax = plot.path(model)
    history = model.history_
    assert legend_of(ax) == ["objective", *history[0]["terms"]]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [record["objective"] for record in history])
    marks = [text.get_text() for text in ax.texts]
    stages = {record["stage"]: record["regularization"] for record in history}
    assert marks == [f"λ = {value:.3g}" for value in stages.values()]


def test_path_stages_cover_all_iterations(model):
    stages = path_of(model).stages
    assert stages[0].start == 0
    assert stages[-1].stop == len(model.history_)
    assert all(a.stop == b.start for a, b in itertools.pairwise(stages))


def test_path_of_a_model_without_history_gets_a_sentence(table_model):
    with pytest.raises(ValueError, match="path: model=TwoWayEmbedding has no history_"):
        plot.path(table_model)


def test_thumbnails_do_not_overlap_and_stay_at_their_rows(model, views):
    ax = plot.thumbnails(model, views.images, n=20)
    boxes = np.array([picture.get_extent() for picture in ax.images])
    middles = np.column_stack([boxes[:, :2].mean(axis=1), boxes[:, 2:].mean(axis=1)])
    nearest = np.abs(middles[:, None] - model.embedding_[None]).max(axis=2).min(axis=1)
    assert 5 <= len(boxes) <= 20
    assert nearest.max() < 1e-9
    wide, high = boxes[0, 1] - boxes[0, 0], boxes[0, 3] - boxes[0, 2]
    for i, j in zip(*np.triu_indices(len(boxes), 1), strict=True):
        gap = np.abs(middles[i] - middles[j])
        assert gap[0] >= wide * (1 - 1e-9) or gap[1] >= high * (1 - 1e-9)


def test_thumbnails_of_one_place_are_one():
    assert place_apart(np.zeros((9, 2)), 1.0, 1.0, 9).tolist() == [0]


def test_thumbnails_of_other_rows_get_a_sentence(model, views):
    with pytest.raises(ValueError, match="images=5 rows is not one picture for each of the 72 points"):
        plot.thumbnails(model, views.images[:5])


def test_uncertainty_is_the_total_predictive_variance_where_there_is_data(model):
    ax = plot.uncertainty(model, resolution=20, points=False)
    shade = np.ma.filled(ax.images[0].get_array(), np.nan)
    lattice = plane_of(model.embedding_).lattice(20)
    expected = model.predictive_variance(lattice.points).sum(axis=1).reshape(shade.shape)
    known = ~np.isnan(shade)
    assert known.any()
    np.testing.assert_allclose(shade[known], expected[known])
