"""The page of the docs with the table of families, made from the committed numbers, so that both say the same.

``docs/files/families.json`` has the rows (means over draws), ``docs/families.md`` is made from it alone.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.families import Found, rows_of
from benchmarks.family_numbers import first_rivals, in_red, is_fresh, is_time, number
from benchmarks.family_openings import METHODS, OPENINGS, with_measured
from benchmarks.harness import machine

__all__ = ["NUMBERS", "PAGE", "page_text", "table_of", "write_page"]

PAGE = Path(__file__).parents[1] / "docs" / "families.md"
NUMBERS = PAGE.parent / "files" / "families.json"
_TITLES = {
    "mixtures": "Mixtures: [PPCAMixture, BernoulliMixture](methods/mixtures.md)",
    "coordinated": "Coordinated charts: [CoordinatedMixture, CoordinatedCCA](methods/coordinated.md)",
    "densities": "Densities of rows: [KernelInformationEmbedding](methods/kernel_information_embedding.md)",
    "relations": "Relations on some rows: [MultipleRelationalEmbedding](methods/multiple_relational.md)",
    "metrics": "Metrics from hints: [EquivalenceMetric, DistanceMetric](methods/metrics.md)",
    "small sheets": "Small and noisy sheets: [KernelInformationEmbedding](methods/kernel_information_embedding.md)",
    "ActionRespectingEmbedding": "Actions: [ActionRespectingEmbedding](methods/action_respecting.md)",
    "gated": "Gated models and auto-encoders: [machines](methods/gated_boltzmann.md), "
    "[auto-encoders](methods/conditional_autoencoders.md), [manifields](methods/manifield.md), "
    "[fields](methods/gated_field.md)",
}
_OPENING = """\
<!-- Made by `python -m benchmarks.families --page` from docs/files/families.json. -->
# Every family beside the simple rival

Our defaults beside what one would try first, on data that no choice was made on, in the same run. Nothing was tuned for
a row; rivals have their defaults, or parameters by cross-validation where the table says so. The sets that defaults
were chosen on are named with each family. A number is the mean over *draws* (of rows, noise or starts), and *worst* is
our worst draw. How many draws a row has is beside it: more were made where the verdict was open. A question mark says
that it still is: the difference is less than four standard errors from the border of a tie, or there is one draw. A row
is compared with the *best* of its rivals, which stands first. A cell that
<strong style="color: #c0392b">loses</strong> stays. *Slower*: rows about time in which ours took longer than the rival,
or than a bound that had been set. Rows on other draws of a set that something was chosen on say so, and are not
counted in the first table.

`python -m benchmarks.families --settle 3` makes the table, `python -m benchmarks.families NAME` one family.
"""


def table_of(found: Found) -> dict[str, Any]:
    """What is committed: machine, and of each family its rows, the sets it was chosen on, seconds and commits."""
    families = []
    for name, kept in found.items():
        draws = [draw for task in kept["tasks"].values() for draw in task["draws"].values()]
        families.append({
            "module": name,
            "family": kept["family"],
            "chosen_on": kept["chosen_on"],
            "cpu_seconds": round(sum(draw["seconds"] for draw in draws)),
            "commits": sorted({draw["commit"] for draw in draws} - {""}),
            "rows": [_rounded(row.record()) for row in rows_of(kept)],
        })  # fmt: skip
    return {"machine": machine(), "families": families}


def _rounded(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with five digits of each number and None for NaN, which JSON has not."""

    def short(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: short(one) for key, one in value.items()}
        if not isinstance(value, float):
            return value
        return float(f"{value:.5g}") if math.isfinite(value) else None

    return {key: short(value) for key, value in record.items()}


def page_text(numbers: Mapping[str, Any]) -> str:
    """The page as Markdown."""
    lines = [_OPENING, "| family | wins | ties | loses | slower | draws |", "|---|---|---|---|---|---|"]
    lines += [_summary(family) for family in numbers["families"]]
    judged = [row for family in numbers["families"] for row in family["rows"] if not row["missing"]]
    unsettled, single = sum(not row["settled"] for row in judged), sum(row["seeds"] == 1 for row in judged)
    lines += [
        "",
        f"Of {len(judged)} rows {unsettled} have a verdict that is still open, {single} of them have one draw.",
    ]
    for family in numbers["families"]:
        lines += _family_lines(family)
    where, taken = numbers["machine"], sum(family["cpu_seconds"] for family in numbers["families"])
    minutes = f"{taken / 60:.0f} minutes of processor time, one thread"
    lines += ["", f"Measured on {where['date']} on one core of {where['processor']}: {minutes}."]
    return "\n".join([*lines, ""])


def _summary(family: Mapping[str, Any]) -> str:
    """A family's line of the first table: rows about quality, and how many of those about time are lost."""
    rows = [row for row in family["rows"] if is_fresh(row)]
    times = [row for row in rows if is_time(row)]
    count = Counter(row["verdict"] for row in rows if not is_time(row))
    lost = in_red(count["LOSES"]) if count["LOSES"] else 0
    slow = sum(row["verdict"] == "LOSES" for row in times)
    slower = f"{in_red(slow) if slow else 0} of {len(times)}" if times else "-"
    draws = sorted({row["seeds"] for row in rows if not row["data"].startswith("all sets")})
    spread = "-" if not draws else f"{draws[0]}" if len(draws) == 1 else f"{draws[0]} to {draws[-1]}"
    title = f"[{family['family']}](#{_anchor(family)})"
    return f"| {title} | {count['wins']} | {count['ties']} | {lost} | {slower} | {spread} |"


def _anchor(family: Mapping[str, Any]) -> str:
    return f"family-{family['module'].removeprefix('family_')}"


def _family_lines(family: Mapping[str, Any]) -> list[str]:
    chosen = "; ".join(family["chosen_on"])
    title = _TITLES.get(family["family"], family["family"])
    lines = ["", f"({_anchor(family)})=", f"## {title}", ""]
    command = f"`python -m benchmarks.families {family['module'].removeprefix('family_')}`"
    taken = f"{family['cpu_seconds']} s of processor time" + "".join(f", commit {one}" for one in family["commits"])
    lines += [f"Chosen on: {chosen}. {command} ({taken}).", ""]
    lines += ["| set | asked | ours | rivals | worst | draws | |", "|---|---|---|---|---|---|---|"]
    for row in family["rows"]:
        asked = f"{row['task']}: {row['measure']}" + (" (less is better)" if row["lower_is_better"] else "")
        if row["missing"]:
            lines.append(f"| {row['data']} | {row['task']} | - | {row['missing']} | - | - | not run |")
            continue
        lost, best = row["verdict"] == "LOSES", row["best_rival"]
        rivals = ", ".join(f"{who} {number(value)}" for who, value in first_rivals(row["rivals"], best))
        ours = number(row["ours"])
        verdict = (in_red("loses") if lost else row["verdict"]) + ("" if row["settled"] else " ?")
        shown = in_red(ours) if lost else ours
        cells = (row["data"], asked, shown, rivals, number(row["worst"]), row["seeds"], verdict)
        lines.append("| " + " | ".join(str(cell).replace("|", r"\|") for cell in cells) + " |")
    return lines


def write_page(found: Found, numbers: Path = NUMBERS, page: Path = PAGE) -> Path:
    """Write the committed numbers and the page made from them; the page's path."""
    table = table_of(found)
    numbers.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    page.write_text(page_text(table))
    for name in OPENINGS:
        path = METHODS / f"{name}.md"
        path.write_text(with_measured(path.read_text(), table, name))
    return page
