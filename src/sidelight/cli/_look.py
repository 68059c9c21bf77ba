"""``sidelight look``: describe a file, the kind of each column, and what ``embed`` would do with it."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.messages import count_of, printable
from sidelight.tables._column_kinds import KINDS, ColumnUse, understand

from ._columns import suggestion
from ._matrix import Matrix
from ._output import CommandError, Output
from ._read import Reading, Table, open_data
from ._source import title_of
from ._sparse_rows import is_sparse

__all__ = ["look", "parse_kinds"]

_N_EXAMPLES = 3
_EXAMPLE_WIDTH = 24
_MOST_COLUMNS = 60
_FEW_VALUES = 20
_MOST_NAMES = 5


@dataclass(frozen=True)
class ColumnLine:
    """One column as ``look`` shows it: how it is used, example entries, and the option that changes it."""

    use: ColumnUse
    examples: tuple[str, ...]
    option: str

    @property
    def words(self) -> str:
        """Kind of the column, the reason, and the number of missing entries."""
        gaps = f"; {self.use.n_missing:,} missing" if self.use.n_missing and self.use.kind != "empty" else ""
        return f"{self.use.kind}: {self.use.reason}{gaps}"

    @property
    def record(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "name": self.use.name,
            "kind": self.use.kind,
            "reason": self.use.reason,
            "used": self.use.used,
            "missing": self.use.n_missing,
            "examples": list(self.examples),
            "option": self.option,
        }


def parse_kinds(pairs: Sequence[str]) -> dict[str, str]:
    """Read ``COLUMN=KIND`` pairs; the name of a column may hold ``=``.

    Examples
    --------
    >>> parse_kinds(["zip=category", "a=b=number"])
    {'zip': 'category', 'a=b': 'number'}
    """
    kinds = {}
    for pair in pairs:
        name, equals, kind = pair.rpartition("=")
        if not equals or not name:
            raise CommandError(f"--kind {pair}: write it as COLUMN=KIND, for example --kind zip=category")
        if kind not in KINDS:
            near = suggestion(kind, KINDS)
            raise CommandError(f"--kind {pair}: no such kind; choose from {', '.join(KINDS)}{near}")
        kinds[name] = kind
    return kinds


def look(talk: Output, path: Path, how: Reading, kinds: Mapping[str, str]) -> None:
    """Print the format of a file, the kinds of its columns, and what ``embed`` would do."""
    kind, found = open_data(path, replace(how, sparse=True))
    if isinstance(found, Matrix):
        _tell_matrix(talk, path, kind, found)
    else:
        _tell_table(talk, path, found, how, kinds)


def _tell_matrix(talk: Output, path: Path, kind: str, matrix: Matrix) -> None:
    n, d = matrix.X.shape
    gaps = 0 if is_sparse(matrix.X) else int((~np.isfinite(matrix.X)).sum())
    would = [f"embed would embed {count_of(n, 'row')} of {count_of(d, 'number')}, as they are."]
    would += [_missing_sentence(gaps, "")] if gaps else []
    beside = [
        f"{name} ({count_of(int(matrix.colours[name].nunique()), 'value')}) is not embedded: "
        f"it colours the map; --given {shlex.quote(name)} factors it out."
        for name in list(matrix.colours.columns)[:_MOST_NAMES]
    ]
    talk.answer |= {"file": title_of(path), "kind": kind, "rows": n, "columns": [], "n_columns": d}
    talk.answer |= {"colours": list(matrix.colours.columns), "remarks": matrix.remarks, "would": would}
    talk.say(f"{title_of(path)}: {kind}; {count_of(n, 'row')}, {count_of(d, 'column')}", style="bold")
    _tell_sentences(talk, matrix.remarks, [*would, *beside])


def _tell_table(talk: Output, path: Path, table: Table, how: Reading, kinds: Mapping[str, str]) -> None:
    frame = table.frame
    how.wishes.check(frame.columns, table.title)
    _check_names(kinds, list(frame.columns), table.title)
    taken = dict.fromkeys(how.wishes.drop, "drop")
    lines = [_line(use, frame[use.name], use.name in taken) for use in understand(frame, {**kinds, **taken})]
    would = _would(lines, frame)
    talk.answer |= {
        "file": title_of(path),
        "kind": table.kind,
        "rows": len(frame),
        "columns": [line.record for line in lines],
        "n_columns": len(lines),
        "remarks": list(table.remarks),
        "would": would,
    }
    shape = f"{count_of(len(frame), 'row')}, {count_of(len(lines), 'column')}"
    talk.say(f"{title_of(path)}: {table.kind}; {shape}", style="bold")
    _tell_sentences(talk, table.remarks, [])
    for used, title in ((True, "Embedded"), (False, "Left out")):
        _tell_lines(talk, title, [line for line in lines if line.use.used is used])
    _tell_sentences(talk, [], ["", *would])


def _tell_sentences(talk: Output, remarks: Sequence[str], would: Sequence[str]) -> None:
    for remark in remarks:
        talk.say(f"  {remark}")
    for sentence in would:
        talk.say(sentence)


def _tell_lines(talk: Output, title: str, lines: list[ColumnLine]) -> None:
    if not lines:
        return
    talk.say(f"\n{title}: {count_of(len(lines), 'column')}", style="bold")
    shown = [
        (printable(line.use.name), printable(line.words), "; ".join(line.examples), printable(line.option))
        for line in lines[:_MOST_COLUMNS]
    ]
    talk.table(("column", "understood as", "examples", "to change it"), shown, wrapped=(1, 2))
    if len(lines) > _MOST_COLUMNS:
        talk.say(f"... and {len(lines) - _MOST_COLUMNS:,} more; --json lists all")


def _check_names(kinds: Mapping[str, str], names: list[str], title: str) -> None:
    for name in kinds:
        if name not in names:
            raise CommandError(f"--kind {name}={kinds[name]}: {title} has no such column{suggestion(name, names)}")


def _line(use: ColumnUse, column: pd.Series[Any], dropped: bool) -> ColumnLine:
    different = column.dropna().drop_duplicates().head(_N_EXAMPLES)
    option = f"without --drop {shlex.quote(use.name)}" if dropped else _option(use, column)
    return ColumnLine(use, tuple(_shortened(entry) for entry in different), option)


def _shortened(entry: Any) -> str:
    """Return an entry in few letters."""
    if isinstance(entry, pd.Timestamp):
        return str(entry.date()) if entry == entry.normalize() else str(entry)
    text = f"{entry:.6g}" if isinstance(entry, float) else printable(" ".join(str(entry).split()))
    return text if len(text) <= _EXAMPLE_WIDTH else text[: _EXAMPLE_WIDTH - 3] + "..."


def _option(use: ColumnUse, column: pd.Series[Any]) -> str:
    """Return the option that a user most probably wants to use a column otherwise; "" if there is none."""
    if use.kind in ("empty", "constant"):
        return ""
    other = {"text": "category", "ordinal": "category", "date": "category", "angle": "number"}.get(use.kind)
    numeric = pd.api.types.is_numeric_dtype(column) or bool(use.number_format)
    if use.kind == "identifier":
        other = "number" if numeric else "category"
    elif use.kind == "number" and column.nunique() <= _FEW_VALUES < len(column):
        other = "category"
    if other is None:
        return f"--drop {shlex.quote(use.name)}"
    return f"--kind {shlex.quote(f'{use.name}={other}')}"


def _would(lines: list[ColumnLine], frame: pd.DataFrame) -> list[str]:
    """Return the sentences that say what ``embed`` would do with a table."""
    used = [line.use for line in lines if line.use.used]
    if not used:
        return ["embed would refuse: no column can be embedded; use --kind COLUMN=KIND to say what one is."]
    counts = Counter(use.kind for use in used)
    kinds = ", ".join(count_of(number, kind) for kind, number in counts.items())
    columns = f"{len(used):,} of {count_of(len(lines), 'column')}"
    sentences = [f"embed would embed {count_of(len(frame), 'row')} by {columns} ({kinds})."]
    gaps = [use for use in used if use.n_missing]
    if gaps:
        names = ", ".join(use.name for use in gaps[:_MOST_NAMES]) + (" ..." if len(gaps) > _MOST_NAMES else "")
        sentences.append(_missing_sentence(sum(use.n_missing for use in gaps), f" (in {names})"))
    name = _name_of_rows(lines, frame)
    return sentences if name is None else [*sentences, f"--label {shlex.quote(name)} would name the rows."]


def _missing_sentence(n: int, where: str) -> str:
    what, them = ("1 entry is", "it") if n == 1 else (f"{n:,} entries are", "them")
    return f"{what} missing{where}; --missing says what to do with {them}."


def _name_of_rows(lines: list[ColumnLine], frame: pd.DataFrame) -> str | None:
    """Return the identifier that differs in every row, words before numbers; None if there is none."""
    names = [line.use.name for line in lines if line.use.kind == "identifier" and frame[line.use.name].is_unique]
    words = [name for name in names if not pd.api.types.is_numeric_dtype(frame[name])]
    return next(iter([*words, *names]), None)
