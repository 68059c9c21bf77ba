"""The table of formulas in docs/published.md names every test of this folder, and none that is gone."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "published.md"


def test_the_page_of_formulas_names_every_test_of_this_folder():
    files = [path.read_text(encoding="utf-8") for path in HERE.glob("test_s*.py")]
    there = {name for text in files for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    named = set(re.findall(r"`(test_\w+)`", PAGE.read_text(encoding="utf-8")))
    assert named == there, f"in docs/published.md, add {sorted(there - named)} and remove {sorted(named - there)}"
