"""Measured numbers that were typed into the pages by hand: ``python -m benchmarks.typed_numbers [PAGE ...]``.

A number is *typed* if no file has it: it is not in a line of ``docs/files/numbers.toml``, nor on a page or a part of a
page that a command writes (``<!-- Made by ... -->``, ``<!-- families ... -->``, ``<!-- totals -->``, ``<!-- table of
... -->``). *Measured* is what looks like it: numbers with a decimal point, whole numbers with a unit, and whole numbers
that fill a cell; not those in code, headings, first rows and columns of tables, versions, dates, ``h = 0.5``, nominal
levels (``95 % interval``), and numbers of equations, figures and sections. ``docs/files/typed_numbers.toml`` says how
many each page may have. With pages as arguments every number is listed with its line; ``--lower`` writes the counts
that have fallen.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.page_numbers import FILES, LINES, ROOT, places_on

__all__ = ["LIMITS", "Typed", "limits", "limits_text", "of_page", "pages", "typed_numbers"]

LIMITS = FILES / "typed_numbers.toml"
_OPENING = """\
# How many measured numbers of each page are typed, not taken from a file; a test fails where there are more.
# `python -m benchmarks.typed_numbers PAGE` lists them, `--lower` writes what has fallen. A new number of a page gets a
# line in numbers.toml; a setting that is no measurement is written as code (`0.5`), or the limit is raised by hand.

"""
WITHOUT_MEASUREMENTS = {"docs/published.md"}
"""Pages whose numbers are those of equations."""

_MADE = re.compile(
    r"<!-- families.*?<!-- end of families -->|<!-- totals -->.*?<!-- end of totals -->"
    r"|<!-- table of .*?<!-- end of table -->",
    re.S,
)
_CODE = r"^(?P<fence>```|:::).*?^(?P=fence)`*$|`[^`]+`"
_PACKAGES = r"Python|NumPy|SciPy|scikit-learn|[\w-]*[Ll]earn|openTSNE|plotly|datamapplot|embedding-atlas|scanpy|torch"
_LISTED = r"[\d.]+[a-z]?(?:(?:,| and| or| to)\s+[\d.]+[a-z]?)*"
_NOT_MEASURED = tuple(
    re.compile(pattern, re.S | re.M)
    for pattern in (
        _CODE,
        r"<!--.*?-->|<[^>\n]+>",
        r"^#.*?$|^\(?[\w-]+\)=$",
        r"\]\([^)]*\)|\[\d{4}\]",  # targets of links, decisions by number
        r"^\|[^\n]*\n(?=\|\s*:?-)",  # first row of a table
        r"^\|[^|\n]*\|",  # first column
        r"\b\d+ % (?:prediction |confidence )?intervals?\b",  # of a nominal level
        rf"\b(?:eqs?|figs?|[Ss]ections?|figures?|tables?|chapters?|versions?|S[0-4])\.?\s+\(?{_LISTED}",
        rf"\b(?:{_PACKAGES})\s+[\d.]+",
        r"\b\d+\.\d+\.\d+\b|\b\d{4}-\d\d-\d\d\b",
        r"\((?:\d\.\d+)\)",  # an equation by number
        r"(?<![\w²])[A-Za-zα-ωΑ-Ω]\s*[=<>≤≥]\s*-?[\d.,]*\d(?:e-?\d+)?",
    )
)
_UNITS = r"%|(?:m|k)?s|min|minutes|seconds|hours?|[MG]i?B|dB|°|times"
_MEASURED = re.compile(
    r"(?<![\w.,-])(?P<number>-?(?:\d[\d,]*)?\.\d+(?:e-?\d+)?)(?!\.?\d)"  # with a point
    rf"|(?<![\w.,-])(?P<whole>\d[\d,]*)(?=\s?(?:{_UNITS})(?![\w/]))"  # with a unit
    r"|\|\s*(?:\*\*)?(?P<cell>\d[\d,]*)(?:\*\*)?\s*(?=\|)",  # a cell
    re.M,
)


@dataclass(frozen=True)
class Typed:
    """A number without a file: its line on the page (from 1), the number and the line's text."""

    line: int
    number: str
    text: str


def pages() -> list[str]:
    """The pages that are counted, all but decisions."""
    folders = ("docs", "docs/methods", "docs/results")
    return [
        "README.md",
        *(f"{folder}/{page.name}" for folder in folders for page in sorted((ROOT / folder).glob("*.md"))),
    ]


def typed_numbers(text: str, lines: Iterable[str] = ()) -> list[Typed]:
    """The measured numbers of a page that are neither in its lines of ``numbers.toml`` nor written by a command."""
    if text.startswith("<!-- Made by"):
        return []
    blank = list(text)
    for start, end in [*(found.span() for found in _MADE.finditer(text)), *places_on(text, list(lines))]:
        _erase(blank, start, end)
    for pattern in _NOT_MEASURED:
        for found in pattern.finditer("".join(blank)):
            _erase(blank, *found.span())
    shown = text.splitlines()
    left = "".join(blank)
    spans = [found.span(found.lastgroup or 0) for found in _found(left)]
    rows = [left.count("\n", 0, start) for start, _ in spans]
    return [Typed(row + 1, left[slice(*span)], shown[row]) for row, span in zip(rows, spans, strict=True)]


def of_page(page: str) -> list[Typed]:
    """The typed numbers of a page by its path."""
    if page in WITHOUT_MEASUREMENTS:
        return []
    return typed_numbers((ROOT / page).read_text(encoding="utf-8"), LINES.get(page, ()))


def limits() -> Mapping[str, int]:
    """How many typed numbers each page may have; a page that is not named, none."""
    return tomllib.loads(LIMITS.read_text(encoding="utf-8")) if LIMITS.exists() else {}


def limits_text(counts: Mapping[str, int]) -> str:
    """The file of the limits."""
    return _OPENING + "".join(f'"{page}" = {count}\n' for page, count in counts.items() if count)


def _found(text: str) -> list[re.Match[str]]:
    """Cells share their bars with the next, so the search goes on from the end of the number."""
    found, start = [], 0
    while match := _MEASURED.search(text, start):
        found.append(match)
        start = match.end(match.lastgroup or 0)
    return found


def _erase(letters: list[str], start: int, end: int) -> None:
    """Put a mark for every letter, but keep line breaks and the bars of tables."""
    letters[start:end] = [letter if letter in "\n|" else "\0" for letter in letters[start:end]]


def main(arguments: list[str]) -> int:
    """List the numbers of some pages, or the counts of all."""
    for page in (one for one in arguments if not one.startswith("-")):
        for one in of_page(Path(page).as_posix()):
            print(f"{page}:{one.line}: {one.number}  in  {one.text.strip()[:110]}")
    if arguments and arguments != ["--lower"]:
        return 0
    counts = {page: len(of_page(page)) for page in pages()}
    allowed = limits()
    for page, count in counts.items():
        if count or allowed.get(page):
            print(f"{count:5d} (at most {allowed.get(page, 0)})  {page}")
    print(f"{sum(counts.values()):5d} typed numbers")
    if arguments:
        lowered = {page: min(count, allowed.get(page, count)) for page, count in counts.items()}
        LIMITS.write_text(limits_text(lowered), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
