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
import sidelight._kernel_information_embedding as estimator
from sidelight.cli import main

anneal = estimator.anneal

def slowly(*args, callback, **kwargs):
    def tell(state):
        print("iterating", flush=True)
        time.sleep(0.2)
        return callback(state)
    return anneal(*args, callback=tell, **kwargs)

estimator.anneal = slowly
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


def test_the_demo_writes_a_report_and_says_where(run, here):
    done = run("demo", "--views", 12, "--json")
    assert done.code == 0, done.err
    answer = done.answer
    assert (here / answer["report"]).stat().st_size > 10_000
    assert answer["measures"]["neighbours of the same object"]["kie"] > 0.5
    again = run("demo", "--views", 12)
    assert again.code == 0, again.err
    assert f"Open the report: {here / answer['report']}" in again.out
