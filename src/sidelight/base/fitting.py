"""A fit changes everything or nothing: it works on a copy of the model, which the model becomes when the fit is whole.

The copy is a *shell*: an object of the same class that has the model's parameters and scikit-learn's settings, but
nothing that an earlier fit has set. So a fit that is refused, fails or is interrupted has changed nothing, and nothing
of an earlier fit is seen by a later one or survives it. The model takes over what was fitted in one assignment, which
Ctrl-C cannot cut in two. No data is copied.

What a fit has set is known by its name, which ends with an underscore (the convention of scikit-learn). Everything else
on a model is the user's, and stays. A subclass that overrides ``fit`` sets attributes of its own after ``super().fit``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

__all__ = ["KeptInterrupt", "all_or_nothing", "all_or_nothing_continued", "forget", "is_fitted_name"]

P = ParamSpec("P")
Result = TypeVar("Result")
Method = Callable[Concatenate[Any, P], Result]


class KeptInterrupt(KeyboardInterrupt):
    """Raised by a fit that Ctrl-C has ended, when everything is set from the best iterate: the model becomes that."""


def is_fitted_name(name: str) -> bool:
    """Whether an attribute of this name is set by a fit.

    >>> [is_fitted_name(name) for name in ("embedding_", "_paused_", "max_iter", "_metadata_request", "__dict__")]
    [True, True, False, False, False]
    """
    return name.endswith("_") and not name.startswith("__")


def forget(model: Any) -> None:
    """Delete what earlier fits have set."""
    for name in [name for name in vars(model) if is_fitted_name(name)]:
        delattr(model, name)


def all_or_nothing(fit: Method[P, Result]) -> Method[P, Result]:
    """Decorate a method that fits anew: it runs on a shell that knows nothing of earlier fits.

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
    return _on_a_shell(fit, _is_users)


def all_or_nothing_continued(fit: Method[P, Result]) -> Method[P, Result]:
    """Decorate a method that continues an earlier fit: it runs on a shell with all attributes of the model.

    Attributes must be set anew, not changed in place.
    """
    return _on_a_shell(fit, lambda name: True)


def _is_users(name: str) -> bool:
    return not is_fitted_name(name)


def _on_a_shell(fit: Method[P, Result], is_known: Callable[[str], bool]) -> Method[P, Result]:
    @functools.wraps(fit)
    def whole(model: Any, /, *args: P.args, **kwargs: P.kwargs) -> Result:
        shell: Any = object.__new__(type(model))
        shell.__dict__.update({name: value for name, value in vars(model).items() if is_known(name)})
        try:
            result = fit(shell, *args, **kwargs)
        except KeptInterrupt:
            _take_over(model, shell)
            raise KeyboardInterrupt from None  # an estimator that fits this one has itself kept nothing yet
        _take_over(model, shell)
        return model if result is shell else result

    return whole


def _take_over(model: Any, shell: Any) -> None:
    """Give the model what was fitted; parameters that a callback has set meanwhile stay as they are."""
    users = {name: value for name, value in vars(model).items() if _is_users(name)}
    model.__dict__ = {**vars(shell), **users}
