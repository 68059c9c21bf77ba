"""``--cluster``: embed a Parquet or NPY file on a Dask cluster, by a model of a sample of its rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.messages import count_of, require_extra

from ._columns import ColumnRoles, are_embedded
from ._embed import Request
from ._large_table import LargeTable, check_large, embed_large
from ._matrix import Scaling
from ._output import CommandError, Output

__all__ = ["embed_on_cluster"]

_BLOCK = 100_000  # rows of an array in a partition
_SECONDS = 20  # for a scheduler to answer


def embed_on_cluster(talk: Output, request: Request, sample: int, address: str) -> None:
    """Fit the method to a sample here, place all rows on the workers, and write embedding.npy, model and report."""
    results = check_large(request, "--cluster", given=True)
    with _connected(talk, address):
        X, known, words = _source(request.data, request.how.wishes)
        table = _table(X, known, words)
        talk.say(f"{request.data}: {count_of(table.n, 'row')}, read by the workers", style="bold")
        embed_large(talk, request, table, results, sample)


@contextmanager
def _connected(talk: Output, address: str) -> Iterator[None]:
    """Dask computes on this cluster, inside; "local" starts a process for each core of this machine."""
    distributed: Any = require_extra("distributed", "--cluster", "scale")
    if address == "local":
        with (
            distributed.LocalCluster(threads_per_worker=1, dashboard_address=":0") as local,
            distributed.Client(local) as client,
        ):
            _tell(talk, client)
            yield
        return
    try:
        client = distributed.Client(address, timeout=_SECONDS)
    except (OSError, ValueError) as error:
        remedy = "start one with `dask scheduler` and give its address (tcp://host:8786), or use --cluster local"
        raise CommandError(f"--cluster {address}: no scheduler answers there; {remedy}") from error
    with client:
        _tell(talk, client)
        yield


def _tell(talk: Output, client: Any) -> None:
    workers = len(client.scheduler_info(n_workers=-1)["workers"])
    talk.say(f"Dask cluster of {workers} workers; progress: {client.dashboard_link}")


def _source(path: Path, roles: ColumnRoles) -> tuple[Any, Any, str]:
    """The rows of a file as a Dask array or data frame, their ``given``, and a sentence about the columns."""
    address = _address(path)
    if address.endswith(".npy"):
        if roles.given:
            raise CommandError(f"--given {roles.given[0]}: the columns of an array have no names; give a Parquet file")
        X = _array(path)
        return X, None, f"The array ({X.shape[0]} x {X.shape[1]}) is embedded."
    if not address.endswith((".parquet", ".pq")) and path.suffix:
        raise CommandError(f"{path}: --cluster reads .npy and Parquet files; convert it, or leave --cluster out")
    return _parquet(address, path, roles)


def _address(path: Path) -> str:
    """The absolute path, or the address (s3://bucket/table) that a path has swallowed a slash of."""
    found = re.match(r"^([a-z][a-z0-9+.]+):/+(.*)", path.as_posix())
    if found and found[1] == "file":
        return f"file:///{found[2]}"
    if found:
        return f"{found[1]}://{found[2]}"
    if not path.exists():
        raise CommandError(f"{path}: there is no such file or folder")
    return str(path.resolve())


def _array(path: Path) -> Any:
    """A ``.npy`` file, of which each partition is read where it is needed: all workers must see it."""
    dask: Any = require_extra("dask", "--cluster", "scale")
    da: Any = require_extra("dask.array", "--cluster", "scale")
    like = np.load(path, mmap_mode="r")
    if like.ndim != 2:
        raise CommandError(f"{path}: has {like.ndim} axes, and --cluster embeds rows and columns")
    n, width = like.shape
    read = dask.delayed(_read)
    bounds = [(start, min(start + _BLOCK, n)) for start in range(0, n, _BLOCK)]
    parts = [da.from_delayed(read(str(path.resolve()), a, b), (b - a, width), like.dtype) for a, b in bounds]
    return da.concatenate(parts)


def _read(path: str, start: int, stop: int) -> NDArray[Any]:
    return np.array(np.load(path, mmap_mode="r")[start:stop])


def _parquet(address: str, path: Path, roles: ColumnRoles) -> tuple[Any, Any, str]:
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    dd: Any = require_extra("dask.dataframe", "--cluster", "scale")
    try:
        frame = dd.read_parquet(address)
    except (OSError, ImportError, ValueError) as error:
        raise CommandError(f"{address}: cannot be read as Parquet: {error}") from error
    columns = [str(name) for name in frame.columns]
    roles.check(columns, path.name)
    taken = {*roles.drop, *roles.colours, *roles.given, roles.label}
    numbers = [n for n in columns if n not in taken and is_numeric_dtype(frame.dtypes[n])]
    names = [name for name in numbers if not is_bool_dtype(frame.dtypes[name])]
    if not names:
        raise CommandError(f"{address}: has no numeric column to embed; it has {', '.join(columns)}")
    others = [name for name in columns if name not in (*names, *roles.given)]
    words = f"{are_embedded(len(names))}: {', '.join(names)}."
    words += f" Given: {', '.join(roles.given)}." if roles.given else ""
    words += f" Not embedded: {', '.join(others)}." if others else ""
    return frame[names].astype(np.float64), frame[list(roles.given)] if roles.given else None, words


def _table(X: Any, known: Any, words: str) -> LargeTable:
    """Count, mean and standard deviation of the columns, by one graph around the means of the first partition."""
    from sidelight.distributed import DaskRows

    rows = DaskRows(X)
    shift = next(iter(rows.blocks())).mean(axis=0)

    def moments(block: NDArray[Any]) -> dict[str, NDArray[Any]]:
        moved = block - shift
        return {"n": np.array(len(block)), "sum": moved.sum(axis=0), "squares": (moved**2).sum(axis=0)}

    found = rows.total(moments)
    n, mean = int(found["n"]), found["sum"] / found["n"]
    spread = np.sqrt(np.maximum(found["squares"] / n - mean**2, 0.0))
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    given = [] if known is None else [str(name) for name in known.columns]

    def source(scaling: Scaling | None) -> object:
        scaled = X if scaling is None else _scaled(X, scaling)
        if known is None:
            return DaskRows(scaled)
        return DaskRows(scaled.assign(**{name: known[name] for name in given}))

    return LargeTable(source, n, shift + mean, spread, names, words, given)


def _scaled(X: Any, scaling: Scaling) -> Any:
    """The columns scaled, partition by partition."""
    if hasattr(X, "numblocks"):
        return X.map_blocks(lambda part: scaling.apply(np.asarray(part, dtype=np.float64)), dtype=np.float64)

    def apply(part: Any) -> Any:
        return type(part)(scaling.apply(part.to_numpy()), index=part.index, columns=part.columns)

    return X.map_partitions(apply, meta=X._meta)
