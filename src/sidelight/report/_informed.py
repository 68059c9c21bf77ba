"""What a report knows of the rows beside the data, and the map it compares an informed one with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from sidelight.base.capabilities import given_of
from sidelight.plot._colouring import Categories, Numbers, column_names, column_of
from sidelight.plot._counterfactual import decoded, entry_in_words
from sidelight.plot._plane import Floats

__all__ = ["Before", "entries_in_words", "given_columns", "known_of", "map_without", "periods_of", "typical_entries"]


@dataclass(frozen=True)
class Before:
    """The map without what was given: its ``name``, a sentence about where it comes from, and its points ``Z``."""

    name: str
    words: str
    Z: Floats


LONGEST = 60.0
"""Seconds that the fit of a map to compare with may be expected to take."""


def known_of(model: Any, given: Any, colours: Any, n: int) -> Any:
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


def periods_of(model: Any) -> dict[str, float]:
    """Return the periods of what a model was given, by name."""
    learned = given_of(model)
    return {} if learned is None else {c.name: c.period for c in learned.columns if c.kind == "angle"}


def given_columns(model: Any, known: Any) -> tuple[Categories | Numbers, ...]:
    """Return what was given as columns to colour by."""
    if known is None:
        return ()
    table, n = decoded(model.given_, known), len(known.known)
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


def map_without(model: Any, X: Any) -> Before | None:
    """Return the map of ``X`` that the same model makes without what was given, or PCA where that takes long.

    A sentence about its cost is part of the answer: the estimate, because the time it took differs from run to run and
    the report should not.
    """
    cost = float(model.estimate_cost(*X.shape).seconds)
    own_start = not isinstance(model.get_params().get("init", ""), str)
    if cost <= LONGEST and not own_start:
        twin = clone(model).set_params(callback=None, verbose=0).fit(X)
        words = (
            f"Plain: the same model and settings without what was given, fitted for this report (about {cost:.1g} s)."
        )
        return Before("plain map", words, np.asarray(twin.embedding_, dtype=np.float64))
    if getattr(model, "metric", "euclidean") == "precomputed":
        return None
    q = min(int(model.embedding_.shape[1]), *X.shape)
    with threadpool_limits(limits=1):
        Z = PCA(q, random_state=0).fit_transform(np.asarray(X, dtype=np.float64))
    why = "has a start of its own" if own_start else f"would take about {cost / 60:.2g} minutes"
    return Before("PCA", f"PCA stands for the map without what was given: the same model {why}.", np.asarray(Z))
