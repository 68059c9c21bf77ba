"""Typed numbers of the pages, those that no file has, get fewer and never more."""

import re
from pathlib import Path

import pytest

from benchmarks import typed_numbers as module
from benchmarks.page_numbers import LINES
from benchmarks.typed_numbers import LIMITS, limits, limits_text, of_page, pages, typed_numbers

ROOT = Path(__file__).parents[2]


def numbers(text, lines=()):
    return [one.number for one in typed_numbers(text, lines)]


@pytest.mark.parametrize("page", pages())
def test_a_page_has_no_more_typed_numbers_than_it_had(page):
    count, most = len(of_page(page)), limits().get(page, 0)
    assert count <= most, (
        f"{page} has {count} typed numbers, at most {most} are allowed: give the new ones a line in "
        f"docs/files/numbers.toml (python -m benchmarks.typed_numbers {page} lists all)"
    )


def test_limits_that_could_be_lower_are_lowered():
    counts = {page: len(of_page(page)) for page in pages()}
    spare = {page: (most, counts.get(page, 0)) for page, most in limits().items() if counts.get(page, 0) < most}
    assert not spare, "run python -m benchmarks.typed_numbers --lower"


def test_the_file_of_limits_is_what_the_command_writes():
    assert LIMITS.read_text(encoding="utf-8") == limits_text(limits())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It keeps 0.93 of the rows, or .5, in 12 s and 1,200 MB, 8 %.", ["0.93", ".5", "12", "1,200", "8"]),
        ("a loss of -0.2, 1.5e-3 at most; 3.5x", ["-0.2", "1.5e-3", "3.5"]),
        ("20 rows of 3 sets, seed 7", []),
        ("`alpha=0.5` and `0.25`\n```\n0.75\n```\nbut 0.1", ["0.1"]),
        ("## 0.5 of it\n\n[0.5 s](../a_0.25.md#b0.3)", ["0.5"]),
        ("Python 3.11, scikit-learn 1.3.2, version 2.0, 2026-11-18", []),
        ("eq. 3.20, sections 3.1 and 3.2, figs. 3.5, 3.6, formula (2.5), S4 4.6", []),
        ("with h = 0.5 and λ ≤ 0.01, R² = 0.9", ["0.9"]),
        ("| set | 0.1 |\n|---|---|\n| 0.2 | 0.3 |\n| a | 4 | 5 | six | **7** |", ["0.3", "4", "5", "7"]),
        ("<!-- Made by `x`. -->\n0.5", []),
        ("0.4 <!-- table of x: error, .2f, most -->\n| a | 0.5 |\n<!-- end of table --> 0.6", ["0.4", "0.6"]),
        ("a 90 % prediction interval and 95 % intervals hold 91 % of the rows", ["91"]),
        ("0.4 <!-- families: made by x -->\n0.5\n<!-- end of families --> 0.6", ["0.4", "0.6"]),
    ],
)
def test_what_is_taken_for_a_measured_number(text, expected):
    assert numbers(text) == expected


def test_a_number_of_a_line_is_not_typed():
    text = "fast: a million\nrows in 256 s, 0.5 GB"
    assert numbers(text) == ["256", "0.5"]
    assert numbers(text, ["a million rows in {large_maps/growth.1000000.seconds|.0f} s"]) == ["0.5"]


def test_a_typed_number_is_listed_with_its_line():
    (one,) = typed_numbers("first\n\n| a | 0.5 |\n")
    assert (one.line, one.number, one.text) == (3, "0.5", "| a | 0.5 |")


def test_a_number_that_is_typed_into_a_page_raises_its_count():
    page = "docs/methods/joint_information_embedding.md"
    text = (ROOT / page).read_text(encoding="utf-8")
    before = len(typed_numbers(text, LINES[page]))
    assert len(typed_numbers(text + "\nIt keeps 0.93 of the rows.\n", LINES[page])) == before + 1


def test_limits_only_fall(monkeypatch, tmp_path):
    found = {"docs/more.md": 5, "docs/fewer.md": 2, "docs/none.md": 0}
    monkeypatch.setattr(module, "LIMITS", tmp_path / "limits.toml")
    monkeypatch.setattr(module, "pages", lambda: list(found))
    monkeypatch.setattr(module, "of_page", lambda page: [None] * found[page])
    (tmp_path / "limits.toml").write_text('"docs/more.md" = 3\n"docs/fewer.md" = 900\n"docs/none.md" = 1\n')
    assert module.main(["--lower"]) == 0
    assert limits() == {"docs/more.md": 3, "docs/fewer.md": 2}
    assert re.match("# How many", (tmp_path / "limits.toml").read_text())
