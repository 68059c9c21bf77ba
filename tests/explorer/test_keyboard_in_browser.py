"""A whole session by keyboard alone in Chromium: ask, tell, steer and keep, with the focus always in sight."""

import json
import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")
from keyboard import Keyboard
from opened import PAGE, Opened, find_chromium

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._table import table_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]
AXE = Path(__file__).parent / "axe" / "axe.min.js"
N = 60


@pytest.fixture
def cellar(tmp_path):
    """60 rows of four columns, in three kinds and two batches."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["red", "rosé", "white"], 20)
    batch = np.array(["u", "v"])[np.arange(N) % 2]
    X = rng.normal(size=(N, 4)) + 3.0 * np.eye(4)[:3].repeat(20, axis=0) + 2.0 * (batch == "v")[:, None]
    age = np.arange(N) % 30 + 1.0
    model = KernelInformationEmbedding(random_state=0, max_iter=60, tol=1e-3).fit(X)
    names = [f"bottle {row}" for row in range(N)]
    table = table_of(model, X, {"kind": kind, "batch": batch, "age": age}, row_names=names)
    return Explorer(model, table, (), Setting("Wine", tmp_path / "kept"))


@pytest.fixture
def session(cellar, tmp_path):
    """A page that is driven by keys, and nothing else."""
    with Opened(tmp_path / "profile", cellar) as page:
        page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path / "downloads"))
        yield page, Keyboard(page)
        assert [one for one in page.complaints() if "WebGL" not in str(one)] == []


def selected(page, which="selected"):
    return set(page.evaluate(f"[...{PAGE}.{which}]"))


def some_rows(page, keys, ways):
    """Rows along a way over the map, selected one by one."""
    keys.to(map_name(page))
    for way in ways:
        keys.key(way, shift=True)
        if page.evaluate(f"!{PAGE}.selected.has({PAGE}.scatter.marked)"):
            keys.key(" ")
    return selected(page)


def press_while_it_can_be_pressed(page, keys, name):
    button = f"document.getElementById('{name.lower()}')"
    while page.evaluate(f"!{button}.disabled"):
        version = page.evaluate(f"{PAGE}.state.version")
        assert keys.at == name
        keys.key("Enter")
        keys.wait(f"PAGE.state.version !== {version} && {button}.disabled === !PAGE.state.can.{name.lower()}")


def map_name(page):
    return page.evaluate("document.getElementById('stage-overlay').getAttribute('aria-label')")


def downloaded(folder, pattern):
    end = time.monotonic() + 30
    while not (found := [one for one in folder.glob(pattern) if one.stat().st_size]):
        assert time.monotonic() < end, "nothing was written"
        time.sleep(0.1)
    return found[0]


def test_asking_by_keyboard(session, cellar, tmp_path):
    page, keys = session
    # Rows are walked to and selected; Space takes one back; the skip link leads to the map.
    keys.press("To the map")
    keys.wait("document.activeElement.id === 'stage-overlay' || location.hash === '#stage-overlay'")
    first = some_rows(page, keys, ("ArrowRight", "ArrowDown", "ArrowDown"))
    assert len(first) == 3
    keys.key(" ")
    assert len(selected(page)) == 2
    keys.key(" ")
    keys.wait("document.querySelector('#selection .effects') !== null")
    keys.press("Download the selection as CSV")
    lines = downloaded(tmp_path / "downloads", "*.csv").read_text().splitlines()
    assert {int(line.split(",")[0]) for line in lines[1:]} == first
    keys.press("Clear")
    assert selected(page) == set()
    assert page.evaluate("document.activeElement.closest('#filters') !== null")  # what comes next, not the page's top

    # Filters by range and by category, and what passes becomes the selection.
    keys.press("age")
    keys.wait("document.querySelector('[aria-label=\"age: smallest value\"]') !== null")  # the histogram is drawn
    keys.to("age: smallest value")
    keys.key(*["ArrowRight"] * 14)
    keys.press("kind")
    keys.wait("[...document.querySelectorAll('#filters .level')].some((e) => e.textContent === 'white')")
    keys.press("white", within="filters", key=" ")
    age, kind = (cellar.table.columns[name] for name in ("age", "kind"))
    passing = set(np.flatnonzero((age >= 15) & (kind != "white")))
    keys.wait(f"document.getElementById('passing').textContent === '{len(passing)} of 60 rows pass'")
    keys.press("Select the rows that pass")
    keys.wait(f"PAGE.selected.size === {len(passing)}")
    assert selected(page) == passing
    keys.press("Clear filters")
    keys.wait("PAGE.answers.filters.passing === null")
    assert page.evaluate("document.activeElement.closest('#filters') !== null")

    # Colours, layers, search, table.
    keys.choose("Colour", "age")
    keys.wait("PAGE.column?.name === 'age'")
    keys.choose("Layer", "density")
    keys.wait("PAGE.scatter.layer !== null")
    keys.to("Find rows by number, name or value")
    keys.write("bottle 5")
    keys.key("Enter", "Enter")
    keys.wait("PAGE.row?.row === 50", 15)  # 5, then 50
    keys.press("Select all matches")
    keys.wait("PAGE.selected.size === 11")
    keys.press("Table")
    keys.choose("Rows in the table", "rows that pass")
    keys.to("Rows. Arrow keys go from row to row, Space selects the row.")
    keys.key("ArrowDown", "ArrowDown", " ")
    keys.wait("PAGE.selected.has(2)")
    keys.press("age", within="table")
    keys.wait("PAGE.answers.table.order[0] === 0 && PAGE.answers.table.order[1] === 30")
    assert keys.at.startswith("age")

    # A walk.
    keys.to("Move")
    keys.key("ArrowRight", "ArrowRight", "ArrowRight")
    assert keys.at == "Walk"
    keys.to(map_name(page))
    keys.key("ArrowRight", "ArrowRight", "ArrowDown")
    keys.wait("PAGE.answers.walk.steps.length === 12")
    keys.press("Close the walk")
    keys.wait("document.getElementById('walk').hidden")
    assert keys.at  # the focus went to something else


def test_telling_steering_and_keeping_by_keyboard(session, cellar, tmp_path):
    page, keys = session
    first = some_rows(page, keys, ("ArrowRight", "ArrowDown"))
    keys.press("Keep as B")
    assert selected(page, "other") == first
    assert page.evaluate("document.activeElement.closest('#selection') !== null")
    second = some_rows(page, keys, ("ArrowLeft", "ArrowLeft", "ArrowUp"))
    assert second
    assert not second & first
    keys.press("A and B are the same")
    keys.wait("document.querySelectorAll('#statements li').length === 1")
    keys.choose("Column", "batch")
    keys.press("Factor out")
    keys.wait("document.querySelectorAll('#statements li').length === 2")
    assert cellar.session.statements[1].column == "batch"
    keys.press("Drop")
    keys.wait("document.querySelectorAll('#statements li').length === 3")
    assert page.evaluate("document.querySelector('#say select').value") == "batch"  # what was chosen stays
    keys.to("Label", within="say")
    keys.write("odd")
    keys.key("Enter")
    keys.wait("PAGE.state.statements.length === 4")
    assert cellar.session.statements[3].value == "odd"
    keys.press("Forget: " + page.evaluate(f"{PAGE}.state.statements[3].words"))
    keys.wait("PAGE.state.statements.length === 3")
    assert page.evaluate("document.activeElement.closest('#statements') !== null")

    # A statement is switched off and edited; the form has the focus, and gives it back.
    keys.to(page.evaluate(f"{PAGE}.state.statements[2].words"))
    keys.key(" ")
    keys.wait("!PAGE.state.statements[2].on")
    keys.press(f"Edit: {page.evaluate(f'{PAGE}.state.statements[1].words')}")
    assert keys.at == "New column"
    keys.key("Home")
    keys.press("Change")
    keys.wait("PAGE.state.statements[1].words.includes('kind')")
    assert page.evaluate("document.activeElement.closest('#statements') !== null")
    keys.press(f"Edit: {page.evaluate(f'{PAGE}.state.statements[1].words')}")
    page.evaluate(AXE.read_text())
    found = json.loads(page.evaluate("axe.run(document).then((found) => JSON.stringify(found.violations))"))
    assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
    keys.key("ArrowDown")
    keys.press("Change")
    keys.wait("PAGE.state.statements[1].words.includes('batch')")

    # A fit that hangs is stopped, the next one is awaited; the focus goes from button to button.
    keys.press("Re-fit")
    keys.wait("document.getElementById('stop') !== null")
    os.kill(cellar.job.process.pid, signal.SIGSTOP)
    assert keys.at == "Stop"
    keys.key("Enter")
    keys.wait("document.getElementById('job-message')?.textContent.includes('old map is kept')")
    assert keys.at == "Re-fit"
    keys.key("Enter")
    keys.wait("document.querySelectorAll('#history li').length === 2")
    keys.wait("PAGE.scatter.share === 1 && !PAGE.state.job.state.includes('running')")
    keys.wait("document.activeElement.textContent === 'Map 1'")
    keys.choose("Given batch", "v")
    keys.wait("PAGE.given?.batch === 'v'")
    keys.press("Map 0")
    keys.wait("PAGE.state.current === 0")
    assert keys.at == "Map 0"

    # Undo and redo, by their buttons and by their keys.
    keys.to("Undo")
    press_while_it_can_be_pressed(page, keys, "Undo")
    keys.wait("PAGE.state.maps.length === 1 && PAGE.state.statements.length === 0")
    assert keys.at == "Redo"  # its neighbour, which can be pressed
    press_while_it_can_be_pressed(page, keys, "Redo")
    keys.wait("PAGE.state.maps.length === 2")
    assert keys.at == "Undo"

    # Save and export.
    keys.press("Map 1")
    keys.wait("PAGE.state.current === 1")
    keys.press("Save")
    keys.wait("document.getElementById('notice').textContent.startsWith('Written')")
    kept = sidelight.load(tmp_path / "kept" / "model.sidelight")
    assert kept.embedding_.tobytes() == cellar.map().fitted.embedding.tobytes()
    keys.press("Report")
    keys.wait("document.getElementById('notice').textContent.includes('report.html')")
    assert (tmp_path / "kept" / "report.html").stat().st_size > 50_000
    assert keys.at == "Report"
    keys.press("Export")
    keys.wait("document.getElementById('notice').textContent.startsWith('One file')")
    assert "data-kept" in downloaded(tmp_path / "downloads", "Wine.html").read_text()
