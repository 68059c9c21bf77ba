"""The report section that compares the groups of a column: which features set each apart, with intervals."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import count_of
from sidelight.explain._compared import RATE, Compared, compared, compared_in_words
from sidelight.plot._colouring import Categories

from ._context import Context
from ._meaning import Found, grouping_of, groups_of
from ._meaning_section import in_columns, signed_picture
from ._section import Section, bar, markup_table, write_number

__all__ = ["groups_section"]

LISTED = 10
"""Features in the table of a group."""


def groups_section(context: Context) -> Section | None:
    """Each category of the opening colour against all other rows."""
    groups = grouping_of(context) if context.map is not None and context.X is not None else None
    if groups is None:
        return None
    found = groups_of(context, groups)
    if found.columns is None:
        return None if "derivative" in found.reason else _reason_section(groups, found)
    levels = [str(level) for level in range(len(groups.levels))]
    parts = [_group(context, groups, int(one.name), one) for one in compared(found.columns, levels)]
    html = f'<div class="groups">{"".join(parts)}</div>'
    return Section("groups", f"Groups compared: {groups.name}", html + _caption(context, found.n_rows))


def _reason_section(groups: Categories, found: Found) -> Section:
    return Section("groups", f"Groups compared: {groups.name}", f'<p class="note">{escape(found.reason)}</p>')


def _group(context: Context, groups: Categories, level: int, one: Compared) -> str:
    count = int((groups.codes == level).sum())
    name = f"<b>{escape(groups.levels[level])}</b> <span>({count_of(count, 'row')})</span>"
    if context.image_shape is not None and len(one.feature) == int(np.prod(context.image_shape)):
        sure = np.where(one.fdr <= RATE, one.effect, 0.0)
        if not sure.any():
            return f'<figure class="group"><p>{name}</p><p class="note">No pixel differs.</p></figure>'
        alt = f"{groups.levels[level]} minus all others"
        picture = signed_picture(in_columns(context, one.feature, sure), context.image_shape, alt)
        return f'<figure class="group"><p>{name}</p>{picture}</figure>'
    words = escape(compared_in_words(one))
    return f"<details><summary>{name} {words}</summary>{_table(context, groups, level, one)}</details>"


def _table(context: Context, groups: Categories, level: int, one: Compared) -> str:
    means = _means(context, groups, level)
    rows, longest = [], float(one.move[0]) or 1.0
    for k in sorted(range(len(one.feature)), key=lambda k: one.fdr[k] > RATE)[:LISTED]:
        name = str(one.feature[k])
        written = means.get(name, ("", ""))
        way = bar(one.move[k] / longest, rises=True) + f" {one.move[k]:.2f}"
        rate = "&lt; 0.001" if one.fdr[k] < 0.001 else f"{one.fdr[k]:.3f}"
        rows.append((escape(name), *(written if means else ()), one.interval(k), way, rate))
    head = ["column", *(("here", "elsewhere") if means else ()), "difference in SD (95 %)"]
    table = markup_table(rows, [*head, "moves it on the map by", "false discovery rate"], "numbers bars")
    left = len(one.feature) - LISTED
    return table + (f'<p class="caption">and {count_of(left, "more column")}.</p>' if left > 0 else "")


def _means(context: Context, groups: Categories, level: int) -> dict[str, tuple[str, str]]:
    """Means of numbers and dates, and shares of categories, here and elsewhere, as the data have them."""
    own, others = groups.codes == level, (groups.codes >= 0) & (groups.codes != level)
    found: dict[str, tuple[str, str]] = {}
    if context.numbers is not None:
        values = np.ma.masked_invalid(context.numbers.numbers)
        both = [values[rows].mean(axis=0).filled(np.nan) for rows in (own, others)]
        pairs = zip(context.numbers.names, both[0], both[1], strict=True)
        found |= {name: (write_number(a), write_number(b)) for name, a, b in pairs}
    for column in context.table or ():
        if isinstance(column, Categories):
            known = [column.codes[rows & (column.codes >= 0)] for rows in (own, others)]
            for code, name in enumerate(column.levels):
                found[f"{column.name}_{name}"] = (_share(known[0] == code), _share(known[1] == code))
        elif column.is_date:
            found[column.name] = (_date(column.values[own]), _date(column.values[others]))
    return found


def _share(holds: NDArray[np.bool_]) -> str:
    return f"{100 * holds.mean():.0f} %" if len(holds) else ""


def _date(days: NDArray[np.float64]) -> str:
    known = days[np.isfinite(days)]
    return str(np.datetime64(round(known.mean()), "D")) if len(known) else ""


def _caption(context: Context, n_rows: int) -> str:
    if context.image_shape is not None:
        words = [
            "Each group minus all other rows: blue pixels are brighter and orange ones darker, in standard "
            f"deviations; pixels whose false discovery rate is above {RATE} are left clear."
        ]
    else:
        words = [
            "Each group against all other rows. A column moves a group on the map by the length of its arrow, in units "
            "of the map; the arrows of all columns and of the spread of the rows lead from the mean point "
            "of the others to that of the group. Numbers and dates are means, categories shares of the rows. Intervals "
            "and rates are about the data, and take rows as independent."
        ]
    if context.informed:
        words.append(
            "Columns are compared after subtracting the effect of given; means and shares are of the data before."
        )
    words.append(f"Measured on {count_of(n_rows, 'row')}.")
    return f'<p class="caption">{" ".join(words)}</p>'
