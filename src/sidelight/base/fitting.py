"""Atomic fits: a fit that fails leaves the model unchanged. It runs on a copy, which replaces the model on success.

The copy is a *shell*: an object of the same class with the model's parameters and scikit-learn's settings, but without
attributes of an earlier fit. So a fit that is refused, fails or is interrupted changes nothing, and a later fit neither
sees nor keeps attributes of an earlier one. The model takes over the fitted attributes in one assignment, which Ctrl-C
cannot cut in two. No data is copied.

Fitted attributes are recognised by a trailing underscore in the name (the convention of scikit-learn). All other
attributes are the user's, and stay. A subclass that overrides ``fit`` sets its own attributes after ``super().fit``.

Ctrl-C has one protocol, from the solver to the user:

1. A solver that has an iterate catches ``KeyboardInterrupt`` and returns the best one with status ``INTERRUPTED``. It
   lets it pass, or its caller calls ``raise_if_interrupted(..., kept=False)``, where there is nothing to return yet.
2. A fit makes its result from that iterate as from any other, sets all attributes, and calls
   ``raise_if_interrupted(...)`` last. No other code of the library raises ``KeyboardInterrupt`` (a test says so).
3. The decorator moves the attributes to the model. The caller always sees a plain ``KeyboardInterrupt``: the model then
   is whole and made of the best iterate, or as it was before. An estimator that fits another one asks what that has
   set.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from .cost import one_notice
from .sklearn_callbacks import run_with_callbacks

__all__ = ["all_or_nothing", "all_or_nothing_continued", "clear_fitted", "is_fitted_name", "raise_if_interrupted"]

P = ParamSpec("P")
Result = TypeVar("Result")
Method = Callable[Concatenate[Any, P], Result]


class _InterruptedWithResult(KeyboardInterrupt):
    """Signals to the decorator that all attributes are set and can be kept."""


def raise_if_interrupted(interrupted: bool, *, kept: bool = True) -> None:
    """Raise Ctrl-C again in a fit that it has ended, otherwise do nothing.

    Parameters
    ----------
    interrupted : bool
        Whether Ctrl-C has ended the solver.
    kept : bool
        Whether all attributes are set from the best iterate, so that the model keeps them. False: there is no result
        yet, and the model stays as it was.
    """
    if interrupted:
        raise _InterruptedWithResult if kept else KeyboardInterrupt


def is_fitted_name(name: str) -> bool:
    """Whether an attribute of this name is set by a fit.

    >>> [is_fitted_name(name) for name in ("embedding_", "_paused_", "max_iter", "_metadata_request", "__dict__")]
    [True, True, False, False, False]
    """
    return name.endswith("_") and not name.startswith("__")


def clear_fitted(model: Any) -> None:
    """Delete the attributes that earlier fits have set."""
    for name in [name for name in vars(model) if is_fitted_name(name)]:
        delattr(model, name)


def all_or_nothing(fit: Method[P, Result]) -> Method[P, Result]:
    """Decorator for fits: the method runs on a copy without the attributes of earlier fits.

    >>> class Model:
    ...     @all_or_nothing
    ...     def fit(self, X):
    ...         if len(X) == 2:
    ...             self.is_pair_ = True
    ...         self.size_ = len(X)
    ...         self.first_ = X[0]
    ...         return self
    >>> model = Model().fit([7, 8])
    >>> model.fit([])
    Traceback (most recent call last):
    IndexError: list index out of range
    >>> vars(model)
    {'is_pair_': True, 'size_': 2, 'first_': 7}
    >>> vars(model.fit([9]))
    {'size_': 1, 'first_': 9}
    """
    return _on_a_copy(fit, _is_users)


def all_or_nothing_continued(fit: Method[P, Result]) -> Method[P, Result]:
    """Decorate a method that continues an earlier fit: it runs on a copy with all attributes of the model.

    The method must assign attributes anew, not change them in place.
    """
    return _on_a_copy(fit, lambda name: True)


def _is_users(name: str) -> bool:
    """Whether an attribute is the user's, not set by a fit."""
    return not is_fitted_name(name)


def _on_a_copy(fit: Method[P, Result], is_known: Callable[[str], bool]) -> Method[P, Result]:
    """Wrap ``fit`` so that it runs on a copy with the attributes for which ``is_known(name)`` holds."""

    @functools.wraps(fit)
    def whole(model: Any, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        shell: Any = object.__new__(type(model))
        shell.__dict__.update({name: value for name, value in vars(model).items() if is_known(name)})
        try:
            with one_notice():
                result = run_with_callbacks(model, shell, fit, args, kwargs)
        except _InterruptedWithResult:
            _take_over(model, shell)
            raise KeyboardInterrupt from None  # an outer estimator that fits this one has not kept anything itself
        _take_over(model, shell)
        return model if result is shell else result

    return whole


def _take_over(model: Any, shell: Any) -> None:
    """Move the fitted attributes to the model; parameters that a callback has set meanwhile are kept."""
    users = {name: value for name, value in vars(model).items() if _is_users(name)}
    model.__dict__ = {**vars(shell), **users}
