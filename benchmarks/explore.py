"""The explorer in headless Chromium with software GL: a million points, and the time from the pointer to the card.

Sections: ``ours`` (the page served and as one file), one for each rival, ``hover``. All of them, or those that
SIDELIGHT_EXPLORE names (``SIDELIGHT_EXPLORE=ours,plotly``), so that each run is short. Rivals are measured where
environments have them: set SIDELIGHT_RIVALS to their Pythons, with ``:`` between them (``pip install plotly``;
``datamapplot``; ``embedding-atlas==0.22.0``: later versions need WebGPU with 16-bit floats, which the software adapter
of Chromium 156 does not have). First paint is when the middle of the window has pixels
in colours, and still has them 5 s later, seen by screenshots; in seconds of a clock and of the processor time of the
browser, which other work on the machine hardly changes. Frames are animation frames while the mouse drags the map.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.explore_hover import BAR, KINDS, SIZES, hovered
from benchmarks.explore_pages import FILES, Opened, embedding_atlas, made_points, our_page, rival_file, versions
from benchmarks.harness import RESULTS, Report

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))
import chromium
from chromium import Page, find_chromium

TITLE = "the explorer in a browser: a million points beside rivals, and the time of a hover"
RIVALS = ()
_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist")
_PATIENCE = 120  # seconds for a first paint
_DRAG = 10  # seconds
_COUNT = """(() => {
  window.frames_seen = 0;
  const tick = () => { window.frames_seen++; requestAnimationFrame(tick); };
  tick();
})()"""


_RENDERER = """(() => {
  const gl = document.createElement("canvas").getContext("webgl"), info = gl?.getExtension("WEBGL_debug_renderer_info");
  return gl ? gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER) : "no WebGL";
})()"""


def run(*, quick: bool) -> Report:
    report = Report()
    if find_chromium() is None:
        raise SystemExit("explore: no Chromium on this machine (apt-get install chromium)")
    n = 100_000 if quick else 1_000_000
    pythons = [one for one in os.environ.get("SIDELIGHT_RIVALS", "").split(os.pathsep) if one]
    there = {name: (python, version) for python in pythons for name, version in versions(python).items()}
    wanted = [one for one in os.environ.get("SIDELIGHT_EXPLORE", "").split(",") if one] or ["ours", *there, "hover"]
    if unknown := set(wanted) - {"ours", *there, "hover"}:
        raise SystemExit(f"explore: SIDELIGHT_EXPLORE={', '.join(unknown)} is not here. Choose ours, hover or a rival.")
    rivals = {name: version for name, (_, version) in there.items() if name in wanted}
    report.details |= {"rows": n, "rivals": rivals, "pages": {}, "hover": {}}
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        points = made_points(n)
        points.to_parquet(folder / "points.parquet")
        if "ours" in wanted:
            pages = dict(stack.enter_context(our_page(points, folder)))
            for title, page in pages.items():
                found[title] = _measured(title, page, folder)
                _keep(found, report)
        for rival in rivals:
            found[rival] = _rival(there[rival][0], rival, folder, stack)
            _keep(found, report)
    if "ours" in wanted:
        ours = found["ours, one file"]
        report.at_most("first paint, served", found["ours, served"]["first paint"], 3, unit="s")
        report.at_most("first paint, one file", ours["first paint"], 3, unit="s")
        report.at_most("size of the file", ours["bytes"] / 1e6, 40, unit="MB")
    for title, one in found.items():
        for key, unit in (
            ("first paint", "s"), ("first paint, processor", "s"), ("frames per second", ""),
            ("processor per frame", "s"), ("memory", "MB"),
        ):  # fmt: skip
            if key in one:
                report.note(f"{title}: {key}", one[key], unit=unit)
    if "hover" in wanted:
        _hover(report, SIZES[:1] if quick else SIZES)
    return report


def _hover(report: Report, sizes: tuple[int, ...]) -> None:
    """From the pointer to the card, for tables and pictures of several sizes."""
    for kind in KINDS:
        for n in sizes:
            found = hovered(kind, n)
            report.details["hover"][f"{kind}, {n:,} rows"] = found
            print(json.dumps({f"hover: {kind}, {n:,} rows": found}), flush=True)
            report.at_most(f"hover, {kind}, {n:,} rows: median", found["median"], BAR, unit="ms")
            report.at_most(f"hover, {kind}, {n:,} rows: 95 %", found["95 %"], BAR, unit="ms")


def _rival(python: str, name: str, folder: Path, stack: ExitStack) -> dict[str, Any]:
    """What was measured, or what happened instead."""
    try:
        if name in FILES:
            return _measured(name, rival_file(python, name, folder), folder)
        return _measured(name, stack.enter_context(embedding_atlas(python, folder)), folder)
    except (RuntimeError, TimeoutError, AssertionError, OSError) as error:
        return {"what happened": str(error)[:300]}


def _keep(found: dict[str, Any], report: Report) -> None:
    """Write after every page, so that nothing is lost."""
    report.details["pages"] = found
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "explore_part.json").write_text(json.dumps(found, indent=1))
    print(json.dumps({title: found[title] for title in list(found)[-1:]}), flush=True)


def _measured(title: str, page: Opened, folder: Path) -> dict[str, Any]:
    kept = [flag for flag in chromium.FLAGS if flag != "--disable-gpu"]
    chromium.FLAGS, before = (*kept, *_GL), chromium.FLAGS
    out: dict[str, Any] = {"making": page.seconds}
    if page.size:
        out["bytes"] = page.size
    try:
        with tempfile.TemporaryDirectory(dir=folder) as profile, Page(Path(profile), width=1280, height=800) as browser:
            browser.socket.socket.settimeout(_PATIENCE)
            spent, began = _processor(browser.process.pid), time.perf_counter()
            browser.call("Page.navigate", url=page.address)
            while "renderer" not in out:
                while not _painted(browser):
                    if time.perf_counter() - began > _PATIENCE:
                        seen = [str(one)[:300] for one in browser.complaints()[-3:]]
                        _look(browser, title)
                        return {"what happened": f"no points that stayed within {_PATIENCE} s", "console": seen}
                out["first paint"] = time.perf_counter() - began
                out["first paint, processor"] = _processor(browser.process.pid) - spent
                time.sleep(5)
                if _painted(browser):  # and not a notice that comes and goes
                    out["renderer"] = browser.evaluate(_RENDERER)
            _look(browser, title)
            out |= _dragged(browser)
            out["memory"] = _memory(browser.process.pid) / 1e6
    finally:
        chromium.FLAGS = before
    return out


def _look(browser: Page, title: str) -> None:
    """A picture of the page, to be looked at."""
    RESULTS.mkdir(exist_ok=True)
    browser.screenshot(RESULTS / f"explore_{re.sub('[^a-z]+', '_', title)}.png")


def _dragged(browser: Page) -> dict[str, float]:
    """Frames while the mouse drags the map back and forth."""
    browser.evaluate(_COUNT)
    browser.call("Input.dispatchMouseEvent", type="mousePressed", x=420, y=430, button="left", buttons=1, clickCount=1)
    spent, began, step = _processor(browser.process.pid), time.perf_counter(), 0
    first = browser.evaluate("window.frames_seen")
    while time.perf_counter() - began < _DRAG:
        step += 1
        where = 420 + 160 * np.sin(step / 8)
        browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=where, y=430, button="left", buttons=1)
    frames = browser.evaluate("window.frames_seen") - first
    seconds = time.perf_counter() - began
    used = _processor(browser.process.pid) - spent
    browser.call("Input.dispatchMouseEvent", type="mouseReleased", x=420, y=430, button="left", buttons=0, clickCount=1)
    return {"frames per second": frames / seconds, "processor per frame": used / max(frames, 1), "moves": step}


def _painted(browser: Page) -> bool:
    """Whether the middle of the window has points in it: pixels that are no grey, of several colours, 2 % at least.

    Colours may be pale (datamapplot's are), and the panels of pages that have some are outside.
    """
    clip = {"x": 200, "y": 100, "width": 600, "height": 600, "scale": 0.4}
    try:
        shot = browser.call("Page.captureScreenshot", clip=clip)["data"]
    except AssertionError:  # between two documents
        return False
    pixels = np.asarray(Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")).reshape(-1, 3)
    coloured = pixels[np.ptp(pixels.astype(int), axis=1) > 25]
    return len(coloured) > 0.02 * len(pixels) and len(np.unique(coloured // 16, axis=0)) >= 8


def _family(pid: int) -> list[int]:
    found, queue = [], [pid]
    while queue:
        one = queue.pop()
        found.append(one)
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                queue += [int(child) for child in task.read_text().split()]
            except OSError:
                continue
    return found


def _processor(pid: int) -> float:
    """Processor seconds of a process and of those that it started."""
    total = 0.0
    for one in _family(pid):
        try:
            parts = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += (int(parts[11]) + int(parts[12])) / os.sysconf("SC_CLK_TCK")
    return total


def _memory(pid: int) -> float:
    """Bytes of a process and of those that it started, shared pages counted once (proportional set size)."""
    total = 0
    for one in _family(pid):
        try:
            lines = Path(f"/proc/{one}/smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += next((1024 * int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
    return float(total)
