"""A table of mixed columns as numbers for a model, and back: TableEncoder with the rows it encoded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from sidelight.base.messages import count_of
from sidelight.tables._column_kinds import ColumnUse
from sidelight.tables._encoding import numbers_of_column
from sidelight.tables._table_columns import read_table, without_marks
from sidelight.tables.table_encoder import TableEncoder

from ._output import CommandError

__all__ = ["EncodedTable", "TableOptions", "encode_table", "typed"]

_MOST_NAMES, _MOST_SENTENCES = 6, 8


@dataclass(frozen=True)
class TableOptions:
    """How a table becomes numbers: parameters of the encoder.

    Parameters
    ----------
    kinds : dict
        Column -> kind, for columns that are to be understood otherwise (``--kind``).
    standardize : bool or None
        None: robustly, heavy tails bent; True: mean 0 and width 1; False: numbers as they are.
    """

    kinds: Mapping[str, str] = field(default_factory=dict)
    standardize: bool | None = None

    def encoder(self, columns: Sequence[str]) -> TableEncoder:
        """Return the unfitted encoder of a table with these columns."""
        kinds = {name: kind for name, kind in self.kinds.items() if name in set(columns)}
        scaling = {None: "robust", True: "standard", False: "none"}[self.standardize]
        return TableEncoder(kinds or None, scaling=scaling, tails="auto" if self.standardize is None else "keep")

    @property
    def sentence(self) -> str:
        """How numbers are scaled."""
        if self.standardize is None:
            return "Every column counts the same: numbers are scaled by median and quartiles."
        if self.standardize:
            return "Every column counts the same: numbers are standardised to mean 0 and width 1, as asked."
        return "Numbers are used as they are, as asked."


_NOTED = "' read as "
"""In the reason of a column of which single entries were read otherwise than written: bounds, marks and words."""


@dataclass(frozen=True)
class EncodedTable:
    """Rows of a table as the user knows them, and the encoder that makes numbers of them.

    Parameters
    ----------
    frame : DataFrame of n rows
        The columns that the encoder was fitted on, as far as the file has them.
    encoder : TableEncoder
        Fitted.
    """

    frame: pd.DataFrame
    encoder: TableEncoder

    @property
    def uses(self) -> tuple[ColumnUse, ...]:
        """Inferred kind of each column."""
        return self.encoder.columns_

    def take(self, keep: NDArray[np.bool_]) -> EncodedTable:
        """Return the rows where ``keep`` is true."""
        return replace(self, frame=self.frame[keep].reset_index(drop=True))

    def refitted(self) -> EncodedTable:
        """Return the same rows with an encoder that was fitted on them alone."""
        return encode_table(self.frame, clone(self.encoder))

    def numbers(self) -> NDArray[np.float64]:
        """Return the code of the rows (n, p), NaN where an entry is missing."""
        return np.asarray(self.encoder.transform(self.frame))

    def gaps(self, X: NDArray[Any]) -> dict[str, NDArray[np.bool_]]:
        """Return, for each used column, the rows in which its code is missing."""
        return {block.name: np.isnan(X[:, block.columns]).any(axis=1) for block in self.encoder.blocks_}

    @property
    def identifiers(self) -> pd.DataFrame:
        """The columns that name or number the rows."""
        names = [use.name for use in self.uses if use.kind == "identifier" and use.name in self.frame.columns]
        return self.frame[names]

    def decoded(self, X: Any) -> pd.DataFrame:
        """Return rows of the model in the columns and units of the data, without columns that cannot be known."""
        frame: pd.DataFrame = self.encoder.inverse_transform(X)
        whole = [one.label for one in self.encoder.layout_.columns if one.whole]
        frame = frame.astype(dict.fromkeys(whole, "Int64")) if whole else frame
        kept = [use.name for use in self.uses if use.kind not in ("identifier", "empty", "text")]
        return frame[[name for name in frame.columns if name in set(kept)]]

    def shown(self) -> pd.DataFrame:
        """Return the rows for a report: numbers and dates that were text as such."""
        return typed(self.frame[[use.name for use in self.uses if use.name in self.frame.columns]], self.uses)

    def shown_of(self, X: Any) -> pd.DataFrame:
        """Return rows of the model as a report shows them."""
        return typed(self.decoded(X), self.uses)

    def remarks(self) -> list[str]:
        """Return sentences about embedded columns, columns left out, and the parsing of text."""
        used = [use for use in self.uses if use.used]
        parts = []
        for kind in Counter(use.kind for use in used):
            names = [use.name for use in used if use.kind == kind]
            parts.append(f"{count_of(len(names), kind)} ({listed(names)})")
        verb = "is" if len(used) == 1 else "are"
        told = [use for use in self.uses if not use.used or use.number_format or use.marks or _NOTED in use.reason]
        more = len(told) - _MOST_SENTENCES
        return [
            f"{count_of(len(used), 'column')} {verb} embedded: {', '.join(parts)}.",
            *(f"{use.sentence()}." for use in told[:_MOST_SENTENCES]),
            *([f"More columns are left out or read from text: {more}; sidelight look lists them."] if more > 0 else []),
        ]


def encode_table(frame: pd.DataFrame, encoder: TableEncoder) -> EncodedTable:
    """Fit an encoder on a table."""
    try:
        return EncodedTable(frame, encoder.fit(frame))
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removeprefix("TableEncoder: ")) from error


def typed(frame: pd.DataFrame, uses: Sequence[ColumnUse]) -> pd.DataFrame:
    """Return a table in which numbers and dates that were written as text are such, and marks such as "?" missing."""
    known = {use.name: use for use in uses}
    found = frame.copy(deep=False)
    for column in read_table(frame).columns:
        use = known.get(column.name)
        marked = without_marks(column, None if use is None else use.sign_levels)
        if marked.marks:
            found[column.name] = frame[column.name].mask(marked.missing, None)
        if use is None or use.kind not in ("number", "angle", "date") or not (column.is_text or use.date_format):
            continue
        values = numbers_of_column(column, use)
        if use.kind == "date":
            moments = [None if np.isnan(value) else np.datetime64(int(value), "us") for value in values]
            found[column.name] = pd.Series(np.array(moments, dtype="datetime64[us]"), index=frame.index)
        else:
            found[column.name] = values
    return found


def listed(names: Sequence[str], most: int = _MOST_NAMES) -> str:
    """Return the first few names, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    shown = ", ".join(map(str, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
