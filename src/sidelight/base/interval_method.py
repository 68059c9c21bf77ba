"""The one form of all methods whose names end with ``_interval``: availability, ``level``, threads and documentation.

``@interval_method(available)`` around ``def NAME_interval(self, X, *, ..., level=0.9, ...)`` checks ``level``, and adds
the sections Parameters and Returns to the docstring: what X, ``given``, ``level`` and ``columns`` are is the same in
every class, and what is returned lies around ``NAME(X)``.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.utils.metaestimators import available_if

from .tiles import one_blas_thread
from .validation import check_number

__all__ = ["interval_method"]

_Method = TypeVar("_Method", bound=Callable[..., Any])

_PARAMETERS = {
    "X": ("array of shape (m, d)", ""),
    "given": (
        "array of shape (m,) or (m, g), table, or one value for all rows, default=None",
        "As for the method without intervals.",
    ),
    "level": ("float, default=0.9", "Between 0 and 1."),
    "columns": (
        "names, numbers or mask, default=None",
        "Columns of the data to return, in this order; None: all.",
    ),
}
_LATENT = ("array of shape (m, q)", "Latent points.")
_ENDS = {
    "inverse_transform": "each of shape (m, d), around ``inverse_transform(X)``.",
    "transform": "each of shape (m, q), around ``transform(X)``.",
    "predict": "each of shape (m, e), or (m,) if y was one-dimensional, around ``predict(X)``.",
    "impute": "each of shape (m, d), around ``impute(X)``; both are the entry itself where it is observed.",
    "counterfactual": "each of shape (m, d), around ``counterfactual(X, given=..., ...)``.",
}


def interval_method(available: Callable[[Any], bool]) -> Callable[[_Method], _Method]:
    """Decorate a method that returns intervals.

    Parameters
    ----------
    available : callable
        From the estimator to whether it has the method now.
    """

    def decorate(method: _Method) -> _Method:
        @functools.wraps(method)
        def checked(self: Any, X: Any, **options: Any) -> Any:
            check_number(self, "level", options.get("level", 0.9), 0.0, 1.0)
            return method(self, X, **options)

        checked.__doc__ = _documented(method)
        return cast("_Method", available_if(available)(one_blas_thread(checked)))

    return decorate


def _documented(method: Callable[..., Any]) -> str | None:
    """The docstring of a method with the sections Parameters and Returns; None under ``python -OO``."""
    if method.__doc__ is None:
        return None
    text, heading, examples = inspect.cleandoc(method.__doc__).partition("\nExamples\n")
    name = method.__name__.removesuffix("_interval")
    lines = [text.rstrip(), ""]
    if "\nParameters\n" not in text:
        lines += ["Parameters", "----------", *_entries(method, name), ""]
    lines += ["Returns", "-------", "Intervals", f"    ``lower`` and ``upper``, {_ENDS[name]}"]
    return "\n".join(lines) + (f"\n{heading}{examples}" if heading else "")


def _entries(method: Callable[..., Any], name: str) -> list[str]:
    out = []
    for parameter in list(inspect.signature(method).parameters)[1:]:
        kind, text = _LATENT if (parameter, name) == ("X", "inverse_transform") else _PARAMETERS[parameter]
        out += [f"{parameter} : {kind}", *([f"    {text}"] if text else [])]
    return out
