"""The application that the commands of ``_app.py`` belong to: usage errors, version."""

from __future__ import annotations

import json as json_module
import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import version as package_version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

__all__ = ["app"]


class _Commands(TyperGroup):
    """Remembers the command as it was typed, and answers usage errors in JSON when JSON was asked for."""

    def main(  # type: ignore[override]  # the other arguments pass through as they are
        self, args: Sequence[str] | None = None, **extra: Any
    ) -> Any:
        typed = list(sys.argv[1:] if args is None else args)
        extra.setdefault("obj", {"command": shlex.join(["sidelight", *typed])})
        if "--json" not in typed:
            return super().main(args=typed, **extra)
        try:
            code = super().main(args=typed, **{**extra, "standalone_mode": False})
        except Exception as error:
            # Typer may bring its own copy of click, so usage errors are known by what they can do.
            if not hasattr(error, "format_message"):
                raise
            typer.echo(json_module.dumps({"error": error.format_message()}))
            sys.exit(getattr(error, "exit_code", 2))
        sys.exit(code if isinstance(code, int) else 0)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
    rich_markup_mode="rich",
    help="Embeddings that you can inform, and that go both ways.",
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"sidelight {package_version('sidelight')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Embeddings that you can inform, and that go both ways."""
