"""The sections about changes between pictures: where pixels go, and what was done in a pair done to others."""

from __future__ import annotations

from html import escape

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.plot._pictures import Bytes
from sidelight.plot._plane import Floats

from ._context import Context
from ._examples import Examples
from ._png import data_uri
from ._section import Section
from ._strips import picture

__all__ = ["analogy_section", "flow_section"]

PAIRS, OTHERS = 4, 6
"""Pairs whose change is drawn, and other inputs it is done to."""
PIXEL = 16
"""Width of an input pixel under the arrows."""
MOST_ARROWS = 1024
"""Pixels that may each have an arrow."""


def flow_section(context: Context) -> Section | None:
    """Arrows from each pixel to where the inferred change takes it."""
    examples, shape = context.examples, context.image_shape
    offers = capabilities(context.model)
    if examples is None or not examples.paired or not (offers.has_flow and offers.has_column_weights):
        return None
    if shape is None or len(shape) != 2:
        return None
    if examples.n_inputs != examples.n_outputs or shape[0] * shape[1] > MOST_ARROWS:
        return None
    which = examples.shown[:PAIRS]
    arrows = examples.flow(which, (shape[0], shape[1]))
    before, after = (examples.pictures(part(which)) for part in (examples.before, examples.after))
    assert before is not None
    assert after is not None
    drawn = [
        f"<figure><h3>row {int(row)}</h3>{_arrows(steps, one)}{picture([one, other], 2, 'input and output')}</figure>"
        for row, steps, one, other in zip(which, arrows, before, after, strict=True)
    ]
    words = (
        "The transformation of each pair: an arrow from each input pixel to the output pixel that it is connected "
        "to most strongly, a dot if it stays. Below: the input and the output. Ignore arrows of pixels that the change "
        "moves out of the picture."
    )
    html = f'<div class="charts flows">{"".join(drawn)}</div><p class="caption">{words}</p>'
    return Section("flow", "Where pixels go", html)


def _arrows(steps: Floats, before: Bytes) -> str:
    height, width = steps.shape[:2]
    lines, dots = [], []
    for (i, j), (down, right) in zip(np.ndindex(height, width), steps.reshape(-1, 2), strict=True):
        x, y = PIXEL * (j + 0.5), PIXEL * (i + 0.5)
        if down == 0 and right == 0:
            dots.append(f"M{x:g} {y:g}h0")
        else:
            lines.append(_arrow(x, y, float(right), float(down)))
    box = f"{PIXEL * width} {PIXEL * height}"
    return (
        f'<svg class="flow" viewBox="0 0 {box}" role="img" aria-label="Flow">'
        f'<image class="pixels" width="{PIXEL * width}" height="{PIXEL * height}" href="{data_uri(before)}"/>'
        f'<path class="still" d="{"".join(dots)}"/><path class="goes" d="{"".join(lines)}"/></svg>'
    )


def _arrow(x: float, y: float, right: float, down: float) -> str:
    """A line and its head: to the middle of the other pixel, a little shorter."""
    length = float(np.hypot(right, down))
    along, across = (right / length, down / length), (-down / length, right / length)
    reach = PIXEL * length - 3
    tip = (x + reach * along[0], y + reach * along[1])
    back = [
        (tip[0] - 5 * along[0] + side * 3 * across[0], tip[1] - 5 * along[1] + side * 3 * across[1]) for side in (-1, 1)
    ]
    head = f"M{back[0][0]:.1f} {back[0][1]:.1f}L{tip[0]:.1f} {tip[1]:.1f}L{back[1][0]:.1f} {back[1][1]:.1f}"
    return f"M{x:.1f} {y:.1f}L{tip[0]:.1f} {tip[1]:.1f}{head}"


def analogy_section(context: Context) -> Section | None:
    """What was done in some pairs, done to other inputs."""
    examples = context.examples
    if examples is None or not examples.paired or not capabilities(context.model).has_transfer:
        return None
    pairs = examples.shown[:PAIRS]
    others = _others(examples)
    shown = examples.pictures(examples.before(others))
    lines = [_line(examples, int(pair), others) for pair in pairs]
    if shown is None or any(line is None for line in lines):
        return None
    head = f'<p class="analogy"><span>before, after</span>{picture(shown, len(shown), "other inputs")}</p>'
    words = (
        "Each line is a pair, before and after, and the same transformation applied to the other inputs above. "
        "The model sees the pair, and of the others only the input."
    )
    body = "".join(line for line in lines if line is not None)
    return Section("analogy", "The same change for others", f'{head}{body}<p class="caption">{escape(words)}</p>')


def _others(examples: Examples) -> NDArray[np.intp]:
    """Samples that are in none of the pairs, as far as there are such."""
    pairs = examples.shown[:PAIRS]
    for candidates in (examples.shown, examples.halves[1]):
        rest = np.setdiff1d(candidates, pairs)
        if len(rest):
            return rest[:OTHERS]
    return pairs


def _line(examples: Examples, pair: int, others: NDArray[np.intp]) -> str | None:
    """A pair, and the others after its change; None where they are no pictures."""
    one = np.array([pair])
    both = examples.pictures([*examples.before(one), *examples.after(one)])
    found = examples.pictures(examples.transferred(pair, others))
    if both is None or found is None:
        return None
    return (
        f'<p class="analogy"><span>{picture(both, 2, f"pair {pair}")}</span>'
        f"{picture(found, len(found), f'as in pair {pair}')}</p>"
    )
