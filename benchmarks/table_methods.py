"""Maps of mixed tables: ours, and what is used today, each as a user would run it.

Rivals are given the columns as TableEncoder understood them: identifiers and free text left out, dates as numbers,
numbers read from text; so they are compared by what they make of columns, not by what they take for one. Their missing
entries are filled with the median or the most frequent level (Gower's distance leaves missing pairs out).

    one-hot   numbers standardised, an indicator per level, as it is
    FAMD      numbers standardised, indicators divided by √pₖ; principal components [Pagès 2004]
    Gower     mean over columns of |x - y| / range and 1[x ≠ y] [Gower 1971]
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline, make_pipeline

from sidelight import KernelInformationEmbedding, TableEncoder
from sidelight.tables._column_kinds import ColumnUse, read_by, understand_table
from sidelight.tables._encoding import numbers_of_column
from sidelight.tables._table_columns import read_table

__all__ = ["METHODS", "SEEDED", "PlainTable", "famd_code", "gower_distances", "plain_table", "reconstruct"]

Array = np.ndarray[Any, Any]
_NUMBERS = ("number", "angle", "date")


@dataclass(frozen=True)
class PlainTable:
    """A table as numbers and categories.

    Parameters
    ----------
    numbers : array of shape (n, d)
        NaN where missing.
    categories : array of shape (n, c) of str
        None where missing.
    """

    numbers: Array
    categories: Array

    def take(self, rows: Array) -> PlainTable:
        return PlainTable(self.numbers[rows], self.categories[rows])

    def filled(self, by: PlainTable) -> PlainTable:
        """Missing entries as the median or the most frequent level of another table."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            medians = np.nanmedian(by.numbers, axis=0) if by.numbers.shape[1] else np.zeros(0)
        modes = [pd.Series(column).mode()[0] for column in by.categories.T]
        categories = [
            np.where(pd.isna(column), mode, column) for column, mode in zip(self.categories.T, modes, strict=True)
        ]
        numbers = np.where(np.isnan(self.numbers), medians, self.numbers)
        return PlainTable(numbers, _side_by_side(categories, len(numbers)))


def plain_table(
    frame: pd.DataFrame, uses: tuple[ColumnUse, ...] | None = None
) -> tuple[PlainTable, tuple[ColumnUse, ...]]:
    """Return the used columns but free text, and how they were understood (by ``uses``, if given)."""
    table = read_table(frame)
    uses = understand_table(table) if uses is None else uses
    found = read_by(table.by_name(), uses)
    numbers = [numbers_of_column(found[use.name], use) for use in uses if use.used and use.kind in _NUMBERS]
    words = [use.name for use in uses if use.used and use.kind not in (*_NUMBERS, "text")]
    categories = [_words(frame[name], found[name].missing) for name in words]
    return PlainTable(_side_by_side(numbers, len(frame), float), _side_by_side(categories, len(frame))), uses


def _words(column: Any, missing: Array) -> Array:
    """Entries as text, None where one is missing."""
    texts = [None if gone else str(entry) for entry, gone in zip(column, missing, strict=True)]
    return np.array([*texts, None], dtype=object)[:-1]


@dataclass(frozen=True)
class LinearCode:
    """Numbers standardised, indicators times a weight per level, with the way back."""

    reference: PlainTable
    mean: Array
    deviation: Array
    levels: list[Array]
    weights: list[Array]

    def encode(self, table: PlainTable) -> Array:
        filled = table.filled(self.reference)
        parts = [(filled.numbers - self.mean) / self.deviation]
        parts += [
            (column[:, None] == levels[None, :]) * weights
            for column, levels, weights in zip(filled.categories.T, self.levels, self.weights, strict=True)
        ]
        return np.hstack(parts)

    def decode(self, A: Array) -> PlainTable:
        start = len(self.mean)
        numbers, categories = A[:, :start] * self.deviation + self.mean, []
        for levels, weights in zip(self.levels, self.weights, strict=True):
            stop = start + len(levels)
            categories.append(levels[np.argmax(A[:, start:stop] / weights, axis=1)])
            start = stop
        return PlainTable(numbers, _side_by_side(categories, len(A)))


def one_hot_code(table: PlainTable) -> LinearCode:
    """StandardScaler and OneHotEncoder, as everybody has them."""
    return _linear_code(table, lambda shares: np.ones(len(shares)))


def famd_code(table: PlainTable) -> LinearCode:
    """Factor analysis of mixed data: indicators divided by the root of their share."""
    return _linear_code(table, lambda shares: 1.0 / np.sqrt(shares))


def gower_distances(table: PlainTable) -> Array:
    """Gower's distance of all pairs (n, n); a column counts where both rows have it."""
    n = len(table.numbers)
    total, counted = np.zeros((n, n)), np.zeros((n, n))
    for column in table.numbers.T:
        width = np.nanmax(column) - np.nanmin(column)
        apart = np.abs(column[:, None] - column) / (width or 1.0)
        total, counted = total + np.nan_to_num(apart), counted + ~np.isnan(apart)
    for column in table.categories.T:
        known = ~pd.isna(column)
        both = known[:, None] & known
        total, counted = total + (both & (column[:, None] != column)), counted + both
    return np.where(counted > 0, total / np.maximum(counted, 1), 1.0)


@dataclass(frozen=True)
class Principal:
    """The plane of the two leading principal components."""

    mean: Array
    axes: Array

    def transform(self, A: Array) -> Array:
        return (A - self.mean) @ self.axes.T

    def inverse_transform(self, Z: Array) -> Array:
        return Z @ self.axes + self.mean


def principal_plane(A: Array) -> Principal:
    return Principal(A.mean(axis=0), np.linalg.svd(A - A.mean(axis=0), full_matrices=False)[2][:2])


def ours(frame: pd.DataFrame) -> Pipeline:
    """The encoder and the embedding, as ``sidelight embed`` fits them but for gaps (which it treats as "expected")."""
    model = make_pipeline(TableEncoder(), KernelInformationEmbedding(missing="impute", random_state=0))
    return model.fit(frame)


def umap(seed: int, **more: Any) -> Any:
    from umap import UMAP

    return UMAP(random_state=seed, n_jobs=1, **more)


def _our_map(frame: pd.DataFrame, seed: int) -> Array:
    return np.asarray(ours(frame)[-1].embedding_)


def _linear_map(code: Callable[[PlainTable], LinearCode]) -> Callable[[pd.DataFrame, int], Array]:
    def embed(frame: pd.DataFrame, seed: int) -> Array:
        table, _ = plain_table(frame)
        A = code(table).encode(table)
        return principal_plane(A).transform(A)

    return embed


def _umap_map(frame: pd.DataFrame, seed: int) -> Array:
    table, _ = plain_table(frame)
    return np.asarray(umap(seed).fit_transform(one_hot_code(table).encode(table)))


def _gower_map(frame: pd.DataFrame, seed: int) -> Array:
    table, _ = plain_table(frame)
    return np.asarray(umap(seed, metric="precomputed").fit_transform(gower_distances(table)))


METHODS: dict[str, Callable[[pd.DataFrame, int], Array]] = {
    "ours": _our_map,
    "UMAP on one-hot": _umap_map,
    "FAMD": _linear_map(famd_code),
    "Gower + UMAP": _gower_map,
    "PCA on one-hot": _linear_map(one_hot_code),
}
"""Name -> function of a table and a seed that returns the map (n, 2)."""

SEEDED = ("UMAP on one-hot", "Gower + UMAP")
"""Methods whose map depends on the seed."""


def reconstruct(
    name: str, train: pd.DataFrame, test: pd.DataFrame, seed: int
) -> tuple[PlainTable, PlainTable, PlainTable] | None:
    """Place new rows on the map of others and go back: training, true and found entries; None without a way back."""
    known, uses = plain_table(train)
    true, _ = plain_table(test, uses)
    if name == "ours":
        model = ours(train)
        found, _ = plain_table(model.inverse_transform(model.transform(test)), uses)
        return known, true, found
    if name == "Gower + UMAP":
        return None
    code = famd_code(known) if name == "FAMD" else one_hot_code(known)
    A = code.encode(known)
    plane = umap(seed).fit(A) if name == "UMAP on one-hot" else principal_plane(A)
    back = np.asarray(plane.inverse_transform(plane.transform(code.encode(true))))
    return known, true, code.decode(back)


def _linear_code(table: PlainTable, weight: Callable[[Array], Array]) -> LinearCode:
    filled = table.filled(table)
    deviation = filled.numbers.std(axis=0)
    levels, weights = [], []
    for column in filled.categories.T:
        names, counts = np.unique(column.astype(str), return_counts=True)
        levels.append(names.astype(object))
        weights.append(weight(counts / counts.sum()))
    return LinearCode(table, filled.numbers.mean(axis=0), np.where(deviation > 0, deviation, 1.0), levels, weights)


def _side_by_side(columns: list[Any], n: int, dtype: Any = object) -> Array:
    return np.column_stack(columns).astype(dtype) if columns else np.empty((n, 0), dtype=dtype)
