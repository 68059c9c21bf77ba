"""One relation: a notion of similarity between rows, over all rows or some.

"These pictures look alike", "these are of the same person", "the light came from about the same side": each is a
relation. One embedding serves several of them (``MultipleRelationalEmbedding``), and learns which of its axes each of
them needs. This module holds the user's input; ``kernels.relations`` computes similarities from it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from sidelight.base.messages import count_of, error_message
from sidelight.base.validation import (
    DISTANCE_LIMIT,
    check_integer,
    check_number,
    checked_array,
    refuse_too_large,
)

from .columns import read_table
from .labels import label_codes
from .pairs import as_pairs

__all__ = ["Relation"]

Array = npt.NDArray[Any]
_REACH = 1e100  # standardised values are clipped to it, so that squares do not overflow


@dataclass(frozen=True, eq=False)
class Relation:
    """One notion of similarity; make it with ``from_data``, ``from_labels``, ``from_values``, ``from_pairs`` and so on.

    Like ``Pairs``, it is sliced like an array with one entry per row of the data, so that scikit-learn splits it with
    X.

    Parameters
    ----------
    kind : "data", "labels", "values", "pairs" or "matrix"
    entries : array
        Data of the m rows of the relation: features (m, d), label codes (m,), values (m, k), pairs (p, 2) of positions
        in ``index``, or a matrix (m, m), dense or sparse.
    index : array of shape (m,)
        Row numbers of the m rows, in increasing order.
    n_samples : int or None
        Rows of the data; None: as many as the other relations have.
    perplexity, bandwidth, n_neighbors, period, distances
        See the ``from_`` methods.

    See Also
    --------
    Relations : Several of them, by name.
    MultipleRelationalEmbedding : The method that takes them.

    Examples
    --------
    >>> from sidelight import Relation
    >>> light = Relation.from_values([0.1, None, 0.4, 0.8])
    >>> light
    Relation(values of 3 of 4 rows)
    >>> light[[0, 2]].index
    array([0, 1])
    """

    kind: str
    entries: Any
    index: Array
    n_samples: int | None = None
    perplexity: float = 10.0
    bandwidth: float | None = None
    n_neighbors: int | None = 15
    period: float | None = None
    distances: bool = False

    def __post_init__(self) -> None:
        index = np.asarray(self.index, dtype=np.int64)
        index.setflags(write=False)
        object.__setattr__(self, "index", index)
        if isinstance(self.entries, np.ndarray):
            self.entries.setflags(write=False)

    @classmethod
    def from_data(
        cls,
        X: Any,
        index: Any = None,
        *,
        n_samples: int | None = None,
        perplexity: float = 10.0,
        bandwidth: float | None = None,
        n_neighbors: int | None = 15,
    ) -> Relation:
        """Rows with similar features are similar.

        Parameters
        ----------
        X : array of shape (m, d)
            A row of NaN is not in the relation.
        index : array of shape (m,), default=None
            Row numbers of these rows in the data; None: all, in order.
        n_samples : int, default=None
            Rows of the data, where ``index`` is given.
        perplexity : float, default=10
            Effective number of neighbours of a row (at most a fifth of the rows).
        bandwidth : float, default=None
            One bandwidth of squared distances for all rows instead of a perplexity, as in the source.
        n_neighbors : int or None, default=15
            Neighbours in the graph of mutual neighbours along which distances are measured (at most a quarter of the
            rows); None: Euclidean distances.
        """
        X = checked_array("Relation", X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")
        seen = ~np.isnan(X).all(axis=1)
        if np.isnan(X[seen]).any():
            rule = "has NaN beside numbers; only a whole row of NaN is not in the relation"
            raise ValueError(error_message("Relation", "X", "a row", rule, "Fill the gaps, or make the whole row NaN"))
        check_number("Relation", "perplexity", perplexity, 1.0)
        if bandwidth is not None:
            check_number("Relation", "bandwidth", bandwidth, 0.0)
        if n_neighbors is not None:
            check_integer("Relation", "n_neighbors", n_neighbors, 1)
        rows, n = _rows(index, len(X), n_samples)
        found = _sorted("data", X[seen], rows[seen], n)
        return replace(found, perplexity=float(perplexity), bandwidth=bandwidth, n_neighbors=n_neighbors)

    @classmethod
    def from_labels(cls, labels: Any, index: Any = None, *, n_samples: int | None = None) -> Relation:
        """Rows with the same label are all equally similar; a row with a missing label is not in the relation.

        Parameters
        ----------
        labels : array of shape (m,) or (m, 1)
            One label per row. Several columns are refused: make a relation of each, or join them into one label.
        index : array of shape (m,), default=None
            Row numbers of these rows in the data; None: all, in order.
        n_samples : int, default=None
            Rows of the data, where ``index`` is given.
        """
        rows, n = _rows(index, len(labels), n_samples)
        columns = list(label_codes("Relation", labels, len(rows)).values())
        if len(columns) != 1:
            rule = "does not say which of them is the label"
            remedy = "Make one relation of each column, or join them into one label per row"
            raise ValueError(error_message("Relation", "labels", f"table of {len(columns)} columns", rule, remedy))
        codes = columns[0]
        here = codes >= 0
        return _sorted("labels", codes[here], rows[here], n)

    @classmethod
    def from_values(
        cls,
        values: Any,
        index: Any = None,
        *,
        n_samples: int | None = None,
        bandwidth: float = 1.0,
        period: float | None = None,
    ) -> Relation:
        """Rows with similar values are similar.

        Parameters
        ----------
        values : array of shape (m,) or (m, k)
            A row with a missing value (NaN, None) is not in the relation.
        index : array of shape (m,), default=None
            Row numbers of these rows in the data; None: all, in order.
        n_samples : int, default=None
            Rows of the data, where ``index`` is given.
        bandwidth : float, default=1
            Of squared differences of standardised values.
        period : float, default=None
            The values are angles with this period.
        """
        rows, n = _rows(index, len(values), n_samples)
        V = _numbers(values, len(rows))
        here = np.isfinite(V).all(axis=1)
        if np.isinf(V).any():
            raise ValueError(
                error_message("Relation", "values", "an entry", "is infinite", "Make it finite or missing")
            )
        refuse_too_large("Relation", "values", V)
        check_number("Relation", "bandwidth", bandwidth, 0.0)
        if period is not None:
            check_number("Relation", "period", period, 0.0)
        return replace(_sorted("values", V[here], rows[here], n), bandwidth=float(bandwidth), period=period)

    @classmethod
    def from_pairs(cls, pairs: Any, n_samples: int) -> Relation:
        """The two rows of each pair are similar, rows of different pairs are not.

        One pair alone has no transformation of its own in MultipleRelationalEmbedding: it uses those of the others.
        """
        found = as_pairs(pairs, n_samples)
        rows, places = np.unique(found.index, return_inverse=True)
        return cls("pairs", places.reshape(-1, 2), rows, n_samples)

    @classmethod
    def from_matrix(
        cls,
        P: Any,
        index: Any = None,
        *,
        n_samples: int | None = None,
        distances: bool = False,
        perplexity: float = 10.0,
    ) -> Relation:
        """From a matrix of similarities or of distances.

        Parameters
        ----------
        P : array or sparse matrix of shape (m, m)
            Similarities of at least 0 on any scale, or distances. Distances that a sparse matrix does not store are too
            large to matter.
        index : array of shape (m,), default=None
            Row numbers of these rows in the data; None: all, in order.
        n_samples : int, default=None
            Rows of the data, where ``index`` is given.
        distances : bool, default=False
            Whether ``P`` holds distances.
        perplexity : float, default=10
            Effective number of neighbours of a row, with distances.
        """
        how: dict[str, Any] = {"dtype": np.float64, "accept_sparse": "csr", "input_name": "P"}
        # similarities are divided by their sums and never squared, so their size does not matter
        P = check_array(P, estimator="Relation", **how)
        if distances:
            refuse_too_large("Relation", "P", P, largest_allowed=DISTANCE_LIMIT)
        if P.shape[0] != P.shape[1]:
            raise ValueError(
                error_message("Relation", "P", f"shape {P.shape}", "is not square", "Give one row per row")
            )
        if P.shape[0] and P.min() < 0:
            raise ValueError(error_message("Relation", "P", float(P.min()), "is negative", "Give numbers from 0"))
        check_number("Relation", "perplexity", perplexity, 1.0)
        rows, n = _rows(index, P.shape[0], n_samples)
        order = np.argsort(rows, kind="stable")
        whole: Any = P
        matrix = csr_array(whole)[order][:, order] if issparse(P) else np.array(P)[np.ix_(order, order)]
        return cls("matrix", matrix, rows[order], n, perplexity=float(perplexity), distances=distances)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn splits it together with X."""
        return (len(self),)

    @property
    def features(self) -> Array | None:
        """Features (m, k) that similarity is computed from: data, or values (standardised, or on a circle); or None."""
        if self.kind == "data":
            return np.asarray(self.entries)
        if self.kind != "values":
            return None
        if self.period is not None:
            turn = 2 * np.pi * np.mod(self.entries, self.period) / self.period
            return np.asarray(np.sqrt(2.0) * np.hstack([np.cos(turn), np.sin(turn)]))
        size = np.abs(self.entries).max(axis=0, initial=0.0)
        unit = self.entries / np.where(size > 0, size, 1.0)
        spread = unit.std(axis=0) if len(unit) else size
        return np.asarray(np.clip((unit - unit.mean(axis=0)) / np.where(spread > 0, spread, 1.0), -_REACH, _REACH))

    def __len__(self) -> int:
        return int(self.index.max(initial=-1)) + 1 if self.n_samples is None else self.n_samples

    def __getitem__(self, rows: Any) -> Relation:
        return self.take(rows)

    def __repr__(self) -> str:
        about = f"{count_of(len(self.entries), 'pair')} among" if self.kind == "pairs" else f"{self.kind} of"
        return f"Relation({about} {len(self.index)} of {len(self)} rows)"

    def take(self, rows: Any) -> Relation:
        """The relation restricted to ``rows`` (numbers, a mask or a slice), renumbered."""
        kept = np.atleast_1d(np.arange(len(self))[rows])
        place = np.full(len(self), -1, dtype=np.int64)
        place[self.index] = np.arange(len(self.index))
        own = place[kept]
        here = np.flatnonzero(own >= 0)
        own = own[here]
        if self.kind == "pairs":
            new = np.full(len(self.index), -1, dtype=np.int64)
            new[own] = here
            index = new[self.entries]
            return Relation.from_pairs(index[(index >= 0).all(axis=1)], len(kept))
        entries = self.entries[own][:, own] if self.kind == "matrix" else self.entries[own]
        return replace(self, entries=entries, index=here, n_samples=len(kept))

    def validate(self, n: int) -> Relation:
        """Return itself with ``n_samples=n``; raises if it was made for another number of rows."""
        if len(self) != n and (self.n_samples is not None or len(self) > n):
            rule = f"does not match the {n} rows of the data"
            raise ValueError(error_message(self, "n_samples", len(self), rule, "Make the relation for these rows"))
        return self if self.n_samples == n else replace(self, n_samples=n)


def _rows(index: Any, m: int, n_samples: int | None) -> tuple[Array, int | None]:
    """Row numbers of m entries, and the number of rows of the data if it is known."""
    if index is None:
        return np.arange(m), m if n_samples is None else n_samples
    rows = np.asarray(index)
    if rows.shape != (m,) or (m and rows.dtype.kind not in "iu"):
        seen, rule = f"array of shape {rows.shape} and type {rows.dtype}", f"is not {m} row numbers, one per entry"
        raise ValueError(error_message("Relation", "index", seen, rule, "Give the row number of each entry"))
    if m and rows.min() < 0:
        raise ValueError(error_message("Relation", "index", int(rows.min()), "is negative", "Number the rows from 0"))
    if len(np.unique(rows)) < m:
        rule = "names a row twice"
        raise ValueError(error_message("Relation", "index", f"{m} row numbers", rule, "Give one entry per row"))
    if n_samples is not None and m and rows.max() >= n_samples:
        rule = f"points outside the {n_samples} rows"
        raise ValueError(error_message("Relation", "index", int(rows.max()), rule, "Number the rows from 0"))
    return rows.astype(np.int64), n_samples


def _sorted(kind: str, entries: Array, rows: Array, n: int | None) -> Relation:
    order = np.argsort(rows, kind="stable")
    return Relation(kind, np.array(entries[order]), rows[order], n)


def _numbers(values: Any, m: int) -> Array:
    """Columns of numbers (m, k), NaN where missing."""
    columns = []
    for name, entries in read_table("Relation", values, m).columns.items():
        out = np.full(m, np.nan)
        try:
            out[~entries.missing] = entries.here.astype(np.float64)
        except (TypeError, ValueError):
            seen, rule = f"column {name!r}", "holds entries that are not numbers"
            raise ValueError(error_message("Relation", "values", seen, rule, "Use Relation.from_labels")) from None
        columns.append(out)
    return np.column_stack(columns)
