"""Small and noisy sheets: rank correlation of distances on the map with distances along the sheet, by defaults.

Sheets of a few hundred rows, on which neighbours may lie on different layers. KernelInformationEmbedding beside
SemidefiniteEmbedding (ours too; it takes long, so the first draw of sheets of at most 300 rows), scikit-learn's Isomap
and UMAP, ten draws. The rule that finds bridges between layers was chosen on swiss rolls of 200 to 600 rows with noise
up to 1 (draws 0 to 7) and looked at on draws 100 to 109 of rolls with more turns, rolls in 10 and 50 columns, S-curves,
twin peaks and the helix; here are draws 200 to 209. The double scroll, the corrugated sheet and the roll with a hole
were not seen before. Distances along sheets that can be unrolled are those of the unrolled rows; on the severed
sphere and the twin peaks they are path lengths among 4,000 more rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import pdist, squareform
from scipy.stats import spearmanr
from sklearn.manifold import Isomap
from sklearn.neighbors import kneighbors_graph

from benchmarks.family_row import Cell, Task
from sidelight import KernelInformationEmbedding, SemidefiniteEmbedding, datasets

__all__ = ["CHOSEN_ON", "FAMILY", "tasks"]

FAMILY = "small sheets"
CHOSEN_ON = ("swiss rolls of 200 to 600 rows, noise 0 to 1, draws 0 to 7",)
FIRST, DRAWS, SLOW_DRAWS, SLOW_ROWS = 200, 10, range(200, 201), 300
_SLOW = "SemidefiniteEmbedding (one draw)"
Sheet = tuple[Any, Any]
"""Rows (n, d) and distances along the sheet (n (n - 1) / 2,)."""


def tasks(*, quick: bool) -> list[Task]:
    """One task for each sheet."""
    names = list(SHEETS)[:1] if quick else SHEETS
    return [Task(name, name, partial(_cells, name), FIRST, DRAWS) for name in names]


def _cells(name: str, seed: int) -> Iterator[Cell]:
    yield Cell("KernelInformationEmbedding, 2-D", "sheet correlation", _measured(SHEETS[name](seed), seed))


def _measured(sheet: Sheet, seed: int) -> dict[str, float]:
    X, along = sheet
    methods: dict[str, Callable[[], Any]] = {
        "ours": lambda: KernelInformationEmbedding(n_jobs=1).fit_transform(X),
        _SLOW: lambda: SemidefiniteEmbedding(n_jobs=1).fit_transform(X),
        "Isomap": lambda: Isomap().fit_transform(X),
        "UMAP": lambda: _umap(X, seed),
    }
    found = {}
    for who, embed in methods.items():
        if who == _SLOW and (seed not in SLOW_DRAWS or len(X) > SLOW_ROWS):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[who] = float(spearmanr(pdist(embed()), along)[0])
            except ImportError:
                continue
    return found


def _umap(X: Any, seed: int) -> Any:
    from umap import UMAP

    return UMAP(random_state=seed, n_jobs=1).fit_transform(X)


def _roll(seed: int, n: int = 300, *, noise: float = 0.0, turns: float = 1.5, columns: int = 3) -> Sheet:
    """Swiss roll, rotated into ``columns`` dimensions before noise is added."""
    random = np.random.default_rng(seed)
    t = 1.5 * np.pi + 2 * np.pi * turns * random.uniform(size=n)
    return _rolled(random, t, 21 * random.uniform(size=n), noise, columns)


def _rolled(random: Any, t: Any, height: Any, noise: float = 0.0, columns: int = 3) -> Sheet:
    X = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    if columns > 3:
        X = X @ np.linalg.qr(random.normal(size=(columns, columns)))[0][:3]
    arc = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    return X + noise * random.normal(size=X.shape), pdist(np.column_stack([arc, height]))


def _roll_with_hole(seed: int) -> Sheet:
    """Swiss roll of 400 rows without a rectangle in its middle."""
    random = np.random.default_rng(seed)
    u, height = random.uniform(size=(2, 900))
    kept = np.flatnonzero((np.abs(u - 0.5) > 0.15) | (np.abs(height - 0.5) > 0.2))[:400]
    return _rolled(random, 1.5 * np.pi * (1 + 2 * u[kept]), 21 * height[kept])


def _double_scroll(seed: int) -> Sheet:
    """A sheet rolled up from both ends, to opposite sides: two spirals that meet in the middle, 500 rows."""
    random = np.random.default_rng(seed)
    side, height = random.choice([-1.0, 1.0], size=500), 20 * random.uniform(size=500)
    t = np.pi * (1.0 + 2.5 * random.uniform(size=500))
    radius = 4.5 * np.pi - t  # from the outer end inwards
    X = np.column_stack([side * (radius * np.cos(t) + 3.5 * np.pi), height, side * radius * np.sin(t)])
    arc = 0.5 * (radius * np.sqrt(1 + radius**2) + np.arcsinh(radius))
    return X, pdist(np.column_stack([side * (arc.max() - arc), height]))


def _corrugated(seed: int) -> Sheet:
    """A sheet in waves that nearly touch, 400 rows."""
    random = np.random.default_rng(seed)
    fine = np.linspace(0, 12, 4001)
    wave = 3 * np.sin(1.5 * fine)
    length = np.r_[0.0, np.cumsum(np.hypot(np.diff(fine), np.diff(wave)))]
    arc, height = length[-1] * random.uniform(size=400), 15 * random.uniform(size=400)
    X = np.column_stack([np.interp(arc, length, fine), height, np.interp(arc, length, wave)])
    return X, pdist(np.column_stack([arc, height]))


def _s_curve(seed: int, n: int, noise: float = 0.0) -> Sheet:
    data = datasets.s_curve(n, noise=noise, random_state=seed)
    return data.X, pdist(np.column_stack([data.factors["arc"], data.factors["height"]]))


def _helix(seed: int) -> Sheet:
    """A ribbon wound two and a half times round an axis, thirty times as long as wide, 300 rows."""
    random = np.random.default_rng(seed)
    t, w, pitch = 5 * np.pi * random.uniform(size=300), random.uniform(-1, 1, size=300), 3 / np.pi
    X = np.column_stack([4 * np.cos(t), 4 * np.sin(t), pitch * t + w])
    edge = np.hypot(4.0, pitch)
    return X, pdist(np.column_stack([t * edge + w * pitch / edge, w * 4 / edge]))


def _severed_sphere(seed: int) -> Sheet:
    """A sphere without caps and with a slit, 400 rows."""
    random = np.random.default_rng(seed)
    turn, z = random.uniform(0, 2 * np.pi - 0.55, size=4400), random.uniform(-0.92, 0.92, size=4400)
    wide = np.sqrt(1 - z**2)
    return _among(np.column_stack([wide * np.cos(turn), wide * np.sin(turn), z]), 400)


def _twin_peaks(seed: int) -> Sheet:
    random = np.random.default_rng(seed)
    u = random.uniform(-1, 1, size=(4300, 2))
    return _among(np.column_stack([u, 0.5 * np.sin(np.pi * u[:, 0]) * np.tanh(3 * u[:, 1])]), 300)


def _among(X: Any, n: int) -> Sheet:
    """The first n rows, and path lengths between them in the graph of the ten nearest of all rows."""
    graph = kneighbors_graph(X, 10, mode="distance")
    return X[:n], squareform(dijkstra(graph, directed=False, indices=np.arange(n))[:, :n], checks=False)


SHEETS: dict[str, Callable[[int], Sheet]] = {
    "swiss roll, 300 rows": partial(_roll, n=300),
    "swiss roll, 600 rows, noise 0.5": partial(_roll, n=600, noise=0.5),
    "swiss roll, 600 rows, noise 1": partial(_roll, n=600, noise=1.0),
    "roll of 2 turns, 600 rows": partial(_roll, n=600, turns=2.0),
    "roll of 1.2 turns, 250 rows": partial(_roll, n=250, turns=1.2),
    "roll in 10 columns, 300 rows, noise 0.3": partial(_roll, n=300, noise=0.3, columns=10),
    "roll in 50 columns, 600 rows, noise 0.5": partial(_roll, n=600, noise=0.5, columns=50),
    "roll with a hole, 400 rows": _roll_with_hole,
    "double scroll, 500 rows": _double_scroll,
    "corrugated sheet, 400 rows": _corrugated,
    "S-curve, 200 rows": partial(_s_curve, n=200),
    "S-curve, 300 rows, noise 0.1": partial(_s_curve, n=300, noise=0.1),
    "twin peaks, 300 rows": _twin_peaks,
    "severed sphere, 400 rows": _severed_sphere,
    "helix ribbon, 300 rows": _helix,
}
