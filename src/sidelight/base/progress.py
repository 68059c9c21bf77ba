"""A progress bar on one line, with the objective and the estimated time left.

Fits draw it with ``verbose=1``, :func:`sidelight.embed_rows` while it embeds rows, and the command line on a terminal.
"""

from __future__ import annotations

import sys
import time
from typing import IO

from .result import Callback, State

__all__ = ["ProgressBar", "RowProgress", "combine_callbacks", "fraction_done"]

_WIDTH = 24  # letters of a full bar
_LINE = 100  # letters that are wiped at the end
_HALFWAY = 25


def fraction_done(state: State) -> float:
    """Return the estimated share of a fit that is done, from its stage and the iterations of the present stage.

    The number of iterations of a stage is unknown in advance, so within a stage the bar approaches its end
    geometrically.
    """
    return float((state.stage + 1 - 0.5 ** (state.iteration / _HALFWAY)) / max(state.n_stages, 1))


class ProgressBar:
    """A callback that redraws one line; it never stops a fit.

    Parameters
    ----------
    name : str
        Shown at the start of the line.
    stream : text stream, optional
        Where to draw; by default standard error.
    every : float, default=0.1
        Least number of seconds between two drawings.
    """

    def __init__(self, name: str, *, stream: IO[str] | None = None, every: float = 0.1) -> None:
        self.name = name
        self.stream = stream if stream is not None else sys.stderr
        self.every = every
        self.drawn = 0.0

    def __call__(self, state: State) -> bool:
        """Draw the progress of a fit."""
        done = fraction_done(state)
        left = state.seconds * (1 - done) / max(done, 1e-3)
        detail = f"stage {state.stage + 1}/{state.n_stages}  objective {state.objective:.5f}"
        self.show(f"[{'#' * int(_WIDTH * done):<{_WIDTH}}] {detail}  {state.seconds:.0f} s, {left:.0f} s left")
        return False

    def show(self, text: str) -> None:
        """Draw the name and ``text``, unless the last drawing is too recent."""
        now = time.perf_counter()
        if now - self.drawn >= self.every:
            self.drawn = now
            self._write(f"{self.name} {text} ")

    def close(self, message: str) -> None:
        """End the line with a final message."""
        self._write(f"{self.name}: {message}".ljust(_LINE) + "\n")

    def wipe(self) -> None:
        """Remove the line, if one was drawn."""
        if self.drawn:
            self._write(" " * _LINE + "\r")

    def _write(self, line: str) -> None:
        self.stream.write(f"\r{line}")
        self.stream.flush()


class RowProgress:
    """A progress line for rows processed block by block; their ``total`` may be unknown (None)."""

    def __init__(self, name: str, total: int | None) -> None:
        self.bar = ProgressBar(name)
        self.total, self.done, self.began = total, 0, time.perf_counter()

    def __call__(self, done: int) -> None:
        """Draw the number of rows done, and the estimated time left."""
        self.done, seconds = done, time.perf_counter() - self.began
        left = "" if self.total is None else f" of {self.total:,}, {seconds * (self.total / done - 1):.0f} s left"
        self.bar.show(f"{done:,} rows placed{left}")

    def close(self) -> None:
        """End the line with the time taken."""
        self.bar.close(f"{self.done:,} rows placed in {time.perf_counter() - self.began:.1f} s")


def combine_callbacks(first: Callback | None, second: Callback | None) -> Callback | None:
    """Return one callback that calls two; the fit stops when either returns True."""
    if first is None or second is None:
        return first or second

    def call(state: State) -> bool:
        stop = bool(first(state))
        return bool(second(state)) or stop

    return call
