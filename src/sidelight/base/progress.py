"""One progress bar with the objective and the time left, for ``verbose=1``."""

from __future__ import annotations

import sys
import time
from typing import TextIO

from .result import Callback, State

__all__ = ["ProgressBar", "both"]


class ProgressBar:
    """A callback that redraws one line; it never stops a fit."""

    def __init__(self, name: str, *, stream: TextIO | None = None, every: float = 0.1) -> None:
        self.name = name
        self.stream = stream if stream is not None else sys.stderr
        self.every = every
        self.drawn = 0.0

    def __call__(self, state: State) -> bool:
        """Draw, at most ten times a second."""
        now = time.perf_counter()
        if now - self.drawn >= self.every:
            self.drawn = now
            self._draw(state)
        return False

    def _draw(self, state: State) -> None:
        done = (state.stage + 1 - 0.5 ** (state.iteration / 25)) / state.n_stages
        left = state.seconds * (1 - done) / max(done, 1e-3)
        bar = "#" * int(24 * done)
        line = f"{self.name} [{bar:<24}] stage {state.stage + 1}/{state.n_stages}"
        self.stream.write(f"\r{line}  objective {state.objective:.5f}  {state.seconds:.0f} s, {left:.0f} s left ")
        self.stream.flush()

    def close(self, message: str) -> None:
        """End the line with how it went."""
        self.stream.write(f"\r{self.name}: {message}".ljust(100) + "\n")
        self.stream.flush()


def both(first: Callback | None, second: Callback | None) -> Callback | None:
    """One callback that calls two; the fit stops when either says so."""
    if first is None or second is None:
        return first or second

    def call(state: State) -> bool:
        stop = bool(first(state))
        return bool(second(state)) or stop

    return call
