"""The command ``demo``: the built-in turntable, embedded and reported."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from . import _options as options
from ._methods import parse_settings
from ._output import open_output

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("sidelight-demo"),
    views: Annotated[int, typer.Option("--views", min=4, help="Views of each object.")] = 72,
    explore: Annotated[
        bool, typer.Option("--explore", help="Open the map without given in the browser, with two hints set.")
    ] = False,
    settings: options.Settings = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:
    """Embed pictures of turning objects, given the object and given the angle; write reports and pictures."""
    from ._demo import demo as run
    from ._demo import demo_page

    with open_output(as_json=json, quiet=quiet, debug=debug) as talk:
        if explore:
            demo_page(talk, out, n_views=views, settings=parse_settings(settings or ()))
            return
        run(talk, out, n_views=views, settings=parse_settings(settings or ()))
