"""Embed any number of rows, from disk or from a generator: fit a sample, then embed the other rows in batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import error_message
from sidelight.base.progress import RowProgress
from sidelight.base.random import random_seed
from sidelight.base.tiles import one_blas_thread, spans
from sidelight.base.types import Array, RandomState, Untyped
from sidelight.base.validation import check_integer
from sidelight.rows import Rows, Sample, as_rows, check_batch, sampled_numbers, taken, writing_rows

from ._row_placer import Embedder, last_step, row_placer
from .kernel_information_embedding import KernelInformationEmbedding

__all__ = ["embed_rows"]


_OWNER = "embed_rows"
_MAPPED = 256  # rows that are picked out of a file at one time


@one_blas_thread
def embed_rows(
    source: object,
    out: str | os.PathLike[str] | None = None,
    *,
    given: object = None,
    model: Embedder | None = None,
    sample: int = 50_000,
    batch_size: int = 20_000,
    refine: bool | None = None,
    random_state: RandomState = 0,
    verbose: int = 0,
) -> Array:
    """Embed the rows of ``source`` out of core: memory does not grow with their number.

    A model is fitted to a uniform sample. Every other row is then embedded relative to the sampled rows, which stay
    fixed. Each row is embedded independently, so the result does not depend on the batches.

    Parameters
    ----------
    source : path, array, memory map, callable, list of batches, DaskRows or other Rows
        The path of a ``.npy`` or Parquet file or of a folder of Parquet files; an array; a function that returns the
        batches (arrays or tables) anew each time it is called. From arrays and ``.npy`` files the sample is read
        directly, and the rest in one pass; every other source is read in two passes, one of them for the sample. The
        rows of a :class:`sidelight.distributed.DaskRows` are embedded on the workers that hold them.
    out : path of a .npy file, default=None
        File for the embedding, written batch by batch; an existing file is replaced once all rows are embedded. None:
        the embedding is returned as an array, which is then the only thing that grows with the number of rows.
    given : array of shape (n,) or (n, g), or table, default=None
        Known variables of all rows, which are factored out of the embedding (for a model that takes ``given``). With
        ``DaskRows`` also names of columns of its data frame, or a Dask array or data frame of as many rows. Rows with a
        missing entry are embedded by the map that averages over ``given``, and not refined.
    model : estimator or Pipeline, default=None
        The model to fit to the sample, in place; one that is already fitted is used as it is. Any estimator with
        ``fit`` and ``transform`` works. None: ``KernelInformationEmbedding(2, solver="multilevel")``.
    sample : int, default=50_000
        Number of rows that the model is fitted to (all, if there are fewer).
    batch_size : int, default=20_000
        Rows embedded at a time. Memory grows with it; the result does not depend on it.
    refine : bool, default=None
        Whether each row is moved from the result of ``transform``, the weighted mean of its neighbours, to the minimum
        of its part of the objective (``sidelight.maps.new_points``). Possible in up to three dimensions for a
        KernelInformationEmbedding fitted with the multilevel solver, alone or as the last step of a Pipeline. None:
        refine if possible.
    random_state : int, RandomState or None, default=0
        Draws the sample, and is the random state of the default model. None is a fixed seed: the same call
        gives the same result.
    verbose : int, default=0
        1 shows how many rows have been embedded.

    Returns
    -------
    Z : array of shape (n, q)
        With ``out``, a memory map of it. float32 if the source is an array or ``.npy`` file of float32 or of a type
        that float32 can hold, else float64.

    See Also
    --------
    KernelInformationEmbedding : The model that is fitted to the sample.
    sidelight.distributed.DaskRows : Rows of a Dask cluster.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight import embed_rows
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(900, random_state=0).X
    >>> Z = embed_rows(lambda: (X[i : i + 100] for i in range(0, 900, 100)), sample=300)
    >>> Z.shape
    (900, 2)
    """
    check_integer(_OWNER, "sample", sample, 2)
    check_integer(_OWNER, "batch_size", batch_size, 1)
    target = _checked_target(source, out)
    seed = random_seed(random_state)
    rows, array = _opened(source)
    rows = rows if given is None else rows.with_given(given)
    dtype = rows.dtype if array is None else np.result_type(array.dtype, np.float32)
    if model is None:
        model = KernelInformationEmbedding(2, solver="multilevel", random_state=seed, verbose=verbose)
    numbers, places = np.empty(0, dtype=np.int64), None
    if not _is_fitted(model):
        drawn = _sampled(source, rows, array, sample, seed)
        _fit(model, drawn.X.astype(dtype), drawn.given)
        numbers, places = drawn.numbers, getattr(last_step(model), "embedding_", None)
    _check_given(last_step(model), given)
    place = row_placer(_OWNER, model, refine, dtype)
    bar = RowProgress(_OWNER, None if array is None else len(array)) if verbose else None

    def placed() -> Iterator[Array]:
        start = 0
        for Z in rows.mapped(place, batch_size):
            if places is not None:
                first, last = np.searchsorted(numbers, [start, start + len(Z)])
                Z[numbers[first:last] - start] = places[first:last]
            yield Z
            start += len(Z)
            if bar is not None:
                bar(start)

    found = np.concatenate(list(placed())) if target is None else _written(placed(), target)
    if bar is not None:
        bar.close()
    return found


def _checked_target(source: object, out: str | os.PathLike[str] | None) -> Path | None:
    if out is None:
        return None
    target = Path(out)
    if target.suffix != ".npy":
        raise ValueError(error_message(_OWNER, "out", target.name, "is no .npy file", "Let its name end with .npy"))
    if not target.parent.is_dir():
        remedy = "Make the folder first"
        raise FileNotFoundError(error_message(_OWNER, "out", str(out), "is in a folder that does not exist", remedy))
    if isinstance(source, str | os.PathLike) and target.exists() and Path(source).exists() and target.samefile(source):
        raise ValueError(error_message(_OWNER, "out", target.name, "is the source itself", "Choose another name"))
    return target


def _opened(source: object) -> tuple[Rows, Array | None]:
    """The rows as blocks, and the array that holds them; None unless the source is an array or a ``.npy`` file."""
    if isinstance(source, np.ndarray) and source.ndim != 2:
        rule, remedy = "has not rows and columns", "Reshape it to (n, d)"
        raise ValueError(error_message(_OWNER, "source", f"array of shape {source.shape}", rule, remedy))
    rows = as_rows(source, owner=_OWNER)
    if isinstance(source, str | os.PathLike) and Path(source).suffix == ".npy":
        return rows, np.load(source, mmap_mode="r")
    return rows, source if isinstance(source, np.ndarray) else None


def _sampled(source: object, rows: Rows, array: Array | None, m: int, seed: int) -> Sample:
    """Rows of the sample (m, d) with their row numbers (m,) and their ``given``.

    A file is memory-mapped anew for every few rows: pages that were read (with whole neighbourhoods of the rows) count
    as memory of this process for as long as a map is open.
    """
    if array is None:
        return rows.sampled(m, seed)
    numbers = sampled_numbers(len(array), m, seed)
    if array is source:
        X = array[numbers]
    else:
        assert isinstance(source, str | os.PathLike)
        parts = (numbers[part] for part in spans(len(numbers), _MAPPED))
        X = np.concatenate([np.load(source, mmap_mode="r")[some] for some in parts])
    known = None if rows.given is None else taken(rows.given, numbers)
    return Sample(check_batch(_OWNER, X, None, missing=False), numbers, known)


def _fit(model: Untyped, X: Array, given: object) -> None:
    """Fit the model to the sample; in a Pipeline the last step takes ``given``."""
    name = f"{model.steps[-1][0]}__given" if isinstance(model, Pipeline) else "given"
    model.fit(X, **({} if given is None else {name: given}))


def _check_given(last: object, given: object) -> None:
    """Refuse a model that was fitted with ``given`` where the rows have none, and the other way round."""
    known = getattr(last, "given_", None)
    name = type(last).__name__
    if known is not None and given is None:
        rule, remedy = "was fitted with given, which the rows lack", "Pass given=, or use transform(X, given=...)"
        raise ValueError(error_message(_OWNER, "model", name, rule, remedy))
    if known is None and given is not None:
        rule, remedy = "was fitted without given", "Leave given out, or pass a model that is not fitted yet"
        raise ValueError(error_message(_OWNER, "model", name, rule, remedy))


def _is_fitted(model: object) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _written(parts: Iterator[Array], target: Path) -> Array:
    with writing_rows(target) as write:
        for Z in parts:
            write(Z)
    return np.asanyarray(np.load(target, mmap_mode="r"))
