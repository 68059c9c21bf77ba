"""Maps of a sparse graph of distances beside maps of the rows it was made from.

quality   10-NN accuracy and trustworthiness with 50, 30, 15 and 5 neighbours, by levels: digits of scikit-learn, MNIST
          in 50 principal components. Rival: the fit of the rows themselves; and scikit-learn's TSNE, which takes the
          same graph of 30 neighbours (at perplexity 9: it wants three times that).
bits      the graph of the neighbours as the fit itself finds them, from a start that needs no rows: the same map.
cost      processor time of the fit of a graph and of the rows; peak memory of a fresh process, beside the graph.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.neighbors import kneighbors_graph

from benchmarks.harness import Report, peak_memory
from sidelight import KernelInformationEmbedding
from sidelight.datasets import load_mnist
from sidelight.evaluate import neighbour_hit, trustworthiness
from sidelight.maps.frames import Frame
from sidelight.neighbours.search import nearest

TITLE = "maps of a graph of distances, beside those of the rows"
RIVALS = ()
NEIGHBOURS = (50, 30, 15, 5)
_LOSS = 0.01  # that 30 neighbours may cost
_GRAPH = """
import numpy as np
from sklearn.neighbors import kneighbors_graph
from sidelight import KernelInformationEmbedding
rng = np.random.default_rng(0)
X = rng.normal(size=({n}, 10)) + 4 * rng.normal(size=(20, 10))[rng.integers(0, 20, {n})]
graph = kneighbors_graph(X, 30, mode="distance")
"""
_FIT = 'KernelInformationEmbedding(metric="precomputed").fit(graph)'


def run(*, quick: bool) -> Report:
    report = Report()
    X, y = load_digits(return_X_y=True)
    _quality(report, "digits", X, y, rival=True)
    for n in (2_500,) if quick else (5_000, 20_000):
        data = load_mnist("train")
        rows = np.random.default_rng(0).permutation(len(data.X))[:n]
        X, y = PCA(50, random_state=0).fit_transform(data.X[rows].reshape(n, -1) / 255), data.factors["label"][rows]
        _quality(report, f"MNIST {n:,}", X, y, rival=n <= 5_000)
    for n in (5_000,) if quick else (20_000, 60_000):
        report.note(f"{n:,} rows: peak memory", peak_memory(_GRAPH.format(n=n), _FIT) / 2**20, unit="MiB")
    return report


def _quality(report: Report, name: str, X: Any, y: Any, *, rival: bool) -> None:
    rows, seconds = _measured(KernelInformationEmbedding(solver="multilevel"), X, X, y)
    for k in NEIGHBOURS:
        graph = kneighbors_graph(X, k, mode="distance", n_jobs=1)
        found, took = _measured(KernelInformationEmbedding(solver="multilevel", metric="precomputed"), graph, X, y)
        for what, ours in found.items():
            label, more = f"{name}, {k} neighbours: {what}", {"rival": rows[what], "rival_name": "of the rows"}
            if k == 30:
                report.at_least(label, ours, round(rows[what] - _LOSS, 4), **more)
            else:
                report.note(label, ours, **more)
        report.note(f"{name}, {k} neighbours: processor time", took, unit="s", rival=seconds, rival_name="of the rows")
        if rival and k == 30:
            tsne = TSNE(metric="precomputed", perplexity=9, init="random", random_state=0, n_jobs=1)
            theirs, took = _measured(tsne, graph, X, y)
            for what, value in theirs.items():
                report.note(f"{name}, TSNE of the same graph: {what}", value)
            report.note(f"{name}, TSNE of the same graph: processor time", took, unit="s")
    report.at_most(f"{name}, spectral start: largest difference", _difference(X), 0.0)


def _measured(model: Any, data: Any, X: Any, y: Any) -> tuple[dict[str, float], float]:
    """How good the map of ``data`` is for the rows ``X``, and the processor time it took."""
    began = time.process_time()
    Z = model.fit_transform(data)
    took = time.process_time() - began
    trust = trustworthiness(X, Z, n_neighbors=10, sample=5000, random_state=0)
    return {"10-NN accuracy": neighbour_hit(Z, y, n_neighbors=10), "trustworthiness": trust}, took


def _difference(X: Any) -> float:
    """Between the maps of the rows and of the graph of their neighbours, from the same start."""
    n, k = len(X), 30
    near = nearest(Frame.of(X).points(X), k=k)
    graph = csr_array((near.distance.ravel(), near.index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    how: dict[str, Any] = {"solver": "multilevel", "init": "spectral"}
    rows = KernelInformationEmbedding(**how).fit_transform(X)
    return float(np.abs(KernelInformationEmbedding(metric="precomputed", **how).fit_transform(graph) - rows).max())
