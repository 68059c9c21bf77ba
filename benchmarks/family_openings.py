"""The measured part of the openings of method pages: made from the committed table of families, between two comments.

A page says in words when to use a method and what instead; the numbers below that are written here, so that they are
those of the last run. Cells that lose are always named, of the others up to three.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.family_numbers import first_rivals, in_red, is_fresh, is_time, number

__all__ = ["METHODS", "OPENINGS", "measured_text", "with_measured"]

METHODS = Path(__file__).parents[1] / "docs" / "methods"
OPENINGS: dict[str, tuple[tuple[str, str], ...]] = {
    "mixtures": (("family_mixtures", ""),),
    "coordinated": (("family_coordinated", ""),),
    "kernel_information_embedding": (("family_density", ""), ("family_sheets", "")),
    "semidefinite": (("family_sheets", ""),),
    "multiple_relational": (("family_relations", ""),),
    "metrics": (("family_metrics", ""),),
    "action_respecting": (("family_actions", ""),),
    "gated_boltzmann": (("family_gated", "RestrictedBoltzmannMachine"), ("family_gated", "GatedBoltzmannMachine")),
    "conditional_autoencoders": (
        ("family_gated", "Autoencoder"),
        ("family_gated", "GatedAutoencoder"),
        ("family_gated", "BiasedAutoencoder"),
    ),
    "manifield": (("family_gated", "Manifield"),),
    "gated_field": (("family_gated", "GatedField"),),
}
"""Which rows each page shows: the family, and how the names of its tasks begin."""
BEGIN, END = "<!-- families: made by `python -m benchmarks.families --page` -->", "<!-- end of families -->"
_SHOWN, _MOST = 3, 5
Rows = list[dict[str, Any]]


def with_measured(page: str, numbers: Mapping[str, Any], name: str) -> str:
    """The text of a page with the part between the two comments made anew."""
    return re.sub(
        r"<!-- families.*?-->.*?<!-- end of families -->",
        lambda _: f"{BEGIN}\n{measured_text(numbers, name)}\n{END}",
        page,
        flags=re.S,
    )


def measured_text(numbers: Mapping[str, Any], name: str) -> str:
    """What was measured, as a short list: one line for each question."""
    modules = dict.fromkeys(module for module, _ in OPENINGS[name])
    commands = " and ".join(f"`python -m benchmarks.families {one.removeprefix('family_')}`" for one in modules)
    links = " and ".join(f"[table](../families.md#{one.replace('_', '-')})" for one in modules)
    intro = "Default settings beside a simple baseline, on data sets that were not used to choose anything"
    lines = [f"{intro} ({links}; {commands}):", ""]
    families = {family["module"]: family["rows"] for family in numbers["families"]}
    for module, prefix in OPENINGS[name]:
        rows = [row for row in families.get(module, []) if is_fresh(row) and row["task"].startswith(prefix)]
        lines += [f"- {_line(question, own)}" for question, own in _grouped(rows).items()]
    return "\n".join(lines)


def _grouped(rows: Iterable[dict[str, Any]]) -> dict[str, Rows]:
    """Rows by question: task and measure, without numbers of pairs, labels, dimensions or shares."""
    found: dict[str, Rows] = {}
    for row in rows:
        measure = "R² of factors" if row["measure"].startswith("R² of") else row["measure"]
        found.setdefault(f"{_plain(row['task'])}: {measure}", []).append(row)
    return found


def _plain(task: str) -> str:
    """The task without its sizes.

    >>> [_plain(task) for task in ("EquivalenceMetric, 20 pairs", "CoordinatedMixture(3)", "turn, 5 % labelled")]
    ['EquivalenceMetric, pairs', 'CoordinatedMixture', '5 % labelled']
    """
    task = re.sub(r"^.*, (?=5 % labelled)", "", task)
    return re.sub(r"\(\d\)|\d+%? (?=pairs|labels|distances|hidden|steps)", "", task)


def _line(question: str, rows: Rows) -> str:
    if is_time(rows[0]):
        return _time_line(question, rows)
    less = ", less is better" if rows[0]["lower_is_better"] else ""
    count = Counter(row["verdict"] for row in rows)
    tally = [f"{word} {count[key]}" for key, word in (("wins", "wins"), ("ties", "ties")) if count[key]]
    tally += [in_red(f"loses {count['LOSES']}")] if count["LOSES"] else []
    lost = [row for row in rows if row["verdict"] == "LOSES"]
    held = [row for row in rows if row["verdict"] != "LOSES"]
    shown = [_cell(row, rows) for row in held[:_SHOWN]] + [in_red(_cell(row, rows)) for row in lost[:_MOST]]
    rest = len(rows) - len(shown)
    return f"{question}{less}: {', '.join(tally)}. {'; '.join(shown)}" + (f"; and {rest} more." if rest else ".")


def _time_line(question: str, rows: Rows) -> str:
    """The range over sets, and the bound if there was one."""
    least, most = (pick(row["ours"] for row in rows) for pick in (min, max))
    bounds = {row["rivals"].get("the bound") for row in rows} - {None}
    bound = f" (bound {', '.join(number(one) for one in sorted(bounds))})" if bounds else ""
    lost = sum(row["verdict"] == "LOSES" for row in rows)
    shown = f"{number(least)} to {number(most)}{bound}, worse in {lost} of {len(rows)}"
    return f"{question}: {in_red(shown) if lost else shown}."


def _cell(row: Mapping[str, Any], rows: Rows) -> str:
    """Set, our number, the best rival's."""
    label = row["data"]
    if len({one["task"] for one in rows if one["data"] == label}) > 1:
        label += f" ({row['task'].partition(', ')[2] or row['task']})"
    if len({one["measure"] for one in rows}) > 1:
        label += f", {row['measure'].removeprefix('R² of ')}"
    who, value = first_rivals(row["rivals"], row["best_rival"])[0]
    return f"{label} {number(row['ours'])} ({who} {number(value)})"
