"""The pages "A first hour with the explorer" and the moving picture of the README, photographed in Chromium."""

from __future__ import annotations

import functools
import io
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import explorer
from canvas import FOLDER
from explorer import PAGE, choose, hover, in_few_colours, take
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "report"))
from chromium import Page, find_chromium

import sidelight

CARS = FOLDER.parent / "files" / "cars.csv"
COMMAND = ("explore", str(CARS), "--label", "car", "--colour", "origin", "--colour", "model_year", "--missing", "drop")
GIF_LIMIT = 2_000_000
VIEW = "[" + ", ".join(f"{PAGE}.scatter.view.{name}" for name in ("ox", "oy", "s")) + "]"


@contextmanager
def opened(folder: Path) -> Iterator[Page]:
    """The page that the command of the hour opens."""
    command = [sys.executable, "-u", "-m", "sidelight.cli", *COMMAND, "--no-open", "--out", str(folder / "kept")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = next(found.group(0) for line in running.stdout if (found := re.search(r"http://\S+", line)))
        try:
            with Page(folder / "profile", width=1120, height=760) as page:
                page.call("Page.navigate", url=address)
                page.wait_until("document.documentElement?.dataset.ready === 'yes'", 60)
                yield page
        finally:
            running.terminate()


def click(page: Page, text: str) -> None:
    found = f"[...document.querySelectorAll('button')].find((b) => b.textContent === '{text}' && !b.disabled)"
    page.wait_until(f"{found} !== undefined")
    page.evaluate(f"{found}.click()")


def refit(page: Page, maps: int) -> None:
    click(page, "Re-fit")
    page.wait_until(f"document.querySelectorAll('#history li').length === {maps}", 300)
    page.wait_until("document.querySelectorAll('#measures thead th').length === 3", 60)
    page.wait_until(f"{PAGE}.scatter.share === 1")


def rows_where(page: Page, column: str, test: str) -> list[int]:
    """Rows whose value of a column, or code of a category, passes a test in JavaScript."""
    name = json.dumps(column)
    code = (
        f"(async () => {{ const p = {PAGE}, at = p.state.columns.findIndex((c) => c.name === {name});"
        f"const v = await p.source.numbers('column?at=' + at); const levels = p.state.columns[at].levels;"
        f"return [...v.keys()].filter((i) => (({test}))(levels ? levels[v[i]] : v[i])); }})()"
    )
    return list(page.evaluate(code))


def said(page: Page, what: str, *names: str) -> None:
    """Print what the page says, for the text of the hour."""
    print(f"--- {what}")
    for name in names:
        print(page.evaluate(f"document.getElementById('{name}').innerText"))


def choose_column(page: Page, column: str) -> None:
    choose(page, "#say select", column)


@functools.cache
def first_hour() -> None:
    if find_chromium() is None:
        print("first_hour: no Chromium here, the pictures stay as they are")
        return
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder)) as page:
        eights = rows_where(page, "cylinders", "(v) => v === 8")
        page.evaluate(f"{PAGE}.select({eights}, 'replace')")
        page.wait_until("document.querySelectorAll('#selection .effects').length > 0")
        hover(page, eights[3])
        said(page, "eight cylinders", "here", "selection", "measures")
        take(page, folder, "hour_select")

        page.evaluate(f"{PAGE}.select([], 'replace')")
        choose_column(page, "origin")
        click(page, "Factor out")
        page.wait_until(f"{PAGE}.state.statements.length === 1")
        refit(page, 2)
        hover(page, eights[3])
        choose(page, "#controls select", "Japan")
        page.wait_until(f"!{PAGE}.asking")
        said(page, "origin factored out", "notice", "measures", "here")
        take(page, folder, "hour_given")

        page.evaluate("document.querySelector('#statements input').click()")
        page.wait_until(f"!{PAGE}.state.statements[0].on")
        choose_column(page, "model_year")
        click(page, "Show on an axis")
        page.wait_until(f"{PAGE}.state.statements.length === 2")
        refit(page, 3)
        said(page, "an axis for the year", "notice", "measures", "code")
        take(page, folder, "hour_axis")

        page.evaluate("document.querySelectorAll('#statements input')[1].click()")
        page.wait_until(f"!{PAGE}.state.statements[1].on")
        click(page, "Map 0")
        page.wait_until(f"{PAGE}.state.current === 0 && {PAGE}.scatter.share === 1")
        diesel = rows_where(page, "acceleration", "(v) => v > 21")
        page.evaluate(f"{PAGE}.select({diesel}, 'replace')")
        for way in ("right", "up", "up"):
            page.evaluate(f"document.querySelector('[aria-label=\"Move the selection {way}\"]').click()")
            time.sleep(1.5)
        refit(page, 4)
        said(page, "slow cars moved", "notice", "measures", "statements")
        take(page, folder, "hour_drag")
        click(page, "Save")
        page.wait_until("document.getElementById('notice').textContent.startsWith('Written')")
        replay = ["explore", f"{folder}/kept/model.sidelight", str(CARS), "--missing", "drop"]
        print(page.evaluate(f"{PAGE}.state.code.command"), replay)


def frame(page: Page, folder: str) -> Image.Image:
    shot = Path(folder) / "frame.png"
    page.screenshot(shot)
    return Image.open(io.BytesIO(shot.read_bytes())).convert("RGB").resize((840, 546), Image.Resampling.LANCZOS)


@functools.cache
def explorer_moving() -> None:
    """The turntable: told the object and a few views that correspond, fitted again, asked for another object."""
    if find_chromium() is None:
        print("explorer_moving: no Chromium here, the picture stays as it is")
        return
    data = sidelight.datasets.turntable(72)
    model = sidelight.KernelInformationEmbedding(random_state=0).fit(data.X)
    columns = {name: data.factors[name] for name in ("object", "angle")}
    options = {"columns": columns, "statements": explorer.said(72), "image_shape": data.image_shape}
    frames: list[tuple[Image.Image, int]] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        sidelight.explore(
            model, data.X, **options, periods={"angle": 360.0}, title="Turntable", folder=folder, open_browser=False
        ) as served,
        Page(Path(folder) / "profile", width=1200, height=780) as page,
    ):
        page.call("Page.navigate", url=served.address)
        page.wait_until("document.documentElement?.dataset.ready === 'yes'")
        frames.append((frame(page, folder), 1200))
        for row in (5, 10, 15, 20):  # the pointer walks along a loop
            hover(page, row)
            frames.append((frame(page, folder), 450))
        before = page.evaluate(VIEW)
        page.evaluate("document.getElementById('start').click()")
        page.wait_until("document.querySelectorAll('#history li').length === 2", 300)
        page.wait_until("document.querySelectorAll('#measures thead th').length === 3", 60)
        page.wait_until(f"{PAGE}.scatter.share === 1")
        choose(page, "#colour", "1")
        time.sleep(1)
        after = page.evaluate(VIEW)
        for step in range(13):  # the points move to the new map
            share = (step / 12) ** 2 * (3 - 2 * step / 12)
            view = [one + share * (other - one) for one, other in zip(before, after, strict=True)]
            now = f"[{VIEW[1:-1]}] = {view}, {PAGE}.scatter.share = {share}, {PAGE}.scatter.stale = true"
            page.evaluate(f"({now}, {PAGE}.scatter.paint())")
            frames.append((frame(page, folder), 90))
        frames.append((frames[-1][0], 900))
        for name in ("car", "duck", "mug"):
            choose(page, "#controls select", name)
            for row in (5, 12, 19):
                hover(page, row)
                page.wait_until(f"!{PAGE}.asking")
                frames.append((frame(page, folder), 550))
    path = FOLDER / "explorer.gif"
    images = in_few_colours([one for one, _ in frames])
    images[0].save(
        path, save_all=True, append_images=images[1:], duration=[ms for _, ms in frames], loop=0, optimize=True
    )
    assert path.stat().st_size < GIF_LIMIT, path.stat().st_size
    print(f"{path.name}: {len(images)} frames, {path.stat().st_size // 1000} kB")


FIGURES = {"hour_select": first_hour, "hour_given": first_hour, "hour_axis": first_hour, "hour_drag": first_hour}
FIGURES["explorer_moving"] = explorer_moving
