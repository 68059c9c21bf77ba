import numpy as np
import pytest

from sidelight import KernelInformationEmbedding, TwoWayEmbedding
from sidelight.datasets import turntable


@pytest.fixture(scope="session")
def views():
    return turntable(20, size=12)


@pytest.fixture(scope="session")
def model(views):
    return KernelInformationEmbedding(random_state=0).fit(views.X)


@pytest.fixture(scope="session")
def columns(views):
    angle = views.factors["angle"].copy()
    angle[:4] = np.nan
    return {"object": views.factors["object"], "angle": angle}


@pytest.fixture(scope="session")
def table_model():
    """A model of rows that are no pictures: six features."""
    X = np.random.default_rng(0).normal(size=(60, 6)) * [3, 2, 1, 1, 0.1, 0.1]
    return TwoWayEmbedding().fit(X), X
