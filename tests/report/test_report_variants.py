"""Reports about other models and data: tables, one or many dimensions, many rows, less that is known."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from test_report_file import data_of, picture_of, unpack

from sidelight import TwoWayEmbedding, report


class OneWay:
    """A model with an embedding and nothing else."""

    def __init__(self, Z):
        self.embedding_ = Z


def written(tmp_path, model, **options):
    return report.write(model, tmp_path / "r.html", **options).read_text(encoding="utf-8")


def sections_of(page):
    return [
        name for name in ("map", "forward", "density", "quality", "cost", "path") if f'<section id="{name}"' in page
    ]


def test_a_table_offers_its_features_as_colours_and_shows_profiles(table_model, tmp_path):
    model, X = table_model
    frame = pd.DataFrame(X, columns=list("abcdef"))
    page = written(tmp_path, model, X=frame)
    data = data_of(page)
    assert [column["name"] for column in data["map"]["columns"]] == list("abcdef")
    assert {column["group"] for column in data["map"]["columns"]} == {"Features"}
    profile = data["forward"]["profile"]
    assert profile["names"] == list("abcdef")
    assert profile["bars"]
    assert len(unpack(profile["heights"])) == 6 * data["forward"]["rows"] * data["forward"]["columns"]
    assert "the 6 features as bars" in page


def test_of_many_features_the_profile_shows_those_that_change_most(tmp_path):
    scale = np.where(np.arange(100) % 2, 5.0, 0.1)
    X = np.random.default_rng(0).normal(size=(50, 2)) @ np.random.default_rng(1).normal(size=(2, 100)) * scale
    page = written(tmp_path, TwoWayEmbedding().fit(X), X=X)
    names = data_of(page)["forward"]["profile"]["names"]
    assert len(names) == 60
    assert sum(int(name.split()[1]) % 2 for name in names) == 50
    assert "the 60 of 100 features that change most as a line" in page


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_come_from_data_frames(table_model, tmp_path, frame):
    model, _ = table_model
    colours = frame({"kind": ["a", "b"] * 30, "mass": np.linspace(0, 1, 60)})
    columns = data_of(written(tmp_path, model, colours=colours))["map"]["columns"]
    assert [(c["name"], c["kind"]) for c in columns] == [("kind", "categories"), ("mass", "numbers")]


def test_a_model_that_only_has_an_embedding_gets_its_map(tmp_path):
    page = written(tmp_path, OneWay(np.random.default_rng(0).normal(size=(30, 2))))
    assert sections_of(page) == ["map", "cost"]
    assert "30 rows on a map of 2 dimensions, made by OneWay." in page


@pytest.mark.parametrize("q", [1, 3, 5])
def test_other_dimensions_are_shown_and_explained(views, tmp_path, q):
    Z = np.random.default_rng(0).normal(size=(60, q))
    model = TwoWayEmbedding().fit(views.X, embedding=Z)
    page = written(tmp_path, model, X=views.X, image_shape=views.image_shape)
    data = data_of(page)
    assert data["map"]["dimensions"] == q
    if q == 1:
        assert "height is jitter" in page
        assert data["forward"]["rows"] == 1
        assert unpack(data["density"]["curve"]).max() == 1.0
    else:
        assert f"The first two of {q} latent dimensions are shown" in page


def test_without_the_rows_thumbnails_are_reconstructions_and_the_page_says_so(model, views, tmp_path):
    page = written(tmp_path, model, image_shape=views.image_shape)
    sheet = data_of(page)["map"]["thumbnails"]
    assert picture_of(sheet["src"]).shape == (8 * 12, 8 * 12)
    assert "Thumbnails are the rows as the model reconstructs them." in page
    assert "quality" not in sections_of(page)


def test_new_rows_are_sent_through_transform(model, views, tmp_path):
    rows = views.X[:7]
    points = unpack(data_of(written(tmp_path, model, X=rows))["map"]["points"]).reshape(-1, 2)
    np.testing.assert_array_equal(points, model.transform(rows).astype(np.float32))


def test_of_too_many_rows_evenly_spaced_ones_are_shown_and_the_page_says_so(tmp_path):
    Z = np.random.default_rng(0).normal(size=(5000, 2))
    page = written(tmp_path, OneWay(Z), colours={"row": np.arange(5000.0)}, max_rows=101)
    data = data_of(page)["map"]
    kept = unpack(data["rows"])
    assert "101 evenly spaced rows of 5,000 are shown" in page
    assert (kept[0], kept[-1], len(kept)) == (0, 4999, 101)
    np.testing.assert_array_equal(unpack(data["columns"][0]["values"]), kept)
    np.testing.assert_array_equal(unpack(data["points"]).reshape(-1, 2), Z[kept].astype(np.float32))


def test_long_identifiers_are_not_rounded(tmp_path):
    numbers = 10**12 + np.arange(20) * 7
    column = data_of(written(tmp_path, OneWay(np.random.default_rng(0).normal(size=(20, 2))), colours={"id": numbers}))
    np.testing.assert_array_equal(unpack(column["map"]["columns"][0]["values"]), numbers)


def test_colour_pictures_keep_their_colours(tmp_path):
    X = np.random.default_rng(0).uniform(size=(30, 4 * 5 * 3))
    page = written(tmp_path, TwoWayEmbedding().fit(X), X=X, image_shape=(4, 5, 3))
    pixels = picture_of(data_of(page)["map"]["thumbnails"]["src"])
    expected = (X[0].reshape(4, 5, 3) - X.min()) / (X.max() - X.min())
    np.testing.assert_allclose(pixels[:4, :5], 255 * expected, atol=0.51)


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_very_few_rows_are_enough(tmp_path, n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    page = written(tmp_path, OneWay(X[:, :2]), X=X)
    assert ("quality" in sections_of(page)) == (n > 3)
    assert f"{n} {'row' if n == 1 else 'rows'} of 3 values" in page


def test_a_date_is_shown_only_if_given(table_model, tmp_path):
    assert "2031-02-03" in written(tmp_path, table_model[0], date="2031-02-03")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"X": np.zeros((3, 4)), "embedding": np.zeros((5, 2))}, "report: X=3 rows is not one row for each of the 5"),
        ({"X": np.array([["a", "b"]] * 60)}, "is not a table of numbers"),
        ({"image_shape": (3, 3)}, "report: image_shape=(3, 3) has 9 pixels, but a row has 6 values"),
        ({"image_shape": (6,)}, "is neither (height, width) nor (height, width, 3)"),
        ({"colours": {"mass": [1, 2]}}, "column: mass=shape (2,) does not give 60 rows one value each"),
        ({"colours": np.zeros(60)}, "report: colours=ndarray has no named columns"),
    ],
)
def test_bad_arguments_get_a_sentence(table_model, tmp_path, options, words):
    with pytest.raises(ValueError) as error:
        report.write(table_model[0], tmp_path / "r.html", **options)
    assert words in str(error.value)
    assert not (tmp_path / "r.html").exists()


def test_an_unfitted_model_gets_a_sentence(tmp_path):
    with pytest.raises(ValueError, match="report: model=TwoWayEmbedding has no embedding_"):
        report.write(TwoWayEmbedding(), tmp_path / "r.html")
