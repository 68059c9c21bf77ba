"""Leave-one-out reconstruction error of kernel regression from the latent points to the data.

The forward map is kernel regression (Nadaraya-Watson), and each row is left out of its own prediction:

    f_i = Σ_{j≠i} k_ij x_j / (s_i + ε),    s_i = Σ_{j≠i} k_ij,    k_ij = k(|z_i - z_j|²)
    E(Z) = Σ_i |x_i - f_i|² / Σ_i |x_i - x̄|²                       (S0 2.19 with the smoother of Meinicke et al. 2005)

If a row were part of its own prediction, E would fall to 0 as the points move apart. The rows are centred, so that ε
(1e-30) smoothly predicts the mean for a row out of reach of all others. With the residuals r_i = f_i - x_i and the
slopes G_ij = -dk/d(r²)

    ∂E/∂k_ij = A_ij = 2 (r_i · x_j - r_i · f_i) / (s_i + ε) / Σ|x - x̄|²
    ∂E/∂Z    = -2 (diag(W1) - W) Z,    W = (A + Aᵀ) ∘ G

Only products of tiles with X are formed: O(n² (q + d)) time, n²/2 numbers for the kernel. E depends on X only through
inner products, so data with more columns than rows is first rotated to its span (exact).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import TILE, run_tiles, spans, sum_in_order
from sidelight.base.types import Array
from sidelight.kernels.profiles import Profile
from sidelight.neighbours.distances import PairDistances

from .evaluation import Evaluation

__all__ = ["LeaveOneOutReconstruction"]


_FLOOR = 1e-30


class LeaveOneOutReconstruction:
    """``E(Z)``, the share of the variance of ``X`` (n, d) not explained by the leave-one-out prediction; gradient."""

    def __init__(
        self, X: Array, profile: Profile, *, dtype: npt.DTypeLike = np.float32, n_jobs: int | None = None
    ) -> None:
        self.profile = profile
        centred = np.asarray(X, dtype=np.float64) - X.mean(axis=0)
        if centred.shape[1] > centred.shape[0]:
            left, sizes, _ = np.linalg.svd(centred, full_matrices=False)
            centred = left * sizes
        self.total = float(np.vdot(centred, centred))
        self.dtype = np.dtype(dtype)
        self.scale = float(np.sqrt(self.total / len(X))) or 1.0
        self.X = np.ascontiguousarray(centred / self.scale, dtype=self.dtype)
        self.parts = spans(len(X))
        self.n_jobs = n_jobs
        sizes_of = [part.stop - part.start for part in self.parts]
        self._latent = {
            (i, j): np.empty((sizes_of[i], sizes_of[j]), self.dtype)
            for i in range(len(sizes_of))
            for j in range(i, len(sizes_of))
        }

    def value(self, Z: Array) -> float:
        """``E`` alone (0 if all rows are equal)."""
        predicted, _ = self._predict(self._centred(Z))
        return self._error(predicted - self.X)

    def value_and_grad(self, Z: Array) -> Evaluation:
        """``E`` and its gradient (n, q)."""
        Zc = self._centred(Z)
        predicted, sums = self._predict(Zc)
        residual = predicted - self.X
        if self.total == 0.0:
            return Evaluation(0.0, np.zeros(Z.shape), {})
        left = residual / (sums[:, None] + _FLOOR)
        offset = np.einsum("ij,ij->i", left, predicted)
        gradient = self._gradient(Zc, left.astype(self.dtype), offset.astype(self.dtype))
        return Evaluation(self._error(residual), (-4.0 / len(Z)) * gradient, {})

    def _centred(self, Z: Array) -> Array:
        return np.ascontiguousarray(Z - Z.mean(axis=0), dtype=self.dtype)

    def _error(self, residual: Array) -> float:
        return float(np.vdot(residual, residual)) / len(residual) if self.total > 0 else 0.0

    def _predict(self, Z: Array) -> tuple[Array, Array]:
        """``f`` (n, d) and ``s`` (n,); fills the tiles of the latent kernel, with zeros on its diagonal."""
        n, distances = len(Z), PairDistances(Z)
        extended = np.column_stack([self.X, np.ones(n, dtype=self.dtype)])

        def row(i: int) -> Array:
            out = np.zeros((n, extended.shape[1]))
            spare = np.empty((min(n, TILE), min(n, TILE)), dtype=self.dtype)
            for j in range(i, len(self.parts)):
                K = self._latent[i, j]
                self.profile.value(distances.fill(K, self.parts[i], self.parts[j], spare))
                if i == j:
                    np.fill_diagonal(K, 0)
                else:
                    out[self.parts[j]] += K.T @ extended[self.parts[i]]
                out[self.parts[i]] += K @ extended[self.parts[j]]
            return out

        summed = sum_in_order(run_tiles(row, range(len(self.parts)), self.n_jobs))
        return summed[:, :-1] / (summed[:, -1:] + _FLOOR), summed[:, -1]

    def _gradient(self, Z: Array, left: Array, offset: Array) -> Array:
        """``(diag(W1) - W) Z`` with ``W_ij = (left_i · x_j - offset_i + left_j · x_i - offset_j) g_ij``."""
        n = len(Z)
        extended = np.column_stack([Z, np.ones(n, dtype=self.dtype)])

        def row(i: int) -> Array:
            out = np.zeros((n, extended.shape[1]))
            rows = self.parts[i]
            for j in range(i, len(self.parts)):
                cols = self.parts[j]
                W = left[rows] @ self.X[cols].T
                W += self.X[rows] @ left[cols].T
                W -= offset[rows, None]
                W -= offset[None, cols]
                W *= self.profile.slope(self._latent[i, j])
                out[rows] += W @ extended[cols]
                if i != j:
                    out[cols] += W.T @ extended[rows]
            return out

        summed = sum_in_order(run_tiles(row, range(len(self.parts)), self.n_jobs))
        moved: Array = summed[:, -1:] * Z - summed[:, :-1]
        return moved
