"""Statements as the Python and as the command line that do the same."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from sidelight.base.chain import as_chain, steps_of

from ._axis import relational_model
from ._fit import Hints, hints_of
from ._table import Table
from .statement import Statement

__all__ = ["FIRST", "command_of", "python_of"]

FIRST = "first.sidelight"
"""The file in which *Save* keeps the model that a session began with."""

_MOST = 60  # row numbers that are written out; a longer session is replayed from its file
_REPLAY = """import sidelight

session = sidelight.explorer.Session.load("session.json")
model = sidelight.explorer.replay(session, model, X, columns)
"""


def python_of(base: Any, table: Table, statements: Sequence[Statement]) -> str:
    """Python that fits the map of the statements that are on, from ``X`` and ``columns`` (dict of arrays)."""
    heard = [one for one in statements if one.on]
    if sum(len(one.rows) + len(one.others) for one in heard) > _MOST or any(one.places for one in heard):
        return _REPLAY  # places refer to a map that is fitted first
    hints = hints_of(table, heard)
    dropped = sorted({row for one in heard if one.kind == "drop" for row in one.rows})
    body = [line for one in heard if one.kind == "label" for line in _label(one, table)]
    kept = ""
    if dropped:
        kept = "[kept]"
        body += [f"kept = np.setdiff1d(np.arange(len(X)), {dropped})", "X = X[kept]"]
    *before, (_, last) = steps_of(as_chain(base))
    body += [f"X = {step!r}.fit_transform(X)" for _, step in before]
    arguments = []
    if hints.given:
        body.append("given = {" + ", ".join(f"{name!r}: columns[{name!r}]{kept}" for name in hints.given) + "}")
        arguments.append("given=given")
    for name, index in (("same", hints.same), ("different", hints.different)):
        if len(index):
            body.append(f"{name} = {index.tolist()}")
    if hints.given and len(hints.same):
        arguments.append("same=same")
    metric = _metric(hints, kept)
    if metric:
        body += [f"metric = {metric}", "X = metric.transform(X)"]
    if hints.axes:
        last, _ = relational_model(last, hints.axes)
        relations = ", ".join(f"{name!r}: {column.code(kept)}" for name, column in hints.axes.items())
        body.append(f"relations = {{{relations}}}")
        arguments.append("relations=relations")
    body.append(f"model = {last!r}.fit({', '.join(['X', *arguments])})")
    return _with_imports(body, [step for _, step in (*before, ("", last))], metric)


def command_of(files: Mapping[str, str]) -> str:
    """The command that makes the same map from the session file."""
    rows = [] if "model" in files and "data" not in files else [files.get("data", "DATA")]  # a model may keep its rows
    model = files.get("model", FIRST)
    gaps = ["--missing", files["missing"]] if "missing" in files else []
    replayed = ["--replay", "session.json", "--out", "new.sidelight"]
    return shlex.join(["sidelight", "explore", model, *rows, *gaps, *replayed])


def _label(one: Statement, table: Table) -> list[str]:
    own = f"columns.get({one.column!r}, [None] * {table.n})"
    rows = list(one.rows)
    return [
        f"columns[{one.column!r}] = np.array({own}, dtype=object)",
        f"columns[{one.column!r}][{rows}] = {one.value!r}",
    ]


def _metric(hints: Hints, kept: str) -> str:
    """The metric that hints teach, as an expression; empty where there is none."""
    names = list(hints.attributes)
    if len(names) == 1:
        return f"EquivalenceMetric().fit(X, y=columns[{names[0]!r}]{kept})"
    if names:
        joined = ", ".join(f"columns[{name!r}]{kept}" for name in names)
        return f"MultiAttributeMetric().fit(X, y=np.column_stack([{joined}]))"
    said = ["different"] if len(hints.different) else []
    said = [*(["same"] if len(hints.same) and not hints.given else []), *said]
    return f"EquivalenceMetric().fit(X, {', '.join(f'{name}={name}' for name in said)})" if said else ""


def _with_imports(body: Sequence[str], steps: Sequence[Any], metric: str) -> str:
    text = "\n".join(body)
    ours = {type(step).__name__ for step in steps if type(step).__module__.startswith("sidelight.")}
    ours |= {name for name in ("Annealing", "Conditioning", "KernelOptions", "Missing") if f"{name}(" in text}
    ours |= {"Relation"} if "Relation.from_" in text else set()
    ours |= {metric.partition("(")[0]} if metric else set()
    theirs = [type(step) for step in steps if type(step).__module__.startswith("sklearn.")]
    head = ["import numpy as np"] if "np." in text or "array(" in text else []
    head += sorted({f"from {kind.__module__.partition('._')[0]} import {kind.__name__}" for kind in theirs})
    head.append(f"from sidelight import {', '.join(sorted(ours))}")
    return "\n".join([*head, "", text]) + "\n"
