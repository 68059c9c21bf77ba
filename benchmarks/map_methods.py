"""Maps by us and by the rivals of large maps: each fit in a fresh process, timed and weighed, or with a seed here.

The rivals run at their defaults: umap-learn, openTSNE, and PaCMAP and LocalMAP of the package pacmap.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import defaults
from benchmarks.harness import peak_memory

__all__ = ["MAPS", "PACKAGES", "RIVALS", "THREADS", "Fit", "fitted", "import_memory"]

PACKAGES = ("umap-learn", "openTSNE", "pacmap")
RIVALS = ("UMAP", "openTSNE", "PaCMAP", "LocalMAP")
THREADS = 2

_PROGRAMS = {
    "ours": (
        "from sidelight import KernelInformationEmbedding",
        f"KernelInformationEmbedding(n_jobs={THREADS}).fit_transform(X, given=given)",
    ),
    "UMAP": ("from umap import UMAP", f"UMAP(n_jobs={THREADS}).fit_transform(X)"),
    "openTSNE": ("from openTSNE import TSNE", f"np.asarray(TSNE(n_jobs={THREADS}).fit(X))"),
    "PaCMAP": ("from pacmap import PaCMAP", "PaCMAP().fit_transform(X)"),
    "LocalMAP": ("from pacmap import LocalMAP", "LocalMAP().fit_transform(X)"),
}
_SETUP = "import time; import numpy as np; X, given = np.load({rows!r}), {given}"
_MEASURED = """
times, worked = [time.perf_counter()], [time.process_time()]
{imports}
for _ in range({fits}):
    times.append(time.perf_counter())
    worked.append(time.process_time())
    Z = {fit}
times.append(time.perf_counter())
worked.append(time.process_time())
np.savez({out!r}, Z=Z, times=times, worked=worked)
"""


@dataclass(frozen=True)
class Fit:
    """A map, seconds of each fit and of the import before them, processor seconds of the first, bytes at the peak."""

    Z: Any
    seconds: tuple[float, ...]
    importing: float
    processor: float
    peak: int

    @property
    def cold(self) -> float:
        """Seconds from the import to the first map."""
        return self.importing + self.seconds[0]


def fitted(method: str, X: Any, fits: int = 1, given: Any = None) -> Fit:
    """Embed the rows in a fresh process, ``fits`` times; ``given`` (n,) is for ours only."""
    imports, fit = _PROGRAMS[method]
    with tempfile.TemporaryDirectory() as folder:
        rows, out = str(Path(folder) / "rows.npy"), str(Path(folder) / "out.npz")
        np.save(rows, X)
        known = str(Path(folder) / "given.npy")
        if given is not None:
            np.save(known, given)
        setup = _SETUP.format(rows=rows, given=None if given is None else f"np.load({known!r})")
        measured = _MEASURED.format(imports=imports, fit=fit, fits=fits, out=out)
        peak = peak_memory(setup, measured)
        with np.load(out) as found:
            importing, *seconds = np.diff(found["times"]).tolist()
            return Fit(found["Z"], tuple(seconds), importing, float(np.diff(found["worked"])[1]), peak)


@functools.cache
def import_memory(method: str) -> int:
    """Bytes that the import of a method takes."""
    return peak_memory("import numpy as np", _PROGRAMS[method][0])


def _of_pacmap(name: str) -> Callable[[Any, int], Any]:
    def embed(X: Any, seed: int) -> Any:
        import pacmap

        return getattr(pacmap, name)(random_state=seed).fit_transform(np.asarray(X))

    return embed


MAPS: dict[str, Callable[[Any, int], Any]] = {
    **defaults.METHODS,
    "PaCMAP": _of_pacmap("PaCMAP"),
    "LocalMAP": _of_pacmap("LocalMAP"),
}
"""Methods by name: a map (n, 2) of rows with a seed, in this process."""
