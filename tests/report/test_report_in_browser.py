"""The report in Chromium: hover, colours, legend, zoom, both themes, a phone; no error and no request."""

import re

import numpy as np
import pandas as pd
import pytest
from chromium import Page, find_chromium
from PIL import Image
from scipy.stats import ttest_ind

from sidelight import KernelInformationEmbedding, TwoWayEmbedding, explain, report

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]

PLACE = """(() => {
  const canvas = document.getElementById("scatter"), box = canvas.getBoundingClientRect();
  const [x, y] = canvas.scatter.toPage(canvas.scatter.points[2 * %d], canvas.scatter.points[2 * %d + 1]);
  return [box.x + x, box.y + y];
})()"""
COLOURS = """(() => {
  const canvas = document.getElementById("scatter");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  const found = new Set();
  for (let k = 0; k < data.length; k += 4) found.add(data[k] + "," + data[k + 1] + "," + data[k + 2]);
  return found.size;
})()"""


@pytest.fixture(scope="module")
def written(model, views, columns, tmp_path_factory):
    return report.write(
        model, tmp_path_factory.mktemp("browser") / "report.html", X=views.X, colours=columns,
        image_shape=views.image_shape, title="Turning objects & </script> friends",
    )  # fmt: skip


def text_of(page, name):
    return page.evaluate(f"document.getElementById('{name}').innerText")


def choose_colour(page, value):
    page.evaluate(
        "(() => { const select = document.getElementById('colour');"
        f"select.value = '{value}'; select.dispatchEvent(new Event('change')); }})()"
    )


def hover(page, row):
    page.move_to(*page.evaluate(PLACE % (row, row)))
    page.wait_until("!document.getElementById('tooltip').hidden")


@pytest.mark.thorough
def test_hover_colour_zoom_and_screenshot(written, views, tmp_path):
    with Page(tmp_path / "profile") as page:
        page.open(written)
        hover(page, 25)
        tooltip = text_of(page, "tooltip")
        assert "row 25" in tooltip
        assert views.factors["object"][25] in tooltip
        assert page.evaluate("document.querySelectorAll('#tooltip canvas').length") == 1
        assert "log density" in text_of(page, "forward-text")

        categories = text_of(page, "legend")
        assert set(np.unique(views.factors["object"])) <= set(categories.split())
        choose_colour(page, 1)
        numbers = text_of(page, "legend")
        assert numbers != categories
        assert numbers.split()[0] == "angle"
        assert "342" in numbers
        assert "missing" in numbers

        before = page.evaluate(PLACE % (0, 0))
        page.evaluate("document.getElementById('zoom-in').click()")
        assert page.evaluate(PLACE % (0, 0)) != before
        page.evaluate("document.getElementById('zoom-reset').click()")
        assert page.evaluate(PLACE % (0, 0)) == pytest.approx(before)

        page.move_to(2, 2)
        page.wait_until("document.getElementById('tooltip').hidden")
        page.screenshot(tmp_path / "report.png")
        assert page.complaints() == []
        assert page.requests() == [written.as_uri()]
    picture = np.asarray(Image.open(tmp_path / "report.png").convert("RGB"))
    assert picture.shape == (900, 1280, 3)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 200


@pytest.mark.thorough
def test_legend_hides_and_shows_a_category(written, tmp_path):
    with Page(tmp_path / "profile") as page:
        page.open(written)
        hover(page, 0)
        page.evaluate("document.querySelector('#legend button').click()")
        page.move_to(2, 2)
        page.wait_until("document.getElementById('tooltip').hidden")
        page.move_to(*page.evaluate(PLACE % (0, 0)))
        assert "row 0" not in text_of(page, "tooltip").splitlines()
        assert page.evaluate("document.querySelector('#legend button').getAttribute('aria-pressed')") == "false"
        page.evaluate("document.querySelector('#legend button').click()")
        page.move_to(2, 2)
        hover(page, 0)
        assert "row 0" in text_of(page, "tooltip")


@pytest.mark.thorough
def test_a_narrow_dark_screen_shows_everything_within_its_width(written, tmp_path):
    with Page(tmp_path / "profile", width=390, height=800, dark=True) as page:
        page.open(written)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 26)"
        for name in ("scatter", "mosaic", "density-picture"):
            canvas = f"document.getElementById('{name}')"
            width, height = page.evaluate(f"[{canvas}.offsetWidth, {canvas}.offsetHeight]")
            assert 200 < width <= 390
            assert height > 100
        page.wait_until(f"{COLOURS} > 5")  # drawn when the browser gets to it
        assert page.complaints() == []


@pytest.mark.thorough
def test_many_points_a_table_and_hostile_text_open_without_error(table_model, tmp_path):
    """The pixel painter (many rows), profiles (no pictures), and text that tries to be script."""
    fitted, _ = table_model
    rng = np.random.default_rng(0)
    evil = "</script><script>document.title = 'broken'</script><img src=x onerror=alert(1)>"
    many = report.write(
        fitted, tmp_path / "r.html", embedding=rng.normal(size=(8000, 2)), title=evil,
        colours={evil: np.where(np.arange(8000) % 2, evil, "plain")},
    )  # fmt: skip
    with Page(tmp_path / "profile") as page:
        page.open(many)
        hover(page, 11)
        assert evil in text_of(page, "tooltip")
        assert evil in text_of(page, "legend")
        assert "feature 0" in text_of(page, "forward-values")
        assert page.evaluate("document.title") == evil
        assert page.evaluate(COLOURS) > 5
        assert page.complaints() == []
        assert page.requests() == [many.as_uri()]


@pytest.mark.thorough
def test_the_browser_would_tell_of_an_error_and_of_a_request(tmp_path):
    """What the tests above find empty is not always empty."""
    page_file = tmp_path / "bad.html"
    page_file.write_text(
        "<html data-ready='yes'><script>console.error('one')</script>"
        "<script>throw new Error('two')</script><img src='http://127.0.0.1:9/three.png'></html>"
    )
    with Page(tmp_path / "profile") as page:
        page.open(page_file)
        page.wait_until("document.readyState === 'complete'")
        told = str(page.complaints())
        assert "one" in told
        assert "two" in told
        assert "http://127.0.0.1:9/three.png" in page.requests()


@pytest.mark.thorough
def test_sliders_and_clicks_choose_a_place_and_a_value(views, tmp_path):
    given = {"object": views.factors["object"]}
    fitted = KernelInformationEmbedding(random_state=0).fit(views.X, given=given)
    path = report.write(
        fitted, tmp_path / "r.html", X=views.X, given=given, plain=fitted.embedding_, image_shape=views.image_shape,
        colours={"angle": views.factors["angle"]}, periods={"angle": 360.0},
    )  # fmt: skip
    with Page(tmp_path / "profile") as page:
        page.open(path)
        assert text_of(page, "across-text-0") == "object = car, place 1 of 12"
        before = page.evaluate("document.getElementById('across-view-0').toDataURL()")
        page.evaluate(
            "(() => { const slider = document.getElementById('across-value-0');"
            "slider.value = 2; slider.dispatchEvent(new Event('input')); })()"
        )
        assert text_of(page, "across-text-0") == "object = mug, place 1 of 12"
        assert page.evaluate("document.getElementById('across-view-0').toDataURL()") != before
        page.evaluate(
            "(() => { const grid = document.getElementById('across-grid-0'), box = grid.getBoundingClientRect();"
            "const cell = (box.width - 84) / 12;"
            "const at = { clientX: box.x + 84 + 4.5 * cell, clientY: box.y + 1.5 * cell };"
            "grid.dispatchEvent(new MouseEvent('click', at)); })()"
        )
        assert text_of(page, "across-text-0") == "object = duck, place 5 of 12"
        marked = [page.evaluate(f"document.getElementById('given-map-{k}').scatter.marked") for k in range(3)]
        assert marked[0] == -1
        assert marked[1] == marked[2] >= 0
        assert page.complaints() == []
        assert page.requests() == [path.as_uri()]


@pytest.mark.thorough
def test_a_selection_is_compared_with_the_other_rows(tmp_path):
    """A lasso, the rows in view and the keyboard; numbers as NumPy has them; hostile names stay text."""
    rng = np.random.default_rng(0)
    evil = "</script><script>document.title = 'broken'</script><img src=x onerror=alert(1)>"
    kind = np.repeat([evil, "plain"], 40)
    X = rng.normal(size=(80, 4)) + np.outer(kind == evil, [6.0, 0.0, -2.0, 0.0])
    table = pd.DataFrame(X, columns=[evil, "b", "c", "d"])
    path = report.write(TwoWayEmbedding(maps="kernel").fit(X), tmp_path / "r.html", X=table, colours={"kind": kind})
    with Page(tmp_path / "profile") as page:
        page.open(path)
        box = page.evaluate("(() => { const b = document.getElementById('scatter').getBoundingClientRect();"
                            "return [b.x, b.y, b.width, b.height]; })()")  # fmt: skip
        page.evaluate("document.getElementById('lasso').click()")
        corners = [(0.01, 0.01), (0.5, 0.01), (0.5, 0.99), (0.01, 0.99)]
        places = [(box[0] + u * box[2], box[1] + v * box[3]) for u, v in corners]
        events = ["mousePressed", *["mouseMoved"] * 3, "mouseReleased"]
        for kind_of, place in zip(events, [*places, places[-1]], strict=True):
            page.call("Input.dispatchMouseEvent", type=kind_of, x=place[0], y=place[1], button="left", buttons=1)
        page.wait_until("!document.getElementById('selection').hidden")
        own = np.array(page.evaluate("[...document.getElementById('scatter').scatter.selected]"), dtype=bool)
        assert 10 < own.sum() < 70
        said = text_of(page, "selection")
        assert f"{own.sum()} rows selected, compared with the other {(~own).sum()}" in said
        line = next(line for line in said.splitlines() if line.startswith(evil))
        a, b = X[own, 0], X[~own, 0]
        effect = (a.mean() - b.mean()) / np.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
        welch = ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
        ends = np.array([welch.low, welch.high]) * effect / (a.mean() - b.mean())
        shown = re.findall(r"[+\u2212]\d+\.\d", line.split("\t")[-1])
        np.testing.assert_allclose([float(s.replace("\u2212", "-")) for s in shown], [effect, *ends], atol=0.051)
        assert page.evaluate("document.title") != "broken"
        page.evaluate("document.getElementById('clear-selection').click()")
        assert page.evaluate("document.getElementById('selection').hidden")
        page.evaluate("document.getElementById('scatter').scatter.zoom(3)")
        page.evaluate("document.getElementById('in-view').focus()")
        for kind_of in ("keyDown", "keyUp"):
            page.call("Input.dispatchKeyEvent", type=kind_of, key="Enter", code="Enter", text="\r")
        page.wait_until("!document.getElementById('selection').hidden")
        assert 0 < page.evaluate("document.getElementById('scatter').scatter.selected.reduce((a, b) => a + b, 0)") < 80
        assert evil in text_of(page, "groups")
        assert page.complaints() == []
        assert page.requests() == [path.as_uri()]


@pytest.mark.thorough
def test_unreliable_rows_are_faded_and_reliability_is_a_colour(table_model, tmp_path):
    model, X = table_model
    path = report.write(model, tmp_path / "r.html", X=X)
    expected = explain.reliability(model, X).reliability.to_numpy()
    with Page(tmp_path / "profile") as page:
        page.open(path)
        hover(page, 3)
        assert f"reliability\n{expected[3]:.2f}".rstrip("0") in text_of(page, "tooltip")
        assert page.evaluate("document.getElementById('scatter').scatter.faint") is None
        page.evaluate("document.getElementById('fade').click()")
        faint = page.evaluate("[...document.getElementById('scatter').scatter.faint]")
        np.testing.assert_array_equal(np.array(faint, dtype=bool), np.round(expected, 2) < 0.5)
        choose_colour(page, 6)
        assert text_of(page, "legend").split()[0] == "reliability"
        values = text_of(page, "forward-values")
        assert re.search(r"\(-?[\d.e-]+ to -?[\d.e-]+\)", values)
        assert page.complaints() == []
