"""``--batches``: embed a file that is larger than memory, by a model of a sample of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import count_of
from sidelight.rows import as_rows

from ._columns import ColumnRoles, are_embedded
from ._embed import Request
from ._large_table import LargeTable, check_large, embed_large
from ._matrix import Scaling
from ._output import CommandError, Output

__all__ = ["embed_batches"]

_BATCH = 20_000


def embed_batches(talk: Output, request: Request, sample: int) -> None:
    """Fit the method to a sample, embed all rows in batches, and write embedding.npy, model and report."""
    results = check_large(request, "--batches", given=False)
    walk, names, words = _source(request.data, request.how.wishes)
    table = _measured(walk, names, words)
    talk.say(f"{request.data}: {count_of(table.n, 'row')}, read in batches", style="bold")
    embed_large(talk, request, table, results, sample)


def _source(path: Path, roles: ColumnRoles) -> tuple[Callable[[], Iterator[NDArray[Any]]], list[str] | None, str]:
    """The batches of a file, the names of the columns of a table, and a sentence about its columns."""
    if not path.exists():
        raise CommandError(f"{path}: there is no such file or folder")
    if path.suffix.lower() == ".npy":
        shape = np.load(path, mmap_mode="r").shape
        if len(shape) != 2:
            raise CommandError(f"{path}: has {len(shape)} axes, and --batches embeds rows and columns")
        return lambda: _array_batches(path, shape[0]), None, f"The array ({shape[0]} x {shape[1]}) is embedded."
    if path.suffix.lower() in (".parquet", ".pq") or path.is_dir():
        return _parquet(path, roles)
    raise CommandError(f"{path}: --batches reads .npy and Parquet files; convert it, or leave --batches out")


def _array_batches(path: Path, n: int) -> Iterator[NDArray[Any]]:
    """Batches of an array; the file is mapped anew each time, because pages that were read count as memory."""
    for start in range(0, n, _BATCH):
        yield np.array(np.load(path, mmap_mode="r")[start : start + _BATCH], dtype=np.float64)


def _parquet(path: Path, roles: ColumnRoles) -> tuple[Callable[[], Iterator[NDArray[Any]]], list[str], str]:
    from pyarrow import dataset, types

    table = dataset.dataset(path, format="parquet")
    roles.check(table.schema.names, path.name)
    taken = {*roles.drop, *roles.colours, roles.label}
    fields = [field for field in table.schema if field.name not in taken]
    names = [field.name for field in fields if types.is_floating(field.type) or types.is_integer(field.type)]
    if not names:
        raise CommandError(f"{path}: has no numeric column to embed; it has {', '.join(table.schema.names)}")
    others = [name for name in table.schema.names if name not in names]
    words = f"{are_embedded(len(names))}: {', '.join(names)}."
    words += f" Not embedded: {', '.join(others)}." if others else ""

    def walk() -> Iterator[NDArray[Any]]:
        for batch in table.to_batches(columns=names, batch_size=_BATCH):
            if batch.num_rows:
                columns = [batch.column(k).to_numpy(zero_copy_only=False) for k in range(len(names))]
                yield np.column_stack(columns).astype(np.float64)

    return walk, names, words


def _measured(walk: Callable[[], Iterator[NDArray[Any]]], names: list[str] | None, words: str) -> LargeTable:
    """Count, mean and standard deviation of the rows, batch by batch around the first batch's mean."""
    rows = as_rows(walk, owner="--batches")
    shift = next(iter(rows.blocks())).mean(axis=0)
    n, sums, squares = 0, np.zeros(len(shift)), np.zeros(len(shift))
    for batch in rows.blocks():
        moved = batch - shift
        n += len(batch)
        sums += moved.sum(axis=0)
        squares += (moved**2).sum(axis=0)
    variance = np.maximum(squares / n - (sums / n) ** 2, 0.0)

    def source(scaling: Scaling | None) -> object:
        return walk if scaling is None else (lambda: (scaling.apply(batch) for batch in walk()))

    return LargeTable(source, n, shift + sums / n, np.sqrt(variance), names, words)
