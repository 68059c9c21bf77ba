"""Filled tables by scikit-learn's imputers, with the codes of categories that each of them needs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (it makes the next import possible)
from sklearn.impute import IterativeImputer, KNNImputer, SimpleImputer

from benchmarks.imputation_tables import categories

Filler = Callable[[pd.DataFrame, int], pd.DataFrame]
_TREES, _ROUNDS = 50, 5


def simple(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Means of numbers, most frequent categories."""
    words = categories(frame)
    out = frame.copy()
    for name in frame.columns:
        strategy = "most_frequent" if name in words else "mean"
        out[name] = SimpleImputer(strategy=strategy).fit_transform(frame[[name]])[:, 0]
    return out


def neighbours(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    return by_indicators(frame, lambda A: KNNImputer().fit_transform(A))


def ridge(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    return by_indicators(frame, lambda A: IterativeImputer(random_state=seed).fit_transform(A))


def trees(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The idea of missForest: each column by a forest of the others, in rounds."""
    return by_codes(frame, lambda A: _forest_imputer(seed).fit_transform(A))


def forests(frame: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same with classifiers for categories, as missForest has them."""
    words, gone = categories(frame), frame.isna()
    filled = simple(frame, seed)
    for _ in range(_ROUNDS):
        for name in gone.sum().sort_values(kind="stable").index:
            rows = gone[name].to_numpy()
            if rows.any():
                others = [c for c in words if c != name]
                inputs = pd.get_dummies(filled.drop(columns=name), columns=others).to_numpy(dtype=np.float64)
                kind = ExtraTreesClassifier if name in words else ExtraTreesRegressor
                model = kind(_TREES, random_state=seed).fit(inputs[~rows], frame.loc[~rows, name])
                filled.loc[rows, name] = model.predict(inputs[rows])
    return filled


def _forest_imputer(seed: int) -> Any:
    return IterativeImputer(ExtraTreesRegressor(_TREES, random_state=seed), max_iter=_ROUNDS, random_state=seed)


RIVALS: dict[str, Filler] = {
    "SimpleImputer": simple,
    "KNNImputer": neighbours,
    "IterativeImputer": ridge,
    "IterativeImputer, trees": trees,
    "missForest": forests,
}


def by_indicators(frame: pd.DataFrame, fill: Callable[[Any], Any], *, weighted: bool = False) -> pd.DataFrame:
    """Fill standardised numbers and indicators of categories; a category is its largest indicator.

    With ``weighted`` the indicators of a column are centred and divided by the root of their total variance. Otherwise
    the last is left out: regressions of each on all others would find that they sum to one, and nothing else.
    """
    words = categories(frame)
    blocks, decoders = [], []
    for name in frame.columns:
        block, decode = _indicators(frame[name], weighted) if name in words else _standardised(frame[name])
        blocks.append(block)
        decoders.append(decode)
    filled = np.split(_quietly(fill, np.hstack(blocks)), np.cumsum([b.shape[1] for b in blocks])[:-1], axis=1)
    return _merged(frame, [decode(block) for decode, block in zip(decoders, filled, strict=True)])


def by_codes(frame: pd.DataFrame, fill: Callable[[Any], Any]) -> pd.DataFrame:
    """Fill standardised numbers and one number for each category, which is rounded to the nearest one."""
    words = categories(frame)
    coded = [_ordinal(frame[name]) if name in words else _standardised(frame[name]) for name in frame.columns]
    filled = _quietly(fill, np.hstack([block for block, _ in coded]))
    return _merged(frame, [decode(filled[:, [j]]) for j, (_, decode) in enumerate(coded)])


def _quietly(fill: Callable[[Any], Any], A: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fill(A)


def _merged(frame: pd.DataFrame, columns: list[Any]) -> pd.DataFrame:
    found = pd.DataFrame(dict(zip(frame.columns, columns, strict=True)), index=frame.index)
    return frame.where(frame.notna(), found)


def _standardised(column: pd.Series) -> tuple[Any, Callable[[Any], Any]]:
    centre, scale = column.mean(), column.std(ddof=0) or 1.0
    return ((column - centre) / scale).to_numpy()[:, None], lambda block: block[:, 0] * scale + centre


def _indicators(column: pd.Series, weighted: bool) -> tuple[Any, Callable[[Any], Any]]:
    levels = np.unique(column.dropna())
    block = (column.to_numpy()[:, None] == levels).astype(np.float64)
    block[column.isna()] = np.nan
    shares = np.nanmean(block, axis=0)
    if weighted:
        weight = 1.0 / np.sqrt(1.0 - (shares**2).sum())
        return (block - shares) * weight, lambda found: levels[np.argmax(found / weight + shares, axis=1)]

    def decode(found: Any) -> Any:
        return levels[np.argmax(np.column_stack([found, 1.0 - found.sum(axis=1)]), axis=1)]

    return block[:, :-1], decode


def _ordinal(column: pd.Series) -> tuple[Any, Callable[[Any], Any]]:
    levels = np.unique(column.dropna())
    codes = np.searchsorted(levels, column.fillna(levels[0])).astype(np.float64)
    block = np.where(column.isna(), np.nan, codes)[:, None]
    last = len(levels) - 1
    return block, lambda block: levels[np.clip(np.rint(block[:, 0]), 0, last).astype(int)]
