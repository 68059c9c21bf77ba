"""HybridEmbedding to 50,000 rows: seconds, growth and peak memory, beside scikit-learn's Isomap and SpectralEmbedding.

The rows lie on a swiss roll in three dimensions. Isomap keeps all n² distances along the graph, ours those of 256
landmarks above 2,000 rows; SpectralEmbedding keeps none, and is our locality alone. The rivals are stopped at the sizes
they can do. At the size of the race the maps are compared too: the rank correlation of distances on the sheet.
"""

from __future__ import annotations

import time
from typing import Any

from sklearn.manifold import Isomap, SpectralEmbedding

from benchmarks.harness import Report, growth_exponent, peak_memory, race
from sidelight import HybridEmbedding
from sidelight.datasets import swiss_roll
from sidelight.evaluate import sheet_correlation

TITLE = "hybrid embedding to 50,000 rows, beside Isomap and SpectralEmbedding"
RIVALS = ("scikit-learn",)
LARGEST, RIVAL_LARGEST = 50_000, {"Isomap": 4000, "SpectralEmbedding": 16_000}

_SETUP = """
from benchmarks.hybrid import models
from sidelight.datasets import swiss_roll
X = swiss_roll({n}, random_state=0).X
models()["{name}"].fit(X[:300])
"""


def models() -> dict[str, Any]:
    """Ours with its defaults, and the rivals with as many neighbours."""
    return {
        "ours": HybridEmbedding(),
        "Isomap": Isomap(n_neighbors=12),
        "SpectralEmbedding": SpectralEmbedding(n_neighbors=12, affinity="nearest_neighbors", random_state=0),
    }


def run(*, quick: bool) -> Report:
    report = Report()
    sizes = (500, 1000, 2000) if quick else (1000, 2000, 4000, 16_000, LARGEST)
    _times(report, sizes)
    _quality(report, 1000 if quick else 4000)
    _memory(report, 2000 if quick else 4000)
    if not quick:
        _largest(report)
    return report


def _times(report: Report, sizes: tuple[int, ...]) -> None:
    seconds: dict[str, dict[int, float]] = {name: {} for name in models()}
    for n in sizes:
        X = swiss_roll(n, random_state=0).X
        raced = {name: model for name, model in models().items() if n <= RIVAL_LARGEST.get(name, n)}
        runs = {name: (lambda m=model, X=X: m.fit(X)) for name, model in raced.items()}
        for name, timing in race(runs, repeats=1, warm_up=False).items():
            seconds[name][n] = timing.best
    for n in sizes:
        rivals = [name for name in RIVAL_LARGEST if n in seconds[name]]
        if not rivals:
            report.note(f"fit, n = {n}", seconds["ours"][n], unit="s")
        for name in rivals:
            ratio = seconds[name][n] / seconds["ours"][n]
            more = {"rival": seconds[name][n], "rival_name": name, "ratio": ratio}
            report.note(f"fit, n = {n}", seconds["ours"][n], unit="s", **more)
    for name, found in seconds.items():
        exponent = growth_exponent(list(found), list(found.values()))
        report.note(f"growth exponent of {name}, n = {min(found)} to {max(found)}", exponent)
    report.details["seconds"] = seconds


def _quality(report: Report, n: int) -> None:
    data = swiss_roll(n, random_state=1)
    for name, model in models().items():
        found = sheet_correlation(model.fit_transform(data.X), data.factors)
        if name == "ours":
            report.at_least(f"sheet correlation, n = {n}", found, 0.99)
        else:
            report.note(f"sheet correlation of {name}, n = {n}", found)


def _memory(report: Report, n: int) -> None:
    peaks = {name: peak_memory(_SETUP.format(n=n, name=name), f'models()["{name}"].fit(X)') for name in models()}
    for name in RIVAL_LARGEST:
        more = {"rival": peaks[name] / 2**20, "rival_name": name, "ratio": peaks[name] / peaks["ours"]}
        report.note(f"peak memory, n = {n}", peaks["ours"] / 2**20, unit="MiB", **more)
    report.details["peak_bytes"] = peaks


def _largest(report: Report) -> None:
    """Peak memory of the largest fit, in rows of landmarks; an n × n matrix would be 20 GB."""
    began = time.perf_counter()
    peak = peak_memory(_SETUP.format(n=LARGEST, name="ours"), 'models()["ours"].fit(X)')
    report.details["largest_seconds"] = time.perf_counter() - began
    more = {"unit": "GiB", "rival": 8 * LARGEST**2 / 2**30, "rival_name": "a matrix of distances"}
    report.at_most(f"peak memory, n = {LARGEST}", peak / 2**30, 1.5, **more)
