"""The reports of the tutorial about a messy table, as a browser shows them."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from canvas import FOLDER, write_image
from PIL import Image
from screenshot import BROWSERS, FLAGS

TABLE = FOLDER.parent / "files" / "cars.csv"
WIDTH = 1200


def tutorial_report() -> None:
    """The map of the cars, with what was understood of the table."""
    _photograph("tutorial_report", [], top=0, bottom=1180)


def tutorial_given() -> None:
    """What was given, and the rest: both maps by the year, the new one by the origin."""
    _photograph("tutorial_given", ["--given", "model_year", "--plain"], top=1195, bottom=1910)


def _photograph(name: str, options: list[str], *, top: int, bottom: int) -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print(f"{name}: no Chromium here, the picture stays as it is")
        return
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "out" / "report.html", Path(folder) / "shot.png"
        _sidelight(["embed", str(TABLE), "--label", "car", "--colour", "origin", *options, "--out", f"{folder}/out"])
        where = (f"--user-data-dir={folder}/profile", f"--screenshot={shot}", f"--window-size={WIDTH},{bottom + 200}")
        subprocess.run([browser, *FLAGS, *where, page.as_uri()], check=True, capture_output=True, timeout=120)
        image = Image.open(io.BytesIO(shot.read_bytes())).crop((0, top, WIDTH, bottom))
    path = write_image(image.resize((image.width * 2 // 3, image.height * 2 // 3), Image.Resampling.LANCZOS), name)
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


def _sidelight(arguments: list[str]) -> None:
    from sidelight.cli._app import app

    with contextlib.suppress(SystemExit), Path(os.devnull).open("w") as nowhere, contextlib.redirect_stdout(nowhere):
        app(arguments)


FIGURES = {"tutorial_report": tutorial_report, "tutorial_given": tutorial_given}
