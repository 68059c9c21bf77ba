"""A view kept as one file: what is in it, what fits, and the page it is, offline, in Chromium."""

import base64
import json
import re
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import PCA

from sidelight import TwoWayEmbedding
from sidelight.explorer import Statement
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._kept import kept_page, write_page
from sidelight.explorer._table import table_of

sys.path.insert(0, str(Path(__file__).parents[1] / "report"))
from chromium import Page, find_chromium

EVIL = "</script><img src=x onerror=alert(1)>\u202e"
PAGE = "document.getElementById('stage').page"


def sections(page):
    found = re.findall(r'<script type="text/plain" data-kept="(\w+)">([A-Za-z0-9+/=]*)</script>', page.decode())
    return {name: zlib.decompress(base64.b64decode(text)) for name, text in found}


def table_explorer(n, folder, statements=()):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4)) * [3, 2, 1, 0.5]
    model = TwoWayEmbedding(PCA(2)).fit(X)
    columns = {EVIL: np.where(X[:, 0] > 0, EVIL, "=1+1"), "score": X[:, 1] * 2, "few": np.round(X[:, 2])}
    table = table_of(model, X, columns, row_names=[f"{EVIL}{k}" for k in range(n)])
    return Explorer(model, table, statements, Setting(EVIL, folder))


@pytest.fixture
def given_explorer(given_model, views, columns, tmp_path):
    table = table_of(given_model, views.X, {"angle": columns["angle"]}, given={"object": columns["object"]},
                     image_shape=views.image_shape)  # fmt: skip
    return Explorer(given_model, table, (), Setting("Turntable", tmp_path))


def test_the_file_has_the_map_and_nothing_that_a_name_could_break(tmp_path):
    explorer = table_explorer(50, tmp_path)
    page = kept_page(explorer, {"colour": EVIL, "rows": [3, 5]})
    text = page.decode()
    assert "onerror" not in text
    assert text.count("<script") == text.count("</script>")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    found = sections(page)
    head = json.loads(found["head"])
    planes = np.frombuffer(found["z0"], np.uint8).reshape(2, -1).astype(int)
    places = head["places"][0]["low"] + head["places"][0]["step"] * (planes[0] + 256 * planes[1])
    own = explorer.map().places[:, 0]
    np.testing.assert_allclose(places, own, atol=np.ptp(own) / 65000)
    assert [one["name"] for one in head["state"]["columns"]] == [EVIL, "score", "few", "x1", "x2", "x3", "x4"]
    assert head["view"]["rows"] == [3, 5]
    assert not any(head["state"]["say"].values())


@pytest.mark.thorough
def test_columns_that_do_not_fit_are_left_out_and_named(tmp_path):
    explorer = table_explorer(400, tmp_path)
    whole = kept_page(explorer, {}).decode()
    data = sum(len(text) for text in re.findall(r"data-kept=.*", whole))
    limit = len(whole) - data + 60_000 + 8_000  # 60,000 are for what is counted roughly
    page = kept_page(explorer, {}, largest=limit)
    assert len(page) < limit
    head = json.loads(sections(page)["head"])
    assert head["left"]
    assert any("Left out" in text and head["left"][0] in text for text in head["state"]["kept"])
    with pytest.raises(ValueError, match="too many for one file"):
        kept_page(explorer, {}, largest=100_000)


@pytest.mark.thorough
def test_a_million_points_stay_below_forty_megabytes(tmp_path):
    n, rng = 1_000_000, np.random.default_rng(0)
    X = rng.normal(size=(n, 6)).astype(np.float32)
    model = TwoWayEmbedding(PCA(2)).fit(X[:2000])
    names = np.array([f"kind {k}" for k in range(12)])
    columns = {"kind": names[rng.integers(0, 12, n)], "score": rng.normal(size=n)}
    page = kept_page(Explorer(model, table_of(model, X, columns), (), Setting("Million", tmp_path)), {})
    assert len(page) < 40_000_000
    assert {"z0", "z1", "c0", "c1"} <= set(sections(page))


class Opened(Page):
    def __init__(self, profile, path):
        super().__init__(profile)
        self.path = path

    def __enter__(self):
        super().__enter__()
        self.open(self.path)
        return self

    def wait_until(self, expression, seconds=90):
        super().wait_until(expression, seconds)

    def ask(self, method, path, said=None):
        return self.evaluate(f"{PAGE}.source.{method}({json.dumps(path)}{', ' + json.dumps(said) if said else ''})")


def same_features(here, there, rtol):
    """The page's features are those of the server, in its order, with its numbers."""
    assert [one["name"] for one in here] == [one["name"] for one in there]
    for mine, own in zip(here, there, strict=True):
        keys = ["here", "there", "effect", "low", "high", "fdr"]
        np.testing.assert_allclose([mine[key] for key in keys], [own[key] for key in keys], rtol=rtol, atol=rtol)


browser = pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)")


@browser
@pytest.mark.browser
@pytest.mark.thorough
def test_a_printed_page_shows_the_points(tmp_path):
    """The drawing of WebGL is gone by the time a page is printed, and the map was blank."""
    path = write_page(table_explorer(60, tmp_path), tmp_path / "map.html")
    under = "document.querySelector('.stage canvas')"
    drawn = f"{under}.getContext('2d').getImageData(0, 0, {under}.width, {under}.height).data.some((one) => one > 0)"
    with Opened(tmp_path / "profile", path) as page:
        assert not page.evaluate(drawn)
        assert page.evaluate(f"(dispatchEvent(new Event('beforeprint')), {drawn})")
        frames = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))"
        page.evaluate(f"(dispatchEvent(new Event('afterprint')), {frames})")
        assert not page.evaluate(drawn)


@browser
@pytest.mark.browser
@pytest.mark.thorough
def test_the_file_of_a_table_shows_what_the_model_says_offline(tmp_path):
    explorer = table_explorer(300, tmp_path, [Statement("drop", rows=[1])])
    path = write_page(explorer, tmp_path / "map.html")
    with Opened(tmp_path / "profile", path) as page:
        points = np.array(page.evaluate(f"Array.from({PAGE}.scatter.points)")).reshape(-1, 2)
        Z = explorer.map().places
        np.testing.assert_allclose(points, Z, atol=np.ptp(Z) / 60000)
        row = page.ask("get", "row?at=7")
        X = explorer.table.X
        np.testing.assert_allclose(row["values"], X[7], rtol=1e-6)
        assert row["name"] == f"{EVIL}7"
        np.testing.assert_allclose(row["columns"]["score"], 2 * X[7, 1], rtol=1e-6)
        assert row["columns"][EVIL] in (EVIL, "=1+1")
        place = Z[7].tolist()
        decoded = page.ask("post", "decode", {"place": place})["values"]
        np.testing.assert_allclose(decoded, explorer.map().decode(place, None, (0, 1), None)["values"], atol=0.05)
        page.evaluate(f"{PAGE}.select([3, 4, 7], 'replace')")
        page.wait_until("document.getElementById('selection').innerText.includes('A: 3 rows')")
        for rows, others in ([3, 4, 7], None), ([3], None), ([3], [9]), (list(range(40)), list(range(90, 130))):
            mine = page.ask("post", "summary", {"rows": rows, "others": others})
            own = explorer.map().summary(np.array(rows), None if others is None else np.array(others))
            same_features(mine["features"], own["features"], 2e-5)
        page.wait_until("document.getElementById('selection').innerText.includes('What sets it apart')")
        csv = page.evaluate(f"{PAGE}.source.postForText('export', {{rows: [3, 7]}})")
        assert csv.count("\n") == 3
        assert "\n=1+1" not in csv.replace(",", "\n")
        assert "fit without 1 row" in page.evaluate("document.getElementById('statements').innerText")
        assert "sidelight explore" in page.evaluate("document.getElementById('say').innerText")
        assert page.evaluate("document.querySelectorAll('img, aside script').length") == 0
        assert page.evaluate("document.getElementById('title').textContent") == EVIL
        refusal = page.evaluate(f"{PAGE}.source.post('refit').then(() => '', (error) => error.message)")
        assert "has no model" in refusal
        assert [one for one in page.complaints() if "WebGL" not in str(one)] == []
        assert page.requests() == [path.resolve().as_uri()]


@browser
@pytest.mark.browser
@pytest.mark.thorough
def test_the_file_of_pictures_decodes_places_for_each_category(given_explorer, given_model, tmp_path):
    view = {"colour": "angle", "layer": "density", "given": {"object": "duck"}, "rows": [2], "window": [-1, 1, -1, 1]}
    path = tmp_path / "map.html"
    path.write_bytes(kept_page(given_explorer, view))
    with Opened(tmp_path / "profile", path) as page:
        assert page.evaluate(f"{PAGE}.given") == {"object": "duck"}
        assert page.evaluate(f"[...{PAGE}.selected]") == [2]
        assert page.evaluate("document.getElementById('colour').selectedOptions[0].text") == "angle"
        assert page.evaluate("document.getElementById('layer').value") == "density"
        left, right, bottom, top = page.evaluate(f"{PAGE}.scatter.seen()")
        assert [left + right, bottom + top] == pytest.approx([0, 0], abs=0.1)  # the legend takes lines of the stage
        assert min(right - left, top - bottom) == pytest.approx(2, abs=0.1)
        place = given_model.embedding_[2].tolist()
        for value in ("duck", "mug"):
            values = page.ask("post", "decode", {"place": place, "given": {"object": value}})["values"]
            own = given_model.inverse_transform([place], given=value)[0]
            other = given_model.inverse_transform([place], given="car")[0]
            assert np.abs(np.array(values) - own).mean() < 0.35 * np.abs(own - other).mean()
        mine = page.ask("post", "summary", {"rows": [0, 1, 2, 3, 4]})
        own = given_explorer.map().summary(np.arange(5), None)
        assert mine["after"] == own["after"] == ["object"]
        np.testing.assert_allclose(mine["here_mean"], own["here_mean"], atol=0.001)
        effects = {one["name"]: one["effect"] for one in own["features"]}
        found = {one["name"]: one["effect"] for one in mine["features"]}
        both = [name for name in effects if name in found]  # the 60 largest of 64: the last may be others
        assert len(both) > 50
        assert {name: found[name] for name in both} == pytest.approx(
            {name: effects[name] for name in both}, rel=0.001, abs=1e-4
        )
        shown = page.ask("get", "row?at=2")["values"]
        np.testing.assert_allclose(shown, given_explorer.table.X[2], atol=0.005)
        assert [one for one in page.complaints() if "WebGL" not in str(one)] == []


def test_a_wide_table_keeps_the_units_of_every_feature_and_its_gaps(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 80)) * np.geomspace(1e-3, 1e6, 80)
    model = TwoWayEmbedding(PCA(2)).fit(X)
    X[3, 5] = np.nan
    table = table_of(model, np.nan_to_num(X), {})
    explorer = Explorer(model, table, (), Setting("Wide", tmp_path))
    object.__setattr__(table, "X", X)  # a table with a gap, which the map above does without
    found = sections(kept_page(explorer, {}))
    head = json.loads(found["head"])["rows"]
    planes = np.frombuffer(found["rows"], np.uint8).reshape(2, -1).astype(int)
    codes = (planes[0] + 256 * planes[1]).reshape(X.shape)
    assert np.argwhere(codes == 65535).tolist() == [[3, 5]]
    low, high = np.array(head["low"]), np.array(head["high"])
    kept = np.where(codes == 65535, np.nan, low + (high - low) * codes / 65534)
    assert np.nanmax(np.abs(kept - X) / np.nanmax(np.abs(X), axis=0)) < 1 / 20000
