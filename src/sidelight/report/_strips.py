"""Samples side by side: pictures in lines, or small charts where samples are no pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from sidelight.plot._forward import MOST_BARS
from sidelight.plot._pictures import Bytes, range_of
from sidelight.plot._plane import Floats

from ._png import data_uri, mosaic
from ._section import write_number

__all__ = ["COLOURS", "MOST_POINTS", "chart", "charts", "key", "picture", "strips"]

SMALL, LARGE = 62, 160
"""Width of a picture on the page, about: of a row, of a field."""
WIDEST = 960
"""Width of a line of pictures on the page, at most."""
WIDTH, HEIGHT = 240, 96
"""Size of a small chart."""
MOST_POINTS = 400
"""Points of a line; of more, the first so many are drawn."""
COLOURS = {"input": "before", "output": "s0", "model": "s1"}
"""Class of the style for each line of a chart, by what it is."""


def picture(pictures: Sequence[Bytes], columns: int, words: str) -> str:
    """Return pictures as one image, enlarged by a whole number where they are small."""
    drawn = mosaic(pictures, columns)
    widest = max(one.shape[1] for one in pictures)
    wanted = LARGE if widest > SMALL or len(pictures) == 1 else SMALL
    times = max(1, min(round(wanted / widest), WIDEST // drawn.shape[1]))
    return f'<img class="pixels" width="{times * drawn.shape[1]}" alt="{escape(words)}" src="{data_uri(drawn)}">'


def strips(lines: Mapping[str, Sequence[Bytes]]) -> str:
    """Return lines of pictures with their names before them."""
    parts = [
        f'<p class="strip"><span>{escape(name)}</span>{picture(line, len(line), name)}</p>'
        for name, line in lines.items()
    ]
    return f'<div class="scrolling">{"".join(parts)}</div>'


def charts(samples: Sequence[Mapping[str, Floats]], titles: Sequence[str], names: Sequence[str] = ()) -> str:
    """Return a small chart for each sample, all with one range."""
    limits = range_of(np.concatenate([values.ravel() for sample in samples for values in sample.values()]))
    parts = [
        f"<figure><h3>{escape(title)}</h3>{chart(sample, limits, names)}</figure>"
        for sample, title in zip(samples, titles, strict=True)
    ]
    return f'<div class="charts">{"".join(parts)}</div>'


def chart(
    series: Mapping[str, Floats],
    limits: tuple[float, float],
    names: Sequence[str] = (),
    size: tuple[int, int] = (WIDTH, HEIGHT),
) -> str:
    """Return values as bars beside each other where they are few, as lines where they are many."""
    width, height = size
    low, high = min(limits[0], 0.0), max(limits[1], 0.0)
    longest = max(len(values) for values in series.values())
    scaled = {name: (height - 4) * (high - values[:MOST_POINTS]) / (high - low) + 2 for name, values in series.items()}
    zero = (height - 4) * high / (high - low) + 2
    rule = f'<line class="rule" x1="0" x2="{width}" y1="{zero:.1f}" y2="{zero:.1f}"/>'
    draw = _bars if longest <= MOST_BARS else _lines
    label = escape(", ".join(series))
    return (
        f'<svg class="chart narrow" viewBox="0 0 {width} {height}" role="img" aria-label="{label}">{rule}'
        f"{draw(scaled, series, zero, width, names)}</svg>"
    )


def _lines(
    scaled: Mapping[str, Floats], series: Mapping[str, Floats], zero: float, width: int, names: Sequence[str]
) -> str:
    del series, zero, names
    parts = []
    for name, heights in scaled.items():
        across = (np.arange(len(heights)) + 0.5) * width / len(heights)
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(across, heights, strict=True))
        parts.append(f'<polyline class="series thin {COLOURS.get(name, "s1")}" points="{points}"/>')
    return "".join(parts)


def _bars(
    scaled: Mapping[str, Floats], series: Mapping[str, Floats], zero: float, width: int, names: Sequence[str]
) -> str:
    step = width / max(len(values) for values in series.values())
    thick = 0.8 * step / len(series)
    parts = []
    for place, (name, heights) in enumerate(scaled.items()):
        for k, y in enumerate(heights):
            said = f"{names[k] if k < len(names) else f'value {k + 1}'}, {name}: {write_number(float(series[name][k]))}"
            parts.append(
                f'<rect class="{COLOURS.get(name, "s1")}" fill="currentColor" '
                f'x="{step * (k + 0.1) + place * thick:.1f}" width="{thick:.1f}" y="{min(y, zero):.1f}" '
                f'height="{abs(y - zero):.1f}"><title>{escape(said)}</title></rect>'
            )
    return "".join(parts)


def key(names: Sequence[str], words: Mapping[str, str]) -> str:
    """Return what the colours of charts mean."""
    items = "".join(f'<li><i class="{COLOURS[name]}"></i>{escape(words[name])}</li>' for name in names)
    return f'<ul class="chart-legend">{items}</ul>'
