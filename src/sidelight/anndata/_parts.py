"""Read the rows of an AnnData object: ``X``, a layer or an entry of ``obsm``, in memory or backed by a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = [
    "NoSuchPartError",
    "Part",
    "as_array",
    "in_memory",
    "is_sparse",
    "match_names",
    "read_part",
    "representation_names",
]

Array = npt.NDArray[Any]


class NoSuchPartError(LookupError):
    """The object lacks a part.

    Parameters
    ----------
    kind : "X", "layer" or "obsm"
    key : str
        Name of the entry that is not there; "" for ``X``.
    names : list of str
        Entries of that kind that are there (of layers, if ``X`` is missing).
    """

    def __init__(self, kind: str, key: str, names: list[str]) -> None:
        super().__init__(kind, key, names)
        self.kind, self.key, self.names = kind, key, names


@dataclass(frozen=True)
class Part:
    """Rows of an AnnData object.

    Parameters
    ----------
    values : array or sparse matrix of shape (n, d)
        In memory.
    names : list of str
        Names of its columns: genes, or for an entry of ``obsm`` its key with a number.
    title : str
        What it is, for messages.
    """

    values: Any
    names: list[str]
    title: str


def read_part(data: Any, *, obsm: str | None = None, layer: str | None = None) -> Part:
    """Return the rows of an AnnData object: an entry of ``obsm``, a layer, or without both ``X``.

    Raises
    ------
    NoSuchPartError
        If there is no such entry.
    """
    if obsm is not None:
        values = in_memory(_entry(data.obsm, "obsm", obsm))
        return Part(values, representation_names(obsm, values.shape[1]), f"obsm {obsm}")
    genes = [str(name) for name in data.var_names]
    if layer is not None:
        return Part(in_memory(_entry(data.layers, "layer", layer)), genes, f"layer {layer}")
    if data.X is None:
        raise NoSuchPartError("X", "", _names(data.layers))
    return Part(in_memory(data.X), genes, "X")


def representation_names(key: str, width: int) -> list[str]:
    """Column names of an entry of ``obsm``, which has none: ``X_pca_1``, ``X_pca_2``, ..."""
    return [f"{key}_{column + 1}" for column in range(width)]


def in_memory(values: Any) -> Any:
    """Return a matrix of any storage as a NumPy array or a SciPy sparse matrix, with a sparse one left sparse."""
    if hasattr(values, "compute"):  # dask
        values = values.compute()
    if hasattr(values, "to_memory"):  # sparse, in a file
        values = values.to_memory()
    return values if is_sparse(values) else np.asarray(values)


def is_sparse(values: Any) -> bool:
    """Whether a matrix is one of SciPy's sparse ones; its type stays Any, which ``issparse`` would narrow."""
    return bool(sparse.issparse(values))


def as_array(values: Any) -> Array:
    """Return a matrix as a NumPy array; a sparse one is written out in full."""
    return np.asarray(values.toarray() if is_sparse(values) else values)


def match_names(names: Sequence[str], expected: Sequence[str]) -> tuple[list[int], list[str]]:
    """Find the columns that a model was fitted on.

    Returns
    -------
    places : list of int
        Position of each expected name among ``names``, -1 where it is missing.
    missing : list of str
        The expected names that are missing.

    Examples
    --------
    >>> match_names(["a", "b", "c"], ["c", "d", "a"])
    ([2, -1, 0], ['d'])
    """
    at: dict[str, int] = {}
    for place, name in enumerate(names):
        at.setdefault(name, place)
    return [at.get(name, -1) for name in expected], [name for name in expected if name not in at]


def _entry(entries: Mapping[str, Any], kind: str, key: str) -> Any:
    if key not in entries:
        raise NoSuchPartError(kind, key, _names(entries))
    return entries[key]


def _names(entries: Mapping[str, Any]) -> list[str]:
    """The names of layers or of ``obsm``; anndata 0.13 lists ``X`` as a layer without a name."""
    return [name for name in entries if name is not None]
