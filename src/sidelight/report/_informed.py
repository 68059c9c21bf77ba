"""``given`` of the rows in a report, and the map without ``given`` for comparison."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from sidelight.base.capabilities import given_of
from sidelight.base.chain import Chain, last_step_of
from sidelight.base.model import FittedModel
from sidelight.plot._colouring import Categories, Numbers, column_names, column_of
from sidelight.plot._counterfactual import decoded, entry_in_words
from sidelight.plot._plane import Floats

__all__ = [
    "Before",
    "entries_in_words",
    "fit_plain",
    "given_columns",
    "known_of",
    "periods_of",
    "plain_model",
    "typical_entries",
]


@dataclass(frozen=True)
class Before:
    """The map without ``given``: its ``name``, a sentence about its origin, and its latent points ``Z``."""

    name: str
    words: str
    Z: Floats


def known_of(model: FittedModel, given: Any, colours: Any, n: int) -> Any:
    """Return what is known of the rows as the model encodes it: as told, or from colours of the same names."""
    learned = given_of(model)
    if learned is None:
        return None
    if given is None:
        names = [column.name for column in learned.columns]
        if not set(names) <= set(column_names(colours)):
            return None
        given = {name: colours[name] for name in names}
    return learned.encode("report", given, n)


def periods_of(model: FittedModel) -> dict[str, float]:
    """Return the periods of what a model was given, by name."""
    learned = given_of(model)
    return {} if learned is None else {c.name: c.period for c in learned.columns if c.kind == "angle"}


def given_columns(model: FittedModel, known: Any) -> tuple[Categories | Numbers, ...]:
    """Return what was given as columns to colour by."""
    if known is None:
        return ()
    table, n = decoded(model.given_, known), len(known.complete)
    return tuple(
        column_of(
            table[column.name], n, name=column.name, categorical=column.kind == "category", period=column.period or None
        )
        for column in model.given_.columns
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


def entries_in_words(entries: Mapping[str, Any]) -> str:
    """Return entries of given columns as people write them.

    Examples
    --------
    >>> entries_in_words({"object": "car", "hour": 12.0})
    'object = car, hour = 12'
    """
    return ", ".join(f"{name} = {entry_in_words(entry)}" for name, entry in entries.items())


def plain_model(model: Any) -> Any:
    """Return the unfitted model that makes the map without what was given: same settings, the usual start.

    Of a chain it is the last step, for rows as ``Chain.rows`` returns them. A start that somebody chose is for the map
    with what was given, and would pull the plain one towards it.
    """
    step = last_step_of(model)
    twin = clone(step).set_params(callback=None, verbose=0)
    return twin if isinstance(step.init, str) else twin.set_params(init=type(step)().init)


def fit_plain(model: FittedModel, X: Any) -> Before:
    """Fit the same model to ``X`` without what was given, and return its map."""
    rows = X
    if isinstance(model, Chain):
        with warnings.catch_warnings():
            # A report keeps its rows as an array, with the columns in their order.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            rows = model.rows(X)
    twin = plain_model(model).fit(rows)
    words = "Plain: the same model and settings without what was given, fitted for this report."
    return Before("plain map", words, np.asarray(twin.embedding_, dtype=np.float64))
