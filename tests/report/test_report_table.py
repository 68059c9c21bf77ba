"""Rows as the user knows them: units, names, the column that the map opens with, what a page weighs."""

import numpy as np
import pandas as pd
import pytest
from chromium import Page, find_chromium
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_report_file import data_of, unpack

from sidelight import ProbabilisticPCA, TwoWayEmbedding, report
from sidelight.base.chain import as_chain
from sidelight.plot._colouring import column_of
from sidelight.report._opening_colour import colour_score, opening_colour

in_browser = pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine")


class Encoder(TransformerMixin, BaseEstimator):
    """Two columns to three numbers and back: a stand-in for any encoder of tables."""

    def fit(self, X, y=None):
        self.levels_ = sorted(X["kind"].unique())
        self.center_, self.scale_ = X["mass"].mean(), X["mass"].std()
        self.n_features_in_, self.feature_names_in_ = 2, np.array(["mass", "kind"], dtype=object)
        return self

    def transform(self, X):
        one = (X["kind"].to_numpy()[:, None] == np.array(self.levels_)).astype(float)
        return np.column_stack([(X["mass"] - self.center_) / self.scale_, one])

    def inverse_transform(self, A):
        kind = np.array(self.levels_)[np.argmax(A[:, 1:], axis=1)]
        return pd.DataFrame({"mass": A[:, 0] * self.scale_ + self.center_, "kind": kind})


@pytest.fixture(scope="module")
def animals():
    """Eighty animals of two kinds, whose mass is in the thousands."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["cat", "cow"], 40)
    mass = np.where(kind == "cat", 4200.0, 9000.0) + rng.normal(scale=500.0, size=80)
    return pd.DataFrame({"mass": mass, "kind": kind})


def written(model, tmp_path, **options):
    return data_of(report.write(model, tmp_path / "r.html", **options).read_text(encoding="utf-8"))


def column(data, name):
    return next(one for one in data["map"]["columns"] if one["name"] == name)


@pytest.fixture(scope="module")
def scaled(animals):
    """What the command line has: a model of standardised numbers, the table, and the way back."""
    X = np.column_stack([animals["mass"], np.random.default_rng(1).normal(30, 2, 80)])
    center, scale = X.mean(axis=0), X.std(axis=0)
    model = TwoWayEmbedding(maps="kernel").fit(pd.DataFrame((X - center) / scale, columns=["mass", "length"]))
    table = pd.DataFrame(X, columns=["mass", "length"]).assign(kind=animals["kind"])
    return model, (X - center) / scale, table, lambda rows: np.asarray(rows) * scale + center


@pytest.mark.thorough
def test_the_page_is_in_the_units_of_the_table_where_the_model_saw_scaled_numbers(scaled, tmp_path):
    model, X, table, to_data = scaled
    data = written(model, tmp_path, X=X, table=table, to_data=to_data)
    mass = column(data, "mass")
    assert (mass["low"], mass["high"]) == (table["mass"].min(), table["mass"].max())
    np.testing.assert_allclose(unpack(mass["values"]), table["mass"], rtol=5.1e-4)
    assert column(data, "kind")["levels"] == ["cat", "cow"]
    profile = data["forward"]["profile"]
    assert profile["names"] == ["mass", "length"]
    assert 3000 < profile["low"][0] < profile["high"][0] < 11_000
    assert 20 < profile["low"][1] < profile["high"][1] < 40


def test_without_the_table_numbers_are_those_of_the_model(scaled, tmp_path):
    model, X, _, _ = scaled
    assert abs(column(written(model, tmp_path, X=X), "mass")["high"]) < 10


@pytest.mark.thorough
def test_a_pipeline_of_a_mixed_table_shows_the_table_and_the_categories_that_come_back(animals, tmp_path):
    model = make_pipeline(Encoder(), TwoWayEmbedding(maps="kernel")).fit(animals)
    path = report.write(model, tmp_path / "r.html", X=animals)
    page, data = path.read_text(encoding="utf-8"), data_of(path.read_text(encoding="utf-8"))
    assert "80 rows of 2 values on a map of 2 dimensions, made by Encoder and TwoWayEmbedding" in page
    assert [one["name"] for one in data["map"]["columns"]] == ["mass", "kind"]
    profile = data["forward"]["profile"]
    assert profile["names"] == ["mass"]
    assert 3000 < profile["low"][0] < profile["high"][0] < 11_000
    (kind,) = profile["categories"]
    lattice, codes = data["forward"], unpack(kind["codes"])
    assert kind["levels"] == ["cat", "cow"]
    assert set(codes[unpack(lattice["share"]) == 255]) == {0, 1}


def test_a_pipeline_of_numbers_has_the_units_by_itself(scaled, tmp_path):
    _, _, table, _ = scaled
    frame = table[["mass", "length"]]
    model = make_pipeline(StandardScaler(), TwoWayEmbedding(maps="kernel")).fit(frame)
    data = written(model, tmp_path, X=frame)
    assert column(data, "mass")["high"] == frame["mass"].max()
    assert 3000 < data["forward"]["profile"]["low"][0] < 11_000


def test_an_encoder_without_a_way_back_shows_no_forward_map(animals, tmp_path):
    class OneWay(Encoder):
        inverse_transform = property()  # no such method

    model = make_pipeline(OneWay(), TwoWayEmbedding(maps="kernel")).fit(animals)
    data = written(model, tmp_path, X=animals)
    assert "forward" not in data
    assert column(data, "mass")["high"] == animals["mass"].max()


def test_missing_entries_stay_missing_and_quality_is_that_of_whole_rows(scaled, tmp_path):
    _, X, table, to_data = scaled
    gaps = X.copy()
    gaps[:7, 0] = np.nan
    model = ProbabilisticPCA(1, random_state=0).fit(gaps)
    shown = table.assign(mass=np.where(np.arange(80) < 7, np.nan, table["mass"]))
    path = report.write(model, tmp_path / "r.html", X=gaps, table=shown, to_data=to_data)
    page = path.read_text(encoding="utf-8")
    assert "Measured on the 73 complete rows." in page
    assert np.isnan(unpack(column(data_of(page), "mass")["values"])).sum() == 7


def test_rows_have_their_numbers_and_names(scaled, tmp_path):
    model, X, _, _ = scaled
    names, numbers = [f"animal {k}" for k in range(80)], np.arange(80) * 2
    data = written(model, tmp_path, X=X, row_names=names, row_numbers=numbers)["map"]
    assert data["names"] == names
    np.testing.assert_array_equal(unpack(data["rows"]), numbers)
    plain = written(model, tmp_path, X=X)["map"]
    assert plain["names"] is None
    assert plain["rows"] is None


def test_the_index_of_a_frame_names_its_rows(scaled, tmp_path):
    model, X, _, _ = scaled
    frame = pd.DataFrame(X, columns=["mass", "length"], index=[f"animal {k}" for k in range(80)])
    assert written(model, tmp_path, X=frame)["map"]["names"] == list(frame.index)
    assert written(model, tmp_path, X=frame.reset_index(drop=True))["map"]["names"] is None


@pytest.mark.parametrize(
    ("options", "words"),
    [({"row_names": ["a", "b"]}, r"row_names=2 entries is not one for each of the 80 rows"),
     ({"row_numbers": [1]}, r"row_numbers=1 entry is not one for each of the 80 rows"),
     ({"table": np.zeros((80, 2))}, r"table=ndarray has no named columns"),
     ({"colour": "sex"}, r"colour=sex is not a column of colours, which has kind")],
)  # fmt: skip
def test_what_does_not_fit_is_refused(scaled, options, words, tmp_path):
    model, X, table, _ = scaled
    with pytest.raises(ValueError, match=words):
        report.write(model, tmp_path / "r.html", X=X, colours=table[["kind"]], **options)


@pytest.mark.thorough
def test_a_wide_table_stores_its_first_columns_and_says_how_many_more(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 50))
    data = written(TwoWayEmbedding(maps="kernel").fit(X), tmp_path, X=X)["map"]
    assert [one["name"] for one in data["columns"]] == [f"feature {k}" for k in range(12)]
    assert data["more"] == 38
    narrow = written(TwoWayEmbedding(maps="kernel").fit(X[:, :30]), tmp_path, X=X[:, :30])["map"]
    assert (len(narrow["columns"]), narrow["more"]) == (30, 0)


def test_a_category_that_shares_a_colour_keeps_its_name(scaled, tmp_path):
    model, X, _, _ = scaled
    country = [f"country {k:02d}" for k in range(40)] * 2
    country[3] = None
    one = column(written(model, tmp_path, X=X, colours={"country": country}), "country")
    codes = unpack(one["codes"])
    assert [one["entries"][code] for code in codes] == country
    assert one["count"] == 40
    assert one["levels"][-1] == "13 others"
    assert {one["shared"][code] for code in codes} == set(range(-1, 28))


def test_dates_are_days_and_are_said_to_be(scaled, tmp_path):
    model, X, _, _ = scaled
    days = pd.date_range("2020-02-27 06:00", periods=80, freq="D", tz="UTC").to_series()
    one = column(written(model, tmp_path, X=X, colours={"day": days}), "day")
    assert one["date"] is True
    assert unpack(one["values"])[0] == pytest.approx(18319.25, abs=1e-6)


def test_a_report_opens_with_the_column_that_neighbours_tell_best():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(400, 2))
    side = np.where(Z[:, 0] > 0, "right", "left")
    columns = [
        column_of(np.arange(400) % 142 + 100, 400, name="country", categorical=True),
        column_of(rng.choice(["x", "y"], 400), 400, name="noise"),
        column_of(side, 400, name="side"),
        column_of(np.where(np.arange(400) % 2, side, None), 400, name="half of it"),
        column_of(Z[:, 0], 400, name="place"),
    ]
    names = [one.name for one in columns]
    assert names[opening_colour(columns, 5, Z)] == "side"
    assert names[opening_colour(columns[:2] + columns[4:], 2, Z) + 2] == "place"
    assert opening_colour(columns[:2], 2, Z) == 1  # nothing is told: the first that the eye can read
    assert opening_colour(columns[:1], 1, Z) == 0
    assert opening_colour([], 0, Z) == -1
    score = {one.name: colour_score(one, Z) for one in columns}
    assert score["noise"] < 0.1 < score["half of it"] < 0.6 < score["side"]


@pytest.mark.thorough
def test_labels_and_the_users_choice_come_before_the_rule(scaled, tmp_path):
    model, X, table, _ = scaled
    noise = {"noise": np.random.default_rng(0).choice(["x", "y"], 80), "kind": table["kind"]}
    assert written(model, tmp_path, X=X, colours=noise)["map"]["opening"] == 1
    assert written(model, tmp_path, X=X, colours=noise, colour="noise")["map"]["opening"] == 0
    assert written(model, tmp_path, X=X, colours=noise, labels=noise["noise"])["map"]["opening"] == 0


def test_equal_places_have_neighbours_other_than_themselves():
    same = column_of(["a", "b"] * 20, 40, name="kind")
    assert colour_score(same, np.zeros((40, 2))) < 0.3


@pytest.mark.thorough
def test_ten_thousand_rows_of_fifteen_columns_weigh_less_than_a_photograph(tmp_path):
    rng = np.random.default_rng(0)
    model = TwoWayEmbedding(maps="kernel").fit(rng.normal(size=(60, 12)))
    sizes = []
    for n in (1000, 10_000):
        whole = np.column_stack([rng.integers(0, 200, size=(n, 6)), rng.normal(size=(n, 6))]).astype(float)
        colours = {"kind": rng.choice(list("abc"), n), "country": rng.choice([f"c{k}" for k in range(142)], n)}
        path = report.write(
            model, tmp_path / "r.html", X=whole, embedding=rng.normal(size=(n, 2)), colours=colours,
            sections=report.SECTIONS[:1],
        )  # fmt: skip
        sizes.append(path.stat().st_size)
    assert (sizes[1] - sizes[0]) / 9000 < 56  # 11 of the place, 8 + 32 of the features, 3 of the colours
    assert sizes[1] < 700_000


@pytest.mark.thorough
@pytest.mark.browser
@in_browser
def test_hover_search_and_keys_say_which_row_it_is(scaled, tmp_path):
    model, X, table, to_data = scaled
    country = [f"country {k:02d}" for k in range(40)] * 2
    wide = table.assign(**{f"more {k}": np.arange(80) + k for k in range(14)}, born=pd.Timestamp("2020-05-17"))
    path = report.write(
        model, tmp_path / "r.html", X=X, table=wide, to_data=to_data, row_names=[f"animal {k}" for k in range(80)],
        row_numbers=np.arange(80) + 100, colours={"country": country, "kind": table["kind"]},
    )  # fmt: skip
    told = "document.getElementById('tooltip').innerText"
    with Page(tmp_path / "profile") as page:
        page.open(path)
        options = page.evaluate("[...document.querySelectorAll('#colour option')].map((one) => one.textContent)")
        assert options[:3] == ["country (40 categories)", "kind (2 categories)", "mass"]
        assert page.evaluate("document.getElementById('colour').value") == "1"
        seek = "(() => { const find = document.getElementById('find'); find.value = '%s';"
        seek += " find.dispatchEvent(new Event('input')); })()"
        page.evaluate(seek % "animal 39")
        lines = page.evaluate(told).split("\n")
        assert lines[0] == "animal 39 row 139"
        assert lines[1:5] == ["kind", "cat", "country", "country 39"]
        assert f"{table['mass'][39]:.0f}" in lines
        assert lines[-1] == "and 5 more, under Colour by"
        page.evaluate(seek % "141")
        assert page.evaluate(told).startswith("animal 41 row 141")
        page.evaluate(seek % "nobody")
        assert page.evaluate("document.getElementById('find').getAttribute('aria-invalid')") == "true"
        assert page.evaluate("document.getElementById('tooltip').hidden")
        press = (
            "document.getElementById('scatter').dispatchEvent(new KeyboardEvent('keydown', {key: '%s', shiftKey: %s}))"
        )
        seen = set()
        for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowDown"):
            page.evaluate(press % (key, "true"))
            seen.add(page.evaluate(told).split("\n")[0])
        assert len(seen) >= 3
        page.evaluate(press % ("Escape", "false"))
        assert page.evaluate("document.getElementById('tooltip').hidden")
        page.evaluate(seek % "animal 3")
        page.screenshot(tmp_path / "table.png")
        assert page.complaints() == []


@pytest.mark.thorough
def test_a_chain_is_taken_as_a_pipeline_is(animals, tmp_path):
    model = make_pipeline(Encoder(), TwoWayEmbedding(maps="kernel")).fit(animals)
    first = report.write(model, tmp_path / "a.html", X=animals)
    second = report.write(as_chain(model), tmp_path / "b.html", X=animals)
    assert first.read_bytes() == second.read_bytes()


def test_an_outlier_does_not_make_all_other_rows_one_colour():
    ordinary = np.arange(100.0)
    one = column_of(np.append(ordinary, 1e6), 101, name="price")
    assert one.colour_limits == (0.0, 99.0)
    assert one.limits == (0.0, 1e6)
    assert one.beyond_colours(one.values) == (0, 1)


def test_counts_that_are_mostly_zero_keep_colours_for_the_others():
    counts = np.concatenate([np.zeros(80), np.arange(1.0, 20.0), [5000.0]])
    assert column_of(counts, 100, name="visits").colour_limits == (0.0, 19.0)


@pytest.mark.parametrize(
    "values",
    [np.arange(10.0), np.repeat([0.0, 1.0], [99, 1]), np.array([np.nan, 3.5]), np.full(4, np.nan), [0, 0, 0, 0, 9.5]],
)
def test_a_column_without_outliers_has_the_colours_of_its_range(values):
    one = column_of(np.asarray(values, dtype=float), len(values), name="x", categorical=False)
    assert one.colour_limits == one.limits
    assert one.beyond_colours(one.values) == (0, 0)


def test_the_legend_is_told_how_many_rows_are_beyond_its_colours(scaled, tmp_path):
    model, X, options = scaled[0], scaled[1], {"colours": {"price": np.append(np.arange(78.0), [-1e5, 1e6])}}
    price = column(written(model, tmp_path, X=X, **options), "price")
    assert (price["low"], price["high"]) == (0.0, 77.0)
    assert price["beyond"] == {"rows": 2, "least": -1e5, "most": 1e6}
    assert "beyond" not in column(written(model, tmp_path, X=X, colours={"price": np.arange(80.0)}), "price")


def test_bars_are_named_from_left_to_right_and_columns_that_do_not_change_are_not_drawn(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"<mass>": rng.normal(size=60), "zero": np.zeros(60), "length": rng.normal(size=60)})
    model = TwoWayEmbedding().fit(frame)
    page = report.write(model, tmp_path / "r.html", X=frame).read_text(encoding="utf-8")
    assert data_of(page)["forward"]["profile"]["names"] == ["<mass>", "length"]
    assert "the 2 features as bars" in page
    assert "Bars, from left to right: &lt;mass&gt;, length. 1 other column does not change over the map." in page


def test_a_report_of_the_command_line_says_what_columns_of_the_files_beside_it_mean(scaled, tmp_path):
    written(scaled[0], tmp_path, X=scaled[1], command="sidelight embed rows.csv")
    assert "<code>density</code> is the share of the rows" in (tmp_path / "r.html").read_text(encoding="utf-8")
    written(scaled[0], tmp_path, X=scaled[1])
    assert "<code>density</code>" not in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_of_many_notes_the_first_are_shown_and_the_others_folded(scaled, tmp_path):
    page = report.write(scaled[0], tmp_path / "r.html", X=scaled[1], notes=[f"Note {k}." for k in range(6)]).read_text()
    assert "<summary>3 more notes</summary><p class='note'>Note 3.</p>" in page


@in_browser
@pytest.mark.thorough
def test_the_page_says_what_is_beyond_the_colours_and_which_bar_is_which(scaled, tmp_path):
    model, X, table, to_data = scaled
    price = np.append(np.arange(79.0), 1e6)
    path = report.write(
        model, tmp_path / "r.html", X=X, table=table, to_data=to_data, colours={"price": price}, colour="price"
    )
    with Page(tmp_path / "profile") as page:
        page.open(path)
        legend = page.evaluate("document.getElementById('legend').innerText")
        assert "≥ 78" in legend
        assert "1 row is beyond the ends and has the colour of one (the range is 0 to 1,000,000)." in legend
        over = "(() => { const view = document.getElementById('forward-view'); view.onpointermove({ offsetX: %d });"
        over += " return view.title; })()"
        assert page.evaluate(over % 30).startswith("mass: ")
        assert page.evaluate(over % 200).startswith("length: ")
