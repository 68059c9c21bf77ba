"""Initial points of a multiple relational embedding: axes for values and labels, and the data on the others.

The objective has poor optima: from a random start a relation may never find an axis (decision 0010). So every relation
of values or labels begins with axes of its own: its values at its rows, extended to all other rows by kernel ridge
regression on the data (leave-one-out chooses how smooth), or along the graph of the relations where no one data
relation has all rows. The principal directions of the data, less these axes, fill the axes that are left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import coo_array, csr_array

from sidelight.base.types import Array, SparseMatrix
from sidelight.kernels.relations import Similarity, similarity
from sidelight.maps.smooth_effect import smooth_effect
from sidelight.neighbours.landmarks import landmark_distances
from sidelight.side.relation import Relation
from sidelight.solvers.eigen import graph_spectrum, landmark_scaling
from sidelight.solvers.harmonic import harmonic

__all__ = ["Start", "data_coordinates", "relational_start"]


_WIDTHS = np.array([0.3, 1.0, 3.0, 10.0, 30.0])  # of the ridge's kernel, in mean squared distances
_LAYOUT = 10  # coordinates that a relation of data is laid out in
_WEAK = 0.1  # weight of a relation on axes that are not its own: at 0 it would have no gradient


@dataclass(frozen=True)
class Start:
    """Latent points (n, q), axes of unit spread or less, the diagonals of the R_c (C, q), and the graph of rows."""

    Z: Array
    R: Array
    graph: SparseMatrix


def relational_start(relations: Sequence[Relation], similarities: Sequence[Similarity], n: int, q: int) -> Start:
    """Return initial points that do not depend on a seed.

    Parameters
    ----------
    relations : sequence of Relation
    similarities : sequence of Similarity
        Of each relation.
    n, q : int
        Rows and latent dimensions.
    """
    carrier = _Carrier.of(relations, similarities, n)
    layout = _layout_of(relations, similarities, carrier)
    axes: list[Array] = []
    owners: list[int] = []
    order = sorted(range(len(relations)), key=lambda c: relations[c].kind == "labels")  # values before labels
    for c in order:
        found = _axes_of(relations[c], carrier, _residual(layout, axes, n), _axes_per_label(relations, q))
        axes.extend(found.T)
        owners.extend([c] * found.shape[1])
    if len(axes) > q:
        return Start(*_shared_axes(np.column_stack(axes), np.array(owners), len(relations), q), carrier.graph)
    Z = np.zeros((n, q))
    Z[:, : len(axes)] = np.column_stack(axes) if axes else 0.0
    if len(axes) < q:
        layout = _layout_of(*_ungrouped(relations, similarities), carrier)
        rest = _principal(_residual(layout, axes, n), q - len(axes))
        Z[:, len(axes) : len(axes) + rest.shape[1]] = rest
    R = np.full((len(relations), q), _WEAK)
    labelled = [relations[owner].kind == "labels" for owner in owners] + [False] * (q - len(owners))
    for c, relation in enumerate(relations):
        if relation.kind in ("data", "matrix"):
            R[c] = 1.0
        elif relation.kind == "pairs":  # rows that correspond may well have different labels
            R[c, ~np.array(labelled)] = 1.0
    R[owners, np.arange(len(owners))] = 1.0
    return Start(Z, R, carrier.graph)


@dataclass(frozen=True)
class _Carrier:
    """Extends values known at some rows to all: by features of all rows, or by a graph between them."""

    n: int
    features: Array | None
    graph: SparseMatrix

    @classmethod
    def of(cls, relations: Sequence[Relation], similarities: Sequence[Similarity], n: int) -> _Carrier:
        features = None
        graph = csr_array((n, n))
        local = [c for c, relation in enumerate(relations) if relation.kind in ("data", "pairs", "matrix")]
        for c in local or range(len(relations)):
            relation = relations[c]
            if relation.kind == "data" and len(relation.index) == n and features is None:
                scale = float(np.abs(relation.entries).max()) or 1.0
                features = relation.entries / scale
            S = similarities[c].matrix
            pairs = coo_array(S)
            apart = pairs.row != pairs.col
            placed = (relation.index[pairs.row[apart]], relation.index[pairs.col[apart]])
            graph = csr_array(graph + csr_array(coo_array((pairs.data[apart], placed), shape=(n, n))))
        return cls(n, features, graph)

    def carry(self, index: Array, T: Array) -> Array:
        """Values T (m, k) of the rows ``index``, extended to all rows (n, k)."""
        if len(index) == self.n:
            return T
        if self.features is None:
            return harmonic(self.graph, index, T)
        return smooth_effect(T, self.features[index], bandwidths=_WIDTHS)(self.features)


def _layout_of(relations: Sequence[Relation], similarities: Sequence[Similarity], carrier: _Carrier) -> Array:
    """Coordinates (n, k) of all rows: those of all data relations concatenated; from the graph if there are none."""
    found = []
    for relation, own in zip(relations, similarities, strict=True):
        if relation.kind not in ("data", "matrix"):
            continue
        Y = data_coordinates(relation, own)
        spread = float(Y[:, 0].std()) if Y.shape[1] else 0.0
        found.append(carrier.carry(relation.index, (Y - Y.mean(axis=0)) / (spread or 1.0)))
    return np.hstack(found) if found else graph_spectrum(carrier.graph, _LAYOUT).coordinates(_LAYOUT)


def data_coordinates(relation: Relation, own: Similarity) -> Array:
    """Coordinates (m, 10) of the rows of a relation of data or of a matrix: distances along its graph, laid out."""
    if relation.kind == "matrix":
        return graph_spectrum(own.matrix, _LAYOUT).coordinates(_LAYOUT)
    points = relation.entries - relation.entries.mean(axis=0)
    points = points / (float(np.abs(points).max()) or 1.0)
    graph = None if own.kernel is None else own.kernel.graph
    rows, D = landmark_distances(points, graph)
    return landmark_scaling(D, rows, _LAYOUT)


def _axes_per_label(relations: Sequence[Relation], q: int) -> int:
    """Number of axes per label relation: one, plus an equal share of axes not needed for values and the data."""
    features = [relation.features for relation in relations if relation.kind == "values"]
    values = sum(int(found.shape[1]) for found in features if found is not None)
    names = sum(relation.kind == "labels" for relation in relations)
    data = int(any(relation.kind in ("data", "matrix") for relation in relations))
    return 1 + max(0, q - values - names - data) // max(names, 1)


def _axes_of(relation: Relation, carrier: _Carrier, layout: Array, room: int) -> Array:
    """Axes (n, k) of unit spread of a relation of values or labels; (n, 0) for other kinds."""
    if relation.kind == "values":
        features = relation.features
        assert features is not None
        return _standardised(carrier.carry(relation.index, features))
    if relation.kind == "labels":
        return _standardised(carrier.carry(relation.index, _label_places(relation, layout, room)))
    return np.empty((carrier.n, 0))


def _label_places(relation: Relation, layout: Array, room: int) -> Array:
    """Labels as points (m, k) along the principal directions of their means in the layout.

    Two axes separate four labels, and three axes eight, so k is at most log2 of the number of labels. On one axis,
    labels are evenly spaced in their order.
    """
    codes, first, places = np.unique(relation.entries, return_index=True, return_inverse=True)
    means = _group_means(layout[relation.index], relation.entries)[first]
    U, lengths, _ = np.linalg.svd(means - means.mean(axis=0), full_matrices=False)
    k = max(1, min(room, int(np.log2(len(codes))), len(lengths)))
    found = U[:, :k] * lengths[:k]
    if k == 1:
        found[np.argsort(found[:, 0], kind="stable"), 0] = np.arange(len(codes))
    return _standardised(found[places])


def _residual(layout: Array, axes: Sequence[Array], n: int) -> Array:
    """The layout (n, k) less its linear regression on the axes."""
    basis = np.column_stack([np.ones(n), *axes])
    return np.asarray(layout - basis @ np.linalg.lstsq(basis, layout, rcond=None)[0])


def _ungrouped(
    relations: Sequence[Relation], similarities: Sequence[Similarity]
) -> tuple[list[Relation], list[Similarity]]:
    """Data relations less the means of labelled groups, where every row has a label."""
    named = [relation for relation in relations if relation.kind == "labels"]
    data, found = list(relations), list(similarities)
    for c, relation in enumerate(relations):
        for labels in named:
            if relation.kind != "data" or not np.isin(relation.index, labels.index).all():
                continue
            codes = labels.entries[np.searchsorted(labels.index, relation.index)]
            entries = data[c].entries - _group_means(data[c].entries, codes)
            data[c] = replace(data[c], entries=entries)
        if data[c] is not relation:
            found[c] = similarity(data[c])
    return data, found


def _group_means(rows: Array, codes: Array) -> Array:
    """The mean of each row's group (n, d)."""
    groups, places = np.unique(codes, return_inverse=True)
    members = csr_array(coo_array((np.ones(len(places)), (places, np.arange(len(places)))), (len(groups), len(places))))
    return np.asarray((members @ rows / np.bincount(places)[:, None])[places])


def _principal(layout: Array, k: int) -> Array:
    """Principal components (n, k) of a layout, the first of unit spread, the others in proportion."""
    U, lengths, _ = np.linalg.svd(layout - layout.mean(axis=0), full_matrices=False)
    kept = lengths[:k] / (lengths[0] if len(lengths) and lengths[0] > 0 else 1.0)
    return np.asarray(U[:, :k] * np.sqrt(len(layout)) * kept)


def _shared_axes(axes: Array, owners: Array, count: int, q: int) -> tuple[Array, Array]:
    """Principal directions (n, q) of more axes than q, and the weight of each relation along them (count, q)."""
    U, _, directions = np.linalg.svd(axes - axes.mean(axis=0), full_matrices=False)
    Z = U[:, :q] * np.sqrt(len(axes))
    R = np.ones((count, q))
    for c in np.unique(owners):
        R[c] = np.maximum(np.linalg.norm(directions[:q, owners == c], axis=1), _WEAK)
    return Z, R


def _standardised(T: Array) -> Array:
    """Columns shifted to mean 0 and scaled to unit spread."""
    T = T - T.mean(axis=0)
    spread = T.std(axis=0)
    return np.asarray(T / np.where(spread > 0, spread, 1.0))
