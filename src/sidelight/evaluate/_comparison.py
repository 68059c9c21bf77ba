"""An embedding beside principal components of the same dimension."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.decomposition import PCA
from threadpoolctl import threadpool_limits

from ._known_columns import codes_of
from ._neighbourhoods import continuity, neighbour_hit, trustworthiness
from ._ranks import Array, check_neighbours, check_same_rows, rows_of

__all__ = ["compare"]


def compare(X: ArrayLike, Z: ArrayLike, *, labels: ArrayLike | None = None) -> dict[str, dict[str, float]]:
    """Measure an embedding and PCA of the same dimension side by side.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Data.
    Z : array-like of shape (n, q)
        Embedding of the same rows.
    labels : array-like of shape (n,), optional
        With labels, :func:`neighbour_hit` is measured too.

    Returns
    -------
    dict
        ``{measure: {"embedding": value, "pca": value}}`` for trustworthiness, continuity and, with labels,
        neighbour_hit. With few rows the neighbourhoods are smaller than their defaults (12 and 10).

    See Also
    --------
    trustworthiness : One of the measures.
    leakage : What a map still says about what was given.

    Examples
    --------
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> sorted(compare(data.X, data.X[:, :2]))
    ['continuity', 'trustworthiness']
    """
    rows, embedding = rows_of("compare", "X", X), rows_of("compare", "Z", Z)
    check_same_rows("compare", X=rows, Z=embedding)
    maps = {"embedding": embedding, "pca": _principal_components(rows, embedding.shape[1])}
    k = min(12, (len(rows) - 1) // 2)
    check_neighbours("compare", max(k, 1), (len(rows) - 1) // 2, f"less than half of {len(rows)} rows")
    measures = {
        "trustworthiness": {name: trustworthiness(rows, M, n_neighbors=k) for name, M in maps.items()},
        "continuity": {name: continuity(rows, M, n_neighbors=k) for name, M in maps.items()},
    }
    if labels is not None:
        voters = min(10, len(codes_of("compare", "labels", labels, len(rows))[0]) - 1)
        measures["neighbour_hit"] = {name: neighbour_hit(M, labels, n_neighbors=voters) for name, M in maps.items()}
    return measures


def _principal_components(rows: Array, dimension: int) -> Array:
    # Constant data has no variance to be a share of; its components are zero, which is what we want.
    with np.errstate(invalid="ignore", divide="ignore"), threadpool_limits(limits=1):
        components: Array = PCA(min(dimension, *rows.shape), random_state=0).fit_transform(rows)
    return components
