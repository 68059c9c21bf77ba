"""Extend relations of labels and values from some rows to all, by predicting them from the data.

The objective alone says nothing of the rows that a relation does not know: they follow the data, and land between
groups that the relation has pulled apart. So their labels or values are predicted (``_relational_prediction``), and the
relation is one of all rows: those it knows as they are, the others as predicted. A relation that the data does not tell
better than chance, by leave-one-out, is left as it is. Decision 0030.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.kernels.relations import Similarity
from sidelight.side.relation import Relation

from ._relational_prediction import predict_labels, predict_values
from ._relational_start import data_coordinates

__all__ = ["Extension", "extend_relations"]


_LEAST = 4  # rows that a relation must know


@dataclass(frozen=True)
class Extension:
    """Relations by name, extended where they could be; and how well each of those is predicted, by leave-one-out.

    The score of labels is the share that is right, that of values R².
    """

    relations: dict[str, Relation]
    scores: dict[str, float]


def extend_relations(relations: Mapping[str, Relation], similarities: Sequence[Similarity], n: int) -> Extension:
    """Extend relations of labels and values to all n rows, from the first data relation that knows all rows.

    Parameters
    ----------
    relations : dict of name to Relation
    similarities : sequence of Similarity
        In the order of the relations.
    n : int
        Rows.
    """
    found: dict[str, Relation] = dict(relations)
    scores: dict[str, float] = {}
    carriers = zip(relations.values(), similarities, strict=True)
    data = next(((one, own) for one, own in carriers if one.kind == "data" and len(one.index) == n), None)
    if data is None:
        return Extension(found, scores)
    features = data[0].entries / (float(np.abs(data[0].entries).max()) or 1.0)
    for name, relation in relations.items():
        if relation.kind not in ("labels", "values") or not _LEAST <= len(relation.index) < n:
            continue
        if relation.kind == "labels":
            entries, score = _extended_labels(relation, features, csr_array(data[1].matrix))
        else:
            entries, score = _extended_values(relation, features, data_coordinates(*data))
        if entries is None:
            continue
        entries[relation.index] = relation.entries
        found[name] = replace(relation, entries=entries, index=np.arange(n))
        scores[name] = score
    return Extension(found, scores)


def _extended_labels(relation: Relation, features: Array, graph: SparseMatrix) -> tuple[Array | None, float]:
    """Codes (n,) of the labels of all rows, None if they cannot be told; and the share that is right."""
    codes, places = np.unique(relation.entries, return_inverse=True)
    if not 1 < len(codes) < len(places):
        return None, 0.0
    found = predict_labels(features, graph, relation.index, np.eye(len(codes))[places])
    truth = places[np.searchsorted(relation.index, found.rows)]
    right = float(np.mean(found.left_out.argmax(axis=1) == truth))
    most = float(np.bincount(truth).max()) / len(truth)
    return (codes[found.values.argmax(axis=1)] if right > most else None), right


def _extended_values(relation: Relation, features: Array, layout: Array) -> tuple[Array | None, float]:
    """Values (n, k) of all rows, None if they cannot be told; and R² of the features that likeness is computed from."""
    targets = relation.features
    assert targets is not None
    spread = float(targets.var(axis=0).sum())
    if spread == 0:
        return None, 0.0
    found = predict_values(features, layout, relation.index, targets)
    rest = targets[np.searchsorted(relation.index, found.rows)] - found.left_out
    score = 1.0 - float(np.mean(np.einsum("ik,ik->i", rest, rest))) / spread
    return (_in_units_of(relation, found.values, targets) if score > 0 else None), score


def _in_units_of(relation: Relation, values: Array, targets: Array) -> Array:
    """Predicted features (n, k) as values in the units of the relation."""
    if relation.period is not None:
        half = values.shape[1] // 2
        turn = np.arctan2(values[:, half:], values[:, :half])
        return np.asarray(np.mod(turn / (2 * np.pi), 1.0) * relation.period)
    entries = np.asarray(relation.entries, dtype=np.float64)
    size = np.abs(entries).max(axis=0)
    unit = entries / np.where(size > 0, size, 1.0)
    return np.asarray((unit.mean(axis=0) + values * unit.std(axis=0)) * size)
