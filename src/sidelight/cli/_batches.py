"""``--batches``: embed a file that is larger than memory, by a model of a sample of its rows."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.files import atomic_write
from sidelight.rows import as_rows

from ._columns import ColumnRoles
from ._embed import Request
from ._matrix import Scaling
from ._methods import DEFAULT, make
from ._model_file import ModelFile
from ._output import CommandError, Output, refuse_options
from ._write import check_free

__all__ = ["embed_batches"]

_BATCH = 20_000


@dataclass(frozen=True)
class _Columns:
    """The rows of a file in batches, and their mean and spread."""

    walk: Callable[[], Iterator[NDArray[Any]]]
    n: int
    means: NDArray[np.float64]
    spread: NDArray[np.float64]


def embed_batches(talk: Output, request: Request, sample: int) -> None:
    """Fit the method to a sample, embed all rows in batches, and write embedding.npy, model and report."""
    from sidelight import embed_rows

    _check_request(request)
    results = {
        what: path.with_suffix(".npy") if what == "embedding" else path for what, path in request.results.items()
    }
    check_free(results.values(), force=request.force)
    walk, names, words = _source(request.data, request.how.wishes)
    columns = _measured(walk)
    scaled = names is not None if request.standardize is None else request.standardize
    scaling = Scaling(columns.means, np.where(columns.spread > 0, columns.spread, 1.0)) if scaled else None
    talk.say(f"{request.data}: {columns.n} rows, read in batches", style="bold")
    talk.say(f"  {words}")
    talk.say("  Columns are standardised." if scaled else "  Columns are used as they are.")
    settings = dict(request.settings)
    if request.method == DEFAULT:  # only this solver places each row where its own part of the objective is least
        settings.setdefault("solver", "multilevel")
    model = make(request.method, dims=request.dims, seed=request.seed, settings=settings)
    rows = f"{min(sample, columns.n)} of {columns.n} rows"
    talk.say(f"Embedding {rows} with {request.method} in {request.dims} dimensions, then the others by their place ...")
    began = time.perf_counter()
    request.out.mkdir(parents=True, exist_ok=True)
    shows = not talk.silent and talk.aside.is_terminal
    source = walk if scaling is None else (lambda: (scaling.apply(batch) for batch in walk()))
    Z = embed_rows(
        source, results["embedding"], model=model, sample=sample, random_state=request.seed, verbose=int(shows)
    )
    seconds = time.perf_counter() - began
    file = ModelFile(model, columns.means, scaling, command=request.command, column_names=names)
    with ExitStack() as stack:
        places = {w: stack.enter_context(atomic_write(path)) for w, path in results.items() if w != "embedding"}
        file.save(places["model"])
        if "report" in places:
            from sidelight import report

            note = f"The map shows the {rows} that the model was fitted to; {results['embedding'].name} has all."
            report.write(
                model, places["report"], title=request.data.name, command=request.command, notes=[words, note],
                seconds=seconds,
            )  # fmt: skip
    talk.answer |= {
        **results, "method": request.method, "rows": len(Z), "columns": len(columns.means), "dims": Z.shape[1],
        "sample": min(sample, columns.n), "standardized": scaled, "seconds": seconds,
    }  # fmt: skip
    talk.say(f"Done in {seconds:.1f} s.")
    for path in results.values():
        talk.say(f"  wrote {path}")


def _check_request(request: Request) -> None:
    roles = request.how.wishes
    refused = {
        "--given": roles.given,
        "--attribute": roles.attributes,
        "--relation": request.relations,
        "--actions": roles.actions,
        "--view-y": request.view_y,
        "--same": request.same,
        "--different": request.different,
        "--distances": request.distances,
    }
    refuse_options(refused, "--batches reads rows without it")
    if request.out.exists() and not request.out.is_dir():
        raise CommandError(f"--out {request.out}: is a file; give a folder")


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
    words = f"{len(names)} numeric columns are embedded: {', '.join(names)}."
    words += f" Not embedded: {', '.join(others)}." if others else ""

    def walk() -> Iterator[NDArray[Any]]:
        for batch in table.to_batches(columns=names, batch_size=_BATCH):
            if batch.num_rows:
                columns = [batch.column(k).to_numpy(zero_copy_only=False) for k in range(len(names))]
                yield np.column_stack(columns).astype(np.float64)

    return walk, names, words


def _measured(walk: Callable[[], Iterator[NDArray[Any]]]) -> _Columns:
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
    return _Columns(walk, n, shift + sums / n, np.sqrt(variance))
