"""The page that is shipped was built from the sources that are here: no Node is needed to know."""

import hashlib
import json
from pathlib import Path

import pytest

import sidelight

WEB = Path(__file__).parents[2] / "web"
STATIC = Path(sidelight.__file__).parent / "explorer" / "static"
BUILT = ["app.css", "app.js", "index.html", "widget.js"]
SETTINGS = [
    "index.html",
    "package-lock.json",
    "package.json",
    "stamp.mjs",
    "tsconfig.json",
    "vite.config.js",
    "vite.widget.config.js",
]


def digest(folder, names):
    found = hashlib.sha256()
    for name in sorted(names):
        found.update(f"{name}\n".encode() + (folder / name).read_bytes() + b"\n")
    return found.hexdigest()


def test_the_bundle_is_built_from_these_sources():
    stamp = json.loads((STATIC / "stamp.json").read_text())
    assert stamp["built"] == digest(STATIC, BUILT), "the bundle was edited: run make web"
    if not WEB.exists():
        pytest.skip("the sources of the page are not in this copy")
    names = [*SETTINGS, *(f"src/{path.name}" for path in (WEB / "src").iterdir())]
    assert stamp["sources"] == digest(WEB, names), "web/ has changed: run make web and commit the bundle"


def test_the_bundle_is_small_and_asks_for_nothing_from_elsewhere():
    script = (STATIC / "app.js").read_text()
    assert len(script) < 110_000
    page = "".join((STATIC / name).read_text() for name in BUILT)
    for foreign in (
        "http://",
        "https://",
        "innerHTML",
        "insertAdjacentHTML",
        "eval(",
        "new Function",
        "document.write",
    ):
        assert foreign not in page, foreign
