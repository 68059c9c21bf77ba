"""What the report of the command line tells of a row, and that a command writes the same bytes again."""

import json
import os
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="sidelight-data">(.*?)</script>', text, re.S).group(1))


@pytest.fixture
def animals(here):
    """Sixty animals; their mass is in grams, two of them have none, and each has a name."""
    rng = np.random.default_rng(0)
    kind = np.repeat(["cat", "cow", "dog"], 20)
    mass = 4000.0 + 2000.0 * np.repeat([0, 1, 2], 20) + rng.normal(scale=200.0, size=60)
    frame = pd.DataFrame({
        "mass": mass, "length": rng.normal(50, 3, 60), "gape": rng.normal(size=60),
        "name": [f"animal {k}" for k in range(60)], "kind": kind, "farm": [f"farm {k % 30}" for k in range(60)],
    })  # fmt: skip
    frame.loc[[3, 30], "mass"] = np.nan
    frame.to_csv(here / "animals.csv", index=False)
    return frame


EMBED = ("embed", "animals.csv", "--label", "name", "--standardize", "--missing", "drop", "--method", "pca")


def check_rows(data, animals):
    kept = [k for k in range(60) if k not in (3, 30)]
    shown = data["map"]
    assert shown["names"] == [f"animal {k}" for k in kept]
    mass = next(one for one in shown["columns"] if one["name"] == "mass")
    assert (mass["low"], mass["high"]) == (animals["mass"].min(), animals["mass"].max())
    profile = data["forward"]["profile"]
    at = profile["names"].index("mass")
    assert 1000 < profile["low"][at] < profile["high"][at] < 12_000  # a linear map goes on beyond the rows
    return [one["name"] for one in shown["columns"]][shown["opening"]]


@pytest.mark.thorough
def test_embed_and_report_show_the_units_of_the_file_and_the_names_of_its_rows(run, here, animals):
    done = run(*EMBED, "--out", "one")
    assert done.code == 0, done.err
    assert check_rows(data_of(here / "one" / "report.html"), animals) == "kind"
    again = run(
        "report", "one/model.sidelight", "animals.csv", "--out", "again.html", "--label", "name", "--missing", "drop"
    )
    assert again.code == 0, again.err
    check_rows(data_of(here / "again.html"), animals)


def test_the_column_that_the_user_names_comes_first(run, here, animals):
    done = run(*EMBED, "--out", "one", "--colour", "farm", "--colour", "kind")
    assert done.code == 0, done.err
    assert check_rows(data_of(here / "one" / "report.html"), animals) == "farm"


@pytest.mark.thorough
def test_the_same_command_writes_the_same_bytes_in_another_process(here, animals):
    """On one machine: the solver may take other steps on another processor."""
    command = [sys.executable, "-m", "sidelight.cli", "embed", str(here / "animals.csv"), "--out", "out"]
    command += ["--label", "name", "--missing", "drop", "--set", "max_iter=30", "--json"]
    found = []
    for seed in ("1", "2"):
        where = here / seed
        where.mkdir()
        env = os.environ | {"PYTHONHASHSEED": seed}
        done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["seconds"] > 0
        found.append({path.name: path.read_bytes() for path in sorted((where / "out").iterdir())})
    assert set(found[0]) == {"embedding.csv", "model.sidelight", "report.html"}
    assert [name for name in found[0] if found[0][name] != found[1][name]] == []


def test_the_first_sentence_counts_the_columns_of_the_table(run, here, animals):
    done = run(*EMBED, "--out", "one", "--drop", "farm")  # farm is free text, which has no way back
    assert done.code == 0, done.err
    used = done.out.partition(" columns are embedded")[0].rsplit(maxsplit=1)[-1]
    assert f"58 rows of {used} values on a map" in (here / "one" / "report.html").read_text(encoding="utf-8")
