"""The results pages of the docs, made from the JSON files and the claims of the sources."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from reproductions.claims import PAGES, VERDICTS, Claim, SourcePage, rows_in_the_setting_of_the_source, with_numbers

PAGE = Path(__file__).parents[1] / "docs" / "results.md"

_MADE = "<!-- Made by `python -m reproductions --page` from reproductions/claims and reproductions/results. -->"
_OPENING = f"""\
{_MADE}
# Reproduced experiments of the publications

We repeated the experiments of the publications behind this library. The tables compare the claim of the source, our
result in the source's setting, and our result with the default parameters. The verdicts are:

* *Holds*: in the source's setting, or by default where that setting is the same or cannot be had (the table says so).
* *Holds with luck*: only for some starts or draws.
* *Does not hold*.
* *Open*: the source's setting has not been run.
* *No claim*: the source has no such experiment.

The page of each source has pictures, settings and all numbers. Experiments on real data need the data
sets (`SIDELIGHT_DATA`). Run one with `python -m reproductions NAME`.

[Every method beside a simple baseline](families.md) compares our defaults with simple methods on other data.
"""
_SOURCES = """\
The sources: S0 is Memisevic's thesis (2007), S1 his paper at ICML 2006, S2 Verbeek, Vlassis and Kröse (2003), S4
Ghodsi's thesis (2005). Related pages: [published formulas](published.md), [the lecture S3](lecture.md).
"""
_SETTING = "source's setting"
_HEADER = ("figure", "claim", "source", "ours, source's setting", "ours, default", "verdict")

Result = dict[str, Any]


def pages(results: Path, index: Path) -> dict[Path, str]:
    """The text of every page by its path: the index, and a page for each source in a folder of the index's name."""
    found = {path.stem: json.loads(path.read_text()) for path in sorted(results.glob("*.json"))}
    folder = index.with_suffix("")
    pictures = Path(os.path.relpath(results, folder)).as_posix()
    made = {index: _index_text(found, folder.name)}
    for page in _with_unclaimed(found):
        if here := _results_of(page, found):
            made[folder / page.file] = _page_text(page, here, pictures)
    return made


def write_pages(results: Path, index: Path) -> list[Path]:
    """Write the index and the pages of the sources; return their paths."""
    made = pages(results, index)
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return list(made)


def _with_unclaimed(found: dict[str, Result]) -> tuple[SourcePage, ...]:
    """The pages, and one more for results of which nobody has written the claims."""
    claimed = {name for page in PAGES for name in page.claims}
    rest: dict[str, tuple[Claim, ...]] = {name: () for name in found if name not in claimed}
    return (*PAGES, SourcePage("others.md", "Results without claims", rest)) if rest else PAGES


def _results_of(page: SourcePage, found: dict[str, Result]) -> list[Result]:
    return [found[name] for name in page.claims if name in found]


def _filled(page: SourcePage, results: Sequence[Result]) -> list[tuple[Result, Claim]]:
    return [(result, with_numbers(c, result["comparisons"])) for result in results for c in page.claims[result["name"]]]


def _index_text(found: dict[str, Result], folder: str) -> str:
    here = [(page, results) for page in _with_unclaimed(found) if (results := _results_of(page, found))]
    filled = [(page, _filled(page, results)) for page, results in here]
    failed = [
        f"- [{page.title.split(':')[0]}]({folder}/{page.file}), {_failure(claim)}"
        for page, claims in filled
        for _, claim in claims
        if claim.verdict == "does not hold"
    ]
    tally = _tally([claim for _, claims in filled for _, claim in claims])
    lines = [_OPENING, _SOURCES, tally, "## What does not hold", "", *failed, ""]
    for page, claims in filled:
        lines += [f"## {page.title}", "", f"[Pictures, settings and numbers]({folder}/{page.file})", ""]
        lines += _summary((claim, f"{folder}/{page.file}#{_anchor(result['title'])}") for result, claim in claims)
    lines += ["```{toctree}", ":hidden:", "", *(f"{folder}/{page.file.removesuffix('.md')}" for page, _ in here), "```"]
    return "\n".join([*lines, ""])


def _tally(claims: Sequence[Claim]) -> str:
    """How many claims of the sources hold."""
    count = Counter(claim.verdict for claim in claims)
    total = sum(count.values()) - count["no claim"]
    hold, luck, fail, unrun = (count[verdict] for verdict in VERDICTS[:4])
    return f"Of {total} claims {hold} hold, {luck} hold with luck, {fail} do not hold, and {unrun} are open.\n"


def _page_text(page: SourcePage, results: Sequence[Result], pictures: str) -> str:
    claims = _filled(page, results)
    failed = [f"- {_failure(claim)}" for _, claim in claims if claim.verdict == "does not hold"]
    lines = [_MADE, f"# {page.title}", "", "[All sources](../results.md)", ""]
    lines += [*(("**What does not hold:**", "", *failed, "") if failed else ())]
    lines += _summary((claim, f"#{_anchor(result['title'])}") for result, claim in claims)
    return "\n".join([*lines, *(_section(result, page.claims[result["name"]], pictures) for result in results)])


def _failure(claim: Claim) -> str:
    return f"{claim.figure}: {claim.claim} *Does not hold:* {claim.because}"


def _summary(claims: Iterable[tuple[Claim, str]]) -> list[str]:
    """The summary table, each figure a link to its section."""
    rows = [(f"[{c.figure}]({link})", c.claim, c.source, c.published, c.default, _verdict(c)) for c, link in claims]
    return [_cells(_HEADER), "|---" * len(_HEADER) + "|", *(_cells(row) for row in rows), ""]


def _verdict(claim: Claim) -> str:
    shown = f"**{claim.verdict}**" if claim.verdict == "does not hold" else claim.verdict
    return f"{shown}: {claim.because}" if claim.because else shown


def _section(content: Result, claims: Iterable[Claim], pictures: str) -> str:
    """Setting, picture and caption; the numbers, the source's setting first, and the notes behind a click."""
    run = f"<code>{content['command']}</code>, {content['seconds']:.0f} s on two cores"
    lines = [
        f"## {content['title']}",
        "",
        f"*{content['source']}.* {content['setting']}",
        "",
        f"![{content['title']}]({pictures}/{content['name']}.png)",
        "",
        content["caption"],
        "",
        "<details>",
        f"<summary>Numbers and notes ({run})</summary>",
        "",
        "| what | ours | source | bar | |",
        "|---|---|---|---|---|",
        *(_row(comparison) for comparison in _source_first(content["comparisons"], claims)),
        "",
        *(f"- {note}" for note in content["notes"]),
        "",
        "</details>",
        "",
    ]
    return "\n".join(lines)


def _source_first(comparisons: Iterable[Result], claims: Iterable[Claim]) -> list[Result]:
    """The comparisons, those in the setting of the source first and named so."""
    published = rows_in_the_setting_of_the_source(claims)

    def named(row: Result) -> Result:
        unsaid = row["what"] in published and _SETTING not in row["what"]
        return row | {"what": f"{_SETTING}: {row['what']}"} if unsaid else row

    return sorted(map(named, comparisons), key=lambda row: _SETTING not in row["what"])


def _row(comparison: dict[str, Any]) -> str:
    verdict = {None: "", True: "met", False: "**not met**"}[comparison["passed"]]
    return _cells((comparison["what"], f"{comparison['ours']:.4g}", comparison["source"], comparison["bar"], verdict))


def _cells(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _anchor(title: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -_")
    return kept.replace(" ", "-")
