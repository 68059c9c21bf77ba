"""A second view of the same rows: ``--view-y`` of embed, ``--view y`` of transform and invert, and predict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_numeric_dtype

from sidelight.base.capabilities import capabilities
from sidelight.base.messages import count_of
from sidelight.tables._column_kinds import understand
from sidelight.tables.table_encoder import TableEncoder

from ._encoded_table import EncodedTable, TableOptions
from ._matrix import Matrix, Scaling, complete, scaling_for
from ._output import CommandError
from ._read import Reading, open_data, read

if TYPE_CHECKING:
    from ._model_file import ModelFile

__all__ = ["SecondView", "embed_second", "is_second", "read_second", "second_of"]


@dataclass(frozen=True)
class SecondView:
    """Columns and preprocessing of the second view.

    Parameters
    ----------
    names : list of str
        Its columns, made up where the file has no names.
    scaling : Scaling or None
        Treatment of the columns before the model.
    named : bool
        Whether the columns have names of their own, by which new rows are matched.
    encoder : TableEncoder or None
        Makes the numbers of a table whose columns are not all numbers; ``names`` are then those of its code.
    """

    names: list[str]
    scaling: Scaling | None
    named: bool = True
    encoder: TableEncoder | None = None

    def to_notes(self) -> dict[str, Any]:
        """Notes stored in the model file."""
        scaling = None if self.scaling is None else {"center": self.scaling.center, "scale": self.scaling.scale}
        return {"names": self.names, "scaling": scaling, "named": self.named, "encoder": self.encoder}

    @classmethod
    def from_notes(cls, notes: dict[str, Any] | None) -> SecondView | None:
        """Restore from the notes of a model file."""
        if notes is None:
            return None
        scaling = None if notes["scaling"] is None else Scaling(notes["scaling"]["center"], notes["scaling"]["scale"])
        encoder = notes.get("encoder")
        if encoder is not None and not isinstance(encoder, TableEncoder):
            raise CommandError("the second view of this model has no encoder that can be read; fit again")
        return cls(list(notes["names"]), scaling, bool(notes["named"]), encoder)

    def to_data(self, V: Any) -> NDArray[Any]:
        """Convert rows that the model returned to the units of the second view."""
        rows = np.asarray(V)
        rows = rows[:, None] if rows.ndim == 1 else rows
        return rows if self.scaling is None else self.scaling.undo(rows)

    def to_frame(self, V: Any) -> pd.DataFrame:
        """Convert rows that the model returned to a table with the columns of the second view."""
        rows = self.to_data(V)
        if self.encoder is not None:
            return EncodedTable(pd.DataFrame(), self.encoder).decoded(rows)
        return pd.DataFrame(rows, columns=self.names)


def read_second(
    path: Path, matrix: Matrix, n_rows: int, missing: str, standardize: bool | None
) -> tuple[NDArray[Any], SecondView, str]:
    """Read the second view of the rows of ``matrix``; empty rows are unpaired."""
    found = read(path, _how_to_read(path, standardize))
    if len(found.X) != n_rows:
        raise CommandError(
            f"--view-y {path}: has {count_of(len(found.X), 'row')}, and the data has {n_rows}; "
            "leave rows without this view empty"
        )
    found = found.take(np.isin(found.rows, matrix.rows))
    unseen = ~np.isfinite(found.X).any(axis=1)
    if unseen.all():
        raise CommandError(f"--view-y {path}: every row is empty")
    try:
        seen = complete(found.take(~unseen), "error" if missing == "keep" else missing)
    except CommandError as error:
        raise CommandError(f"--view-y {path}: {error}") from error
    scaling, _ = scaling_for(seen, standardize)
    Y = np.full((len(found.X), seen.X.shape[1]), np.nan, dtype=seen.X.dtype)
    places = np.searchsorted(found.rows, seen.rows)
    Y[places] = seen.X if scaling is None else scaling.apply(seen.X)
    remark = f"{len(seen.X)} of {len(Y)} rows have a second view of {seen.n_columns} columns."
    if seen.table is not None:
        encoder = seen.table.encoder
        return Y, SecondView([str(name) for name in encoder.get_feature_names_out()], None, encoder=encoder), remark
    names = [found.column(k) for k in range(Y.shape[1])]
    return Y, SecondView(names, scaling, found.names is not None), remark


def _how_to_read(path: Path, standardize: bool | None) -> Reading:
    """A table of which some columns are not numbers is encoded; of numbers, the columns are taken as they are."""
    if path.is_dir():
        return Reading()
    _, found = open_data(path, Reading())
    if isinstance(found, Matrix):
        return Reading()
    words = [use for use in understand(found.frame) if use.used and not is_numeric_dtype(found.frame[use.name])]
    return Reading(table=TableOptions(standardize=standardize)) if words else Reading()


def is_second(view: str) -> bool:
    """Whether ``--view`` names the second view, y, and not the first, x."""
    if view not in ("x", "y"):  # they were numbered 1 and 2 once, and are 0 and 1 in Python
        raise CommandError(f"--view {view}: views are called x and y; write --view y for the second")
    return view == "y"


def second_of(file: ModelFile) -> SecondView:
    """The second view of a model; raises CommandError if it has none."""
    if file.second is None or not capabilities(file.model).has_predict:
        raise CommandError("this model was fitted on one view; embed with --view-y FILE to have two")
    return file.second


def embed_second(file: ModelFile, data: Path, how: Reading, missing: str) -> tuple[Matrix, NDArray[Any]]:
    """Read rows of the second view and embed them."""
    second = second_of(file)
    by_name = second.named and second.encoder is None
    matrix = complete(
        read(data, replace(how, expected=second.names if by_name else None, encoder=second.encoder)),
        "error" if missing == "keep" else missing,
    )
    if matrix.X.shape[1] != len(second.names):
        seen, expected = matrix.X.shape[1], len(second.names)
        raise CommandError(
            f"{data}: rows have {count_of(seen, 'column')}, and the second view was fitted on {expected}"
        )
    V = matrix.X if second.scaling is None else second.scaling.apply(matrix.X)
    return matrix, np.asarray(file.model.transform_view(V, 1))
