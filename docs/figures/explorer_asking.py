"""Asking in the explorer: filters, search, table and rows of wines; a walk over a turntable as a film strip."""

from __future__ import annotations

import functools
import tempfile
import time
from pathlib import Path

import numpy as np
import two_ways
from canvas import FOLDER
from explorer import PAGE, Page, choose, find_chromium, hover, take
from PIL import Image
from sklearn.datasets import load_wine

import sidelight

ASK = f"{PAGE}.answers"


def wines() -> tuple[object, object, dict[str, object]]:
    """178 wines of three kinds; the model sees standardised columns."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_wine(as_frame=True)
    model = make_pipeline(StandardScaler(), sidelight.KernelInformationEmbedding(random_state=0)).fit(data.data)
    return model, data.data, {"kind": np.array(["Barolo", "Grignolino", "Barbera"])[data.target]}


def walk(page: Page, corners: list[tuple[float, float]]) -> None:
    """A walk along a path, in shares of the stage."""
    steps = ", ".join(f"[{x}, {y}]" for x, y in corners)
    page.evaluate("document.querySelector('[name=tool][value=walk]').click()")
    page.evaluate(
        f"(() => {{ const s = {PAGE}.scatter, {{ width, height }} = s.view; "
        f"[{steps}].forEach(([x, y], k) => s.onwalk(s.toMap(x * width, y * height), k === 0)); }})()"
    )
    page.wait_until("document.getElementById('walk').childElementCount > 0", 60)


def ready(page: Page, address: str) -> None:
    page.call("Page.navigate", url=address)
    page.wait_until("document.documentElement?.dataset.ready === 'yes'", 120)


def slim(name: str, width: int | None = None) -> None:
    """Cut a picture to its left part, and to 256 colours: an octree keeps the colours of few pixels."""
    path = FOLDER / f"{name}.png"
    image = Image.open(path).convert("RGB")
    cut = image.crop((0, 0, width or image.width, image.height))
    cut.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(path, optimize=True)


@functools.cache  # two pictures of one run
def explorer_asking() -> None:
    if find_chromium() is None:
        print("explorer_asking: no Chromium here, the pictures stay as they are")
        return
    with tempfile.TemporaryDirectory() as folder:
        model, X, columns = wines()
        with (
            sidelight.explore(model, X, columns=columns, title="Wine", folder=folder, open_browser=False) as served,
            Page(Path(folder) / "wine", width=1280, height=1000, dark=True) as page,
        ):
            ready(page, served.address)
            page.evaluate("document.getElementById('table-open').click()")
            page.evaluate("document.querySelectorAll('.facet-box').forEach((one, k) => { one.open = k < 4; })")
            page.wait_until("document.querySelectorAll('.histogram').length > 1", 60)
            page.evaluate(f"{ASK}.filters.set('alcohol', {{range: [12.2, 14]}})")
            choose(page, "#find input", "Barbera", "input")
            time.sleep(1)
            hover(page, 140)
            page.evaluate("scrollTo(0, 0)")
            take(page, folder, "explorer_filters")
            slim("explorer_filters")
        data, model = two_ways.turntable()
        known = {name: data.factors[name] for name in ("object", "angle")}
        options = {"columns": known, "image_shape": data.image_shape, "periods": {"angle": 360.0}}
        with (
            sidelight.explore(model, data.X, **options, title="Turntable", folder=folder, open_browser=False) as served,
            Page(Path(folder) / "turntable", width=1280, height=820) as page,
        ):
            ready(page, served.address)
            choose(page, "#layer", "reliability")
            page.wait_until(f"{PAGE}.scatter.layer !== null", 120)
            hover(page, 5)
            places = page.evaluate(f"[5, 8, 11, 14, 17, 20, 23, 26].map((row) => {PAGE}.scatter.placeOf(row))")
            width, height = page.evaluate(f"[{PAGE}.scatter.view.width, {PAGE}.scatter.view.height]")
            walk(page, [(x / width, y / height) for x, y in places])
            take(page, folder, "explorer_walk")
            slim("explorer_walk", 836)


FIGURES = {"explorer_filters": explorer_asking, "explorer_walk": explorer_asking}
