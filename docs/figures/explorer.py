"""The explorer as a browser shows it: the turntable before and after two hints, photographed in Chromium."""

from __future__ import annotations

import functools
import io
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import two_ways
from canvas import FOLDER
from PIL import Image

import sidelight
from sidelight.explorer import Statement

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "report"))
from chromium import Page, find_chromium

PAGE = "document.getElementById('stage').page"


def said(n: int) -> list[Statement]:
    """The object is known, and three views of each correspond."""
    views = [0, n // 3, 2 * n // 3]
    others = [[start + view for view in views] for start in (n, 2 * n)]
    return [Statement("factor_out", column="object"), *(Statement("same", rows=views, others=row) for row in others)]


def hover(page: Page, row: int) -> None:
    corner = page.evaluate("(({x, y}) => [x, y])(document.getElementById('stage-overlay').getBoundingClientRect())")
    place = page.evaluate(f"{PAGE}.scatter.placeOf({row})")
    page.move_to(corner[0] + place[0], corner[1] + place[1])
    page.wait_until(f"{PAGE}.row?.row === {row} && !{PAGE}.asking")


def choose(page: Page, selector: str, value: str, event: str = "change") -> None:
    page.evaluate(
        f"(() => {{ const s = document.querySelector('{selector}'); s.value = '{value}';"
        f"s.dispatchEvent(new Event('{event}')); }})()"
    )


def in_few_colours(frames: list[Image.Image]) -> list[Image.Image]:
    """One palette for all pictures: greys, and colours by how many there are, not by how many pixels have them."""
    pixels = np.concatenate([np.asarray(one).reshape(-1, 3) for one in frames])
    vivid = np.unique(
        pixels[np.ptp(pixels.astype(int), axis=1) > 8] // 6 * 6, axis=0
    )  # pale ones, too: rows not chosen
    colours = Image.fromarray(vivid[None].astype(np.uint8)).quantize(180).getpalette() or []
    greys = np.repeat(np.linspace(0, 255, 76).round().astype(int), 3).tolist()
    palette = Image.new("P", (1, 1))
    palette.putpalette([*colours[:540], *greys])
    return [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in frames]


def take(page: Page, folder: str, name: str) -> None:
    time.sleep(1.5)
    shot = Path(folder) / "shot.png"
    page.screenshot(shot)
    image = Image.open(io.BytesIO(shot.read_bytes())).convert("RGB")
    path = FOLDER / f"{name}.png"
    in_few_colours([image])[0].save(path, optimize=True)
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


@functools.cache  # three pictures of one run
def explorer_page() -> None:
    if find_chromium() is None:
        print("explorer_page: no Chromium here, the pictures stay as they are")
        return
    data, model = two_ways.turntable()
    columns = {name: data.factors[name] for name in ("object", "angle")}
    n = len(data.X) // 3
    options = {"columns": columns, "statements": said(n), "image_shape": data.image_shape, "periods": {"angle": 360.0}}
    with (
        tempfile.TemporaryDirectory() as folder,
        sidelight.explore(model, data.X, **options, title="Turntable", folder=folder, open_browser=False) as served,
    ):
        with Page(Path(folder) / "profile", width=1280, height=880) as page:
            page.call("Page.navigate", url=served.address)
            page.wait_until("document.documentElement?.dataset.ready === 'yes'")
            hover(page, 5)
            page.evaluate(f"{PAGE}.select([...Array({n // 4}).keys()], 'replace')")
            page.wait_until("document.querySelectorAll('#selection .pictures').length > 0")
            take(page, folder, "explorer_page")
            page.evaluate(f"{PAGE}.select([], 'replace')")
            page.evaluate("document.getElementById('start').click()")
            page.wait_until("document.querySelectorAll('#history li').length === 2", 300)
            page.wait_until("document.querySelectorAll('#measures thead th').length === 3", 60)
            choose(page, "#colour", "1")
            time.sleep(1.5)
            choose(page, "#controls select", "duck")
            hover(page, 5)
            take(page, folder, "explorer_after")
        with Page(Path(folder) / "phone", width=360, height=760, dark=True) as page:
            page.call("Page.navigate", url=served.address)
            page.wait_until("document.documentElement?.dataset.ready === 'yes'")
            choose(page, "#layer", "density")
            hover(page, 40)
            take(page, folder, "explorer_phone")


FIGURES = {"explorer_page": explorer_page, "explorer_after": explorer_page, "explorer_phone": explorer_page}
