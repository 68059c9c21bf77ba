"""A map is a function of the data, the base model's parameters and the statements that are on.

    fit_statements(base, table, statements) -> model, embedding of all rows, remarks

``factor_out`` columns are ``given``; ``same`` pairs across groups are ``same=`` where something is given; all other
hints teach a metric in front of the model; dropped rows are placed by ``transform`` afterwards. Columns that an axis is
to show are relations of a model that takes these; rows that are pinned or moved are held in a second fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain, last_step_of, steps_of
from sidelight.base.messages import count_of, error_message
from sidelight.information.conditioning import Conditioning
from sidelight.metrics.equivalence_metric import EquivalenceMetric
from sidelight.metrics.multi_attribute_metric import MultiAttributeMetric
from sidelight.side.columns import is_missing

from ._axis import AxisColumn, axis_column, relational_model
from ._held import HeldPlaces, held_places
from ._table import Table, digest_of, labelled, rows_without
from .statement import Statement

__all__ = ["Fitted", "Hints", "can_say", "check_statements", "embedding_of", "fit_statements", "hints_of"]

Array = NDArray[Any]
_OWNER = "explore"
_COLUMN_KINDS = ("factor_out", "bring_out", "axis")
_PROBED, _NEAR = 5, 0.1  # rows that tell whether a model was fitted on them, and how near they are then, in deviations


@dataclass(frozen=True)
class Fitted:
    """A model (a Pipeline where there are several steps), the places of all rows (n, q), and what is to be said."""

    model: Any
    embedding: Array
    remarks: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 of the embedding."""
        return digest_of(self.embedding)


@dataclass(frozen=True)
class Hints:
    """What statements say to a fit, in terms of the rows that are kept."""

    kept: Array
    given: Mapping[str, Array]
    same: Array
    different: Array
    attributes: Mapping[str, Array]
    axes: Mapping[str, AxisColumn]
    remarks: tuple[str, ...] = ()


def hints_of(table: Table, statements: Sequence[Statement]) -> Hints:
    """Collect what the statements that are on say to a fit."""
    heard = [one for one in statements if one.on]
    columns = labelled(table, heard)
    for one in heard:
        if one.kind in _COLUMN_KINDS and one.column not in columns:
            there = ", ".join(columns) or "none"
            raise ValueError(error_message(_OWNER, "column", one.column, f"is not there ({there})", "Name another"))
    dropped = [row for one in heard if one.kind == "drop" for row in one.rows]
    kept = rows_without(table.n, dropped)
    if len(kept) < 3:
        raise ValueError(error_message(_OWNER, "drop", f"{len(dropped)} rows", "leaves fewer than 3", "Keep more rows"))
    named = {kind: [one.column for one in heard if one.kind == kind] for kind in _COLUMN_KINDS}
    _check_named(named)
    periods = {one.column: one.period for one in heard if one.kind == "axis"}
    axes = {name: axis_column(name, columns[name], kept, periods[name]) for name in named["axis"]}
    given = {name: columns[name][kept] for name in named["factor_out"]}
    attributes = {name: columns[name][kept] for name in named["bring_out"]}
    same, different = (_pairs(heard, kind, kept, table.n) for kind in ("same", "different"))
    remarks = []
    if given and len(same):
        groups = _groups(given)
        across = groups[same[:, 0]] != groups[same[:, 1]]
        if not across.all():
            within = int((~across).sum())
            say = "says" if within == 1 else "say"
            remarks.append(f"{count_of(within, 'pair of rows')} of one group {say} nothing across groups: not used.")
        same = same[across]
    return Hints(kept, given, same, different, attributes, axes, tuple(remarks))


def _check_named(named: Mapping[str, Sequence[str]]) -> None:
    """Refuse columns that are said to be two things that no map can show at once."""
    both = set(named["factor_out"]) & set(named["bring_out"])
    if both:
        rule = "is to be factored out and to be brought out"
        raise ValueError(error_message(_OWNER, "column", min(both), rule, "Switch one of the statements off"))
    if named["axis"] and named["factor_out"]:
        rule = f"is to be factored out, and a map with an axis for {named['axis'][0]} cannot factor anything out"
        remedy = "Switch one of the statements off"
        raise ValueError(error_message(_OWNER, "column", named["factor_out"][0], rule, remedy))


def can_say(base: Any) -> dict[str, bool]:
    """Which kinds of statements a refit of this model can listen to."""
    last = last_step_of(as_chain(base))
    rows = not capabilities(last).takes_distances and hasattr(last, "fit")
    metric = rows and capabilities(last).has_parameters
    return {
        "same": metric, "different": metric, "label": True, "bring_out": metric, "pin": rows, "drop": rows,
        "factor_out": rows and capabilities(last).takes_given, "move": rows and capabilities(last).takes_held,
        "axis": metric and "n_components" in last.get_params(deep=False),
    }  # fmt: skip


def check_statements(base: Any, table: Table, statements: Sequence[Statement]) -> Hints:
    """What the statements that are on say to a fit of this model; raise where it could not listen."""
    offered, last = can_say(base), last_step_of(as_chain(base))
    for one in statements:
        if one.on and not offered[one.kind]:
            rule = f"means nothing to {type(last).__name__}"
            raise ValueError(error_message(_OWNER, "statement", one.kind, rule, "Switch it off"))
    hints = hints_of(table, statements)
    if hints.axes:
        dims, wanted = _dims(last), sum(column.count for column in hints.axes.values())
        if wanted > dims:
            rule = f"takes {wanted} axes, and the map has {dims} (an angle takes two)"
            remedy = "Switch one of the statements off, or start with a map of more dimensions"
            raise ValueError(error_message(_OWNER, "axis", ", ".join(hints.axes), rule, remedy))
        if not np.isfinite(np.asarray(table.X, dtype=np.float64)).all():
            rule, remedy = "needs complete rows, and some entries are missing", "Fill them first (sidelight impute)"
            raise ValueError(error_message(_OWNER, "axis", ", ".join(hints.axes), rule, remedy))
        if any(one.on and one.kind == "move" for one in statements):
            rule = "cannot be held on a map with an axis of its own"
            raise ValueError(error_message(_OWNER, "move", "some rows", rule, "Switch one of the statements off"))
    return hints


def _dims(last: Any) -> int:
    return int(getattr(last, "n_components", 2) or 2)


def fit_statements(
    base: Any, table: Table, statements: Sequence[Statement], callback: Callable[[Any], bool | None] | None = None
) -> Fitted:
    """Fit a copy of the base model to the rows, as the statements that are on say."""
    hints = check_statements(base, table, statements)
    chain = as_chain(base)
    *before, (_, last) = [(name, clone(step)) for name, step in steps_of(chain)]
    steps = list(before)
    X, remarks = table.take(hints.kept), list(hints.remarks)
    for _, step in steps:
        X = step.fit_transform(X)
    metric, said = _metric(hints, X, _dims(last))
    if metric is not None:
        X = metric.transform(X)
        steps.append(("metric", metric))
        remarks.append(said)
    side: dict[str, Any] = {"given": dict(hints.given)} if hints.given else {}
    if hints.given and len(hints.same):
        side["same"] = hints.same
    if hints.axes:
        last, side = relational_model(last, hints.axes)
        remarks.append(_axes_words(hints.axes))
    _prepare(last, hints.given, callback)
    last.fit(X, **side)
    held = held_places(statements, hints.kept, _dims(last)) if capabilities(last).takes_held else None
    if held is not None:
        remarks.append(_hold(last, X, side, held))
    if "callback" in last.get_params(deep=False):
        last.set_params(callback=None)
    model = Pipeline([*steps, ("embedding", last)]) if steps else last
    return Fitted(model, embedding_of(model, table, statements), tuple(remarks))


def _hold(last: Any, X: Any, side: Mapping[str, Any], held: HeldPlaces) -> str:
    """Fit again with rows held at places that refer to the map of the first fit; return a sentence about it."""
    Z = np.asarray(last.embedding_)
    start = held.start(Z)
    far = np.sqrt(((start - Z)[held.rows] ** 2).sum(axis=1)).mean() / max(np.sqrt(Z.var(axis=0).sum()), 1e-300)
    init = last.init
    last.set_params(init=start).fit(X, **side, held=held.rows)
    last.set_params(init=init)  # the model file need not keep a start that says nothing of other rows
    return (
        f"Held: {count_of(len(held.rows), 'row')}. The model alone would have put them {far:.2f} standard deviations "
        "of the map away on average; trustworthiness says what that costs."
    )


def _axes_words(axes: Mapping[str, AxisColumn]) -> str:
    return f"MultipleRelationalEmbedding made an axis for {', '.join(axes)}; the other axes show the rest of the data."


def embedding_of(model: Any, table: Table, statements: Sequence[Statement], *, fitted_on_them: bool = True) -> Array:
    """Places (n, q) of all rows: those of the fit, and of rows that were left out by ``transform``.

    Without ``fitted_on_them``, the model may have been fitted on other rows; some are asked for, to know.
    """
    chain, hints = as_chain(model), hints_of(table, statements)
    known = labelled(table, statements)
    own = capabilities(chain).has_embedding and len(chain.embedding_) == len(hints.kept)
    if own and not fitted_on_them and capabilities(chain).has_transform:
        some = np.unique(np.linspace(0, len(hints.kept) - 1, _PROBED).astype(np.int64))
        Z = np.asarray(chain.embedding_)
        there = chain.transform(table.take(hints.kept[some]), **_side(known, hints, hints.kept[some]))
        own = bool(np.abs(there - Z[some]).max() <= _NEAR * Z.std())
    if own:
        fitted = np.asarray(chain.embedding_)
    else:
        fitted = np.asarray(chain.transform(table.take(hints.kept), **_side(known, hints, hints.kept)))
    out = np.full((table.n, fitted.shape[1]), np.nan, dtype=fitted.dtype)
    out[hints.kept] = fitted
    rest = rows_without(table.n, hints.kept)
    if len(rest):
        out[rest] = chain.transform(table.take(rest), **_side(known, hints, rest))
    return out


def _side(columns: Mapping[str, Array], hints: Hints, rows: Array) -> dict[str, Any]:
    return {"given": {name: columns[name][rows] for name in hints.given}} if hints.given else {}


def _pairs(heard: Sequence[Statement], kind: str, kept: Array, n: int) -> Array:
    """Pairs (m, 2) of all statements of a kind, in numbers of the kept rows."""
    found = [one.pairs() for one in heard if one.kind == kind]
    if not found:
        return np.empty((0, 2), dtype=np.int64)
    at = np.full(n, -1, dtype=np.int64)
    at[kept] = np.arange(len(kept))
    pairs = np.unique(at[np.concatenate(found)], axis=0)  # sorted: the order in which things are said does not count
    return np.asarray(pairs[(pairs >= 0).all(axis=1)])


def _groups(given: Mapping[str, Array]) -> Array:
    """A number for each combination of the given columns."""
    texts = np.array([repr(row) for row in zip(*(values.tolist() for values in given.values()), strict=True)])
    return np.asarray(np.unique(texts, return_inverse=True)[1])


def _metric(hints: Hints, X: Any, dims: int) -> tuple[Any, str]:
    """The metric that hints teach, with a sentence; None where there are none for it."""
    pairs = {"different": hints.different} | ({} if hints.given else {"same": hints.same})
    pairs = {name: index for name, index in pairs.items() if len(index)}
    if hints.attributes and pairs:
        rule = "are hints of two kinds, and one metric is learned from one kind"
        raise ValueError(error_message(_OWNER, "statements", "pairs and bring_out", rule, "Switch one of them off"))
    kind: Any = MultiAttributeMetric if len(hints.attributes) > 1 else EquivalenceMetric
    said: dict[str, Any] = dict(pairs)
    if len(hints.attributes) == 1:
        said = {"y": _labels(next(iter(hints.attributes.values())))}
    elif hints.attributes:
        said = {"y": np.column_stack([_labels(values) for values in hints.attributes.values()])}
    if not said:
        return None, ""
    metric = kind().fit(X, **said)
    width = min(dims, X.shape[1])
    if metric.n_components_ < width:
        metric.set_params(n_components=-(-width // max(1, len(hints.attributes)))).fit(X, **said)
    what = " and ".join(f"{len(index)} {name} pairs" for name, index in pairs.items()) or ", ".join(hints.attributes)
    words = f"{kind.__name__} learned a metric of {metric.n_components_} directions from {what}."
    if np.isinf(getattr(metric, "regularization_", 0.0)):
        words = f"{what} did not change the metric: none tells held-out pairs better. Say more pairs."
    return metric, words


def _labels(values: Array) -> Array:
    """Labels as text, None where missing."""
    return np.array([None if is_missing(value) else str(value) for value in values.tolist()], dtype=object)


def _prepare(last: Any, given: Mapping[str, Array], callback: Callable[[Any], bool | None] | None) -> None:
    """Set the callback, and leave out options about columns that are not given."""
    parameters = last.get_params(deep=False)
    if "callback" in parameters:
        last.set_params(callback=callback)
    options = parameters.get("conditioning")
    if isinstance(options, Conditioning) and isinstance(options.types, Mapping):
        kept = {name: kind for name, kind in options.types.items() if name in given}
        last.set_params(conditioning=replace(options, types=kept or None))
