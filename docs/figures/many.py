"""Pictures of many rows."""

from __future__ import annotations

import json
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from canvas import panels
from matplotlib.figure import Figure

from sidelight import KernelInformationEmbedding
from sidelight.datasets import load_mnist, swiss_roll


def growth() -> Figure:
    """Seconds and memory of a fit by levels against rows, as the benchmark measured them."""
    kept = json.loads((Path(__file__).parents[1] / "files" / "large_maps.json").read_text(encoding="utf-8"))
    grown = {int(n): found for n, found in kept["growth"]["rows"].items()}
    figure, axes = panels(2, width=9.0, height=3.4)
    rows = np.array(list(grown))
    seconds, memory = (np.array([found[what] for found in grown.values()]) for what in ("seconds", "gigabytes"))
    for ax, values, unit in ((axes[0], seconds, "seconds"), (axes[1], memory, "GB")):
        ax.loglog(rows, values, "o-", color="tab:blue", label="ours")
        ax.loglog(rows, values[-1] * rows / rows[-1], ":", color="0.6", label="in proportion to the rows")
        ax.set(xlabel="rows of 50 columns", ylabel=unit)
    axes[0].legend(fontsize=8, frameon=False)
    plt.close(figure)
    return figure


def large_map() -> Figure:
    """All 70,000 digits of MNIST from raw pixels, and a swiss roll of 20,000 rows, by levels with nothing set."""
    parts = [load_mnist(split) for split in ("train", "test")]
    X = np.concatenate([part.X for part in parts]).astype(np.float32)
    digit = np.concatenate([part.factors["label"] for part in parts])
    roll = swiss_roll(20_000, random_state=0)
    figure, axes = panels(2, width=10.0, height=5.2)
    for ax, rows, colour, palette, name in (
        (axes[0], X, digit, "tab10", "70,000 digits"),
        (axes[1], roll.X, next(iter(roll.factors.values())), "viridis", "20,000 rows of a swiss roll"),
    ):
        began = time.perf_counter()
        model = KernelInformationEmbedding(n_jobs=2).fit(rows)
        seconds = time.perf_counter() - began
        ax.scatter(*model.embedding_.T, c=colour, cmap=palette, s=0.6, linewidths=0)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(f"{name}, {seconds:.0f} s: {model.latent_kernel_} map", fontsize=10)
    plt.close(figure)
    return figure


def living() -> Figure:
    """8,000 digits without a 5; 2,000 more join them, of which 200 are the first fives."""
    data = load_mnist("train")
    X, label = data.X.reshape(len(data.X), -1).astype(np.float32), np.asarray(data.factors["label"]).astype(int)
    axes_of = np.linalg.eigh(np.cov(X[:20_000].T))[1][:, :-51:-1].astype(np.float32)
    X = (X - X.mean(axis=0)) @ axes_of
    others, fives = np.flatnonzero(label != 5), np.flatnonzero(label == 5)
    first, later = others[:8000], np.r_[others[8000:9800], fives[:200]]
    model = KernelInformationEmbedding(2, solver="multilevel", random_state=0).fit(X[first])
    figure, axes = panels(2, width=10.0, height=5.0)
    colours = np.array(plt.get_cmap("tab10").colors)
    frames = model.embedding_, model.extend(X[later]).embedding_
    labels = label[np.r_[first, later]]
    for ax, Z, title in zip(axes, frames, ("8,000 digits, no 5", "2,000 more, 200 of them 5 (black)"), strict=True):
        shown = labels[: len(Z)]
        ax.scatter(*Z.T, c=colours[shown], s=2, linewidths=0)
        ax.scatter(*Z[shown == 5].T, c="black", s=5, linewidths=0)
        ax.set(title=title, xticks=[], yticks=[], xlim=_span(frames[1][:, 0]))
        ax.set_ylim(*_span(frames[1][:, 1]))
        ax.set_aspect("equal")
    plt.close(figure)
    return figure


def _span(values: np.ndarray) -> np.ndarray:
    """Limits of an axis that holds all values."""
    margin = 0.03 * float(np.ptp(values))
    return np.array([values.min() - margin, values.max() + margin])


FIGURES = {"growth": growth, "large_map": large_map, "living": living}
