"""Write the numbers of the pages from the files that runs left: ``python -m benchmarks.page_numbers`` (``--check``).

``docs/files/numbers.toml`` has lines of the pages with the numbers as ``{SOURCE/NAME|FORMAT}``: the source is
``large_maps``, ``cells``, ``families``, ``library``, ``explore``, ``refit`` or the name of a reproduction, the format
one of Python's, after ``%`` of the hundredfold, ``s`` without a leading zero. A page says a line if its words are
there and the numbers are those of the files; other numbers in their place are replaced.
"""

from __future__ import annotations

import json
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.cell_page import means_table
from benchmarks.cell_sets import REPORTING
from benchmarks.family_numbers import is_fresh, is_time

__all__ = ["LINES", "as_said", "page_of", "pages", "value_of"]

ROOT = Path(__file__).parents[1]
FILES = ROOT / "docs" / "files"
LINES: Mapping[str, list[str]] = tomllib.loads((FILES / "numbers.toml").read_text(encoding="utf-8"))
"""Lines by page."""
_PLACE = re.compile(r"\{([^/{}]+)/([^{}|]+)\|([^{}]*)\}")
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
    """``METHOD`` is the mean over the sets, ``METHOD @ SET`` one of them; each the mean over row orders."""
    method, _, data = name.partition(" @ ")
    totals = _file(FILES / "cells.json")["totals"]
    orders = [totals[data][method]] if data else [found[method] for found in totals.values()]
    return float(np.mean([np.mean([one["Total"] for one in found.values()]) for found in orders]))


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


def _benchmark(name: str, what: str) -> float:
    """A number of ``docs/files/NAME.json``, a copy of what ``python -m benchmarks NAME`` wrote, by what it is."""
    (found,) = [one["ours"] for one in _file(FILES / f"{name}.json")["checks"] if one["what"] == what]
    return float(found)


def _reproduction(source: str, name: str) -> float:
    """A number of ``reproductions/results/SOURCE.json`` by what it is."""
    rows = _file(ROOT / "reproductions" / "results" / f"{source}.json")["comparisons"]
    (found,) = {row["ours"] for row in rows if row["what"] == name}
    return float(found)


_SOURCES: Mapping[str, Callable[[str], float]] = {
    "large_maps": _large_maps, "cells": _cells, "families": _families, "library": _library,
    **{name: partial(_benchmark, name) for name in ("explore", "refit")},
}  # fmt: skip


def value_of(source: str, name: str) -> float:
    """The number that a file has under this name; KeyError or ValueError where it has none."""
    return _SOURCES[source](name) if source in _SOURCES else _reproduction(source, name)


def as_said(value: float, form: str) -> str:
    """The number as the page writes it."""
    if form.startswith("%"):
        return format(100 * value, form[1:])
    return format(value, form[1:]).removeprefix("0") if form.startswith("s") else format(value, form)


def _pattern(line: str) -> re.Pattern[str]:
    """What a page has for a line, whatever the numbers are (a group each) and wherever lines break."""
    pieces = re.sub(r"\s+", " ", _PLACE.sub("\0", line)).split("\0")
    return re.compile(_NUMBER.join(re.escape(piece).replace(r"\ ", r"\s+") for piece in pieces))


def page_of(text: str, lines: list[str]) -> str:
    """The page with the numbers of the files; ValueError if it does not have the words of a line exactly once."""
    for line in lines:
        found = list(_pattern(line).finditer(text))
        if len(found) != 1:
            raise ValueError(f"numbers.toml: the page has {len(found)} places with the words of {line!r}")
        places = _PLACE.findall(line)
        for k in range(len(places), 0, -1):  # from the end, so that the spans before stay
            start, end = found[0].span(k)
            source, name, form = places[k - 1]
            text = text[:start] + as_said(value_of(source, name), form) + text[end:]
    return text


def pages() -> dict[Path, str]:
    """What each page with numbers of files should be."""
    made = {ROOT / name: page_of((ROOT / name).read_text(encoding="utf-8"), lines) for name, lines in LINES.items()}
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
