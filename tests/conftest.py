from __future__ import annotations

import functools
import gc
import os
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

# scikit-learn 1.6 cannot import its checks beside array_api_compat (which anndata brings) and SciPy from 1.14 on,
# unless SciPy's own support of the array API is switched on before anything imports SciPy.
if version("scikit-learn").startswith("1.6.") and find_spec("array_api_compat"):
    os.environ.setdefault("SCIPY_ARRAY_API", "1")

# Tests run side by side, and two BLAS threads each on two cores wait for each other fifty times longer than they
# compute. Those that are about threads ask for two. The variable is for libraries and processes yet to be loaded.
os.environ["OMP_NUM_THREADS"] = "1"
threadpool_limits(1)

# Without bytecode every worker rewrites the assertions of all test files, and every process that a test starts compiles
# the package: seconds each. Some environments switch it off, since they build images.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Where anndata is not installed, the folder of its tests would be imported in its place.
if getattr(find_spec("anndata"), "origin", None) is None:
    sys.modules["anndata"] = None  # which makes every import of it fail

# Typer makes all commands anew for every call of one, which takes longer than a small fit; a user pays it once.
if find_spec("typer"):
    import typer.testing

    typer.testing._get_command = functools.cache(typer.testing._get_command)

# Collecting imports modules and makes thousands of tests, none of which is garbage: looking for it takes a fifth of it.
gc.disable()

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "common"))

NEED_TORCH = {
    HERE / "gated",
    HERE / "cli" / "test_cli_report_of_pairs.py",
    HERE / "common" / "test_gated_contracts.py",
    HERE / "plot" / "test_plot_gated.py",
    HERE / "published" / "test_s0_ch2_ch5_ch6_gated.py",
    HERE / "published" / "test_s0_ch5_options.py",
    HERE / "report" / "test_report_gated.py",
    HERE / "report" / "test_report_rivals.py",
}


NEED = {"torch": NEED_TORCH, "anndata": {HERE / "anndata"}}


class WithoutExtra(pytest.Module):
    """A file of tests that is skipped, since importing it would fail."""

    extra = ""

    def collect(self):
        pytest.skip(f"needs the extra {self.extra}", allow_module_level=True)


def pytest_pycollect_makemodule(module_path, parent):
    for extra, paths in NEED.items():
        if find_spec(extra) is None and paths & {module_path, module_path.parent}:
            module = WithoutExtra.from_parent(parent, path=module_path)
            module.extra = extra
            return module
    return None


def pytest_collection_finish():
    gc.freeze()  # what is in memory now stays until the end, and is not looked at again
    gc.enable()
    gc.set_threshold(100_000, 20, 20)  # arrays are freed without it; looking for cycles takes a twentieth of the time


def pytest_collection_modifyitems(items):
    from registry import FURTHER_VARIANTS

    missing = pytest.mark.skip(reason="needs the real data sets: set SIDELIGHT_DATA (see sidelight.datasets)")
    for item in items:
        if "data" in item.keywords and not os.environ.get("SIDELIGHT_DATA"):
            item.add_marker(missing)
        if FURTHER_VARIANTS & variants_in(item):
            item.add_marker(pytest.mark.thorough)


def variants_in(item):
    """The entries of ``registry`` that a contract was made for, found in its parameters."""
    from registry import VARIANT_OF

    if item.path.parent.name not in ("common", "persistence") or not hasattr(item, "callspec"):
        return set()
    parameters = item.callspec.params.values()
    named = {item.callspec.id} | {value for value in parameters if isinstance(value, str)}
    return named | {VARIANT_OF[value] for value in parameters if callable(value) and value in VARIANT_OF}
