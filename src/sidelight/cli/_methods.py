"""The methods that ``sidelight embed --method`` knows: find one, check its settings, make its estimator."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from sidelight.base.alias import current_names, moved_parameters, option_kinds, with_options
from sidelight.base.capabilities import Capabilities, declared

from ._columns import suggestion
from ._method import Method
from ._other_methods import OTHERS
from ._our_methods import OURS, PYTHON_ONLY
from ._output import CommandError

__all__ = [
    "ACTION",
    "DEFAULT",
    "JOINT",
    "METHODS",
    "RELATIONAL",
    "Method",
    "check_takes",
    "find_method",
    "make",
    "needs_pairs",
    "parse_settings",
    "takes",
]

DEFAULT = "kie"
JOINT = "joint"
RELATIONAL = "relational"
ACTION = "action"
TANGENT = "tangent"

METHODS: dict[str, Method] = {method.name: method for method in (*OURS, *OTHERS)}

_TAKES: dict[str, Callable[[Capabilities], bool]] = {
    "given": lambda offers: offers.takes_given,
    "same": lambda offers: offers.takes_pairs,
    "relations": lambda offers: offers.takes_relations,
    "actions": lambda offers: offers.takes_actions,
    "trajectory": lambda offers: offers.takes_trajectory,
    "y": lambda offers: offers.takes_second_view or offers.makes_outputs,
}
"""What the command line tells a model beside the rows, as an argument of ``fit``."""

_PROJECTS = {"umap": "umap-learn", "openTSNE.sklearn": "openTSNE"}
"""What pip calls a package."""

_OWN_OPTIONS = {
    "n_components": "--dims",
    "n_mapping": "--dims",
    "random_state": "--seed",
    "callback": "no option",
    "given_types": "--given-type",
    "conditioning.types": "--given-type",
}
"""Parameters that options set."""


def parse_settings(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``name=value`` pairs; a value is a Python literal where it looks like one, and text otherwise.

    Examples
    --------
    >>> parse_settings(["perplexity=50", "init=random", "shape=(2, 3)"])
    {'perplexity': 50, 'init': 'random', 'shape': (2, 3)}
    >>> parse_settings(["kernel.storage=sparse"])  # an option of a parameter
    {'kernel.storage': 'sparse'}
    """
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not all(part.isidentifier() for part in name.strip().split(".")):
            raise CommandError(f"--set {pair}: write it as name=value, for example --set perplexity=50")
        try:
            settings[name.strip()] = ast.literal_eval(text.strip())
        except (ValueError, SyntaxError):
            settings[name.strip()] = text.strip()
    return settings


def find_method(name: str, option: str = "--method") -> Method:
    """Return the method of that name, installed; raises CommandError with the way out otherwise."""
    for other in PYTHON_ONLY:
        if name == other.name:
            raise CommandError(f"{option} {name}: {other.reason}; use it from Python: {other.instead}")
    method = METHODS.get(name)
    if method is None:
        near = suggestion(name, list(METHODS)) or f"; choose from {', '.join(METHODS)}"
        raise CommandError(f"{option} {name}: no such method{near}")
    if not method.installed:
        way = f'; pip install "sidelight[{method.extra}]"' if method.extra else ""
        if method.package in _PROJECTS:
            way = f"; pip install {_PROJECTS[method.package]}"
        raise CommandError(f"{option} {name}: needs the package {method.package}, which is not installed{way}")
    return method


def make(
    name: str,
    *,
    dims: int,
    seed: int,
    settings: Mapping[str, Any],
    given_types: Mapping[str, Any] | None = None,
    image_shape: tuple[int, int] | None = None,
    callback: Any = None,
) -> Any:
    """Return the unfitted estimator of a method; one that is not ours is made two-way."""
    method = find_method(name)
    kind = method.load()
    known = set(inspect.signature(kind).parameters)
    former = current_names(kind)
    asked = {former.get(key, key): value for key, value in settings.items()}
    asked = _with_tangents(name, asked, image_shape)
    _check_settings(method, asked, known, kind)
    automatic = {method.dims: dims, "random_state": seed}
    if method.is_ours:  # a callback of another library is called with something else
        automatic["callback"] = callback
    automatic |= method.fixed
    chosen = {key: value for key, value in automatic.items() if key in known}
    chosen |= {key: value for key, value in asked.items() if "." not in key}
    options = _options(asked)
    if given_types and "conditioning" in option_kinds(kind):
        options.setdefault("conditioning", {})["types"] = given_types
    estimator = kind(**(chosen | with_options(kind, chosen, options)))
    if method.is_ours:
        return estimator
    from sidelight import TwoWayEmbedding

    return TwoWayEmbedding(estimator)


def _with_tangents(name: str, settings: Mapping[str, Any], image_shape: tuple[int, int] | None) -> dict[str, Any]:
    """The settings of a method, where ``tangent`` as a metric is replaced by the distance itself."""
    chosen = dict(settings)
    if name != TANGENT and not (name == "hybrid" and chosen.get("metric") == "tangent"):
        return chosen
    from sidelight import TangentDistance

    about = {field.name for field in fields(TangentDistance)} - {"image_shape", "n_neighbors", "n_jobs"}
    own = {key: chosen.pop(key) for key in about & chosen.keys()}
    return chosen | {"metric": TangentDistance(image_shape=image_shape, **own)}


def takes(name: str, argument: str) -> bool:
    """Whether the method accepts this side information."""
    method = find_method(name)
    return method.is_ours and _TAKES[argument](declared(method.load()))


def needs_pairs(name: str) -> bool:
    """Whether the method learns from pairs of rows and their outputs (``--view-y``)."""
    method = find_method(name)
    return method.is_ours and declared(method.load()).makes_outputs


def check_takes(name: str, argument: str, option: str) -> None:
    """Raise if a method does not accept the side information of the options."""
    if not takes(name, argument):
        able = [own for own, method in METHODS.items() if method.is_ours and method.installed and takes(own, argument)]
        raise CommandError(f"{option}: the method {name} cannot use it; use --method {' or '.join(able)}")


def _options(settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The settings with a dotted name, such as ``kernel.storage``, by parameter and option."""
    found: dict[str, dict[str, Any]] = {}
    for key, value in settings.items():
        parameter, dot, option = key.partition(".")
        if dot:
            found.setdefault(parameter, {})[option] = value
    return found


def _check_settings(method: Method, settings: Mapping[str, Any], known: set[str], kind: type[Any]) -> None:
    moved = moved_parameters(kind)
    dotted = {f"{parameter}.{field.name}" for parameter, of in option_kinds(kind).items() for field in fields(of)}
    for key, value in settings.items():
        if key == method.dims or (key in _OWN_OPTIONS and _OWN_OPTIONS[key] != "--dims"):
            raise CommandError(f"--set {key}: use {_OWN_OPTIONS.get(key, '--dims')} for this")
        if key in moved:
            place = f"{moved[key].parameter}.{moved[key].field}"
            raise CommandError(f"--set {key}: has another name; write --set {place}={value}")
        if key not in known | dotted:
            names = sorted((known | dotted) - set(_OWN_OPTIONS) - {"kwargs", "args"})
            raise CommandError(
                f"--set {key}: {method.name} has no such setting{suggestion(key, names)}; it has {', '.join(names)}"
            )
