"""The progress bar of a fit on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from sidelight.base.progress import ProgressBar
from sidelight.base.result import Callback

from ._output import Output

__all__ = ["bar"]


@contextmanager
def bar(talk: Output, text: str) -> Iterator[Callback | None]:
    """Show a bar on standard error while the body runs; yield the callback that moves it, None where none is shown."""
    if talk.silent or not talk.aside.is_terminal:
        yield None
        return
    shown = ProgressBar(text, stream=talk.aside.file)
    try:
        yield shown
    finally:
        shown.wipe()
