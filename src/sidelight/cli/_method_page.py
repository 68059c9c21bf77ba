"""``sidelight methods``: all methods in families, or one of them explained."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sidelight.base.capabilities import declared
from sidelight.base.messages import count_of

from ._cost import cost_in_words
from ._method import Method
from ._methods import DEFAULT, METHODS, find_method
from ._our_methods import PYTHON_ONLY
from ._output import Output

__all__ = ["Parameter", "explain_method", "list_methods", "parameters_of", "section_of"]

_NOT_SETTINGS = {"random_state", "callback", "verbose", "given_types", "kwargs", "args"}
"""Parameters that options set, or that have no meaning on the command line."""


_LONGEST = 160
"""Letters of the description of a parameter."""


@dataclass(frozen=True)
class Parameter:
    """One setting of a method: its name, its default, and the beginning of its description."""

    name: str
    default: str
    meaning: str


def list_methods(talk: Output) -> None:
    """Print every installed method, family by family."""
    installed = [method for method in METHODS.values() if method.installed]
    for family, members in groupby(sorted(installed, key=_family_order), key=lambda method: method.family):
        talk.say(f"\n{family}", style="bold")
        for method in members:
            talk.say(f"{method.name}: {method.summary}")
            for line in method.advice:
                talk.say(f"    {line}")
    names = " and ".join(other.name for other in PYTHON_ONLY)
    talk.say(f"\nsidelight methods NAME explains one. From Python only: {names} (their input is not a table).")
    talk.answer["methods"] = [
        {
            "name": method.name,
            "library": method.library,
            "family": method.family,
            "summary": method.summary,
            "use": method.use,
            "avoid": method.avoid,
            "default": method.name == DEFAULT,
        }
        for method in installed
    ]


def _family_order(method: Method) -> int:
    return list(dict.fromkeys(own.family for own in METHODS.values())).index(method.family)


def explain_method(talk: Output, name: str, rows: int, columns: int) -> None:
    """Print what a method is for, an example, its cost, its settings and where it comes from."""
    method = find_method(name, "methods")
    kind = method.load()
    parameters, references = parameters_of(method, kind), section_of(kind, "References")
    cost = _cost(method, kind, rows, columns)
    talk.say(f"{method.name}: {method.summary}", style="bold")
    talk.say(f"{method.module}.{method.class_name}\n")
    talk.say(_summary(kind) + "\n")
    for line in method.advice:
        talk.say(line)
    talk.say(f"Example:     {method.command}")
    own = (
        f"{cost} for {count_of(rows, 'row')} of {count_of(columns, 'column')} (--rows and --columns say yours)"
        if cost
        else "not estimated"
    )
    talk.say(f"Cost:        {own}\n")
    talk.say("Settings (--set NAME=VALUE):", style="bold")
    talk.table(("name", "default", "meaning"), [(one.name, one.default, one.meaning) for one in parameters])
    if references:
        talk.say("\nReferences:", style="bold")
        talk.say("\n".join(f"  {line}" for line in references))
    talk.answer |= {
        "name": method.name,
        "class": kind.__name__,
        "library": method.library,
        "family": method.family,
        "summary": method.summary,
        "use": method.use,
        "avoid": method.avoid,
        "example": method.command,
        "cost": cost,
        "parameters": [vars(one) for one in parameters],
        "references": references,
    }


def _cost(method: Method, kind: type[Any], n: int, d: int) -> str:
    """The estimate in words; "" for a method that has none."""
    if not (method.is_ours and declared(kind).has_cost):
        return ""
    return cost_in_words(kind(**method.fixed).estimate_cost(n, d))


def _summary(kind: type[Any]) -> str:
    """The first paragraph of the docstring, on one line."""
    text = inspect.getdoc(kind) or ""
    return " ".join(text.partition("\n\n")[0].split())


def section_of(kind: type[Any], title: str) -> list[str]:
    """Return the entries of a section of the docstring (numpydoc), each on one line, without markup.

    Examples
    --------
    >>> from sidelight import SmootherEmbedding
    >>> section_of(SmootherEmbedding, "References")[0].startswith("[1]")
    True
    """
    lines = (inspect.getdoc(kind) or "").splitlines()
    entries: list[str] = []
    for line in _section_lines(lines, title):
        begins = line and not line[0].isspace()
        if begins:
            entries.append(line.removeprefix(".. ").strip())
        elif line.strip() and entries:
            entries[-1] += " " + line.strip()
    return [_plain(entry) for entry in entries]


def parameters_of(method: Method, kind: type[Any]) -> list[Parameter]:
    """Return the settings of a method with their defaults, described by the docstring of its class."""
    described: dict[str, str] = {}
    types: dict[str, str] = {}
    names: list[str] = []
    for line in _section_lines((inspect.getdoc(kind) or "").splitlines(), "Parameters"):
        if line and not line[0].isspace():
            own, _, kind_of = line.partition(" : ")
            names = [name.strip() for name in own.split(",")]
            types |= dict.fromkeys(names, kind_of.partition(", default")[0])
        elif line.strip():
            for name in names:
                described[name] = f"{described.get(name, '')} {line.strip()}".strip()
    fixed = {method.dims: f"--dims {method.default_dims}", **{name: repr(own) for name, own in method.fixed.items()}}
    found = []
    for parameter in inspect.signature(kind).parameters.values():
        if parameter.name not in _NOT_SETTINGS:
            default = fixed.get(parameter.name, repr(parameter.default))
            meaning = described.get(parameter.name) or types.get(parameter.name, "")
            found.append(Parameter(parameter.name, default, _first_sentences(meaning)))
    return found


def _section_lines(lines: list[str], title: str) -> list[str]:
    """The lines below the underlined ``title``, up to the next one."""
    heads = [k for k in range(len(lines) - 1) if lines[k].strip() and re.fullmatch(r"-{3,}", lines[k + 1].strip())]
    begin = next((k for k in heads if lines[k].strip() == title), None)
    if begin is None:
        return []
    end = next((k for k in heads if k > begin), len(lines))
    return lines[begin + 2 : end]


def _first_sentences(text: str) -> str:
    """The sentences that fit into 160 letters, at least one; a longer one is cut."""
    found = ""
    for sentence in re.split(r"(?<=\.)\s", _plain(text)):
        if found and len(found) + len(sentence) > _LONGEST:
            break
        found = f"{found} {sentence}".strip()
    return found if len(found) <= _LONGEST else found[: _LONGEST - 4].rsplit(" ", 1)[0] + " ..."


def _plain(text: str) -> str:
    """Text without the markup of docstrings: ``code``, :class:`references`, citations [1]_."""
    text = re.sub(r":\w+(?::\w+)*:`~?([^`<]+?)(?: <[^>]*>)?`", r"\1", text)
    text = re.sub(r"`<[^>]*>`_+", "", text)
    return re.sub(r"\s*(\[\d+\])_", r" \1", text).replace("`", "").strip()
