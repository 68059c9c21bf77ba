"""Old names of parameters and arguments, which are accepted and translated to the current name.

Only the current name is seen by ``inspect.signature``, ``get_params`` and ``clone``, and written to model files. An old
constructor parameter (:func:`formerly`) is accepted without a warning, because scripts and model files hold them; an
old argument of a method (:func:`renamed_argument`) with a ``FutureWarning``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

from .messages import error_message
from .warnings import warn

__all__ = ["current_names", "formerly", "renamed_argument"]

Class = TypeVar("Class", bound=type[Any])
P = ParamSpec("P")
Result = TypeVar("Result")


def formerly(old: str, new: str) -> Callable[[Class], Class]:
    """Decorate an estimator's class: its parameter ``new`` is also accepted under the name ``old``.

    The old name works in the constructor, in ``set_params`` (so in grids of a search too) and as an attribute.

    >>> from sklearn.base import BaseEstimator
    >>> @formerly("width", "bandwidth")
    ... class Model(BaseEstimator):
    ...     def __init__(self, *, bandwidth=1.0):
    ...         self.bandwidth = bandwidth
    >>> model = Model(width=2.0)
    >>> model, model.get_params()
    (Model(bandwidth=2.0), {'bandwidth': 2.0})
    >>> model.set_params(width=3.0).width
    3.0
    >>> Model(width=2.0, bandwidth=3.0)
    Traceback (most recent call last):
    TypeError: Model: width=2.0 is the old name of bandwidth, which is given too. Give bandwidth alone.
    """

    def decorate(kind: Class) -> Class:
        init, set_params = kind.__init__, kind.set_params

        @functools.wraps(init)  # `inspect.signature` follows it to the undecorated constructor
        def accepting_init(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **_translated(type(self).__name__, kwargs, old, new))

        @functools.wraps(set_params)
        def accepting_set_params(self: Any, **params: Any) -> Any:
            return set_params(self, **_translated(type(self).__name__, params, old, new))

        kind.__init__, kind.set_params = accepting_init, accepting_set_params
        attribute = property(lambda self: getattr(self, new), lambda self, value: setattr(self, new, value))
        setattr(kind, old, attribute)
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
    score: Y=1 is the old name of y. Write y= instead.
    """

    def decorate(function: Callable[P, Result]) -> Callable[P, Result]:
        @functools.wraps(function)
        def accepting(*args: P.args, **kwargs: P.kwargs) -> Result:
            if old not in kwargs:
                return function(*args, **kwargs)
            known: Any = _translated(function.__qualname__, kwargs, old, new)
            warn(
                error_message(
                    function.__qualname__, old, _short(known[new]), f"is the old name of {new}", f"Write {new}= instead"
                ),
                FutureWarning,
            )
            return function(*args, **known)

        return accepting

    return decorate


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
