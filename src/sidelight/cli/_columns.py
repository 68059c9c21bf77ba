"""Choose the feature columns of a table, and assign roles to the others (colours, given, labels, relations)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from sidelight.base.messages import count_of
from sidelight.tables._column_kinds import ColumnUse, understand
from sidelight.tables._identifiers import is_unnamed, why_identifier
from sidelight.tables.table_encoder import TableEncoder

from ._encoded_table import EncodedTable, TableOptions, encode_table, typed
from ._matrix import Matrix
from ._output import CommandError

__all__ = [
    "ColumnRoles",
    "are_embedded",
    "choose_columns",
    "encode_columns",
    "encode_new_rows",
    "match_columns",
    "suggestion",
]

_ID_NAME = re.compile(r"(^|[_\s.-])(id|index|idx|row|rowid|uuid)$", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}.*)?")
_LONG_TEXT = 60
_NOTHING = "has no column that can be encoded"
_REMARKS = {
    "text": "Text, not embedded, offered as colours",
    "boolean": "Booleans, not embedded, offered as colours",
    "date": "Dates, not embedded, offered as colours",
    "id": "Row ids, left out",
    "name": "Text that differs in every row, left out",
    "empty": "Empty columns, left out",
}
_COLOURING = ("text", "boolean", "date")
_OFFERED = ("category", "boolean", "ordinal", "date")
"""Kinds of encoded columns that may colour the map, beside being embedded."""


@dataclass(frozen=True)
class ColumnRoles:
    """The column options of the command line: roles that the user assigned to columns."""

    colours: Sequence[str] = ()
    label: str | None = None
    drop: Sequence[str] = ()
    given: Sequence[str] = ()
    """Columns to factor out (``--given``); not features."""
    attributes: Sequence[str] = ()
    """Label columns for metric learning: rows with the same label are similar; not features."""
    given_if_there: Sequence[str] = ()
    """Given columns of a fitted model: used if the data has all of them."""
    relations: Sequence[str] = ()
    """Columns that relations are based on; not features."""
    relations_if_there: Sequence[str] = ()
    """Columns that the relations of a fitted model are based on: used as far as the data has them."""
    actions: Sequence[str] = ()
    """Columns of actions and trajectories; not features."""
    label_if_there: str = ""
    """The label of the rows of a fitted model: names new rows if they have it and ``label`` is None."""

    def check(self, known: Iterable[str], source: str) -> None:
        """Raise CommandError for a column that the data does not have."""
        names = list(known)
        label = [self.label] if self.label else []
        asked = {"--colour": self.colours, "--label": label, "--drop": self.drop, "--given": self.given}
        asked |= {
            "--attribute": self.attributes,
            "--relation": self.relations,
            "--actions or --trajectory": self.actions,
        }
        for option, columns in asked.items():
            for column in columns:
                if column not in names:
                    has = f"it has {_listed(names) or 'none'}{suggestion(column, names)}"
                    raise CommandError(f"{option} {column}: {source} has no such column; {has}")
        parts = {"--drop": self.drop, "--label": label, "--given": self.given, "--attribute": self.attributes}
        parts |= {"--relation": self.relations, "--actions or --trajectory": self.actions}
        for option in ("--given", "--attribute", "--relation", "--actions or --trajectory"):
            for column in parts.pop(option):
                other = next((other for other, columns in parts.items() if column in columns), None)
                if other is not None:
                    raise CommandError(f"{option} {column}: is named by {other}, too; give it one part")

    def of_new_rows(self, names: Iterable[str]) -> ColumnRoles:
        """The roles of columns of new rows for a fitted model."""
        there = self.label is None and self.label_if_there in set(names)
        return replace(self, label=self.label_if_there) if there else self

    def known(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The given columns of ``frame``; for those of a fitted model, all or none.

        Dates and numbers that are written as text are dates and numbers.
        """
        names = list(dict.fromkeys(self.given))
        if not names and set(self.given_if_there) <= set(frame.columns):
            names = list(self.given_if_there)
        if not names:
            return pd.DataFrame()
        found = frame[names].reset_index(drop=True)
        return typed(found, understand(found))

    def labels(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The label columns (attributes) of ``frame``, for metric learning."""
        names = list(dict.fromkeys(self.attributes))
        return typed(frame[names].reset_index(drop=True), ()) if names else pd.DataFrame()

    def related(self, frame: pd.DataFrame) -> pd.DataFrame:
        """The columns of ``frame`` that relations are based on, and those of actions."""
        there = [name for name in self.relations_if_there if name in frame.columns]
        names = list(dict.fromkeys([*self.relations, *there, *self.actions]))
        return typed(frame[names].reset_index(drop=True), ()) if names else pd.DataFrame()

    def shown(self, found: Iterable[str]) -> list[str]:
        """The columns to colour by: as asked, otherwise attributes and as ``found``; what was named in any case."""
        labels = [*self.attributes, *self.relations, *self.actions]
        return list(dict.fromkeys([*(self.colours or (*labels, *found)), *self.given, *labels]))


def suggestion(name: str, known: Sequence[str]) -> str:
    """Return "; did you mean NAME?" for the most similar known name, or "" if none is similar.

    Examples
    --------
    >>> suggestion("bach", ["batch", "day"])
    '; did you mean batch?'
    """
    near = get_close_matches(name, [str(k) for k in known], n=1, cutoff=0.7)
    return f"; did you mean {near[0]}?" if near else ""


def choose_columns(frame: pd.DataFrame, wishes: ColumnRoles, source: str) -> Matrix:
    """Take the numeric columns as features and sort the others by kind."""
    wishes.check(frame.columns, source)
    taken = {*wishes.colours, *wishes.drop, *wishes.given, *wishes.attributes, *wishes.relations, wishes.label}
    taken |= {*wishes.actions}
    free = [name for name in frame.columns if name not in taken]
    kinds = {name: _kind(frame[name]) for name in free}
    features = [name for name, kind in kinds.items() if kind == "number"]
    if not features:
        raise CommandError(f"{source} has no numeric column to embed; it has {_listed(list(frame.columns))}")
    colours = wishes.shown(name for name, kind in kinds.items() if kind in _COLOURING)
    return Matrix(
        X=_numbers(frame, features),
        names=features,
        is_table=True,
        colours=frame[colours].reset_index(drop=True),
        given=wishes.known(frame),
        attributes=wishes.labels(frame),
        related=wishes.related(frame),
        row_names=None if wishes.label is None else frame[wishes.label].reset_index(drop=True),
        remarks=[
            f"{are_embedded(len(features))}: {_listed(features)}.",
            *_remarks(frame, kinds),
        ],
    )


def are_embedded(n_columns: int) -> str:
    return f"{count_of(n_columns, 'numeric column')} {'is' if n_columns == 1 else 'are'} embedded"


def encode_columns(frame: pd.DataFrame, wishes: ColumnRoles, options: TableOptions, source: str) -> Matrix:
    """Encode all columns without another role as numbers, by kind."""
    wishes.check(frame.columns, source)
    _check_kinds(options.kinds, wishes, list(frame.columns), source)
    taken = {
        *wishes.colours,
        *wishes.drop,
        *wishes.given,
        *wishes.attributes,
        *wishes.relations,
        *wishes.actions,
        wishes.label,
    }
    free = [name for name in frame.columns if name not in taken]
    if not free:
        raise CommandError(f"{source} has no column left to embed; it has {_listed(list(frame.columns))}")
    encoder = options.encoder(free)
    try:
        table = encode_table(frame[free].reset_index(drop=True), encoder)
    except CommandError as error:
        if _NOTHING not in str(error):
            raise
        raise CommandError(_why_nothing(understand(frame[free], encoder.kinds), len(frame), source)) from error
    offered = [use for use in table.uses if use.kind in _OFFERED]
    return _with_roles(table, frame, wishes, offered, [*table.remarks(), options.sentence])


def _why_nothing(uses: Sequence[ColumnUse], n: int, source: str) -> str:
    """Why no column of a table of ``n`` rows is embedded."""
    if n == 1:
        return f"{source}: one row is no map; give more"
    if all(use.kind in ("constant", "empty") for use in uses):
        return f"{source}: all {n} rows are the same, so there is nothing to map; give rows that differ"
    shown = "; ".join(use.sentence() for use in uses[:3]) + (f"; and {len(uses) - 3} more" if len(uses) > 3 else "")
    return f"{source}: no column is left to embed: {shown}; --kind COLUMN=KIND says what one is"


def encode_new_rows(frame: pd.DataFrame, encoder: TableEncoder, wishes: ColumnRoles, source: str) -> Matrix:
    """Make numbers of new rows with the encoder of a model; columns are matched by name."""
    wishes = wishes.of_new_rows(frame.columns)
    wishes.check(frame.columns, source)
    missing = [use.name for use in encoder.columns_ if use.used and use.name not in frame.columns]
    if missing:
        word = "columns" if len(missing) > 1 else "column"
        raise CommandError(f"{source} lacks the {word} {_listed(missing)}, which the model was fitted on")
    names = [use.name for use in encoder.columns_ if use.name in frame.columns]
    others = [name for name in frame.columns if name not in {*names, wishes.label}]
    offered = [use for use in encoder.columns_ if use.kind in _OFFERED and use.name in names]
    offered += [use for use in (understand(frame[others]) if others else ()) if use.kind in (*_OFFERED, "number")]
    return _with_roles(EncodedTable(frame[names].reset_index(drop=True), encoder), frame, wishes, offered, [])


def _with_roles(
    table: EncodedTable, frame: pd.DataFrame, wishes: ColumnRoles, offered: list[ColumnUse], remarks: list[str]
) -> Matrix:
    """The code of a table, and the columns that have another role; those ``offered`` may colour the map."""
    names = wishes.shown(use.name for use in offered)
    colours = frame[names].reset_index(drop=True) if names else pd.DataFrame()
    if names:
        known = {use.name: use for use in table.uses}
        colours = typed(colours, [known.get(use.name, use) for use in understand(colours)])
    try:
        X = table.numbers()
    except (ValueError, TypeError) as error:
        raise CommandError(str(error).removeprefix("TableEncoder: ")) from error
    return Matrix(
        X=X,
        is_table=True,
        table=table,
        colours=colours,
        given=wishes.known(frame),
        attributes=wishes.labels(frame),
        related=wishes.related(frame),
        row_names=None if wishes.label is None else frame[wishes.label].reset_index(drop=True),
        remarks=remarks,
    )


def _check_kinds(kinds: Mapping[str, str], wishes: ColumnRoles, names: list[str], source: str) -> None:
    for name, kind in kinds.items():
        if name not in names:
            near = suggestion(name, names) or f"; it has {_listed(names)}"
            raise CommandError(f"--kind {name}={kind}: {source} has no such column{near}")
        if name in {
            *wishes.colours,
            *wishes.drop,
            *wishes.attributes,
            *wishes.relations,
            *wishes.actions,
            wishes.label,
        }:
            raise CommandError(
                f"--kind {name}={kind}: this column has another option and is not embedded; leave one out"
            )
        if name in wishes.given:
            raise CommandError(f"--kind {name}={kind}: this column is given; use --given-type {name}={kind}")


def match_columns(frame: pd.DataFrame, names: Sequence[str], wishes: ColumnRoles, source: str) -> Matrix:
    """Take the columns that a model was fitted on, by name and in its order."""
    wishes.check(frame.columns, source)
    missing = [name for name in names if name not in frame.columns]
    if missing:
        word = "columns" if len(missing) > 1 else "column"
        raise CommandError(f"{source} lacks the {word} {_listed(missing)}, which the model was fitted on")
    text = [name for name in names if not _is_number(frame[name]) and not frame[name].isna().all()]
    if text:
        raise CommandError(f"{source}: the model needs numbers in {_listed(text)}{_hint(frame[text[0]])}")
    others = [name for name in frame.columns if name not in set(names)]
    kinds = {name: _kind(frame[name]) for name in others}
    colours = wishes.shown(name for name in others if kinds[name] in (*_COLOURING, "number"))
    return Matrix(
        X=_numbers(frame, list(names)),
        names=list(names),
        colours=frame[colours].reset_index(drop=True),
        given=wishes.known(frame),
        attributes=wishes.labels(frame),
        related=wishes.related(frame),
        row_names=None if wishes.label is None else frame[wishes.label].reset_index(drop=True),
    )


def _is_number(column: pd.Series[Any]) -> bool:
    return types.is_numeric_dtype(column) and not types.is_bool_dtype(column)


def _kind(column: pd.Series[Any]) -> str:
    if column.isna().all():
        return "empty"
    if types.is_bool_dtype(column):
        return "boolean"
    if types.is_datetime64_any_dtype(column) or types.is_timedelta64_dtype(column):
        return "date"
    if _is_number(column):
        return "id" if _counts_rows(column) else "number"
    return _kind_of_text(column.dropna())


def _counts_rows(column: pd.Series[Any]) -> bool:
    """Whether an integer column is a row number or a key: 0, 1, 2, ..., or unique under a name such as *id*."""
    if not types.is_integer_dtype(column) or column.isna().any():
        return False
    if is_unnamed(str(column.name)):
        return bool(why_identifier(str(column.name), column.to_numpy(dtype=np.float64)))
    if not column.is_unique:
        return False
    steps = np.diff(column.to_numpy(dtype=np.int64))
    running = len(column) > 2 and column.iloc[0] in (0, 1) and bool((steps == 1).all())
    return running or bool(_ID_NAME.search(str(column.name)))


def _kind_of_text(filled: pd.Series[Any]) -> str:
    texts = filled.astype(str)
    if all(isinstance(value, bool | np.bool_) for value in filled):
        return "boolean"
    if texts.head(100).map(lambda text: bool(_DATE.fullmatch(text))).all():
        return "date"
    distinct = texts.nunique() == len(texts) and len(texts) > 5
    return "name" if distinct or texts.str.len().mean() > _LONG_TEXT else "text"


def _numbers(frame: pd.DataFrame, names: list[str]) -> NDArray[np.float64]:
    columns = [frame[name].to_numpy(dtype=np.float64, na_value=np.nan) for name in names]
    return np.column_stack(columns)


def _remarks(frame: pd.DataFrame, kinds: dict[str, str]) -> list[str]:
    lines = []
    for kind, sentence in _REMARKS.items():
        names = [name for name, found in kinds.items() if found == kind]
        if names:
            lines.append(f"{sentence}: {_listed(names)}.")
    for name, kind in kinds.items():
        hint = _hint(frame[name]) if kind in ("text", "name") else ""
        if hint:
            lines.append(f"{name} is not embedded{hint}.")
    return lines


def _hint(column: pd.Series[Any]) -> str:
    """Name the entry that makes an otherwise numeric column a text column."""
    filled = column.dropna()
    numbers = pd.to_numeric(filled, errors="coerce")
    if len(filled) and 0.5 <= numbers.notna().mean() < 1:
        return f": it is text because of values such as {str(filled[numbers.isna()].iloc[0])!r}"
    return ""


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(map(str, names[:most]))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
