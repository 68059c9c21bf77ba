"""Embed a file that is not read as a whole: a sample of its rows is fitted, the others are placed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.files import atomic_write
from sidelight.base.messages import count_of

from ._embed import Request
from ._given import parse_types
from ._matrix import Scaling
from ._methods import DEFAULT, check_takes, make
from ._model_file import ModelFile
from ._output import CommandError, Output, refuse_options
from ._write import check_free

__all__ = ["LargeTable", "check_large", "embed_large"]


@dataclass(frozen=True)
class LargeTable:
    """The columns of a file that are embedded, and where their rows come from.

    Parameters
    ----------
    source : callable
        What ``embed_rows`` reads, with the columns scaled (None: as they are).
    n : int
        Rows.
    means, spread : arrays of shape (d,)
    names : list of str or None
        Of the columns; None for an array.
    words : str
        A sentence about the columns.
    given : list of str
        Columns that are known, and not embedded.
    """

    source: Callable[[Scaling | None], object]
    n: int
    means: NDArray[np.float64]
    spread: NDArray[np.float64]
    names: list[str] | None
    words: str
    given: Sequence[str] = ()


def check_large(request: Request, option: str, *, given: bool) -> dict[str, Path]:
    """The files that will be written; raises for options that need all rows in memory."""
    roles = request.how.wishes
    refused = {
        "--attribute": roles.attributes,
        "--relation": request.relations,
        "--actions": roles.actions,
        "--view-y": request.view_y,
        "--same": request.same,
        "--different": request.different,
        "--distances": request.distances,
        "--given": () if given else roles.given,
    }
    refuse_options(refused, f"{option} reads rows without it")
    if request.out.exists() and not request.out.is_dir():
        raise CommandError(f"--out {request.out}: is a file; give a folder")
    results = {
        what: path.with_suffix(".npy") if what == "embedding" else path for what, path in request.results.items()
    }
    check_free(results.values(), force=request.force)
    return results


def embed_large(talk: Output, request: Request, table: LargeTable, results: dict[str, Path], sample: int) -> None:
    """Fit the method to a sample, place all rows, and write embedding.npy, model and report."""
    from sidelight import embed_rows

    scaled = table.names is not None if request.standardize is None else request.standardize
    scaling = Scaling(table.means, np.where(table.spread > 0, table.spread, 1.0)) if scaled else None
    talk.say(f"  {table.words}")
    talk.say("  Columns are standardised." if scaled else "  Columns are not scaled.")
    model = _model(request, table)
    rows = f"{min(sample, table.n)} of {table.n} rows"
    talk.say(
        f"Embedding {rows} with {request.method} in {count_of(request.dims, 'dimension')}, then the other rows ..."
    )
    began = time.perf_counter()
    request.out.mkdir(parents=True, exist_ok=True)
    shows = not talk.silent and talk.aside.is_terminal
    Z = embed_rows(
        table.source(scaling), results["embedding"], given=list(table.given) or None, model=model, sample=sample,
        random_state=request.seed, verbose=int(shows),
    )  # fmt: skip
    seconds = time.perf_counter() - began
    file = ModelFile(model, table.means, scaling, command=request.command, column_names=table.names)
    with ExitStack() as stack:
        places = {w: stack.enter_context(atomic_write(path)) for w, path in results.items() if w != "embedding"}
        file.save(places["model"])
        if "report" in places:
            from sidelight import report

            note = f"The map shows the {rows} that the model was fitted to; {results['embedding'].name} has all."
            report.write(
                model, places["report"], title=request.data.name, command=request.command, notes=[table.words, note],
                seconds=seconds,
            )  # fmt: skip
    talk.answer |= {
        **results, "method": request.method, "rows": len(Z), "columns": len(table.means), "dims": Z.shape[1],
        "sample": min(sample, table.n), "standardized": scaled, "seconds": seconds,
    }  # fmt: skip
    talk.say(f"Done in {seconds:.1f} s.")
    for path in results.values():
        talk.say(f"  wrote {path}")


def _model(request: Request, table: LargeTable) -> Any:
    settings = dict(request.settings)
    if request.method == DEFAULT:  # only this solver places each row where its own part of the objective is least
        settings.setdefault("solver", "multilevel")
    if table.given:
        check_takes(request.method, "given", "--given")
    types = parse_types(request.given_types, list(table.given))
    return make(request.method, dims=request.dims, seed=request.seed, settings=settings, given_types=types)
