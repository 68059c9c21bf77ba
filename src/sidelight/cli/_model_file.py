"""A model file of the command line: the model, and the preprocessing of rows before it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from sidelight.base.capabilities import capabilities, feature_names_of, given_of
from sidelight.base.chain import Chain, as_chain, last_step_of, name_of
from sidelight.base.columns import chosen_columns
from sidelight.base.informed_pipeline import InformedPipeline
from sidelight.base.messages import count_of
from sidelight.base.model import FittedModel
from sidelight.persistence import MismatchError, check_notes, load, load_notes, save
from sidelight.tables.imputer import Imputer
from sidelight.tables.table_encoder import TableEncoder

from ._encoded_table import EncodedTable
from ._matrix import Matrix, Scaling, complete
from ._output import CommandError
from ._read import Reading, read
from ._second_view import SecondView
from ._sparse_rows import has_gaps, is_sparse, takes_sparse
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
    encoder : TableEncoder or None
        Makes the numbers that the model takes of a table; in the file it is the first step of a Pipeline.
    relations : mapping of str to list of str
        The columns that each relation is about.
    column_names : list of str or None
        Names of the columns, where the model itself was fitted to batches without names.
    singular : ndarray of shape (d, D) or None
        Singular vectors that a large sparse matrix of D columns is reduced by before the model.
    label : str
        The column that named the rows of the fit, or "".
    """

    model: FittedModel
    means: NDArray[np.float64]
    scaling: Scaling | None = None
    image_shape: tuple[int, int] | None = None
    command: str = ""
    second: SecondView | None = None
    relations: Mapping[str, list[str]] = field(default_factory=dict)
    encoder: TableEncoder | None = None
    column_names: list[str] | None = None
    singular: NDArray[np.float64] | None = None
    label: str = ""

    @classmethod
    def open(cls, path: Path) -> ModelFile:
        """Load a file that ``sidelight embed`` (or ``sidelight.save``) wrote."""
        loaded = load(path)
        if isinstance(loaded, Imputer):
            raise CommandError(
                f"{path}: is an imputer and has no map; use it with sidelight impute DATA --model {path}"
            )
        encoder, model = _without_encoder(as_chain(loaded))
        notes = load_notes(path)
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
            encoder=encoder,
            column_names=notes.get("column_names"),
            singular=notes.get("singular"),
            label=notes.get("label") or "",
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
            "column_names": self.column_names,
            "singular": self.singular,
            **({"label": self.label} if self.label else {}),
        }
        model: Any = self.model.pipeline if isinstance(self.model, Chain) else self.model
        if self.encoder is not None:
            steps = model.steps if isinstance(self.model, Chain) else [("embedding", model)]
            model = InformedPipeline([("table", self.encoder), *steps])
        save(model, path, notes=notes)

    @property
    def names(self) -> list[str] | None:
        """Names of the features, when the model or its file knows them."""
        return feature_names_of(self.model) or self.column_names

    @property
    def is_standardized(self) -> bool:
        """Whether columns are scaled before the model sees them."""
        return self.scaling is not None or (self.encoder is not None and self.encoder.scaling != "none")

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
        """Names of the columns that the model takes, made up where there are none; of a table, those of its code."""
        own = self.names if self.encoder is None else [str(name) for name in self.encoder.get_feature_names_out()]
        return own or [f"x{i + 1}" for i in range(self.model.n_features_in_)]

    def read(self, path: Path, how: Reading, missing: str) -> tuple[Matrix, Any]:
        """Read new rows; return them unchanged, and preprocessed for the model."""
        matrix = read(path, replace(how, encoder=self.encoder, singular=self.singular, sparse=takes_sparse(self.model)))
        of_array = self.encoder is not None and matrix.table is None
        width = matrix.X.shape[1]
        expected = self.encoder.n_features_in_ if of_array and self.encoder is not None else self.model.n_features_in_
        if width != expected:
            raise CommandError(f"{path}: rows have {count_of(width, 'column')}, and the model was fitted on {expected}")
        if of_array:
            matrix = self._encoded(matrix)
        matrix = complete(matrix, missing, self.means)
        if has_gaps(matrix.X) and not self.takes_gaps:
            self._refuse_gaps(matrix)
        X = matrix.X if self.scaling is None else self.scaling.apply(matrix.X)
        return matrix, X if feature_names_of(self.model) is None else matrix.features(X)

    def _refuse_gaps(self, matrix: Matrix) -> None:
        """Raise the error about missing entries, which a model takes only if the rows of its fit had some."""
        try:
            complete(matrix, "error")
        except CommandError as error:
            if getattr(last_step_of(self.model), "missing", None) != "refuse":
                raise
            rule = "the rows of the fit were complete, so the model takes no missing entries"
            raise CommandError(f"{error} ({rule}; a category that was not in the fit counts as missing)") from error

    def _encoded(self, matrix: Matrix) -> Matrix:
        """Rows of an array as the code of a table with the same columns in the same order."""
        assert self.encoder is not None
        names = [use.name for use in self.encoder.columns_]
        table = EncodedTable(pd.DataFrame(matrix.X, columns=names), self.encoder)
        return replace(matrix, X=table.numbers(), table=table)

    @property
    def takes_gaps(self) -> bool:
        """Whether the model takes rows with missing entries."""
        first = self.model.steps[0] if isinstance(self.model, Chain) else self.model
        return bool(get_tags(first).input_tags.allow_nan)

    @property
    def without_way_back(self) -> list[str]:
        """Columns of free text, which are embedded but cannot be reconstructed."""
        uses = [] if self.encoder is None else self.encoder.columns_
        return [use.name for use in uses if use.kind == "text"]

    def to_data(self, X: Any) -> pd.DataFrame:
        """Convert rows that the model returned to the columns and units of the data."""
        rows = np.asarray(X)
        if self.encoder is not None:
            return EncodedTable(pd.DataFrame(), self.encoder).decoded(rows)
        return pd.DataFrame(rows if self.scaling is None else self.scaling.undo(rows), columns=self.columns)

    def way_back(self, rows: Callable[..., Any], names: Sequence[str]) -> pd.DataFrame:
        """Rows in the columns and units of the data, all or those with some ``names``.

        ``rows()`` returns them as the model does; a model that takes sparse rows computes the columns asked for only.
        """
        if not names:
            return self.to_data(rows())
        if self.encoder is not None or not takes_sparse(self.model):
            whole = self.to_data(rows())
            return whole.iloc[:, chosen_columns("--columns", names, whole.shape[1], list(whole.columns), "COLUMN")]
        at = chosen_columns("--columns", names, len(self.columns), self.columns, "COLUMN")
        some = np.asarray(rows(columns=at))
        if self.scaling is not None:
            some = Scaling(self.scaling.center[at], self.scaling.scale[at]).undo(some)
        return pd.DataFrame(some, columns=[self.columns[place] for place in at])

    def filled(self, X: Any) -> Any:
        """Return rows for measures that take no gaps: missing entries by the model, or the means of the columns."""
        if is_sparse(X):
            return X
        rows = np.asarray(X)
        gaps = np.isnan(rows)
        if not gaps.any():
            return X
        known = np.asarray(self.model.impute(X)) if capabilities(self.model).has_impute else self.means
        whole = np.where(gaps, known, rows)
        return whole if feature_names_of(self.model) is None else pd.DataFrame(whole, columns=self.names)

    def shown(self, X: Any) -> Any:
        """Return rows for a report: without gaps, and with names where the code of a table has them."""
        rows = self.filled(X)
        return rows if self.encoder is None else pd.DataFrame(rows, columns=self.columns)


_NOTES = {
    "command": "string",
    "image_shape": "?list:sides count",
    "means": "float (d)",
    "center": "?float (d)",
    "scale": "?float (d)",
    "second": "?dict plain",
    "relations": "?dict list string",
    "column_names": "?list:d string",
    "singular": "?float (d, *)",
    "label": "?string",
}
"""Specifications of the notes of a model file, in the language of ``sidelight.persistence``."""


def _without_encoder(model: FittedModel) -> tuple[TableEncoder | None, FittedModel]:
    """Take a TableEncoder off the front of a chain; it and the model of the numbers behind it."""
    if not isinstance(model, Chain) or not isinstance(model.steps[0], TableEncoder):
        return None, model
    encoder, *rest = model.pipeline.steps
    if len(rest) == 1:
        return encoder[1], rest[0][1]
    behind: Any = Chain.of(Pipeline(rest))
    return encoder[1], behind


def _check_notes(path: Path, notes: Mapping[str, Any], d: int) -> None:
    try:
        check_notes(notes, _NOTES, {"d": d, "sides": 2})
    except MismatchError as error:
        raise CommandError(f"{path}: this file was not written by `sidelight embed` ({error}); fit again") from error
