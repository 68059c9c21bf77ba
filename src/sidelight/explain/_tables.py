"""Tidy tables, of pandas or polars: one record for each row or region, axis and feature."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn import get_config

from sidelight.base.messages import error_message, require_extra

__all__ = ["tidy"]


def tidy(owner: str, columns: Mapping[str, Any], output: str | None) -> Any:
    """Return columns as a table.

    Parameters
    ----------
    owner : str
        For messages.
    columns : mapping
        Names and values, all of one length.
    output : "pandas", "polars", "columns" or None
        "columns": a dict of arrays, for callers that need no library of tables. None: as scikit-learn's
        ``set_config(transform_output=...)`` says, pandas by default.
    """
    if output is None:
        output = "polars" if get_config()["transform_output"] == "polars" else "pandas"
    if output == "columns":
        return dict(columns)
    if output == "pandas":
        return require_extra("pandas", owner, "cli").DataFrame(dict(columns))
    if output == "polars":
        import polars as pl

        return pl.DataFrame(dict(columns))
    raise ValueError(error_message(owner, "output", output, "is not a kind of table", 'Give "pandas" or "polars"'))
