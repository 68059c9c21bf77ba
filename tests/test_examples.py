"""The scripts in ``examples/`` run, from a folder of their own, and write what they say."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from matplotlib import pyplot as plt

EXAMPLES = Path(__file__).parents[1] / "examples"
WRITES = {
    "table_to_report.py": {"wine.sidelight", "wine.html"},
    "pictures_between_pictures.py": {"walk.png"},
    "two_way_tsne.py": {"digits.sidelight"},
    "known_laboratory.py": {"laboratories.html"},
}


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(WRITES)


@pytest.mark.filterwarnings("default", "error::UserWarning")
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.thorough if name == "two_way_tsne.py" else ()) for name in sorted(WRITES)],
)
def test_example_runs_and_writes_its_files(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [name, "out"])
    runpy.run_path(str(EXAMPLES / name), run_name="__main__")
    plt.close("all")  # figures would stay
    assert capsys.readouterr().out.strip()
    assert {path.name for path in (tmp_path / "out").iterdir()} == WRITES[name]


@pytest.mark.thorough
def test_the_cells_of_the_notebook_run_one_after_another(tmp_path, monkeypatch):
    pytest.importorskip("anywidget", reason="needs the extra notebook")
    monkeypatch.chdir(tmp_path)
    cells = json.loads((EXAMPLES / "explorer.ipynb").read_text())["cells"]
    names = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), names)
    assert names["page"].selection == list(range(6))
    names["page"].close()


@pytest.mark.thorough
def test_an_example_runs_in_a_process_of_its_own(tmp_path):
    """The others run in this one: starting Python and importing everything takes longer than most of them."""
    name = "table_to_report.py"
    command = [sys.executable, "-W", "error::UserWarning", str(EXAMPLES / name), "out"]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert ended.returncode == 0, ended.stderr
    assert {path.name for path in (tmp_path / "out").iterdir()} == WRITES[name]


def test_examples_page_lists_every_script():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in WRITES)
