"""What every picture keeps to: Axes in, Axes out, no window, no setting changed."""

import sys

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from sklearn.manifold import TSNE

from sidelight import TwoWayEmbedding, plot

FROM_MODEL = {
    "scatter": plot.scatter,
    "density": plot.density,
    "forward_grid": plot.forward_grid,
    "path": plot.path,
    "uncertainty": plot.uncertainty,
}


@pytest.mark.parametrize("name", FROM_MODEL)
def test_draws_on_the_given_axes_and_returns_them(model, name):
    _, ax = plt.subplots()
    assert FROM_MODEL[name](model, ax=ax) is ax
    assert ax.has_data()
    assert len(plt.get_fignums()) == 1


@pytest.mark.parametrize("name", FROM_MODEL)
def test_makes_one_figure_without_axes_and_changes_no_setting(model, name):
    before = dict(mpl.rcParams)
    ax = FROM_MODEL[name](model, title="A title")
    assert isinstance(ax, Axes)
    assert "A title" in ax.get_title()
    assert len(plt.get_fignums()) == 1
    assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("q", [1, 2, 3, 5])
@pytest.mark.parametrize(
    ("name", "options"),
    [("scatter", {}), ("density", {"resolution": 30}), ("forward_grid", {"n": 6}), ("uncertainty", {"resolution": 20})],
)
def test_any_latent_dimension_is_drawn_and_said(model_of_dimension, name, options, q):
    ax = FROM_MODEL[name](model_of_dimension(q), **options)
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "latent 1"
    assert (f"first two of {q} latent dimensions" in ax.get_title()) == (q > 2)


def test_missing_matplotlib_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "sidelight\[report\]"'):
        plot.scatter(np.zeros((3, 2)))


def test_hundred_thousand_points_are_drawn_as_pixels():
    Z = np.random.default_rng(0).normal(size=(100_000, 2))
    ax = plot.scatter(Z)
    assert ax.collections[0].get_rasterized()
    assert ax.collections[0].get_sizes()[0] <= 1.0


@pytest.mark.parametrize(
    ("Z", "words"),
    [
        (np.zeros((2, 2, 2)), "is not (n, q)"),
        (np.zeros((0, 2)), "is not (n, q)"),
        ([[0.0, np.nan]], "cannot be placed"),
    ],
)
def test_bad_embedding_gets_a_sentence(Z, words):
    with pytest.raises(ValueError) as error:
        plot.scatter(Z)
    assert str(error.value).startswith("scatter: Z=")
    assert words in str(error.value)


def test_unfitted_model_gets_a_sentence():
    with pytest.raises(ValueError, match=r"density: model=TwoWayEmbedding has no embedding_\. Fit it first"):
        plot.density(TwoWayEmbedding())


@pytest.mark.parametrize(
    ("name", "method"),
    [("density", "latent_log_density"), ("forward_grid", "inverse_transform"), ("uncertainty", "predictive_variance")],
)
def test_a_map_without_a_way_back_gets_a_sentence(name, method):
    one_way = TSNE(2, perplexity=3, init="random", random_state=0, max_iter=250).fit(np.eye(12))
    assert len(plot.scatter(one_way).collections[0].get_offsets()) == 12
    with pytest.raises(ValueError, match=rf"{name}: model=TSNE has no {method}\. Give a fitted two-way model"):
        FROM_MODEL[name](one_way)
