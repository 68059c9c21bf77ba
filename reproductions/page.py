"""The results page of the docs, made from the JSON files alone."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "results.md"

_OPENING = """\
<!-- Made by `python -m reproductions --page` from reproductions/results/*.json: edit those, not this. -->
# Results: the sources' own experiments

Each experiment is run with the source's setting and, where that says something, with our defaults beside it. "Worst"
is the worst of the seeds. A bar is what we ask of ourselves; where the source gives no number, the table says so.
The experiments on real data need the data sets (`SIDELIGHT_DATA`).
"""


def page_text(results: Path, page: Path) -> str:
    """The page for every JSON file of a folder; ``page`` is where it will stand, for the links to the pictures."""
    found = [json.loads(path.read_text()) for path in sorted(results.glob("*.json"))]
    pictures = Path(os.path.relpath(results, page.parent)).as_posix()
    return "\n".join([_OPENING, *(_section(content, pictures) for content in found)])


def write_page(results: Path, page: Path) -> Path:
    """Write the page; return its path."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(page_text(results, page))
    return page


def _section(content: dict[str, Any], pictures: str) -> str:
    lines = [
        f"## {content['title']}",
        "",
        f"*{content['source']}.* {content['setting']}",
        "",
        f"![{content['caption']}]({pictures}/{content['name']}.png)",
        "",
        content["caption"],
        "",
        "| what | ours | source | bar | |",
        "|---|---|---|---|---|",
        *(_row(comparison) for comparison in content["comparisons"]),
        "",
        *(f"- {note}" for note in content["notes"]),
        "",
        f"`{content['command']}` ({content['seconds']:.0f} s on two cores)",
        "",
    ]
    return "\n".join(lines)


def _row(comparison: dict[str, Any]) -> str:
    verdict = {None: "", True: "met", False: "**not met**"}[comparison["passed"]]
    cells = (comparison["what"], f"{comparison['ours']:.4g}", comparison["source"], comparison["bar"], verdict)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
