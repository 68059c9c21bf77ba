"""The command line: ``sidelight look | embed | transform | invert | counterfactual | corrected | predict | ...``."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; without its extra, say in one line how to get it."""
    try:
        import pandas as pd  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        missing = (error.name or "a package").partition(".")[0]
        sentence = f'The command line needs {missing}. Run: pip install "sidelight[cli]".'
        print(sentence, file=sys.stderr)
        raise SystemExit(1) from None
    from ._app import app

    app(prog_name="sidelight")
