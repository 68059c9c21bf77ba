"""How columns of a table should be scaled and weighted: ``python -m benchmarks.table_codes``.

Each column in turn is left out and told by the ten nearest rows in the code of the others. Skill is

    1 - error / error of telling nothing,    error: squared error of the rank (numbers), Brier score (categories)

mean over columns and tables; and beside it the same for the label of the table, which is in no code. No map is made:
a map can show at best what the code has. A variant is chosen on the choosing tables and confirmed or not on the
reporting ones; "gains" are over the encoder as it is, with their standard errors over tables. See decision 0022.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from benchmarks.table_sets import CHOOSING, REPORTING, MixedTable, load_table
from sidelight import TableEncoder
from sidelight.tables._category_code import CategoryCode
from sidelight.tables._encoding import Code
from sidelight.tables._number_code import NumberCode

Array = np.ndarray[Any, Any]
_NEAREST = 10
_MOST = 1000  # rows
_REACH = 5.0


@dataclass(frozen=True)
class Variant:
    """An encoder, and the factors (p,) or the factor by which it then multiplies the code of a column."""

    encoder: TableEncoder
    factor: Callable[[Code, Array], Any] = lambda code, A: 1.0


def _categories(factor: Callable[[CategoryCode], Any]) -> Callable[[Code, Array], Any]:
    return lambda code, A: factor(code) if isinstance(code, CategoryCode) else 1.0


def _by_deviation(code: Code, A: Array) -> float:
    """Standard deviation 1 instead of interquartile range 1.349, for numbers; entries beyond 5 are drawn in."""
    if not isinstance(code, NumberCode):
        return 1.0
    low, high = np.nanquantile(A[:, 0], (0.25, 0.75))
    return float(1.0 / np.nanstd(np.clip(A[:, 0], -_REACH, _REACH) if high > low else A[:, 0]))


VARIANTS = {
    "as it is": Variant(TableEncoder()),
    "numbers by deviation, far entries drawn in": Variant(TableEncoder(), _by_deviation),
    "numbers by mean and deviation, no asinh": Variant(TableEncoder(scaling="standard", tails="keep")),
    "no asinh": Variant(TableEncoder(tails="keep")),
    "plain one-hot": Variant(TableEncoder(), _categories(lambda code: 1.0 / code.weight)),
    "FAMD": Variant(
        TableEncoder(),
        _categories(lambda code: 1.0 if code.is_boolean else 1.0 / code.weight / np.sqrt(code.shares)),
    ),
    "categories of variance 1/4": Variant(TableEncoder(), _categories(lambda code: 0.5)),
    "categories of variance 1/2": Variant(TableEncoder(), _categories(lambda code: np.sqrt(0.5))),
    "categories of variance 2": Variant(TableEncoder(), _categories(lambda code: np.sqrt(2.0))),
    "categories of variance 4": Variant(TableEncoder(), _categories(lambda code: 2.0)),
    "rare categories below 5 %": Variant(TableEncoder(min_frequency=0.05)),
}


def measure(mixed: MixedTable, variant: Variant) -> tuple[float, float]:
    """Mean skill of the columns, and the skill of the label."""
    frame, labels = mixed.frame[:_MOST], mixed.labels[:_MOST]
    encoder = variant.encoder.fit(frame)
    A = encoder.transform(frame)
    parts = [A[:, block.columns] for block in encoder.blocks_]
    parts = [part * variant.factor(code, part) for part, code in zip(parts, encoder.codes_, strict=True)]
    apart = [_squared_distances(np.nan_to_num(part)) for part in parts]
    # rows at equal distances are taken in no order of the file
    total = np.sum(apart, axis=0) + 1e-9 * np.random.default_rng(0).random(apart[0].shape)
    kinds = {use.name: use.kind for use in encoder.columns_}
    skills = [
        _skill(_target(frame[block.name], kinds[block.name], part), _nearest(total - own))
        for block, part, own in zip(encoder.blocks_, parts, apart, strict=True)
        if kinds[block.name] != "text"
    ]
    known = ~pd.isna(labels)
    label = _skill(pd.get_dummies(labels[known]).to_numpy(float), _nearest(total[np.ix_(known, known)]))
    return float(np.mean(skills)), label


def _target(column: pd.Series, kind: str, part: Array) -> Array:
    """Ranks (n, 1) of the trend of numbers and dates, NaN where missing; indicators (n, k) of anything else."""
    if kind in ("number", "date", "angle"):
        here = ~np.isnan(part[:, 0])
        ranks = np.full((len(part), 1), np.nan)
        ranks[here, 0] = rankdata(np.round(part[here, 0], 9)) / here.sum()
        return ranks
    return np.asarray(pd.get_dummies(column.astype(str)), dtype=float)


def _skill(target: Array, nearest: Array) -> float:
    told = np.nanmean(target[nearest], axis=1) if np.isnan(target).any() else target[nearest].mean(axis=1)
    here = ~np.isnan(target + told).any(axis=1)
    left = np.square(target - told)[here].sum()
    return float(1 - left / np.square(target - target[here].mean(axis=0))[here].sum())


def _squared_distances(A: Array) -> Array:
    lengths = np.square(A).sum(axis=1)
    return np.maximum(lengths[:, None] + lengths - 2 * A @ A.T, 0.0)


def _nearest(apart: Array) -> Array:
    apart = apart.copy()
    np.fill_diagonal(apart, np.inf)
    return np.argpartition(apart, _NEAREST, axis=1)[:, :_NEAREST]


if __name__ == "__main__":
    for which, sources in (("choosing", CHOOSING), ("reporting", REPORTING)):
        tables = [load_table(source) for source in sources]
        before = np.array([measure(mixed, VARIANTS["as it is"]) for mixed in tables])
        for name, variant in VARIANTS.items():
            skills = np.array([measure(mixed, variant) for mixed in tables])
            gains = skills - before
            (columns, label), errors = skills.mean(axis=0), gains.std(axis=0, ddof=1) / np.sqrt(len(gains))
            told = ", ".join(
                f"{gain:+.4f} ± {error:.4f}" for gain, error in zip(gains.mean(axis=0), errors, strict=True)
            )
            print(f"{which:9s} {name:42s} columns {columns:.4f}   label {label:.4f}   gains {told}", flush=True)
