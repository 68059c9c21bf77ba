"""Pictures of bent sheets, whose true shape is known: unfolding, penalty, graph, bandwidth, start, measures."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from canvas import BLUE, GREY, ORANGE, RED, panels, plt, points, solid
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from sidelight import Annealing, KernelInformationEmbedding, datasets
from sidelight.evaluate import continuity, sheet_correlation, trustworthiness
from sidelight.kernels.data_kernel import perplexity_kernel

ROLL, CURVE = (8, -72), (12, -60)


@cache
def roll() -> Any:
    return datasets.swiss_roll(1000, random_state=0)


@cache
def curve() -> Any:
    return datasets.s_curve(1000, random_state=0)


def _fit(data: Any, **settings: Any) -> Any:
    return KernelInformationEmbedding(random_state=0, **settings).fit_transform(data.X)


def _sheet(data: Any) -> Any:
    return np.column_stack([data.factors["arc"], data.factors["height"]])


def _row(figure: Figure, count: int, start: int) -> list[Any]:
    return [figure.add_subplot(1, count, k + 1) for k in range(start, count)]


def unfolding() -> Figure:
    """The S-curve along the path of λ."""
    data = curve()
    model = KernelInformationEmbedding(random_state=0, regularization=Annealing(0.1, decay=0.25)).fit(data.X)
    figure = plt.figure(figsize=(11.0, 2.7), layout="constrained")
    count = min(4, len(model.path_)) + 1
    solid(figure, (1, count, 1), data.X, data.factors["arc"], "data", CURVE)
    size = 1.1 * np.abs(model.embedding_).max()
    chosen = np.unique(np.linspace(0, len(model.path_) - 1, count - 1).round().astype(int))
    for ax, stage in zip(_row(figure, count, 1), chosen, strict=True):
        points(ax, model.path_[stage], data.factors["arc"], f"λ = {model.regularization_path_[stage]:.2g}", size=4)
        ax.set_aspect("equal", adjustable="box")
        ax.set(xlim=(-size, size), ylim=(-size, size))
    return figure


def penalty() -> Figure:
    """A long sheet under each penalty."""
    random = np.random.default_rng(0)
    flat = np.column_stack([12 * random.uniform(size=1000), 3 * random.uniform(size=1000)])
    data = datasets.Dataset(np.column_stack([flat, np.zeros(1000)]), {"arc": flat[:, 0], "height": flat[:, 1]})
    figure, axes = panels(5, width=11.4, height=2.6)
    points(axes[0], flat, flat[:, 0], f"the data: a sheet 12 × 3\n(aspect {_aspect(flat):.1f})", size=4)
    for ax, (name, weight) in zip(axes[1:], {"stretch": 0.1, "l2": 0.04, "l4": 0.001, "box": 0.1}.items(), strict=True):
        Z = _fit(data, penalty=name, regularization=weight)
        points(ax, Z, flat[:, 0], f'penalty="{name}", λ = {weight:g}\n(aspect {_aspect(Z):.1f})', size=4)
    return figure


def _aspect(Z: Any) -> float:
    """Ratio of the larger to the smaller spread."""
    spread = np.sqrt(np.linalg.eigvalsh(np.cov(np.asarray(Z).T)))
    return float(spread[-1] / spread[0])


def along_graph() -> Figure:
    """The kernel of one row of the swiss roll, in straight lines and along the graph."""
    data = roll()
    order = np.abs(data.X - [-1.0, 10.5, -8.0])[:, [0, 2]].sum(axis=1) + 0.2 * np.abs(data.X[:, 1] - 10.5)
    row = int(order.argmin())
    figure, axes = panels(2, width=8.0, height=3.9)
    for ax, (n_neighbors, title) in zip(
        axes,
        {None: "in straight lines (n_neighbors=None)", 15: "along the graph (n_neighbors=15)"}.items(),
        strict=True,
    ):
        lists = perplexity_kernel(data.X, 30.0, n_neighbors).lists
        side = data.X[:, [0, 2]]
        ax.scatter(*side.T, s=5, c=GREY, alpha=0.35, linewidths=0)
        ax.scatter(*side[lists[row]].T, s=16, c=ORANGE, linewidths=0, label="its 90 nearest rows")
        ax.scatter(*side[row], s=70, c=BLUE, marker="*", label="a row", zorder=3)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.set_title(title, fontsize=10)
        ax.axis("off")
    axes[0].legend(loc="center", bbox_to_anchor=(0.4, 0.56), fontsize=8, frameon=False)
    return figure


def n_neighbors() -> Figure:
    """The swiss roll without a graph and with graphs of 5, 15 and 40 neighbours."""
    data = roll()
    figure = plt.figure(figsize=(12.0, 2.8), layout="constrained")
    solid(figure, (1, 5, 1), data.X, data.factors["arc"], "swiss roll, 1,000 rows", ROLL)
    for ax, count in zip(_row(figure, 5, 1), (None, 5, 15, 40), strict=True):
        Z = _fit(data, n_neighbors=count)
        measures = f"sheet {sheet_correlation(Z, data.factors):.2f}, trust {trustworthiness(data.X, Z):.3f}"
        points(ax, Z, data.factors["arc"], f"n_neighbors={count}\n{measures}", size=4)
    return figure


def bandwidth() -> Figure:
    """The S-curve under each bandwidth rule, and with the source's own setting."""
    data = curve()
    source = {"penalty": "l4", "regularization": Annealing(0.0014, start=0.1, decay=0.8)}
    settings = {
        '"perplexity"': {},
        '"loo"': {"bandwidth": "loo"},
        "10.0, all else default": {"bandwidth": 10.0},
        '10.0, penalty="l4"\n(the thesis, fig. 3.1)': {"bandwidth": 10.0, **source},
    }
    figure, axes = panels(4, width=11.0, height=3.0)
    for ax, (name, chosen) in zip(axes, settings.items(), strict=True):
        Z = _fit(data, **chosen)
        measures = f"sheet {sheet_correlation(Z, data.factors):.2f}, trust {trustworthiness(data.X, Z):.3f}"
        points(ax, Z, data.factors["arc"], f"bandwidth={name}\n{measures}", size=4)
    return figure


def start() -> Figure:
    """The S-curve from each start."""
    data = curve()
    figure, axes = panels(4, width=11.0, height=2.6)
    for ax, (name, seed) in zip(axes, (("mds", 0), ("pca", 0), ("random", 0), ("random", 1)), strict=True):
        Z = KernelInformationEmbedding(init=name, random_state=seed).fit_transform(data.X)
        title = f'init="{name}"' + (f", seed {seed}" if name == "random" else "")
        points(ax, Z, data.factors["arc"], f"{title}\nsheet {sheet_correlation(Z, data.factors):.3f}", size=4)
    return figure


def measures() -> Figure:
    """Three maps of the swiss roll that fail differently, and what each measure says."""
    data = roll()
    maps = {
        "PCA: layers on top of each other": PCA(2).fit_transform(data.X),
        "t-SNE: torn into pieces": TSNE(random_state=0, n_jobs=1).fit_transform(data.X),
        "kernel information embedding": _fit(data),
    }
    figure, axes = panels(3, width=10.2, height=3.4)
    for ax, (name, Z) in zip(axes, maps.items(), strict=True):
        said = (
            f"trustworthiness {trustworthiness(data.X, Z):.3f}\n"
            f"continuity {continuity(data.X, Z):.3f}\n"
            f"sheet correlation {sheet_correlation(Z, data.factors):.2f}"
        )
        points(ax, Z, data.factors["arc"], f"{name}\n{said}", size=5)
    return figure


def layers() -> Figure:
    """What glued layers do to the way back: the forward map lands between them."""
    data = roll()
    figure, axes = panels(2, width=8.0, height=3.9)
    for ax, count in zip(axes, (None, 10), strict=True):
        model = KernelInformationEmbedding(n_neighbors=count, random_state=0).fit(data.X)
        back = model.denoise(data.X)
        for before, after in zip(data.X[::2, [0, 2]], back[::2, [0, 2]], strict=True):
            ax.plot(*np.c_[before, after], color=RED, lw=1.0, alpha=0.9, zorder=1)
        ax.scatter(*data.X[:, [0, 2]].T, s=5, c=data.factors["arc"], linewidths=0, zorder=2)
        ax.set(xticks=[], yticks=[], aspect="equal")
        ax.axis("off")
        ax.set_title(f"n_neighbors={count}: score {model.score(data.X):.3f}", fontsize=10)
    return figure


FIGURES = {
    "unfolding": unfolding,
    "penalty": penalty,
    "along_graph": along_graph,
    "n_neighbors": n_neighbors,
    "bandwidth": bandwidth,
    "start": start,
    "measures": measures,
    "layers": layers,
}
