"""The command line as a process of its own: interruption, missing extras, imports, the demo."""

import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from sidelight.cli import main

COMMAND = [sys.executable, "-m", "sidelight.cli"]
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "1"}


def start(*arguments, **options):
    return subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
        **options,
    )


SLOW = """
import time
import sidelight.information._annealed as fitting
from sidelight.cli import main

anneal = fitting.anneal

def slowly(*args, callback, **kwargs):
    def tell(state):
        print("iterating", flush=True)
        time.sleep(0.2)
        return callback is not None and callback(state)
    return anneal(*args, callback=tell, **kwargs)

fitting.anneal = slowly
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT is POSIX's")
def test_ctrl_c_keeps_the_best_so_far(tmp_path):
    X = np.random.default_rng(0).normal(size=(400, 5))
    pd.DataFrame(X).add_prefix("x").to_csv(tmp_path / "a.csv", index=False)
    command = [sys.executable, "-c", SLOW, "embed", "a.csv", "--out", "out", "--no-report"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in process.stdout:
        if line.startswith("iterating"):
            break
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "Interrupted after" in out
    assert "Traceback" not in err
    assert len(pd.read_csv(tmp_path / "out" / "embedding.csv")) == 400
    assert (tmp_path / "out" / "model.sidelight").exists()


def test_an_error_is_one_line_on_standard_error(tmp_path):
    process = start("embed", "nothing.csv", cwd=tmp_path)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert out == ""
    assert err == "error: nothing.csv: there is no such file or folder\n"


def test_without_its_extra_the_command_line_says_how_to_get_it(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "typer", None)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1
    assert capsys.readouterr().err == 'The command line needs typer. Run: pip install "sidelight[cli]".\n'


@pytest.mark.thorough
def test_imports_stay_light_for_the_library_and_for_a_small_command():
    """A fresh process prints what is loaded after importing the library, and after listing the methods."""
    code = """
import sys
import sidelight.persistence
print(sorted({"typer", "matplotlib", "plotly", "torch", "anndata", "PIL", "safetensors"} & set(sys.modules)))
from typer.testing import CliRunner
from sidelight.cli._app import app
assert CliRunner().invoke(app, ["methods"]).exit_code == 0
print(sorted({"matplotlib", "plotly", "torch", "anndata", "umap", "sidelight.report"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=ENVIRONMENT, timeout=120, check=False
    )
    assert done.stdout == "[]\n[]\n", done.stderr


@pytest.mark.thorough
def test_the_demo_shows_both_factors_and_says_where(run, here):
    done = run("demo", "--views", 48, "--json")
    assert done.code == 0, done.err
    answer = done.answer
    measures = answer["measures"]
    plain, by_object, by_angle = (measures[name] for name in ("plain", "given object, hints", "given angle"))
    assert plain["object"] > 0.9
    assert by_object["object"] < 1 / 3 + 0.1
    assert by_object["angle, other objects (R²)"] > 0.8 > plain["angle, other objects (R²)"]
    assert by_angle["angle (R²)"] < 0.1
    assert by_angle["object"] > 0.9
    assert [(here / path).stat().st_size > 10_000 for path in answer["reports"]] == [True, True]
    assert [(here / path).stat().st_size > 10_000 for path in answer["pictures"]] == [True, True, True]


@pytest.mark.thorough
def test_the_demo_runs_again_over_its_own_results_and_says_where(run, here):
    (here / "sidelight-demo").mkdir()
    (here / "sidelight-demo" / "turntable.npz").write_text("old")
    done = run("demo", "--views", 4)
    assert done.code == 0, done.err
    assert f"Open the report: {here / 'sidelight-demo/given-object/report.html'}" in done.out
    again = run("embed", "sidelight-demo/turntable.npz", "--given", "object", "--same", "sidelight-demo/same.csv", "-q")
    assert again.code == 0, again.err
