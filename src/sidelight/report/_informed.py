"""``given`` of the rows in a report, and the map without ``given`` for comparison."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sidelight.base.capabilities import given_of
from sidelight.base.chain import Chain, last_step_of
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel
from sidelight.plot._colouring import Categories, Numbers, column_names, column_of
from sidelight.plot._counterfactual import decoded, entry_in_words
from sidelight.plot._plane import Floats

__all__ = [
    "Before",
    "check_fits_plain",
    "entries_in_words",
    "fit_plain",
    "given_columns",
    "given_dates",
    "given_in_words",
    "known_of",
    "periods_of",
    "plain_model",
    "same_rows",
    "typical_entries",
]


@dataclass(frozen=True)
class Before:
    """The map without ``given``: its ``name``, a sentence about its origin, and its latent points ``Z``."""

    name: str
    words: str
    Z: Floats


def known_of(model: FittedModel, given: Any, colours: Any, n: int) -> Any:
    """Return the encoded ``given`` of the rows: the argument, or columns of ``colours`` with the same names."""
    learned = given_of(model)
    if learned is None:
        return None
    told = _given_or_colours(learned, given, colours)
    return None if told is None else learned.encode("report", told, n)


def given_dates(model: FittedModel, given: Any, colours: Any) -> frozenset[str]:
    """Return the names of the given columns that hold dates; the model knows them as days since 1970."""
    learned = given_of(model)
    told = None if learned is None else _given_or_colours(learned, given, colours)
    if told is None:
        return frozenset()
    if not column_names(told):
        return frozenset(c.name for c in learned.columns[:1] if _holds_dates(told))
    return frozenset(str(name) for name in column_names(told) if _holds_dates(told[name]))


def _given_or_colours(learned: Any, given: Any, colours: Any) -> Any:
    names = [column.name for column in learned.columns]
    if given is not None:
        return given
    return {name: colours[name] for name in names} if set(names) <= set(column_names(colours)) else None


def _holds_dates(values: Any) -> bool:
    found = column_of(values, len(values), name="")
    return isinstance(found, Numbers) and found.is_date


def periods_of(model: FittedModel) -> dict[str, float]:
    """Return the periods of the given columns of a model, by name."""
    learned = given_of(model)
    return {} if learned is None else {c.name: c.period for c in learned.columns if c.kind == "angle"}


def given_columns(model: FittedModel, known: Any, dates: frozenset[str]) -> tuple[Categories | Numbers, ...]:
    """Return the given columns as columns to colour by; ``dates`` are the names of those that hold dates."""
    if known is None:
        return ()
    table, n = decoded(model.given_, known), len(known.complete)
    found = (
        column_of(
            table[column.name], n, name=column.name, categorical=column.kind == "category", period=column.period or None
        )
        for column in model.given_.columns
    )
    return tuple(
        replace(column, is_date=True) if isinstance(column, Numbers) and column.name in dates else column
        for column in found
    )


def typical_entries(given: Any, known: Any) -> dict[str, Any]:
    """Return one entry of each given column: the commonest category, the median number, the mean direction.

    Of rows of which nothing is known: the first category, the centre of the numbers, no turn.
    """
    codes = [np.empty(0)] * len(given.columns) if known is None else list(known.values.T)
    return {column.name: _typical(column, of[np.isfinite(of)]) for column, of in zip(given.columns, codes, strict=True)}


def _typical(column: Any, codes: Floats) -> Any:
    if column.categories:
        return column.categories[int(np.argmax(np.bincount(codes.astype(int), minlength=1)))]
    if column.kind == "angle":
        turn = np.exp(2j * np.pi * codes / column.period).sum()
        return float(np.angle(turn) / (2 * np.pi) % 1.0 * column.period)
    return float(np.median(codes)) if len(codes) else float(column.centre)


def given_in_words(name: str, entry: Any, dates: Collection[str]) -> str:
    """Return an entry of a given column as people write it; of ``dates``, whose entries are days since 1970, as a date.

    Examples
    --------
    >>> given_in_words("year", 4383.0, ["year"])
    '1982-01-01'
    """
    return str(np.datetime64(round(entry), "D")) if name in dates else entry_in_words(entry)


def entries_in_words(entries: Mapping[str, Any], dates: Collection[str] = ()) -> str:
    """Return entries of given columns as people write them.

    Examples
    --------
    >>> entries_in_words({"object": "car", "hour": 12.0})
    'object = car, hour = 12'
    """
    return ", ".join(f"{name} = {given_in_words(name, entry, dates)}" for name, entry in entries.items())


def plain_model(model: Any) -> Any:
    """Return the unfitted model of the map without ``given``: same settings, default start.

    Of a chain it is the last step, for rows as ``Chain.rows`` returns them. A start that somebody chose is for the map
    with what was given, and would pull the plain one towards it.
    """
    step = last_step_of(model)
    twin = clone(step).set_params(callback=None, verbose=0)
    return twin if isinstance(step.init, str) else twin.set_params(init=type(step)().init)


def fit_plain(model: FittedModel, X: Any) -> Before:
    """Fit the same model to ``X`` without ``given``, and return its map."""
    rows = X
    if isinstance(model, Chain):
        with warnings.catch_warnings():
            # A report keeps its rows as an array, with the columns in their order.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            rows = model.rows(X)
    twin = plain_model(model).fit(rows)
    words = "Plain: the same model and settings without given, fitted for this report."
    return Before("plain map", words, np.asarray(twin.embedding_, dtype=np.float64))


def check_fits_plain(plain: str, known: Any, rows: NDArray[Any] | None) -> None:
    """Raise if there is no ``given`` to compare a plain map with, or if there are no rows."""
    if plain != "fit":
        raise ValueError(error_message("report", "plain", plain, "is not an option", "Pass 'fit', or the map itself"))
    if known is None:
        rule = "needs given, which the model does not have or which is unknown for these rows"
        raise ValueError(error_message("report", "plain", plain, rule, "Pass given=, or leave plain out"))
    if rows is None:
        rule = "needs the rows as a table"
        raise ValueError(error_message("report", "plain", plain, rule, "Pass X=, or the map itself"))


def same_rows(plain: Floats, n: int) -> Floats:
    """The map without ``given``; raise unless it has n rows."""
    if len(plain) != n:
        rule = f"is not one point for each of the {n} rows"
        raise ValueError(error_message("report", "plain", f"{len(plain)} rows", rule, "Pass a map of the same rows"))
    return plain
