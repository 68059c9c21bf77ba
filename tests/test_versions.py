"""The versions of ``pyproject.toml``, ``constraints-minimum.txt``, ``constraints.txt`` and the recipe agree."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import machines
import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OF_USERS = ("report", "cli", "anndata", "explore", "notebook", "scale")  # torch has no small build for every Python
PYTHONS = ("3.11", "3.12", "3.13")


def bounds(*extras):
    """The lowest allowed version of each dependency, of the package and of these extras."""
    wanted = PROJECT["dependencies"] + [text for extra in extras for text in EXTRAS[extra]]
    requirements = [Requirement(text) for text in wanted if not text.startswith("sidelight[")]
    return {
        canonicalize_name(r.name): Version(next(iter(r.specifier)).version) for r in requirements if len(r.specifier)
    }


def pinned(name, python):
    """The version of each package that a file of constraints has for a Python."""
    lines = (line for line in (ROOT / name).read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    found = {}
    for requirement in map(Requirement, filter(None, lines)):
        if requirement.marker is None or requirement.marker.evaluate({"python_version": python}):
            assert canonicalize_name(requirement.name) not in found, f"{requirement.name} twice for Python {python}"
            found[canonicalize_name(requirement.name)] = Version(next(iter(requirement.specifier)).version)
    return found


def test_every_extra_but_torch_is_tested_at_the_oldest_versions_and_at_the_newest():
    assert EXTRAS["all"] == ["sidelight[" + ",".join((*OF_USERS, "torch")) + "]"]
    assert ",".join(OF_USERS) == machines.EXTRAS


@pytest.mark.parametrize("python", ["3.11", "3.12"])
def test_the_versions_tested_as_oldest_are_the_promised_ones(python):
    promised, tested = bounds(*OF_USERS), pinned("constraints-minimum.txt", python)
    assert {name: tested[name] for name in promised} == promised


def test_the_oldest_versions_of_python_3_13_are_allowed_ones():
    tested = pinned("constraints-minimum.txt", "3.13")
    assert all(tested[name] >= bound for name, bound in bounds(*OF_USERS).items())


@pytest.mark.parametrize("python", PYTHONS)
def test_everything_that_is_developed_with_has_one_pinned_version(python):
    versions = pinned("constraints.txt", python)
    for name, bound in bounds(*OF_USERS, "torch", "test", "docs", "dev").items():
        assert versions[name] >= bound, name


def test_the_oldest_versions_are_installed_with_the_extras_of_users():
    target = re.search(r"^test-minimum:.*?\n\n", (ROOT / "Makefile").read_text(), re.MULTILINE | re.DOTALL)
    assert f'-c constraints-minimum.txt -e ".[{",".join(OF_USERS)}]"' in target.group()


def test_the_recipe_has_the_bounds_of_the_package():
    recipe = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    named = {"matplotlib-base": "matplotlib", "pytorch": "torch"}
    found = {named.get(n, n): Version(v) for n, v in re.findall(r"^    - ([\w-]+) >=([\d.]+)", recipe, re.MULTILINE)}
    promised = bounds(*OF_USERS, "torch")
    assert set(bounds()) <= set(found)
    assert all(found[name] == promised[name] for name in set(found) & set(promised))
