"""The heat map of which axes each relation looks at."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from sidelight import MultipleRelationalEmbedding, Relation, plot
from sidelight.datasets import s_curve
from sidelight.plot._plane import plane_of


@pytest.fixture(scope="module")
def fitted():
    data = s_curve(120, random_state=0)
    height = np.where(np.arange(120) < 40, data.factors["height"], np.nan)
    return MultipleRelationalEmbedding(2).fit(data.X, relations={"height": Relation.from_values(height)})


def words_of(ax):
    return [text.get_text() for text in ax.texts]


def test_every_cell_holds_the_share_of_its_relation_and_axis(fitted):
    ax = plot.relation_weights(fitted, title="S-curve")
    np.testing.assert_array_equal(ax.images[0].get_array(), fitted.relation_shares_)
    assert words_of(ax) == [f"{share:.2f}" for share in fitted.relation_shares_.ravel()]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["data", "height"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["axis 1\nheight", "axis 2"]
    assert ax.get_title() == "S-curve"
    assert ax.images[0].get_clim() == (0.0, 1.0)


class Many:
    relation_names_ = ("data", "light from the left")
    relation_shares_ = np.full((2, 250), 1 / 250)
    axis_names_ = ("light from the left",) + ("",) * 249


class Few(Many):
    relation_shares_ = np.array([[0.1, 0.9], [0.95, 0.05]])
    axis_names_ = ("light from the left", "")


def test_numbers_are_light_on_dark_cells_and_dark_on_light_ones():
    colours = [text.get_color() for text in plot.relation_weights(Few()).texts]
    assert colours == ["#222222", "white", "white", "#222222"]


def test_long_names_are_broken_into_lines():
    ax = plot.relation_weights(Few())
    assert ax.get_xticklabels()[0].get_text() == "axis 1\nlight from\nthe left"


@pytest.mark.thorough
def test_very_many_cells_have_no_numbers():
    assert words_of(plot.relation_weights(Many())) == []


def test_it_draws_on_given_axes(fitted):
    ax = plt.subplots()[1]
    assert plot.relation_weights(fitted, ax=ax) is ax


def test_a_model_without_relations_gets_a_sentence(model):
    with pytest.raises(ValueError, match=r"relation_weights: model=.* has no relation_shares_\. Fit a Multiple"):
        plot.relation_weights(model)


def test_axes_of_relations_are_named_and_have_units_of_their_own(fitted):
    ax = plot.scatter(fitted)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("latent 1: height", "latent 2")
    assert ax.get_aspect() == "auto"
    assert ax.get_box_aspect() == 0.75
    plain = plot.scatter(fitted.embedding_)
    assert plain.get_xlabel() == "latent 1"
    assert plain.get_aspect() == 1.0


def test_a_plane_of_own_units_has_a_lattice_that_does_not_depend_on_them():
    Z = np.random.default_rng(0).uniform(size=(50, 3))
    wide, narrow = (plane_of(Z * [scale, 1.0, 1.0], names=("light", "", "")) for scale in (100.0, 0.01))
    assert (wide.lattice(20).rows, wide.lattice(20).columns) == (15, 20)
    assert (narrow.lattice(20).rows, narrow.lattice(20).columns) == (15, 20)
    # The third coordinate is that of the nearest row, each axis in its own unit.
    np.testing.assert_array_equal(wide.lattice(20).points[:, 2], narrow.lattice(20).points[:, 2])
    left, _, bottom, _ = wide.extent
    room = np.array([Z[:, 0].min() * 100 - left, Z[:, 1].min() - bottom]) / np.ptp(Z, axis=0)[:2]
    np.testing.assert_allclose(room, [6.0, 0.06])
    assert plane_of(Z * [100.0, 1.0, 1.0]).lattice(20).rows == 2


def test_thumbnails_keep_their_shape_where_axes_have_units_of_their_own(fitted):
    pictures = np.random.default_rng(0).uniform(size=(120, 8, 16))
    ax = plot.thumbnails(fitted, pictures, n=10)
    left, right, bottom, top = ax.images[0].get_extent()
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    drawn = ((top - bottom) / (y1 - y0) * 0.75) / ((right - left) / (x1 - x0))
    assert drawn == pytest.approx(0.5)


def test_density_and_forward_grid_of_a_relational_model_fill_their_frame(fitted):
    for draw in (plot.density, plot.forward_grid):
        ax = draw(fitted)
        assert ax.get_box_aspect() == 0.75
        assert ax.get_xlabel() == "latent 1: height"


def test_the_path_of_a_fit_without_stages_speaks_of_none(fitted):
    ax = plot.path(fitted)
    assert ax.get_xlabel() == "iteration"
    assert len(ax.texts) == 0
    assert [line.get_label() for line in ax.get_lines()] == ["objective", "data", "height"]
