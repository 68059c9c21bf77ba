"""Reading data: CSV and TSV, Parquet, NPY and NPZ, a folder of pictures, AnnData."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ._columns import ColumnRoles, choose_columns, match_columns
from ._matrix import Matrix
from ._output import CommandError

__all__ = ["Reading", "read", "read_frame"]

_DELIMITERS = ",;\t|"
_SPARSE_KEYS = {"format", "shape", "data"}  # that scipy.sparse.save_npz writes of every matrix
_ARRAY_KEYS = ("data", "X", "x", "images", "arr_0")
_PANDAS = tuple(int(part) for part in pd.__version__.split(".")[:2])
# The parser of CSV files may be off by the last bit before pandas 3.1, and is exact, without the option, from there on.
_EXACT_NUMBERS: dict[str, Any] = {"float_precision": "round_trip"} if _PANDAS < (3, 1) else {}


@dataclass(frozen=True)
class Reading:
    """How to read a file: what the user said, and what a model expects of new rows.

    Parameters
    ----------
    wishes : ColumnRoles
        Columns for colour, label and leaving out.
    key : str, optional
        Array of an NPZ file.
    layer, obsm : str, optional
        Part of an AnnData file.
    image_size : tuple (height, width), optional
        Size that pictures are brought to.
    image_shape : tuple (height, width), optional
        How rows of plain columns fold into pictures.
    expected : sequence of str, optional
        Feature names of a fitted model, to be matched by name.
    """

    wishes: ColumnRoles = field(default_factory=ColumnRoles)
    key: str | None = None
    layer: str | None = None
    obsm: str | None = None
    image_size: tuple[int, int] | None = None
    image_shape: tuple[int, int] | None = None
    expected: Sequence[str] | None = None


def read(path: Path, how: Reading) -> Matrix:
    """Read rows to embed from any supported file or folder."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file or folder")
    if path.is_dir():
        from ._images import read_images

        return read_images(path, how)
    suffix = path.suffix.lower()
    if suffix == ".h5ad":
        from ._anndata import read_anndata

        return read_anndata(path, how)
    if suffix in (".npy", ".npz"):
        return _read_arrays(path, how)
    frame = read_frame(path)
    if how.expected is not None:
        return match_columns(frame, how.expected, how.wishes, path.name)
    return choose_columns(frame, how.wishes, path.name)


def read_frame(path: Path) -> pd.DataFrame:
    """Read a table with its columns as they are."""
    readers = {".csv": _read_text, ".tsv": _read_text, ".txt": _read_text, ".parquet": _read_parquet}
    reader = readers.get(path.suffix.lower())
    if reader is None:
        kinds = "csv, tsv, txt, parquet, npy, npz, h5ad or a folder of pictures"
        raise CommandError(f"{path}: cannot tell what kind of file this is; give one of {kinds}")
    try:
        frame = reader(path)
    except (ValueError, csv.Error) as error:
        raise CommandError(f"{path}: not a readable {path.suffix[1:].upper()} file ({error})") from error
    if frame.empty:
        raise CommandError(f"{path}: the table has no rows")
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    return pd.read_parquet(path)


def _read_text(path: Path) -> pd.DataFrame:
    with open(path, encoding="utf-8-sig", newline="") as file:
        first = file.readline()
    if not first.strip():
        raise ValueError("its first line is empty")
    counts = {mark: first.count(mark) for mark in _DELIMITERS}
    mark = max(counts, key=lambda mark: counts[mark])
    heading = next(csv.reader([first], delimiter=mark))
    bare = _are_numbers(heading)
    frame: pd.DataFrame = pd.read_csv(
        path,
        sep=mark,
        header=None if bare else 0,
        names=[f"x{i + 1}" for i in range(len(heading))] if bare else None,
        encoding="utf-8-sig",
        low_memory=False,
        **_EXACT_NUMBERS,
    )
    return frame


def _are_numbers(cells: list[str]) -> bool:
    """Whether the first line is data already: a table without a heading."""
    try:
        return all(np.isfinite([float(cell) for cell in cells]))
    except ValueError:
        return False


def _read_arrays(path: Path, how: Reading) -> Matrix:
    try:
        found = np.load(path, allow_pickle=False)
        arrays = {name: found[name] for name in found.files} if path.suffix.lower() == ".npz" else {"": found}
    except (ValueError, EOFError, OSError) as error:
        raise CommandError(f"{path}: not a readable NumPy file of plain arrays ({error})") from error
    if arrays.keys() >= _SPARSE_KEYS and arrays["format"].ndim == 0:
        remedy = 'KernelInformationEmbedding(metric="precomputed").fit(scipy.sparse.load_npz(...))'
        raise CommandError(
            f"{path}: holds a sparse matrix, and rows are embedded here; in Python, a graph of distances is: {remedy}"
        )
    key = _main_array(path, arrays, how.key) if "" not in arrays else ""
    X = np.atleast_1d(arrays.pop(key))
    pictures = how.image_shape or (X.shape[1:] if X.ndim == 3 else None)
    others = {name: array for name, array in arrays.items() if array.shape == X.shape[:1]}
    how.wishes.check(others, path.name)
    kept = {name: others[name] for name in how.wishes.shown(others) if name not in how.wishes.drop}
    label = how.wishes.label
    return Matrix(
        X=X.reshape(len(X), -1),
        names=None if how.expected is None else _expected_names(path, X, how.expected),
        colours=pd.DataFrame({name: array for name, array in kept.items() if name != label}),
        given=how.wishes.known(pd.DataFrame(others)),
        attributes=how.wishes.labels(pd.DataFrame(others)),
        related=how.wishes.related(pd.DataFrame(others)),
        row_names=None if label is None else pd.Series(others[label], name=label),
        image_shape=None if pictures is None else (int(pictures[0]), int(pictures[1])),
        remarks=_array_remarks(key, X, list(kept)),
    )


def _main_array(path: Path, arrays: dict[str, NDArray[Any]], key: str | None) -> str:
    if key is not None:
        if key not in arrays:
            raise CommandError(f"--key {key}: {path.name} has no such array; it has {', '.join(arrays)}")
        return key
    wide = [name for name, array in arrays.items() if array.ndim >= 2]
    chosen = wide if len(wide) == 1 else [name for name in _ARRAY_KEYS if name in wide]
    if not chosen:
        raise CommandError(f"{path}: say with --key which array to embed: {', '.join(wide or arrays)}")
    return chosen[0]


def _expected_names(path: Path, X: NDArray[Any], expected: Sequence[str]) -> list[str]:
    width = int(np.prod(X.shape[1:]))
    if width != len(expected):
        raise CommandError(f"{path}: rows have {width} columns, and the model was fitted on {len(expected)}")
    return list(expected)


def _array_remarks(key: str, X: NDArray[Any], colours: list[str]) -> list[str]:
    shape = " x ".join(map(str, X.shape))
    lines = [f"The array {key} ({shape}) is embedded." if key else f"The array ({shape}) is embedded."]
    return [*lines, f"Offered as colours: {', '.join(colours)}."] if colours else lines
