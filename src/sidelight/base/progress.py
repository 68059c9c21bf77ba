"""One progress bar: a line that is drawn again and again, with the objective and the time left.

Fits draw it with ``verbose=1``, :func:`sidelight.embed_rows` while it places rows, and the command line on a terminal.
"""

from __future__ import annotations

import sys
import time
from typing import IO

from .result import Callback, State

__all__ = ["ProgressBar", "RowProgress", "both", "fraction_done"]

_WIDTH = 24  # letters of a full bar
_LINE = 100  # letters that are wiped at the end
_HALFWAY = 25


def fraction_done(state: State) -> float:
    """Return the share of a fit that is done, guessed from its stages and the iterations of the present one.

    Nobody knows how many iterations a stage will take, so within one the bar approaches its end by halves.
    """
    return float((state.stage + 1 - 0.5 ** (state.iteration / _HALFWAY)) / max(state.n_stages, 1))


class ProgressBar:
    """A callback that draws one line again and again; it never stops a fit.

    Parameters
    ----------
    name : str
        What is fitted, at the start of the line.
    stream : text stream, optional
        Where to draw; by default standard error.
    every : float, default=0.1
        Seconds between two drawings at least.
    """

    def __init__(self, name: str, *, stream: IO[str] | None = None, every: float = 0.1) -> None:
        self.name = name
        self.stream = stream if stream is not None else sys.stderr
        self.every = every
        self.drawn = 0.0

    def __call__(self, state: State) -> bool:
        """Draw how far a fit is."""
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
        """End the line with how it went."""
        self._write(f"{self.name}: {message}".ljust(_LINE) + "\n")

    def wipe(self) -> None:
        """Remove the line, if one was drawn."""
        if self.drawn:
            self._write(" " * _LINE + "\r")

    def _write(self, line: str) -> None:
        self.stream.write(f"\r{line}")
        self.stream.flush()


class RowProgress:
    """The same line for rows that are worked through block by block; their ``total`` may be unknown (None)."""

    def __init__(self, name: str, total: int | None) -> None:
        self.bar = ProgressBar(name)
        self.total, self.done, self.began = total, 0, time.perf_counter()

    def __call__(self, done: int) -> None:
        """Draw how many rows are done, and how long the others will take."""
        self.done, seconds = done, time.perf_counter() - self.began
        left = "" if self.total is None else f" of {self.total:,}, {seconds * (self.total / done - 1):.0f} s left"
        self.bar.show(f"{done:,} rows placed{left}")

    def close(self) -> None:
        """End the line with how long it took."""
        self.bar.close(f"{self.done:,} rows placed in {time.perf_counter() - self.began:.1f} s")


def both(first: Callback | None, second: Callback | None) -> Callback | None:
    """Return one callback that calls two; the fit stops when either says so."""
    if first is None or second is None:
        return first or second

    def call(state: State) -> bool:
        stop = bool(first(state))
        return bool(second(state)) or stop

    return call
