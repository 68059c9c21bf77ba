from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent / "common"))


def pytest_collection_modifyitems(items):
    if os.environ.get("SIDELIGHT_DATA"):
        return
    missing = pytest.mark.skip(reason="needs the real data sets: set SIDELIGHT_DATA (see sidelight.datasets)")
    for item in items:
        if "data" in item.keywords:
            item.add_marker(missing)
