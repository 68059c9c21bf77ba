"""Pictures of what can be believed: a real map and a map of noise, and the calibration curve."""

from __future__ import annotations

import json

import numpy as np
from canvas import BLUE, GREY, ORANGE, panels
from matplotlib.figure import Figure

from benchmarks.harness import RESULTS
from sidelight import KernelInformationEmbedding, TwoWayEmbedding, explain, plot
from sidelight.datasets import load_digits


def reliable_rows() -> Figure:
    """Digits by their labels and by reliability, and noise of 15 columns under t-SNE."""
    from openTSNE import TSNE

    data = load_digits()
    X, label = np.asarray(data.X[:800], dtype=float), data.factors["label"][:800]
    noise = np.random.default_rng(0).normal(size=(800, 15))
    digits = KernelInformationEmbedding(random_state=0).fit(X)
    places = np.asarray(TSNE(random_state=0, perplexity=10, n_jobs=1).fit(noise))
    nothing = TwoWayEmbedding().fit(noise, embedding=places)
    figure, axes = panels(3, height=3.0, width=10.6)
    plot.scatter(digits, labels=label, title="digits", ax=axes[0], size=5)
    for ax, model, what in ((axes[1], digits, "digits"), (axes[2], nothing, "noise (t-SNE, 15 columns)")):
        table = explain.reliability(model)
        share = float((table.reliability >= 0.8).mean())
        plot.reliability(model, table, title=f"{what}: {share:.0%} reliable", ax=ax, size=5)
    return figure


def reliability_curve() -> Figure:
    """What was said and what was right, on maps that the rule was not calibrated on (``python -m benchmarks``)."""
    found = json.loads((RESULTS / "reliability.json").read_text())["details"]
    figure, axes = panels(1, width=4.2, height=3.6)
    ax = axes[0]
    ax.plot([0, 1], [0, 1], color=GREY, linewidth=1)
    for name, colour, what in (("curve, made sets", BLUE, "made sets"), ("curve, real sets", ORANGE, "real sets")):
        said, right, share = np.array(found[name]).T
        ax.plot(said, right, color=colour, linewidth=1.2, label=what)
        ax.scatter(said, right, s=400 * share, color=colour, linewidths=0, alpha=0.6)
    ax.set_xlabel("reliability, as said")
    ax.set_ylabel("share of rows that are right")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return figure


FIGURES = {"reliable_rows": reliable_rows, "reliability_curve": reliability_curve}
