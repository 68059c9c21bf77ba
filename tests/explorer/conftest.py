import pytest

from sidelight import KernelInformationEmbedding, datasets
from sidelight.explorer import Statement
from sidelight.explorer._explorer import Explorer, Setting
from sidelight.explorer._table import table_of


@pytest.fixture(scope="session")
def views():
    return datasets.turntable(12, size=8)


@pytest.fixture(scope="session")
def columns(views):
    return {"object": views.factors["object"], "angle": views.factors["angle"]}


@pytest.fixture(scope="session")
def model(views):
    return KernelInformationEmbedding(random_state=0, max_iter=60, tol=1e-3).fit(views.X)


@pytest.fixture(scope="session")
def given_model(views, columns):
    made = KernelInformationEmbedding(random_state=0, max_iter=60, tol=1e-3)
    return made.fit(views.X, given={"object": columns["object"]})


@pytest.fixture
def explorer(model, views, columns, tmp_path):
    table = table_of(model, views.X, columns, image_shape=views.image_shape)
    return Explorer(model, table, (), Setting("Turntable", tmp_path))


@pytest.fixture(scope="session")
def hints():
    """The object is known, and three views of each correspond."""
    rows, others = [0, 4, 8] * 2, [12, 16, 20, 24, 28, 32]
    pairs = [Statement("same", rows=[a], others=[b]) for a, b in zip(rows, others, strict=True)]
    return (Statement("factor_out", column="object"), *pairs)


def fitted(explorer, seconds=60):
    """Refit in the worker, and wait."""
    explorer.refit()
    explorer.job.wait(seconds)
    return explorer.job_state()


@pytest.fixture
def refitted():
    return fitted
