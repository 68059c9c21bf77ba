r"""Metric learning from hints (pairs of rows that are the same or different): linear maps to the learned space.

On coordinates T (n, p) in which the data has a diagonal scatter S (``maps.span``):

    informed   T B,   B Bᵀ = A of ``solvers.generalised.relative_factor``: W of same pairs, D of different ones, both
               shrunk to a prior; rotated to principal axes, widest first
    within     the same with A = W⁻¹, W the scatter of same pairs shrunk to that of any two rows, in all directions
    literal    T V,   V the eigenvectors of the r smallest eigenvalues of Σ_same δδᵀ - Σ_different δδᵀ
    inverse    T ≈ (T V) R,   R the linear regression of the coordinates T on their images T V
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.objectives.scatter import Scatter, pooled
from sidelight.solvers.generalised import principal_factor, relative_factor, smallest_directions

__all__ = [
    "PairStatistics",
    "informed_directions",
    "literal_directions",
    "regression",
    "ridge_of",
    "usual_weight",
    "variances_of",
]

Array = npt.NDArray[Any]
_BELIEVED = 30.0  # pairs; chosen on faces (four same pairs) and on iris, wine, digits and breast cancer (40 to 200)


def regression(T: Array, V: Array) -> Array:
    """Coefficients (r, p) of the linear regression of T (n, p) on T V, V (p, r): the inverse of the linear map."""
    P = T @ V
    size = np.sqrt(np.einsum("ij,ij->j", P, P))
    size[size == 0] = 1.0
    P = P / size
    return np.asarray(np.linalg.pinv(P.T @ P, rcond=1e-10, hermitian=True) @ (P.T @ T) / size[:, None])


def ridge_of(variances: Array, regularization: float) -> float:
    """Ridge: ``regularization`` times the mean variance of the coordinates (without coordinates, as it is)."""
    return float(regularization * variances.mean()) if variances.size else float(regularization)


def variances_of(T: Array) -> Array:
    """Variances (p,) of coordinates T (n, p): the mean of δδᵀ/2 over all pairs of rows, which is diagonal in them."""
    return np.asarray(np.einsum("ij,ij->j", T, T) / max(len(T) - 1, 1))


def usual_weight(p: int) -> float:
    """Default weight of the prior, in pairs, without held-out pairs: the number p of coordinates, at most 30."""
    return float(min(p, _BELIEVED))


def literal_directions(same: Scatter, different: Scatter, T: Array, r: int) -> Array:
    """Directions (p, r) of the published problem: smallest eigenvectors of M = Σ_same δδᵀ - Σ_different δδᵀ.

    Columns are zero where there are fewer than r.
    """
    total = max(same.n_pairs + different.n_pairs, 1)
    M = (same.n_pairs * same.matrix(T) - different.n_pairs * different.matrix(T)) / total
    V = smallest_directions(M, variances_of(T), r)
    return np.pad(V, ((0, 0), (0, r - V.shape[1])))


def informed_directions(
    same: Scatter, different: Scatter, T: Array, weight: float, r: int | None, *, form: str = "generalised"
) -> Array:
    """Factor (p, r) of the learned metric along its principal axes, widest first.

    Parameters
    ----------
    same, different : Scatter
        Of the pairs of each kind.
    T : array of shape (n, p)
        Coordinates in which the data has diagonal scatter.
    weight : float
        Weight of the prior, in pairs; ``inf``: the Euclidean metric.
    r : int or None
        Directions kept; None: all.
    form : "generalised" or "within"
    """
    known = PairStatistics.of(same, different, T)
    return principal_factor(T, known.factor(weight) if form == "generalised" else known.within_factors((weight,))[0], r)


@dataclass(frozen=True)
class PairStatistics:
    """Sufficient statistics of a metric from pairs.

    Parameters
    ----------
    n : int
        Rows.
    variances : array of shape (p,)
        Of the coordinates.
    within, between : array of shape (p, p)
        Scatters of same and of different pairs.
    n_same, n_different : int
        Independent differences of each kind.
    """

    n: int
    variances: Array
    within: Array
    between: Array
    n_same: int
    n_different: int

    @classmethod
    def of(cls, same: Scatter, different: Scatter, T: Array) -> PairStatistics:
        """The statistics of pairs of rows T (n, p)."""
        matrices = same.matrix(T), different.matrix(T)
        return cls(len(T), variances_of(T), *matrices, same.n_free, different.n_free)

    def factor(self, weight: float) -> Array:
        """Factor B (p, p) of the learned metric BBᵀ.

        Scatters are shrunk to a prior: same rows differ equally in all directions, different rows as any two rows do.
        The scatter of different rows gets a prior of more pairs if there are more than 30 coordinates, since ratios of
        scatters are noisier than scatters. The total variance is preserved. A strong prior has the identity as its
        limit.
        """
        variances, p = self.variances, len(self.variances)
        if np.isinf(weight) or not p:
            return np.eye(p)
        S, identity = np.diag(variances), np.eye(p)
        plain, squares = float(variances.mean()), float(np.mean(variances**2))
        typical = plain**2 / squares if squares > 0 else 1.0  # small if a few directions have most of the variance
        apart = float(np.trace(self.within)) / p
        W = pooled(self.within, self.n_same, typical * (apart or plain) * identity, weight)
        D = pooled(self.between, self.n_different, S, weight * max(1.0, p / _BELIEVED))
        B = relative_factor(W, *(pooled(M, self.n, plain * identity, weight) for M in (D, S)))
        return _with_spread(B, variances)

    def within_factors(self, weights: Sequence[float]) -> list[Array]:
        """Factors B (p, p) of metrics of same pairs alone, one for each weight w of the prior, in pairs.

        BBᵀ ∝ (f W + w σ I)⁻¹, with f independent differences and σ the mean variance: without hints, same rows differ
        as any two rows do, equally in all directions. It is the A that minimises w σ tr A + Σ_same |δ|²_A / 2 -
        (f + w) log det A: log-det regularisation from the identity, with a linear loss, in closed form. Directions
        without same pairs keep their weight relative to each other, so that few pairs change few directions.
        """
        variances, p = self.variances, len(self.variances)
        plain = float(variances.mean()) if p else 0.0
        if plain <= 0 or not self.n_same:
            return [np.eye(p) for _ in weights]
        values, vectors = np.linalg.eigh(self.within)
        found = []
        for weight in weights:
            shrunk = 1.0 + self.n_same / weight * np.maximum(values, 0.0) / plain
            found.append(np.eye(p) if np.isinf(weight) else _with_spread(vectors / np.sqrt(shrunk), variances))
        return found


def _with_spread(B: Array, variances: Array) -> Array:
    """B (p, p), scaled so that the total variance under BBᵀ is that of the coordinates."""
    spread = float(np.einsum("pr,p,pr->", B, variances, B))
    return np.asarray(B * np.sqrt(float(variances.sum()) / spread if spread > 0 else 1.0))
