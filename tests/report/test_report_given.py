"""What a report says of a model that was given something: leakage before and after, the colourings, the grid."""

import numpy as np
import pandas as pd
import pytest
from test_report_file import Elements, data_of, picture_of, unpack

from sidelight import Conditioning, KernelInformationEmbedding, report
from sidelight.datasets import turntable
from sidelight.evaluate import leakage, recovery, trustworthiness
from sidelight.plot._colouring import CYCLE
from sidelight.plot._plane import plane_of
from sidelight.report._informed import typical_entries
from sidelight.report._understood import column_in_words, understood
from sidelight.side.given import Column, EncodedGiven, Given


@pytest.fixture(scope="module")
def informed(views):
    given = {"object": views.factors["object"]}
    return KernelInformationEmbedding(random_state=0).fit(views.X, given=given)


@pytest.fixture(scope="module")
def page(informed, views, model, tmp_path_factory):
    path = tmp_path_factory.mktemp("given") / "report.html"
    colours = {"object": views.factors["object"], "angle": views.factors["angle"]}
    report.write(
        informed, path, X=views.X, colours=colours, periods={"angle": 360.0}, plain=model.embedding_,
        image_shape=views.image_shape,
    )  # fmt: skip
    return path.read_text(encoding="utf-8")


def sections_of(page):
    return [attributes["id"] for tag, attributes in Elements(page).found if tag == "section"]


def rows_of_table(page, name):
    """Cells of the table row whose header begins with ``name``."""
    start = page.index(f'<tr><th scope="row">{name}')
    return page[start : page.index("</tr>", start)].replace("</td>", "").split("<td>")[1:]


def test_sections_about_what_was_given_follow_the_map(page):
    assert sections_of(page)[:4] == ["map", "given", "across", "meaning"]


def test_the_map_is_measured_beside_the_rows_without_the_effect_of_what_was_given(page, informed, views):
    """Beside whole rows, a map that leaves out what it was told to looks worse than one that does not."""
    after, before = rows_of_table(page, "trustworthiness after object"), rows_of_table(page, "trustworthiness")
    rest = informed.corrected(views.X, given={"object": views.factors["object"]})
    assert float(after[0]) == pytest.approx(trustworthiness(rest, informed.embedding_), abs=1e-3)
    assert float(after[0]) > float(before[0]) + 0.05


def test_a_model_that_was_given_nothing_has_no_such_sections(model, views, tmp_path):
    page = report.write(model, tmp_path / "r.html", X=views.X).read_text(encoding="utf-8")
    assert "given" not in sections_of(page)
    assert "across" not in sections_of(page)


def test_what_is_the_same_in_every_row_has_no_such_sections(views, tmp_path):
    same = {"camera": ["left"] * 60}
    fitted = KernelInformationEmbedding(random_state=0).fit(views.X, given=same)
    page = report.write(fitted, tmp_path / "r.html", X=views.X, given=same).read_text(encoding="utf-8")
    assert "given" not in sections_of(page)
    assert "across" not in sections_of(page)


def test_leakage_before_and_after_stands_beside_chance(page, informed, model, views):
    thing, angle = views.factors["object"], views.factors["angle"]
    maps = (model.embedding_, informed.embedding_)
    leaks = [leakage(Z, thing).value for Z in maps]
    reads = [recovery(Z, angle, groups=thing, n_neighbors=10, period=360.0) for Z in maps]
    np.testing.assert_allclose(
        [float(cell) for cell in rows_of_table(page, "object, given")], [*leaks, 1 / 3], atol=6e-4
    )
    cells = [float(cell) for cell in rows_of_table(page, "angle, predicted from other groups")]
    np.testing.assert_allclose(cells, [*reads, 0.0], atol=6e-4)
    assert leaks[1] < leaks[0]


def test_a_column_of_many_categories_is_read_as_it_is_and_not_with_rare_ones_merged(informed, views, tmp_path):
    """Two rows for each of 108 names: with all but a few merged, nine in ten rows would be told by chance."""
    who = np.array([f"row {k // 2:03d}" for k in range(len(views.X))])
    given = {"object": views.factors["object"]}
    path = report.write(informed, tmp_path / "r.html", X=views.X, given=given, colours={"who": who})
    read = [float(cell) for cell in rows_of_table(path.read_text(encoding="utf-8"), "who")]
    assert read[-1] == pytest.approx(2 / len(who), abs=1e-3)
    assert read[0] < 0.5


def test_groups_of_pictures_that_do_not_differ_say_so_instead_of_an_empty_picture(informed, views, tmp_path):
    given = {"object": views.factors["object"]}
    shape = views.image_shape
    page = report.write(informed, tmp_path / "r.html", X=views.X, colours=given, given=given, image_shape=shape)
    text = page.read_text(encoding="utf-8")
    start = text.index("Groups compared: object")
    assert text[start : text.index("</section>", start)].count("No pixel differs.") == 3


def test_the_share_that_is_explained_is_said(page, informed):
    assert f"Given: object (3 categories), explains {100 * informed.explained_:.0f} % of the variance" in page


def columns_of(page, about):
    """Names of the columns of a small map, of which those of the map above are stored once."""
    offered = data_of(page)["map"]["columns"]
    return [(offered[column["offered"]] if "offered" in column else column)["name"] for column in about["columns"]]


def test_the_map_is_shown_before_and_after_and_by_the_rest(page, informed, model):
    maps = data_of(page)["given"]["maps"]
    assert [about["title"] for about in maps] == [
        "plain map, by what was given", "this map, by what was given", "this map, by the rest",
    ]  # fmt: skip
    np.testing.assert_array_equal(unpack(maps[0]["points"]).reshape(-1, 2), model.embedding_.astype(np.float32))
    assert [about["points"] for about in maps[1:]] == [None, None]  # those of the map above, stored once
    assert [columns_of(page, about) for about in maps] == [["object"], ["object"], ["angle"]]


def test_periodic_columns_reach_the_script_with_their_period_and_palette(page):
    data = data_of(page)
    columns = {column["name"]: column for column in data["map"]["columns"]}
    assert columns["angle"]["period"] == 360.0
    assert (columns["angle"]["low"], columns["angle"]["high"]) == (0.0, 360.0)
    assert data["map"]["cycle"] == data["given"]["cycle"] == list(CYCLE)


def test_the_grid_is_the_forward_map_at_the_same_places_for_every_value(page, informed, views):
    (grid,) = data_of(page)["across"]["grids"]
    assert grid["values"] == ["car", "duck", "mug"]
    pixels = picture_of(grid["sheet"]["src"])
    low, high = views.X.min(), views.X.max()
    for row, column in ((0, 0), (2, 5), (1, grid["columns"] - 1)):
        place = informed.embedding_[grid["places"][column]][None]
        expected = informed.inverse_transform(place, given={"object": [grid["values"][row]]})[0]
        cell = pixels[row * 12 : (row + 1) * 12, column * 12 : (column + 1) * 12]
        shades = np.clip(255 * (expected - low) / (high - low), 0, 255).reshape(12, 12)
        np.testing.assert_allclose(cell, shades, atol=0.6)


def test_the_forward_map_is_shown_for_the_commonest_value_and_says_so(informed, views, tmp_path):
    given = {"object": views.factors["object"].copy()}
    given["object"][:3] = "mug"  # three cars less: mugs are the commonest
    options = {"X": views.X, "given": given, "plain": np.zeros((60, 2)), "image_shape": views.image_shape}
    page = report.write(informed, tmp_path / "r.html", **options).read_text(encoding="utf-8")
    assert '<p class="caption" id="forward-given">for object = mug</p>' in page
    assert "at its point of the map, reconstructed by the model, for object = mug." in page
    data = data_of(page)
    lattice, shape = data["forward"], (data["forward"]["rows"], data["forward"]["columns"])
    pixels = picture_of(lattice["sheet"]["src"]).astype(float)
    points = plane_of(informed.embedding_).lattice(24, (12.0, 12.0)).points
    assert len(points) == shape[0] * shape[1]
    low, high = views.X.min(), views.X.max()
    for place in np.flatnonzero(unpack(lattice["share"]) == 255)[::29]:
        row, column = divmod(int(place), shape[1])
        cell = pixels[row * 12 : (row + 1) * 12, column * 12 : (column + 1) * 12]
        mug, blur = (
            np.clip(255 * (informed.inverse_transform(points[[place]], **side)[0] - low) / (high - low), 0, 255)
            for side in ({"given": ["mug"]}, {})
        )
        np.testing.assert_allclose(cell.ravel(), mug, atol=0.6)
        assert np.abs(cell.ravel() - blur).mean() > 5.0


def test_without_anything_known_of_the_rows_the_forward_map_is_still_of_one_value(informed, tmp_path):
    page = report.write(informed, tmp_path / "r.html").read_text(encoding="utf-8")
    assert "for object = car" in page


def test_a_model_that_was_given_nothing_shows_its_forward_map_as_it_is(model, views, tmp_path):
    page = report.write(model, tmp_path / "r.html", X=views.X).read_text(encoding="utf-8")
    assert '<p class="caption" id="forward-given"></p>' in page
    assert "at its point of the map, reconstructed by the model. " in page


def test_thumbnails_without_the_rows_are_those_of_what_is_known_of_each(informed, views, tmp_path):
    given = {"object": views.factors["object"]}
    options = {"given": given, "plain": np.zeros((60, 2)), "image_shape": views.image_shape}
    page = report.write(informed, tmp_path / "r.html", **options).read_text(encoding="utf-8")
    sheet = data_of(page)["map"]["thumbnails"]
    pixels = picture_of(sheet["src"]).astype(float)
    across = pixels.shape[1] // 12
    found = np.stack([pixels[12 * (k // across) :, 12 * (k % across) :][:12, :12].ravel() for k in range(60)])
    apart = [
        np.corrcoef(found.ravel(), informed.inverse_transform(informed.embedding_, **side).ravel())[0, 1]
        for side in ({"given": given}, {})
    ]
    assert apart[0] > 0.999
    assert apart[1] < 0.97


@pytest.mark.parametrize(
    ("column", "codes", "entry"),
    [
        (Column("object", "category", ("car", "duck")), [1.0, 0.0, 1.0, np.nan], "duck"),
        (Column("object", "category", ("car", "duck")), [np.nan], "car"),
        (Column("age", "number", centre=40.0), [1.0, np.nan, 2.0, 9.0], 2.0),
        (Column("age", "number", centre=40.0), [np.nan], 40.0),
        (Column("turn", "angle", period=360.0), [350.0, 20.0], 5.0),
        (Column("turn", "angle", period=360.0), [np.nan], 0.0),
    ],
)
def test_the_typical_entry_is_the_commonest_the_median_or_the_mean_direction(column, codes, entry):
    values = np.array(codes)[:, None]
    known = EncodedGiven(np.zeros((len(codes), 1)), values, np.isfinite(values[:, 0]))
    found = typical_entries(Given((column,)), known)
    assert found == {column.name: pytest.approx(entry) if isinstance(entry, float) else entry}


def test_cells_fade_where_no_row_of_that_value_is_near(tmp_path):
    rng = np.random.default_rng(0)
    t = np.concatenate([rng.uniform(0, 1, 60), rng.uniform(0, 6, 60)])
    group = np.repeat(["short", "long"], 60)
    X = np.column_stack([3 * t, np.sin(t), np.where(group == "long", 1.0, 0.0)]) + 0.01 * rng.normal(size=(120, 3))
    fitted = KernelInformationEmbedding(1, random_state=0).fit(X, given={"group": group})
    page = report.write(fitted, tmp_path / "r.html", X=X, given={"group": group}).read_text(encoding="utf-8")
    (grid,) = data_of(page)["across"]["grids"]
    share = unpack(grid["share"]).reshape(2, -1)
    far = np.argmax(np.abs(t[grid["places"]] - 0.5))
    assert grid["values"] == ["long", "short"]
    assert share[0, far] == 255
    assert share[1, far] < 128


def test_no_second_model_is_fitted_unasked(informed, views, tmp_path, monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("a report fitted a model")

    monkeypatch.setattr(KernelInformationEmbedding, "fit", refuse)
    given = {"object": views.factors["object"]}
    page = report.write(informed, tmp_path / "r.html", X=views.X, given=given).read_text(encoding="utf-8")
    titles = [one["title"] for one in data_of(page)["given"]["maps"]]
    assert titles == ["this map, by what was given"]
    assert "plain=&quot;fit&quot; or --plain" in page
    assert "plain map" not in page


def test_a_plain_map_that_is_asked_for_is_fitted_with_the_same_settings(informed, model, views, tmp_path):
    given = {"object": views.factors["object"]}
    page = report.write(informed, tmp_path / "r.html", X=views.X, given=given, plain="fit").read_text(encoding="utf-8")
    before = data_of(page)["given"]["maps"][0]
    assert before["title"] == "plain map, by what was given"
    np.testing.assert_array_equal(unpack(before["points"]).reshape(-1, 2), model.embedding_.astype(np.float32))
    assert "fitted for this report." in page


@pytest.mark.thorough
def test_a_start_of_the_informed_map_is_not_that_of_the_plain_one(informed, model, views, tmp_path):
    given = {"object": views.factors["object"]}
    again = KernelInformationEmbedding(random_state=0, init=informed.embedding_).fit(views.X, given=given)
    page = report.write(again, tmp_path / "r.html", X=views.X, given=given, plain="fit").read_text(encoding="utf-8")
    points = unpack(data_of(page)["given"]["maps"][0]["points"]).reshape(-1, 2)
    np.testing.assert_array_equal(points, model.embedding_.astype(np.float32))


@pytest.mark.thorough
def test_the_same_input_gives_the_same_bytes(informed, views, tmp_path):
    options = {"X": views.X, "colours": {"object": views.factors["object"]}, "image_shape": views.image_shape}
    first, second = (report.write(informed, tmp_path / name, **options).read_bytes() for name in ("a.html", "b.html"))
    assert first == second


def test_rows_of_which_it_is_not_known_are_said_to_be_averaged(informed, views, tmp_path):
    page = report.write(informed, tmp_path / "r.html", X=views.X[:20]).read_text(encoding="utf-8")
    assert "The given values of these rows are unknown" in page
    assert "across" not in sections_of(page)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(80, 5)) * [3, 2, 1, 0.5, 0.5], columns=list("abcde"))
    given = pd.DataFrame({"site": rng.choice(["north", "south"], 80), "hour": rng.uniform(0, 24, 80)})
    given["depth"] = rng.normal(50, 10, 80)
    frame["a"] += 4 * (given["site"] == "north")
    frame["b"] += 3 * np.cos(given["hour"] / 24 * 2 * np.pi) + 0.2 * given["depth"]
    given.loc[:4, "depth"] = np.nan
    return frame, given


@pytest.mark.thorough
def test_a_table_with_several_given_columns_has_a_grid_of_profiles_for_each(table, tmp_path):
    X, given = table
    fitted = KernelInformationEmbedding(random_state=0, conditioning=Conditioning(types={"hour": 24})).fit(
        X, given=given
    )
    page = report.write(fitted, tmp_path / "r.html", X=X, given=given).read_text(encoding="utf-8")
    grids = data_of(page)["across"]["grids"]
    assert [grid["name"] for grid in grids] == ["site", "hour", "depth"]
    assert [grid["rows"] for grid in grids] == [2, 8, 6]
    assert grids[0]["profile"]["names"] == list("abcde")
    assert grids[1]["values"][:3] == ["0", "3", "6"]
    assert grids[1]["held"].startswith("site = ")
    assert "depth, given" in page
    assert columns_of(page, data_of(page)["given"]["maps"][-1]) == list("abcde")
    heights = unpack(grids[0]["profile"]["heights"]).reshape(2, grids[0]["columns"], 5)
    assert (heights[0, :, 0] >= heights[1, :, 0]).all()


def test_confounded_groups_are_explained(informed):
    class Confounded:
        given_, explained_, confounded_ = informed.given_, 0.15, True
        only_here_ = ("3 of 9 rows with object = 'cup' have no counterparts in another group",)
        no_shift_ = ("object = 'duck' differs from object = 'cup' by more than a shift",)

    words = "given: object (3 categories), explains 15 % of the variance; "
    assert understood(Confounded()) == words + (
        "the groups also differ otherwise, so the effect was estimated from matched rows; "
        "3 of 9 rows with object = 'cup' have no counterparts in another group; "
        "object = 'duck' differs from object = 'cup' by more than a shift"
    )
    assert understood(object()) == ""


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (Column("age", "number"), "age (number)"),
        (Column("grade", "number", (1.0, 2.0, 3.0)), "grade (3 ordered values)"),
        (Column("turn", "angle", period=360.0), "turn (angle in degrees)"),
    ],
)
def test_types_are_said_in_words(column, words):
    assert column_in_words(column) == words


def test_names_of_the_user_do_not_become_markup(tmp_path):
    evil = '</script><img src=x onerror="alert(2)">'
    views = turntable(8, size=8)
    given = {evil: np.where(views.factors["object"] == "car", evil, "other")}
    fitted = KernelInformationEmbedding(random_state=0).fit(views.X, given=given)
    page = report.write(fitted, tmp_path / "r.html", X=views.X, given=given).read_text(encoding="utf-8")
    assert "<img" not in page
    assert data_of(page)["across"]["grids"][0]["values"] == [evil, "other"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"plain": np.zeros((3, 2))}, "report: plain=3 rows is not one point for each of the 60 rows"),
        ({"plain": "fitted"}, "report: plain=fitted is not an option. Pass 'fit', or the map itself"),
        ({"plain": "fit"}, "report: plain=fit needs given, which the model does not have or which is unknown"),
        ({"plain": "fit", "X": None, "given": ["car"] * 60}, "report: plain=fit needs the rows as a table. Pass X="),
        ({"given": {"object": ["car"]}}, "does not match the 60 rows"),
        ({"given": ["spoon"] * 60}, "is not among the categories of 'object'"),
    ],
)
def test_bad_arguments_get_a_sentence(informed, views, tmp_path, options, words):
    with pytest.raises(ValueError, match=words):
        report.write(informed, tmp_path / "r.html", **{"X": views.X, **options})


def test_a_share_below_zero_is_said_as_nothing(informed):
    class Useless:
        given_, explained_, confounded_, only_here_, no_shift_ = informed.given_, -0.15, False, (), ()

    assert understood(Useless()) == "given: object (3 categories), explains nothing of the variance"
