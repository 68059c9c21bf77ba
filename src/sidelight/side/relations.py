"""Relations: kinds of similarity between rows, each on all of them or some.

"These pictures look alike", "these are of the same person", "the light came from about the same side": each is a
relation. One embedding serves several of them (``MultipleRelationalEmbedding``), and finds out which of its axes each
of them needs. Here is only what the user said; ``kernels.relations`` makes similarities of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse
from sklearn.utils.validation import check_array

from sidelight.base.messages import complain
from sidelight.base.validation import check_integer, check_number, checked_array, refuse_too_large

from .columns import read_table
from .labels import label_codes
from .pairs import as_pairs

__all__ = ["KINDS", "Relation", "Relations", "as_relations"]

Array = npt.NDArray[Any]
KINDS = ("data", "labels", "values", "pairs", "matrix")
_REACH = 1e100  # standardised values are held within it, so that their squares exist


@dataclass(frozen=True, eq=False)
class Relation:
    """One kind of similarity; make it with ``from_data``, ``from_labels``, ``from_values``, ``from_pairs`` and so on.

    Like ``Pairs``, it behaves as an array with one entry per row of the data, so that scikit-learn cuts it with X.

    Parameters
    ----------
    kind : "data", "labels", "values", "pairs" or "matrix"
    entries : array
        What is known of the m rows of the relation: their features (m, d), codes of their labels (m,), values (m, k),
        pairs of them (p, 2), counted within ``index``, or a matrix (m, m), dense or sparse.
    index : array of shape (m,)
        The rows that the relation is about, in increasing order.
    n_samples : int or None
        Rows of the data; None: as many as the other relations say.
    perplexity, bandwidth, n_neighbors, period, distances
        See the ``from_`` methods.

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
        """Rows that lie near each other are similar.

        Parameters
        ----------
        X : array of shape (m, d)
            A row of NaN is not in the relation.
        index : array of shape (m,), default=None
            Which rows of the data these are; None: all, in order.
        n_samples : int, default=None
            Rows of the data, where ``index`` is given.
        perplexity : float, default=10
            Effective neighbours of a row (at most a fifth of the rows).
        bandwidth : float, default=None
            One width for all rows (of squared distance) instead, as in the source.
        n_neighbors : int or None, default=15
            The graph of mutual neighbours along which distances are measured (at most a quarter of the rows); None: in
            straight lines.
        """
        X = checked_array("Relation", X, dtype=np.float64, ensure_all_finite="allow-nan", input_name="X")
        seen = ~np.isnan(X).all(axis=1)
        if np.isnan(X[seen]).any():
            rule = "has NaN beside numbers; only a whole row of NaN is not in the relation"
            raise ValueError(complain("Relation", "X", "a row", rule, "Fill the gaps, or make the whole row NaN"))
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
        """Rows of the same name are similar, and all of them equally; a missing name is not in the relation."""
        rows, n = _rows(index, len(labels), n_samples)
        codes = next(iter(label_codes("Relation", labels, len(rows)).values()))
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
        """Rows of like values are similar.

        Parameters
        ----------
        values : array of shape (m,) or (m, k)
            A row with a missing value (NaN, None) is not in the relation.
        index : array of shape (m,), default=None
            Which rows of the data these are; None: all, in order.
        n_samples : int, default=None
            Rows of the data, where ``index`` is given.
        bandwidth : float, default=1
            Of squared difference, in standard deviations.
        period : float, default=None
            The values are angles that begin again after this much.
        """
        rows, n = _rows(index, len(values), n_samples)
        V = _numbers(values, len(rows))
        here = np.isfinite(V).all(axis=1)
        if np.isinf(V).any():
            raise ValueError(complain("Relation", "values", "an entry", "is infinite", "Make it finite or missing"))
        refuse_too_large("Relation", "values", V)
        check_number("Relation", "bandwidth", bandwidth, 0.0)
        if period is not None:
            check_number("Relation", "period", period, 0.0)
        return replace(_sorted("values", V[here], rows[here], n), bandwidth=float(bandwidth), period=period)

    @classmethod
    def from_pairs(cls, pairs: Any, n_samples: int) -> Relation:
        """The two rows of each pair show the same thing, and rows of different pairs do not."""
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
        """A ready matrix (m, m), dense or sparse, of similarities (any size, from 0) or, so said, of distances.

        Distances become similarities of the given ``perplexity``; of a sparse matrix, those that it does not store
        are too large to matter.
        """
        how: dict[str, Any] = {"dtype": np.float64, "accept_sparse": "csr", "input_name": "P"}
        # similarities are divided by their sums and never squared, so their size does not matter
        P = checked_array("Relation", P, **how) if distances else check_array(P, estimator="Relation", **how)
        if P.shape[0] != P.shape[1]:
            raise ValueError(complain("Relation", "P", f"shape {P.shape}", "is not square", "Give one row per row"))
        if P.shape[0] and P.min() < 0:
            raise ValueError(complain("Relation", "P", float(P.min()), "is negative", "Give numbers from 0"))
        check_number("Relation", "perplexity", perplexity, 1.0)
        rows, n = _rows(index, P.shape[0], n_samples)
        order = np.argsort(rows, kind="stable")
        whole: Any = P
        matrix = csr_array(whole)[order][:, order] if issparse(P) else np.array(P)[np.ix_(order, order)]
        return cls("matrix", matrix, rows[order], n, perplexity=float(perplexity), distances=distances)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn cuts it together with X."""
        return (len(self),)

    @property
    def features(self) -> Array | None:
        """What likeness of rows is measured by (m, k): data, or values, standardised or on a circle; else None."""
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
        about = f"{len(self.entries)} pairs among" if self.kind == "pairs" else f"{self.kind} of"
        return f"Relation({about} {len(self.index)} of {len(self)} rows)"

    def take(self, rows: Any) -> Relation:
        """The relation between those of its rows that are among ``rows`` (numbers, a mask or a slice), renumbered."""
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
        """Return itself, as of ``n`` rows, if it was made for them."""
        if len(self) != n and (self.n_samples is not None or len(self) > n):
            rule = f"does not match the {n} rows of the data"
            raise ValueError(complain(self, "n_samples", len(self), rule, "Make the relation for these rows"))
        return self if self.n_samples == n else replace(self, n_samples=n)


@dataclass(frozen=True, eq=False)
class Relations:
    """Relations by name, between the same rows; ``relations[rows]`` cuts all of them, ``relations["name"]`` is one.

    Examples
    --------
    >>> from sidelight import Relation, Relations
    >>> Relations({"person": Relation.from_labels(["a", "a", "b"]), "age": Relation.from_values([30, None, 50])})
    Relations(3 rows; person: labels of 3, age: values of 2)
    """

    by_name: Mapping[str, Any]
    n_samples: int | None = None

    def __post_init__(self) -> None:
        for name, relation in self.by_name.items():
            if not isinstance(relation, Relation):
                seen, rule = f"{name!r}: {type(relation).__name__}", "is not a Relation"
                raise ValueError(complain(self, "relations", seen, rule, "Make it with Relation.from_labels, ..."))
        known = [len(relation) for relation in self.by_name.values() if relation.n_samples is not None]
        reached = [len(relation) for relation in self.by_name.values()]
        n = max(known or reached or [0]) if self.n_samples is None else self.n_samples
        object.__setattr__(self, "by_name", {str(name): one.validate(n) for name, one in self.by_name.items()})
        object.__setattr__(self, "n_samples", n)

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``: one entry per row, so that scikit-learn cuts it together with X."""
        return (len(self),)

    @property
    def names(self) -> list[str]:
        """The names, in order."""
        return list(self.by_name)

    def __getitem__(self, key: Any) -> Any:
        return self.by_name[key] if isinstance(key, str) else self.take(key)

    def __contains__(self, name: object) -> bool:
        return name in self.by_name

    def items(self) -> Iterator[tuple[str, Relation]]:
        """Names and relations, in order."""
        return iter(self.by_name.items())

    def __len__(self) -> int:
        return int(self.n_samples or 0)

    def __repr__(self) -> str:
        listed = ", ".join(f"{name}: {relation.kind} of {len(relation.index)}" for name, relation in self.items())
        return f"Relations({self.n_samples} rows; {listed})"

    def take(self, rows: Any) -> Relations:
        """Every relation cut to some rows."""
        kept = np.atleast_1d(np.arange(len(self))[rows])
        return Relations({name: relation.take(kept) for name, relation in self.items()}, len(kept))

    def validate(self, n: int) -> Relations:
        """Return itself if it was made for ``n`` rows."""
        return Relations(self.by_name, n) if self.n_samples != n else self


def as_relations(relations: Any, n: int | None) -> Relations:
    """Relations as they are, or a dict of them wrapped, for ``n`` rows (None: as many as they say)."""
    if isinstance(relations, Relations):
        return relations if n is None else relations.validate(n)
    if not isinstance(relations, Mapping):
        seen, rule = type(relations).__name__, "is not a set of named relations"
        raise ValueError(complain("Relations", "relations", seen, rule, "Give {name: Relation}"))
    return Relations(relations, n)


def _rows(index: Any, m: int, n_samples: int | None) -> tuple[Array, int | None]:
    """Row numbers of m entries, and the rows of the data if that is known."""
    if index is None:
        return np.arange(m), m if n_samples is None else n_samples
    rows = np.asarray(index)
    if rows.shape != (m,) or (m and rows.dtype.kind not in "iu"):
        seen, rule = f"array of shape {rows.shape} and type {rows.dtype}", f"is not {m} row numbers, one per entry"
        raise ValueError(complain("Relation", "index", seen, rule, "Give the row number of each entry"))
    if m and rows.min() < 0:
        raise ValueError(complain("Relation", "index", int(rows.min()), "is negative", "Number the rows from 0"))
    if len(np.unique(rows)) < m:
        rule = "names a row twice"
        raise ValueError(complain("Relation", "index", f"{m} row numbers", rule, "Give one entry per row"))
    if n_samples is not None and m and rows.max() >= n_samples:
        rule = f"points outside the {n_samples} rows"
        raise ValueError(complain("Relation", "index", int(rows.max()), rule, "Number the rows from 0"))
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
            raise ValueError(complain("Relation", "values", seen, rule, "Use Relation.from_labels")) from None
        columns.append(out)
    return np.column_stack(columns)
