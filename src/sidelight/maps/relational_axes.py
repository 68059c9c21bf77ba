"""The axes of a multiple relational embedding: which directions, in which units, order and sign.

The divergence does not change when an axis is stretched and every R_c shrunk along it, nor (full R_c) when the latent
space is mapped linearly and every R_c takes it back. So they are fixed by rule: axes along what the R_c see; each in
the units of the relation that looks at it most closely (the largest R_c is 1); first the axes of the relations that
say something of their own, in the order given, then the others, widest first; larger where the values of its relation
are larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.side.relations import Relation
from sidelight.solvers.eigen import fix_signs

__all__ = ["Axes", "canonical_axes"]

Array = npt.NDArray[Any]
_OWN = 0.2  # of what a relation sees: an axis with less is not its own
_APART = 0.5  # of a direction that must be new for it to become an axis


@dataclass(frozen=True)
class Axes:
    """Latent points Z (n, q), the R_c (C, q, q), weights (C, q), and the place of each axis's relation, -1 for none."""

    Z: Array
    R: Array
    weights: Array
    owners: Array

    @property
    def shares(self) -> Array:
        """Of what each relation sees, the share of each axis (C, q); rows sum to 1, or are 0 where it sees nothing."""
        squares = self.weights**2
        total = squares.sum(axis=1, keepdims=True)
        return np.asarray(squares / np.where(total > 0, total, 1.0))


def canonical_axes(Z: Array, R: Array, relations: Sequence[Relation], transformation: str) -> Axes:
    """The same divergence, its axes fixed by rule."""
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
    """Axes along what each relation sees: the main singular directions of its R_c, as far as they differ.

    The directions need not be at right angles; those that are left are, to all of them.
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
    """The relations that say something of their own."""
    return [c for c, relation in enumerate(relations) if relation.kind in ("values", "labels")]


def _measured(Z: Array, R: Array, relations: Sequence[Relation]) -> Axes:
    """How much each relation sees of each axis, and whose each axis is."""
    spread = np.stack([Z[relation.index].std(axis=0) for relation in relations])
    found = Axes(Z, R, np.linalg.norm(R, axis=1) * spread, np.full(Z.shape[1], -1))
    claims = np.zeros_like(found.weights)
    claims[_speaking(relations)] = found.shares[_speaking(relations)]
    owners = np.where(claims.max(axis=0) >= _OWN, claims.argmax(axis=0), -1)
    return Axes(Z, R, found.weights, owners)


def _last(owners: Array) -> Array:
    """Places to sort by, those of no relation last."""
    return np.where(owners < 0, np.iinfo(np.int64).max, owners)


def _signs(Z: Array, owners: Array, relations: Sequence[Relation]) -> Array:
    """1 or -1 for each axis: with the values of its relation, else the largest entry is positive."""
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
