"""Telling and steering in Chromium: dragged rows, named axes, changed statements, pairs, a fresh process, two tabs."""

import json
import subprocess
import sys

import numpy as np
import pytest

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")
from opened import PAGE, Opened, find_chromium

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.evaluate import neighbour_hit
from sidelight.explorer import Statement
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._table import table_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.thorough,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]
EVIL = "<img src=x onerror=alert(1)>\u202e</script>=1+1"


def points(page):
    return np.array(page.evaluate(f"Array.from({PAGE}.scatter.points)")).reshape(-1, 2)


def refit(page, maps):
    page.click("Re-fit")
    page.wait_until(f"document.querySelectorAll('#history li').length === {maps}")
    page.wait_until(f"{PAGE}.scatter.share === 1")


def choose(page, label, value):
    page.evaluate(
        f"(() => {{ const s = document.querySelector('select[aria-label=\"{label}\"]'); s.value = {json.dumps(value)};"
        "s.dispatchEvent(new Event('change')); })()"
    )


def test_dragged_rows_are_held_where_they_were_put_and_undo_brings_them_back(explorer, tmp_path):
    with Opened(tmp_path / "profile", explorer) as page:
        first = points(page)
        x, y = page.place(1)
        page.draw([(x, y), (x + 9, y), (x + 20, y)], "drag")  # without a selection nothing moves
        assert explorer.session.statements == ()
        assert "Select the rows" in page.text("notice")
        page.evaluate(f"{PAGE}.select([0, 1, 2, 3], 'replace')")
        start, s = page.place(1), page.evaluate(f"{PAGE}.scatter.view.s")
        page.draw([start, (start[0] + 30, start[1] + 20), (start[0] + 80, start[1] - 60)], "drag")
        page.wait_until(f"{PAGE}.state.statements.length === 1")
        page.wait_until("document.getElementById('notice').textContent.includes('Re-fit holds them there')")
        assert "4 rows moved" in page.text("statements")
        target = first[:4] + np.array([80.0, 60.0]) / s
        page.wait_until(f"{PAGE}.scatter.share === 1")
        np.testing.assert_allclose(points(page)[:4], target, atol=1e-3)
        page.evaluate("document.querySelector('[aria-label=\"Move the selection up\"]').click()")  # by keyboard
        page.wait_until(f"{PAGE}.state.can.undo && {PAGE}.scatter.points[1] > {target[0, 1] + 1e-3}")
        page.click("Undo")
        page.wait_until(f"Math.abs({PAGE}.scatter.points[1] - {target[0, 1]}) < 1e-3")

        refit(page, 2)
        assert "Held: 4 rows" in page.text("notice")
        np.testing.assert_allclose(points(page)[:4], target, atol=1e-3)
        assert np.abs(points(page)[4:] - first[4:]).max() > 1e-3  # the others found other places
        assert "replay(session" in page.text("code")
        page.click("Undo")
        page.wait_until("document.querySelectorAll('#history li').length === 1")
        page.click("Undo")
        page.wait_until("document.querySelectorAll('#statements li').length === 0")
        page.wait_until(f"{PAGE}.scatter.share === 1")
        assert points(page).tobytes() == first.tobytes()
        for _ in range(2):
            page.click("Redo")
            page.wait_until(f"!{PAGE}.asking")
        page.wait_until("document.querySelectorAll('#history li').length === 2")
        page.wait_until(f"{PAGE}.scatter.share === 1")
        np.testing.assert_allclose(points(page)[:4], target, atol=1e-3)


def test_an_axis_shows_a_column_and_a_statement_is_changed_by_the_form(model, views, columns, tmp_path):
    bright = {"bright": views.X.sum(axis=1), EVIL: np.where(np.arange(36) % 2, EVIL, "b")}
    explorer = Explorer(model, table_of(model, views.X, columns | bright), (), Setting("Views", tmp_path))
    with Opened(tmp_path / "profile", explorer) as page:
        choose(page, "Column", EVIL)
        page.click("Show on an axis")
        page.wait_until("document.querySelectorAll('#statements li').length === 1")
        assert f"an axis shows {EVIL}" in page.text("statements")
        page.click("Edit")
        page.wait_until("document.activeElement?.getAttribute('aria-label') === 'New column'")
        choose(page, "New column", "bright")
        page.click("Change")
        page.wait_until(f"{PAGE}.state.statements[0].words === 'an axis shows bright'")
        assert "Relation.from_values" in page.text("code")
        refit(page, 2)
        assert page.evaluate("document.querySelector('.axis.x').textContent") == "bright →"
        page.wait_until("document.querySelectorAll('#measures thead th').length === 3")
        page.click("Map 0")
        page.wait_until(f"{PAGE}.state.current === 0 && {PAGE}.scatter.share === 1")
        head = "[...document.querySelectorAll('#measures thead th')].map((one) => one.textContent).join()"
        page.wait_until(f"{head} === 'measure,Map 1,now'")  # the map that was shown before, not the one in front of it
        page.click("Map 1")
        page.wait_until(f"{PAGE}.state.current === 1 && {PAGE}.scatter.share === 1")
        page.wait_until(f"{head} === 'measure,Map 0,now'")
        assert np.corrcoef(points(page)[:, 0], bright["bright"])[0, 1] > 0.95  # to the right, not mirrored

        page.evaluate(f"{PAGE}.select([0, 1], 'replace')")
        page.click("Drop")
        page.wait_until(f"{PAGE}.state.statements.length === 2")
        page.evaluate(f"{PAGE}.select([4, 5, 6], 'replace')")
        page.evaluate(
            "[...document.querySelectorAll('#statements button')].filter((b) => b.textContent === 'Edit')[1].click()"
        )
        page.evaluate("document.querySelector('#statements form input[type=checkbox]').click()")
        page.click("Change")
        page.wait_until(f"{PAGE}.state.statements[1].words === 'fit without 3 rows'")
        assert explorer.session.statements[1].rows == (4, 5, 6)
        choose(page, "Column", "object")
        page.click("Factor out")
        page.wait_until("document.getElementById('notice').classList.contains('warn')")
        assert "cannot factor anything out" in page.text("notice")
        assert page.evaluate("document.querySelectorAll('img, aside script').length") == 0
        assert [one for one in page.complaints() if "WebGL" not in str(one) and "400" not in str(one)] == []


def test_pairs_that_are_said_to_be_the_same_or_different_make_the_hit_rise(tmp_path):
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1], 60)
    X = np.column_stack([kind + rng.normal(scale=0.3, size=120), 3 * rng.normal(size=(120, 5))])
    model = KernelInformationEmbedding(random_state=0, max_iter=60, tol=1e-3).fit(X)
    explorer = Explorer(model, table_of(model, X), (), Setting("Two kinds", tmp_path))
    with Opened(tmp_path / "profile", explorer) as page:
        before = neighbour_hit(points(page), kind)
        for rows in (range(30), range(60, 90)):
            page.evaluate(f"{PAGE}.select({list(rows)}, 'replace')")
            page.click("These are the same")
            page.wait_until(f"{PAGE}.state.statements.length === {1 if rows[0] == 0 else 2}")
        page.evaluate(f"{PAGE}.other = new Set({list(range(60, 90))})")
        page.evaluate(f"{PAGE}.select({list(range(30))}, 'replace')")
        page.click("A and B differ")
        page.wait_until(f"{PAGE}.state.statements.length === 3")
        refit(page, 2)
        assert "learned a metric" in page.text("notice")
        rest = np.r_[30:60, 90:120]  # rows of which nothing was said
        assert neighbour_hit(points(page), kind) > before + 0.2
        assert neighbour_hit(points(page)[rest], kind[rest]) > 0.8


def test_a_saved_session_gives_the_same_model_in_a_fresh_process(explorer, model, views, columns, hints, tmp_path):
    sidelight.save(model, tmp_path / "base.sidelight")
    np.savez(tmp_path / "rows.npz", X=views.X, **columns)
    with Opened(tmp_path / "profile", explorer) as page:
        explorer.say(hints)
        page.wait_until(f"{PAGE}.state.statements.length === {len(hints)}")
        refit(page, 2)
        page.click("Save")
        page.wait_until("document.getElementById('notice').textContent.startsWith('Written')")
        shown = page.evaluate("document.querySelector('#code code').textContent")
    script = f"""
import numpy as np, sidelight
rows = np.load("rows.npz", allow_pickle=True)
X, columns = rows["X"], {{name: rows[name] for name in ("object", "angle")}}
base = sidelight.load("base.sidelight")
session = sidelight.explorer.Session.load("session.json")
model = sidelight.explorer.replay(session, base, X, columns)
np.save("replayed.npy", model.embedding_)
np.save("kept.npy", sidelight.load("model.sidelight").embedding_)
{shown}
np.save("typed.npy", model.embedding_)
"""
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    own = explorer.map().fitted.embedding
    for name in ("replayed", "kept", "typed"):
        assert np.load(tmp_path / f"{name}.npy").tobytes() == own.tobytes(), name


def test_two_tabs_show_the_same_session(explorer, tmp_path):
    with Opened(tmp_path / "profile", explorer) as page:
        one = page.session
        target = page.call_browser("Target.createTarget", url=page.served.address)["targetId"]
        two = page.call_browser("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

        def in_tab(tab):
            page.session = tab
            page.call("Page.bringToFront")

        in_tab(two)
        page.wait_until("document.documentElement?.dataset.ready === 'yes'")
        page.evaluate(f"{PAGE}.select([0, 1, 2], 'replace')")
        page.click("Drop")
        page.wait_until(f"{PAGE}.state.statements.length === 1")
        in_tab(one)
        page.wait_until(f"{PAGE}.state.statements.length === 1")
        refit(page, 2)
        own = points(page)
        in_tab(two)
        page.wait_until("document.querySelectorAll('#history li').length === 2")
        page.wait_until(f"{PAGE}.scatter.share === 1")
        np.testing.assert_array_equal(points(page), own)
        page.click("Undo")
        in_tab(one)
        page.wait_until("document.querySelectorAll('#history li').length === 1")
        page.visit()  # a reload keeps the session
        assert page.evaluate("document.querySelectorAll('#statements li').length") == 1
        assert explorer.session.statements == (Statement("drop", rows=[0, 1, 2]),)
