from __future__ import annotations

import statistics
import subprocess
import sys

import pytest

ROOMS = ["evaluate", "datasets", "plot", "report"]
HEAVY = {"torch", "matplotlib", "plotly", "pandas", "pyarrow", "typer", "rich", "PIL", "anndata", "polars", "dask"}
SCRIPT = """
import sys, time
began = time.process_time()  # processor time: other processes do not lengthen it
{first}
print(time.process_time() - began)
print(*{{name.partition(".")[0] for name in sys.modules}})
{second}
print(*{{name.partition(".")[0] for name in sys.modules}})
"""


def fresh(first: str, second: str = "") -> tuple[float, set[str], set[str]]:
    """Seconds that a statement takes in a new interpreter, and the packages in memory after it and after another."""
    code = SCRIPT.format(first=first, second=second)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    seconds, *packages = done.stdout.strip().splitlines()
    return float(seconds), set(packages[0].split()), set(packages[1].split())


@pytest.fixture(scope="module")
def runs():
    """Scikit-learn and Sidelight by turns, each in a process of its own; then Sidelight's rooms on demand."""
    rooms = "\n".join(f"assert sidelight.{room}.__name__ == 'sidelight.{room}'" for room in ROOMS)
    pairs = [(fresh("import sklearn.manifold, sklearn.base"), fresh("import sidelight", rooms)) for _ in range(3)]
    return tuple(zip(*pairs, strict=True))


def test_importing_sidelight_loads_nothing_heavy_that_scikit_learn_does_not_load(runs):
    theirs, ours = (run[0][1] for run in runs)
    assert "sidelight" in ours
    assert not ours & {"torch", "matplotlib", "plotly"}
    assert not (ours - theirs) & HEAVY


def test_asking_for_a_room_loads_it_and_no_drawing_library_yet(runs):
    _, ours = runs
    assert not ours[0][2] & {"torch", "matplotlib", "plotly"}


def test_importing_sidelight_is_hardly_slower_than_scikit_learns_manifold_module(runs):
    """What ``import sidelight`` adds to scikit-learn in memory, beside what that took: load slows both."""
    code = "import sklearn.manifold, sklearn.base\nbegan = time.process_time()\nimport sidelight"
    added = statistics.median(fresh(code)[0] for _ in range(3))
    assert added <= 0.35 * statistics.median(run[0] for run in runs[0])
