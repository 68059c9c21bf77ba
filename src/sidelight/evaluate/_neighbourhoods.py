r"""Are neighbours kept? Trustworthiness, continuity, neighbour hit.

With :math:`r_X(i, j)` the rank of row j among the neighbours of row i in X and :math:`N_Z(i)` the k nearest
neighbours in Z (Venna & Kaski, 2001):

.. math::

    T(X, Z) = 1 - \frac{2}{n k (2n - 3k - 1)} \sum_i \sum_{j \in N_Z(i)} \max(0,\; r_X(i, j) - k)

Neighbours on the map that are far apart in the data lower trustworthiness T(X, Z); neighbours in the data that are
torn apart on the map lower continuity T(Z, X).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sidelight.base.messages import error_message
from sidelight.base.random import random_numbers

from ._known_columns import codes_of
from ._ranks import Index, check_neighbours, check_same_rows, nearest, neighbour_ranks, rows_of

__all__ = ["continuity", "majority", "neighbour_hit", "trustworthiness"]

RandomState = int | np.random.RandomState | None

_ROWS_BEFORE_SAMPLING = 5000


def trustworthiness(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    n_neighbors: int = 12,
    sample: int | None = None,
    random_state: RandomState = None,
) -> float:
    """Measure whether neighbours on the map are neighbours in the data (1 is best).

    The definition is that of :func:`sklearn.manifold.trustworthiness`, computed in tiles without an n x n array.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data.
    Z : array-like of shape (n, q)
        Embedding of the same rows.
    n_neighbors : int
        Size k of the neighbourhood, less than n / 2.
    sample : int, optional
        Use this many query rows, drawn at random; their ranks are counted among all rows. By default
        all rows up to 5000, and 5000 of them beyond.
    random_state : int, RandomState or None
        Seed of the sample. None means 0: the same call gives the same number.

    See Also
    --------
    continuity : The other direction: neighbours in the data that are torn apart.
    sidelight.explain.reliability : Row by row, calibrated.
    sklearn.manifold.trustworthiness : The same on few rows.

    Examples
    --------
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> trustworthiness(data.X, data.X)
    1.0
    """
    return _trust("trustworthiness", ("X", X), ("Z", Z), n_neighbors, sample, random_state)


def continuity(
    X: ArrayLike,
    Z: ArrayLike,
    *,
    n_neighbors: int = 12,
    sample: int | None = None,
    random_state: RandomState = None,
) -> float:
    """Measure whether neighbours in the data are neighbours on the map (1 is best).

    This is :func:`trustworthiness` with the roles of X and Z exchanged; the parameters are the same.

    See Also
    --------
    trustworthiness : The other direction: neighbours on the map that are none in the data.
    sidelight.explain.reliability : Row by row, calibrated.

    Examples
    --------
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> continuity(data.X, data.X)
    1.0
    """
    return _trust("continuity", ("Z", Z), ("X", X), n_neighbors, sample, random_state)


def neighbour_hit(Z: ArrayLike, labels: ArrayLike, *, n_neighbors: int = 10) -> float:
    """Measure the accuracy of a leave-one-out nearest-neighbour vote for the labels.

    Leave-one-out k-nearest-neighbour accuracy: the k nearest other rows vote; ties go to the tied label with the
    nearest row.

    Parameters
    ----------
    Z : array-like of shape (n, q)
        Embedding (or data).
    labels : array-like of shape (n,)
        A label per row, of any type; rows without a label (None, NaN) are left out.
    n_neighbors : int
        Number of voters k, at most n - 1.

    See Also
    --------
    trustworthiness : Without labels.
    recovery : Also for numbers.

    Examples
    --------
    >>> neighbour_hit([[0.0], [0.1], [5.0], [5.1]], ["a", "a", "b", "b"], n_neighbors=1)
    1.0
    """
    rows = rows_of("neighbour_hit", "Z", Z)
    codes, kept = codes_of("neighbour_hit", "labels", labels, len(rows))
    check_neighbours("neighbour_hit", n_neighbors, len(codes) - 1, f"{len(codes)} labelled rows")
    return float(np.mean(majority(codes[nearest(rows[kept], n_neighbors)]) == codes))


def majority(votes: Index) -> Index:
    """Winner of each row of votes (m, k), nearest first; a tie goes to the label met first."""
    support = np.zeros(votes.shape, dtype=np.int64)
    for k in range(votes.shape[1]):
        support += votes == votes[:, k, None]
    return np.take_along_axis(votes, support.argmax(axis=1)[:, None], axis=1)[:, 0]


def _trust(
    owner: str,
    ranked: tuple[str, ArrayLike],
    mapped: tuple[str, ArrayLike],
    n_neighbors: int,
    sample: int | None,
    random_state: RandomState,
) -> float:
    """Penalise neighbours in ``mapped`` by their ranks in ``ranked``."""
    R, M = rows_of(owner, *ranked), rows_of(owner, *mapped)
    check_same_rows(owner, **{ranked[0]: R, mapped[0]: M})
    n, k = len(R), n_neighbors
    check_neighbours(owner, k, (n - 1) // 2, f"less than half of {n} rows")
    queries = _queries(owner, n, sample, random_state)
    ranks = neighbour_ranks(R, queries, nearest(M, k, queries))
    penalty = float(np.maximum(ranks - k, 0).sum())
    return 1.0 - penalty * 2.0 / (len(queries) * k * (2.0 * n - 3.0 * k - 1.0))


def _queries(owner: str, n: int, sample: int | None, random_state: RandomState) -> Index:
    if sample is not None and (isinstance(sample, bool) or not isinstance(sample, (int, np.integer)) or sample < 1):
        raise ValueError(
            error_message(owner, "sample", sample, "is not a whole number >= 1", "Give None for the default")
        )
    size = _ROWS_BEFORE_SAMPLING if sample is None else int(sample)
    if size >= n:
        return np.arange(n)
    random = random_numbers(random_state)
    return np.sort(random.choice(n, size=size, replace=False))
