"""Pages of the same points: ours (served, and as one file) and, from an environment of their own, those of rivals."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA

import sidelight
from sidelight import TwoWayEmbedding


@dataclass(frozen=True)
class Opened:
    """Where a page is, and what was spent on making it."""

    address: str
    seconds: float
    size: int | None = None


def made_points(n: int) -> pd.DataFrame:
    """Twelve clouds of points with a category and a number."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 12, n)
    centre = rng.normal(size=(12, 2)) * 6
    places = centre[kind] + rng.normal(size=(n, 2)) * rng.uniform(0.4, 1.4, size=12)[kind, None]
    frame = pd.DataFrame(places.astype(np.float32), columns=["x", "y"])
    frame["kind"] = np.array([f"kind {k}" for k in range(12)])[kind]
    frame["score"] = rng.normal(size=n).astype(np.float32)
    return frame


@contextmanager
def our_page(points: pd.DataFrame, folder: Path) -> Iterator[dict[str, Opened]]:
    """The served page, and the exported file."""
    began = time.process_time()
    X = points[["x", "y"]].to_numpy()
    model = TwoWayEmbedding(PCA(2)).fit(X[:2000])
    columns = {"kind": points["kind"].to_numpy(), "score": points["score"].to_numpy()}
    with sidelight.explore(model, X, columns=columns, title="Points", folder=folder, open_browser=False) as served:
        ready = time.process_time() - began
        path = served.export(folder / "ours.html")
        size = path.stat().st_size
        kept = Opened(path.resolve().as_uri(), time.process_time() - began - ready, size)
        yield {"ours, served": Opened(served.address, ready), "ours, one file": kept}


_PLOTLY = """
import pandas as pd, plotly.graph_objects as go
points = pd.read_parquet("points.parquet")
codes = points["kind"].astype("category").cat.codes
marks = dict(size=2, color=codes, colorscale="Viridis", opacity=0.75)
figure = go.Figure(go.Scattergl(x=points["x"], y=points["y"], mode="markers", marker=marks))
figure.update_layout(dragmode="pan", width=1280, height=800)
figure.write_html("plotly.html", include_plotlyjs=True)
"""
_DATAMAPPLOT = """
import pandas as pd, datamapplot
points = pd.read_parquet("points.parquet")
places = points[["x", "y"]].to_numpy()
plot = datamapplot.create_interactive_plot(places, points["kind"].to_numpy(), font_family="Arial")
plot.save("datamapplot.html")
"""
FILES = {"plotly": _PLOTLY, "datamapplot": _DATAMAPPLOT}


def rival_file(python: str, name: str, folder: Path) -> Opened:
    """The HTML file of a rival, made from points.parquet in the folder."""
    before = time.perf_counter()
    done = subprocess.run(
        [python, "-c", FILES[name]], cwd=folder, capture_output=True, text=True, timeout=900, check=False
    )
    path = folder / f"{name}.html"
    if done.returncode or not path.exists():
        raise RuntimeError((done.stderr.strip().splitlines() or ["no file"])[-1])
    seconds = time.perf_counter() - before
    _with_scripts_beside_it(path)
    return Opened(path.resolve().as_uri(), seconds, path.stat().st_size)


def _with_scripts_beside_it(page: Path) -> None:
    """Scripts that a page loads from unpkg.com, from the registry of npm into files beside it: measured offline."""
    text = page.read_text(encoding="utf-8")
    for package, version, file in set(re.findall(r"https://unpkg\.com/([\w.-]+)@([\w.^~-]+)/([\w./-]+)", text)):
        packed = subprocess.run(
            ["npm", "pack", "--silent", f"{package}@{version}"],
            cwd=page.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        with tarfile.open(page.parent / packed.stdout.split()[-1]) as archive:
            content = archive.extractfile(f"package/{file}")
            assert content is not None
            name = f"{package}-{Path(file).name}"
            (page.parent / name).write_bytes(content.read())
        text = text.replace(f"https://unpkg.com/{package}@{version}/{file}", name)
    page.write_text(text, encoding="utf-8")


@contextmanager
def embedding_atlas(python: str, folder: Path) -> Iterator[Opened]:
    """The server of embedding-atlas on the same file, its database in the server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [
        str(Path(python).with_name("embedding-atlas")), "points.parquet", "--x", "x", "--y", "y",
        "--disable-projection", "--host", "127.0.0.1", "--port", str(port), "--duckdb", "server",
    ]  # fmt: skip
    log = (folder / "atlas.txt").open("w+")
    server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
    began = time.perf_counter()
    try:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                if server.poll() is not None or time.perf_counter() - began > 120:
                    log.seek(0)
                    raise RuntimeError((log.read().strip().splitlines() or ["no answer"])[-1]) from None
                time.sleep(0.2)
        yield Opened(f"http://127.0.0.1:{port}/", time.perf_counter() - began)
    finally:
        server.terminate()
        server.wait(20)
        log.close()


def versions(python: str) -> dict[str, str]:
    """Versions of the rivals that an environment has."""
    code = (
        "import json, importlib.metadata as m\n"
        "def one(name):\n    try: return m.version(name)\n    except m.PackageNotFoundError: return ''\n"
        "print(json.dumps({name: one(name) for name in ('embedding-atlas', 'plotly', 'datamapplot')}))"
    )
    found: dict[str, str] = json.loads(subprocess.run([python, "-c", code], capture_output=True, check=True).stdout)
    return {name: version for name, version in found.items() if version}
