"""The reference: docstrings name their neighbours, and every parameter is spoken of where people read."""

import functools
import importlib
import inspect
import re
from importlib.util import find_spec

import pytest

from tests.test_docs import DOCS, ROOT, public_names, torch_if_gated


@pytest.mark.parametrize("name", public_names())
def test_docstring_names_its_neighbours(name):
    torch_if_gated(name)
    module, _, last = name.rpartition(".")
    thing = getattr(importlib.import_module(module), last)
    if inspect.isclass(thing) or inspect.isroutine(thing):
        found = re.search(r"^See Also\n-{8}\n(.+?)(?=\n\n|\Z)", inspect.getdoc(thing) or "", re.MULTILINE | re.DOTALL)
        assert found, f"add a section 'See Also' to the docstring of {name}"
        for line in found[1].splitlines():
            for other in line.split(" : ")[0].split(", ") if not line.startswith(" ") else ():
                assert is_public(other, module), f"{name}: See Also names {other}, which does not exist"


def _defines(module, name):
    """Whether a package of ours that cannot be imported here has the name among its public ones, by its text."""
    folder = ROOT.joinpath("src", *module.split("."))
    return (folder / "__init__.py").exists() and f'"{name}"' in (folder / "__init__.py").read_text(encoding="utf-8")


def is_public(name, module):
    """Whether a name in a docstring of a module is that of something public, there, in sidelight or in scikit-learn."""
    for whole in (f"{module}.{name}", f"sidelight.{name}", name):
        room, _, last = whole.rpartition(".")
        if room and find_spec(room.split(".")[0]):
            try:
                if hasattr(importlib.import_module(room), last):
                    return True
            except ImportError:  # an extra that is not installed: the file alone says that there is such a module
                if last.isidentifier() and _defines(room, last):
                    return True
    return False


PLAIN = {
    "self",
    "deep",
    "input_features",
    "X",
    "y",
    "Y",
    "V",
    "Z",
    "n",
    "d",
    "e",
    "source",
    "value",
    "owner",
    "argument",
}
PLAIN_METHODS = {"get_metadata_routing", "get_params", "set_params", "set_output", "take", "validate", "of", "check"}


@pytest.mark.parametrize("name", [name for name in public_names() if name.rpartition(".")[2][0].isupper()])
def test_every_parameter_is_spoken_of_on_a_page_or_used_in_an_example(name):
    torch_if_gated(name)
    module, _, last = name.rpartition(".")
    if module not in ("sidelight", "sidelight.gated"):
        return
    found, examples = pages_of_methods(), scripts_of_the_gallery()
    thing = getattr(importlib.import_module(module), last)
    calls = {last: thing} | dict(inspect.getmembers(thing, inspect.isroutine))
    missing = [
        f"{call}({parameter})"
        for call, function in calls.items()
        if not call.startswith(("_", "set_")) and call not in PLAIN_METHODS
        for parameter, kind in inspect.signature(function).parameters.items()
        if parameter not in PLAIN and kind.kind not in (kind.VAR_KEYWORD, kind.VAR_POSITIONAL)
        and not re.search(rf"`[^`\n]*\b{parameter}\b[^`\n]*`|\b{parameter}=", found)
        and not re.search(rf"\b{parameter}=", examples)
    ]  # fmt: skip
    assert not missing, f"say on a page of docs/methods or docs what {missing} of {name} is for"


@functools.cache
def pages_of_methods():
    """The text of all pages but the appendix."""
    return "".join(path.read_text(encoding="utf-8") for path in (*DOCS.glob("*.md"), *DOCS.glob("methods/*.md")))


@functools.cache
def scripts_of_the_gallery():
    """The text of all examples and tutorials."""
    return "".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").rglob("*.py"))
