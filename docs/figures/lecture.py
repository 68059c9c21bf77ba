"""Pictures of the lecture's own examples (S3): whitening, iris, three linear models, one-of-K and sparse codes."""

from __future__ import annotations

from typing import Any

import numpy as np
from canvas import BLUE, GREEN, GREY, ORANGE, RED, frame, panels, picture, points
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from sklearn.datasets import load_digits, load_iris
from sklearn.decomposition import PCA, DictionaryLearning, FactorAnalysis, FastICA

from sidelight import ProbabilisticPCA
from sidelight.gated import Autoencoder

CODES = 10


def lecture_pca() -> Figure:
    """Data and their principal components, rotated, white; iris on its first two components."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) @ np.array([[2.0, 1.1], [0.0, 0.6]])
    flat, white = PCA(2).fit(X), PCA(2, whiten=True).fit(X)
    figure, axes = panels(4, width=11.6, height=3.1)
    for ax, Z, title in (
        (axes[0], X, "data, principal components"),
        (axes[1], flat.transform(X), "rotated: z = Uᵀx"),
        (axes[2], white.transform(X), "white: z = L^(-1/2) Uᵀx"),
    ):
        points(
            ax,
            Z,
            GREY,
            f"{title}\nvariances {Z[:, 0].var():.2f}, {Z[:, 1].var():.2f}; cov {_covariance(Z):.2f}",
            size=5,
        )
        ax.axhline(0, color="#cccccc", lw=0.6, zorder=0)
        ax.axvline(0, color="#cccccc", lw=0.6, zorder=0)
    for direction, variance, colour in zip(flat.components_, flat.explained_variance_, (BLUE, ORANGE), strict=True):
        axes[0].annotate(
            "", 2 * np.sqrt(variance) * direction, (0, 0), arrowprops={"arrowstyle": "->", "color": colour, "lw": 2}
        )
    iris = load_iris()
    model = PCA(2).fit(iris.data)
    share = model.explained_variance_ratio_.sum()
    colours = np.array([BLUE, ORANGE, GREEN])[iris.target]
    points(axes[3], model.transform(iris.data), colours, f"iris, 4-D to 2-D:\n{share:.1%} of the variance", size=9)
    for label, name in enumerate(iris.target_names):
        x, y = model.transform(iris.data)[iris.target == label].mean(axis=0)
        axes[3].text(x, y - 1.15, name, ha="center", fontsize=8)
    return figure


def _covariance(Z: Any) -> float:
    return abs(float(np.cov(Z.T)[0, 1]))


def lecture_models() -> Figure:
    """What three linear models say of two columns: noise alike, noise of each column, independent sources."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(500, 1))
    alike = z @ [[1.5, 1.0]] + 0.35 * rng.normal(size=(500, 2))
    figure, axes = panels(4, width=11.6, height=3.1)
    _one_factor(axes[0], alike, ProbabilisticPCA(1).fit(alike), "probabilistic PCA")
    own = z @ [[1.0, 0.8, 0.9, 0.7]] + rng.normal(size=(500, 4)) * [0.2, 2.0, 0.2, 0.2]
    _directions(axes[1], own)
    sources = rng.laplace(size=(1500, 2))
    mixing = np.array([[1.0, 0.5], [0.2, 1.0]])
    mixed = sources @ mixing
    _axes_of(axes[2], mixed, PCA(2).fit(mixed).components_, "PCA of two mixed\nheavy-tailed sources")
    for direction in mixing:
        axes[3].plot(*zip(-7 * direction, 7 * direction, strict=True), color="black", lw=1, ls=":", zorder=3)
    unmixed = FastICA(2, whiten="unit-variance", random_state=0).fit(mixed)
    _axes_of(axes[3], mixed, unmixed.mixing_.T, "ICA of the same (dashed: the\nsources' true axes)")
    return figure


def _one_factor(ax: Axes, X: Any, model: ProbabilisticPCA, title: str) -> None:
    """The model's covariance at two standard deviations, and rows with the points that their latent means stand for."""
    points(ax, X, GREY, "", size=5)
    back = model.inverse_transform(model.transform(X[:25]))
    for row, mean in zip(X[:25], back, strict=True):
        ax.plot(*zip(row, mean, strict=True), color=RED, lw=0.8)
    W = model.inverse_transform(np.ones((1, 1))) - model.inverse_transform(np.zeros((1, 1)))
    values, vectors = np.linalg.eigh(W.T @ W + model.noise_variance_ * np.eye(2))
    angle = np.degrees(np.arctan2(*vectors[::-1, 1]))
    size = 4 * np.sqrt(values[::-1])
    ax.add_patch(Ellipse(X.mean(axis=0), *size, angle=angle, fc="none", ec=BLUE, lw=1.5))
    frame(ax, f"{title}: p(x), and rows\nwith E[x | E[z | x]] (σ² = {model.noise_variance_:.2f}, true 0.12)")


def _directions(ax: Axes, X: Any) -> None:
    """The first direction of four columns, of which the second is noisy."""
    truth = np.array([1.0, 0.8, 0.9, 0.7])
    found = {"PCA": PCA(1).fit(X).components_[0], "factor analysis": FactorAnalysis(1).fit(X).components_[0]}
    places = np.arange(4)
    ax.bar(places - 0.27, truth / np.linalg.norm(truth), 0.26, color=GREY, label="true")
    for shift, (name, w), colour in zip((0, 0.27), found.items(), (ORANGE, BLUE), strict=True):
        ax.bar(places + shift, np.abs(w) / np.linalg.norm(w), 0.26, color=colour, label=name)
    ax.set(xticks=places, xticklabels=[f"x{k + 1}" for k in places], yticks=[])
    ax.legend(fontsize=7, frameon=False)
    ax.spines[["top", "right", "left"]].set_visible(False)
    ax.set_title("weights of one factor;\nx2 has ten times the noise", fontsize=10)


def _axes_of(ax: Axes, X: Any, directions: Any, title: str) -> None:
    points(ax, X, GREY, title, size=3)
    for direction, colour in zip(directions, (BLUE, ORANGE), strict=True):
        reach = 6 * direction / np.linalg.norm(direction)
        ax.plot(*zip(-reach, reach, strict=True), color=colour, lw=1.8)


def lecture_codes() -> Figure:
    """One of ten in a plane, without hidden layers and with them; digits by a few of many atoms."""
    figure, axes = panels(4, width=11.6, height=3.1)
    rows = np.eye(CODES)
    for ax, hidden, name in ((axes[0], (), "linear"), (axes[1], (16,), "a hidden layer of 16")):
        model = Autoencoder(2, hidden=hidden, max_iter=2000, weight_decay=0.0, random_state=0).fit(rows)
        Z = model.transform(rows)
        right = int((model.inverse_transform(Z).argmax(axis=1) == np.arange(CODES)).sum())
        points(ax, Z, BLUE, f"one of {CODES} in 2-D, {name}:\n{right} of {CODES} come back", size=30)
        for k, place in enumerate(Z):
            ax.annotate(str(k + 1), place, (4, 4), textcoords="offset points", fontsize=9)
    _sparse(axes[2], axes[3])
    return figure


def _sparse(parts: Axes, codes: Axes) -> None:
    X = load_digits().data[:500] / 16
    model = DictionaryLearning(96, alpha=1.0, max_iter=30, transform_algorithm="lasso_lars", transform_alpha=0.3,
                               fit_algorithm="lars", random_state=0)  # fmt: skip
    Z = model.fit(X - X.mean(axis=0)).transform(X - X.mean(axis=0))
    used = np.argsort(-np.abs(Z).sum(axis=0))[:48]
    grid = np.pad(model.components_[used].reshape(6, 8, 8, 8), ((0, 0), (0, 0), (0, 1), (0, 1)), constant_values=np.nan)
    picture(parts, grid.transpose(0, 2, 1, 3).reshape(54, 72), (54, 72), cmap="gray_r")
    frame(parts, "48 of 96 atoms for digits\n(64 pixels: over-complete)")
    codes.imshow(np.abs(Z[:40]), cmap="Blues", aspect="auto", interpolation="nearest", vmax=1.5)
    frame(codes, f"sparse codes of 40 digits:\n{(Z != 0).sum(axis=1).mean():.1f} of 96 are not 0")
    codes.set(xlabel="atom", ylabel="digit")


FIGURES = {"lecture_pca": lecture_pca, "lecture_models": lecture_models, "lecture_codes": lecture_codes}
