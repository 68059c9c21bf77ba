"""Tables of the pages: our number and that of every rival, a row for each data set, from the checks of a benchmark.

A page has them between ``<!-- table of SOURCE: MEASURE, FORMAT, BEST -->`` and ``<!-- end of table -->``: the checks
``ROW: MEASURE`` of ``docs/files/SOURCE.json``; where MEASURE ends with ``*``, those that begin with it. FORMAT is that
of `benchmarks.page_numbers`; of BEST, ``least`` or ``most`` is bold in each row, with ``none`` nothing is.
``python -m benchmarks.page_numbers`` writes them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

__all__ = ["markdown_table", "rows_of_checks", "tables_on", "with_tables"]

_OURS = "Sidelight"
_TABLE = re.compile(
    r"(?P<begin><!-- table of (?P<source>\w+): (?P<measure>[^\n]+), (?P<form>[^\s,]+), (?P<best>least|most|none) -->\n)"
    r".*?(?P<end><!-- end of table -->)",
    re.DOTALL,
)
_BEST: Mapping[str, Callable[[Iterable[float]], float]] = {"least": min, "most": max}


def tables_on(text: str) -> list[str]:
    """The sources of the tables of a page."""
    return [found["source"] for found in _TABLE.finditer(text)]


def with_tables(text: str, checks_of: Callable[[str], list[dict[str, Any]]], say: Callable[[float, str], str]) -> str:
    """The page with its tables made anew."""

    def made(found: re.Match[str]) -> str:
        rows = rows_of_checks(checks_of(found["source"]), found["measure"])
        table = markdown_table(rows, lambda value: say(value, found["form"]), found["best"])
        return f"{found['begin']}\n{table}\n\n{found['end']}"

    return _TABLE.sub(made, text)


def rows_of_checks(checks: Iterable[Mapping[str, Any]], measure: str) -> dict[str, dict[str, float]]:
    """Row -> method -> number, in the order of the checks; ValueError where no check has the measure."""
    rows: dict[str, dict[str, float]] = {}
    for check in checks:
        row = _row_of(check["what"], measure)
        if row is None:
            continue
        rows.setdefault(row, {_OURS: check["ours"]})
        if check["rival_name"]:
            rows[row][check["rival_name"]] = check["rival"]
    if not rows:
        raise ValueError(f"no check is called {measure!r}")
    return rows


def _row_of(what: str, measure: str) -> str | None:
    """Name of the row of a check; None if it has another measure."""
    if measure.endswith("*"):
        begin = measure.removesuffix("*")
        return what.removeprefix(begin) if what.startswith(begin) else None
    end = f": {measure}"
    return what.removesuffix(end) if what.endswith(end) else None


def markdown_table(rows: Mapping[str, Mapping[str, float]], say: Callable[[float], str], best: str) -> str:
    """Rows by methods; an empty cell where a method has no number, the best as it is said in bold.

    Where every row has one rival, and not always the same, the rivals share a column that names them.
    """
    methods = list(dict.fromkeys(method for row in rows.values() for method in row))
    shared = len(methods) > 2 and all(len(row) == 2 for row in rows.values())
    heads = [_OURS, "rival"] if shared else methods
    lines = [f"| | {' | '.join(heads)} |", "|---" * (len(heads) + 1) + "|"]
    for name, row in rows.items():
        bold = say(_BEST[best](row.values())) if best in _BEST else ""
        said = {method: f"**{say(one)}**" if say(one) == bold else say(one) for method, one in row.items()}
        if shared:
            said = {
                head: one if method == _OURS else f"{one} ({method})"
                for head, (method, one) in zip(heads, said.items(), strict=True)
            }
        lines.append(f"| {name} | {' | '.join(said.get(head, '') for head in heads)} |")
    return "\n".join(lines)
