"""A progress bar with the objective and the estimated time left: one line on a terminal, one output in a notebook.

Fits draw it with ``verbose=1``, :func:`sidelight.embed_rows` while it embeds rows, and the command line on a terminal.
In a notebook it is drawn through IPython's display protocol, which replaces an output in place; IPython is used only
where it runs already, and is not needed.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from html import escape
from typing import IO, Any, Protocol

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


class _Drawing(Protocol):
    """Where a bar is drawn."""

    def draw(self, name: str, text: str, share: float | None) -> None:
        """Redraw the bar; ``share`` is the share done, or None if unknown."""

    def close(self, text: str) -> None:
        """Replace the bar by a final text; empty text removes it."""


class ProgressBar:
    """A callback that redraws one line, or one output of a notebook; it never stops a fit.

    Parameters
    ----------
    name : str
        Shown at the start of the line.
    stream : text stream, optional
        Where to draw a line; by default in the notebook that runs this code, otherwise on standard error.
    every : float, default=0.1
        Least number of seconds between two drawings.
    """

    def __init__(self, name: str, *, stream: IO[str] | None = None, every: float = 0.1) -> None:
        self.name = name
        self.every = every
        self.drawn = 0.0
        display = _notebook() if stream is None else None
        self._drawing: _Drawing = _Line(stream or sys.stderr) if display is None else _NotebookOutput(display)

    def __call__(self, state: State) -> bool:
        """Draw the progress of a fit."""
        done = fraction_done(state)
        left = state.seconds * (1 - done) / max(done, 1e-3)
        detail = f"stage {state.stage + 1}/{state.n_stages}  objective {state.objective:.5f}"
        self.show(f"{detail}  {state.seconds:.0f} s, {left:.0f} s left", done)
        return False

    def show(self, text: str, share: float | None = None) -> None:
        """Draw the name, a bar for the ``share`` that is done, and ``text``, unless the last drawing is too recent."""
        now = time.perf_counter()
        if now - self.drawn >= self.every:
            self.drawn = now
            self._drawing.draw(self.name, text, share)

    def close(self, message: str) -> None:
        """End with a final message."""
        self._drawing.close(f"{self.name}: {message}")

    def wipe(self) -> None:
        """Remove the bar, if one was drawn."""
        if self.drawn:
            self._drawing.close("")


class _Line:
    """One line of a terminal, drawn over itself."""

    def __init__(self, stream: IO[str]) -> None:
        self.stream = stream

    def draw(self, name: str, text: str, share: float | None) -> None:
        bar = "" if share is None else f"[{'#' * int(_WIDTH * share):<{_WIDTH}}] "
        self._write(f"{name} {bar}{text} ")

    def close(self, text: str) -> None:
        self._write(text.ljust(_LINE) + ("\n" if text else "\r"))

    def _write(self, line: str) -> None:
        self.stream.write(f"\r{line}")
        self.stream.flush()


class _NotebookOutput:
    """One output of a notebook cell, which IPython replaces in place."""

    def __init__(self, display: Any) -> None:
        self._display = display
        self._handle: Any = None

    def draw(self, name: str, text: str, share: float | None) -> None:
        self._put(NotebookBar(f"{name} {text}", share))

    def close(self, text: str) -> None:
        self._put(NotebookBar(text))

    def _put(self, shown: NotebookBar) -> None:
        if self._handle is None:
            self._handle = self._display(shown, display_id=True)
        else:
            self._handle.update(shown)


@dataclass(frozen=True)
class NotebookBar:
    """Progress bar in a notebook: HTML if supported, otherwise text."""

    text: str
    share: float | None = None

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        bar = "" if self.share is None else f'<progress value="{self.share:.3f}" max="1"></progress> '
        return f'<span style="font:13px sans-serif">{bar}{escape(self.text)}</span>'


def _notebook() -> Any:
    """IPython's ``display`` where a notebook kernel runs this code, otherwise None; IPython is not imported for it."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    if not hasattr(shell, "kernel"):  # IPython on a terminal has none
        return None
    from IPython.display import display

    return display


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
