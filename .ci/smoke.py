"""Try an installed Sidelight without extras: fit, both ways, save and load, and the line for every missing extra.

Run it outside of the clone, so that it is the installed package that is tried: ``cd /tmp && python .../.ci/smoke.py``.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import sidelight

print("sidelight", sidelight.__version__, "from", Path(sidelight.__file__).parent)
data = sidelight.datasets.turntable()
objects = data.factors["object"]

model = sidelight.KernelInformationEmbedding().fit(data.X, given=objects)
places = model.transform(data.X[:5])
assert places.shape == (5, 2)
assert model.inverse_transform(places, given=objects[:5]).shape == (5, data.X.shape[1])

with tempfile.TemporaryDirectory() as folder:
    sidelight.save(model, Path(folder) / "model.sidelight")
    again = sidelight.load(Path(folder) / "model.sidelight")
assert np.array_equal(again.transform(data.X[:5]), places)

for name in sidelight.__all__:
    getattr(sidelight, name)

# What needs an extra says which: (module that tells whether it is there, extra, a call that needs it).
CALLS = (
    ("torch", "torch", "import sidelight.gated"),
    ("matplotlib", "report", "sidelight.plot.scatter(model)"),
    ("uvicorn", "explore", "sidelight.explore(model, data.X, given=objects)"),
    ("anywidget", "notebook", "sidelight.explorer.widget(model, data.X, given=objects)"),
    ("pandas", "cli", "sidelight.explain.reliability(model)"),
    ("pandas", "anndata", "sidelight.anndata"),
    ("dask", "scale", "sidelight.distributed"),
)
for module, extra, call in CALLS:
    if importlib.util.find_spec(module):
        print(f"  {extra}: installed, not tried")
        continue
    try:
        exec(call)
    except ImportError as error:
        said = str(error)
    else:
        raise AssertionError(f"{call} works without {module}")
    assert f'pip install "sidelight[{extra}]"' in said, said
    print(f"  {extra}: {said}")

if not importlib.util.find_spec("typer"):
    done = subprocess.run(
        [sys.executable, "-c", "from sidelight.cli import main; main()"], capture_output=True, text=True, check=False
    )
    assert done.returncode != 0
    assert 'pip install "sidelight[cli]"' in done.stderr, done.stderr
    print("  cli:", done.stderr.strip())
print("fine")
