"""The table of formulas in docs/published.md names every test of this folder, and none that is gone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "published.md"


def test_the_page_of_formulas_names_every_test_of_this_folder():
    files = [path.read_text(encoding="utf-8") for path in HERE.glob("test_s*.py")]
    there = {name for text in files for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named == there, f"in docs/published.md, add {sorted(there - named)} and remove {sorted(named - there)}"


LAST = {
    "S0 chapter 2": [(2, 27)],
    "S0 chapter 3": [(3, 25)],
    "S0 chapter 4": [(4, 8)],
    "S0 chapters 5 and 6": [(5, 18), (6, 4)],
    "S1": [(0, 12)],
    "S2": [(0, 33)],
    "S4 chapters 1 and 2": [(1, 9), (2, 5)],
    "S4 chapter 3": [(3, 1)],
    "S4 chapter 4": [(4, 6)],
}
"""The last equation number of each chapter of the sources (0: numbers without a chapter)."""


def numbers(cell):
    """Equations (chapter, number) of a first column such as "3.2, 3.7 to 3.10"."""
    found = set()
    for part in re.split(r",\s*", cell):
        if re.fullmatch(r"[\d.]+(?: to [\d.]+)?", part):
            ends = [end if "." in end else f"0.{end}" for end in part.split(" to ")]
            (chapter, first), (_, last) = (tuple(map(int, ends[k].split("."))) for k in (0, -1))
            found |= {(chapter, number) for number in range(first, last + 1)}
    return found


@pytest.mark.parametrize("chapter", LAST)
def test_the_page_has_every_numbered_equation_of_a_chapter(chapter):
    section = re.split(r"\n## ", PAGE.read_text(encoding="utf-8").split(f"\n## {chapter}:")[1])[0]
    cells = [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("| ")]
    there = set().union(*map(numbers, cells))
    wanted = {(first, k) for first, last in LAST[chapter] for k in range(1, last + 1)}
    assert not sorted(wanted - there)
