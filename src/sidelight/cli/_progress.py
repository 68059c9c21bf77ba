"""The progress bar of a fit: objective, stages, time left."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from ._talk import Talk

__all__ = ["bar", "fraction_done"]

_HALFWAY = 25


def fraction_done(state: Any) -> float:
    """Return the share of the fit that is behind us, guessed from stages done and iterations in this one.

    Within a stage nobody knows how many iterations will follow, so the bar approaches its end by halves.
    """
    return float((state.stage + 1 - 0.5 ** (state.iteration / _HALFWAY)) / max(state.n_stages, 1))


@contextmanager
def bar(talk: Talk, text: str) -> Iterator[Callable[[Any], bool]]:
    """Show a bar on standard error while the body runs; yield the callback that moves it."""
    shown = not talk.silent and talk.aside.is_terminal
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=talk.aside, transient=True, disable=not shown) as progress:
        # Without a total the bar pulses, which is all that can be said of a method without callbacks.
        task = progress.add_task(text, total=None, detail="")

        def callback(state: Any) -> bool:
            done = fraction_done(state)
            left = state.seconds * (1 - done) / max(done, 1e-3)
            detail = f"stage {state.stage + 1}/{state.n_stages}  objective {state.objective:.5g}  {left:.0f} s left"
            progress.update(task, total=1.0, completed=done, detail=detail)
            return False

        yield callback
