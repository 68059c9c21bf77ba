"""The command ``explain``: axes of a map, or selections of rows, as a tidy table, in sentences and with intervals."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities, feature_names_of
from sidelight.base.cost import Cost
from sidelight.base.messages import count_of
from sidelight.explain import axes, difference, groups, in_words, reliability
from sidelight.explain._compared import RATE, Compared, compared, compared_in_words
from sidelight.explain._cost import expected_seconds

from ._column_means import Means, Sides, columns_of_code
from ._cost import cost_in_words
from ._matrix import Matrix, Scaling
from ._model_file import ModelFile
from ._output import CommandError, Output, refuse_options
from ._read import Reading
from ._selected_rows import columns_asked, numbered_rows, selected_rows
from ._sparse_rows import has_gaps
from ._write import check_format, check_free, write_frame

__all__ = ["Question", "explain"]

_MOST_WORDS = 12  # sentences that are printed
_MOST_GROUPS, _LISTED = 12, 5  # groups, and features of each, that are printed
_TOLERANCE = 1e-4
_ROWS = 2000  # rows that explain.axes looks at

Rows = NDArray[Any]


@dataclass(frozen=True)
class Question:
    """What is to be explained: axes (in regions), groups of a column, a selection, or two rows."""

    by: str | None = None
    regions: int = 0
    rows: tuple[int, int] | None = None
    select: str | None = None
    against: str | None = None
    reliability: bool = False
    bootstrap: int = 0

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if self.against is not None and self.select is None:
            raise CommandError(f"--against {self.against}: is compared with a selection; add --select")
        if self.bootstrap and not self.reliability:
            raise CommandError(f"--bootstrap {self.bootstrap}: is about the reliability of rows; add --reliability")
        others = {"--by": self.by, "--select": self.select, "--rows": self.rows, "--regions": self.regions}
        others["--reliability"] = self.reliability
        for option, asked in others.items():
            rest = {name: value for name, value in others.items() if name != option}
            if asked:
                refuse_options(rest, f"cannot be used together with {option}")

    @property
    def columns(self) -> list[str]:
        """Columns of the data that it is about."""
        asked = [] if self.by is None else [self.by]
        for option, text in (("--select", self.select), ("--against", self.against)):
            asked += [] if text is None else columns_asked(option, text)
        return list(dict.fromkeys(asked))


def explain(
    talk: Output,
    model: Path,
    data: Path,
    out: Path | None,
    how: Reading,
    question: Question,
    *,
    missing: str,
    force: bool,
) -> None:
    """Say, and write, what axes stand for, or which columns put selections of rows where they are."""
    question.check()
    if out is not None:
        check_format(out)
        check_free([out], force=force)
    file = ModelFile.open(model)
    asked = replace(how.wishes, given_if_there=[column.name for column in file.given])
    try:
        matrix, X = file.read(data, replace(how, wishes=asked, expected=file.names), missing)
    except CommandError as error:  # columns are asked for as colours, and the user wrote another option
        option = "--by" if question.by is not None else "--select"
        raise CommandError(re.sub(r"^--colour ", f"{option} ", str(error))) from error
    if file.given and not matrix.side:
        raise CommandError(f"{data} does not say {', '.join(c.name for c in file.given)}, which the model was given")
    _say_given(talk, file, question, data)
    _say_embedded(talk, file, question)
    if question.reliability:
        _reliability(talk, file, matrix, X, out, question.bootstrap)
        return
    table, sides = _explained(_Asked(talk, file, matrix, file.filled(X)), question, data)
    table = _in_columns_of_data(table, file)
    said = in_words(table)
    talk.answer |= {"out": out, "records": len(table), "words": said, "remarks": matrix.remarks}
    if "share" in table.columns:
        _say_some(talk, said, _MOST_WORDS, "sentences")
    else:
        shown = None if matrix.table is None else columns_of_code(matrix.table)
        if shown and matrix.side:  # after the effect of what was given, the code of a table has no units
            talk.say("The values shown are those of the data, before that.")
        _say_compared(talk, table, question, Means(shown, sides))
    if out is not None:
        write_frame(table, out, table.select_dtypes("number").to_numpy())
    wrote = f"{count_of(len(table), 'record')}; wrote {out}. " if out is not None else ""
    talk.say(f"{wrote}This is what the map uses, not what causes what.")


def _say_given(talk: Output, file: ModelFile, question: Question, data: Path) -> None:
    """Say that what was given is not explained, because the rows are compared after its effect."""
    if not file.given:
        return
    names = [column.name for column in file.given]
    talk.answer["given"] = names
    listed = ", ".join(names)
    talk.say(f"given: {listed}, read from {data.name}; rows are compared after subtracting its effect")
    if question.by in names:
        talk.say(f"--by {question.by}: the model factored this column out, so its groups should not differ on the map")


def _say_embedded(talk: Output, file: ModelFile, question: Question) -> None:
    """Say that groups of a column of the map differ in this column."""
    names = file.names if file.encoder is None else file.encoder.feature_names_in_
    if question.by is not None and names is not None and question.by in names:
        talk.say(f"--by {question.by}: the map was made with this column, so its groups differ in it")


def _reliability(talk: Output, file: ModelFile, matrix: Matrix, X: Any, out: Path | None, bootstrap: int) -> None:
    """Say, and write, how far each row can be believed."""
    if bootstrap and has_gaps(X):
        talk.say("Missing entries are filled for the maps of halves.")
    table = reliability(
        file.model, file.filled(X), given=matrix.side.get("given"), bootstrap=bootstrap, output="pandas"
    )
    values = table["reliability"].to_numpy()
    table["row"] = matrix.rows
    if matrix.row_names is not None:
        table.insert(0, str(matrix.row_names.name or "name"), matrix.row_names.to_numpy())
    said = in_words(table)
    parts = {name: float(table[name].median()) for name in table.columns[table.columns.get_loc("reliability") + 1 :]}
    talk.answer |= {"out": out, "records": len(table), "words": said, "remarks": matrix.remarks, "medians": parts}
    talk.answer["believed"] = float(np.nanmean(values))
    for sentence in said:
        talk.say(sentence)
    talk.say(f"Median row: {', '.join(f'{name} {value:.2f}' for name, value in parts.items())}")
    lowest = table.sort_values("reliability", kind="stable").head(_LISTED)
    named = ", ".join(f"{row} ({value:.2f})" for row, value in zip(lowest["row"], lowest["reliability"], strict=True))
    talk.say(f"Least reliable rows: {named}")
    if out is not None:
        write_frame(table, out, table.select_dtypes("number").to_numpy())
        talk.say(f"{count_of(len(table), 'row')}; wrote {out}")


@dataclass(frozen=True)
class _Asked:
    """The rows of one call, as the model takes them and as the file has them."""

    talk: Output
    file: ModelFile
    matrix: Matrix
    rows: Any

    def options(self) -> dict[str, Any]:
        return {"given": self.matrix.side.get("given"), "output": "pandas"}

    def say_cost(self, *, rows: int, lines: int = 0) -> None:
        """Say how long it will take, where that is long."""
        model = self.file.model
        n = len(model.embedding_) if capabilities(model).has_embedding else self.matrix.n_rows
        seconds = expected_seconds(n, model.n_features_in_, rows=rows, lines=lines, tolerance=_TOLERANCE)
        self.talk.answer["cost"] = {"seconds": seconds}
        if seconds > 2.0:
            self.talk.say(f"  Cost: {cost_in_words(Cost(0, seconds)).partition(',')[0]}.")


def _explained(asked: _Asked, question: Question, data: Path) -> tuple[pd.DataFrame, Sides]:
    """The table that answers the question, and the rows that it compares."""
    if question.by is not None:
        return _groups(asked, question.by, data)
    if question.rows is not None:
        first, second = numbered_rows("--rows", question.rows, asked.matrix)
        options = asked.options() | {"tolerance": _TOLERANCE}
        found = difference(asked.file.model, asked.rows, int(first), int(second), **options)
        return found, {"": (np.array([first]), np.array([second]))}
    if question.select is not None:
        return _selection(asked, question, question.select)
    asked.say_cost(rows=min(asked.matrix.n_rows, _ROWS))
    return axes(asked.file.model, asked.rows, regions=question.regions, **asked.options()), {}


def _groups(asked: _Asked, by: str, data: Path) -> tuple[pd.DataFrame, Sides]:
    labels = _labels(asked.matrix, by, data)
    known = ~pd.isna(labels)
    texts = np.array([str(label) for label in labels], dtype=object)
    names = list(dict.fromkeys(texts[known]))
    asked.say_cost(rows=asked.matrix.n_rows, lines=len(names))
    found = groups(asked.file.model, asked.rows, labels, tolerance=_TOLERANCE, **asked.options())
    of = {name: known & (texts == name) for name in names}
    return found, {name: (np.flatnonzero(own), np.flatnonzero(known & ~own)) for name, own in of.items()}


def _selection(asked: _Asked, question: Question, select: str) -> tuple[pd.DataFrame, Sides]:
    matrix, columns = asked.matrix, asked.file.columns
    own = selected_rows("--select", select, matrix, columns)
    if question.against is None:
        other = np.setdiff1d(np.arange(matrix.n_rows), own)
        if not len(other):
            raise CommandError(f"--select {select!r}: selects all rows, and leaves none to compare with; select fewer")
    else:
        other = selected_rows("--against", question.against, matrix, columns)
        _check_apart(own, other, question)
    asked.say_cost(rows=len(own) + len(other), lines=1)
    rest = "" if question.against is not None else "the other "
    asked.talk.say(f"{count_of(len(own), 'row')} selected, compared with {rest}{len(other):,}")
    options = asked.options() | {"tolerance": _TOLERANCE}
    return difference(asked.file.model, asked.rows, own, other, **options), {"": (own, other)}


def _check_apart(own: Rows, other: Rows, question: Question) -> None:
    both = len(np.intersect1d(own, other))
    if both:
        rule = f"selects {both:,} rows that --select has, too; select rows that are in one of them only"
        raise CommandError(f"--against {question.against}: {rule}")


def _say_some(talk: Output, said: list[str], most: int, what: str) -> None:
    for sentence in said[:most]:
        talk.say(sentence)
    if len(said) > most:
        talk.say(f"... and {len(said) - most} more {what}")


def _say_compared(talk: Output, table: pd.DataFrame, question: Question, means: Means) -> None:
    """Each selection in a sentence and a small table, with intervals."""
    found = compared(table)
    single = question.rows is not None
    talk.answer["compared"] = [{"group": one.name, "words": compared_in_words(one)} for one in found if not single]
    for one in found[:_MOST_GROUPS]:
        if not single:
            said = compared_in_words(one)
            talk.say(f"{one.name}: {said}" if one.name else f"{said[0].upper()}{said[1:]}")
        talk.table(*_summary(one, question, means))
    if len(found) > _MOST_GROUPS:
        talk.say(f"... and {count_of(len(found) - _MOST_GROUPS, 'more group')}")


def _summary(one: Compared, question: Question, means: Means) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the small table of one selection."""
    surely = sorted(range(len(one.feature)), key=lambda k: one.fdr[k] > RATE)  # single rows have no rate: as they are
    shown = surely[:_LISTED]
    ends = [f"row {row}" for row in question.rows] if question.rows else ["here", "elsewhere"]
    head, rows = ["column"], [[str(one.feature[k])] for k in shown]
    if means.known:
        head += ends
        for k, row in zip(shown, rows, strict=True):
            row += means.of(one, k)
    if question.rows is None:
        head += ["apart in SD (95 %)", "FDR"]
        for k, row in zip(shown, rows, strict=True):
            row += [one.interval(k), "< 0.001" if one.fdr[k] < 0.001 else f"{one.fdr[k]:.3f}"]
    for k, row in zip(shown, rows, strict=True):
        row.append(f"{one.move[k]:.2f}")
    return [*head, "moves by"], rows


def _labels(matrix: Matrix, by: str, data: Path) -> Any:
    if by not in matrix.colours.columns:
        raise CommandError(f"{data} has no column {by} beside those that the model was fitted on")
    return matrix.colours[by].to_numpy(dtype=object)


def _in_columns_of_data(table: pd.DataFrame, file: ModelFile) -> pd.DataFrame:
    """The table with the names of the columns, and in their units where the command line has scaled them."""
    features = table["feature"].astype(str)
    if feature_names_of(file.model) is None:
        names = {str(number): name for number, name in enumerate(file.columns)}
        table = table.assign(feature=[names.get(feature, feature) for feature in features])
    if file.scaling is None:
        return table
    return _unscaled(table, file.scaling, {name: number for number, name in enumerate(file.columns)})


def _unscaled(table: pd.DataFrame, scaling: Scaling, at: dict[str, int]) -> pd.DataFrame:
    number = np.array([at.get(str(feature), -1) for feature in table["feature"]])
    scale = np.where(number >= 0, scaling.scale[number], 1.0)
    centre = np.where(number >= 0, scaling.center[number], 0.0)
    if "share" in table.columns:
        return table.assign(slope=table["slope"] * scale)
    moved = {name: table[name] * scale + centre for name in ("first", "second")}
    return table.assign(**moved, difference=table["difference"] * scale, slope=table["slope"] / scale)
