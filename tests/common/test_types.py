"""The families have types: mypy refuses a written ``Any`` there, and its one alias stays rare.

mypy reports ``Any`` where it is written, not where an alias of it is used. So the aliases are counted here.
"""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import pytest
from test_layers import FAMILIES

import sidelight

HOME = Path(sidelight.__file__).parent
FOLDERS = (
    *(family for family in FAMILIES if family != "tables"),
    *("gated", "neighbours", "kernels", "solvers", "objectives", "rows"),
)
UNTYPED_LINES = 34  # 18 of them rows that may be dense or sparse
"""Lines of these folders that use ``Untyped``; a new one needs a reason in ``base/types.py``."""


def files_of(family: str) -> dict[Path, ast.Module]:
    """The modules of a family, parsed."""
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted((HOME / family).rglob("*.py"))}


def lines_with(tree: ast.Module, name: str) -> set[int]:
    """Numbers of the lines that use a name; annotations in quotes count, imports do not."""
    found = {node.lineno for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == name}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == name:
            found.add(node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
            found |= {node.lineno} if node.value == name else set()
    return found


def aliases_of_any(source: str) -> set[str]:
    """Names that a module defines as nothing but ``Any``."""
    statements = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Assign | ast.AnnAssign)]
    return {
        target.id
        for node in statements
        if isinstance(node.value, ast.Name) and node.value.id == "Any"
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }


def test_mypy_refuses_any_in_every_family():
    settings = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    strict = [part["module"] for part in settings["tool"]["mypy"]["overrides"] if part.get("disallow_any_explicit")]
    named = {name for modules in strict for name in modules}
    assert named >= {f"sidelight.{family}.*" for family in FOLDERS}


@pytest.mark.parametrize("family", FOLDERS)
def test_no_family_writes_any(family):
    assert [str(path) for path, tree in files_of(family).items() if lines_with(tree, "Any")] == []


def test_untyped_is_the_only_alias_of_any():
    types = (HOME / "base" / "types.py").read_text(encoding="utf-8")
    assert aliases_of_any(types) == {"Untyped"}


def test_untyped_values_do_not_become_more():
    used = [
        f"{path.relative_to(HOME)}:{line}"
        for family in FOLDERS
        for path, tree in files_of(family).items()
        for line in sorted(lines_with(tree, "Untyped"))
    ]
    assert len(used) == UNTYPED_LINES, used


@pytest.mark.parametrize(
    "source",
    ["def f(x: Any): ...", "import typing\nx: typing.Any = 1", "def f(x: 'Any'): ...", "y = cast(Any, 1)"],
)
def test_any_is_noticed_however_it_is_written(source):
    assert lines_with(ast.parse(source), "Any")


@pytest.mark.parametrize("source", ["Anything = Any", "Anything: TypeAlias = Any"])
def test_an_alias_of_any_is_noticed(source):
    assert aliases_of_any(source) == {"Anything"}
