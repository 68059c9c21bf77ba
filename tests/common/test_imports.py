from __future__ import annotations

import subprocess
import sys

import pytest

import sidelight

ROOMS = ["evaluate", "datasets", "plot", "report", "anndata"]
HEAVY = {"torch", "matplotlib", "plotly", "pandas", "pyarrow", "typer", "rich", "PIL", "anndata", "polars", "dask"}
SCRIPT = """
import sys, time
for statement in {statements!r}:
    began = time.process_time()  # processor time: other processes do not lengthen it
    exec(statement)
    print(time.process_time() - began, *{{name.partition(".")[0] for name in sys.modules}})
"""


def fresh(*statements: str) -> list[tuple[float, set[str]]]:
    """Seconds that statements take one after another in a new interpreter, and the packages in memory after each."""
    code = SCRIPT.format(statements=statements)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    told = [line.split() for line in done.stdout.strip().splitlines()]
    return [(float(seconds), set(packages)) for seconds, *packages in told]


@pytest.fixture(scope="module")
def added():
    """Scikit-learn's manifold module, Sidelight's first estimator, all its names, its rooms: in two new processes."""
    first = "from sidelight import KernelInformationEmbedding"  # public names are imported when they are asked for
    names = "import sidelight; [getattr(sidelight, name) for name in sidelight._MODULES]"
    rooms = [f"assert sidelight.{room}.__name__ == 'sidelight.{room}'" for room in ROOMS]
    statements = ("import sklearn.manifold, sklearn.base", first, names, *rooms)
    return [fresh(*statements[:count]) for count in (len(statements), 2)]


def test_importing_sidelight_loads_nothing_heavy_that_scikit_learn_does_not_load(added):
    theirs, ours = added[0][0][1], added[0][2][1]
    assert "sidelight" in ours
    assert not ours & {"torch", "matplotlib", "plotly", "finufft"}
    assert not (ours - theirs) & HEAVY


def test_asking_for_a_room_loads_it_and_no_library_of_an_extra_yet(added):
    assert not added[0][-1][1] & {"torch", "matplotlib", "plotly", "anndata"}


def test_importing_sidelight_is_hardly_slower_than_scikit_learns_manifold_module(added):
    """What the first estimator adds to scikit-learn in memory, beside what that took: the less disturbed of two."""
    theirs, ours = (min(run[part][0] for run in added) for part in (0, 1))
    assert ours <= 0.35 * theirs


def test_every_public_name_is_found_when_it_is_asked_for():
    for name in sidelight.__all__:
        if name not in ("gated",):  # needs torch
            assert getattr(sidelight, name) is not None
    assert set(sidelight.__all__) == {*sidelight._MODULES, *set(sidelight._ROOMS) & set(sidelight.__all__)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        sidelight.nothing  # noqa: B018
