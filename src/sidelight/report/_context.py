"""Shared data of the sections of a report: the model, the rows, the columns to colour by, the forward map."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sidelight.base.capabilities import capabilities, feature_names_of, given_of
from sidelight.base.chain import Chain, as_chain, name_of
from sidelight.base.messages import error_message
from sidelight.base.model import FittedModel
from sidelight.plot._colouring import Categories, Numbers, column_names, column_of, name_of_column
from sidelight.plot._counterfactual import decoded
from sidelight.plot._pictures import check_image_shape, range_of
from sidelight.plot._plane import Floats, LatentPlane, Lattice, axis_names, latent_of, plane_of, presence

from ._columns import Column, DataRows, data_rows, features_of, names_of_rows, numbers_of, table_columns
from ._examples import Examples, examples_of, rows_of
from ._informed import (
    Before,
    check_fits_plain,
    fit_plain,
    given_columns,
    given_dates,
    known_of,
    periods_of,
    same_rows,
    typical_entries,
)
from ._opening_colour import opening_colour
from ._options import ReportOptions
from ._place_intervals import ends_of
from ._relations import Attribute, attributes_of
from ._reliability import Reliability, reliability_of
from ._tables import Unwrapped, unwrap

__all__ = ["Context", "Forward", "context_of"]

LATTICE = 24
"""Cells of the forward map along the longer side."""
STRIP = 48
"""Cells of the forward map of a single latent dimension."""


@dataclass(frozen=True)
class Forward:
    """The forward map on a lattice: its rows, how much data there is at each, and the ends of their intervals."""

    lattice: Lattice
    rows: Floats
    share: Floats
    ends: tuple[Floats, Floats] | None = None


@dataclass(frozen=True)
class Context:
    """Everything a section may use; sections read it and never change it.

    See Also
    --------
    Section
    """

    model: FittedModel
    """The model of ``X``, without a first step that encodes a table."""
    described: FittedModel
    """The model as the user knows it, with all its steps."""
    map: LatentPlane | None
    """The rows on the plane; None for a model that makes no map."""
    examples: Examples | None
    """Samples and the model's outputs for them; None for a model that only has a map."""
    X: NDArray[Any] | None
    """The rows as the model sees them."""
    to_data: Callable[[Any], Any] | None
    """From rows of the model to rows in the units of the data; None where these are the same."""
    n_embedded: int | None
    """Columns of the data that were embedded, where the user said it."""
    kept: NDArray[np.intp]
    """Row numbers that the interactive map shows: all of them, or evenly spaced ones of many."""
    columns: tuple[Column, ...]
    table: tuple[Column, ...] | None
    """The rows as the user knows them, in their own units; None where ``X`` is all there is."""
    feature_names: tuple[str, ...]
    row_names: tuple[str, ...]
    """Names of the rows; empty without any."""
    row_numbers: NDArray[np.intp]
    """Number of each row in its source."""
    colour: str | None
    """Name of the column to colour by at first, where the user chose one."""
    labels: Categories | None
    known: Any
    """What is known of the rows, as the model encodes it; None where nothing is."""
    given_columns: tuple[Categories | Numbers, ...]
    attributes: tuple[Attribute, ...]
    """What the relations of the model are about, where that is known."""
    plain: Floats | None
    """The map without what was given, where there is one already."""
    fits_plain: bool
    """Whether that map is to be fitted for the report."""
    image_shape: tuple[int, ...] | None
    title: str
    command: str | None
    notes: tuple[str, ...]
    seconds: float | None
    date: str | None

    @property
    def plane(self) -> LatentPlane:
        """The map, for sections that have made sure that there is one."""
        assert self.map is not None
        return self.map

    @property
    def n_rows(self) -> int:
        """Rows of the embedding, or samples of a model that makes no map."""
        return len(self.map.Z) if self.map is not None else len(self.examples or ())

    @property
    def n_features(self) -> int:
        """Length of a data row, 0 where nothing says it."""
        return self.X.shape[1] if self.X is not None else _n_columns(self.model)

    @property
    def n_columns(self) -> int:
        """Columns of the data as the user knows it: a step that encodes a table makes others of them.

        With ``to_data``, those that come back, unless the user said how many there are: free text does not.
        """
        if self.n_embedded is not None:
            return self.n_embedded
        if self.described is not self.model:
            return _n_columns(self.described)
        if self.to_data is None or self.X is None:
            return self.n_features
        found = self.in_units(self.X[:1])
        return len(found.names) + len(found.categories)

    @cached_property
    def offered(self) -> tuple[Column, ...]:
        """Columns to colour by: labels first, then the columns that the user named, then the features."""
        return (*self.named, *self._features[0])

    @property
    def named(self) -> tuple[Column, ...]:
        """The columns to colour by that the user named: the labels and ``colours``."""
        return (*(() if self.labels is None else (self.labels,)), *self.columns)

    @property
    def features(self) -> tuple[Column, ...]:
        """The columns of the rows that are stored, without those that the user named."""
        return self.offered[len(self.named) :]

    @property
    def n_left_out(self) -> int:
        """Columns of the rows that are not stored."""
        return self._features[1]

    @cached_property
    def _features(self) -> tuple[tuple[Column, ...], int]:
        if self.image_shape is not None:
            return (), 0
        return features_of(self.table, self.X, self.feature_names, [column.name for column in self.columns])

    @cached_property
    def opening(self) -> int:
        """Number of the offered column that the map is coloured by at first."""
        names = [column.name for column in self.offered]
        if self.colour is not None:
            return names.index(self.colour)
        return 0 if self.labels is not None else opening_colour(self.offered, len(self.named), self.plane.Z)

    @cached_property
    def numbers(self) -> DataRows | None:
        """The numerical columns of the rows, in the units of the data."""
        return numbers_of(self.table, self.X, self.feature_names)

    def in_units(self, rows: Any) -> DataRows:
        """Return rows that the model made in the units of the data."""
        return data_rows(rows, self.to_data, self.feature_names)

    def pixels(self, rows: Any) -> NDArray[Any]:
        """Return rows that are pictures in the units of the data."""
        return np.asarray(rows if self.to_data is None else self.to_data(rows))

    @cached_property
    def forward(self) -> Forward | None:
        """The forward map on a lattice, for the ``given`` of ``shown_for``; None for a model without one."""
        goes_back = capabilities(self.described).has_inverse
        if self.map is None or not (goes_back and capabilities(self.model).has_latent_density):
            return None
        shape = (1.0, 1.0) if self.image_shape is None else (self.image_shape[0], self.image_shape[1])
        lattice = self.plane.lattice(STRIP if self.plane.n_components == 1 else LATTICE, shape)
        asked = {name: [entry] * len(lattice.points) for name, entry in self.shown_for.items()}
        side = {"given": asked} if asked else {}
        rows = np.asarray(self.model.inverse_transform(lattice.points, **side), dtype=np.float64)
        return Forward(
            lattice, rows, presence(self.model, lattice.points, self.plane.Z), self.ends(lattice.points, side)
        )

    def ends(self, Z: Floats, side: dict[str, Any]) -> tuple[Floats, Floats] | None:
        """Ends of the intervals of rows at places; None for pictures, which show no numbers, and models without any."""
        return ends_of(self.model, Z, side) if self.image_shape is None else None

    @cached_property
    def informed(self) -> bool:
        """Whether the model factored out ``given`` (a ``given`` that is constant over the rows has no effect)."""
        if given_of(self.model) is None:
            return False
        return self.known is None or self.model.explained_ > 0 or len(np.unique(self.known.values, axis=0)) > 1

    @property
    def after_a_step(self) -> bool:
        """Whether an earlier step of a Pipeline changed the distances: a learned metric."""
        return isinstance(self.model, Chain) and bool(self.model.before)

    @cached_property
    def shown_for(self) -> dict[str, Any]:
        """The value of each given column for which the forward map is shown: averaged over all it would be blurred."""
        return typical_entries(self.model.given_, self.known) if self.informed else {}

    @property
    def given_dates(self) -> frozenset[str]:
        """Names of the given columns that hold dates."""
        return frozenset(c.name for c in self.given_columns if isinstance(c, Numbers) and c.is_date)

    def given_of(self, rows: Any) -> dict[str, Any]:
        """``given`` of some rows as keyword arguments of the model's maps, or {}."""
        if self.known is None or not self.informed:
            return {}
        return {"given": decoded(self.model.given_, self.known.take(rows))}

    @cached_property
    def before(self) -> Before | None:
        """The map without ``given``, for comparison; None if the user did not ask for one."""
        if self.plain is not None:
            return Before("plain map", "Plain: the map of the same rows without given.", self.plain)
        return fit_plain(self.model, self.X) if self.fits_plain else None

    @cached_property
    def reliability(self) -> Reliability | None:
        """Reliability of each row; None if it cannot be computed."""
        known = not self.informed or (self.known is not None and bool(self.known.complete.all()))
        if self.map is None or not known:
            return None
        given = self.given_of(np.arange(self.n_rows)).get("given")
        return reliability_of(self.model, self.plane.Z, self.X, given)

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Values that are black and white in every picture of the report."""
        if self.X is not None:
            return range_of(self.X if self.image_shape is None else self.pixels(self.X))
        return range_of(self.forward.rows) if self.forward is not None else (0.0, 1.0)


def context_of(model: Any, asked: ReportOptions) -> Context:
    """Check the arguments of :func:`sidelight.report.write` and return what the sections need."""
    whole = unwrap(as_chain(model), asked.X, asked.table, asked.to_data)
    described, model, X = whole.described, whole.model, whole.X
    examples = examples_of(model, X, asked.y, asked.image_shape, embedded=asked.embedding is not None)
    offers = capabilities(model)
    # A sparse graph of distances has no feature columns, and must not be converted to a dense n x n array.
    no_columns = offers.takes_fields or (offers.takes_distances and issparse(X))
    rows = None if X is None or no_columns else rows_of(X, "X")
    Z = _embedding_of(model, X, rows, asked.embedding)
    plane = None if Z is None else plane_of(Z, names=axis_names(model))
    n = len(plane.Z) if plane is not None else len(examples or ())
    if rows is not None and len(rows) != n:
        rule = f"is not one row for each of the {n} embedded points"
        raise ValueError(error_message("report", "X", f"{len(rows)} rows", rule, "Pass the rows that were embedded"))
    names = whole.names or _feature_names(model, X, rows)
    d = rows.shape[1] if rows is not None else _n_columns(model)
    if examples is not None:
        shape = examples.image_shape
    else:
        shape = None if asked.image_shape is None else check_image_shape(asked.image_shape, d, "report")
    labelled = (
        None
        if asked.labels is None
        else column_of(asked.labels, n, name=name_of_column(asked.labels, "label"), categorical=True)
    )
    assert labelled is None or isinstance(labelled, Categories)
    known = known_of(model, asked.given, asked.colours, n)
    fits_plain = isinstance(asked.plain, str)
    if fits_plain:
        check_fits_plain(asked.plain, known, rows)
    found = _columns(asked.colours, n, {**(asked.periods or {}), **periods_of(model)})
    return Context(
        model=model,
        described=described,
        map=plane,
        examples=examples,
        X=rows,
        to_data=whole.to_data,
        n_embedded=asked.n_columns,
        kept=np.unique(np.linspace(0, n - 1, min(n, asked.max_rows)).round().astype(np.intp)),
        columns=found,
        table=_table(whole, n),
        feature_names=names,
        row_names=_one_each(names_of_rows(asked.row_names, whole.table, n), n, "row_names"),
        row_numbers=_one_each(
            np.arange(n) if asked.row_numbers is None else np.asarray(asked.row_numbers), n, "row_numbers"
        ),
        colour=_known_colour(asked.colour, [labelled, *found]),
        labels=labelled,
        known=known,
        given_columns=given_columns(model, known, given_dates(model, asked.given, asked.colours)),
        attributes=attributes_of(model, asked.attributes, asked.colours, n),
        plain=None if asked.plain is None or fits_plain else same_rows(latent_of(asked.plain, "report"), n),
        fits_plain=fits_plain,
        image_shape=shape,
        title=asked.title or _title(described, plane),
        command=asked.command,
        notes=tuple(asked.notes),
        seconds=asked.seconds,
        date=asked.date,
    )


def _n_columns(model: FittedModel) -> int:
    """Columns that a model was fitted on, 0 where nothing says it."""
    return int(model.n_features_in_) if capabilities(model).has_columns else 0


def _embedding_of(model: FittedModel, X: Any, rows: NDArray[Any] | None, embedding: Any) -> Floats | None:
    """The given embedding, the model's own where it fits X, or X sent through ``transform``.

    None for a model that makes outputs of inputs, and for codes of a network that are no map: more than two numbers,
    or some for every patch.
    """
    if embedding is not None:
        return latent_of(embedding, "report")
    offers = capabilities(model)
    if offers.has_embedding and (rows is None or len(rows) == len(model.embedding_)):
        return latent_of(model.embedding_, "report")
    if offers.makes_outputs or (X is not None and offers.takes_fields):
        return None
    if rows is not None and offers.has_transform:
        Z = latent_of(model.transform(X), "report")
        return None if Z.shape[1] > 2 and offers.gives_back else Z
    raise ValueError(
        error_message("report", "model", type(model).__name__, "has no embedding_", "Fit it, or pass embedding= or X=")
    )


def _feature_names(model: FittedModel, X: Any, rows: NDArray[Any] | None) -> tuple[str, ...]:
    names = [str(name) for name in column_names(X)] or feature_names_of(model)
    d = rows.shape[1] if rows is not None else _n_columns(model)
    if names is None or len(names) != d:
        return tuple(f"feature {k}" for k in range(d))
    return tuple(names)


def _columns(colours: Any, n: int, periods: Mapping[str, float]) -> tuple[Categories | Numbers, ...]:
    """The columns of a mapping or a data frame."""
    if colours is None:
        return ()
    names = column_names(colours)
    if not names and len(colours):
        raise ValueError(
            error_message("report", "colours", type(colours).__name__, "has no named columns", "Pass {name: values}")
        )
    return tuple(column_of(colours[name], n, name=str(name), period=periods.get(str(name))) for name in names)


def _table(whole: Unwrapped, n: int) -> tuple[Column, ...] | None:
    """The columns of the table of the user, None where there is no table beside ``X``."""
    if whole.table is None or whole.table is whole.X:
        return None
    if not column_names(whole.table):
        rule, remedy = "has no named columns", "Pass a data frame, or {name: values}"
        raise ValueError(error_message("report", "table", type(whole.table).__name__, rule, remedy))
    return table_columns(whole.table, n)


def _one_each(values: Any, n: int, argument: str) -> Any:
    """Names or numbers of rows, if there are none or one for each row."""
    if len(values) not in ({0, n} if argument == "row_names" else {n}):
        rule = f"is not one for each of the {n} rows"
        raise ValueError(error_message("report", argument, f"{len(values)} entries", rule, "Pass one a row"))
    return values


def _known_colour(colour: str | None, columns: Sequence[Column | None]) -> str | None:
    """The name of the column to open with, if there is such a column."""
    names = [column.name for column in columns if column is not None]
    if colour is not None and colour not in names:
        rule = f"is not a column of colours, which has {', '.join(names) or 'none'}"
        raise ValueError(error_message("report", "colour", colour, rule, "Name one of them, or leave it out"))
    return colour


def _title(model: FittedModel, plane: LatentPlane | None) -> str:
    return f"A map by {name_of(model)}" if plane is not None else f"{name_of(model)}: what it learned"
