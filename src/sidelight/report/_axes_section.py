"""The report section about the axes: the relation of each, rows at its two ends, its prediction of held-out labels."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.evaluate import AttributeRecovery, AxisRecovery
from sidelight.plot._pictures import shrink, to_pictures
from sidelight.plot._plane import Floats
from sidelight.plot._relation_weights import shares_of

from ._context import Context
from ._heat import heat_map
from ._png import sheet
from ._relations import recovered
from ._section import Section, table, write_number

__all__ = ["axes_section"]

MOST_AXES = 12
"""Axes that are described one by one."""
AT_AN_END = 6
"""Rows that are shown at either end of an axis."""
PICTURE_SIDE = 48
"""Longer side of such a row's picture in pixels."""
MOST_FEATURES = 4
"""Features that are named as different between the ends of an axis."""
WORTH_NAMING = 0.05
"""Share of its weight from which a relation is said to look at an axis."""
MOST_OTHERS = 6
"""Columns that are no relation's whose recovery is told."""


def axes_section(context: Context) -> Section | None:
    """Weights of relations on axes, rows at the ends of each axis, and recovery of held-out labels."""
    if not capabilities(context.model).has_relations:
        return None
    names, shares = shares_of(context.model, "report")
    owners = [str(name) for name in context.model.axis_names_]
    columns = [(f"axis {k + 1}", owner) for k, owner in enumerate(owners)]
    html = heat_map(names, columns, shares, "Share of the weight of each relation that is on each axis")
    html += (
        '<p class="caption">Each line is a relation, and its cells say which share of its weight is on which axis: '
        "what it looks at when it says that rows are alike. The name above an axis is that of the relation whose axis "
        "it is.</p>"
    )
    shown = range(min(len(owners), MOST_AXES))
    kind = "ends-of-axes" if context.image_shape is None else "ends-of-axes of-pictures"
    html += f'<div class="{kind}">{"".join(_axis(context, k, names, shares) for k in shown)}</div>'
    return Section("axes", "What each axis means", html + _ends_caption(context) + _recovery(context))


def _axis(context: Context, k: int, names: list[str], shares: Floats) -> str:
    owner = str(context.model.axis_names_[k])
    title = f"Axis {k + 1}" + (f": {owner}" if owner else "")
    return (
        f"<figure><h3>{escape(title)}</h3><p>{escape(_owner_in_words(k, owner, names, shares))}</p>"
        f"{_ends(context, k)}</figure>"
    )


def _owner_in_words(k: int, owner: str, names: list[str], shares: Floats) -> str:
    """Return who looks at an axis, and how much.

    Examples
    --------
    >>> _owner_in_words(0, "light", ["data", "light"], np.array([[0.2, 0.8], [0.93, 0.07]]))
    'light has 93 % of its weight here; data 20 %.'
    >>> _owner_in_words(1, "", ["data", "light"], np.array([[0.2, 0.8], [0.97, 0.03]]))
    'It belongs to no single relation; data has 80 % of its weight here.'
    """
    order = [int(c) for c in np.argsort(-shares[:, k], kind="stable") if shares[c, k] >= WORTH_NAMING]
    if owner in names:
        order = [names.index(owner), *(c for c in order if names[c] != owner)]
    said = [
        f"{names[c]} {'has ' if place == 0 else ''}{100 * shares[c, k]:.0f} %{' of its weight here' * (place == 0)}"
        for place, c in enumerate(order)
    ]
    words = "; ".join(said[:1]) + ("; " + ", ".join(said[1:]) if len(said) > 1 else "")
    if owner:
        return f"{words}."
    return f"It belongs to no single relation; {words}." if words else "No relation looks at it."


def _ends(context: Context, k: int) -> str:
    """The rows at the two ends of an axis: as pictures, or by what differs between them."""
    order = np.argsort(context.plane.Z[:, k], kind="stable")
    count = min(AT_AN_END, len(order) // 2)
    low, high = order[:count], order[::-1][:count]
    if count == 0:
        return ""
    if context.image_shape is not None and (context.X is not None or capabilities(context.model).has_inverse):
        return _pictures(context, low, "lowest") + _pictures(context, high, "highest")
    listed = [(name, ", ".join(str(int(row)) for row in rows)) for name, rows in (("lowest", low), ("highest", high))]
    return table(listed, kind="pairs") + _difference(context, order)


def _pictures(context: Context, rows: NDArray[np.intp], which: str) -> str:
    assert context.image_shape is not None
    values = context.X[rows] if context.X is not None else context.model.inverse_transform(context.plane.Z[rows])
    drawn = shrink(to_pictures(context.pixels(values), context.image_shape, context.limits), PICTURE_SIDE)
    numbers = ", ".join(str(int(row)) for row in rows)
    return (
        f'<p class="end"><span>{which}</span><img alt="{which} rows: {numbers}" title="rows {numbers}" '
        f'src="{sheet(drawn, len(rows))["src"]}"></p>'
    )


def _difference(context: Context, order: NDArray[np.intp]) -> str:
    """The features that differ most between the lowest and the highest tenth, in their own spread."""
    if context.numbers is None:
        return ""
    tenth, values = max(1, len(order) // 10), np.ma.masked_invalid(context.numbers.numbers)
    low, high = (values[rows].mean(axis=0).filled(np.nan) for rows in (order[:tenth], order[-tenth:]))
    spread = values.std(axis=0).filled(0.0)
    apart = np.abs(high - low) / np.where(spread > 0, spread, np.inf)
    chosen = [int(j) for j in np.argsort(-apart, kind="stable")[:MOST_FEATURES] if apart[j] > 0]
    rows = [(context.numbers.names[j], write_number(float(low[j])), write_number(float(high[j]))) for j in chosen]
    return table(rows, ("mean of", "lowest", "highest"), "numbers")


def _ends_caption(context: Context) -> str:
    q = context.plane.n_components
    words = ["The rows with the smallest and the largest values on each axis, from the end."]
    if context.image_shape is None:
        words = ["The numbers of the rows with the smallest and the largest values, from the end."]
        if context.numbers is not None:
            words.append(
                "Below them, the features that differ most, in standard deviations, between lowest and highest tenth."
            )
    if q > MOST_AXES:
        words.append(f"The first {MOST_AXES} of {q} axes are described.")
    return f'<p class="caption">{escape(" ".join(words))}</p>'


def _recovery(context: Context) -> str:
    """How well each axis predicts held-out labels."""
    about = {name for one in context.attributes for name in (one.name, one.relation, one.column)}
    first = () if context.labels is None else (context.labels,)
    others = [column for column in (*first, *context.columns) if column.name not in about]
    own, rest = recovered(context.model, context.plane.Z, context.attributes, others[:MOST_OTHERS])
    if not own and not rest:
        return ""
    shown = min(context.plane.n_components, MOST_AXES)
    head = ("", "measure", *(f"axis {k + 1}" for k in range(shown)), "chance", "rows")
    lines = [(*line[: 2 + shown], *line[-2:]) for line in AxisRecovery((*own, *rest)).rows()]
    notes = [
        "Prediction of a column from one axis: rank correlation (Spearman) of numbers, correlation with the circle of "
        "angles, accuracy of categories predicted from the 5 nearest rows along the axis.",
        *_pairs(own + rest),
    ]
    if own:
        notes.append("Columns of relations are measured on rows whose entry was not used in the fit.")
    if rest:
        notes.append("Other columns: on rows that are in no relation, if there are any; else on all rows.")
    return table(lines, head, "numbers") + f'<p class="caption">{escape(" ".join(notes))}</p>'


def _pairs(found: list[AttributeRecovery]) -> list[str]:
    """An angle takes two axes: which, and how well they tell it."""
    return [
        f"Axes {one.pair[0] + 1} and {one.pair[1] + 1} predict {one.name}: R² {one.pair_value:.2f} on the circle."
        for one in found
        if one.pair is not None
    ]
