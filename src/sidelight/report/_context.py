"""What the sections of a report share: the model, the rows, the columns to colour by, the forward map."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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

from ._examples import Examples, examples_of, rows_of
from ._informed import Before, fit_plain, given_columns, known_of, periods_of, typical_entries
from ._relations import Attribute, attributes_of

__all__ = ["Context", "Forward", "context_of"]

LATTICE = 24
"""Cells of the forward map along the longer side."""
STRIP = 48
"""Cells of the forward map of a single latent dimension."""
MOST_FEATURES = 30
"""Tables with at most so many features offer each as a colour."""


@dataclass(frozen=True)
class Forward:
    """The forward map on a lattice: its rows, and how much data there is at each."""

    lattice: Lattice
    rows: Floats
    share: Floats


@dataclass(frozen=True)
class Context:
    """Everything a section may use; sections read it and never change it."""

    model: FittedModel
    map: LatentPlane | None
    """The rows on the plane; None for a model that makes no map."""
    examples: Examples | None
    """Samples and the model's outputs for them; None for a model that only has a map."""
    X: NDArray[Any] | None
    kept: NDArray[np.intp]
    """Row numbers that the interactive map shows: all of them, or evenly spaced ones of many."""
    columns: tuple[Categories | Numbers, ...]
    features: tuple[Numbers, ...]
    feature_names: tuple[str, ...]
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

    @cached_property
    def forward(self) -> Forward | None:
        """The forward map on a lattice, for the ``given`` of ``shown_for``; None for a model without one."""
        offers = capabilities(self.model)
        if self.map is None or not (offers.has_inverse and offers.has_latent_density):
            return None
        shape = (1.0, 1.0) if self.image_shape is None else (self.image_shape[0], self.image_shape[1])
        lattice = self.plane.lattice(STRIP if self.plane.n_components == 1 else LATTICE, shape)
        asked = {name: [entry] * len(lattice.points) for name, entry in self.shown_for.items()}
        side = {"given": asked} if asked else {}
        rows = np.asarray(self.model.inverse_transform(lattice.points, **side), dtype=np.float64)
        return Forward(lattice, rows, presence(self.model, lattice.points, self.plane.Z))

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

    def given_of(self, rows: Any) -> dict[str, Any]:
        """``given`` of some rows as keyword arguments of the model's maps, or {}."""
        if self.known is None or not self.informed:
            return {}
        return {"given": decoded(self.model.given_, self.known.take(rows))}

    @cached_property
    def before(self) -> Before | None:
        """The map without ``given``, for comparison; None if the user did not ask for one."""
        if self.plain is not None:
            return Before("plain map", "Plain: the map of the same rows without what was given.", self.plain)
        return fit_plain(self.model, self.X) if self.fits_plain else None

    @cached_property
    def limits(self) -> tuple[float, float]:
        """Values that are black and white in every picture of the report."""
        if self.X is not None:
            return range_of(self.X)
        return range_of(self.forward.rows) if self.forward is not None else (0.0, 1.0)


def context_of(
    model: Any,
    *,
    X: Any,
    y: Any,
    embedding: Any,
    colours: Any,
    labels: Any,
    given: Any,
    attributes: Any,
    plain: Any,
    periods: Mapping[str, float] | None,
    image_shape: Sequence[int] | None,
    title: str | None,
    command: str | None,
    notes: Sequence[str],
    seconds: float | None,
    date: str | None,
    max_rows: int,
) -> Context:
    """Check the arguments of :func:`sidelight.report.write` and return them as a context."""
    model = as_chain(model)
    examples = examples_of(model, X, y, image_shape, embedded=embedding is not None)
    offers = capabilities(model)
    # A sparse graph of distances has no feature columns, and must not be converted to a dense n x n array.
    no_columns = offers.takes_fields or (offers.takes_distances and issparse(X))
    rows = None if X is None or no_columns else rows_of(X, "X")
    Z = _embedding_of(model, X, rows, embedding)
    plane = None if Z is None else plane_of(Z, names=axis_names(model))
    n = len(plane.Z) if plane is not None else len(examples or ())
    if rows is not None and len(rows) != n:
        rule = f"is not one row for each of the {n} embedded points"
        raise ValueError(error_message("report", "X", f"{len(rows)} rows", rule, "Pass the rows that were embedded"))
    names = _feature_names(model, X, rows)
    d = rows.shape[1] if rows is not None else _n_columns(model)
    if examples is not None:
        shape = examples.image_shape
    else:
        shape = None if image_shape is None else check_image_shape(image_shape, d, "report")
    labelled = None if labels is None else column_of(labels, n, name=name_of_column(labels, "label"), categorical=True)
    assert labelled is None or isinstance(labelled, Categories)
    known = known_of(model, given, colours, n)
    fits_plain = isinstance(plain, str)
    if fits_plain:
        _check_fits_plain(plain, known, rows)
    return Context(
        model=model,
        map=plane,
        examples=examples,
        X=rows,
        kept=np.unique(np.linspace(0, n - 1, min(n, max_rows)).round().astype(np.intp)),
        columns=_columns(colours, n, {**(periods or {}), **periods_of(model)}),
        features=_features(rows, names, shape),
        feature_names=names,
        labels=labelled,
        known=known,
        given_columns=given_columns(model, known),
        attributes=attributes_of(model, attributes, colours, n),
        plain=None if plain is None or fits_plain else _same_rows(latent_of(plain, "report"), n),
        fits_plain=fits_plain,
        image_shape=shape,
        title=title or (f"A map by {name_of(model)}" if plane is not None else f"{name_of(model)}: what it learned"),
        command=command,
        notes=tuple(notes),
        seconds=seconds,
        date=date,
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


def _check_fits_plain(plain: str, known: Any, rows: NDArray[Any] | None) -> None:
    """Refuse to fit a plain map that nothing would be compared with, or of rows that are not there."""
    if plain != "fit":
        raise ValueError(error_message("report", "plain", plain, "is not an option", "Pass 'fit', or the map itself"))
    if known is None:
        rule = "has nothing to compare with: nothing was given, or it is not known of these rows"
        raise ValueError(error_message("report", "plain", plain, rule, "Pass given=, or leave plain out"))
    if rows is None:
        rule = "needs the rows as a table"
        raise ValueError(error_message("report", "plain", plain, rule, "Pass X=, or the map itself"))


def _same_rows(plain: Floats, n: int) -> Floats:
    if len(plain) != n:
        rule = f"is not one point for each of the {n} rows"
        raise ValueError(error_message("report", "plain", f"{len(plain)} rows", rule, "Pass a map of the same rows"))
    return plain


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


def _features(rows: NDArray[Any] | None, names: tuple[str, ...], shape: tuple[int, ...] | None) -> tuple[Numbers, ...]:
    if rows is None or shape is not None or rows.shape[1] > MOST_FEATURES:
        return ()
    return tuple(Numbers(name, np.array(rows[:, k], dtype=np.float64)) for k, name in enumerate(names))
