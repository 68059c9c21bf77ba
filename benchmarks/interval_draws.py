"""Repeated draws of a share: how many it takes, whether a bar is met, and what an interrupted run has done already.

A set is divided at random and the model is fitted again, until the standard error of the mean coverage is at most 0.007
and the bar is decided, or as many draws were made or as many processor seconds spent as are allowed. The standard
error is that of divisions of this set, not of other sets like it.

=========  ============================================================
met        the mean is within the bar by a standard error at least
missed     it is outside by a standard error at least
open       anything else: the draws do not decide
=========  ============================================================
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["Draw", "draw_until_decided", "means", "resumed", "standard_error", "verdict", "write_draws"]

AIM, BAR = 0.9, 0.02
ENOUGH = 0.007
"""The standard error that is aimed at."""
FEWEST, MOST = 4, 80
SECONDS = float(os.environ.get("SIDELIGHT_INTERVALS_SECONDS", "30"))
"""Processor seconds of a set."""

Draw = dict[str, dict[str, list[float]]]
"""Method -> level -> coverage and mean width, of one draw."""
Draws = dict[str, dict[str, list[Draw]]]
"""Kind -> set -> draws."""


def standard_error(values: list[float]) -> float:
    """Standard error of a mean of draws; infinite of fewer than two.

    >>> round(standard_error([0.88, 0.92]), 6)
    0.02
    """
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("inf")


def verdict(values: list[float]) -> str:
    """Say whether the mean is within 0.02 of 0.9 by a standard error: ``met``, ``missed`` or ``open``.

    >>> verdict([0.90, 0.91, 0.90, 0.91]), verdict([0.93, 0.94, 0.93, 0.94]), verdict([0.88, 0.96, 0.90, 0.94])
    ('met', 'missed', 'open')
    """
    gap, error = abs(float(np.mean(values)) - AIM), standard_error(values)
    if gap + error <= BAR:
        return "met"
    return "missed" if gap - error > BAR else "open"


def means(draws: list[Draw]) -> dict[str, Any]:
    """Mean coverage and width of each method and level; standard error, draws and verdict of ours at 0.9."""
    found: dict[str, Any] = {
        who: {level: [float(v) for v in np.mean([one[who][level] for one in draws], axis=0)] for level in levels}
        for who, levels in draws[0].items()
    }
    ours = coverages(draws)
    return {**found, "error": standard_error(ours), "draws": len(draws), "verdict": verdict(ours)}


def coverages(draws: list[Draw]) -> list[float]:
    """Coverage of ours at 0.9 in each draw."""
    return [one["ours"]["0.9"][0] for one in draws]


def draw_until_decided(
    draws: list[Draw], draw: Callable[[int], Draw], keep: Callable[[], None], *, quick: bool
) -> None:
    """Append draws to ``draws`` until the bar is decided; ``keep`` is called after each.

    Parameters
    ----------
    draws : list
        Those of an interrupted run come first.
    draw : callable
        From the number of a draw to its coverage and width.
    keep : callable
        Writes what there is.
    quick : bool
        One draw.
    """
    began = time.process_time()
    while not _is_enough(coverages(draws), time.process_time() - began, quick=quick):
        draws.append(draw(len(draws)))
        keep()


def _is_enough(values: list[float], seconds: float, *, quick: bool) -> bool:
    if quick or not values:
        return bool(values)
    if len(values) < FEWEST:
        return seconds > 2 * SECONDS  # even of slow sets a few
    if len(values) >= MOST or seconds > SECONDS:
        return True
    return standard_error(values) <= ENOUGH and verdict(values) != "open"


def resumed(path: Path) -> Draws:
    """The draws of an interrupted run, or none."""
    return json.loads(path.read_text()) if path.exists() else {}


def write_draws(path: Path, draws: Draws) -> None:
    """Write what there is, all or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(draws))
    part.replace(path)
