"""Pictures of TwoWayEmbedding around embeddings of others."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from canvas import DIGITS, RED, digits, frame, panels, points
from matplotlib.figure import Figure
from sklearn.manifold import TSNE, Isomap

from sidelight import TwoWayEmbedding, datasets, plot


@cache
def _split() -> tuple[Any, Any, Any, Any]:
    data = datasets.load_digits()
    labels = data.factors["label"]
    return data.X[:1400], labels[:1400], data.X[1400:], labels[1400:]


def two_way_tsne() -> Figure:
    """t-SNE of digits, new rows placed on it, and pictures made from it."""
    X, labels, new, new_labels = _split()
    model = TwoWayEmbedding(TSNE(random_state=0, n_jobs=1)).fit(X)
    figure, axes = panels(3, width=11.4, height=4.0)
    digits(axes[0], model.embedding_, labels, "t-SNE of 1,400 digits")
    points(axes[1], model.embedding_, "#dddddd", size=4)
    Z = model.transform(new)
    right = np.mean(_nearest_label(model.embedding_, labels, Z) == new_labels)
    points(
        axes[1], Z, np.array(DIGITS)[new_labels], f"transform: {len(new)} new digits\n(1-NN right: {right:.2f})", size=9
    )
    axes[0].set_title("t-SNE of 1,400 digits\n", fontsize=10)
    plot.forward_grid(model, image_shape=(8, 8), n=22, title="", ax=axes[2])
    frame(axes[2], "inverse_transform on a lattice\n")
    axes[2].set(xlabel="", ylabel="", anchor="C")
    axes[2].spines[["top", "right"]].set_visible(True)
    return figure


def _nearest_label(Z: Any, labels: Any, queries: Any) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(1).fit(Z, labels).predict(queries)


def torn() -> Figure:
    """New rows on a torn map: between two pieces there is no right place."""
    data, new = datasets.swiss_roll(1000, random_state=0), datasets.swiss_roll(1000, random_state=1)
    figure, axes = panels(2, width=8.4, height=3.8)
    for ax, (name, estimator) in zip(
        axes, {"t-SNE": TSNE(random_state=0, n_jobs=1), "Isomap": Isomap(n_neighbors=10)}.items(), strict=True
    ):
        model = TwoWayEmbedding(estimator).fit(data.X)
        Z = model.transform(new.X)
        points(ax, model.embedding_, data.factors["arc"], f"{name}: score on new rows {model.score(new.X):.4f}", size=5)
        gap = _distance_to_map(model.embedding_, Z)
        lost = gap > 5 * np.median(_distance_to_map(model.embedding_, model.embedding_, 2))
        ax.scatter(*Z[lost].T, s=22, facecolors="none", edgecolors=RED, linewidths=0.9, label="new rows off the map")
        ax.legend(loc="lower right", fontsize=8, frameon=False)
    return figure


def _distance_to_map(Z: Any, queries: Any, rank: int = 1) -> Any:
    from sklearn.neighbors import NearestNeighbors

    return NearestNeighbors(n_neighbors=rank).fit(Z).kneighbors(queries)[0][:, -1]


FIGURES = {"two_way_tsne": two_way_tsne, "torn": torn}
