"""Checks of ``--given`` before a fit: options that need it, and columns confounded with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from sidelight.side.design import warn_of_kept
from sidelight.side.given import Given

from ._given import parse_types
from ._output import CommandError

__all__ = ["check_plain", "warn_of_colours"]

_OWNER = "embed"


def check_plain(*, plain: bool, report: bool, given: pd.DataFrame) -> None:
    """Raise for ``--plain`` without ``--given``, or without a report."""
    if plain and not given.shape[1]:
        raise CommandError("--plain: there is nothing to leave out; use it with --given")
    if plain and not report:
        raise CommandError("--plain: the plain map is for the report; leave --no-report out")


def warn_of_colours(asked: Sequence[str], colours: pd.DataFrame, given: pd.DataFrame, types: Sequence[str]) -> None:
    """Warn (``DesignWarning``) of colours that were asked for and that factoring out ``given`` takes out, too.

    A batch that is a condition, or donors that have one condition each: no method can show the one without the other.
    ``types``: the texts of ``--given-type``.
    """
    names = [name for name in asked if name in colours.columns and name not in given.columns]
    names = [name for name in names if colours[name].notna().any()]
    if not names or not given.shape[1]:
        return
    kinds: Any = parse_types(types, [str(name) for name in given.columns]) or None
    known, kept = Given.learn(_OWNER, given, len(given), kinds), Given.learn(_OWNER, colours[names], len(given), None)
    entries = (columns.encode(_OWNER, table, len(table)) for columns, table in ((known, given), (kept, colours[names])))
    own, shown = entries
    warn_of_kept(_OWNER, known, own, kept, shown, argument="--colour")
