"""Values that hold a parameter with its options: ``kernel="student"`` or ``kernel=KernelOptions("student", ...)``.

Such a value is a frozen dataclass. Its first field is what the parameter takes without options (a name or a number);
the other fields are the options, and have defaults.
"""

from __future__ import annotations

import dataclasses
import numbers
from typing import Any, Self

__all__ = ["OptionValue", "argument_name", "short_repr", "without_default_options"]


class OptionValue:
    """Base of such values, which are frozen dataclasses with ``repr=False``."""

    @classmethod
    def of(cls, value: object) -> Self:
        """Return ``value`` if it is of this class, otherwise the value of this class with that first field.

        >>> from sidelight import KernelOptions
        >>> KernelOptions.of("student"), KernelOptions.of(KernelOptions(storage="sparse"))
        (KernelOptions('student'), KernelOptions(storage='sparse'))
        """
        return value if isinstance(value, cls) else cls(value)  # type: ignore[call-arg]  # a dataclass has one

    def __repr__(self) -> str:
        return short_repr(self)


def argument_name(parameter: str, value: object, kind: type[Any], field: str) -> str:
    """The name of a field in messages: "kernel.profile" if the user passed a ``kind``, "kernel" for a plain value.

    >>> from sidelight import KernelOptions
    >>> [argument_name("kernel", value, KernelOptions, "profile") for value in (KernelOptions("student"), "student")]
    ['kernel.profile', 'kernel']
    """
    return f"{parameter}.{field}" if isinstance(value, kind) else parameter


def short_repr(value: Any) -> str:
    """The call that makes a value, without the fields that have their default.

    >>> from sidelight import Annealing
    >>> short_repr(Annealing(0.1, decay=0.8))
    'Annealing(0.1, decay=0.8)'
    """
    first, *options = dataclasses.fields(value)
    shown = [] if _has_default(value, first) else [repr(getattr(value, first.name))]
    shown += [f"{field.name}={getattr(value, field.name)!r}" for field in options if not _has_default(value, field)]
    return f"{type(value).__name__}({', '.join(shown)})"


def without_default_options(value: Any) -> Any:
    """The first field alone (a name or a number) if all options have their defaults, otherwise the value itself.

    >>> from sidelight import Annealing
    >>> without_default_options(Annealing(0.1)), without_default_options(Annealing(0.1, start=3.0))
    (0.1, Annealing(0.1, start=3.0))
    """
    first, *options = dataclasses.fields(value)
    return getattr(value, first.name) if all(_has_default(value, field) for field in options) else value


def _has_default(value: Any, field: dataclasses.Field[Any]) -> bool:
    """Whether a field has its default; arrays and other values that ``==`` may not compare never have."""
    found = getattr(value, field.name)
    return found is field.default or (isinstance(found, str | numbers.Number) and bool(found == field.default))
