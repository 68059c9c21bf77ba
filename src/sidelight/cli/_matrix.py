"""Rows that are ready to be embedded, with all their other columns."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._encoded_table import EncodedTable
from ._output import CommandError
from ._sparse_rows import is_sparse

__all__ = ["Matrix", "Scaling", "complete", "scaling_for"]

_SHOWN = 5


@dataclass(frozen=True)
class Matrix:
    """A numeric matrix with its names.

    Parameters
    ----------
    X : ndarray or CSR array of shape (n, d)
        The features.
    names : list of str, or None
        Names of the features, when the data has them; None for the code of a table.
    colours : DataFrame of n rows
        Columns that are not features and may colour the picture.
    given : DataFrame of n rows
        Columns to factor out; may have no columns.
    attributes : DataFrame of n rows
        Label columns for metric learning: rows with the same label are similar; may have no columns.
    related : DataFrame of n rows
        Columns that relations are based on; may have no columns.
    row_names : Series of n rows, or None
        Names of the rows (a label column, file names, cell names).
    rows : ndarray of shape (n,)
        Number of each row in its source, counted from 0.
    image_shape : tuple (height, width), or None
        Shape of the image that a row holds.
    is_table : bool
        Whether the columns may have different units.
    table : EncodedTable or None
        The rows as the user knows them, of which X is the code.
    singular : ndarray of shape (k, D), or None
        Singular vectors of a sparse matrix (n, D) that was reduced to k features.
    remarks : list of str
        Messages for the user about how the data was treated.
    """

    X: Any
    names: list[str] | None = None
    colours: pd.DataFrame = field(default_factory=pd.DataFrame)
    given: pd.DataFrame = field(default_factory=pd.DataFrame)
    attributes: pd.DataFrame = field(default_factory=pd.DataFrame)
    related: pd.DataFrame = field(default_factory=pd.DataFrame)
    row_names: pd.Series[Any] | None = None
    rows: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    image_shape: tuple[int, int] | None = None
    is_table: bool = False
    table: EncodedTable | None = None
    singular: NDArray[np.float64] | None = None
    remarks: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.X.ndim != 2 or not all(self.X.shape):
            raise CommandError(f"there is nothing to embed: the data has shape {self.X.shape}")
        if self.X.dtype.kind not in "biuf":
            raise CommandError(f"the data is of type {self.X.dtype}, and only numbers can be embedded")
        if self.X.dtype not in (np.float32, np.float64):
            object.__setattr__(self, "X", self.X.astype(np.float64))
        if len(self.rows) != self.n_rows:
            object.__setattr__(self, "rows", np.arange(self.n_rows))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    def features(self, X: Any = None) -> Any:
        """Return the features as an estimator wants them: a data frame when they have names and are not sparse."""
        X = self.X if X is None else X
        return X if self.names is None or is_sparse(X) else pd.DataFrame(X, columns=self.names)

    def take(self, keep: NDArray[np.bool_]) -> Matrix:
        """Return the rows where ``keep`` is true."""
        return replace(
            self,
            X=self.X[keep],
            colours=_kept(self.colours, keep),
            given=_kept(self.given, keep),
            attributes=_kept(self.attributes, keep),
            related=_kept(self.related, keep),
            row_names=None if self.row_names is None else self.row_names[keep].reset_index(drop=True),
            rows=self.rows[keep],
            table=None if self.table is None else self.table.take(keep),
        )

    @property
    def n_columns(self) -> int:
        """Columns of the data that are embedded."""
        return self.X.shape[1] if self.table is None else sum(use.used for use in self.table.uses)

    @property
    def identifiers(self) -> pd.DataFrame:
        """The columns that name or number the rows, without the label; may have no columns."""
        found = pd.DataFrame() if self.table is None else self.table.identifiers
        own = [] if self.row_names is None else [str(self.row_names.name)]
        return found[[name for name in found.columns if name not in own]]

    @property
    def gaps(self) -> dict[str, NDArray[np.bool_]]:
        """For each column of the data with missing or infinite entries, the rows (n,) that have them."""
        if is_sparse(self.X):
            return {}
        if self.table is not None:
            found = self.table.gaps(self.X)
        else:
            bad = ~np.isfinite(self.X)
            found = {self.column(int(j)): bad[:, j] for j in np.flatnonzero(bad.any(axis=0))}
        return {name: rows for name, rows in found.items() if rows.any()}

    @property
    def side(self) -> dict[str, Any]:
        """``given`` of the rows, as keyword arguments of ``fit`` or the maps, or {}."""
        return {"given": self.given} if self.given.shape[1] else {}

    def column(self, index: int) -> str:
        """Name of a feature."""
        return self.names[index] if self.names is not None else f"x{index + 1}"


def _kept(frame: pd.DataFrame, keep: NDArray[np.bool_]) -> pd.DataFrame:
    return frame[keep].reset_index(drop=True) if frame.shape[1] else frame


@dataclass(frozen=True)
class Scaling:
    """Affine scaling of the columns, ``(X - center) / scale``, and its inverse."""

    center: NDArray[np.float64]
    scale: NDArray[np.float64]

    def apply(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the treated rows, in the precision they came in."""
        return ((X - self.center) / self.scale).astype(X.dtype)

    def undo(self, X: NDArray[Any]) -> NDArray[Any]:
        """Return the rows in the units of the data."""
        return np.asarray(X) * self.scale + self.center


def scaling_for(matrix: Matrix, wanted: bool | None) -> tuple[Scaling | None, str]:
    """Decide whether to standardise; return the scaling and the sentence that says so ("" if there is nothing to say).

    Unasked, columns of a table are standardised; pictures, plain arrays and cells stay as they are. A table that was
    encoded is scaled already.
    """
    if matrix.table is not None:
        return None, ""
    if is_sparse(matrix.X):
        if wanted:
            raise CommandError("--standardize: centred columns of a sparse matrix would not be sparse; leave it out")
        return None, "Columns are used as they are."
    if wanted is None:
        if matrix.image_shape is not None:
            return None, "Pixels are used as they are."
        if not matrix.is_table:
            return None, "Columns are used as they are (--standardize changes that)."
    if wanted is False:
        return None, "Columns are used as they are (as asked)."
    spread = np.nanstd(matrix.X, axis=0, dtype=np.float64)
    scale = np.where(spread > 0, spread, 1.0)
    why = " (as asked)" if wanted else ""
    return Scaling(np.nanmean(matrix.X, axis=0, dtype=np.float64), scale), f"Columns are standardised{why}."


def complete(matrix: Matrix, missing: str, means: NDArray[np.float64] | None = None) -> Matrix:
    """Treat missing and infinite values: keep, refuse, drop their rows, or put the mean of the column there.

    New rows are completed with the ``means`` of the fit, and their table keeps its encoder.
    """
    gaps = matrix.gaps
    if not gaps:
        return matrix
    rows = np.any(list(gaps.values()), axis=0)
    count = sum(int(own.sum()) for own in gaps.values())
    if missing == "drop":
        if rows.all():
            raise CommandError("every row has a missing value; use --missing mean, or --drop the columns to blame")
        remark = f"{rows.sum()} of {len(rows)} rows have missing values and are left out."
        return replace(_without(matrix, rows, refit=means is None), remarks=[*matrix.remarks, remark])
    if missing == "mean":
        remark = f"{count} missing values in {rows.sum()} rows are replaced by the mean of their column."
        filled = _filled(matrix.X, ~np.isfinite(matrix.X), means)
        return replace(matrix, X=filled, remarks=[*matrix.remarks, remark])
    if missing == "keep" and not np.isinf(matrix.X).any():
        word = "entry is" if count == 1 else "entries are"
        remark = f"{count} {word} missing, in {rows.sum()} of {len(rows)} rows: {_counted(gaps)}."
        return replace(matrix, remarks=[*matrix.remarks, remark])
    raise CommandError(_blame(matrix, gaps, rows))


def _without(matrix: Matrix, rows: NDArray[np.bool_], *, refit: bool) -> Matrix:
    """The matrix without some rows; the encoder of a table is fitted on the others alone."""
    left = matrix.take(~rows)
    if left.table is None or not refit:
        return left
    table = left.table.refitted()
    return replace(left, table=table, X=table.numbers())


def _filled(X: NDArray[Any], gaps: NDArray[np.bool_], means: NDArray[np.float64] | None) -> NDArray[Any]:
    if means is None:
        counts = np.maximum((~gaps).sum(axis=0), 1)
        means = np.where(gaps, 0.0, X).sum(axis=0, dtype=np.float64) / counts
    return np.where(gaps, means, X).astype(X.dtype)


def _blame(matrix: Matrix, gaps: dict[str, NDArray[np.bool_]], rows: NDArray[np.bool_]) -> str:
    numbers = matrix.rows[rows]
    return (
        f"{len(numbers)} of {len(rows)} rows have missing or infinite values, in the columns {_counted(gaps)}; "
        f"rows {_some([str(row) for row in numbers])}. "
        "Use --missing drop to leave these rows out, or --missing mean to put the mean of the column there"
    )


def _counted(gaps: dict[str, NDArray[np.bool_]]) -> str:
    """Names of columns, each with the number of its missing entries."""
    return _some([f"{name} ({own.sum()})" for name, own in gaps.items()])


def _some(items: list[str]) -> str:
    more = f" and {len(items) - _SHOWN} more" if len(items) > _SHOWN else ""
    return ", ".join(items[:_SHOWN]) + more
