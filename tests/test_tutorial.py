"""The tutorial about a messy table: its commands run and print what the page says; its Python runs."""

import doctest
import re
import shlex
import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

pytest.importorskip("typer", reason="needs the extra cli")

from typer.testing import CliRunner

from sidelight.cli._app import app
from sidelight.cli._output import Output

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "messy_table.md").read_text(encoding="utf-8")
POINTS = "z1,z2\n-2,-4\n8,-1\n50,50\n"
NUMBER = re.compile(r"-?\d+([.,]\d+)*(e-?\d+)?")


def commands():
    """Each command of the page with what it prints."""
    for block in re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        for command in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            line, _, printed = command.partition("\n")
            yield shlex.split(line), printed


def run(command):
    name, *arguments = command
    if name == "sidelight":
        result = CliRunner().invoke(app, arguments)
        return result.stdout + result.stderr
    text = Path(arguments[-1]).read_text(encoding="utf-8")
    return "".join(text.splitlines(keepends=True)[: int(arguments[1])]) if name == "head" else text


def lines(text):
    """Lines without their numbers, of which the last digits depend on the processor."""
    return [NUMBER.sub("#", line.rstrip()) for line in text.splitlines() if line.strip()]


def assert_prints(found, expected):
    """Compare lines in their order; ``...`` on the page stands for any number of them."""
    found, skips = lines(found), False
    for line in lines(expected):
        if line == "...":
            skips = True
            continue
        if skips:
            found = found[found.index(line) :]
        assert found[0] == line
        found, skips = found[1:], False
    assert skips or not found


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name in ("cars.csv", "new_cars.csv"):
        shutil.copy(DOCS / "files" / name, tmp_path)
    (tmp_path / "points.csv").write_text(POINTS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")  # the page shows a terminal, where tables wrap; a pipe has their full width
    monkeypatch.setattr(Output, "_wide_enough", lambda *_: nullcontext())
    return tmp_path


@pytest.mark.thorough
def test_commands_print_what_the_page_says(folder):
    seen = []
    for command, printed in commands():
        assert_prints(run(command), printed)
        seen.append(command[1])
    assert [name for name in seen if name.isalpha()] == [
        "look", "embed", "transform", "invert", "embed", "counterfactual", "counterfactual"
    ]  # fmt: skip


@pytest.mark.thorough
def test_python_of_the_page_runs(folder):
    names = {}
    for snippet in re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL):
        example = doctest.DocTestParser().get_doctest(snippet, names, "messy_table", "messy_table", 0)
        assert doctest.DocTestRunner().run(example, clear_globs=False).failed == 0
        names = example.globs
    assert names["back"].columns.tolist() == names["cars"].columns.tolist()
    assert (names["back"]["cylinders"] - names["new"]["cylinders"].to_numpy()).abs().median() == 0


def test_table_is_the_one_of_the_tests():
    pd = pytest.importorskip("pandas")
    parts = [pd.read_csv(DOCS / "files" / name, sep=";", dtype=str) for name in ("cars.csv", "new_cars.csv")]
    cars = pd.concat(parts).sort_values("id", ignore_index=True)
    source = pd.read_csv(DOCS.parent / "tests" / "tables" / "files" / "cars.csv")
    assert cars["car"].tolist() == source["Name"].tolist()
    assert cars["miles_per_gallon"].isna().sum() == source["Miles_per_Gallon"].isna().sum()
