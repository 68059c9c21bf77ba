"""Read NPY and NPZ files, and sparse matrices (scipy's NPZ, Matrix Market)."""

from __future__ import annotations

import inspect
import io
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from tokenize import TokenError
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.io import mmread
from scipy.sparse.linalg import svds
from sklearn.utils.extmath import svd_flip
from threadpoolctl import threadpool_limits

from sidelight.maps.truncated import RANK

from ._columns import suggestion
from ._matrix import Matrix
from ._output import CommandError
from ._source import Source
from ._sparse_rows import MOST_ENTRIES, is_sparse, kept_sparse

if TYPE_CHECKING:
    from ._read import Reading

__all__ = ["SPARSE_ARRAYS", "read_arrays"]

SPARSE_ARRAYS: dict[str, Any] = {"spmatrix": False} if "spmatrix" in inspect.signature(mmread).parameters else {}
"""Lets SciPy read a Matrix Market file into a sparse array where it has the choice (the oldest versions have not)."""
_SPARSE_KEYS = {"format", "shape", "data"}  # that scipy.sparse.save_npz writes of every matrix
_ARRAY_KEYS = ("data", "X", "x", "images", "arr_0")
_BROKEN = (
    ValueError,
    OverflowError,
    EOFError,
    OSError,
    KeyError,
    BadZipFile,
    TokenError,
    NotImplementedError,
    zlib.error,
)
"""What NumPy and SciPy raise for files that are cut or changed."""
_N_SINGULAR = 50
_SINGULAR_NAME = "singular_"


@dataclass(frozen=True)
class _Arrays:
    """The array to embed, names of its columns if it has any, the other arrays of its file, and remarks.

    ``singular`` (k, d) are the singular vectors that a large sparse matrix was reduced by.
    """

    X: Any
    others: dict[str, NDArray[Any]]
    names: list[str] | None = None
    remarks: list[str] = field(default_factory=list)
    singular: NDArray[np.float64] | None = None


def read_arrays(source: Source, how: Reading) -> Matrix:
    """Return the rows of an array, with the other arrays of its file as columns for colours and side information."""
    found = _read_market(source, how) if source.format == "mtx" else _read_numpy(source, how)
    X = found.X
    pictures = how.image_shape or (X.shape[1:] if X.ndim == 3 else None)
    others = {name: array for name, array in found.others.items() if array.shape == X.shape[:1]}
    how.wishes.check(others, source.name)
    kept = {name: others[name] for name in how.wishes.shown(others) if name not in how.wishes.drop}
    label = how.wishes.label
    colours = {name: array for name, array in kept.items() if name != label}
    return Matrix(
        X=X if is_sparse(X) else X.reshape(len(X), -1),
        names=found.names if how.expected is None else _expected_names(source, X, how.expected),
        colours=pd.DataFrame(colours),
        given=how.wishes.known(pd.DataFrame(others)),
        attributes=how.wishes.labels(pd.DataFrame(others)),
        related=how.wishes.related(pd.DataFrame(others)),
        row_names=None if label is None else pd.Series(others[label], name=label),
        image_shape=None if pictures is None else (int(pictures[0]), int(pictures[1])),
        singular=found.singular,
        remarks=[*found.remarks, *([f"Offered as colours: {', '.join(kept)}."] if kept else [])],
    )


def _read_numpy(source: Source, how: Reading) -> _Arrays:
    try:
        with source.open() as file:  # NumPy leaves a broken file open that it opened itself
            found = np.load(file, allow_pickle=False)
            arrays = {"": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except _BROKEN as error:
        raise CommandError(f"{source.title}: not a readable NumPy file of plain arrays ({error})") from error
    if arrays.keys() >= _SPARSE_KEYS and arrays["format"].ndim == 0:
        try:
            with source.open() as file:
                return _from_sparse(sparse.load_npz(file), source, how)
        except _BROKEN as error:
            raise CommandError(f"{source.title}: not a readable sparse matrix ({error})") from error
    key = _main_array(source, arrays, how.key) if "" not in arrays else ""
    X = np.atleast_1d(arrays.pop(key))
    shape = " x ".join(map(str, X.shape))
    return _Arrays(X, arrays, remarks=[f"The array {key + ' ' if key else ''}({shape}) is embedded."])


def _main_array(source: Source, arrays: dict[str, NDArray[Any]], key: str | None) -> str:
    if key is not None:
        if key not in arrays:
            has = f"it has {', '.join(arrays)}{suggestion(key, list(arrays))}"
            raise CommandError(f"--key {key}: {source.name} has no such array; {has}")
        return key
    wide = [name for name, array in arrays.items() if array.ndim >= 2]
    chosen = wide if len(wide) == 1 else [name for name in _ARRAY_KEYS if name in wide]
    if not chosen:
        raise CommandError(f"{source.title}: choose the array to embed with --key: {', '.join(wide or arrays)}")
    return chosen[0]


def _read_market(source: Source, how: Reading) -> _Arrays:
    content = source.read_bytes()
    numbers = b"".join(line for line in content.splitlines() if not line.startswith(b"%"))
    if b"\0" in content or not numbers.isascii():  # SciPy's reader may crash on these
        raise CommandError(f"{source.title}: not a readable Matrix Market file (it holds bytes that are no text)")
    try:
        matrix = mmread(io.BytesIO(content + b"\n"), **SPARSE_ARRAYS)
    except _BROKEN as error:
        raise CommandError(f"{source.title}: not a readable Matrix Market file ({error})") from error
    if sparse.issparse(matrix):
        return _from_sparse(matrix, source, how)
    shape = " x ".join(map(str, matrix.shape))
    return _Arrays(np.asarray(matrix), {}, remarks=[f"The matrix ({shape}) is embedded."])


def _from_sparse(matrix: Any, source: Source, how: Reading) -> _Arrays:
    """Return a small sparse matrix in full, and a large one reduced to its first singular vectors."""
    if np.iscomplexobj(matrix):
        raise CommandError(f"{source.title}: holds complex numbers, and only real ones can be embedded")
    n, d = matrix.shape
    counts = " of counts" if _are_counts(matrix.data) else ""
    what = f"The sparse matrix{counts} ({n} x {d}, {matrix.nnz} entries)"
    if how.singular is not None:
        return _by_singular_vectors(matrix, how.singular, source)
    if float(n) * d <= MOST_ENTRIES:
        return _Arrays(matrix.toarray(), {}, remarks=[f"{what} is embedded as it is, with zeros written out."])
    _refuse_new_rows(source, how.expected)
    if how.sparse:
        told = f"stays sparse: it is reduced to {RANK} principal coordinates; reconstructions have all columns."
        return _Arrays(kept_sparse(matrix, source.title), {}, remarks=[f"{what} {told}"])
    k = min(_N_SINGULAR, min(n, d) - 1)
    why = f"is too large to be written out, so it is reduced to {k} columns by its truncated SVD"
    X, V = _reduced(matrix, k)
    said = [f"{what} {why}; the way back leads to these columns."]
    return _Arrays(X, {}, _singular_names(k), said, V)


def _by_singular_vectors(matrix: Any, V: NDArray[np.float64], source: Source) -> _Arrays:
    """New rows of a matrix that was reduced by its singular vectors V (k, d): X Vᵀ, as for the rows of the fit."""
    if matrix.shape[1] != V.shape[1]:
        seen, expected = matrix.shape[1], V.shape[1]
        raise CommandError(f"{source.title}: rows have {seen} columns, and the model was fitted on {expected}")
    with threadpool_limits(limits=1):
        X = np.asarray(sparse.csr_array(matrix, dtype=np.float64) @ V.T)
    return _Arrays(X, {}, _singular_names(len(V)), singular=V)


def _singular_names(k: int) -> list[str]:
    return [f"{_SINGULAR_NAME}{i + 1}" for i in range(k)]


def _are_counts(values: NDArray[Any]) -> bool:
    return bool(len(values)) and bool((values >= 0).all()) and bool((values == np.rint(values)).all())


def _refuse_new_rows(source: Source, expected: Sequence[str] | None) -> None:
    if expected is not None and expected[0] == f"{_SINGULAR_NAME}1":
        rule = "the model was fitted on singular vectors of another matrix, which its file does not keep"
        remedy = "fit it again with this version, which keeps them"
        raise CommandError(f"{source.title}: {rule}; {remedy}")


def _reduced(matrix: Any, k: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return X Vᵀ (n, k) and V (k, d) of the truncated singular value decomposition X ≈ U S V, widest first.

    The same bytes at every run.
    """
    rows = sparse.csr_array(matrix, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(min(rows.shape))
    with threadpool_limits(limits=1):  # sums over threads would change the last bits
        U, _, V = svds(rows, k=k, v0=start)
        _, V = svd_flip(U[:, ::-1], V[::-1])
        V = np.ascontiguousarray(V)
        return np.asarray(rows @ V.T), V  # as for new rows, to the bit


def _expected_names(source: Source, X: Any, expected: Sequence[str]) -> list[str]:
    width = int(np.prod(X.shape[1:]))
    if width != len(expected):
        raise CommandError(f"{source.title}: rows have {width} columns, and the model was fitted on {len(expected)}")
    return list(expected)
