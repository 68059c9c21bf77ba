"""Old names of constructor parameters: accepted without a warning, and translated to the current name.

Only the current name is a parameter of the estimator: ``inspect.signature``, ``get_params`` and ``clone`` do not see
the old one, and model files are written with the current one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .messages import error_message

__all__ = ["current_names", "formerly"]

Class = TypeVar("Class", bound=type[Any])


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

    def translated(owner: str, given: dict[str, Any]) -> dict[str, Any]:
        """The keywords with the current name in place of the old one."""
        if old not in given:
            return given
        if new in given:
            rule = f"is the old name of {new}, which is given too"
            raise TypeError(error_message(owner, old, given[old], rule, f"Give {new} alone"))
        return {new if name == old else name: value for name, value in given.items()}

    def decorate(kind: Class) -> Class:
        init, set_params = kind.__init__, kind.set_params

        @functools.wraps(init)  # `inspect.signature` follows it to the undecorated constructor
        def accepting_init(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **translated(type(self).__name__, kwargs))

        @functools.wraps(set_params)
        def accepting_set_params(self: Any, **params: Any) -> Any:
            return set_params(self, **translated(type(self).__name__, params))

        kind.__init__, kind.set_params = accepting_init, accepting_set_params
        attribute = property(lambda self: getattr(self, new), lambda self, value: setattr(self, new, value))
        setattr(kind, old, attribute)
        kind._former_names = {**current_names(kind), old: new}
        return kind

    return decorate


def current_names(kind: type[Any]) -> dict[str, str]:
    """Old names of a class's constructor parameters, each with the current one."""
    return dict(getattr(kind, "_former_names", {}))
