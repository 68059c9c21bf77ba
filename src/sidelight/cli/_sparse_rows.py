"""Sparse rows that stay sparse: large ones, for models that take them as they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import get_tags

from sidelight.base.chain import Chain
from sidelight.base.model import FittedModel
from sidelight.maps.truncated import truncated_basis

from ._output import CommandError

__all__ = ["MOST_ENTRIES", "column_means", "coordinates", "has_gaps", "is_sparse", "kept_sparse", "takes_sparse"]

MOST_ENTRIES = 2e7
"""Entries of a full matrix (160 MB) up to which a sparse one is written out."""


def is_sparse(X: Any) -> bool:
    """Whether rows are a sparse matrix."""
    return bool(sparse.issparse(X))


def takes_sparse(model: FittedModel) -> bool:
    """Whether a model, fitted or not, takes sparse rows, which are not distances."""
    first = model.steps[0] if isinstance(model, Chain) else model
    tags = get_tags(first).input_tags
    return bool(tags.sparse and not tags.pairwise)


def kept_sparse(matrix: Any, title: str) -> Any:
    """Sparse rows as a CSR array of numbers; raises where entries are missing or infinite."""
    rows = sparse.csr_array(matrix)
    rows = rows if rows.dtype in (np.float32, np.float64) else rows.astype(np.float64)
    if not np.isfinite(rows.data).all():
        rule = "some entries are missing or infinite, and a sparse matrix has none to fill them from"
        raise CommandError(f"{title}: {rule}; leave their rows out")
    return rows


def has_gaps(X: Any) -> bool:
    """Whether entries are missing (NaN); of sparse rows none is."""
    return not is_sparse(X) and bool(np.isnan(X).any())


def column_means(X: Any) -> NDArray[np.float64]:
    """Mean of the entries that are not missing, of each column (d,)."""
    if is_sparse(X):
        return np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    return np.asarray(np.nanmean(X, axis=0, dtype=np.float64))


def coordinates(X: Any) -> NDArray[Any]:
    """Rows as an array; sparse ones by 50 principal coordinates, which have nearly the same distances."""
    return truncated_basis(X).scores(X) if is_sparse(X) else np.asarray(X)
