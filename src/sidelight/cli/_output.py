"""Output of the command line: text lines for humans, one JSON object for programs, one line for an error."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import typer
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table

__all__ = ["INTERRUPTED", "CommandError", "Output", "open_output", "refuse_options"]

INTERRUPTED = 130
_NARROWEST = 16
"""Letters of a column that may wrap, at least."""


class CommandError(Exception):
    """An error that the user can correct; the message is one line that says how."""


def refuse_options(options: Mapping[str, Any], rule: str) -> None:
    """Raise CommandError for the first option that was used although ``rule`` excludes it."""
    for option, asked in options.items():
        if asked:
            raise CommandError(f"{option}: {rule}; leave one of them out")


class Output:
    """Output of one command: text, tables, warnings, and the final JSON object.

    Parameters
    ----------
    as_json : bool
        Say nothing on standard output but one JSON object at the end.
    quiet : bool
        Say nothing but errors.
    """

    def __init__(self, *, as_json: bool = False, quiet: bool = False) -> None:
        self.as_json = as_json
        self.quiet = quiet
        self.answer: dict[str, Any] = {}
        self.exit_code = 0
        self.human = Console(soft_wrap=True, highlight=False)
        self.aside = Console(stderr=True, soft_wrap=True, highlight=False)

    @property
    def silent(self) -> bool:
        """Whether no text is printed for humans."""
        return self.as_json or self.quiet

    def say(self, text: str, *, style: str | None = None) -> None:
        """Print a line for humans."""
        if not self.silent:
            self.human.print(text, markup=False, style=style)

    def table(self, heading: Sequence[str], rows: Sequence[Sequence[str]], wrapped: Sequence[int] = ()) -> None:
        """Print a small table for humans; entries of the ``wrapped`` columns may take several lines on a terminal."""
        if self.silent:
            return
        table = Table(box=None, pad_edge=False, header_style="bold")
        for place, name in enumerate(heading):
            # Names and options stay whole, so that they can be copied.
            table.add_column(name, overflow="fold", no_wrap=place not in wrapped)
        for row in rows:
            table.add_row(*row)
        with self._wide_enough(table, [heading, *rows], wrapped):
            self.human.print(table, markup=False)

    @contextmanager
    def _wide_enough(self, table: Table, rows: Sequence[Sequence[str]], wrapped: Sequence[int]) -> Iterator[None]:
        """Give a table its full width in a file or a pipe, and on a narrow terminal the width of what does not wrap."""
        console, own = self.human, self.human.width
        needed = [max(cell_len(row[place]) for row in rows) for place in range(len(table.columns))]
        if console.is_terminal:
            needed = [min(width, _NARROWEST) if place in wrapped else width for place, width in enumerate(needed)]
        console.width = max(own, sum(needed) + 2 * len(needed))
        try:
            yield
        finally:
            console.width = own

    def warn(self, text: str) -> None:
        """Print a note on standard error, and keep it for the JSON answer."""
        line = " ".join(text.split())
        noted = self.answer.setdefault("warnings", [])
        if line in noted:
            return
        noted.append(line)
        if not self.silent:
            self.aside.print(f"note: {line}", markup=False, style="yellow")

    def fail(self, text: str, exit_code: int = 1) -> None:
        """Print the one line that says what went wrong."""
        line = " ".join(text.split())
        self.exit_code = exit_code
        self.answer = {"error": line}
        self.aside.print(f"error: {line}", markup=False, style="bold red")

    def finish(self) -> None:
        """Print the JSON object, if that is what was asked for."""
        if self.as_json:
            typer.echo(json.dumps(_plain(self.answer), allow_nan=False))


@contextmanager
def open_output(*, as_json: bool, quiet: bool = False, debug: bool = False) -> Iterator[Output]:
    """Run the body of a command: errors become one line and an exit code, warnings become notes."""
    talk = Output(as_json=as_json, quiet=quiet)
    try:
        with warnings.catch_warnings():
            # User-facing warnings only: a deprecation inside a dependency is not the user's to act on.
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", UserWarning)
            warnings.showwarning = lambda message, *_, **__: talk.warn(str(message))
            yield talk
    except KeyboardInterrupt:
        talk.fail("interrupted before there was a result; no file was written", INTERRUPTED)
    except typer.Exit:
        raise
    except Exception as error:
        if debug:
            raise
        talk.fail(_sentence(error))
    talk.finish()
    if talk.exit_code:
        raise typer.Exit(talk.exit_code)


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; use fewer rows or columns"
    if isinstance(error, CommandError | ValueError | TypeError | ImportError | OSError):
        return str(error) or type(error).__name__
    return f"unexpected {type(error).__name__}: {error}. Run again with --debug to see where"


def _plain(value: Any) -> Any:
    """Turn NumPy values, paths and numbers that JSON lacks (nan, inf) into plain JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
