"""A model file of the command line: the model, and the preprocessing of rows before it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities, feature_names_of, given_of
from sidelight.base.chain import Chain, as_chain, name_of
from sidelight.base.model import FittedModel
from sidelight.persistence import MismatchError, check_notes, load, load_notes, save

from ._matrix import Matrix, Scaling, complete
from ._output import CommandError
from ._read import Reading, read
from ._second_view import SecondView
from ._write import latent_names

__all__ = ["ModelFile"]


@dataclass(frozen=True)
class ModelFile:
    """A fitted model with the preprocessing and metadata that the command line needs.

    Parameters
    ----------
    model : fitted model
        A Pipeline as a chain.
    means : ndarray of shape (d,)
        Mean of each column of the data, for rows with missing values.
    scaling : Scaling or None
        Treatment of the columns before the model.
    image_shape : tuple (height, width) or None
    command : str
        The command that made the model.
    second : SecondView or None
        The second view, of a model of two.
    relations : mapping of str to list of str
        The columns that each relation is about.
    """

    model: FittedModel
    means: NDArray[np.float64]
    scaling: Scaling | None = None
    image_shape: tuple[int, int] | None = None
    command: str = ""
    second: SecondView | None = None
    relations: Mapping[str, list[str]] = field(default_factory=dict)

    @classmethod
    def open(cls, path: Path) -> ModelFile:
        """Load a file that ``sidelight embed`` (or ``sidelight.save``) wrote."""
        model, notes = as_chain(load(path)), load_notes(path)
        if capabilities(model).takes_fields:
            what = f"a {name_of(model)} takes sequences or pictures of any size"
            raise CommandError(f"{path}: {what}, and commands read tables; use it from Python (sidelight.report.write)")
        if not capabilities(model).has_columns:
            alone = f"this {name_of(model)} was fitted on relations alone and takes no rows; use it from Python"
            early = "this model was saved before it was fitted; fit it first"
            raise CommandError(f"{path}: {alone if capabilities(model).has_relations else early}")
        _check_notes(path, notes, model.n_features_in_)
        scaled = notes.get("center") is not None
        return cls(
            model=model,
            means=notes.get("means", np.zeros(model.n_features_in_)),
            scaling=Scaling(notes["center"], notes["scale"]) if scaled else None,
            image_shape=notes.get("image_shape"),
            command=notes.get("command", ""),
            second=SecondView.from_notes(notes.get("second")),
            relations=notes.get("relations") or {},
        )

    def save(self, path: Path) -> None:
        """Write the model and the notes."""
        notes = {
            "command": self.command,
            "image_shape": self.image_shape,
            "means": self.means,
            "center": None if self.scaling is None else self.scaling.center,
            "scale": None if self.scaling is None else self.scaling.scale,
            "second": None if self.second is None else self.second.to_notes(),
            "relations": dict(self.relations),
        }
        save(self.model.pipeline if isinstance(self.model, Chain) else self.model, path, notes=notes)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, when the model knows them."""
        return feature_names_of(self.model)

    @property
    def given(self) -> tuple[Any, ...]:
        """The given columns of the model, with their types."""
        known = given_of(self.model)
        return () if known is None else tuple(known.columns)

    @property
    def latent_names(self) -> list[str]:
        """Names of the latent coordinates."""
        return latent_names(self.model)

    def told(self, matrix: Matrix) -> dict[str, Any]:
        """The columns behind the model's relations for these rows, as keyword arguments of the report."""
        there = set(matrix.related.columns)
        found = {name: matrix.related[own] for name, own in self.relations.items() if set(own) <= there}
        return {"attributes": found} if found else {}

    @property
    def columns(self) -> list[str]:
        """Names of the features, made up where there are none."""
        return self.names or [f"x{i + 1}" for i in range(self.model.n_features_in_)]

    def read(self, path: Path, how: Reading, missing: str) -> tuple[Matrix, Any]:
        """Read new rows; return them unchanged, and preprocessed for the model."""
        matrix = read(path, how)
        width, expected = matrix.X.shape[1], self.model.n_features_in_
        if width != expected:
            raise CommandError(f"{path}: rows have {width} columns, and the model was fitted on {expected}")
        matrix = complete(matrix, missing, self.means)
        X = matrix.X if self.scaling is None else self.scaling.apply(matrix.X)
        return matrix, X if self.names is None else matrix.features(X)

    def to_data(self, X: Any) -> NDArray[Any]:
        """Convert rows that the model returned to the units of the data."""
        rows = np.asarray(X)
        return rows if self.scaling is None else self.scaling.undo(rows)


_NOTES = {
    "command": "string",
    "image_shape": "?list:sides count",
    "means": "float (d)",
    "center": "?float (d)",
    "scale": "?float (d)",
    "second": "?dict plain",
    "relations": "?dict list string",
}
"""Specifications of the notes of a model file, in the language of ``sidelight.persistence``."""


def _check_notes(path: Path, notes: Mapping[str, Any], d: int) -> None:
    try:
        check_notes(notes, _NOTES, {"d": d, "sides": 2})
    except MismatchError as error:
        raise CommandError(f"{path}: this file was not written by `sidelight embed` ({error}); fit again") from error
