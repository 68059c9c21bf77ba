"""Append rows to a ``.npy`` file, which appears only when it is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from sidelight.base.files import atomic_write
from sidelight.base.types import Array

__all__ = ["writing_rows"]


@contextmanager
def writing_rows(path: Path) -> Iterator[Callable[[Array], None]]:
    """Context manager: a function that appends rows (m, q) to the file; the total is unknown in advance.

    The header, which holds the number of rows, is written last: numpy leaves room in it for any number of rows.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "places.npy"
    >>> with writing_rows(path) as write:
    ...     write(np.zeros((2, 1))), write(np.ones((1, 1)))
    (None, None)
    >>> np.load(path).ravel()
    array([0., 0., 1.])
    """
    count = 0
    with atomic_write(path) as unfinished, open(unfinished, "wb") as file:
        first: Array | None = None

        def write(Z: Array) -> None:
            nonlocal first, count
            if first is None:
                first = Z[:0]
                _write_header(file, first, 0)
            count += len(Z)
            file.write(np.ascontiguousarray(Z, dtype=first.dtype).data)

        yield write
        if first is not None:
            end = file.tell()
            file.seek(0)
            _write_header(file, first, count)
            file.seek(end)
        file.flush()


def _write_header(file: IO[bytes], like: Array, n: int) -> None:
    header = {"descr": npy.dtype_to_descr(like.dtype), "fortran_order": False, "shape": (n, like.shape[1])}
    npy.write_array_header_1_0(file, header)
