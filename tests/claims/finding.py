"""Sentences of the pages that say what the library does not do: found by their words."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")), *sorted((DOCS / "methods").glob("*.md")))
WORDS = re.compile(
    r"\brefus(?:e|es|ed)\b"
    r"|\bcannot\b"
    r"|\bnot (?:accepted|supported|built|available|implemented|saved|offered|taken|possible|allowed|kept)\b"
    r"|\bnot yet\b"
    r"|\bno way\b"
    r"|\bis an error\b"
    r"|\bnever\b"
    r"|\bthere (?:is|are) no\b"
    r"|\b(?:has|have) no\b"
    r"|\bdo(?:es)? not (?:accept|support|offer|exist|have|take)\b"
    r"|\bwhich GPU\b|^(?:[*-] )?No [a-zA-Z]"
    r"|\bsolver only\b|` only\b|\bonly `",
    re.IGNORECASE,
)
SENTENCE_END = re.compile(r"(?<=[.!?]) (?=[A-Z`\[*(])")


def sentences(text: str) -> list[str]:
    """Sentences of a Markdown page on one line each, without blocks of code; a row of a table is one sentence."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    blocks = re.split(r"\n\s*\n|\n(?=[*#|:-])", text)
    return [one for block in blocks for one in SENTENCE_END.split(" ".join(block.split())) if one]


def claims(page: Path) -> list[str]:
    """The sentences of a page that contain one of the words."""
    return [one for one in sentences(page.read_text(encoding="utf-8")) if WORDS.search(one)]
