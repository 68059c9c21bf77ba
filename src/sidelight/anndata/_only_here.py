"""Sentences about cells that exist in one group of ``given`` only, by group and by the columns ``keep``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sidelight.base.capabilities import given_of
from sidelight.base.chain import as_chain, last_step_of
from sidelight.base.messages import count_of
from sidelight.neighbours.counterparts import rows_alone
from sidelight.neighbours.strata import codes_of

__all__ = ["only_here"]

Array = npt.NDArray[Any]
_MOST = 0.5  # share of the cells of a type in a group that have no counterparts, from which on the type is named


def only_here(
    owner: str, model: Any, obs: pd.DataFrame, columns: pd.DataFrame | None, keep: Sequence[str]
) -> list[str]:
    """Return sentences about cells without counterparts in another group of ``given``.

    Parameters
    ----------
    owner : str
        For messages.
    model : fitted model or Pipeline
    obs : DataFrame of n rows
    columns : DataFrame of n rows, or None
        What was given.
    keep : sequence of str
        Columns of ``obs`` whose categories are named; without one, cells are counted by group (``only_here_``).
    """
    chain = as_chain(model)
    last, given = last_step_of(chain), given_of(chain)
    share = vars(last).get("represented_")
    if share is None or given is None or columns is None:
        return []
    known = given.encode(owner, columns, len(columns))
    fitted = np.flatnonzero(known.complete)
    names = [place for place, column in enumerate(given.columns) if column.kind == "category"]
    codes = codes_of(known.values[fitted][:, names])
    alone = rows_alone(share[fitted], codes)
    words = [_group(given.columns, known.values[fitted[codes == code][0]]) for code in range(int(codes.max()) + 1)]
    found = []
    for name in keep:
        entries = obs[name].astype(object).to_numpy()[fitted]
        if pd.api.types.is_float_dtype(obs[name].dtype):
            continue  # a number has no types
        found += _of_types(str(name), entries, codes, alone, words)
    return found or [str(sentence) for sentence in last.only_here_]


def _of_types(name: str, entries: Array, codes: Array, alone: Array, words: list[str]) -> list[str]:
    """A sentence for each type and group most of whose cells have no counterparts."""
    found = []
    there = ~pd.isna(entries)
    for value in sorted({str(entry) for entry in entries[there]}):
        own = there & (entries.astype(str) == value)
        for code in np.unique(codes[own]):
            here = own & (codes == code)
            lonely, count = int(alone[here].sum()), int(here.sum())
            if lonely < _MOST * count or not lonely:
                continue
            cells = f"{lonely} of {count_of(count, 'cell')} with {name} = {value!r}"
            if count == own.sum():
                found.append(f"{cells} exist in {words[code]} only")
            else:
                found.append(f"{cells} in {words[code]} have no counterparts in another group")
    return found


def _group(columns: Sequence[Any], values: Array) -> str:
    """A group in words: ``batch = 'run1'``."""
    parts = zip(columns, values, strict=True)
    return ", ".join(f"{c.name} = {c.categories[int(value)]!r}" for c, value in parts if c.kind == "category")
