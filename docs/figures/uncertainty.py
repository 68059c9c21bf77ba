"""Pictures about intervals: how many new entries are within them, before and after the calibration."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from canvas import BLUE, GREY, panels
from matplotlib.figure import Figure
from scipy.special import ndtri
from sklearn.datasets import load_diabetes, load_iris

from sidelight import KernelInformationEmbedding

LEVELS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95)
DRAWS = 3


def coverage() -> Figure:
    """Share of new entries within intervals, against the share that was asked for."""
    figure, axes = panels(2, width=8.0, height=3.6)
    for ax, title, measure in zip(axes, ("rows at a place", "missing entries"), (_rows, _gaps), strict=True):
        for name, X, style in (("iris", load_iris().data, "-"), ("diabetes", load_diabetes().data, "--")):
            before, after = np.mean([measure(X, draw) for draw in range(DRAWS)], axis=0)
            ax.plot(LEVELS, before, style, color=GREY, marker="o", ms=3, label=f"{name}, model's own variance")
            ax.plot(LEVELS, after, style, color=BLUE, marker="o", ms=3, label=f"{name}, calibrated")
        ax.plot([0, 1], [0, 1], color="black", lw=0.8)
        ax.set(xlabel="level asked for", ylabel="new entries within", xlim=(0, 1), ylim=(0, 1), title=title)
        ax.set_aspect("equal")
    axes[0].legend(fontsize=7, frameon=False)
    return figure


def _split(X: Any, draw: int) -> tuple[Any, Any]:
    order = np.random.default_rng(draw).permutation(len(X))
    X = (X - X.mean(axis=0))[order] / X.std(axis=0)
    return X[: 2 * len(X) // 3], X[2 * len(X) // 3 :]


def _rows(X: Any, draw: int) -> Any:
    learned, held = _split(X, draw)
    model = KernelInformationEmbedding(random_state=0).fit(learned)
    Z = model.transform(held)
    away, deviation = np.abs(held - model.inverse_transform(Z)), np.sqrt(model.predictive_variance(Z))
    before = [(away <= ndtri((1 + level) / 2) * deviation).mean() for level in LEVELS]
    return before, [model.inverse_transform_interval(Z, level=level).holds(held).mean() for level in LEVELS]


def _gaps(X: Any, draw: int) -> Any:
    learned, held = _split(X, draw)
    rng = np.random.default_rng(draw)
    gone = [rng.random(rows.shape) < 0.2 for rows in (learned, held)]
    for one in gone:
        one[one.all(axis=1), 0] = False
    asked = np.where(gone[1], np.nan, held)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelInformationEmbedding(missing="impute", max_iter=20).fit(np.where(gone[0], np.nan, learned))
    away, deviation = np.abs(held - model.impute(asked))[gone[1]], np.sqrt(model.impute_variance(asked))[gone[1]]
    before = [(away <= ndtri((1 + level) / 2) * deviation).mean() for level in LEVELS]
    after = [model.impute_interval(asked, level=level).holds(held)[gone[1]].mean() for level in LEVELS]
    return before, after


FIGURES = {"coverage": coverage}
