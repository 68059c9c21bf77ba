import functools

import matplotlib as mpl
import numpy as np
import pytest

from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.datasets import turntable

SHAPE = (12, 12)


@pytest.fixture(autouse=True)
def no_window_and_no_figure_left():
    """Draw without a display, and close what a test opened."""
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.fixture(scope="session")
def views():
    return turntable(24, size=SHAPE[0])


@pytest.fixture(scope="session")
def model(views):
    return KernelInformationEmbedding(random_state=0).fit(views.X)


@pytest.fixture(scope="session")
def model_of_dimension(views):
    """A two-way model of 1, 2, 3 or 5 latent dimensions, ready at once."""
    _, _, V = np.linalg.svd(views.X - views.X.mean(axis=0), full_matrices=False)
    return functools.cache(lambda q: TwoWayEmbedding().fit(views.X, embedding=views.X @ V[:q].T))


@pytest.fixture(scope="session")
def table_model():
    """A model of rows that are no pictures: six features."""
    X = np.random.default_rng(0).normal(size=(60, 6)) * [3, 2, 1, 1, 0.1, 0.1]
    return TwoWayEmbedding().fit(X)
