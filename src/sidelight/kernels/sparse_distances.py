"""Neighbours from distances that somebody else computed: a sparse matrix (n, n) whose stored entries are distances.

What is not stored is far; a stored zero is a distance of zero (duplicates). The diagonal is not looked at. Rows may
store any number of entries from ``k`` on: the ``k`` smallest count, ties by column.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array, issparse

from sidelight._messages import complain

from .neighbours import Neighbours

__all__ = ["nearest_sparse"]

Array = npt.NDArray[Any]


def nearest_sparse(D: Any, *, k: int | None = None, owner: object = "nearest_sparse") -> Neighbours:
    """The ``k`` nearest others of each row by the distances stored in ``D``.

    Parameters
    ----------
    D : sparse matrix or array of shape (n, n)
        ``scikit-learn``'s ``kneighbors_graph(mode="distance")`` and ``radius_neighbors_graph`` are of this form.
    k : int or None
        None takes as many as the row with the fewest has.
    owner : object
        Who asks, for the messages.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> D = csr_array((np.array([2.0, 0.0, 2.0, 1.0, 1.0]), ([0, 0, 1, 1, 2], [1, 2, 0, 2, 1])), shape=(3, 3))
    >>> nearest_sparse(D).index.ravel()
    array([2, 2, 1])
    """
    graph = _checked(D, owner)
    n = graph.shape[0]
    row = np.repeat(np.arange(n), np.diff(graph.indptr))
    other = row != graph.indices
    row, column, distance = row[other], graph.indices[other].astype(np.int64), graph.data[other].astype(np.float64)
    count = np.bincount(row, minlength=n)
    fewest = int(count.min())
    k = max(1, fewest) if k is None else k
    if fewest < k:
        seen = f"{fewest} distances in row {int(count.argmin())}"
        rule = f"is fewer than the {k} neighbours asked for"
        raise ValueError(
            complain(owner, "D", seen, rule, "Store more distances for each row, or ask for fewer neighbours")
        )
    order = np.lexsort((column, distance, row))
    first = (np.cumsum(count) - count)[:, None] + np.arange(k)
    chosen = order[first]
    return Neighbours(column[chosen], distance[chosen])


def _checked(D: Any, owner: object) -> csr_array:
    """The distances by rows, or a sentence about what is wrong with them."""
    graph: Any = D
    if not issparse(D):
        raise TypeError(complain(owner, "D", type(D).__name__, "is not a sparse matrix", "Pass one of scipy.sparse"))
    if graph.ndim != 2 or graph.shape[0] != graph.shape[1] or graph.shape[0] < 2:
        rule, remedy = "is not square with two rows or more", "Pass distances between all rows of the data"
        raise ValueError(complain(owner, "D", f"shape {graph.shape}", rule, remedy))
    if graph.dtype.kind not in "fiu":
        raise TypeError(complain(owner, "D", str(graph.dtype), "does not hold real numbers", "Pass distances"))
    stored, graph = graph.nnz, csr_array(graph.tocsr())
    if not graph.has_canonical_format:
        graph = graph.copy()
        graph.sum_duplicates()
    if graph.nnz < stored:
        raise ValueError(complain(owner, "D", "a pair", "is stored twice", "Store each distance once"))
    if not np.isfinite(graph.data).all():
        remedy = "Leave out pairs that are not connected"
        raise ValueError(complain(owner, "D", "NaN or infinity", "is not a distance", remedy))
    lowest = graph.data.min(initial=0)
    if lowest < 0:
        raise ValueError(complain(owner, "D", float(lowest), "is negative", "Pass distances, not similarities"))
    return csr_array(graph)
