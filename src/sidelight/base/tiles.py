"""Reproducible multithreading: fixed tiles, processed by the library's own threads and summed in a fixed order.

BLAS, LAPACK and OpenMP change the last bits of a result with their number of threads. So every pass over pairs is cut
into tiles that depend on the size of the problem only, each tile runs with one BLAS thread, and partial results are
added in the order of the tiles: bit-identical results with any number of threads.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

import numpy as np
import numpy.typing as npt
from threadpoolctl import ThreadpoolController

__all__ = [
    "BLOCK",
    "TILE",
    "by_block",
    "one_blas_thread",
    "one_thread",
    "run_tiles",
    "spans",
    "sum_in_order",
    "thread_count",
    "tile_buffer",
]

Array = npt.NDArray[Any]

TILE = 512
"""Rows of a tile: 512 x 512 numbers of 4 bytes fit the second-level cache (measured: 256 to 1000 alike)."""

BLOCK = 4096
"""Rows of a block in ``by_block``."""

Item = TypeVar("Item")
Result = TypeVar("Result")
P = ParamSpec("P")
_ALONE: ContextVar[bool] = ContextVar("_ALONE", default=False)


def spans(n: int, size: int = TILE) -> list[slice]:
    """Consecutive slices of at most ``size`` that cover ``range(n)``.

    >>> spans(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def thread_count(n_jobs: int | None) -> int:
    """Threads to use: ``None`` is every core (the result does not depend on it), negatives count from the end."""
    if _ALONE.get():
        return 1
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    if n_jobs is None:
        return cores
    if n_jobs < 0:
        return max(1, cores + 1 + n_jobs)
    return max(1, n_jobs)


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, ``run_tiles`` uses the thread it is called from, whatever ``n_jobs`` is: others run tasks beside it.

    >>> with one_thread():
    ...     thread_count(8)
    1
    """
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


def run_tiles(work: Callable[[Item], Result], items: Iterable[Item], n_jobs: int | None = None) -> list[Result]:
    """``[work(item) for item in items]`` on threads; results are in the order of the items.

    Parameters
    ----------
    work : callable
        Must be thread-safe. Callers limit BLAS to one thread (``one_blas_thread``).
    items : iterable
    n_jobs : int or None
        Threads; None: all cores.
    """
    todo = list(items)
    threads = min(thread_count(n_jobs), len(todo)) if len(todo) > 1 else 1
    if threads <= 1:
        return [work(item) for item in todo]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, todo))


def sum_in_order(parts: list[Array]) -> Array:
    """The sum of partial results, in their order. It is accumulated in ``parts[0]``, which changes."""
    total = parts[0]
    for part in parts[1:]:
        total += part
    return total


def tile_buffer(buffer: Array, K: Array) -> Array:
    """The part of a buffer with the shape of the tile ``K``: tiles at the border are smaller."""
    return buffer[: K.shape[0], : K.shape[1]]


@functools.lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """The controller of all thread pools; looked up again only after an import, as that takes milliseconds."""
    del n_modules
    return ThreadpoolController()


def one_blas_thread(function: Callable[P, Result]) -> Callable[P, Result]:
    """Decorate: inside, BLAS and OpenMP use one thread, so that results are bit-identical on any machine load."""

    @functools.wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> Result:
        context: Any = _controller(len(sys.modules)).limit(limits=1)
        with context:
            return function(*args, **kwargs)

    return limited


@one_blas_thread
def by_block(
    function: Callable[[Array], Array], X: Any, n_jobs: int | None, *, block: int = BLOCK, dtype: Any = None
) -> Array:
    """``function(X)`` of an array of rows, computed a block of rows at a time, on threads.

    Parameters
    ----------
    function : callable
        Rows (m, d) of float64 to an array with m rows; row i of the result may depend on row i only.
    X : array or CSR array of shape (n, d)
    n_jobs : int or None
        Threads; None: all.
    block : int
        Rows of a block.
    dtype : data type or None
        Of the result; None: that of ``X``.

    Examples
    --------
    >>> by_block(lambda rows: rows.sum(axis=1), np.ones((3, 2), dtype=np.float32), 1)
    array([2., 2., 2.], dtype=float32)
    """
    parts = run_tiles(lambda part: function(X[part].astype(np.float64)), spans(X.shape[0], block), n_jobs)
    return np.asarray(np.concatenate(parts).astype(X.dtype if dtype is None else dtype, copy=False))
