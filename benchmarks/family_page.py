"""The page of the docs with the table of families, made from the committed numbers, so that both say the same.

``docs/files/families.json`` has the rows (means over draws), ``docs/families.md`` is made from it alone. Draws are not
committed, so a run on another machine begins without them: rows that it did not measure again stay as they were
committed, with their numbers of draws (:func:`with_earlier`).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from benchmarks.families import MODULES, Found, families, rows_of
from benchmarks.family_numbers import first_rivals, in_red, is_fresh, is_time, number
from benchmarks.family_openings import METHODS, OPENINGS, with_measured
from benchmarks.family_row import Row
from benchmarks.harness import machine

__all__ = ["NUMBERS", "PAGE", "page_text", "table_of", "with_earlier", "write_page"]

PAGE = Path(__file__).parents[1] / "docs" / "families.md"
NUMBERS = PAGE.parent / "files" / "families.json"
_ASKED = 10  # draws that are asked for, at most
_FEW = 3  # draws with which a row takes the place of an earlier one, however many that had
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
that it still is: the difference is less than t standard errors from the border of a tie (t of Student's distribution at
0.975: 4.3 for three draws, 2.3 for ten), or there is one draw. As draws stop when a verdict is no longer open, a few of
those without a question mark will be wrong. A row is compared with the *best* of its rivals, which stands first. A cell
that <strong style="color: #c0392b">loses</strong> stays. *Slower*: rows about time in which ours took longer than the
rival, or than a bound that had been set. Rows on other draws of a set that something was chosen on say so, and are not
counted in the first table.

`python -m benchmarks.families --settle 3` makes the table, `python -m benchmarks.families NAME` one family.
"""


def table_of(found: Found) -> dict[str, Any]:
    """What is committed: machine, and of each family its rows, the sets it was chosen on, seconds and commits."""
    measured = []
    for name, kept in found.items():
        draws = [draw for task in kept["tasks"].values() for draw in task["draws"].values()]
        measured.append({
            "module": name,
            "family": kept["family"],
            "chosen_on": kept["chosen_on"],
            "cpu_seconds": round(sum(draw["seconds"] for draw in draws)),
            "commits": sorted({draw["commit"] for draw in draws} - {""}),
            "dates": [machine()["date"]],
            "rows": [_rounded(row.record()) for row in rows_of(kept)],
        })  # fmt: skip
    return {"machine": machine(), "families": measured}


def with_earlier(table: Mapping[str, Any], earlier: Mapping[str, Any], asked: Mapping[str, set[str]]) -> dict[str, Any]:
    """The table with the rows of an earlier one that were not measured again.

    Parameters
    ----------
    table, earlier : dict
        From :func:`table_of`.
    asked : dict of module to set of str
        The sets that each family asks about now: rows on others are left out.
    """
    new = {family["module"]: family for family in table["families"]}
    old = {family["module"]: {"dates": [earlier["machine"]["date"]]} | family for family in earlier["families"]}
    order = [name for name in (*MODULES, *new, *old) if name in new or name in old]
    merged = [_merged(new.get(name), old.get(name), asked.get(name, set())) for name in dict.fromkeys(order)]
    return {**table, "families": merged}


def _merged(new: Mapping[str, Any] | None, old: Mapping[str, Any] | None, asked: set[str]) -> dict[str, Any]:
    """One family: its new rows, and of the earlier ones those that are still asked for and have no newer number.

    A new row of fewer than three draws does not take the place of one that has more.
    """
    if old is None:
        return dict(new or {})
    draws = {_key(row): row["seeds"] for row in old["rows"]}
    rows = [row for row in (new["rows"] if new else []) if row["seeds"] >= min(_FEW, draws.get(_key(row), 0))]
    measured = {_key(row) for row in rows if not row["missing"]}
    kept = [row for row in old["rows"] if _key(row) not in measured and _is_asked(row, asked)]
    known = {row["data"] for row in kept if not row["missing"]} | {data for data, _, _ in measured}
    rows = [row for row in rows if not row["missing"] or row["data"] not in known]
    absent = {row["data"] for row in rows if row["missing"]} | known
    kept = [_judged_again(row) for row in kept if not row["missing"] or row["data"] not in absent]
    parts = [part for part, own in ((old, kept), (new, rows)) if part is not None and own]
    share = sum(row["seeds"] for row in kept) / max(sum(row["seeds"] for row in old["rows"]), 1)
    return {
        **(new or old),
        "cpu_seconds": round(share * old["cpu_seconds"] + (new["cpu_seconds"] if new else 0)),
        "commits": sorted({commit for part in parts for commit in part["commits"]}),
        "dates": sorted({date for part in parts for date in part["dates"]}),
        "rows": _in_order([*kept, *rows], old["rows"]),
    }


def _key(row: Mapping[str, Any]) -> tuple[str, str, str]:
    return row["data"], row["task"], row["measure"]


def _is_asked(row: Mapping[str, Any], asked: set[str]) -> bool:
    return row["data"] in asked or row["data"].startswith("all sets")


def _judged_again(row: Mapping[str, Any]) -> dict[str, Any]:
    """A committed row with its verdict by the rules of today."""
    values = {field.name: row[field.name] for field in fields(Row)}
    return _rounded(Row(**{key: math.nan if value is None else value for key, value in values.items()}).record())


def _in_order(rows: Sequence[dict[str, Any]], old: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows in the order of the earlier table, new ones at the end."""
    places = {_key(row): place for place, row in enumerate(old)}
    return sorted(rows, key=lambda row: places.get(_key(row), len(places)))


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
    draws = [row["seeds"] for row in judged if not row["settled"]]
    near, single = sum(count >= _ASKED for count in draws), sum(count == 1 for count in draws)
    lines += [
        "",
        f"Of {len(judged)} rows {len(draws)} have a verdict that is still open: {near} after ten draws, as they are "
        f"near the border of a tie or draws differ much, {len(draws) - near - single} with fewer, {single} with one.",
    ]
    for family in numbers["families"]:
        lines += _family_lines(family)
    where, taken = numbers["machine"], sum(family["cpu_seconds"] for family in numbers["families"])
    minutes = f"{taken / 60:.0f} minutes of processor time, one thread"
    dates = sorted({date for family in numbers["families"] for date in family["dates"]})
    lines += ["", f"Measured on {' and '.join(dates)} on one core of {where['processor']}: {minutes}."]
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
    """Write the committed numbers, with the earlier ones that were not measured again, and the page; its path."""
    table = table_of(found)
    if numbers.exists():
        asked = {name: {task.data for task in family.tasks(quick=False)} for name, family in families().items()}
        table = with_earlier(table, json.loads(numbers.read_text()), asked)
    numbers.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n")
    page.write_text(page_text(table))
    for name in OPENINGS:
        path = METHODS / f"{name}.md"
        path.write_text(with_measured(path.read_text(), table, name))
    return page
