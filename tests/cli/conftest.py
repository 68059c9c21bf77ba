import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from sidelight.cli._app import app


class Run:
    """What a command printed and how it ended."""

    def __init__(self, *arguments):
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        self.code = result.exit_code
        self.out = result.stdout
        self.err = result.stderr
        self.exception = result.exception

    @property
    def answer(self):
        """The JSON object, which must be all there is on standard output."""
        return json.loads(self.out)


@pytest.fixture(scope="session")
def run():
    return Run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def frame():
    """Sixty flowers: three clumps in four columns, with a name for each clump."""
    rng = np.random.default_rng(0)
    kinds = np.repeat(["rose", "lily", "iris"], 20)
    centres = {"rose": 0.0, "lily": 4.0, "iris": 8.0}
    X = rng.normal(size=(60, 4)) + np.array([centres[kind] for kind in kinds])[:, None]
    frame = pd.DataFrame(X, columns=["length", "width", "height", "depth"])
    return frame.assign(kind=kinds)


@pytest.fixture
def table(here, frame):
    frame.to_csv(here / "flowers.csv", index=False)
    return here / "flowers.csv"


@pytest.fixture
def fitted(table, run, here):
    """A folder with a model of the flowers."""
    done = run("embed", table, "--out", "fitted", "--method", "pca", "--no-report")
    assert done.code == 0, done.err
    return here / "fitted"
