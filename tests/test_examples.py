"""The scripts in ``examples/`` run, from a folder of their own, and write what they say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
WRITES = {
    "table_to_report.py": {"wine.sidelight", "wine.html"},
    "pictures_between_pictures.py": {"walk.png"},
    "two_way_tsne.py": {"digits.sidelight"},
    "known_laboratory.py": {"laboratories.html"},
}


def test_every_example_is_run_here():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(WRITES)


@pytest.mark.parametrize("name", sorted(WRITES))
def test_example_runs_and_writes_its_files(name, tmp_path):
    command = [sys.executable, "-W", "error::UserWarning", str(EXAMPLES / name), "out"]
    ended = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"MPLBACKEND": "Agg"}, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.strip()
    assert {path.name for path in (tmp_path / "out").iterdir()} == WRITES[name]


def test_examples_page_lists_every_script():
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in WRITES)
