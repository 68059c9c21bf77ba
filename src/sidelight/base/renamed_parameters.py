"""Parameters that became options of another one: the old keyword still works, with a FutureWarning.

An estimator says in ``_moved_parameters`` where each old parameter went, and decorates its ``__init__``:

    data_kernel="sparse"    ->    kernel=KernelOptions("gaussian", storage="sparse")

``inspect.signature`` and ``get_params`` show the new parameters only. A parameter that only has another name is for
``base.alias``.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec

from .messages import error_message
from .options import without_default_options
from .warnings import warn

__all__ = [
    "MovedParameter",
    "accept_moved_parameters",
    "moved_parameters",
    "option_kinds",
    "with_options",
    "with_present_parameters",
]

P = ParamSpec("P")


@dataclass(frozen=True)
class MovedParameter:
    """Where an old parameter went: into a ``field`` of ``kind``, the class of values that ``parameter`` takes."""

    parameter: str
    field: str
    kind: Any


def moved_parameters(estimator: type[Any]) -> Mapping[str, MovedParameter]:
    """The old parameters of an estimator class, by name; empty for most classes, also of other libraries."""
    return getattr(estimator, "_moved_parameters", {})


def option_kinds(estimator: type[Any]) -> dict[str, Any]:
    """The class of the values with options, for each parameter of an estimator class that takes such values.

    >>> from sidelight import UnsupervisedKernelRegression
    >>> option_kinds(UnsupervisedKernelRegression)
    {'regularization': <class 'sidelight.information.annealing.Annealing'>}
    """
    return {place.parameter: place.kind for place in moved_parameters(estimator).values()}


def accept_moved_parameters(
    init: Callable[Concatenate[Any, P], None],
) -> Callable[Concatenate[Any, P], None]:
    """Decorate an ``__init__`` so that it takes old parameters by keyword, with a FutureWarning."""
    signature = inspect.signature(init)  # not that of the model's class: a subclass may have other parameters

    @functools.wraps(init)
    def accepting(model: Any, /, *args: P.args, **kwargs: P.kwargs) -> None:
        moved = moved_parameters(type(model))
        old = {name: value for name, value in kwargs.items() if name in moved}
        if old:
            present: dict[str, Any] = _translated(moved, signature, kwargs)
            _warn_of(type(model).__name__, moved, old, present)
            return init(model, *args, **present)
        return init(model, *args, **kwargs)

    return accepting


def with_present_parameters(estimator: type[Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with the old ones translated into options of present ones, without a warning.

    Parameters
    ----------
    estimator : type
        The class whose parameters they are.
    parameters : mapping
        Values by name; a present parameter that is missing has its default.

    Returns
    -------
    dict
        Values by present name. A value whose options all have their defaults is simplified to its name or number.
    """
    return _translated(moved_parameters(estimator), inspect.signature(estimator), parameters)


def with_options(
    estimator: type[Any], parameters: Mapping[str, Any], options: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """The values of the parameters that ``options`` names, combined with these options.

    Parameters
    ----------
    estimator : type
    parameters : mapping
        What the user passed, by name; a missing one has its default.
    options : mapping
        For each parameter, the options by field name.
    """
    return _combined(option_kinds(estimator), inspect.signature(estimator), parameters, options)


def _translated(
    moved: Mapping[str, MovedParameter], signature: inspect.Signature, parameters: Mapping[str, Any]
) -> dict[str, Any]:
    present = {name: value for name, value in parameters.items() if name not in moved}
    options: dict[str, dict[str, Any]] = {}
    for name in [name for name in parameters if name in moved]:
        options.setdefault(moved[name].parameter, {})[moved[name].field] = parameters[name]
    kinds = {place.parameter: place.kind for place in moved.values()}
    return present | _combined(kinds, signature, present, options)


def _combined(
    kinds: Mapping[str, Any],
    signature: inspect.Signature,
    parameters: Mapping[str, Any],
    options: Mapping[str, Mapping[str, Any]],
) -> dict[str, Any]:
    found = {}
    for name, fields in options.items():
        value = kinds[name].of(parameters.get(name, signature.parameters[name].default))
        found[name] = without_default_options(dataclasses.replace(value, **fields))
    return found


def _warn_of(
    owner: str, moved: Mapping[str, MovedParameter], old: Mapping[str, Any], present: Mapping[str, Any]
) -> None:
    """Warn once for each present parameter that took over old ones, with the line to write instead."""
    for parameter in dict.fromkeys(moved[name].parameter for name in old):
        names = [name for name in old if moved[name].parameter == parameter]
        first, _, seen = ", ".join(f"{name}={old[name]!r}" for name in names).partition("=")
        rule = f"{'is an option' if len(names) == 1 else 'are options'} of {parameter} now"
        remedy = f"Write {parameter}={present[parameter]!r}; the old keyword will go"
        warn(error_message(owner, first, seen, rule, remedy), FutureWarning)
