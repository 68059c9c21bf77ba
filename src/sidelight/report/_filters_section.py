"""The section about filters: as pictures or lines, those that an input makes, and all of one mapping unit."""

from __future__ import annotations

import numpy as np

from sidelight.base.capabilities import capabilities
from sidelight.plot._pictures import Bytes
from sidelight.plot._plane import Floats

from ._context import Context
from ._examples import machine_of
from ._filters import FilterSet, ThreeWay, filter_sets, strongest, three_way
from ._section import Section
from ._strips import chart, picture, strips

__all__ = ["filters_section"]

MOST_PICTURES, MOST_CHARTS = 40, 16
"""Filters that are drawn."""
IN_A_LINE = 10
"""Pictures of filters beside each other."""
INPUTS, UNITS = 4, 10
"""Inputs whose filters are drawn, and mapping units."""
MOST_CELLS = 576
"""Input values that may each have a cell in the picture of a mapping unit."""
BRIGHTEST = 0.999
"""Share of a unit's weights below black or white: a few corners would leave all else grey."""
SCALED = "Each scaled by its largest weight; in pictures grey is 0, white positive, black negative."


def filters_section(context: Context) -> Section | None:
    """What a network or a gated machine looks for and adds."""
    if not capabilities(context.model).is_network:
        return None
    parameters = context.model.parameters_
    figures = [_figure(context, one) for one in filter_sets(parameters)]
    gated = three_way(parameters)
    if gated is not None:
        figures += [_of_inputs(context, gated), _of_units(context, gated)]
    drawn = [figure for figure in figures if figure]
    if not drawn:
        return None
    html = f'<div class="figures">{"".join(drawn)}</div><p class="caption">{SCALED}</p>'
    return Section("filters", "Filters", html)


def _figure(context: Context, filters: FilterSet) -> str:
    scaled, n = strongest(filters.weights), len(filters.weights)
    shape = _shape(context, scaled.shape[1])
    shown = min(n, MOST_CHARTS if shape is None else MOST_PICTURES)
    if shape is not None:
        drawn = picture(_grey(scaled[:shown], shape), IN_A_LINE, filters.title)
    else:
        small = "".join(f"<div>{chart({'filter': row}, (-1.0, 1.0))}</div>" for row in scaled[:shown])
        drawn = f'<div class="charts tiny">{small}</div>'
    some = f" The strongest {shown} of {n}." if shown < n else ""
    return _framed(filters.title, drawn, filters.words + some)


def _of_inputs(context: Context, gated: ThreeWay) -> str:
    """Filters that some inputs make, in lines."""
    examples, model = context.examples, context.model
    offers = capabilities(model)
    if examples is None or offers.takes_fields or not offers.has_column_weights:
        return ""
    which = examples.shown[:INPUTS]
    inputs = examples.before(which)
    before = examples.pictures(inputs)
    units = np.argsort(-gated.sizes, kind="stable")[:UNITS]
    made = [gated.of_input(model.input_frame_.inside(x))[units] for x in inputs]
    shape = _shape(context, made[0].shape[1])
    if before is None or shape is None:
        return ""
    lines = {
        f"row {int(row)}": [first, *_grey(strongest(filters), shape)]
        for row, first, filters in zip(which, before, made, strict=True)
    }
    words = f"An input, and the output filters it induces in the {len(units)} strongest mapping units."
    return _framed("Output filters of an input", strips(lines), words, wide=True)


def _of_units(context: Context, gated: ThreeWay) -> str:
    """The weights with which the two strongest mapping units tie inputs to outputs."""
    units = np.argsort(-gated.sizes, kind="stable")[:2]
    fields = [gated.of_unit(int(unit)) for unit in units]
    if not capabilities(machine_of(context.model)).has_column_weights or max(fields[0].shape) > MOST_CELLS:
        return ""
    return "".join(_of_unit(context, int(unit), field) for unit, field in zip(units, fields, strict=True))


def _of_unit(context: Context, unit: int, field: Floats) -> str:
    """For each input pixel, at its place, a picture of the weights; of rows that are no pictures, all as a matrix."""
    bright = np.clip(field / (np.quantile(np.abs(field), BRIGHTEST) or 1.0), -1.0, 1.0)
    title, shape = f"Mapping unit {unit}", _shape(context, field.shape[0])
    if shape is not None and field.shape[0] == field.shape[1]:
        words = "Each cell is an input pixel, at its position: its weights to the output pixels."
        return _framed(title, picture(_grey(bright, shape), shape[1], title), words)
    drawn = picture(_grey(bright.reshape(1, -1), (field.shape[0], field.shape[1])), 1, title)
    return _framed(title, drawn, "Weights between inputs (top to bottom) and outputs (left to right).")


def _shape(context: Context, n_values: int) -> tuple[int, int] | None:
    """Height and width of a filter's picture; None where it is none."""
    if capabilities(context.model).takes_fields:
        size = context.model.patch_size
        sides = size if isinstance(size, tuple | list) else (size, size)
        flat = context.model.structure == "grid" and sides[0] * sides[1] == n_values
        return (int(sides[0]), int(sides[1])) if flat else None
    shape = context.image_shape
    return (shape[0], shape[1]) if shape is not None and len(shape) == 2 and shape[0] * shape[1] == n_values else None


def _grey(scaled: Floats, shape: tuple[int, int]) -> list[Bytes]:
    """Weights from -1 to 1 as pictures, black to white."""
    return list(np.rint(127.5 * (scaled + 1.0)).astype(np.uint8).reshape(-1, *shape))


def _framed(title: str, drawn: str, words: str, *, wide: bool = False) -> str:
    kind = ' class="wide"' if wide else ""
    return f'<figure{kind}><h3>{title}</h3>{drawn}<p class="caption">{words}</p></figure>'
