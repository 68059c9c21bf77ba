"""Names of columns of a Dask data frame."""

from __future__ import annotations

from typing import Any

__all__ = ["column_names", "is_names"]


def is_names(given: object) -> bool:
    """Whether ``given`` is a name or a list of names."""
    return isinstance(given, str) or (
        isinstance(given, list | tuple) and bool(given) and all(isinstance(name, str) for name in given)
    )


def column_names(source: Any, given: Any) -> list[str] | None:
    """Columns of a data frame named by ``given``; None if one is not a column, so that ``given`` is a value."""
    columns = list(getattr(source, "columns", ()))
    if not is_names(given):
        return None
    names = [given] if isinstance(given, str) else list(given)
    return names if all(name in columns for name in names) else None
