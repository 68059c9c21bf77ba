from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

# Tests run side by side, and two BLAS threads each on two cores wait for each other fifty times longer than they
# compute. Those that are about threads ask for two. The variable is for libraries and processes yet to be loaded.
os.environ["OMP_NUM_THREADS"] = "1"
threadpool_limits(1)

sys.path.insert(0, str(Path(__file__).parent / "common"))


def pytest_collection_modifyitems(items):
    if os.environ.get("SIDELIGHT_DATA"):
        return
    missing = pytest.mark.skip(reason="needs the real data sets: set SIDELIGHT_DATA (see sidelight.datasets)")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(missing)
