"""Claims of absence on the pages: each is shown by a test, or speaks of something else than the library."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.claims.finding import PAGES, ROOT, claims

REGISTRY = tomllib.loads((Path(__file__).parent / "claims.toml").read_text(encoding="utf-8"))
ABOUT = {"data", "heading", "here", "mathematics", "measured", "method", "rival", "source"}
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def names_of_tests():
    """Names of all test functions."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    return set(re.findall(r"^\s*def (test_\w+)", text, re.MULTILINE))


@pytest.mark.parametrize("page", NAMES)
def test_every_claim_of_absence_has_a_line_that_says_what_shows_it(page):
    known = REGISTRY.get(page, {})
    open_ones = [one for one in claims(ROOT / page) if not any(piece in one for piece in known)]
    assert not open_ones, f"add a line to tests/claims/claims.toml for {page}: {open_ones}"


@pytest.mark.parametrize("page", sorted(REGISTRY))
def test_every_line_belongs_to_a_sentence_that_is_there(page):
    found = claims(ROOT / page)
    gone = [piece for piece in REGISTRY[page] if not any(piece in one for one in found)]
    assert not gone, f"{page} no longer says {gone}: take the lines out of tests/claims/claims.toml"


def test_every_line_names_a_test_or_what_the_sentence_is_about():
    known = names_of_tests() | ABOUT
    wrong = {shown for lines in REGISTRY.values() for shown in lines.values()} - known
    assert not wrong, f"tests/claims/claims.toml names what does not exist: {sorted(wrong)}"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Rows are read.\n\nSparse rows are refused. They are dense.", 1),
        ("```\nit is refused\n```\n\nIt works.", 0),
        ("| a | is refused |\n| b | cannot be |", 2),
        ("No GPU. No clustering of maps.", 2),
    ],
)
def test_claims_are_found_in_prose_and_tables_and_not_in_code(text, count, tmp_path):
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    assert len(claims(tmp_path / "page.md")) == count
