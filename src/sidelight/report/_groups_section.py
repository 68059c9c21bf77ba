"""The report section that compares the groups of a column: which features set each apart, with intervals.

The share of the way is what a feature contributes to the distance on the map between a group and all other rows:

    share_f = Σ_a c_fa D_a / |D|²,      D = Σ_f c_f      c (features, axes) the contributions, which sum to D
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.plot._colouring import Categories

from ._context import Context
from ._meaning import Found, grouping_of, groups_of
from ._meaning_section import in_columns, signed_picture
from ._section import Section, bar, markup_table, write_number

__all__ = ["Compared", "compared_groups", "groups_section"]

LISTED, NAMED = 10, 3
"""Features in the table of a group, and in its sentence."""
RATE = 0.05
"""False discovery rate up to which a feature is said to differ."""


@dataclass(frozen=True)
class Compared:
    """One group against all other rows: features (d,) by their share of the way on the map, largest first."""

    level: int
    feature: NDArray[Any]
    effect: NDArray[np.float64]
    """Difference of means in standard deviations, with its interval ``low`` to ``high``."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    fdr: NDArray[np.float64]
    share: NDArray[np.float64]

    @property
    def differ(self) -> NDArray[np.intp]:
        """Features that differ at a false discovery rate of 0.05."""
        return np.flatnonzero(self.fdr <= RATE)


def groups_section(context: Context) -> Section | None:
    """Each category of the opening colour against all other rows."""
    groups = grouping_of(context) if context.map is not None and context.X is not None else None
    if groups is None:
        return None
    found = groups_of(context, groups)
    if found.columns is None:
        return None if "derivative" in found.reason else _noted(groups, found)
    parts = [_group(context, groups, one) for one in compared_groups(found)]
    html = f'<div class="groups">{"".join(parts)}</div>'
    return Section("groups", f"Groups compared: {groups.name}", html + _caption(context, found.n_rows))


def _noted(groups: Categories, found: Found) -> Section:
    return Section("groups", f"Groups compared: {groups.name}", f'<p class="note">{escape(found.reason)}</p>')


def compared_groups(found: Found) -> list[Compared]:
    """The groups of a table of ``explain.groups`` whose names are numbers of levels, in their order."""
    assert found.columns is not None
    groups = found.columns["group"]
    return [_compared(found.columns, level) for level in sorted({int(name) for name in groups})]


def _compared(columns: dict[str, NDArray[Any]], level: int) -> Compared:
    own = {name: values[columns["group"] == str(level)] for name, values in columns.items()}
    axes = list(dict.fromkeys(own["axis"].tolist()))
    real = ~np.isnan(own["difference"].astype(np.float64))
    first = np.flatnonzero(real & (own["axis"] == axes[0]))
    names = own["feature"][first]
    moved = np.zeros(len(axes))
    share, steepest = np.zeros(len(names)), np.zeros(len(names))
    effect = own["standardised"][first]
    low, high = np.full(len(names), np.nan), np.full(len(names), np.nan)
    table = []
    for k, axis in enumerate(axes):
        at = own["axis"] == axis
        moved[k] = np.nansum(own["contribution"][at])
        place = {name: j for j, name in zip(np.flatnonzero(at & real), own["feature"][at & real], strict=True)}
        table.append(np.array([place[name] for name in names]))
    for k, rows in enumerate(table):
        contribution, slope = own["contribution"][rows], own["slope"][rows]
        share += contribution * moved[k] / max(float(moved @ moved), 1e-300)
        # The interval of a contribution is that of the difference of means times the slope, which is held.
        better = (np.abs(slope) > steepest) & (contribution != 0)
        scale = np.divide(effect, contribution, out=np.zeros(len(names)), where=better)
        ends = np.sort([own["low"][rows] * scale, own["high"][rows] * scale], axis=0)
        low, high = np.where(better, ends[0], low), np.where(better, ends[1], high)
        steepest = np.maximum(steepest, np.abs(slope))
    order = np.argsort(-np.abs(share), kind="stable")
    fdr = own["fdr"][first]
    return Compared(level, names[order], effect[order], low[order], high[order], fdr[order], share[order])


def _group(context: Context, groups: Categories, one: Compared) -> str:
    count = int((groups.codes == one.level).sum())
    name = f"<b>{escape(groups.levels[one.level])}</b> <span>({count:,} rows)</span>"
    if context.image_shape is not None and len(one.feature) == int(np.prod(context.image_shape)):
        sure = np.where(one.fdr <= RATE, one.effect, 0.0)
        alt = f"{groups.levels[one.level]} less all others"
        picture = signed_picture(in_columns(context, one.feature, sure), context.image_shape, alt)
        return f'<figure class="group"><p>{name}</p>{picture}</figure>'
    return f"<details><summary>{name} {escape(group_in_words(one))}</summary>{_table(context, groups, one)}</details>"


def group_in_words(one: Compared) -> str:
    """What sets a group apart: the features that take most of the way on the map, of those that differ.

    Examples
    --------
    >>> a, one = np.array, np.ones(2)
    >>> group_in_words(Compared(0, a(["x", "y"]), a([2.0, -1.0]), one, one, a([0.001, 0.01]), a([0.7, 0.3])))
    'more x (+2.0 SD); less y (−1.0 SD)'
    """
    chosen = one.differ[:NAMED]
    if not len(chosen):
        return f"no column differs at a false discovery rate of {RATE}"
    more = f" and {len(one.differ) - NAMED:,} more columns" if len(one.differ) > NAMED else ""
    named = (
        f"{'more' if one.effect[k] > 0 else 'less'} {one.feature[k]} ({_signed(one.effect[k])} SD)" for k in chosen
    )
    return "; ".join(named) + more


def _signed(value: float) -> str:
    return f"{value:+.1f}".replace("-", "−")


def _table(context: Context, groups: Categories, one: Compared) -> str:
    means = _means(context, groups, one.level)
    rows = []
    for k in range(min(LISTED, len(one.feature))):
        name = str(one.feature[k])
        here = means.get(name)
        written = ("", "") if here is None else tuple(write_number(value) for value in here)
        interval = f"{_signed(one.effect[k])} ({_signed(one.low[k])} to {_signed(one.high[k])})"
        if np.isnan(one.low[k]):
            interval = _signed(one.effect[k])
        way = bar(abs(one.share[k]), rises=one.share[k] >= 0) + f" {100 * one.share[k]:.0f} %".replace("-", "−")
        rate = "&lt; 0.001" if one.fdr[k] < 0.001 else f"{one.fdr[k]:.3f}"
        rows.append((escape(name), *(written if means else ()), interval, way, rate))
    head = ["column", *(("mean here", "elsewhere") if means else ()), "difference in SD (95 %)"]
    table = markup_table(rows, [*head, "share of the way on the map", "false discovery rate"], "numbers bars")
    left = len(one.feature) - LISTED
    return table + (f'<p class="caption">and {left:,} more columns.</p>' if left > 0 else "")


def _means(context: Context, groups: Categories, level: int) -> dict[str, tuple[float, float]]:
    """Means of the columns of the data in a group and in all other rows; none where something was given."""
    if context.numbers is None or context.informed:
        return {}
    own, others = groups.codes == level, (groups.codes >= 0) & (groups.codes != level)
    values = np.ma.masked_invalid(context.numbers.numbers)
    both = [values[rows].mean(axis=0).filled(np.nan) for rows in (own, others)]
    return {name: (float(a), float(b)) for name, a, b in zip(context.numbers.names, both[0], both[1], strict=True)}


def _caption(context: Context, n_rows: int) -> str:
    if context.image_shape is not None:
        words = [
            "Each group less all other rows: blue pixels are brighter and orange ones darker there, in standard "
            f"deviations; pixels whose false discovery rate is above {RATE} are left clear."
        ]
    else:
        words = [
            "Each group against all other rows. The share of the way is what a column contributes to the distance on "
            "the map; all columns together, and what the spread of the rows adds, make 100 %. Below zero, it brings "
            "the group nearer to the others. Intervals and rates are about the data, and take rows as independent."
        ]
    if context.informed:
        words.append("Columns are compared after the effect of what was given.")
    words.append(f"Measured on {n_rows:,} rows.")
    return f'<p class="caption">{" ".join(words)}</p>'
