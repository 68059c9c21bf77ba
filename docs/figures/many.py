"""Pictures of many rows."""

from __future__ import annotations

import time

import matplotlib.pyplot as plt
import numpy as np
from canvas import panels
from matplotlib.figure import Figure

from sidelight import KernelInformationEmbedding
from sidelight.datasets import load_mnist, swiss_roll


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


FIGURES = {"large_map": large_map}
