"""Embed any number of rows, from disk or from a generator: fit a sample, then embed the other rows in batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import error_message
from sidelight.base.progress import RowProgress
from sidelight.base.random import random_seed
from sidelight.base.tiles import one_blas_thread, spans
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_integer
from sidelight.kernels.profiles import profile
from sidelight.kernels.repulsion import repulsion_table
from sidelight.maps.new_points import NewPointEmbedder
from sidelight.maps.weights import PrecomputedWeights
from sidelight.rows import Rows, as_rows, check_batch, sampled_numbers, sampled_rows, writing_rows

from ._multilevel import ATTRACTION
from ._solver_choice import current_name
from .annealing import Annealing
from .kernel_information_embedding import KernelInformationEmbedding

__all__ = ["embed_rows"]


_OWNER = "embed_rows"
_MAPPED = 256  # rows that are picked out of a file at one time


class Embedder(Protocol):
    """An estimator that can be fitted and embeds new rows, of this library or of another."""

    def fit(self, X: Array, /) -> object:
        """Fit the rows ``X`` (n, d)."""

    def transform(self, X: Array, /) -> Array:
        """Embed rows (m, d) as (m, q)."""


@one_blas_thread
def embed_rows(
    source: object,
    out: str | os.PathLike[str] | None = None,
    *,
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
    source : path, array, memory map, callable, list of batches or Rows
        The path of a ``.npy`` or Parquet file or of a folder of Parquet files; an array; a function that returns the
        batches (arrays or tables) anew each time it is called. From arrays and ``.npy`` files the sample is read
        directly, and the rest in one pass; every other source is read in two passes, one of them for the sample.
    out : path of a .npy file, default=None
        File for the embedding, written batch by batch; an existing file is replaced once all rows are embedded. None:
        the embedding is returned as an array, which is then the only thing that grows with the number of rows.
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
    dtype = np.dtype(np.float64) if array is None else np.result_type(array.dtype, np.float32)
    if model is None:
        model = KernelInformationEmbedding(2, solver="multilevel", random_state=seed, verbose=verbose)
    numbers, places = np.empty(0, dtype=np.int64), None
    if not _is_fitted(model):
        X, numbers = _sampled(source, rows, array, sample, seed)
        places = getattr(_last(model.fit(X.astype(dtype))), "embedding_", None)
    place = _placer(model, refine)
    bar = RowProgress(_OWNER, None if array is None else len(array)) if verbose else None

    def placed() -> Iterator[Array]:
        start = 0
        for batch in _batches(rows, batch_size):
            Z = place(batch.astype(dtype))
            if places is not None:
                first, last = np.searchsorted(numbers, [start, start + len(batch)])
                Z[numbers[first:last] - start] = places[first:last]
            yield Z
            start += len(batch)
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


def _sampled(source: object, rows: Rows, array: Array | None, m: int, seed: int) -> tuple[Array, Array]:
    """Rows of the sample (m, d) and their row numbers (m,).

    A file is memory-mapped anew for every few rows: pages that were read (with whole neighbourhoods of the rows) count
    as memory of this process for as long as a map is open.
    """
    if array is None:
        return sampled_rows(rows, m, seed)
    numbers = sampled_numbers(len(array), m, seed)
    if array is source:
        X = array[numbers]
    else:
        assert isinstance(source, str | os.PathLike)
        parts = (numbers[part] for part in spans(len(numbers), _MAPPED))
        X = np.concatenate([np.load(source, mmap_mode="r")[some] for some in parts])
    return check_batch(_OWNER, X, None, missing=False), numbers


def _batches(rows: Rows, size: int) -> Iterator[Array]:
    """Batches of ``size`` rows (the last may be smaller), re-cut from the blocks of the source."""
    held: list[Array] = []
    for block in rows.blocks():
        while sum(map(len, held)) + len(block) >= size:
            taken = size - sum(map(len, held))
            yield np.concatenate([*held, block[:taken]])
            held, block = [], block[taken:]
        held.append(block)
    if sum(map(len, held)):
        yield np.concatenate(held)


def _is_fitted(model: object) -> bool:
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def _last(model: object) -> object:
    return model[-1] if isinstance(model, Pipeline) else model


def _placer(model: Embedder, refine: bool | None) -> Callable[[Array], Array]:
    """The function that embeds a batch (b, d) as (b, q): the model's ``transform``, refined if wanted and possible."""
    last = _last(model)
    if isinstance(last, KernelInformationEmbedding) and last.given_ is not None:
        rule, remedy = "was fitted with given, which the source does not hold", "Use transform(X, given=...) on batches"
        raise ValueError(error_message(_OWNER, "model", type(last).__name__, rule, remedy))
    placing = None if refine is False else _placing(last)
    if placing is None:
        if refine:
            rule = "is no multilevel kernel information embedding of at most three dimensions"
            raise ValueError(error_message(_OWNER, "model", type(last).__name__, rule, "Use refine=None"))
        return lambda X: np.array(model.transform(X))

    assert isinstance(last, KernelInformationEmbedding)  # no other model has a placing

    def place(X: Array) -> Array:
        inside = last._checked(model[:-1].transform(X) if isinstance(model, Pipeline) and len(model) > 1 else X)
        Z = last.latent_frame_.outside(placing(last.frame_.points(inside), last.n_jobs))
        return np.asarray(Z.astype(X.dtype, copy=False))

    return place


def _placing(model: object) -> NewPointEmbedder | None:
    """The refinement of a model's embedding of new rows; None if the model does not support it."""
    if not isinstance(model, KernelInformationEmbedding):
        return None
    if model.metric == "precomputed" or current_name(model.solver_) != "multilevel":
        return None
    latent, Z = profile(model.latent_kernel_), model.backward_.outputs
    table = repulsion_table(Z, latent, model.n_jobs)
    if table is None:
        return None
    weights = model.backward_.weights
    assert not isinstance(weights, PrecomputedWeights)
    inputs = weights.inputs
    k = max(2, min(len(inputs), round(model.perplexity)))
    attraction = 1.0 + ATTRACTION * Annealing.of(model.regularization).regularization
    return NewPointEmbedder(inputs, Z, table, latent, k, model.perplexity_, attraction)


def _written(parts: Iterator[Array], target: Path) -> Array:
    with writing_rows(target) as write:
        for Z in parts:
            write(Z)
    return np.asanyarray(np.load(target, mmap_mode="r"))
