"""The given columns of new rows: whether they are there, and categories that the fit did not see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from sidelight.base.messages import count_of

from ._columns import suggestion
from ._matrix import Matrix
from ._model_file import ModelFile
from ._output import CommandError, Output

__all__ = ["names_of_given", "refuse_unseen", "say_given"]

_LISTED = 8


def names_of_given(file: ModelFile) -> str:
    """The names of the given columns, as one text."""
    return ", ".join(column.name for column in file.given)


def say_given(talk: Output, file: ModelFile, *, there: bool, where: Path) -> None:
    """Print whether the data has the given columns of the model."""
    if not file.given:
        return
    talk.answer["given"] = [column.name for column in file.given] if there else []
    if there:
        talk.say(f"given: {names_of_given(file)}, read from {where.name}")
    else:
        talk.say(f"given: {where.name} has no column {names_of_given(file)}, so the result is averaged over it")


def refuse_unseen(file: ModelFile, matrix: Matrix, where: Path) -> None:
    """Raise an error for categories of given columns that the fit did not see, with what can be done on this side."""
    for column in file.given:
        if column.kind != "category" or column.name not in matrix.given.columns:
            continue
        entries = matrix.given[column.name]
        unseen = entries[entries.notna() & ~entries.isin(list(column.categories))]
        if len(unseen):
            raise CommandError(_unseen_words(where.name, column.name, unseen, [str(one) for one in column.categories]))


def _unseen_words(where: str, name: str, entries: pd.Series, known: Sequence[str]) -> str:
    """Which categories the fit did not see, in how many rows, which it knows, and three ways out."""
    first = str(entries.iloc[0])
    near = suggestion(first, known)
    verb, seen = "has" if len(entries) == 1 else "have", _listed(map(repr, map(str, entries.unique())))
    rows = f"{count_of(len(entries), 'row')} {verb} {name} = {seen}"
    rule = f"is not among the categories of {name!r} that the fit saw ({_listed(known)})"
    ways = f"correct it, leave it empty to average over {name}, or add it to the model with sidelight adapt"
    return f"{where}: {rows}, which {rule}{near}; {ways}"


def _listed(values: Iterable[object]) -> str:
    texts = [str(value) for value in values]
    return ", ".join(texts[:_LISTED]) + (f" and {len(texts) - _LISTED} more" if len(texts) > _LISTED else "")
