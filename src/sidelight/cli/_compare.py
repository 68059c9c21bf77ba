"""``sidelight compare``: several methods on the same rows, with their maps side by side and their measures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from sidelight import evaluate
from sidelight.base.capabilities import capabilities, declared
from sidelight.base.chain import Chain, last_step_of
from sidelight.base.files import atomic_write
from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.messages import count_of
from sidelight.base.model import FittedModel
from sidelight.plot._colouring import Categories, column_of

from ._compare_page import LEAKAGE, ComparedMap, best_of, comparison_page
from ._embed import Fitted, Request, check_out, fit
from ._matrix import Matrix, complete
from ._methods import find_method, needs_pairs, takes
from ._output import CommandError, Output
from ._read import read
from ._write import check_free, put_frame

__all__ = ["compare", "comparison_files", "settings_of"]

MOST_LEVELS = 30
"""Categories of a colour column for which neighbour hits are measured."""
FEWEST_ROWS = 10
"""Rows below which neighbourhoods say nothing."""
FEWEST_HELD_OUT = 50
"""Rows below which none are held out."""


class _OnlyProgress(Output):
    """The output of the fits of a comparison: progress bars, and none of their sentences."""

    def say(self, text: str, *, style: str | None = None) -> None:
        """Print nothing."""


@dataclass(frozen=True)
class _Outcome:
    """The map and measures of one method, or the sentence that says why there is none."""

    method: str
    Z: NDArray[Any] | None
    measures: Mapping[str, float]
    error: str = ""


def comparison_files(out: Path) -> dict[str, Path]:
    """The files that a comparison writes."""
    names = {"page": "compare.html", "measures": "measures.csv", "embeddings": "embeddings.csv"}
    return {what: out / name for what, name in names.items()}


def compare(talk: Output, request: Request, methods: Sequence[str]) -> None:
    """Fit every method, measure its map, and write the page, the measures and the coordinates."""
    results = comparison_files(request.out)
    check_out(replace(request, report=False))
    check_free(results.values(), force=request.force)
    _check_methods(methods)
    requests = {name: _request_of(request, name, methods) for name in methods}
    whole = read(request.data, request.how)
    matrix = complete(whole, request.missing)
    if matrix.n_rows < FEWEST_ROWS:
        raise CommandError(
            f"{request.data}: has {count_of(matrix.n_rows, 'row')}, and measures need {FEWEST_ROWS} or more"
        )
    talk.say(f"{request.data}: {count_of(matrix.n_rows, 'row')}", style="bold")
    for remark in matrix.remarks:
        talk.say(f"  {remark}")
    _tell_given(talk, methods, matrix)
    outcomes = [_outcome(talk, requests[name], matrix, whole) for name in methods]
    done = [outcome for outcome in outcomes if outcome.Z is not None]
    if not done:
        raise CommandError(f"no method could embed these rows; {outcomes[0].method}: {outcomes[0].error}")
    _write(request, results, matrix, outcomes)
    _tell(talk, results, outcomes, matrix.n_rows)


def _tell_given(talk: Output, methods: Sequence[str], matrix: Matrix) -> None:
    """Print which methods factor out ``given``; the others embed the same columns without it."""
    if not matrix.side:
        return
    able = [name for name in methods if takes(name, "given")]
    if not able:
        raise CommandError(f"--given: none of {', '.join(methods)} can use it; add kie to --methods, or leave it out")
    others = [name for name in methods if name not in able]
    talk.answer["given"] = {"columns": list(matrix.given.columns), "used_by": able}
    rest = f"; {', '.join(others)} cannot use it and embed without it" if others else ""
    talk.say(f"  {', '.join(matrix.given.columns)} is factored out by {', '.join(able)}{rest}.")


def _check_methods(methods: Sequence[str]) -> None:
    if len(methods) < 2:
        raise CommandError("--methods: name two or more, separated by commas, for example kie,pca,tsne")
    twice = next((name for k, name in enumerate(methods) if name in methods[:k]), None)
    if twice is not None:
        raise CommandError(f"--methods {twice}: is there twice; name each once")
    for name in methods:
        method = find_method(name, "--methods")
        if needs_pairs(name) or (method.is_ours and declared(method.load()).finds_clusters):
            raise CommandError(f"--methods {name}: has no map of rows to compare; leave it out")


def settings_of(settings: Mapping[str, Any], method: str, methods: Sequence[str]) -> dict[str, Any]:
    """Return the settings ``METHOD__NAME=VALUE`` of one method; a dash of its name is written as ``_``.

    Examples
    --------
    >>> settings_of({"tsne__perplexity": 20, "kie__penalty": "l2"}, "tsne", ["kie", "tsne"])
    {'perplexity': 20}
    """
    prefixes = {name.replace("-", "_"): name for name in methods}
    own = {}
    for key, value in settings.items():
        prefix, dashes, name = key.partition("__")
        if not dashes or prefix not in prefixes:
            example = f"{next(iter(prefixes))}__{key.rpartition('__')[2]}"
            raise CommandError(f"--set {key}: say whose setting it is, for example --set {example}=...")
        if prefixes[prefix] == method:
            own[name] = value
    return own


def _request_of(request: Request, name: str, methods: Sequence[str]) -> Request:
    return replace(request, method=name, settings=settings_of(request.settings, name, methods), report=False)


def _outcome(talk: Output, request: Request, matrix: Matrix, whole: Matrix) -> _Outcome:
    """Fit and measure one method; an error is recorded and does not stop the others."""
    quiet = _OnlyProgress(as_json=talk.as_json, quiet=talk.quiet)
    known = matrix.given
    if matrix.side and not takes(request.method, "given"):
        matrix, request = replace(matrix, given=pd.DataFrame()), replace(request, given_types=())
    try:
        fitted = fit(quiet, request, matrix, whole)
        raise_if_interrupted(fitted.interrupted, kept=False)
        Z = fitted.placement.values
    except (CommandError, ValueError, TypeError, MemoryError, np.linalg.LinAlgError) as error:
        talk.warn(f"{request.method}: {error}")
        return _Outcome(request.method, None, {}, " ".join(str(error).split()))
    measures = _measures(fitted, Z) | _leakages(known, Z) if np.isfinite(Z).all() else {}
    seconds = fitted.seconds
    talk.say(f"  {request.method}: {seconds:.1f} s")
    return _Outcome(request.method, Z, {**measures, "seconds": seconds})


def _measures(fitted: Fitted, Z: NDArray[Any]) -> dict[str, float]:
    """Trustworthiness, continuity, neighbour hits of the colours, and the share of variance reconstructed."""
    rows = np.asarray(fitted.X, dtype=np.float64)
    k = min(12, (len(rows) - 1) // 2)
    found = {
        "trustworthiness": float(evaluate.trustworthiness(rows, Z, n_neighbors=k)),
        "continuity": float(evaluate.continuity(rows, Z, n_neighbors=k)),
    }
    for name, codes in _labels(fitted.matrix).items():
        known = codes >= 0
        voters = min(10, int(known.sum()) - 1)
        found[f"neighbour hit, {name}"] = float(evaluate.neighbour_hit(Z[known], codes[known], n_neighbors=voters))
    share = _held_out_share(fitted.file.model, fitted.X, fitted.matrix.side)
    return found if share is None else found | {"reconstruction R²": share}


def _leakages(given: pd.DataFrame, Z: NDArray[Any]) -> dict[str, float]:
    """Leakage of each given column: accuracy of its prediction from neighbours on the map, above chance; 0 is best."""
    found = {}
    for name in given.columns:
        known = given[name].notna().to_numpy()
        if known.sum() >= FEWEST_ROWS:
            told = evaluate.leakage(Z[known], given[name][known], n_neighbors=min(10, int(known.sum()) - 1))
            found[f"{LEAKAGE}{name}"] = max(0.0, float(told.value) - float(told.chance))
    return found


def _held_out_share(fitted: FittedModel, X: Any, side: Mapping[str, Any]) -> float | None:
    """Share of variance of every fifth row reconstructed by a map of the other rows; None without an inverse.

    Rows of the fit would favour methods whose way back interpolates them.
    """
    model = last_step_of(fitted)
    rows = np.asarray(fitted.rows(X) if isinstance(fitted, Chain) else X)
    if len(rows) < FEWEST_HELD_OUT or not (capabilities(model).has_inverse and capabilities(model).has_transform):
        return None
    held = np.arange(len(rows)) % 5 == 4
    twin = clone(model)
    if "callback" in twin.get_params(deep=False):
        twin.set_params(callback=None)
    known, asked = ({name: table[part] for name, table in side.items()} for part in (~held, held))
    twin.fit(rows[~held], **known)
    back = np.asarray(twin.inverse_transform(twin.transform(rows[held], **asked), **asked), dtype=np.float64)
    spread = float(np.square(rows[held] - rows[~held].mean(axis=0)).sum())
    return 1.0 - float(np.square(rows[held] - back).sum()) / spread if spread > 0 else 0.0


def _labels(matrix: Matrix) -> dict[str, NDArray[Any]]:
    """Codes (n,) of the colour columns with few enough categories, -1 where an entry is missing."""
    found = {}
    for name in matrix.colours.columns:
        column = column_of(matrix.colours[name], matrix.n_rows, name=str(name))
        if isinstance(column, Categories) and 2 <= matrix.colours[name].nunique() <= MOST_LEVELS:
            found[str(name)] = np.asarray(column.codes)
    return found


def _write(request: Request, results: Mapping[str, Path], matrix: Matrix, outcomes: Sequence[_Outcome]) -> None:
    request.out.mkdir(parents=True, exist_ok=True)
    maps = [ComparedMap(one.method, one.Z, one.measures, one.error) for one in outcomes]
    page = comparison_page(request.data.name, maps, matrix, command=request.command)
    table = pd.DataFrame([{"method": one.method, **one.measures, "error": one.error} for one in outcomes])
    coordinates = {
        f"{one.method} z{k + 1}": one.Z[:, k] for one in outcomes if one.Z is not None for k in range(one.Z.shape[1])
    }
    names = {} if matrix.row_names is None else {str(matrix.row_names.name): matrix.row_names.to_numpy()}
    frame = pd.DataFrame({"row": matrix.rows, **names, **coordinates})
    with ExitStack() as stack:
        places = {what: stack.enter_context(atomic_write(path)) for what, path in results.items()}
        places["page"].write_bytes(page.encode("utf-8"))
        put_frame(table, places["measures"], np.empty(0))
        put_frame(frame, places["embeddings"], np.empty(0))


def _tell(talk: Output, results: Mapping[str, Path], outcomes: Sequence[_Outcome], n: int) -> None:
    measured = {one.method: dict(one.measures) for one in outcomes}
    best = best_of(measured)
    columns = list(dict.fromkeys(name for found in measured.values() for name in found))
    rows = []
    for method, found in measured.items():
        marks = ["*" if method in best.get(name, ()) else "" for name in columns]
        shown = [_shown(name, found.get(name)) for name in columns]
        rows.append((method, *(f"{value}{mark}" for value, mark in zip(shown, marks, strict=True))))
    talk.table(("method", *map(_heading, columns)), rows)
    talk.say("* best of its column (1 is best; for leakage 0, for seconds the least); the page explains the measures")
    talk.answer |= {
        **results,
        "rows": n,
        "measures": measured,
        "best": best,
        "errors": {one.method: one.error for one in outcomes if one.error},
    }
    for path in results.values():
        talk.say(f"  wrote {path}")


def _heading(name: str) -> str:
    """A measure in few letters, for a terminal."""
    short = {"trustworthiness": "trust", "continuity": "contin", "reconstruction R²": "R²"}
    return short.get(name, name.replace("neighbour hit, ", "hit ").replace(LEAKAGE, "leak "))


def _shown(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if name == "seconds" else f"{value:.3f}"
