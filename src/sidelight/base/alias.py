"""Old names of parameters and arguments: accepted, translated to the present ones, and warned of.

One policy for all of them (CONTRIBUTING, "Old names"): what a user writes under an old name works as before, with a
``FutureWarning`` that has the line to write instead, until version 1.0 and for two minor versions at least. Model files
of earlier versions are translated without a warning. ``inspect.signature``, ``get_params`` and ``clone`` show present
names only, and only these are written to files.

    formerly                  a parameter of an estimator has another name      distance="geodesic" -> metric="geodesic"
    accept_moved_parameters   it became an option of another parameter
                                  data_kernel="sparse" -> kernel=KernelOptions("gaussian", storage="sparse")
    renamed_argument          an argument of a function or method has another name            Y=labels -> y=labels
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Concatenate, ParamSpec, TypeVar

from .messages import error_message
from .options import without_default_options
from .warnings import warn

__all__ = [
    "MovedParameter",
    "accept_moved_parameters",
    "current_names",
    "formerly",
    "moved_parameters",
    "option_kinds",
    "renamed_argument",
    "with_options",
    "with_present_parameters",
]

Class = TypeVar("Class", bound=type[Any])
P = ParamSpec("P")
Result = TypeVar("Result")


def formerly(old: str, new: str) -> Callable[[Class], Class]:
    """Decorate an estimator's class: its parameter ``new`` is also accepted under the name ``old``.

    The old name works in the constructor, in ``set_params`` (so in grids of a search too) and as an attribute, each
    with a ``FutureWarning``.

    >>> import warnings
    >>> from sklearn.base import BaseEstimator
    >>> @formerly("width", "bandwidth")
    ... class Model(BaseEstimator):
    ...     def __init__(self, *, bandwidth=1.0):
    ...         self.bandwidth = bandwidth
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     model = Model(width=2.0)
    >>> model, model.get_params()
    (Model(bandwidth=2.0), {'bandwidth': 2.0})
    >>> print(seen[0].message)
    Model: width=2.0 is the old name of bandwidth. Write bandwidth=2.0; the old keyword will go.
    >>> Model(width=2.0, bandwidth=3.0)
    Traceback (most recent call last):
    TypeError: Model: width=2.0 is the old name of bandwidth, which is given too. Give bandwidth alone.
    """

    def decorate(kind: Class) -> Class:
        init, set_params = kind.__init__, kind.set_params

        @functools.wraps(init)  # `inspect.signature` follows it to the undecorated constructor
        def accepting_init(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **_with_warning(type(self).__name__, kwargs, old, new))

        @functools.wraps(set_params)
        def accepting_set_params(self: Any, **params: Any) -> Any:
            return set_params(self, **_with_warning(type(self).__name__, params, old, new))

        kind.__init__, kind.set_params = accepting_init, accepting_set_params
        setattr(kind, old, _old_attribute(old, new))
        kind._former_names = {**current_names(kind), old: new}
        return kind

    return decorate


def current_names(kind: type[Any]) -> dict[str, str]:
    """Old names of a class's constructor parameters, each with the current one."""
    return dict(getattr(kind, "_former_names", {}))


def renamed_argument(old: str, new: str) -> Callable[[Callable[P, Result]], Callable[P, Result]]:
    """Decorate a function or method: its argument ``new`` is also accepted as ``old=``, with a ``FutureWarning``.

    >>> import warnings
    >>> @renamed_argument("Y", "y")
    ... def score(X, y):
    ...     return X - y
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     score(3, Y=1)
    2
    >>> print(seen[0].message)
    score: Y=1 is the old name of y. Write y=1; the old keyword will go.
    """

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        @functools.wraps(function)
        def accepting(*args: P.args, **kwargs: P.kwargs) -> Result:
            if old not in kwargs:
                return function(*args, **kwargs)
            known: Any = _with_warning(function.__qualname__, kwargs, old, new)
            return function(*args, **known)

        return accepting

    return decorate


def _old_attribute(old: str, new: str) -> property:
    """An attribute under its old name."""

    def warned(model: Any) -> Any:
        warn(error_message(model, old, "...", f"is the old name of {new}", _remedy(new, "...")), FutureWarning)
        return model

    return property(lambda self: getattr(warned(self), new), lambda self, value: setattr(warned(self), new, value))


def _with_warning(owner: str, given: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Keyword arguments with the current name in place of the old one, which is warned of."""
    known = _translated(owner, given, old, new)
    if old in given:
        seen = _short(given[old])
        written = repr(seen) if seen is given[old] else "..."
        warn(error_message(owner, old, seen, f"is the old name of {new}", _remedy(new, written)), FutureWarning)
    return known


def _remedy(new: str, written: str) -> str:
    """What to write instead, and that one has to."""
    return f"Write {new}={written}; the old keyword will go"


def _translated(owner: str, given: dict[str, Any], old: str, new: str) -> dict[str, Any]:
    """Keyword arguments with the current name in place of the old one."""
    if old not in given:
        return given
    if new in given:
        rule = f"is the old name of {new}, which is given too"
        raise TypeError(error_message(owner, old, _short(given[old]), rule, f"Give {new} alone"))
    return {new if name == old else name: value for name, value in given.items()}


def _short(value: Any) -> Any:
    """The value, or the shape of an array, for a message."""
    shape = getattr(value, "shape", None)
    return value if shape is None else f"array of shape {tuple(shape)}"


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
    moved = {place.parameter: place.kind for place in moved_parameters(estimator).values()}
    return moved | dict(getattr(estimator, "_option_kinds", {}))


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
            present: dict[str, Any] = _with_moved(moved, signature, kwargs)
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
    former = current_names(estimator)
    known = {former.get(name, name): value for name, value in parameters.items()}
    return _with_moved(moved_parameters(estimator), inspect.signature(estimator), known)


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


def _with_moved(
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
        warn(error_message(owner, first, seen, rule, _remedy(parameter, repr(present[parameter]))), FutureWarning)
