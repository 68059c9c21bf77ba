r"""Objective of the multiple relational embedding: KL divergence of several similarities from one latent space.

(S0 4.3 - 4.8.) Relation c, on rows I_c, has its own linear map of the latent points: y_i = R_c z_i. With the
similarities P^c from ``kernels.relations`` and k the latent profile,

    E = Σ_c w_c E_c,    E_c = (1/n_c) Σ_ij P_ij log (P_ij / Q_ij),    Q_ij = k_ij / s_i,    s_i = Σ_j k_ij
                            = (1/n_c) Σ_ij P_ij (-log k_ij) - H(Y) - mean entropy of the rows of P

k_ij = k(|y_i - y_j|²), j over I_c, i included. H is the entropy of ``objectives.entropy`` (the same normaliser as that
of information embeddings, by fast transforms where these are), and the attraction is a sum over the stored pairs of
S = P + Pᵀ. With G_c = ∂E_c/∂Y,

    ∂E/∂Z[I_c] = w_c G_c R_c,        ∂E/∂R_c = w_c G_cᵀ Z[I_c]         (its diagonal, where R_c is diagonal)

(4.5 has one index wrong and 4.6 lacks 1/n.) The unknowns are one array (n + C·r, q): Z above the R_c, each with r = 1
row if they are diagonal, q if full, 0 if the identity. A relation of one pair has no R_c of its own but sees the points
as the others do (``objectives.tied_pair``); its rows of the array are not used. The optional sparsity penalty is Σ_c (1
- Σ_l p_cl²), where p_cl = R_cl² var_cl / Σ_l R_cl² var_cl is the share of axis l in the variance that relation c sees.
It is 0 if each relation uses one axis, and does not depend on the scale of the axes or of R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice
from sidelight.kernels.profiles import Profile
from sidelight.kernels.relations import Similarity

from .entropy import Entropy, EntropySum
from .evaluation import Evaluation
from .tied_pair import pair_divergence, shared_metric

__all__ = ["Divergence", "Part", "RelationalSum", "unpack"]


_ROWS = 1024


class Divergence:
    """Divergence ``E_c`` of one relation as a function of Y (m, q), with its gradient."""

    def __init__(
        self,
        similarity: Similarity,
        profile: Profile,
        *,
        dtype: npt.DTypeLike = np.float32,
        n_jobs: int | None = None,
    ) -> None:
        pairs = profile.name != "gaussian"
        self.S = csr_array(similarity.matrix) if pairs else similarity.matrix
        self.degree = np.asarray(self.S.sum(axis=1)).ravel()
        self.entropy = similarity.entropy
        self.profile, self.n_jobs = profile, n_jobs
        self.normaliser = EntropySum([Entropy("H", -1.0)], profile, dtype=dtype, n_jobs=n_jobs)

    def value_and_grad(self, Y: Array) -> Evaluation:
        """The divergence, its gradient (m, q), and its two parts, attraction and entropy."""
        spread = self.normaliser.value_and_grad(Y)
        attraction, gradient = self._quadratic(Y) if self.profile.name == "gaussian" else self._by_pairs(Y)
        m = len(Y)
        value = attraction / m + spread.value - self.entropy
        return Evaluation(value, gradient / m + spread.gradient, {"attraction": attraction / m, **spread.terms})

    def _quadratic(self, Y: Array) -> tuple[float, Array]:
        """Attraction of a Gaussian profile, ``½ Σ S_ij |y_i - y_j|²`` (a Laplacian form), and its gradient."""
        LY = self.degree[:, None] * Y - np.asarray(self.S @ Y)
        return float(np.vdot(Y, LY)), 2.0 * LY

    def _by_pairs(self, Y: Array) -> tuple[float, Array]:
        """Attraction ``½ Σ S_ij (-log k(r²_ij))`` over stored pairs, and its gradient; -d log k/dr² is slope / k."""
        columns, S = [np.ascontiguousarray(column) for column in Y.T], csr_array(self.S)
        data: Array = np.asarray(S.data)

        def one(part: Slice) -> tuple[float, Array]:
            stored = slice(S.indptr[part.start], S.indptr[part.stop])
            counts = np.diff(S.indptr[part.start : part.stop + 1])
            own = np.repeat(np.arange(part.start, part.stop), counts)
            gaps = [column[own] - column[S.indices[stored]] for column in columns]
            R = np.sum([gap * gap for gap in gaps], axis=0)
            weight = data[stored]
            value = -0.5 * float(weight @ self.profile.log_value(R.copy()))
            K = self.profile.value(R)
            pull = 2.0 * weight * (self.profile.slope(K) / K)
            local = own - part.start
            sums = [np.bincount(local, weights=pull * gap, minlength=part.stop - part.start) for gap in gaps]
            return value, np.column_stack(sums)

        parts = run_tiles(one, spans(len(Y), _ROWS), self.n_jobs)
        return sum(value for value, _ in parts), np.concatenate([gradient for _, gradient in parts])


@dataclass(frozen=True)
class Part:
    """One relation of the sum.

    Parameters
    ----------
    name : str
    index : array of shape (m,)
        Its rows I_c.
    divergence : Divergence
    weight : float
        w_c.
    labels : bool
        Whether it says which rows have the same label.
    one_pair : bool
        Whether it is one pair, which sees the points as the other relations do.
    few_axes : bool
        Whether the sparsity penalty applies to it.
    """

    name: str
    index: Array
    divergence: Divergence
    weight: float = 1.0
    labels: bool = False
    one_pair: bool = False
    few_axes: bool = False


class RelationalSum:
    """``E`` as a function of Z and the R_c, stacked in one array (n + C·r, q).

    Parameters
    ----------
    parts : sequence of Part
        The C relations.
    n : int
        Number of rows.
    transformation : "diagonal", "full" or "identity"
        Form of the R_c.
    sparsity : float
        Weight of the sparsity penalty.
    """

    def __init__(self, parts: Sequence[Part], n: int, transformation: str, *, sparsity: float = 0.0) -> None:
        self.parts, self.n, self.transformation, self.sparsity = list(parts), n, transformation, sparsity

    def points_and_transformations(self, V: Array) -> tuple[Array, Array]:
        """Z (n, q) and the R_c (C, q, q); for a relation of one pair, its effective transformation."""
        Z, R = unpack(V, self.n, len(self.parts), self.transformation)
        tied, seen = self._tied(), np.array(R)
        if tied:
            seen[tied] = shared_metric(*(_mean_square(R[group]) for group in self._groups()))
        return Z, seen

    def value_and_grad(self, V: Array) -> Evaluation:
        """The sum, its gradient, and the divergence of each relation by name."""
        Z, R = unpack(V, self.n, len(self.parts), self.transformation)
        gradient = np.zeros_like(V)
        height = (len(V) - self.n) // len(self.parts)
        value, terms, tied = 0.0, {}, self._tied()
        for c, part in enumerate(self.parts):
            if c in tied:
                continue
            own = Z[part.index]
            found = part.divergence.value_and_grad(own @ R[c].T)
            value += part.weight * found.value
            terms[part.name] = found.value
            gradient[part.index] += part.weight * (found.gradient @ R[c])
            if height:
                slope = part.weight * (found.gradient.T @ own)
                start = self.n + c * height
                gradient[start : start + height] = slope if self.transformation == "full" else np.diag(slope)
        if tied:
            value += self._single_pairs(tied, Z, R, gradient, terms)
        if self.sparsity:
            value += self._few_axes(Z, R, gradient, terms)
        return Evaluation(value, gradient, terms)

    def _tied(self) -> list[int]:
        """Which relations are one pair, where the R_c are learned and there are others to see the points through."""
        single = [c for c, part in enumerate(self.parts) if part.one_pair]
        return single if self.transformation != "identity" and len(single) < len(self.parts) else []

    def _groups(self) -> tuple[list[int], list[int]]:
        """Relations that a pair is seen through, and relations of labels that it ignores; never labels alone."""
        labels = [c for c, part in enumerate(self.parts) if part.labels and not part.one_pair]
        others = [c for c, part in enumerate(self.parts) if not part.labels and not part.one_pair]
        return (others, labels) if others else (labels, [])

    def _single_pairs(self, tied: list[int], Z: Array, R: Array, gradient: Array, terms: dict[str, float]) -> float:
        """Weighted divergences of the relations of one pair; their gradient is added to ``gradient`` in place."""
        groups = self._groups()
        D, L = (_mean_square(R[group]) for group in groups)
        slopes, value = [np.zeros_like(D), np.zeros_like(L)], 0.0
        for part in (self.parts[c] for c in tied):
            i, j = part.index
            found = pair_divergence(Z[i] - Z[j], D, L, part.divergence.profile)
            value += part.weight * found.value
            terms[part.name] = found.value
            gradient[i] += part.weight * found.gap
            gradient[j] -= part.weight * found.gap
            slopes[0] += part.weight * found.metric
            slopes[1] += part.weight * found.labels
        height = (len(gradient) - self.n) // len(self.parts)
        for group, slope in zip(groups, slopes, strict=True):
            for c in group:
                start, change = self.n + c * height, 2.0 / len(group) * R[c] @ slope
                gradient[start : start + height] += change if self.transformation == "full" else np.diag(change)
        return value

    def _few_axes(self, Z: Array, R: Array, gradient: Array, terms: dict[str, float]) -> float:
        """Value of the sparsity penalty, weighted; its gradient is added to ``gradient`` in place."""
        total = 0.0
        for c, part in enumerate(self.parts):
            if not part.few_axes:
                continue
            r, own = np.diag(R[c]), Z[part.index] - Z[part.index].mean(axis=0)
            variance = (own**2).mean(axis=0)
            seen = r**2 * variance
            whole = max(float(seen.sum()), 1e-300)
            share = seen / whole
            total += 1.0 - float(share @ share)
            slope = -self.sparsity * 2.0 * (share - float(share @ share)) / whole
            gradient[part.index] += slope * r**2 * 2.0 * own / len(own)
            gradient[self.n + c] += slope * 2.0 * r * variance
        terms["sparsity"] = total
        return self.sparsity * total


def _mean_square(R: Array) -> Array:
    """Mean of R_cᵀR_c (q, q) over transformations (C, q, q); 0 for none."""
    return np.asarray(np.einsum("cij,cik->jk", R, R) / max(len(R), 1))


def unpack(V: Array, n: int, count: int, transformation: str) -> tuple[Array, Array]:
    """Split the array of unknowns into Z (n, q) and the R_c (C, q, q); ``count`` is C."""
    Z, rest, q = V[:n], V[n:], V.shape[1]
    if transformation == "identity":
        return Z, np.broadcast_to(np.eye(q), (count, q, q))
    if transformation == "full":
        return Z, rest.reshape(count, q, q)
    return Z, rest[:, :, None] * np.eye(q)
