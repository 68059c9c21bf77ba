"""Schema checks of stored values: types from annotations, arrays by specifications.

A specification is a line of text, so that the tables of ``_fitted.py`` can be read at a glance:

    float (n, d)      an array of finite floating-point numbers; the letters are sizes, the same wherever they stand in
                      a model; ``*`` is any size, ``d|1`` is d or 1, a number is itself
    real (n)          the same, not necessarily finite
    index:n (m, k)    an array of whole numbers from 0 to n - 1;  ``index-:n`` -1 as well
    int (n), bool (n, d), text (d), array
    values (d)        an array of numbers, texts or dates, or of objects each of which is one of these or missing
    number, number~   a finite number; any number.    count, count:d  a whole number from 0 on; which is the size d
    positive          a finite number above 0.        flag, string, function, choice:a|b
    list X, dict X    all items, or values, as X;  list:k X  of which there are k
    record n=m a=d    a dataclass, checked by its own annotations and table; its size n is the model's m
    model             an estimator.                   plain           whatever a file can hold
    dtype, slice      a NumPy type; a range of columns

A ``?`` in front: may be None. Alternatives are separated by `` / ``.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
import types
import typing
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

__all__ = ["MismatchError", "Sizes", "check_annotation", "check_record", "check_value"]

_KINDS = {"float": "f", "real": "f", "int": "iu", "index": "iu", "index-": "iu", "bool": "b", "text": "OU"}
_KINDS |= {"array": "biufOU", "values": "biufOUSM"}


class MismatchError(ValueError):
    """A stored value that does not match the schema of its class."""


class Sizes(dict[str, int]):
    """Sizes by their letters; the same letter is the same size."""

    def bind(self, letter: str, size: int) -> None:
        """Give a letter a size, or compare with the one it has."""
        if self.setdefault(letter, size) != size:
            raise MismatchError(f"has a size of {size} where others have {self[letter]}")


def check_value(value: Any, specification: str, sizes: Sizes, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Raise ``MismatchError`` where a value is not as specified; ``tables`` are those of the dataclasses."""
    if specification.startswith("?"):
        if value is None:
            return
        specification = specification[1:]
    options = specification.split(" / ")
    for last, option in enumerate(options, 1 - len(options)):
        trial = Sizes(sizes)
        try:
            _check_one(value, option, trial, tables)
        except MismatchError:
            if last == 0:
                raise
            continue
        sizes.update(trial)
        return


def _check_one(value: Any, specification: str, sizes: Sizes, tables: Mapping[str, Mapping[str, str]]) -> None:
    word, _, rest = specification.partition(" ")
    kind, _, detail = word.partition(":")
    if kind in ("list", "dict"):
        _require(isinstance(value, dict if kind == "dict" else list | tuple), f"is not a {kind}")
        if detail:
            sizes.bind(detail, len(value))
        for item in value.values() if kind == "dict" else value:
            check_value(item, rest, sizes, tables)
    elif kind == "record":
        _require(dataclasses.is_dataclass(value), "is not a record")
        _check_bound(value, rest, sizes, tables)
    elif kind in _KINDS:
        _check_array(value, kind, detail, rest, sizes)
    elif kind == "model":
        _require(isinstance(value, BaseEstimator), "is not a model")
    elif kind != "plain":
        _check_scalar(value, kind, detail, sizes)


def check_record(record: Any, sizes: Sizes, tables: Mapping[str, Mapping[str, str]]) -> None:
    """Check the fields of a dataclass by their annotations, and by the table of its class."""
    table = tables.get(type(record).__name__, {})
    kind: Any = type(record)
    annotations = _annotations(kind)
    # sizes first: indices are compared with them
    for late in (False, True):
        for field in dataclasses.fields(record):
            specification = table.get(field.name, "")
            if specification.startswith("index") != late:
                continue
            value = getattr(record, field.name)
            with _Naming(field.name):
                check_annotation(value, annotations[field.name])
                if specification:
                    check_value(value, specification, sizes, tables)
                else:
                    _check_nested(value, tables)


def _check_bound(record: Any, binding: str, sizes: Sizes, tables: Mapping[str, Mapping[str, str]]) -> None:
    pairs = [pair.split("=") for pair in binding.split()]
    own = Sizes({inner: sizes[outer] for inner, outer in pairs if outer in sizes})
    check_record(record, own, tables)
    for inner, outer in pairs:
        if inner in own:
            sizes.bind(outer, own[inner])


def _check_nested(value: Any, tables: Mapping[str, Mapping[str, str]]) -> None:
    """What no table speaks of: arrays are finite numbers or text, records are checked by themselves."""
    if isinstance(value, list | tuple):
        for item in value:
            _check_nested(item, tables)
    elif isinstance(value, dict):
        for item in value.values():
            _check_nested(item, tables)
    elif isinstance(value, np.ndarray):
        _check_array(value, "array", "", "", Sizes())
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        check_record(value, Sizes(), tables)


def _check_array(value: Any, kind: str, detail: str, shape: str, sizes: Sizes) -> None:
    _require(isinstance(value, np.ndarray), f"is not an array but {type(value).__name__}")
    _require(value.dtype.kind in _KINDS[kind], f"has entries of type {value.dtype}")
    _require(value.dtype.kind != "f" or value.dtype.itemsize in (4, 8), f"has numbers of type {value.dtype}")
    if shape:
        sides = shape.strip("()").split(", ") if shape != "()" else []
        _require(value.ndim == len(sides), f"has {value.ndim} dimensions instead of {len(sides)}")
        for side, size in zip(sides, value.shape, strict=True):
            _check_side(side, size, sizes)
    if kind == "values" and value.dtype.kind == "O":
        plain = (str, bytes, bool, int, float, np.generic, type(None))
        _require(all(isinstance(item, plain) for item in value.ravel().tolist()), "has entries that are not values")
    if kind not in ("real", "values") and value.dtype.kind == "f" and value.size:
        # NaN is both the least and the largest; no array of truth values beside a large one
        _require(bool(np.isfinite(value.min()) and np.isfinite(value.max())), "has numbers that are not finite")
    if kind.startswith("index") and value.size:
        least = -1 if kind == "index-" else 0
        inside = least <= int(value.min()) and int(value.max()) < sizes.get(detail, 2**62)
        _require(inside, f"points outside the {sizes.get(detail)} rows")


def _check_side(side: str, size: int, sizes: Sizes) -> None:
    if side.isdigit():
        _require(size == int(side), f"has a size of {size} instead of {side}")
    elif side != "*" and not (side.endswith("|1") and size == 1):
        sizes.bind(side.removesuffix("|1"), size)


def _check_scalar(value: Any, kind: str, detail: str, sizes: Sizes) -> None:
    if kind in ("number", "number~", "positive"):
        _require(_is_number(value), f"is not a number but {type(value).__name__}")
        _require(kind == "number~" or math.isfinite(value), "is not finite")
        _require(kind != "positive" or value > 0, "is not above 0")
    elif kind == "count":
        _require(_is_whole(value) and value >= 0, "is not a whole number from 0 on")
        if detail:
            sizes.bind(detail, int(value))
    elif kind == "flag":
        _require(isinstance(value, bool | np.bool_), "is neither True nor False")
    elif kind == "string":
        _require(isinstance(value, str), "is not text")
    elif kind in ("dtype", "slice"):
        _require(isinstance(value, np.dtype if kind == "dtype" else slice), f"is not a {kind}")
    elif kind == "function":
        _require(callable(value), "is not a function")
    elif kind == "choice":
        _require(isinstance(value, str) and value in detail.split("|"), f"is none of {detail.replace('|', ', ')}")
    else:
        raise LookupError(kind)


def check_annotation(value: Any, hint: Any) -> None:
    """Raise ``MismatchError`` if a value contradicts an annotation; unknown annotations are allowed."""
    if not _fits(value, hint):
        raise MismatchError(f"is of type {type(value).__name__}, which is not {_words(hint)}")


def _fits(value: Any, hint: Any) -> bool:
    if hint in (Any, object):
        return True
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, part) for part in arguments)
    if hint in _PLAIN:
        return _PLAIN[hint](value)
    if origin is np.ndarray or hint is np.ndarray:
        return isinstance(value, np.ndarray | list)
    if origin is tuple:
        return isinstance(value, tuple | list) and _all_fit(value, arguments)
    if origin in (list, typing.get_origin(typing.Sequence[int])):
        return isinstance(value, tuple | list | np.ndarray) and all(_fits(item, arguments[0]) for item in value)
    if origin in (dict, Mapping, typing.get_origin(typing.Mapping[str, int])):
        return isinstance(value, Mapping) and all(_fits(item, arguments[1]) for item in value.values())
    if origin in (Callable, typing.get_origin(Callable[..., Any])):
        return callable(value)
    return isinstance(value, hint) if dataclasses.is_dataclass(hint) and isinstance(hint, type) else True


def _all_fit(value: Any, arguments: tuple[Any, ...]) -> bool:
    if len(arguments) == 2 and arguments[1] is ...:
        return all(_fits(item, arguments[0]) for item in value)
    return len(value) == len(arguments) and all(map(_fits, value, arguments))


def _is_number(value: Any) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


_PLAIN: dict[Any, Callable[[Any], bool]] = {
    float: _is_number,
    int: lambda value: isinstance(value, numbers.Integral | np.bool_),
    bool: lambda value: isinstance(value, numbers.Integral | np.bool_),
    str: lambda value: isinstance(value, str),
    type(None): lambda value: value is None,
    None: lambda value: value is None,
}


@cache
def _annotations(kind: type[Any]) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _words(hint: Any) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")[:60]


def _require(fine: bool, reason: str) -> None:
    if not fine:
        raise MismatchError(reason)


class _Naming:
    """Put the name of a field in front of what is wrong with it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, MismatchError):
            raise MismatchError(f".{self.name}{'' if str(error).startswith('.') else ' '}{error}") from None
