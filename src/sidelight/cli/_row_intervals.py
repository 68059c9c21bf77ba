"""Ends of intervals beside the columns of made-up rows: ``--interval`` of invert, counterfactual and predict."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import name_of
from sidelight.base.intervals import Intervals
from sidelight.tables.table_encoder import TableEncoder

from ._model_file import ModelFile
from ._output import CommandError
from ._picture_files import is_folder

__all__ = ["check_level", "with_ends"]


def check_level(file: ModelFile, capability: str, level: float | None, out: Path) -> None:
    """Refuse a level that is none, models without intervals, and intervals of pictures."""
    if level is None:
        return
    if not 0.0 < level < 1.0:
        raise CommandError(f"--interval {level:g}: give a share between 0 and 1, for example 0.9")
    if is_folder(out) or out.suffix.lower() == ".npy":
        raise CommandError(f"--interval: ends stand in columns of their own; write a table, --out {out.stem}.csv")
    if not getattr(capabilities(file.model), capability):
        raise CommandError(f"--interval: this {name_of(file.model)} has no intervals; leave it out")


def with_ends(
    rows: pd.DataFrame,
    found: Intervals,
    encoder: TableEncoder | None,
    to_data: Callable[[Any], pd.DataFrame],
) -> pd.DataFrame:
    """Rows with NAME_low and NAME_high behind each column of numbers or dates.

    Parameters
    ----------
    rows : DataFrame
        All or some columns of the data.
    found : Intervals
        As the model has them, before ``to_data``.
    encoder : TableEncoder or None
        Which made the numbers of the model of a table; entries of other columns have no ends.
    to_data : callable
        From rows of the model to the columns and units of the data.
    """
    lower, upper = np.asarray(found.lower, dtype=np.float64), np.asarray(found.upper, dtype=np.float64)
    if encoder is not None:
        ends = encoder._ends_of_tables(lower, upper, 0.5 * (lower + upper))
        low, high = (pd.DataFrame(table) for table in ends[:2])
    else:
        low, high = to_data(lower), to_data(upper)
    columns: dict[str, Any] = {}
    for name in rows.columns:
        columns[name] = rows[name]
        if name in low.columns and low[name].notna().any():
            columns |= {f"{name}_low": low[name].to_numpy(), f"{name}_high": high[name].to_numpy()}
    return pd.DataFrame(columns, index=rows.index)
