"""Pictures of the spectral family: kernels and their top eigenvectors; a hybrid and its two ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from canvas import BLUE, GREEN, RED, frame, panels, points
from matplotlib.figure import Figure
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import rbf_kernel

from sidelight import HybridEmbedding, ReconstructionDistance
from sidelight.datasets import shifted_digits, swiss_roll
from sidelight.evaluate import neighbour_hit
from sidelight.neighbours.search import nearest
from sidelight.objectives.spectral import (
    centred_kernel,
    edge_weights,
    geodesic_squares,
    inverse_kernel,
    laplacian,
    lle_matrix,
    neighbour_graph,
    reconstruction_weights,
)
from sidelight.solvers.spectral import SymmetricSum, leading_pairs


def spectral_family() -> Figure:
    """The kernels of five methods on a swiss roll, rows in the order of the sheet, and the planes they give."""
    data = swiss_roll(500, random_state=5)
    data = data.take(np.argsort(data.factors["arc"]))
    figure, axes = panels(5, rows=2, width=11.6, height=5.0)
    for place, (name, (K, matrix)) in enumerate(_kernels(data.X).items()):
        blocks = K.reshape(100, 5, 100, 5).mean(axis=(1, 3))  # noise of single entries makes a large file
        shown = np.sign(blocks) * np.sqrt(np.abs(blocks))
        limit = np.quantile(np.abs(shown), 0.995)
        axes[place].imshow(shown, cmap="RdBu_r", vmin=-limit, vmax=limit, interpolation="nearest")
        frame(axes[place], name)
        n = len(K)
        found = leading_pairs(matrix, 2, trivial=np.full(n, n**-0.5), above=0.0)
        scale = np.sqrt(found.values) if found.values[-1] > 0 else 1.0
        Z = found.vectors * scale
        points(axes[place + 5], Z / np.abs(Z).max(), data.factors["arc"], size=7)
    axes[0].set_ylabel("kernel")
    axes[5].set_ylabel("top two eigenvectors")
    return figure


def _kernels(X: Any) -> dict[str, tuple[Any, SymmetricSum]]:
    """Each kernel to look at, and the matrix whose top eigenvectors it has."""
    near = nearest(X, k=10)
    graph = neighbour_graph(X, near)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    gaussian = 2 - 2 * rbf_kernel(X, gamma=0.01)
    dense = {
        "PCA, MDS": centred_kernel(squares),
        "kernel PCA (Gaussian)": centred_kernel(gaussian),
        "Isomap": centred_kernel(geodesic_squares(graph)),
    }
    local = {
        "LLE": lle_matrix(reconstruction_weights(X, near.index), near.index),
        "Laplacian eigenmap": laplacian(edge_weights(graph))[0],
    }
    found = {name: (K, SymmetricSum(dense=K)) for name, K in dense.items()}
    return found | {name: (inverse_kernel(L), SymmetricSum(sparse=csr_array(-L))) for name, L in local.items()}


def hybrid() -> Figure:
    """Three digits in nine places: the eigenmap, the distance alone, and both."""
    data = shifted_digits(step=2)
    digit, place = data.factors["digit"], data.factors["shift"]
    distance = ReconstructionDistance("shift", image_shape=data.image_shape, parameters=(-2, 2))
    shown = {
        "neighbours alone (α = 1)": 1.0,
        "distance alone (α = 0)": 0.0,
        "hybrid (α = 0.75)": 0.75,
    }
    figure, axes = panels(3, width=9.6, height=3.1)
    for ax, (name, alpha) in zip(axes, shown.items(), strict=True):
        Z = HybridEmbedding(metric=distance, alpha=alpha, n_neighbors=5, graph="union").fit_transform(data.X)
        Z = Z / Z.std(axis=0)
        hit = neighbour_hit(Z, digit, n_neighbors=1)
        for one, colour in zip(np.unique(digit), (BLUE, RED, GREEN), strict=True):
            rows = digit == one
            ax.plot(*Z[rows].T, color=colour, linewidth=0.7, alpha=0.5)
            ax.scatter(*Z[rows].T, color=colour, s=8 + 60 * place[rows] / place.max(), linewidths=0, alpha=0.85,
                       label=str(one))  # fmt: skip
        frame(ax, f"{name}: digit hit {hit:.2f}")
        ax.margins(0.1)
    axes[2].legend(title="digit", fontsize=8, title_fontsize=8, frameon=False)
    return figure


FIGURES = {"spectral_family": spectral_family, "hybrid": hybrid}
