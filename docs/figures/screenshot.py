"""The report as a browser shows it: written from the demo's data, photographed in Chromium where there is one."""

from __future__ import annotations

import io
import shutil
import subprocess
import tempfile
from pathlib import Path

import two_ways
from canvas import write_image
from PIL import Image

from sidelight import report

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking")


def report_page() -> None:
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("report_page: no Chromium here, the picture stays as it is")
        return
    data, model = two_ways.turntable()
    columns = {name: values for name, values in data.factors.items() if name != "object_index"}
    with tempfile.TemporaryDirectory() as folder:
        page, shot = Path(folder) / "report.html", Path(folder) / "shot.png"
        report.write(model, page, X=data.X, colours=columns, image_shape=data.image_shape, title="Turning objects")
        where = (f"--user-data-dir={folder}/profile", f"--screenshot={shot}", "--window-size=1200,1440", page.as_uri())
        subprocess.run([browser, *FLAGS, *where], check=True, capture_output=True, timeout=120)
        image = Image.open(io.BytesIO(shot.read_bytes()))
    path = write_image(
        image.resize((image.width * 2 // 3, image.height * 2 // 3), Image.Resampling.LANCZOS), "report_page"
    )
    print(f"{path.name}: {path.stat().st_size // 1000} kB")


FIGURES = {"report_page": report_page}
