"""The annealing path as an SVG that takes its colours from the page's style."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.plot._annealing import MOST_STAGE_NAMES, AnnealingPath
from sidelight.plot._plane import Floats

from ._section import write_number

__all__ = ["line_chart", "nice_ticks", "path_chart"]

WIDTH, HEIGHT = 960, 330
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 58, 40
MOST_POINTS = 800
"""Points of a line; more would be closer together than a pixel."""


def path_chart(path: AnnealingPath) -> str:
    """Return the chart: objective and terms against iterations, every change of λ marked, and a legend."""
    n = len(path.objective)
    marks = _stages(path, n) if path.annealed else []
    across = "iteration, all stages" if path.annealed else "iteration"
    return line_chart({"objective": path.objective, **path.terms}, np.arange(1, n + 1), across, marks)


def line_chart(series: Mapping[str, Floats], at: NDArray[Any], across: str, marks: Sequence[str] = ()) -> str:
    """Return the lines of ``series``, whose points are at iterations ``at``, with axes, marks and a legend."""
    finite = np.concatenate([values[np.isfinite(values)] for values in series.values()])
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    room = 0.04 * (high - low) or 0.5
    vertical = (low - room, high + room)
    above = 0 if marks else TOP - 16  # room for the names of marks
    parts = [
        f'<div class="scrolling"><svg class="chart" viewBox="0 {above} {WIDTH} {HEIGHT - above}" role="img" '
        f'aria-label="{escape(", ".join(series))} against iterations">',
        *_axes(int(at[-1]), vertical, across),
        *marks,
        *(_line(k, name, values, at, vertical) for k, (name, values) in enumerate(series.items())),
        "</svg></div>",
        _legend(list(series)),
    ]
    return "".join(parts)


def _across(iteration: float, n: int) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * (iteration - 0.5) / n


def _down(value: float, vertical: tuple[float, float]) -> float:
    return TOP + (HEIGHT - TOP - BOTTOM) * (vertical[1] - value) / (vertical[1] - vertical[0])


def nice_ticks(low: float, high: float, most: int = 6) -> Floats:
    """Return round numbers between ``low`` and ``high``: steps of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> nice_ticks(0.0, 1.0).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]
    >>> nice_ticks(-3.0, 47.0).tolist()
    [0.0, 10.0, 20.0, 30.0, 40.0]
    """
    rough = (high - low) / max(most, 1)
    power = 10.0 ** np.floor(np.log10(rough))
    step = power * min(factor for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= rough * (1 - 1e-12))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    ticks: Floats = np.round(np.arange(first, last + 1) * step, 12) + 0.0  # so that no tick is -0
    return ticks


def _axes(n: int, vertical: tuple[float, float], across: str) -> list[str]:
    parts = []
    for tick in nice_ticks(*vertical):
        y = f"{_down(float(tick), vertical):.1f}"
        parts.append(f'<line class="rule" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>')
        parts.append(_text(LEFT - 8, y, "end", write_number(float(tick)), ' dy="4"'))
    for tick in nice_ticks(1.0, float(max(n, 2)), 10):
        if tick == int(tick):
            x = f"{_across(float(tick), n):.1f}"
            parts.append(_text(x, HEIGHT - BOTTOM + 18, "middle", f"{int(tick):,}"))
    parts.append(_text((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 4, "middle", across))
    return parts


def _text(x: object, y: object, anchor: str, words: str, more: str = "") -> str:
    return f'<text class="tick" x="{x}" y="{y}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


def _stages(path: AnnealingPath, n: int) -> list[str]:
    every = -(-len(path.stages) // MOST_STAGE_NAMES)
    parts = []
    for k, stage in enumerate(path.stages):
        x = _across(stage.start + 0.5, n)
        parts.append(f'<line class="stage" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{HEIGHT - BOTTOM}"/>')
        if k % every == 0:
            turn = f"rotate(-38 {x:.1f} {TOP - 6})"
            value = f"λ = {stage.regularization:.3g}"
            parts.append(f'<text class="stage" x="{x:.1f}" y="{TOP - 6}" transform="{turn}">{value}</text>')
    return parts


def _line(k: int, name: str, values: Floats, at: NDArray[Any], vertical: tuple[float, float]) -> str:
    n, last = len(values), int(at[-1])
    rows = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    rows = rows[np.isfinite(values[rows])]
    points = " ".join(f"{_across(int(at[row]), last):.1f},{_down(float(values[row]), vertical):.1f}" for row in rows)
    return f'<polyline class="series s{k % 8}" points="{points}"><title>{escape(name)}</title></polyline>'


def _legend(names: list[str]) -> str:
    items = "".join(f'<li><i class="s{k % 8}"></i>{escape(name)}</li>' for k, name in enumerate(names))
    return f'<ul class="chart-legend">{items}</ul>'
