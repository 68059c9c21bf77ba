"""The report section about ``given``: how much of it leaks into the map, compared with the map without ``given``."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.evaluate import leakage, recovery
from sidelight.plot._colouring import CATEGORIES, CYCLE, MISSING, Categories, Numbers
from sidelight.plot._plane import Floats, LatentPlane, plane_of

from ._columns import column_data
from ._context import Context
from ._relations import column_values
from ._section import Section, pack, table, write_number
from ._understood import understood

__all__ = ["given_section"]

NEIGHBOURS = 10
FEWEST_ROWS = 12
"""Fewest rows with complete ``given`` for which leakage is measured: among fewer, ten neighbours are nearly all."""
NO_PLAIN_MAP = 'To compare with the map without given, pass plain="fit" or --plain.'
MOST_REST = 6
"""Most other columns whose recovery is reported."""


def given_section(context: Context) -> Section | None:
    """Leakage of ``given`` on this map and on the map without ``given``, and both maps coloured by it."""
    if not context.informed:
        return None
    words = understood(context.model)
    html = f"<p>{escape(words[0].upper() + words[1:])}.</p>" + _confounded(context)
    if context.known is None:
        missing = "The given values of these rows are unknown, so they are embedded by averaging over them."
        return Section("given", "What was given, and the rest", f"{html}<p class='caption'>{missing}</p>")
    if int(context.known.complete.sum()) >= FEWEST_ROWS:
        html += _readability_table(context)
    maps = _maps(context)
    html += '<div class="trio">' + "".join(_map_html(k, entry["title"]) for k, entry in enumerate(maps)) + "</div>"
    data = {"maps": maps, "palette": list(CATEGORIES), "cycle": list(CYCLE), "missing": MISSING}
    return Section("given", "What was given, and the rest", html, data)


def _confounded(context: Context) -> str:
    if not context.model.confounded_:
        return ""
    return (
        "<p class='caption'>The groups differ in the rest, too: some hold rows that others do not. Their means would "
        "take the rest out with them, so rows that match across groups decided what is the effect of the group. Where "
        "no rows match, the data cannot tell one from the other; and a group that holds one kind of row is known by "
        "that kind, so that over all rows chance cannot be reached.</p>"
    )


def _readability_table(context: Context) -> str:
    before = context.before
    maps = ([before.Z] if before else []) + [context.plane.Z]
    rows = [_leak(context, column, maps) for column in context.given_columns]
    rows += [row for column in _rest(context)[:MOST_REST] for row in _read(context, column, maps)]
    head = ("", *([before.name] if before else []), "this map", "chance")
    notes = [
        f"Each row is predicted from its {NEIGHBOURS} nearest rows on the map: accuracy of categories, R² of numbers.",
        "Good: given columns at or below chance, the other columns near 1. If groups are evenly mixed, the value is "
        "below chance, because rows of the same group are a minority around each row.",
    ]
    notes.append(before.words if before else NO_PLAIN_MAP)
    return table(rows, head, "numbers") + f'<p class="caption">{escape(" ".join(notes))}</p>'


def _leak(context: Context, column: Categories | Numbers, maps: list[Floats]) -> tuple[str, ...]:
    values = column_values(_unmerged(column))
    if isinstance(column, Numbers) and column.period is not None:
        found = [recovery(Z, values, n_neighbors=NEIGHBOURS, period=column.period) for Z in maps]
        chance = 0.0
    else:
        kind = "category" if isinstance(column, Categories) else "number"
        told = [leakage(Z, values, n_neighbors=NEIGHBOURS, kind=kind) for Z in maps]
        found, chance = [one.value for one in told], told[0].chance
    return f"{column.name}, given", *(_share(value) for value in found), _share(chance)


def _read(context: Context, column: Categories | Numbers, maps: list[Floats]) -> list[tuple[str, ...]]:
    """Recovery of a column that was not given: from neighbours of other groups if there are groups, else from all."""
    column = _unmerged(column)
    values, groups = column_values(column), _groups(context)
    known = np.array([value is not None for value in values]) if values.dtype == object else ~np.isnan(values)
    across = groups is not None and _enough(known, groups)
    if known.sum() < FEWEST_ROWS:
        return []
    options: dict[str, Any] = {"n_neighbors": NEIGHBOURS, "groups": groups if across else None}
    if isinstance(column, Numbers):
        options |= {"period": column.period, "kind": "number" if column.period is None else None}
    found = [_share(recovery(Z, values, **options)) for Z in maps]
    chance = 0.0
    if isinstance(column, Categories):
        codes = column.codes[column.codes >= 0]
        chance = float(np.bincount(codes).max() / len(codes))
    name = f"{column.name}, predicted from other groups" if across else column.name
    return [(name, *found, _share(chance))]


def _unmerged(column: Categories | Numbers) -> Categories | Numbers:
    """A column with all its categories: merged ones would be told by chance if the others are rare."""
    if isinstance(column, Numbers) or column.entry_codes is None:
        return column
    return Categories(column.name, column.entries, column.entry_codes)


def _groups(context: Context) -> NDArray[np.int64] | None:
    """The groups of the only given column, if it has groups."""
    columns = context.given_columns
    only = columns[0] if len(columns) == 1 else None
    return only.codes if isinstance(only, Categories) and bool((only.codes >= 0).all()) else None


def _enough(known: NDArray[np.bool_], groups: NDArray[np.int64]) -> bool:
    counts = np.bincount(groups[known]) if known.any() else np.zeros(1)
    return int(known.sum()) - int(counts.max()) >= NEIGHBOURS


def _share(value: float) -> str:
    return write_number(round(value, 3))


def _rest(context: Context) -> list[Categories | Numbers]:
    """The columns to colour by that were not given."""
    given = {column.name for column in context.given_columns}
    return [column for column in context.named if column.name not in given]


def _maps(context: Context) -> list[dict[str, Any]]:
    """The map without and with what was given, coloured by it, and the latter by the rest."""
    known, rest = list(context.given_columns), _rest(context)
    if not context.n_left_out:  # the first columns of a wide table are not what the rest is about
        rest += context.features
    after = context.plane
    found = []
    if context.before is not None:
        before = context.before
        found.append(_map(context, plane_of(before.Z), f"{before.name}, by what was given", known))
    found.append(_map(context, after, "this map, by what was given", known))
    if rest:
        found.append(_map(context, after, "this map, by the rest", rest))
    return found


def _map(context: Context, plane: LatentPlane, title: str, columns: list[Categories | Numbers]) -> dict[str, Any]:
    return {
        "title": title,
        "points": None if plane is context.plane else pack(plane.shown[context.kept], "float32"),
        "extent": list(plane.extent),
        "axes": [plane.title(k) for k in range(min(2, plane.n_components))],
        "same": plane is context.plane,
        "columns": [_stored(context, column) for column in columns],
    }


def _stored(context: Context, column: Categories | Numbers) -> dict[str, Any]:
    """The number of a column that the map section stores, or the column itself."""
    for k, offered in enumerate(context.offered):
        if offered is column:
            return {"offered": k}
    return column_data(column, context.kept, "Columns")


def _map_html(k: int, title: str) -> str:
    return (
        f'<figure><div class="controls"><h3>{escape(title[0].upper() + title[1:])}</h3>'
        f'<select id="given-colour-{k}" aria-label="Colour by"></select></div>'
        f'<canvas id="given-map-{k}" class="mini" tabindex="0" aria-label="{escape(title)}"></canvas>'
        f'<div id="given-legend-{k}" class="legend"></div></figure>'
    )
