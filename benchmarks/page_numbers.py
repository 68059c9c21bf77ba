"""Write the numbers of the pages from the files that runs left: ``python -m benchmarks.page_numbers`` (``--check``).

``docs/files/numbers.toml`` has lines of the pages with the numbers as ``{SOURCE/NAME|FORMAT}``: the source is
``large_maps``, ``cells``, ``families``, ``library``, ``history`` (its newest commit), a benchmark with a file in
``docs/files``, a module of the table of families (``family_metrics``), ``published`` (numbers that others reported) or
the name of a reproduction; the format one of Python's, after ``%`` of the hundredfold, after ``m`` of the thousandfold,
``s`` without a leading zero. A page says a line if its words are there and the numbers are those of the files; other
numbers in their place are replaced. Whole tables stand between marks (`benchmarks.page_tables`).
`benchmarks.typed_numbers` counts the numbers that no line has.
"""

from __future__ import annotations

import json
import operator
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cell_page import means_table
from benchmarks.cell_sets import REPORTING
from benchmarks.family_numbers import is_fresh, is_time
from benchmarks.page_tables import tables_on, with_tables

__all__ = ["FILES", "LINES", "ROOT", "as_said", "page_of", "pages", "places_on", "value_of"]

ROOT = Path(__file__).parents[1]
FILES = ROOT / "docs" / "files"
LINES: Mapping[str, list[str]] = tomllib.loads((FILES / "numbers.toml").read_text(encoding="utf-8"))
"""Lines by page."""
_PLACE = re.compile(r"\{([^/{}]+)/([^{}]+)\|([^{}|]*)\}")
_NUMBER = r"(-?[\d.,]*\d)"
_TOTALS = re.compile(r"(<!-- totals -->\n\n).*?(\n\n<!-- end of totals -->)", re.DOTALL)


@cache
def _file(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _large_maps(name: str) -> float:
    """``mnist.UMAP.seconds``, ``growth.1000000.seconds``; ``mnist.UMAP-PaCMAP.seconds`` is a difference."""
    run, which, what = name.split(".")
    kept = _file(FILES / "large_maps.json")[run]["methods" if run == "mnist" else "rows"]
    first, *others = (float(kept[one][what]) for one in which.split("-"))
    return first - sum(others)


def _cells(name: str) -> float:
    """Totals, seconds and removals of the sets for reporting.

    ``METHOD`` is the mean total over the sets, ``METHOD @ SET`` one of them; each the mean over row orders. ``METHOD;
    WHAT`` is the smallest or largest number of seconds (``least seconds``, ``most seconds``), and of removals the worst
    purity over Harmony's (``purity``), the range of mixing (``least mixing``, ``most mixing``), the number of removals
    (``removals``) and of those at least as pure as 0.97 of Harmony's (``kept``) or mixed 0.9 to 1.02 (``mixed``).
    """
    kept, (method, _, what) = _file(FILES / "cells.json"), name.partition("; ")
    if what:
        return _of_cells(kept, method, what)
    method, _, data = name.partition(" @ ")
    orders = [kept["totals"][one][method] for one in ([data] if data else REPORTING)]
    return float(np.mean([np.mean([one["Total"] for one in found.values()]) for found in orders]))


def _of_cells(kept: Any, method: str, what: str) -> float:
    """Seconds of a method, or what removals say of it."""
    if what in ("least seconds", "most seconds"):
        seconds = [one["seconds"] for data in REPORTING for one in kept["totals"][data][method].values()]
        return min(one for one in seconds if one) if what.startswith("least") else max(seconds)
    found = [one for data in REPORTING for one in kept["removals"][data].values()]
    ratios = [min(p for p, _ in one[method]) / np.mean([p for p, _ in one["harmony"]]) for one in found]
    mixing = [[m for _, m in one[method]] for one in found]
    values: dict[str, float] = {
        "purity": min(ratios), "least mixing": min(map(min, mixing)), "most mixing": max(map(max, mixing)),
        "removals": len(found), "kept": sum(ratio >= 0.97 for ratio in ratios),
        "mixed": sum(min(one) >= 0.9 and max(one) <= 1.02 for one in mixing),
    }  # fmt: skip
    return float(values[what])


def _families(name: str) -> float:
    """``FAMILY.loses`` and ``FAMILY.rows`` of quality, ``FAMILY.slower`` and ``FAMILY.timed`` of time."""
    module, what = name.split(".")
    (family,) = [one for one in _file(FILES / "families.json")["families"] if one["module"] == f"family_{module}"]
    of_time = what in ("slower", "timed")
    rows = [row for row in family["rows"] if is_fresh(row) and is_time(row) == of_time]
    return sum(row["verdict"] == "LOSES" for row in rows) if what in ("loses", "slower") else len(rows)


def _library(name: str) -> float:
    """``examples`` of the gallery, or ``tutorials``."""
    folder = {"examples": "gallery", "tutorials": "tutorials"}[name]
    return len(list((ROOT / "examples" / folder).rglob("plot_*.py")))


def _checks(name: str) -> list[dict[str, Any]]:
    """The checks of ``docs/files/NAME.json``; of ``history`` those of its newest commit."""
    if name == "history":
        newest = max((FILES / "history").glob("*.json"))  # their names begin with the date
        return list(_file(newest)["numbers"])
    return list(_file(FILES / f"{name}.json")["checks"])


def _benchmark(name: str, what: str) -> float:
    """A number of ``docs/files/NAME.json``, which ``python -m benchmarks NAME --keep`` wrote, by what it is.

    ``WHAT`` is ours, ``WHAT @ RIVAL`` that of a rival by its name, ``WHAT @ ratio`` (``@ ratio to RIVAL``) the ratio.
    """
    checks = _checks(name)
    if found := {one["ours"] for one in checks if one["what"] == what}:
        (value,) = found
        return float(value)
    what, _, which = what.rpartition(" @ ")
    rival = which.removeprefix("ratio").removeprefix(" to ")
    key = "ratio" if which.startswith("ratio") else "rival"
    (value,) = {one[key] for one in checks if one["what"] == what and rival in ("", one["rival_name"])}
    return float(value)


def _published(name: str) -> float:
    """A number that others reported, by its name in ``docs/files/published.toml``, which says where."""
    return float(tomllib.loads((FILES / "published.toml").read_text(encoding="utf-8"))[name]["value"])


def _family(module: str, name: str) -> float:
    """``TASK; DATA; MEASURE`` of the table of families is ours, with `` @ RIVAL`` behind it that of a rival.

    With ``*`` in the name it is the mean over all rows that match.
    """
    (rows,) = [one["rows"] for one in _file(FILES / "families.json")["families"] if one["module"] == module]
    what, _, rival = name.partition(" @ ")
    found = [row for row in rows if fnmatchcase(f"{row['task']}; {row['data']}; {row['measure']}", what)]
    if not found or (len(found) > 1 and "*" not in what):
        raise ValueError(f"{module} has {len(found)} rows of {what!r}")
    return float(np.mean([row["rivals"][rival] if rival else row["ours"] for row in found]))


def _reproduction(source: str, name: str) -> float:
    """A number of ``reproductions/results/SOURCE.json`` by what it is.

    ``WHAT @ RIVAL`` is that of the bar that names a rival, ``≤ RIVAL (0.5)``; ``WHAT @ bar`` that of the only bar.
    """
    rows = _file(ROOT / "reproductions" / "results" / f"{source}.json")["comparisons"]
    what, _, rival = name.partition(" @ ")
    rows = [row for row in rows if row["what"] == what]
    if not rival:
        (found,) = {row["ours"] for row in rows}
        return float(found)
    (bar,) = {row["bar"] for row in rows if rival == "bar" or f" {rival} (" in row["bar"]}
    return float(re.findall(_NUMBER, bar)[-1])


_KEPT = ["history", *sorted(path.stem for path in FILES.glob("*.json") if "checks" in _file(path))]
_SOURCES: Mapping[str, Callable[[str], float]] = {
    "large_maps": _large_maps, "cells": _cells, "families": _families, "library": _library,
    "published": _published, **{name: partial(_benchmark, name) for name in _KEPT},
}  # fmt: skip


def value_of(source: str, name: str) -> float:
    """The number that a file has under this name; KeyError or ValueError where it has none.

    ``NAME − OTHER`` is a difference and ``NAME ÷ OTHER`` a ratio of two numbers of one source.
    """
    for sign, combine in ((" − ", operator.sub), (" ÷ ", operator.truediv)):
        if sign in name:
            return float(combine(*(value_of(source, one) for one in name.split(sign))))
    if source in _SOURCES:
        return _SOURCES[source](name)
    return _family(source, name) if source.startswith("family_") else _reproduction(source, name)


def as_said(value: float, form: str) -> str:
    """The number as the page writes it."""
    if form[0] in "%m":
        return format((100 if form[0] == "%" else 1000) * value, form[1:])
    return format(value, form[1:]).removeprefix("0") if form.startswith("s") else format(value, form)


def _pattern(line: str) -> re.Pattern[str]:
    """What a page has for a line, whatever the numbers are (a group each) and wherever lines break."""
    pieces = re.sub(r"\s+", " ", _PLACE.sub("\0", line)).split("\0")
    return re.compile(_NUMBER.join(re.escape(piece).replace(r"\ ", r"\s+") for piece in pieces))


def _found(line: str, text: str) -> re.Match[str]:
    """Where the page says a line."""
    found = list(_pattern(line).finditer(text))
    if len(found) != 1:
        raise ValueError(f"numbers.toml: the page has {len(found)} places with the words of {line!r}")
    return found[0]


def places_on(text: str, lines: list[str]) -> list[tuple[int, int]]:
    """From where to where the page has numbers of files."""
    return [_found(line, text).span(k + 1) for line in lines for k in range(len(_PLACE.findall(line)))]


def page_of(text: str, lines: list[str]) -> str:
    """The page with the numbers of the files; ValueError if it does not have the words of a line exactly once."""
    for line in lines:
        found, places = _found(line, text), _PLACE.findall(line)
        for k in range(len(places), 0, -1):  # from the end, so that the spans before stay
            start, end = found.span(k)
            source, name, form = places[k - 1]
            text = text[:start] + as_said(value_of(source, name), form) + text[end:]
    return text


def pages() -> dict[Path, str]:
    """What each page with numbers of files should be."""
    made = {ROOT / name: page_of((ROOT / name).read_text(encoding="utf-8"), lines) for name, lines in LINES.items()}
    for path in sorted((ROOT / "docs").glob("**/*.md")):
        text = made.get(path) or path.read_text(encoding="utf-8")
        if tables_on(text):
            made[path] = with_tables(text, _checks, as_said)
    cells = ROOT / "docs" / "anndata.md"
    text = made.get(cells) or cells.read_text(encoding="utf-8")
    table = means_table(_file(FILES / "cells.json")["totals"], REPORTING).strip()
    made[cells] = _TOTALS.sub(lambda found: f"{found[1]}{table}{found[2]}", text)
    return made


def main(arguments: list[str]) -> int:
    """Write the pages, or with ``--check`` return 1 if one has other numbers."""
    stale = [path for path, text in pages().items() if path.read_text(encoding="utf-8") != text]
    for path in stale:
        print(f"{path.relative_to(ROOT)}: has other numbers than the files")
        if "--check" not in arguments:
            path.write_text(pages()[path], encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
