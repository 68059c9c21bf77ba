"""The file itself: whole, safe, the same each time, with what it promises inside."""

import base64
import hashlib
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from sidelight import TwoWayEmbedding, report
from sidelight.plot._plane import plane_of

EVIL = '</script><script>alert(1)</script><img src=x onerror="alert(2)">{{data}}'


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of its scripts."""

    def __init__(self, page):
        super().__init__()
        self.found, self.scripts, self.inside = [], [], False
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.inside = tag == "script"
        if self.inside:
            self.scripts.append("")

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data


def data_of(page):
    return json.loads(Elements(page).scripts[0])


def unpack(packed):
    values = np.frombuffer(base64.b64decode(packed["base64"]), dtype=packed["dtype"])
    return unpack(packed["of"])[values] if "of" in packed else values


def picture_of(address):
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(address.partition(",")[2]))))


@pytest.fixture(scope="module")
def page(model, views, columns, tmp_path_factory):
    path = tmp_path_factory.mktemp("report") / "report.html"
    made = report.write(
        model, path, X=views.X, colours=columns, labels=views.factors["object"], image_shape=views.image_shape,
        title="Turning objects", command="sidelight demo --out out", notes=["A note."],
        seconds=12.345,
    )  # fmt: skip
    assert made == path
    return path.read_text(encoding="utf-8")


def test_the_file_refers_to_nothing_outside_itself(page):
    for tag, attributes in Elements(page).found:
        for name in ("src", "href", "action", "data", "poster", "srcset"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, attributes)
    assert "@import" not in page
    assert not re.search(r"url\((?!data:)", page)
    assert not re.search(r"\b(fetch|XMLHttpRequest|WebSocket|import)\(", page)


def test_the_policy_lets_only_the_reports_own_script_and_style_run(page):
    found = Elements(page)
    policy = next(a["content"] for t, a in found.found if t == "meta" and "http-equiv" in a)
    digest = base64.b64encode(hashlib.sha256(found.scripts[1].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert f"script-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_the_file_is_small(page, model):
    """80 kB of page, script and style; the rest is data, and a drawing of every iteration of the fit.

    How many iterations a fit takes, and so the length of that drawing, differs between processors.
    """
    data = Elements(page).scripts[0]
    drawing = re.search(r"<svg.*?</svg>", page, re.DOTALL).group()
    assert page.count("<svg") == 1
    assert len(page) - len(data) - len(drawing) < 80_000
    assert len(drawing) < 3_000 + 15 * drawing.count("<polyline") * len(model.history_)
    assert len(page) < 400_000


def test_sections_are_all_there_in_order(page):
    names = [a["id"] for t, a in Elements(page).found if t == "section"]
    assert names == [
        "map",
        "meaning",
        "groups",
        "forward",
        "density",
        "quality",
        "cost",
        "path",
        "parameters",
        "origin",
    ]


@pytest.mark.parametrize(
    "words",
    ["<h1>Turning objects</h1>", "60 rows of 144 values (12×12 pictures) on a map of 2 dimensions",
     "made by KernelInformationEmbedding in 12.3 s", "A note.", "sidelight demo --out out", "trustworthiness",
     "neighbour hit", "variance reconstructed from the map", "60 × 144", "iterations", "memory, estimated peak",
     "<dt>perplexity</dt><dd>30.0</dd>", "sidelight 0."],
)  # fmt: skip
def test_the_page_says(page, words):
    assert words in page


def test_parameters_that_are_not_the_default_are_marked(page):
    assert '<div class="changed"><dt>random_state</dt><dd>0</dd></div>' in page
    assert page.count('class="changed"') == 1


def test_points_and_columns_reach_the_script_unchanged(page, model, columns):
    data = data_of(page)["map"]
    points = unpack(data["points"]).reshape(-1, 2)
    np.testing.assert_array_equal(points, model.embedding_.astype(np.float32))
    label, first, second = data["columns"]
    assert [c["name"] for c in (label, first, second)] == ["label", "object", "angle"]
    assert np.array(first["levels"])[unpack(first["codes"])].tolist() == columns["object"].tolist()
    np.testing.assert_array_equal(unpack(second["values"]), columns["angle"].astype(np.float32))
    assert data["rows"] is None


def test_thumbnails_are_the_rows_pictures(page, views):
    sheet = data_of(page)["map"]["thumbnails"]
    pixels = picture_of(sheet["src"])
    low, high = views.X.min(), views.X.max()
    for row in (0, 17, 59):
        y, x = divmod(row, sheet["columns"])
        cell = pixels[y * 12 : (y + 1) * 12, x * 12 : (x + 1) * 12]
        np.testing.assert_allclose(cell, 255 * (views.images[row] - low) / (high - low), atol=0.51)


def test_forward_sheet_is_the_forward_map_on_the_lattice(page, model, views):
    data = data_of(page)["forward"]
    lattice = plane_of(model.embedding_).grid(data["rows"], data["columns"])
    pixels = picture_of(data["sheet"]["src"])
    low, high = views.X.min(), views.X.max()
    for k in (0, 200, data["rows"] * data["columns"] - 1):
        y, x = divmod(k, data["columns"])
        expected = 255 * (model.inverse_transform(lattice.points[k : k + 1])[0] - low) / (high - low)
        cell = pixels[y * 12 : (y + 1) * 12, x * 12 : (x + 1) * 12]
        np.testing.assert_allclose(cell, expected.reshape(12, 12), atol=0.6)
    np.testing.assert_allclose(unpack(data["log_density"]), model.latent_log_density(lattice.points), rtol=1e-5)


def test_density_picture_is_brightest_where_the_density_is_highest(page, model):
    data = data_of(page)["density"]
    shade = picture_of(data["src"])
    lattice = plane_of(model.embedding_, margin=0.4).grid(data["rows"], data["columns"])
    expected = np.exp(model.latent_log_density(lattice.points)).reshape(shade.shape)
    np.testing.assert_allclose((shade / 255.0) ** 2, expected / expected.max(), atol=0.005)
    assert data["peak"] == pytest.approx(expected.max())


@pytest.mark.thorough
def test_the_same_input_gives_the_same_bytes(model, views, columns, tmp_path):
    options = {"X": views.X, "colours": columns, "image_shape": views.image_shape}
    first = report.write(model, tmp_path / "a.html", **options)
    second = report.write(model, tmp_path / "b.html", **options)
    assert first.read_bytes() == second.read_bytes()


def test_no_text_of_the_user_becomes_markup_or_script(table_model, tmp_path):
    model, X = table_model
    frame = pd.DataFrame(X, columns=[f"{EVIL} {k}" for k in range(6)])
    fitted = TwoWayEmbedding().fit(frame)
    column = np.where(np.arange(60) % 2, EVIL, "plain")
    page = report.write(
        fitted, tmp_path / "r.html", X=frame, colours={EVIL: column}, labels=pd.Series(column, name=EVIL), title=EVIL,
        command=EVIL, notes=[EVIL], date=EVIL,
    ).read_text(encoding="utf-8")  # fmt: skip
    harmless = report.write(model, tmp_path / "h.html", X=X, colours={"c": column}).read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.lower().count("<script") == page.lower().count("</script>") == harmless.count("<script") == 2
    assert data_of(page)["map"]["columns"][0]["name"] == EVIL
    assert EVIL in data_of(page)["map"]["columns"][1]["levels"]
    assert not any(name.startswith("on") for _, attributes in Elements(page).found for name in attributes)


def test_an_interrupted_write_leaves_the_old_file(model, tmp_path):
    path = tmp_path / "r.html"
    path.write_text("old")

    def broken(context):
        raise RuntimeError("no section")

    with pytest.raises(RuntimeError):
        report.write(model, path, sections=[broken])
    assert path.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["r.html"]


def test_a_section_can_be_added(model, tmp_path):
    def leakage(context):
        return report.Section(
            "leakage", "Leakage before and after", f"<p>{context.n_rows} rows</p>", {"values": [1, 2]}
        )

    page = report.write(model, tmp_path / "r.html", sections=[*report.SECTIONS, leakage]).read_text(encoding="utf-8")
    assert "Leakage before and after" in page
    assert "<p>60 rows</p>" in page
    assert data_of(page)["leakage"] == {"values": [1, 2]}


def test_the_page_about_the_report_quotes_the_titles_of_its_sections():
    """Titles that the code writes are in the table of docs/report.md, word by word."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "report.md").read_text(encoding="utf-8").lower()
    sources = sorted((root / "src" / "sidelight" / "report").glob("_*section*.py"))
    titles = {title for one in sources for title in re.findall(r'Section\("\w+", "([^"{]+)"', one.read_text("utf-8"))}
    assert len(titles) >= 12
    assert [title for title in sorted(titles) if title.lower() not in page] == []
