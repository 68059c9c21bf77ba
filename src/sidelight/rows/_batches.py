"""Rows in batches, from any source that can be read more than once; memory does not depend on the number of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Untyped
from sidelight.base.validation import refuse_too_large

from ._array import ArrayRows
from ._base import BLOCK, Rows, Statistic, Sums, summed

__all__ = ["BatchRows", "as_rows", "check_batch"]


class BatchRows(Rows):
    """Batches from a callable that yields them anew at each call: arrays (m, d) or data frames, of any length.

    Parameters
    ----------
    walk : callable
        Returns an iterable of batches; called once for each pass over the data.
    owner : object
        Estimator or name for messages.
    missing : bool
        Whether NaN is allowed.
    n_jobs : int or None
        Threads.

    >>> rows = BatchRows(lambda: (np.full((4, 2), float(i)) for i in range(3)))
    >>> rows.count(), rows.n_features
    (12, 2)
    """

    def __init__(
        self,
        walk: Callable[[], Iterable[object]],
        *,
        owner: object = "BatchRows",
        missing: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self._walk, self._owner, self._missing, self._n_jobs = walk, owner, missing, n_jobs
        first = next(iter(walk()), None)
        if first is None:
            raise ValueError(error_message(owner, "source", "no batch", "has no rows", "Give at least one batch"))
        self.n_features = check_batch(owner, first, None, missing=missing).shape[1]
        if not self._starts_again(first):
            remedy = "Give a callable that returns the batches anew, e.g. lambda: reader(path)"
            raise ValueError(error_message(owner, "source", type(walk).__name__, "can be walked only once", remedy))

    def blocks(self) -> Iterator[Array]:
        """Iterate over the batches, long ones cut into blocks."""
        return chain.from_iterable(self._cut(batch) for batch in self._walk())

    def total(self, statistic: Statistic) -> Sums:
        """The sum of a statistic over blocks: the blocks of a batch on threads, one batch after the other."""
        return summed(chain.from_iterable(run_tiles(statistic, self._cut(b), self._n_jobs) for b in self._walk()))

    def _cut(self, batch: object) -> list[Array]:
        X = self._checked(batch)
        return [X[part] for part in spans(len(X), BLOCK)]

    def _checked(self, batch: object) -> Array:
        return check_batch(self._owner, batch, self.n_features, missing=self._missing)

    def _starts_again(self, first: object) -> bool:
        """Whether a second pass yields the same first batch: an exhausted iterator does not."""
        again = next(iter(self._walk()), None)
        return again is not None and np.array_equal(_as_array(again), _as_array(first), equal_nan=True)


def check_batch(owner: object, batch: object, n_features: int | None, *, missing: bool) -> Array:
    """Return a batch as float64 (m, d); raise ValueError if it is not valid.

    Parameters
    ----------
    owner : object
        Estimator or name for messages.
    batch : array or data frame
    n_features : int or None
        Columns of the first batch, which this one must have; None: this is the first.
    missing : bool
        Whether NaN is allowed.
    """
    try:
        X = _as_array(batch)
    except (TypeError, ValueError) as error:
        remedy = "Leave out columns of text and dates, or turn them into numbers"
        raise ValueError(error_message(owner, "source", type(batch).__name__, "is not all numbers", remedy)) from error
    if X.ndim != 2 or X.shape[1] == 0 or (n_features is not None and X.shape[1] != n_features):
        like = "rows and columns" if n_features is None or X.ndim != 2 else f"{n_features} columns like the first batch"
        rule = f"is not an array of {like}"
        raise ValueError(error_message(owner, "source", f"a batch of shape {X.shape}", rule, "Mend the source"))
    if np.isinf(X).any() if missing else not np.isfinite(X).all():
        what = "infinite numbers" if missing else "NaN or infinite numbers"
        raise ValueError(error_message(owner, "source", f"a batch with {what}", "is not data", "Mend the source"))
    refuse_too_large(owner, "source", X)
    return X


def _as_array(batch: Untyped) -> Array:
    """A batch as float64: arrays, data frames (pandas, polars), record batches of pyarrow.

    In C order and aligned, for the same bits everywhere: an array from another process may start at any byte, and NumPy
    copies what is not aligned, after which ``X.T @ X`` is no longer a product of one array with itself and uses another
    BLAS routine.
    """
    if type(batch).__module__.startswith("pyarrow"):
        batch = np.column_stack([column.to_numpy(zero_copy_only=False) for column in batch.columns])
    elif hasattr(batch, "to_numpy"):
        batch = batch.to_numpy()
    return np.require(batch, np.float64, ["C", "ALIGNED"])


def as_rows(source: object, *, owner: object, missing: bool = False, n_jobs: int | None = None) -> Rows:
    """Rows of an array, a memory map, a file (.npy, .parquet), a folder of Parquet files, a callable, or Rows.

    Parameters
    ----------
    source : as above
    owner : object
        Estimator or name for messages.
    missing : bool
        Whether NaN is allowed.
    n_jobs : int or None
        Threads.
    """
    if isinstance(source, Rows):
        return source
    if isinstance(source, str | os.PathLike):
        return _from_file(Path(source), owner=owner, missing=missing, n_jobs=n_jobs)
    if callable(source):
        return BatchRows(source, owner=owner, missing=missing, n_jobs=n_jobs)
    if isinstance(source, np.ndarray) and source.ndim == 2:
        return BatchRows(lambda: ArrayRows(source).blocks(), owner=owner, missing=missing, n_jobs=n_jobs)
    if isinstance(source, list | tuple):
        return BatchRows(lambda: source, owner=owner, missing=missing, n_jobs=n_jobs)
    if type(source).__module__.startswith("dask"):
        remedy = "Give sidelight.distributed.DaskRows(source)"
        raise TypeError(error_message(owner, "source", type(source).__name__, "is computed by Dask", remedy))
    remedy = "Give a callable that returns batches, an array, a list of batches, or the path of a .npy or Parquet file"
    raise TypeError(error_message(owner, "source", type(source).__name__, "cannot be read more than once", remedy))


def _from_file(path: Path, *, owner: object, missing: bool, n_jobs: int | None) -> Rows:
    """Rows of a ``.npy`` or Parquet file, or of a folder of Parquet files."""
    if not path.exists():
        raise FileNotFoundError(error_message(owner, "source", path.name, "does not exist", f"Look in {path.parent}"))
    if path.suffix == ".npy":
        return BatchRows(lambda: _npy(path), owner=owner, missing=missing, n_jobs=n_jobs)
    if path.is_dir() or path.suffix in (".parquet", ".pq"):
        return BatchRows(lambda: _parquet(path), owner=owner, missing=missing, n_jobs=n_jobs)
    remedy = "Give a .npy or Parquet file, or a callable that reads yours"
    raise ValueError(error_message(owner, "source", path.name, "is not a file that can be read in batches", remedy))


def _npy(path: Path) -> Iterator[Array]:
    """Iterate over blocks of a ``.npy`` file.

    The file is mapped anew for each block, because pages that were read count as memory of the process while a map is
    open.
    """
    for part in spans(len(np.load(path, mmap_mode="r")), BLOCK):
        yield np.array(np.load(path, mmap_mode="r")[part])


def _parquet(path: Path) -> Iterator[object]:
    """Iterate over the record batches of a Parquet file or folder."""
    from pyarrow import dataset

    return iter(dataset.dataset(path).to_batches(batch_size=8 * BLOCK))
