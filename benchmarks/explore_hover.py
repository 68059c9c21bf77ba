"""From the pointer to the painted card: the time to show a row and what the model makes of the place.

The pointer is moved by the browser's own input events. The time runs from the event's own time stamp until the card has
been replaced and the frame after that has been handed over to be composed, in headless Chromium with software GL; with
the rows' map beneath it, for tables (20 columns, with a category given and chosen) and for pictures (16 x 16).
Models are kept in the folder that SIDELIGHT_EXPLORE_MODELS names, because fits of 100,000 pictures take minutes.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits, make_blobs

import sidelight
from sidelight import KernelInformationEmbedding

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "report"))
from chromium import Page

SIZES = (10_000, 100_000)
KINDS = ("table", "pictures")
BAR = 50.0  # milliseconds
_MOVES = 60
_WATCH = """(() => {
  window.cards = [];
  let moved = 0;
  const map = document.getElementById("stage-overlay");
  map.addEventListener("pointermove", (event) => { moved = event.timeStamp; }, true);
  const channel = new MessageChannel();
  let since = 0;
  channel.port1.onmessage = () => window.cards.push(performance.now() - since);
  new MutationObserver(() => { since = moved; requestAnimationFrame(() => channel.port2.postMessage(0)); })
    .observe(document.getElementById("here"), { childList: true });
})()"""


def made(kind: str, n: int) -> tuple[Any, dict[str, Any], tuple[int, int] | None]:
    """Rows (n, d) as float32, a category beside them, and the shape of a picture."""
    rng = np.random.default_rng(0)
    batch = np.array(["a", "b"])[rng.integers(0, 2, n)]
    if kind == "table":
        X, _ = make_blobs(n, 20, centers=12, cluster_std=2.0, random_state=0)
        return (X + 2.0 * (batch == "b")[:, None]).astype(np.float32), {"batch": batch}, None
    small = load_digits().images
    at = rng.integers(0, len(small), n)
    large = np.kron(small[at], np.ones((1, 2, 2))).reshape(n, 256)
    return (large + rng.normal(size=large.shape)).astype(np.float32), {"batch": batch}, (16, 16)


def fitted(kind: str, n: int) -> Any:
    """A model of such rows; few iterations, because a hover costs the same after them."""
    folder = os.environ.get("SIDELIGHT_EXPLORE_MODELS", "")
    path = Path(folder) / f"{kind}{n}.sidelight"
    if folder and path.exists():
        return sidelight.load(path)
    X, columns, _ = made(kind, n)
    model = KernelInformationEmbedding(random_state=0, max_iter=5, tol=1e-2)
    model.fit(X, **({"given": columns} if kind == "table" else {}))
    if folder:
        sidelight.save(model, path)
    return model


def hovered(kind: str, n: int) -> dict[str, Any]:
    """Milliseconds from the pointer to the card: median and 95th percentile of 60 rows, the first one apart."""
    X, columns, shape = made(kind, n)
    model = fitted(kind, n)
    more: dict[str, Any] = {"given": columns} if kind == "table" else {"columns": columns, "image_shape": shape}
    with (
        tempfile.TemporaryDirectory() as name,
        sidelight.explore(model, X, folder=Path(name) / "out", open_browser=False, **more) as served,
        Page(Path(name) / "profile", width=1280, height=800) as page,
    ):
        page.socket.socket.settimeout(120)
        page.call("Page.navigate", url=served.address)
        page.wait_until("document.documentElement?.dataset.ready === 'yes'", 60)
        if kind == "table":
            page.evaluate(
                "(() => { const s = document.querySelector('#controls select'); s.value = 'b';"
                "s.dispatchEvent(new Event('change')); })()"
            )
        time.sleep(3)  # the measures of the map are computed meanwhile, as they are when a user opens a page
        page.evaluate(_WATCH)
        drawing = page.evaluate("document.getElementById('stage').dataset.drawing")
        taken = [_one(page, row) for row in np.random.default_rng(1).integers(0, n, _MOVES + 1).tolist()]
    later = np.array(taken[1:])
    return {
        "first": taken[0], "median": float(np.median(later)), "95 %": float(np.quantile(later, 0.95)),
        "largest": float(later.max()), "drawing": drawing,
    }  # fmt: skip


def _one(page: Page, row: int) -> float:
    """Move the pointer to a row, and wait for its card."""
    stage, corner = "document.getElementById('stage').page.scatter", "document.getElementById('stage-overlay')"
    x, y = page.evaluate(
        f"(([x, y], box) => [x + box.x, y + box.y])({stage}.placeOf({row}), {corner}.getBoundingClientRect())"
    )
    seen = page.evaluate("window.cards.length")
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    page.wait_until(f"window.cards.length > {seen}", 20)
    time.sleep(0.1)  # a hand rests before it goes on
    return float(page.evaluate(f"window.cards[{seen}]"))
