"""Answers about one map, in plain values: what is at a place, what sets rows apart, layers, measures."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities, given_of
from sidelight.base.chain import as_chain
from sidelight.base.messages import error_message
from sidelight.evaluate import leakage, trustworthiness
from sidelight.report._columns import DataRows

from ._align import Similarity
from ._apart import WARNING_FILTERS, features_apart, moments
from ._fit import Fitted
from ._local import local_mean, near_number, same_category, shown_around
from ._table import MOST_COUNTED, Table, labelled, numbers_of, plain_entries, rows_without
from .statement import Statement

__all__ = ["Map"]

Array = NDArray[Any]
_OWNER = "explore"
_MEASURED = 2000  # rows that the measures look at
_SHOWN = 12  # rows of a counterfactual
_GRID = 64  # cells along each side of a layer


@dataclass(frozen=True)
class Map:
    """A fitted map with its rows, and how the page shows it."""

    fitted: Fitted
    table: Table
    statements: tuple[Statement, ...]
    placed: Similarity
    seconds: float = 0.0
    _ready: threading.Event = field(default_factory=threading.Event, init=False, repr=False, compare=False)
    _preparing: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False, compare=False)

    @cached_property
    def model(self) -> Any:
        """The model, a Pipeline as a chain."""
        return as_chain(self.fitted.model)

    @cached_property
    def places(self) -> Array:
        """Places of all rows on the page (n, q)."""
        return self.placed.shown(self.fitted.embedding)

    @cached_property
    def columns(self) -> dict[str, Array]:
        """The columns beside the features, labels included."""
        return labelled(self.table, self.statements)

    @cached_property
    def given_names(self) -> tuple[str, ...]:
        """The columns that this model was given."""
        known = given_of(self.model)
        return () if known is None else tuple(column.name for column in known.columns)

    def side(self, rows: Array | None = None) -> dict[str, Any]:
        """``given`` of some rows, or of all, as keyword arguments."""
        if not self.given_names:
            return {}
        at = slice(None) if rows is None else rows
        return {"given": {name: self.columns[name][at] for name in self.given_names}}

    def controls(self) -> list[dict[str, Any]]:
        """What can be chosen for each given column: categories, or a range."""
        known, out = given_of(self.model), []
        for column in () if known is None else known.columns:
            one: dict[str, Any] = {"name": column.name, "kind": column.kind}
            if column.categories:
                out.append(one | {"kind": "category", "values": [str(value) for value in column.categories]})
                continue
            values = np.array([value for value in self.columns[column.name].tolist() if _is_number(value)], dtype=float)
            low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 1.0)
            ends = (0.0, float(column.period)) if column.kind == "angle" else (low, high)
            out.append(one | {"low": ends[0], "high": ends[1]})
        return out

    def chosen_given(self, chosen: Any, count: int) -> dict[str, Any]:
        """``given`` as the page chose it, for ``count`` rows, as keyword arguments; {} where it chose nothing."""
        if not chosen or not self.given_names:
            return {}
        if not isinstance(chosen, Mapping) or set(chosen) != set(self.given_names):
            rule = f"does not say {', '.join(self.given_names)}"
            raise ValueError(error_message(_OWNER, "given", repr(chosen), rule, "Choose a value of each"))
        found = {}
        for column in given_of(self.model).columns:
            value = chosen[column.name]
            if column.categories:
                by_text = {str(one): one for one in column.categories}
                if str(value) not in by_text:
                    raise ValueError(error_message(_OWNER, "given", str(value), "is no category", "Choose another"))
                value = by_text[str(value)]
            elif not _is_number(value):
                raise ValueError(error_message(_OWNER, "given", str(value), "is no number", "Choose a number"))
            found[column.name] = np.array([value] * count, dtype=object if column.categories else float)
        return {"given": found}

    def latent(self, place: Sequence[float], row: int | None, axes: tuple[int, ...]) -> Array:
        """The latent point (1, q) of a place on the page; coordinates that are not shown are those of a row."""
        W = np.array(self.places[row] if row is not None else np.nanmean(self.places, axis=0), dtype=np.float64)[None]
        W[0, list(axes)] = place
        return self.placed.latent(W)

    def prepare(self) -> None:
        """Compute what the first question about a place needs and later ones use: densities of all rows, searches.

        That takes 0.3 to 0.7 s for 10,000 rows and more. Whoever asks meanwhile waits for it, and nobody does it twice.
        """
        if self._ready.is_set() or not capabilities(self.model).has_inverse:
            return
        with self._preparing:
            if self._ready.is_set():
                return
            chosen = {one["name"]: one["values"][0] if "values" in one else one["low"] for one in self.controls()}
            with contextlib.suppress(Exception):  # whoever asks hears of it
                for given in (None, chosen) if chosen else (None,):
                    self._decoded([], None, (), given)  # of the middle of the map
            self._ready.set()

    def decode(self, place: Sequence[float], row: int | None, axes: tuple[int, ...], chosen: Any) -> dict[str, Any]:
        """What the model makes of a place: a row in the units of the data, and how usual the place is."""
        if not capabilities(self.model).has_inverse:
            return {"values": None, "typicality": None}
        self.prepare()
        return self._decoded(place, row, axes, chosen)

    def _decoded(self, place: Sequence[float], row: int | None, axes: tuple[int, ...], chosen: Any) -> dict[str, Any]:
        Z = self.latent(place, row, axes)
        rows = self.model.inverse_transform(Z, **self.chosen_given(chosen, 1))
        usual = self.model.latent_typicality(Z)[0] if capabilities(self.model).has_latent_typicality else None
        return {"typicality": usual, **_plain_row(self.table.in_units(rows), 0)}

    def row(self, at: int) -> dict[str, Any]:
        """A row of the data, and its columns."""
        names = self.table.row_names
        known = {name: _plain(values[at]) for name, values in self.columns.items()}
        shown = _plain_row(self.table.in_units(self.table.take(np.array([at]))), 0)
        return {"row": at, "name": names[at] if names else "", "columns": known, **shown}

    def walk(self, places: Array, row: int | None, axes: tuple[int, ...], chosen: Any) -> dict[str, Any]:
        """What the model makes of places (m, 2) along a path, and how usual each of them is."""
        if not capabilities(self.model).has_inverse:
            raise ValueError(error_message(_OWNER, "walk", "this map", "has no way back to the data", "Use another"))
        Z = np.concatenate([self.latent(place, row, axes) for place in places.tolist()])
        data = self.table.in_units(self.model.inverse_transform(Z, **self.chosen_given(chosen, len(Z))))
        offers = capabilities(self.model).has_latent_typicality
        usual = self.model.latent_typicality(Z) if offers else [None] * len(Z)
        return {"steps": [{"typicality": usual[k], **_plain_row(data, k)} for k in range(len(Z))]}

    def layer(
        self, kind: str, extent: Sequence[float], axes: tuple[int, ...], chosen: Any, reliable: Array | None = None
    ) -> dict[str, Any]:
        """A grid over a window (left, right, bottom, top) of what is asked for.

        ``density`` is that of the rows, with ``chosen`` of the rows with these values of ``given``; ``uncertainty`` the
        standard deviation of what is decoded; ``reliability`` that of the rows nearby, with a weight that fades where
        there are none.
        """
        x, y = np.linspace(extent[0], extent[1], _GRID), np.linspace(extent[2], extent[3], _GRID)
        W = np.tile(np.nanmean(self.places, axis=0), (_GRID * _GRID, 1))
        W[:, axes[0]], W[:, axes[1]] = np.tile(x, _GRID), np.repeat(y, _GRID)
        Z, offers, weights = self.placed.latent(W), capabilities(self.model), None
        if kind == "density" and offers.has_latent_density:
            log = np.asarray(self.model.latent_log_density(Z))
            values = np.exp(log - log.max()) * self._share_of(Z, chosen)
        elif kind == "uncertainty" and offers.has_variance:
            variance = self.model.predictive_variance(Z, **self.chosen_given(chosen, len(Z)))
            values = np.sqrt(np.asarray(variance).mean(axis=1))
        elif kind == "reliability" and reliable is not None:
            plane = list(axes[:2])
            values, weights = shown_around(self.places[:, plane], reliable, W[:, plane])
        else:
            raise ValueError(error_message(_OWNER, "layer", kind, "is not offered by this model", "Choose another"))
        low, high = (0.0, 1.0) if kind == "reliability" else (float(values.min()), float(values.max()))
        grid = {"size": _GRID, "extent": list(extent), "low": low, "high": high, "values": values.tolist()}
        return grid if weights is None else grid | {"weights": weights.tolist()}

    def _share_of(self, Z: Array, chosen: Any) -> Array | float:
        """P(given = chosen | z) at latent points, from the rows around them; 1 where nothing is chosen."""
        side = self.chosen_given(chosen, 1)
        if not side:
            return 1.0
        alike = np.ones(self.table.n)
        for column in given_of(self.model).columns:
            values, value = self.columns[column.name], side["given"][column.name][0]
            alike *= same_category(values, value) if column.categories else near_number(values, value, column.period)
        return local_mean(self.fitted.embedding, alike, Z)

    @property
    def taken_off(self) -> tuple[str, ...]:
        """The given columns whose effect the model can take off a row; none where it has no ``corrected``."""
        return self.given_names if capabilities(self.model).has_corrected else ()

    @cached_property
    def after_given(self) -> DataRows:
        """All rows in the units of the data, without the effect of what was given where the model can take it off."""
        X = np.asarray(self.table.X)
        if self.taken_off:
            complete = np.ones(len(X), dtype=bool)
            for name in self.given_names:
                complete &= np.array([value is not None and value == value for value in self.columns[name].tolist()])
            out = np.array(X, dtype=np.float64)
            at = np.flatnonzero(complete)
            out[at] = self.model.corrected(self.table.take(at), **self.side(at))
            X = out
        return self.table.in_units(X)

    def summary(self, rows: Array, others: Array | None) -> dict[str, Any]:
        """What sets rows apart from others, or from all the rest, in the units of the data after what was given."""
        rest = rows_without(self.table.n, rows) if others is None else others
        found = {"count": len(rows), "others": len(rest), "columns": self._told(rows)}
        if not len(rows) or not len(rest):
            return found | {"features": []}
        data = self.after_given
        features = features_apart(data.numbers, data.names, rows, rest)
        means: dict[str, Any] = {}
        if self.table.image_shape:
            means = {f"{name}_mean": moments(data.numbers[at])[1] for name, at in (("here", rows), ("there", rest))}
        return found | {"features": features, "after": list(self.taken_off), **means}

    def _told(self, rows: Array) -> list[dict[str, Any]]:
        """The commonest values of each column of categories among some rows; of numbers smallest, mean and largest."""
        out: list[dict[str, Any]] = []
        for name, values in self.columns.items():
            numbers = numbers_of(values[rows])
            if numbers is not None:
                if np.isfinite(numbers).any():
                    ends = [float(f(numbers)) for f in (np.nanmin, np.nanmean, np.nanmax)]
                    out.append({"name": name, "range": ends, "date": values.dtype.kind == "M", "values": []})
                continue
            texts = [_words(value) for value in values[rows].tolist() if value is not None and value == value]
            counts: dict[str, int] = {}
            for text in texts:
                counts[text] = counts.get(text, 0) + 1
            if counts and len(counts) <= MOST_COUNTED:
                common = sorted(counts.items(), key=lambda pair: -pair[1])[:5]
                out.append({"name": name, "values": [{"value": text, "count": count} for text, count in common]})
        return out

    def counterfactual(self, rows: Array, chosen: Any) -> dict[str, Any]:
        """The first rows of a selection under another value of what was given, beside what they are now."""
        if not capabilities(self.model).has_counterfactual or not self.given_names or not chosen:
            raise ValueError(
                error_message(_OWNER, "given", repr(chosen), "cannot be changed here", "Factor a column out")
            )
        at = rows[:_SHOWN]
        with WARNING_FILTERS, warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", UserWarning)
            there = self.model.counterfactual(
                self.table.take(at), **self.chosen_given(chosen, len(at)), given_now=self.side(at)["given"]
            )
        here, moved = self.table.in_units(self.table.take(at)), self.table.in_units(there)
        shown = [
            {"row": int(row), "now": _plain_row(here, k)["values"], "then": _plain_row(moved, k)["values"]}
            for k, row in enumerate(at)
        ]
        return {"rows": shown, "remarks": [str(one.message) for one in said]}

    def measures(self, columns: Mapping[str, Array]) -> dict[str, Any]:
        """Trustworthiness, reconstruction, and how much of each column neighbours on the map tell."""
        n = self.table.n
        at = np.unique(np.linspace(0, n - 1, min(n, _MEASURED)).astype(np.int64))
        Z, X = self.fitted.embedding[at], np.asarray(self.table.take(at))
        there = np.isfinite(Z).all(axis=1) & np.isfinite(X).all(axis=1)
        at, Z, X = at[there], Z[there], X[there]
        k = min(12, max(1, (len(at) - 1) // 2 - 1))
        out: dict[str, Any] = {"trustworthiness": float(trustworthiness(X, Z, n_neighbors=k)), "reconstruction": None}
        if capabilities(self.model).has_score and not capabilities(self.model).score_is_log_density:
            out["reconstruction"] = float(self.model.score(self.table.take(at), **self.side(at)))
        out |= {"rest": self._trustworthiness_of_rest(at, Z, k), "after": list(self.given_names)}
        out["columns"] = [
            found for name, values in columns.items() if (found := _told_by_neighbours(name, values[at], Z))
        ]
        return out

    def _trustworthiness_of_rest(self, at: Array, Z: Array, k: int) -> float | None:
        """Trustworthiness beside the rows without the effect of what was given, which the map is to show."""
        if not self.taken_off:
            return None
        known = np.ones(len(at), dtype=bool)
        for name in self.given_names:
            known &= np.array([value is not None and value == value for value in self.columns[name][at].tolist()])
        rows = at[known]
        if len(rows) < 2 * k + 2:
            return None
        X = np.asarray(self.model.corrected(self.table.take(rows), **self.side(rows)))
        return float(trustworthiness(X, Z[known], n_neighbors=k))


def _told_by_neighbours(name: str, values: Array, Z: Array) -> dict[str, Any] | None:
    """How well neighbours on the map tell a column; None where it has one value, or too few rows that have one."""
    try:
        found = leakage(Z, values, n_neighbors=min(10, len(Z) - 1))
    except (ValueError, TypeError):
        return None
    return {"name": name, "value": found.value, "chance": found.chance, "kind": found.kind}


def _plain_row(data: DataRows, at: int) -> dict[str, Any]:
    """Numbers and categories of one row, with the names of both."""
    texts = [column.levels[code] if (code := column.codes[at]) >= 0 else None for column in data.categories]
    return {"values": data.numbers[at], "texts": texts}


def _is_number(value: Any) -> bool:
    return (
        isinstance(value, int | float | np.integer | np.floating)
        and not isinstance(value, bool)
        and bool(np.isfinite(value))
    )


def _plain(value: Any) -> Any:
    if isinstance(value, np.datetime64):
        return plain_entries(np.array([value]))[0]
    if isinstance(value, np.generic):
        value = value.item()
    return value if value is None or isinstance(value, bool | int | float | str) else _words(value)


def _words(value: Any) -> str:
    """A value as text; a date without the midnight that tables give it."""
    return str(value).removesuffix(" 00:00:00")
