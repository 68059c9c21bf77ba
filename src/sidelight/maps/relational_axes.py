"""Canonical axes of a multiple relational embedding: directions, units, order and signs.

The divergence is invariant when an axis is scaled and every R_c scaled inversely along it and, for full R_c, under any
linear map of the latent space that every R_c undoes. A convention removes this freedom:

    directions  the leading singular directions of the R_c
    units       each axis in the units of the relation with the largest R_c along it (that R_c becomes 1)
    order       first the axes of relations by values or labels, in the order given, then the others, widest first
    signs       increasing with the values of its relation
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.side.relation import Relation
from sidelight.solvers.eigen import fix_signs

__all__ = ["Axes", "canonical_axes"]

Array = npt.NDArray[Any]
_OWN = 0.2  # least share of a relation's variance for an axis to be assigned to it
_APART = 0.5  # least norm of a unit direction's part orthogonal to earlier axes, to become an axis


@dataclass(frozen=True)
class Axes:
    """Canonical axes.

    Parameters
    ----------
    Z : array of shape (n, q)
        Latent points.
    R : array of shape (C, q, q)
        Linear map of each relation.
    weights : array of shape (C, q)
        Standard deviation of each axis as each relation sees it: of its rows, or of all rows for a single pair.
    owners : array of shape (q,)
        Index of the relation that each axis is assigned to; -1 for none.
    """

    Z: Array
    R: Array
    weights: Array
    owners: Array

    @property
    def shares(self) -> Array:
        """Share of each axis in the variance that each relation sees (C, q); rows sum to 1 (or 0 without variance)."""
        squares = self.weights**2
        total = squares.sum(axis=1, keepdims=True)
        return np.asarray(squares / np.where(total > 0, total, 1.0))


def canonical_axes(Z: Array, R: Array, relations: Sequence[Relation], transformation: str) -> Axes:
    """Transform an embedding to canonical axes, with the same divergence.

    Parameters
    ----------
    Z : array of shape (n, q)
        Latent points.
    R : array of shape (C, q, q)
        Linear map of each relation.
    relations : sequence of Relation
    transformation : "identity", "diagonal" or "full"
        Form of the R_c.

    Returns
    -------
    Axes
    """
    Z = Z - Z.mean(axis=0)
    if transformation == "identity":
        Z = Z @ np.linalg.eigh(Z.T @ Z)[1][:, ::-1]
        R = np.array(R)
    else:
        Z, R = _directed(Z, R, relations) if transformation == "full" else (Z, np.abs(R))
        unit = np.linalg.norm(R, axis=1).max(axis=0)
        Z, R = Z * unit, R / np.where(unit > 0, unit, 1.0)
    found = _measured(Z, R, relations)
    order = np.lexsort((-Z.std(axis=0), -found.shares[found.owners, np.arange(Z.shape[1])], _last(found.owners)))
    Z, R = Z[:, order], R[:, :, order] if transformation == "full" else R[:, order][:, :, order]
    signs = _signs(Z, found.owners[order], relations)
    R = R * signs if transformation == "full" else R
    return Axes(Z * signs, R, found.weights[:, order], found.owners[order])


def _directed(Z: Array, R: Array, relations: Sequence[Relation]) -> tuple[Array, Array]:
    """Choose axes along the leading singular directions of each R_c, if they differ enough from those before.

    These need not be orthogonal to each other. The remaining axes are orthogonal to all of them.
    """
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    root = np.sqrt(np.maximum(values, 1e-12 * max(float(values[-1]), 1e-300)))
    seen = R @ (vectors * root)  # the R_c in whitened coordinates
    q, axes, basis = Z.shape[1], [], np.empty((0, Z.shape[1]))
    for c in _speaking(relations):
        _, lengths, directions = np.linalg.svd(seen[c])
        shares = lengths**2 / max(float(lengths @ lengths), 1e-300)
        for direction in directions[shares >= _OWN]:
            apart = direction - basis.T @ (basis @ direction)
            if (size := float(np.linalg.norm(apart))) > _APART:
                axes.append(direction)
                basis = np.vstack([basis, apart / size])
    _, _, rest = np.linalg.svd(np.vstack(seen) @ (np.eye(q) - basis.T @ basis))
    B = np.vstack([*axes, rest[: q - len(axes)]])
    return Z @ (vectors / root) @ B.T, seen @ np.linalg.inv(B)


def _speaking(relations: Sequence[Relation]) -> list[int]:
    """Indices of the relations given by values or labels (the others do not get axes of their own)."""
    return [c for c, relation in enumerate(relations) if relation.kind in ("values", "labels")]


def _measured(Z: Array, R: Array, relations: Sequence[Relation]) -> Axes:
    """Compute the weight of each axis for each relation, and assign axes to relations."""
    spread = np.stack([_seen_rows(Z, relation).std(axis=0) for relation in relations])
    found = Axes(Z, R, np.linalg.norm(R, axis=1) * spread, np.full(Z.shape[1], -1))
    claims = np.zeros_like(found.weights)
    claims[_speaking(relations)] = found.shares[_speaking(relations)]
    owners = np.where(claims.max(axis=0) >= _OWN, claims.argmax(axis=0), -1)
    return Axes(Z, R, found.weights, owners)


def _seen_rows(Z: Array, relation: Relation) -> Array:
    """Latent points whose spread a relation's weights refer to: its rows, but all for one pair, which coincides."""
    return Z if relation.kind == "pairs" and len(relation.index) == 2 else Z[relation.index]


def _last(owners: Array) -> Array:
    """Sort keys: the relation of each axis, axes without a relation last."""
    return np.where(owners < 0, np.iinfo(np.int64).max, owners)


def _signs(Z: Array, owners: Array, relations: Sequence[Relation]) -> Array:
    """Sign (1 or -1) of each axis: correlated with the values of its relation; else the largest entry is positive."""
    default = np.sign(np.einsum("ij,ij->j", Z, fix_signs(Z)))
    signs = np.where(default == 0, 1.0, default)
    for axis, owner in enumerate(owners):
        features = relations[owner].features if owner >= 0 else None
        if features is None:
            continue
        column = Z[relations[owner].index, axis]
        along = (features - features.mean(axis=0)).T @ (column - column.mean())
        best = along[np.abs(along).argmax()]
        signs[axis] = signs[axis] if best == 0 else np.sign(best)
    return signs
