"""The explorer in Chromium: hover, given, lasso, statements, refit, undo, killed worker, two tabs, keys, a phone."""

import os
import signal

import numpy as np
import pytest
from matplotlib.path import Path as Outline

pytest.importorskip("starlette", reason="needs the extra explore")
pytest.importorskip("uvicorn", reason="needs the extra explore")
from opened import PAGE, Opened, chromium, find_chromium

from sidelight import explorer as room
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._table import table_of

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(find_chromium() is None, reason="no chromium on this machine (apt-get install chromium)"),
]
EVIL = "<img src=x onerror=alert(1)>\u202e</script>"


@pytest.fixture
def given_explorer(given_model, views, columns, tmp_path):
    table = table_of(
        given_model, views.X, {"angle": columns["angle"], EVIL: np.array([EVIL] * 36)},
        given={"object": columns["object"]}, image_shape=views.image_shape, row_names=[EVIL] * 36,
    )  # fmt: skip
    return Explorer(given_model, table, (), Setting(EVIL, tmp_path))


@pytest.mark.thorough
def test_hover_given_and_lasso_say_what_the_model_says(given_explorer, given_model, tmp_path):
    with Opened(tmp_path / "profile", given_explorer) as page:
        Z = given_model.embedding_
        averaged = page.hover(7)
        x, y = page.evaluate(f"{PAGE}.place")
        np.testing.assert_allclose([x, y], Z[7], atol=0.05 * Z.std())  # the pointer stands on whole pixels
        np.testing.assert_allclose(averaged, given_model.inverse_transform([[x, y]])[0], atol=1e-6)
        assert "Row 7" in page.text("here")
        for value in ("mug", "duck"):
            page.evaluate(
                f"(() => {{ const s = document.querySelector('#controls select'); s.value = '{value}';"
                f"{PAGE}.here = null; s.dispatchEvent(new Event('change')); }})()"
            )
            page.wait_until(f"{PAGE}.here !== null && !{PAGE}.asking")
            x, y = page.evaluate(f"{PAGE}.place")
            decoded = np.array(page.evaluate(f"{PAGE}.here.values"))
            np.testing.assert_allclose(decoded, given_model.inverse_transform([[x, y]], given=value)[0], atol=1e-6)
            assert np.abs(decoded - averaged).max() > 1e-3

        rng = np.random.default_rng(0)
        box = page.evaluate("(({x, y, width, height}) => [x, y, width, height])"
                            "(document.getElementById('stage-overlay').getBoundingClientRect())")  # fmt: skip
        turn = np.sort(rng.uniform(0, 2 * np.pi, 14))
        reach = rng.uniform(0.1, 0.48, 14) * min(box[2:])
        corners = np.round(
            [box[0] + box[2] / 2, box[1] + box[3] / 2] + reach[:, None] * np.c_[np.cos(turn), np.sin(turn)]
        )
        within = Outline(corners).contains_points([page.place(row) for row in range(36)])
        assert 0 < within.sum() < 36
        assert page.draw(corners.tolist()) == set(np.flatnonzero(within))
        page.wait_until("document.querySelectorAll('#selection .pictures').length > 0")
        assert f"A: {within.sum()} row" in page.text("selection")
        x0, y0 = corners[0].tolist()
        middle = round(box[0] + box[2] / 2)
        boxed = page.draw([(box[0] + 5, box[1] + 5), (x0, y0), (middle, box[1] + box[3] - 5)], "box")
        assert boxed == {row for row in range(36) if page.place(row)[0] < middle}

        assert page.evaluate("document.querySelectorAll('img, aside script').length") == 0
        assert page.text("title") == EVIL
        mine = [one for one in page.complaints() if "WebGL" not in str(one)]
        assert mine == []
        assert all(address.startswith(page.served.address) for address in page.requests())


@pytest.mark.thorough
def test_hints_refit_undo_and_a_killed_worker(explorer, model, views, columns, hints, tmp_path):
    with Opened(tmp_path / "profile", explorer) as page:
        first = page.evaluate(f"Array.from({PAGE}.scatter.points)")
        for one in hints[1:]:
            page.evaluate(f"{PAGE}.other = new Set({list(one.others)})")
            page.evaluate(f"{PAGE}.select({list(one.rows)}, 'replace')")
            page.click("A and B are the same")
            page.wait_until(f"!{PAGE}.state.fresh && {PAGE}.state.statements.length === {hints.index(one)}")
        page.click("Factor out")
        page.wait_until(f"{PAGE}.state.statements.length === {len(hints)}")
        assert "given=given, same=same" in page.text("code")

        page.click("Re-fit")
        page.wait_until("document.getElementById('stop') !== null")
        os.kill(explorer.job.process.pid, signal.SIGKILL)
        page.wait_until("document.getElementById('job-message') !== null")
        assert "The old map is kept" in page.text("job-message")
        assert page.evaluate(f"Array.from({PAGE}.scatter.points)") == first

        page.click("Re-fit")
        page.wait_until("document.querySelectorAll('#history li').length === 2", 90)
        page.wait_until("document.querySelectorAll('#measures thead th').length === 3")
        second = page.evaluate(f"Array.from({PAGE}.scatter.points)")
        assert second != first
        told = [explorer.measures(at)["columns"][0]["value"] for at in (0, 1)]
        assert told[1] < told[0] - 0.3
        script = room.replay(page.served.session, model, views.X, columns)
        assert script.embedding_.tobytes() == page.served.model.embedding_.tobytes()

        page.click("Undo")
        page.wait_until("document.querySelectorAll('#history li').length === 1")
        assert page.evaluate(f"Array.from({PAGE}.scatter.points)") == first
        explorer.forget(0)  # as another tab would
        page.wait_until(f"{PAGE}.state.statements.length === {len(hints) - 1}")
        page.visit()  # a reload keeps the session
        assert page.evaluate("document.querySelectorAll('#statements li').length") == len(hints) - 1


@pytest.mark.thorough
def test_the_keyboard_alone_selects_rows_and_says_something(explorer, tmp_path):
    with Opened(tmp_path / "profile", explorer) as page:
        page.evaluate("document.getElementById('stage-overlay').focus()")
        for key in ("ArrowRight", "ArrowDown", "ArrowUp", "ArrowLeft"):
            page.key(key, modifiers=8)
            page.key(" ", "Space")
        page.wait_until(f"{PAGE}.selected.size >= 2")
        seen = []
        for _ in range(40):
            page.key("Tab")
            seen.append(page.evaluate("document.activeElement.textContent"))
            if seen[-1] == "These are the same":
                break
        assert seen[-1] == "These are the same", seen
        page.key("Enter")
        page.wait_until("document.querySelectorAll('#statements li').length === 1")
        names = page.evaluate(
            "[...document.querySelectorAll('button, input, select, canvas[tabindex]')].map((e) => "
            "(e.getAttribute('aria-label') || e.closest('label')?.textContent || e.textContent || '').trim())"
        )
        assert all(names), names


@pytest.mark.thorough
@pytest.mark.parametrize("dark", [False, True])
def test_a_phone_scrolls_downwards_only(dark, explorer, tmp_path):
    with Opened(tmp_path / "profile", explorer, width=360, height=720, dark=dark) as page:
        page.evaluate(f"{PAGE}.select([0, 1, 2], 'replace')")
        page.wait_until("document.querySelectorAll('#selection .pictures').length > 0")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(18, 21, 26)") == dark


@pytest.mark.thorough
def test_webgl_draws_where_there_is_some(explorer, tmp_path, monkeypatch):
    flags = [flag for flag in chromium.FLAGS if flag != "--disable-gpu"]
    monkeypatch.setattr(chromium, "FLAGS", (*flags, "--use-angle=swiftshader", "--enable-unsafe-swiftshader"))
    with Opened(tmp_path / "profile", explorer) as page:
        if page.evaluate("document.getElementById('stage').dataset.drawing") != "webgl":
            pytest.skip("this Chromium has no software WebGL")
        page.wait_until(f"{PAGE}.scatter.n === 36")
        shot = tmp_path / "shot.png"
        page.screenshot(shot)
        from PIL import Image

        pixels = np.asarray(Image.open(shot).convert("RGB"), dtype=int)
        for row in (0, 20, 30):
            x, y = np.round(page.place(row)).astype(int)
            assert pixels[y, x].min() < 200  # a point is where the map says it is
