"""Validation of the relations of a fit: errors and warnings about rows and relations that are not determined."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from sidelight.base.messages import error_message
from sidelight.base.validation import check_number
from sidelight.base.warnings import warn
from sidelight.side.relation import Relation

__all__ = ["check_relations", "check_weights", "with_two_rows"]


def check_weights(owner: str, weights: Mapping[str, float] | None, names: Sequence[str]) -> None:
    """Raise ValueError unless ``weights`` are positive numbers for existing relations (``names``)."""
    for name, weight in (weights or {}).items():
        if name not in names:
            rule, remedy = "is not the name of a relation", f"Use one of {', '.join(map(repr, names))}"
            raise ValueError(error_message(owner, "weights", name, rule, remedy))
        check_number(owner, f"weights[{name!r}]", weight, 0.0)


def with_two_rows(owner: str, relations: Mapping[str, Relation]) -> dict[str, Relation]:
    """The relations with at least two rows; the others are left out with a warning."""
    kept = {}
    for name, relation in relations.items():
        if len(relation.index) > 1:
            kept[name] = relation
            continue
        seen, rule = f"{name!r}: {relation!r}", "has fewer than two rows to compare, and is left out"
        warn(error_message(owner, "relations", seen, rule, "Say more of it"), UserWarning)
    return kept


def check_relations(owner: str, relations: Mapping[str, Relation], n: int) -> None:
    """Raise ValueError for rows in no relation; warn of unconnected sets of rows, and of uninformative relations.

    Parameters
    ----------
    owner : str
        Class that a message names.
    relations : dict of name to Relation
        All relations of the fit.
    n : int
        Rows.
    """
    known = np.zeros(n, dtype=bool)
    for name, relation in relations.items():
        known[relation.index] = True
        _warn_if_uninformative(owner, name, relation)
    if not known.all():
        rows = np.flatnonzero(~known)
        listed = ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")
        rule = "are in no relation, so nothing says where they belong"
        raise ValueError(error_message(owner, "relations", f"rows {listed}", rule, "Give X, or leave them out"))
    pieces = _count_pieces(list(relations.values()), n)
    if pieces > 1:
        rule = "have no row in common, directly or through others, so where they lie to each other means nothing"
        message = error_message(owner, "relations", f"{pieces} sets of rows", rule, "Tie them with Relation.from_pairs")
        warn(message, UserWarning)


def _warn_if_uninformative(owner: str, name: str, relation: Relation) -> None:
    """Warn of labels or values that are all equal, and of labels that are all different."""
    if relation.kind not in ("labels", "values"):
        return
    distinct = len(np.unique(relation.entries, axis=0))
    seen, remedy = f"{name!r}: {relation!r}", "Leave it out"
    if distinct == 1:
        rule = "says the same of every row, which is nothing"
        warn(error_message(owner, "relations", seen, rule, remedy), UserWarning)
    elif relation.kind == "labels" and distinct == len(relation.index):
        rule = "has a name of its own for every row, so that no two are alike"
        warn(error_message(owner, "relations", seen, rule, remedy), UserWarning)


def _count_pieces(relations: Sequence[Relation], n: int) -> int:
    """Number of connected sets of rows, where rows of the same relation are connected."""
    rows = np.concatenate([relation.index for relation in relations])
    cols = np.concatenate([np.full(len(relation.index), relation.index[0]) for relation in relations])
    ties = csr_array(coo_array((np.ones(len(rows)), (rows, cols)), shape=(n, n)))
    return int(connected_components(ties, directed=False)[0])
