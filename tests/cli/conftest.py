import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import Pipeline
from typer.testing import CliRunner

import sidelight
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


def behind_the_table(path):
    """The model in a file without the encoder in front of it: it takes the numbers that the encoder makes."""
    encoder, *steps = sidelight.load(path).steps
    assert isinstance(encoder[1], sidelight.TableEncoder)
    return steps[0][1] if len(steps) == 1 else Pipeline(steps)


@pytest.fixture(scope="session")
def inner():
    return behind_the_table


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
    done = run(
        "embed", table, "--out", "fitted", "--method", "pca", "--no-report", "--colour", "kind", "--no-standardize"
    )
    assert done.code == 0, done.err
    return here / "fitted"
