"""All or nothing: a fit that ends before there is something to keep leaves the model as it was."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["KeptInterrupt", "all_or_nothing"]

P = ParamSpec("P")
Result = TypeVar("Result")


class KeptInterrupt(KeyboardInterrupt):
    """Ctrl-C, raised again when the model has kept what there is."""


def all_or_nothing(fit: Callable[Concatenate[Any, P], Result]) -> Callable[Concatenate[Any, P], Result]:
    """Decorate a method that fits: where it raises anything but :class:`KeptInterrupt`, attributes are as before it.

    Attributes must be set anew, not changed in place.

    >>> class Model:
    ...     @all_or_nothing
    ...     def fit(self, X):
    ...         self.size_ = len(X)
    ...         self.first_ = X[0]
    >>> model = Model()
    >>> model.fit([7, 8])
    >>> model.fit([])
    Traceback (most recent call last):
    IndexError: list index out of range
    >>> vars(model)
    {'size_': 2, 'first_': 7}
    """

    @functools.wraps(fit)
    def whole(model: Any, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        before = dict(vars(model))
        try:
            return fit(model, *args, **kwargs)
        except KeptInterrupt:
            raise
        except BaseException:
            vars(model).clear()
            vars(model).update(before)
            raise

    return whole
