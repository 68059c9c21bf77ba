"""The picture of performance over time, drawn from the files in ``docs/files/history``."""

from __future__ import annotations

import json
from pathlib import Path

from canvas import BLUE, GREY, panels
from matplotlib.figure import Figure

FILES = Path(__file__).parents[1] / "files" / "history"


def history() -> Figure:
    """One panel per number: the ratio to the rival of the same run, commit by commit."""
    runs = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(FILES.glob("*.json"))]
    names = [number["what"] for number in runs[-1]["numbers"]]
    commits = [f"{run['date'][5:10]}\n{run['commit'][:7]}" for run in runs]
    figure, axes = panels(5, rows=2, width=12.0, height=5.0)
    for ax, name in zip(axes, names, strict=True):
        found = [next((x for x in run["numbers"] if x["what"] == name), None) for run in runs]
        known = [(i, number["ratio"]) for i, number in enumerate(found) if number is not None]
        ax.axhline(1.0, color=GREY, linewidth=0.8)
        ax.plot(*zip(*known, strict=True), color=BLUE, marker="o", markersize=4)
        ax.set(xlim=(-0.4, len(runs) - 0.6), ylim=(0, 1.15 * max(1.0, *(ratio for _, ratio in known))))
        ax.set_xticks(range(len(runs)), commits, fontsize=6)
        ax.tick_params(axis="y", labelsize=7)
        rival = next(number["rival_name"] for number in found if number is not None)
        ax.set_title(f"{name}\nbeside {rival}", fontsize=8)
    return figure


FIGURES = {"history": history}
