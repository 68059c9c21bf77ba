"""``--relation [NAME=]COLUMN[+COLUMN...][:KIND]``: kinds of similarity that the axes of one map are to mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.capabilities import axis_names_of
from sidelight.base.model import FittedModel
from sidelight.side.given import Given
from sidelight.side.relation import Relation

from ._given import kind_or_period
from ._output import CommandError, Output

__all__ = ["RelationOption", "build_relations", "columns_of", "parse_relations", "tell_axes"]

KINDS = ("labels", "values", "angle")
_DATA = "data"
_FORM = "write it as [NAME=]COLUMN[:KIND], for example light=azimuth:angle"


@dataclass(frozen=True)
class RelationOption:
    """A relation as it was typed: its name, its columns, and of which kind they are (a number is a period)."""

    name: str
    columns: tuple[str, ...]
    kind: str | float | None = None

    def wrong(self, rule: str) -> CommandError:
        """Return the error that says ``rule`` of this relation."""
        return CommandError(f"--relation {self.name}: {rule}")


def parse_relations(texts: Sequence[str]) -> tuple[RelationOption, ...]:
    """Read relations; without a name one is called by its columns.

    Examples
    --------
    >>> [(found.name, found.kind) for found in parse_relations(["light=azimuth:24", "person"])]
    [('light', 24.0), ('person', None)]
    >>> parse_relations(["pose=pan+tilt"])[0].columns
    ('pan', 'tilt')
    """
    found: dict[str, RelationOption] = {}
    for text in texts:
        asked = _parsed(text)
        if asked.name == _DATA:
            rule = "is the name of the relation between the rows themselves; choose another, for example my_data="
            raise asked.wrong(rule + "+".join(asked.columns))
        if asked.name in found:
            raise asked.wrong("is there twice; give each relation its own name, for example other=COLUMN")
        found[asked.name] = asked
    return tuple(found.values())


def _parsed(text: str) -> RelationOption:
    name, equals, rest = text.partition("=")
    rest = rest if equals else name
    named, colon, kind = rest.rpartition(":")
    columns = tuple((named if colon else rest).split("+"))
    if not all(columns) or (equals and not name):
        raise CommandError(f"--relation {text}: {_FORM}")
    kinds = kind_or_period(f"--relation {text}", kind, KINDS, "kind") if colon else None
    return RelationOption(name if equals else "+".join(columns), columns, kinds)


def columns_of(relations: Sequence[RelationOption]) -> list[str]:
    """Return the columns of all relations, each once."""
    return list(dict.fromkeys(column for asked in relations for column in asked.columns))


def build_relations(
    relations: Sequence[RelationOption], frame: pd.DataFrame
) -> tuple[dict[str, Relation], list[str], dict[str, Any]]:
    """Return the relations between the rows of ``frame``, a sentence about each, and what the JSON answer has of them.

    Rows without an entry are not in the relation.
    """
    built, words, answer = {}, [], {}
    for asked in relations:
        own = frame[list(asked.columns)].apply(_as_written)
        here = own.notna().all(axis=1).to_numpy()
        _check_entries(asked, own[here])
        kind = _natural(asked, own) if asked.kind is None else asked.kind
        relation = _labels(asked, own, here) if kind == "labels" else _values(asked, own, kind)
        built[asked.name] = relation
        known = f"{len(relation.index)} of {len(own)} rows"
        words.append(f"Relation {asked.name}: {_in_words(kind)} of {' and '.join(asked.columns)}, known of {known}.")
        answer[asked.name] = {"columns": list(asked.columns), "kind": kind, "rows": len(relation.index)}
    return built, words, answer


def _as_written(column: pd.Series[Any]) -> pd.Series[Any]:
    """Whole numbers again, of which gaps in a file make floating-point numbers: they may be names."""
    here = column.dropna()
    if column.dtype.kind == "f" and len(here) < len(column) and (here == np.rint(here)).all():
        return column.astype("Int64")
    return column


def _check_entries(asked: RelationOption, here: pd.DataFrame) -> None:
    columns = " and ".join(asked.columns)
    if here.empty:
        raise asked.wrong(f"{columns} has no entry" if len(asked.columns) == 1 else f"no row has both {columns}")
    if len(here.drop_duplicates()) < 2:
        entry = ", ".join(str(value) for value in here.iloc[0])
        raise asked.wrong(f"{columns} has the one value {entry}, so there is nothing to tell apart")


def _natural(asked: RelationOption, own: pd.DataFrame) -> str:
    """Labels or values, as the entries look; several columns are values."""
    kinds = {column.name: column.kind for column in Given.learn("--relation", own, len(own)).columns}
    names = [name for name, kind in kinds.items() if kind == "category"]
    if len(kinds) == 1:
        return "labels" if names else "values"
    for name in names:
        if not pd.api.types.is_numeric_dtype(own[name]) or pd.api.types.is_bool_dtype(own[name]):
            raise asked.wrong(f"several columns are values, and {name} holds names; give it a --relation of its own")
    return "values"


def _labels(asked: RelationOption, own: pd.DataFrame, here: Any) -> Relation:
    if len(asked.columns) > 1:
        raise asked.wrong(f"{' and '.join(asked.columns)} are several columns, and labels are one; use :values")
    column = own.iloc[:, 0]
    if int(column[here].value_counts().max()) < 2:
        raise asked.wrong(f"{asked.columns[0]} differs in every row, so no two rows are the same; use :values")
    # Numbers that are labels are names as well: 0.5 is one.
    return Relation.from_labels(column.astype(str).where(pd.Series(here, index=column.index), None))


def _values(asked: RelationOption, own: pd.DataFrame, kind: str | float) -> Relation:
    for name in own.columns:
        if not pd.api.types.is_numeric_dtype(own[name]):
            seen = own[name].dropna().iloc[0]
            raise asked.wrong(f"{name} holds {seen}, which is no number; use :labels")
    numbers = own.to_numpy(dtype=np.float64, na_value=np.nan)
    if np.isinf(numbers).any():
        raise asked.wrong("has infinite entries; make them finite, or leave them empty")
    period = None if kind == "values" else 360.0 if kind == "angle" else float(kind)
    return Relation.from_values(numbers, period=period)


def _in_words(kind: str | float) -> str:
    """Return a kind as people say it.

    Examples
    --------
    >>> [_in_words(kind) for kind in ("labels", "angle", 24.0)]
    ['labels', 'angles', 'values of period 24']
    """
    if isinstance(kind, float):
        return f"values of period {kind:g}"
    return {"angle": "angles"}.get(kind, kind)


def tell_axes(talk: Output, model: FittedModel, latent: Sequence[str]) -> None:
    """Say of each axis which relation it belongs to and how much of the relation it is."""
    owners = axis_names_of(model)
    if not any(owners):
        return
    shares: Mapping[str, Any] = dict(zip(model.relation_names_, model.relation_shares_, strict=True))
    talk.answer["axes"] = []
    for k, (name, owner) in enumerate(zip(latent, owners, strict=True)):
        share = float(shares[owner][k]) if owner else None
        talk.answer["axes"].append({"axis": name, "relation": owner or None, "share": share})
        if owner:
            talk.say(f"  {name}: {owner} has {100 * float(shares[owner][k]):.0f} % of its weight there")
