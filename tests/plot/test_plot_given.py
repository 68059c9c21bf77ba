"""Pictures of what was given and of the rest."""

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from sidelight import KernelInformationEmbedding, plot
from sidelight.plot._colouring import CYCLE, Numbers, column_of
from sidelight.plot._counterfactual import decoded, entries_of
from sidelight.plot._walk import walk
from sidelight.side.given import Column


@pytest.fixture(scope="module")
def given(views):
    return {"object": views.factors["object"]}


@pytest.fixture(scope="module")
def informed(views, given):
    return KernelInformationEmbedding(random_state=0).fit(views.X, given=given)


def test_periodic_numbers_have_the_same_colour_a_turn_apart():
    Z = np.random.default_rng(0).normal(size=(4, 2))
    ax = plot.scatter(Z, colour=[-90.0, 270.0, 630.0, 90.0], period=360.0, name="turn")
    drawn = ax.collections[0]
    drawn.update_scalarmappable()
    colours = drawn.get_facecolor()[:, :3]
    np.testing.assert_allclose(colours[0], colours[1])
    np.testing.assert_allclose(colours[0], colours[2])
    assert np.abs(colours[0] - colours[3]).max() > 0.2
    assert drawn.get_clim() == (0.0, 360.0)
    assert [tick.get_text() for tick in ax.child_axes[0].get_yticklabels()] == ["0", "90", "180", "270", "360"]


def test_the_circle_of_colours_closes_and_its_opposites_differ_in_lightness():
    colours = np.array([to_rgb(colour) for colour in CYCLE])
    steps = np.abs(colours - np.roll(colours, 1, axis=0)).max(axis=1)
    assert steps.max() < 0.5
    lightness = colours @ [0.2126, 0.7152, 0.0722]
    assert lightness[0] - lightness[6] > 0.3


def test_a_period_makes_few_integers_numbers_and_refuses_text():
    column = column_of([0, 90, 180, 270], 4, period=360.0)
    assert isinstance(column, Numbers)
    assert column.limits == (0.0, 360.0)
    with pytest.raises(ValueError, match="column: turn=text has a period"):
        column_of(["a", "b"], 2, name="turn", period=360.0)


def test_known_and_rest_are_the_same_map_in_two_colours(informed, views):
    thing, angle = views.factors["object"], pd.Series(views.factors["angle"], name="angle")
    left, right = plot.known_and_rest(informed, thing, angle, names=("object", None), periods=(None, 360.0))
    places = np.vstack([drawn.get_offsets() for drawn in left.collections])
    np.testing.assert_allclose(np.sort(places, axis=0), np.sort(informed.embedding_, axis=0))
    np.testing.assert_allclose(right.collections[0].get_offsets(), informed.embedding_)
    assert left.get_legend().get_title().get_text() == "object"
    assert right.child_axes[0].get_ylabel() == "angle"
    assert left.figure is right.figure


def test_known_and_rest_draw_on_given_axes_and_want_two_of_them(informed, views):
    axes = plt.subplots(1, 2)[1]
    drawn = plot.known_and_rest(informed, views.factors["object"], views.factors["angle"], axes=axes)
    assert drawn == tuple(axes)
    with pytest.raises(ValueError, match=r"known_and_rest: axes=1 axes are not a pair \(one for known, one for rest\)"):
        plot.known_and_rest(informed, views.factors["object"], views.factors["angle"], axes=axes[:1])


def test_counterfactual_grid_shows_the_rows_and_each_under_every_value(informed, views, given):
    rows = np.array([3, 30, 60])
    own = {"object": given["object"][rows]}
    ax = plot.counterfactual_grid(informed, views.X[rows], given=own, image_shape=views.image_shape)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["as it is", "object = car", "object = duck", "object = mug"]
    mosaic = np.asarray(ax.images[0].get_array())
    height, width = mosaic.shape[0] // 4, mosaic.shape[1] // 3
    Z = informed.transform(views.X[rows], given=own)
    mug = informed.inverse_transform(Z, given={"object": ["mug"] * 3})
    everything = [views.X[rows]] + [informed.inverse_transform(Z, given=[v] * 3) for v in ("car", "duck", "mug")]
    low, high = np.min(everything), np.max(everything)
    cell = mosaic[3 * height : 3 * height + 12, width : width + 12, 0]
    np.testing.assert_allclose(cell, 255 * (mug[1].reshape(12, 12) - low) / (high - low), atol=0.51)
    first = mosaic[:12, 2 * width : 2 * width + 12, 0]
    np.testing.assert_allclose(first, 255 * (views.images[60] - low) / (high - low), atol=0.51)


def test_counterfactual_grid_without_what_is_known_is_the_models_counterfactual(informed, views):
    ax = plot.counterfactual_grid(informed, views.X[:2], values=["mug"], image_shape=views.image_shape)
    mosaic = np.asarray(ax.images[0].get_array())
    shown = informed.counterfactual(views.X[:2], given=["mug", "mug"])
    both = np.concatenate([views.X[:2], shown])
    expected = 255 * (shown[0].reshape(12, 12) - both.min()) / (both.max() - both.min())
    cell = mosaic[mosaic.shape[0] // 2 :, : mosaic.shape[1] // 2][:12, :12, 0]
    np.testing.assert_allclose(cell, expected, atol=0.51)


@pytest.fixture(scope="module")
def two_columns():
    rng = np.random.default_rng(0)
    given = pd.DataFrame({"site": rng.choice(["n", "s"], 60), "depth": rng.normal(50, 10, 60)})
    X = rng.normal(size=(60, 6)) + 3 * (given["site"] == "n").to_numpy()[:, None] + given[["depth"]].to_numpy() / 10
    return KernelInformationEmbedding(random_state=0).fit(X, given=given), X, given


def test_of_several_given_columns_one_changes_and_the_others_stay(two_columns):
    fitted, X, given = two_columns
    ax = plot.counterfactual_grid(fitted, X[:3], given=given[:3], column="depth", values=[30.0, 70.0])
    assert [t.get_text() for t in ax.get_yticklabels()] == ["as it is", "depth = 30", "depth = 70"]
    assert "bars: its 6 features" in ax.get_title()
    with pytest.raises(ValueError, match="counterfactual_grid: given=None leaves the other columns of given unknown"):
        plot.counterfactual_grid(fitted, X[:3])
    with pytest.raises(ValueError, match=r"column=deep is not a column that the model was given\. Choose"):
        plot.counterfactual_grid(fitted, X[:3], given=given[:3], column="deep")


def test_a_model_that_was_given_nothing_has_nothing_to_change(model, views):
    with pytest.raises(ValueError, match="was not given anything that could change"):
        plot.counterfactual_grid(model, views.X[:2])


@pytest.mark.parametrize(
    ("column", "values", "expected"),
    [
        (Column("c", "category", tuple("abcd")), np.array([3.0, 3, 1, 1, 0, 2, np.nan]), ["b", "d"]),
        (Column("c", "category", ("a", "b")), None, ["a", "b"]),
        (Column("n", "number"), np.arange(101.0), [5.0, 95.0]),
        (Column("n", "number", centre=10.0, scale=2.0), None, [7.0, 13.0]),
        (Column("o", "number", (1.0, 2.0, 5.0, 9.0)), None, [1.0, 9.0]),
        (Column("h", "angle", period=24.0), None, [0.0, 12.0]),
    ],
)
def test_two_entries_of_every_type_of_column(column, values, expected):
    assert entries_of(column, values, 2) == expected


def test_decoded_entries_are_what_was_given(two_columns):
    fitted, _, given = two_columns
    table = given.astype({"site": object})
    table.loc[0, "site"] = None
    known = fitted.given_.encode("test", table, 60)
    back = decoded(fitted.given_, known)
    assert back["site"] == table["site"].tolist()
    np.testing.assert_allclose(back["depth"], given["depth"])


def test_a_walk_goes_along_a_line_and_visits_places_once():
    Z = np.random.default_rng(0).permutation(np.linspace(0, 10, 200))[:, None]
    rows = walk(Z, 9)
    assert len(np.unique(rows)) == 9
    steps = np.diff(Z[rows, 0])
    assert (steps > 0).all() or (steps < 0).all()


@pytest.mark.parametrize(("Z", "count"), [(np.zeros((5, 2)), 1), (np.eye(3), 3), (np.arange(9000.0)[:, None], 4)])
def test_a_walk_has_at_most_as_many_places_as_there_are(Z, count):
    assert len(walk(Z, 4)) == count
