"""Asking in Chromium: filters, search, table, walk, three dimensions, reliability, files, and axe-core on all of it."""

import json
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")
sys.path.insert(0, str(Path(__file__).parent))
from opened import PAGE, Opened, chromium, find_chromium

import sidelight
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._kept import write_page
from sidelight.explorer._table import table_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]
ASK = f"{PAGE}.answers"
AXE = Path(__file__).parent / "axe" / "axe.min.js"
N = 300


@pytest.fixture(scope="module")
def wine():
    """300 rows of six columns, with a category, a number and names beside them."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["red", "white", "rosé"], 100)
    X = rng.normal(size=(N, 6)) + 3.0 * np.eye(6)[:3].repeat(100, axis=0)
    age = rng.integers(1, 30, N).astype(float)
    age[::50] = np.nan
    return X, {"kind": kind, "age": age, "price": np.exp(rng.normal(size=N))}


@pytest.fixture
def cellar(wine, tmp_path):
    X, columns = wine
    model = sidelight.TwoWayEmbedding().fit(X)
    table = table_of(model, X, columns, row_names=[f"bottle {row}" for row in range(N)])
    return Explorer(model, table, (), Setting("Wine", tmp_path))


def passing(page):
    found = page.evaluate(f"{ASK}.filters.passing && Array.from({ASK}.filters.passing)")
    return np.ones(N, dtype=bool) if found is None else np.array(found) == 1


def counts(page, name):
    """What the histogram or check list of a column counts now."""
    facet = f"{ASK}.filters.facets.find((one) => one.column.name === '{name}')"
    return page.evaluate(f"Array.from({facet}.now.subarray(0, {facet}.size))")


def choose(page, selector, value, event="change"):
    chosen = f"const one = document.querySelector('{selector}'); one.value = '{value}';"
    page.evaluate(f"(() => {{ {chosen} one.dispatchEvent(new Event('{event}')); }})()")


def box_of(page, selector):
    box = "(({x, y, width, height}) => [x, y, width, height])"
    return page.evaluate(f"{box}(document.querySelector('{selector}').getBoundingClientRect())")


def open_facets(page, *names):
    for name in names:
        facet = f"{ASK}.filters.facets.find((one) => one.column.name === '{name}')"
        page.evaluate(f"{facet}.box.open = true")
        page.wait_until(f"{facet}.values !== null && {facet}.now.length > 0")


def test_filters_combine_and_the_histograms_of_other_columns_follow(cellar, wine, tmp_path):
    kind, age, price = wine[1].values()
    with Opened(tmp_path / "profile", cellar) as page:
        open_facets(page, "kind", "age", "price")
        page.evaluate("[...document.querySelectorAll('.levels input')][0].click()")  # without red
        page.wait_until(f"{ASK}.filters.passing !== null")
        np.testing.assert_array_equal(passing(page), kind != "red")
        assert sum(counts(page, "age")) == ((kind != "red") & np.isfinite(age)).sum()
        assert counts(page, "kind")[:3] == [100, 100, 100]  # its own filter does not count against a column

        smallest = "document.querySelectorAll('.sliders input')[0]"
        page.evaluate(f"{smallest}.focus()")
        for _ in range(9):
            page.key("ArrowRight")
        assert page.evaluate(f"{smallest}.getAttribute('aria-valuetext')") == "10"
        both = (kind != "red") & (age >= 10)
        np.testing.assert_array_equal(passing(page), both)
        levels = ("red", "rosé", "white")
        assert counts(page, "kind")[:3] == [int(((age >= 10) & (kind == level)).sum()) for level in levels]
        assert page.text("passing") == f"{both.sum()} of 300 rows pass"

        box = box_of(page, ".facet-box:nth-of-type(3) .histogram")
        y = box[1] + box[3] / 2
        page.evaluate(f"scrollTo(0, {y - 300})")
        y = y - page.evaluate("scrollY")
        page.mouse("mousePressed", box[0] + 1, y)
        page.mouse("mouseMoved", box[0] + box[2] / 4, y)
        page.mouse("mouseReleased", box[0] + box[2] / 4, y)
        low, high = page.evaluate(f"{ASK}.filters.facets.find((one) => one.column.name === 'price').range")
        np.testing.assert_array_equal(passing(page), both & (price >= low) & (price <= high))

        page.evaluate(f"{PAGE}.select([...Array({N}).keys()], 'replace')")
        assert set(page.evaluate(f"[...{PAGE}.selected]")) == set(np.flatnonzero(passing(page)))
        out = int(np.flatnonzero(~passing(page))[0])
        x, y = page.evaluate(f"{PAGE}.scatter.placeOf({out})")
        assert page.evaluate(f"{PAGE}.scatter.pick({x}, {y})") != out
        page.click("Clear filters")
        page.wait_until(f"{ASK}.filters.passing === null")


def test_no_row_is_lost_at_the_ends_of_a_range_and_rare_categories_are_filtered_one_by_one(tmp_path):
    """The page has 32-bit floats: 0.7 arrives below itself, 1.1 above. 33 of 60 categories share a colour."""
    share = np.resize([0.7, 0.8, 0.9, 1.0, 1.1], N)
    region = np.array([f"region {row % 60:02d}" for row in range(N)])
    X = np.random.default_rng(0).normal(size=(N, 3))
    model = sidelight.ProbabilisticPCA(2).fit(X)
    explorer = Explorer(model, table_of(model, X, {"share": share, "region": region}))
    with Opened(tmp_path / "profile", explorer) as page:
        for low, high in ((0.7, 0.9), (0.9, 1.1), (0.8, 1.0)):
            page.evaluate(f"{ASK}.filters.set('share', {{range: [{low}, {high}]}})")
            np.testing.assert_array_equal(passing(page), (share >= low) & (share <= high))
        page.evaluate(f"{ASK}.filters.set('share', {{range: null}})")
        open_facets(page, "region")
        assert counts(page, "region")[:60] == [5] * 60
        page.evaluate("[...document.querySelectorAll('.levels label')].find((l) => l.title === 'region 59').click()")
        page.wait_until(f"{ASK}.filters.passing !== null")
        np.testing.assert_array_equal(passing(page), region != "region 59")
        choose(page, "#colour", 1)
        page.wait_until("document.getElementById('legend').innerText.includes('33 others')")
        assert page.evaluate("document.querySelectorAll('#legend .dot').length") == 28


def test_a_search_rings_matches_goes_to_the_next_and_selects_all(cellar, wine, tmp_path):
    with Opened(tmp_path / "profile", cellar) as page:
        page.evaluate("document.querySelector('#find input').focus()")
        page.call("Input.insertText", text="ROSÉ")
        page.wait_until("document.getElementById('found').textContent === '100 found'")
        rows = np.flatnonzero(wine[1]["kind"] == "rosé")
        assert page.evaluate(f"{PAGE}.scatter.rings") == rows.tolist()
        page.key("Enter")
        page.wait_until(f"{PAGE}.row?.row === {rows[0]}")
        page.key("Enter")
        page.wait_until(f"{PAGE}.row?.row === {rows[1]}")
        page.key("Enter", modifiers=8)
        page.wait_until(f"{PAGE}.row?.row === {rows[0]}")
        page.evaluate("document.querySelector('[aria-label=\"Select all matches\"]').click()")
        assert set(page.evaluate(f"[...{PAGE}.selected]")) == set(rows)
        page.evaluate(f"{ASK}.filters.set('kind', {{off: [1]}})")  # rosé
        page.wait_until("document.getElementById('found').textContent === 'no row'")
        assert page.evaluate(f"{PAGE}.selected.size") == 0


def test_the_table_is_sorted_virtual_and_linked_both_ways(cellar, wine, tmp_path):
    age = wine[1]["age"]
    with Opened(tmp_path / "profile", cellar) as page:
        page.evaluate("document.getElementById('table-open').click()")
        page.wait_until("document.querySelectorAll('#table tr[data-row]').length > 5")
        page.wait_until("!document.querySelector('#table tbody').innerText.includes('…')")
        assert page.evaluate("document.querySelectorAll('#table tr[data-row]').length") < 40
        head = "[...document.querySelectorAll('#table .sorter')].find((b) => b.textContent.startsWith('age'))"
        page.evaluate(f"{head}.click()")
        page.wait_until("document.querySelector('#table [aria-sort=ascending]') !== null")
        order = sorted(range(N), key=lambda row: (np.isnan(age[row]), np.nan_to_num(age[row]), row))
        page.wait_until(f"{ASK}.table.order[0] === {order[0]}")
        assert page.evaluate(f"Array.from({ASK}.table.order)") == order
        page.evaluate(f"{head}.click()")
        down = sorted(range(N), key=lambda row: (np.isnan(age[row]), -np.nan_to_num(age[row]), row))
        page.wait_until(f"{ASK}.table.order[0] === {down[0]}")
        assert page.evaluate(f"Array.from({ASK}.table.order)") == down

        page.evaluate("document.querySelector('#table .rows').focus()")
        page.key("ArrowDown")
        page.wait_until(f"{PAGE}.row?.row === {down[1]}")  # the table marks the point
        page.key(" ", "Space")
        assert page.evaluate(f"[...{PAGE}.selected]") == [down[1]]
        page.key("End")
        last = f"document.querySelector('#table tr[data-row=\"{down[-1]}\"]')"
        page.wait_until(f"{last}?.innerText.includes('bottle {down[-1]}')")
        page.key("Home")
        page.wait_until(f"document.querySelector('#table tr[data-row=\"{down[0]}\"]') !== null")
        page.hover(down[2])  # the map marks the line
        page.wait_until(f"document.querySelector('#table tr.marked')?.dataset.row === '{down[2]}'")

        page.evaluate(f"{PAGE}.scatter.onselect([5, 7, 9], 'replace')")
        page.wait_until(f"{ASK}.table.order.length === 3")
        assert page.evaluate("document.querySelector('#table select').value") == "selection"


def test_a_walk_by_pointer_and_by_keys_is_a_strip_of_what_the_model_decodes(explorer, model, tmp_path):
    with Opened(tmp_path / "profile", explorer) as page:
        start, end = page.place(3), page.place(20)
        page.evaluate("document.querySelector('[name=tool][value=walk]').click()")
        page.mouse("mousePressed", *start)
        for share in np.linspace(0, 1, 12)[1:]:
            page.mouse("mouseMoved", *(np.array(start) * (1 - share) + np.array(end) * share))
        page.mouse("mouseReleased", *end)
        page.wait_until(f"document.querySelectorAll('#walk .frame').length === 12 && !{ASK}.walk.asking")
        places = np.array(page.evaluate(f"{ASK}.walk.places"))
        steps = np.array(page.evaluate(f"{ASK}.walk.steps.map((one) => one.values)"))
        np.testing.assert_allclose(steps, model.inverse_transform(places), atol=1e-6)
        far = np.linalg.norm(np.diff(places, axis=0), axis=1)
        np.testing.assert_allclose(far, far.mean(), rtol=0.2)
        page.evaluate("document.getElementById('stage-overlay').focus()")
        page.key("Escape")
        page.wait_until("document.getElementById('walk').hidden")
        for _ in range(4):
            page.key("ArrowRight")
        page.wait_until(f"{ASK}.walk.steps.length === 12 && {ASK}.walk.path.length === 5 && !{ASK}.walk.asking")
        assert page.evaluate(f"{ASK}.walk.path[4][0] > {ASK}.walk.path[0][0]")


def test_three_dimensions_turn_and_are_picked_as_they_are_seen(wine, tmp_path):
    from sklearn.decomposition import PCA

    X, columns = wine
    model = sidelight.TwoWayEmbedding(PCA(3)).fit(X)
    with Opened(tmp_path / "profile", Explorer(model, table_of(model, X, columns))) as page:
        before = np.array(page.evaluate(f"Array.from({PAGE}.scatter.points)")).reshape(N, 2)
        turn = np.array(page.evaluate(f"{ASK}.space.turn")).reshape(3, 3)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-9)
        Z = model.embedding_ - model.embedding_.mean(axis=0)
        np.testing.assert_allclose(before, (Z @ turn.T)[:, :2], atol=1e-4)
        decoded = page.hover(int(np.argmax(Z @ turn[2])))  # the row in front of all
        row = page.evaluate(f"{PAGE}.row.row")
        np.testing.assert_allclose(decoded, model.inverse_transform(model.embedding_[[row]])[0], atol=0.3)
        page.evaluate("document.getElementById('stage-overlay').focus()")
        page.key("ArrowRight")
        page.wait_until(f"{ASK}.space.turn[0] !== {turn[0, 0]}")
        x, y, width, height = box_of(page, "#stage")
        middle = x + width / 2, y + height / 2
        page.mouse("mousePressed", *middle)
        page.mouse("mouseMoved", middle[0] + 80, middle[1] + 30)
        page.mouse("mouseReleased", middle[0] + 80, middle[1] + 30)
        turn = np.array(page.evaluate(f"{ASK}.space.turn")).reshape(3, 3)
        seen = np.array(page.evaluate(f"Array.from({PAGE}.scatter.points)")).reshape(N, 2)
        np.testing.assert_allclose(seen, (Z @ turn.T)[:, :2], atol=1e-4)
        corners = [(x + 4, y + 4), (x + 8, y + 8), (middle[0], y + height - 4)]
        assert page.draw(corners, "box") == {row for row in range(N) if page.place(row)[0] < middle[0]}
        page.evaluate("document.getElementById('deep').click()")
        page.wait_until("document.querySelectorAll('#axes select').length === 2")
        flat = np.array(page.evaluate(f"Array.from({PAGE}.scatter.points)")).reshape(N, 2)
        np.testing.assert_allclose(flat, model.embedding_[:, :2], atol=1e-5)


def test_pairs_of_axes_of_a_map_of_four_dimensions(wine, tmp_path):
    from sklearn.decomposition import PCA

    X, columns = wine
    model = sidelight.TwoWayEmbedding(PCA(4)).fit(X)
    with Opened(tmp_path / "profile", Explorer(model, table_of(model, X, columns))) as page:
        choose(page, "#axes select:first-of-type", 3)
        page.wait_until(f"{PAGE}.axes[0] === 3")
        choose(page, "#axes select:last-of-type", 2)
        page.wait_until(f"{PAGE}.axes[1] === 2 && Math.abs({PAGE}.scatter.points[1] - {model.embedding_[0, 2]}) < 1e-4")
        points = np.array(page.evaluate(f"Array.from({PAGE}.scatter.points)")).reshape(N, 2)
        np.testing.assert_allclose(points, model.embedding_[:, [3, 2]], atol=1e-5)
        page.wait_until(f"{PAGE}.scatter.share === 1")
        decoded = page.hover(11)  # what is not shown is that of the row
        row = page.evaluate(f"{PAGE}.row.row")
        np.testing.assert_allclose(decoded, model.inverse_transform(model.embedding_[[row]])[0], atol=0.3)


def test_reliability_is_computed_on_demand_as_a_colour_and_a_layer(cellar, wine, tmp_path):
    with Opened(tmp_path / "profile", cellar) as page:
        choose(page, "#colour", "judge")
        page.wait_until(f"{PAGE}.column?.name === 'reliability'")
        truth = np.asarray(sidelight.explain.reliability(cellar.map().fitted.model, wine[0])["reliability"])
        page.wait_until(f"{PAGE}.values?.length === {N}")
        np.testing.assert_allclose(page.evaluate(f"Array.from({PAGE}.values)"), truth, atol=1e-6)
        choose(page, "#layer", "reliability")
        page.wait_until(f"{PAGE}.scatter.layer !== null")


def test_a_selection_is_downloaded_in_three_formats(cellar, tmp_path):
    with Opened(tmp_path / "profile", cellar) as page:
        folder = tmp_path / "downloads"
        page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
        page.evaluate(f"{PAGE}.select([4, 8], 'replace')")
        for text in ("CSV", "Parquet", "Numbers"):
            page.click(text)
        names = [folder / name for name in ("selection.csv", "selection.parquet", "selection.txt")]
        end = time.monotonic() + 30
        while not all(name.exists() and name.stat().st_size for name in names):
            assert time.monotonic() < end, list(folder.iterdir()) if folder.exists() else "nothing was written"
            time.sleep(0.1)
        assert names[2].read_text() == "4\n8\n"
        assert names[0].read_text().splitlines()[1].startswith("4,bottle 4,")
        assert names[1].read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 360])
def test_axe_finds_nothing_serious_with_every_panel_open(width, dark, cellar, tmp_path):
    with Opened(tmp_path / "profile", cellar, width=width, height=800, dark=dark) as page:
        open_facets(page, "kind", "age")
        page.evaluate("document.getElementById('table-open').click()")
        page.evaluate(f"{PAGE}.select([0, 1, 2, 150], 'replace')")
        page.evaluate(f"{ASK}.filters.set('age', {{range: [0, 25]}})")
        choose(page, "#find input", "red", "input")
        walk = f"const s = {PAGE}.scatter; for (let k = 0; k < 9; k++) s.onwalk(s.toMap(40 + 20 * k, 90), k === 0);"
        page.evaluate(f"(() => {{ {walk} }})()")
        for selector in ("#selection .effects", "#walk table", "#table tr[data-row]"):
            page.wait_until(f"document.querySelector('{selector}') !== null")
        page.wait_until("document.getElementById('found').textContent.endsWith('found')")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.evaluate(AXE.read_text())
        found = json.loads(page.evaluate("axe.run(document).then((found) => JSON.stringify(found.violations))"))
        told = [(one["id"], one["impact"], [node["html"][:160] for node in one["nodes"]][:4]) for one in found]
        assert [one for one in told if one[1] in ("serious", "critical")] == [], told


def test_a_page_that_was_kept_as_a_file_filters_searches_sorts_and_walks(cellar, wine, tmp_path):
    kind, age, _ = wine[1].values()
    path = write_page(cellar, tmp_path / "kept.html")
    with chromium.Page(tmp_path / "profile") as page:
        page.open(path)
        page.evaluate("document.getElementById('table-open').click()")
        page.wait_until("document.querySelector('#table tbody')?.innerText.includes('bottle 0')", 60)
        page.evaluate(f"{ASK}.filters.set('kind', {{off: [0]}})")  # red
        page.wait_until(f"{ASK}.filters.passing !== null")
        np.testing.assert_array_equal(passing(page), kind != "red")
        choose(page, "#find input", "bottle 29", "input")
        page.wait_until("document.getElementById('found').textContent === '10 found'", 60)
        head = "[...document.querySelectorAll('#table .sorter')].find((b) => b.textContent.startsWith('age'))"
        page.evaluate(f"{head}.click()")
        order = sorted(
            np.flatnonzero(kind != "red"), key=lambda row: (np.isnan(age[row]), np.nan_to_num(age[row]), row)
        )
        page.wait_until(f"{ASK}.table.order[0] === {order[0]}", 60)
        assert page.evaluate(f"Array.from({ASK}.table.order)") == [int(row) for row in order]
        walk = f"const s = {PAGE}.scatter; for (let k = 0; k < 9; k++) s.onwalk(s.toMap(300 + 20 * k, 200), k === 0);"
        page.evaluate(f"(() => {{ {walk} }})()")
        page.wait_until("document.querySelector('#walk table') !== null", 60)
