"""``given`` in memory: selecting rows, and joining parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sidelight.base.types import Array, Slice, Untyped

__all__ = ["joined", "known_rows", "taken"]


def taken(given: Untyped, rows: Array | Slice) -> object:
    """Some rows of a list, an array, a dict of columns, a series or a table (pandas, polars).

    >>> taken({"batch": ["a", "b", "c"]}, np.array([0, 2]))
    {'batch': array(['a', 'c'], dtype='<U1')}
    """
    if isinstance(given, Mapping):
        return {name: taken(column, rows) for name, column in given.items()}
    if hasattr(given, "iloc"):
        return given.iloc[rows]
    return (given if hasattr(given, "dtype") or hasattr(given, "columns") else np.asarray(given))[rows]


def known_rows(given: Untyped) -> int:
    """How many rows ``given`` has."""
    return len(next(iter(given.values()), ())) if isinstance(given, Mapping) else len(given)


def joined(parts: Sequence[Untyped]) -> object:
    """Parts of one ``given``, as ``taken`` returns them or as partitions of Dask hold them, one below the other."""
    first = parts[0]
    if len(parts) == 1 or first is None:
        return first
    if isinstance(first, Mapping):
        return {name: joined([part[name] for part in parts]) for name in first}
    if hasattr(first, "iloc"):
        import pandas as pd

        return pd.concat(parts)
    if type(first).__module__.startswith("polars"):
        import polars as pl

        return pl.concat(parts)
    return np.concatenate(parts)
