"""Parzen entropies and their gradient: the objective of every kernel information embedding.

The Parzen entropy of the latent variable together with a set S of observed ones (S0 3.9, 3.12), up to a constant, is

    H(S, Z) = -(1/n) Σ_i log s_i,      s_i = Σ_j m_ij k(|z_i - z_j|²),      m_ij = Π_{v∈S} k_v,ij

and a member of the family is a signed sum of such terms, Σ_c c · H(S_c, Z), over the *same* latent kernel:

    plain        maximise H(Z) - H(X,Z)                       (S0 3.14)
    conditional  maximise H(G,Z) - H(G,X,Z)                   (S0 3.2)
    informed     maximise I(X;Z) - μ I(G;Z) = (1 - μ) H(Z) - H(X,Z) + μ H(G,Z) + constants
    joint        minimise H(X,Z) + H(Y,Z) - H(Z) - H(X,Y,Z)   (S1 §4)

With g(r²) = -dk/d(r²) and W_ij = (1/s_i + 1/s_j) m_ij g(r²_ij), the gradient of a term is

    ∂ c·H / ∂Z = (2c/n) (diag(W1) - W) Z

Shapes: Z (n, q); data kernels symmetric (n, n): dense (upper tiles), sparse, or low rank plus sparse
(``kernels.low_rank``, only as the one kernel of a term; sums in ``entropy_terms``). Products are formed tile by tile.
Cost of an evaluation: O(n² q) time for a dense term, O(nnz · q) for a sparse one, (q + 2) r transforms for r factors.
Memory: n²/2 numbers for the latent kernel. If that is too much, its tiles are computed twice, once for the sums and
again for the gradient. Pairs are computed in ``dtype``, sums over tiles in float64.

If all other terms are sparse, H(Z) is computed by a fast Gauss transform where that is cheaper than all pairs
(``kernels.gauss_transform``). Then (diag(W1) - W) Z = (P1)/s + P(1/s), P the pulls. In float64 a transform is never
used, as it is not accurate enough.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.base.messages import error_message
from sidelight.base.tiles import TILE, run_tiles, spans, sum_in_order, tile_buffer
from sidelight.base.types import Array, DType, Slice, SparseMatrix
from sidelight.kernels.gauss_transform import FastSums, fast_sums
from sidelight.kernels.low_rank import LowRankKernel
from sidelight.kernels.matrices import SymmetricTiles, multiply
from sidelight.kernels.profiles import Profile
from sidelight.kernels.transform_plans import Plans
from sidelight.neighbours.distances import PairDistances

from .entropy_terms import DenseTerm, LowRankTerm, SparseTerm, inverse_of, mean_entropy
from .evaluation import Evaluation

__all__ = [
    "Entropy",
    "EntropySum",
    "conditional_information",
    "fast_entropy",
    "information",
    "informed_information",
    "joint_information",
]


Kernel = SymmetricTiles | SparseMatrix | LowRankKernel
Key = tuple[int, int]
_FACTORED = {"gaussian": 1e-5, "student": 1e-7}
"""Tolerance of the transforms for low-rank kernels: gradients to 1e-5, in two thirds of the time of full accuracy."""
_KEPT = 2**28
"""Most bytes of the latent kernel that are stored between sums and gradient (float32: 11,585 rows)."""
_THREADED = 1000  # rows from which on another thread is worth its start
_STRIPS = 32
"""Rows of tiles whose partial sums are in memory at once."""


@dataclass(frozen=True)
class Entropy:
    """One term ``coefficient · H(S, Z)``; ``kernels`` are those of the variables S (none: the entropy of Z alone)."""

    name: str
    coefficient: float
    kernels: tuple[Kernel, ...] = ()


def information(K: Kernel) -> list[Entropy]:
    """Terms of the negative plain objective ``H(X,Z) - H(Z)``; K is the data kernel."""
    return [Entropy("H(Z)", -1.0), Entropy("H(X,Z)", 1.0, (K,))]


def conditional_information(K: Kernel, G: Kernel) -> list[Entropy]:
    """Terms of the negative conditional objective ``H(G,X,Z) - H(G,Z)``; G is the kernel of ``given``."""
    return [Entropy("H(G,Z)", -1.0, (G,)), Entropy("H(G,X,Z)", 1.0, (G, K))]


def informed_information(K: Kernel, G: Kernel, weight: float) -> list[Entropy]:
    """Terms of the negative informed objective ``H(X,Z) - (1 - μ) H(Z) - μ H(G,Z)``; μ is ``weight``."""
    terms = [Entropy("H(X,Z)", 1.0, (K,))]
    if weight != 1.0:
        terms.append(Entropy("H(Z)", weight - 1.0))
    if weight != 0.0:
        terms.append(Entropy("H(G,Z)", -weight, (G,)))
    return terms


def joint_information(K: Kernel, L: Kernel) -> list[Entropy]:
    """Terms of the conditional information ``I(X;Y|Z) = H(X,Z) + H(Y,Z) - H(Z) - H(X,Y,Z)`` of two views."""
    return [
        Entropy("H(X,Z)", 1.0, (K,)),
        Entropy("H(Y,Z)", 1.0, (L,)),
        Entropy("H(Z)", -1.0),
        Entropy("H(X,Y,Z)", -1.0, (K, L)),
    ]


class EntropySum:
    """``Σ_c coefficient_c · H(S_c, Z)`` with its gradient.

    Parameters
    ----------
    terms : sequence of Entropy
    profile : Profile
        Of the latent kernel.
    dtype : dtype
        Precision of the pairs.
    n_jobs : int or None
        Threads.
    """

    def __init__(
        self,
        terms: Sequence[Entropy],
        profile: Profile,
        *,
        dtype: npt.DTypeLike = np.float32,
        n_jobs: int | None = None,
    ) -> None:
        self.profile = profile
        self.dtype = np.dtype(dtype)
        self.n_jobs = n_jobs
        made = [self._term(term) for term in terms]
        self.low_rank = [term for term in made if isinstance(term, LowRankTerm)]
        self.sparse = [term for term in made if isinstance(term, SparseTerm)]
        self.dense = [term for term in made if type(term) is DenseTerm]
        self.latent, self.plans = _LatentTiles(profile), Plans()
        self.plain = not any(term.tiles for term in self.dense)

    def _term(self, term: Entropy) -> DenseTerm | SparseTerm | LowRankTerm:
        if len(term.kernels) == 1 and isinstance(term.kernels[0], LowRankKernel):
            return LowRankTerm(term.name, term.coefficient, term.kernels[0], self.dtype)
        kernels = [kernel for kernel in term.kernels if not isinstance(kernel, LowRankKernel)]
        if len(kernels) < len(term.kernels):
            rule, remedy = "cannot be multiplied with another kernel", "Give both in full, or one of them sparse"
            raise ValueError(
                error_message("EntropySum", "terms", f"{term.name} with a kernel of low rank", rule, remedy)
            )
        if any(isinstance(kernel, csr_array) for kernel in kernels):
            product = functools.reduce(multiply, kernels)
            assert isinstance(product, csr_array)
            return SparseTerm(term.name, term.coefficient, product, self.dtype)
        tiles = [kernel.tiles for kernel in kernels if isinstance(kernel, SymmetricTiles)]
        return DenseTerm(term.name, term.coefficient, list(tiles))

    def value_and_grad(self, Z: Array) -> Evaluation:
        """The value at Z (n, q), its gradient (n, q), and each ``H`` by name."""
        centred = Z - Z.mean(axis=0)
        Zc = np.ascontiguousarray(centred, dtype=self.dtype)
        transform = self._factored(centred)
        factored = self.low_rank if transform is not None else []
        dense = self.dense if transform is not None else [*self.dense, *self.low_rank]
        entropies: list[float] = []
        gradient = np.zeros(Z.shape)
        if dense:
            entropies, gradient = self._dense_terms(dense, centred, Zc)
        for sparse in self.sparse:
            sums, moved = sparse.evaluate(Zc, self.profile, self.n_jobs)
            entropies.append(mean_entropy(sums))
            gradient += sparse.coefficient * moved
        for low_rank in factored:
            assert transform is not None
            sums, moved = low_rank.evaluate(transform, Zc, self.profile, self.n_jobs)
            entropies.append(mean_entropy(sums, low_rank.floor))
            gradient += low_rank.coefficient * moved
        used: list[DenseTerm | SparseTerm] = [*dense, *self.sparse, *factored]
        value = sum(term.coefficient * entropy for term, entropy in zip(used, entropies, strict=True))
        terms = {term.name: entropy for term, entropy in zip(used, entropies, strict=True)}
        gradient *= 2.0 / len(Z)
        return Evaluation(value, gradient, terms)

    def _factored(self, Z: Array) -> FastSums | None:
        """The fast transform for low-rank terms; None if there are none, or if tiles of pairs are cheaper."""
        if not self.low_rank or self.dtype != np.float32:
            return None
        columns = sum(term.factors.shape[1] for term in self.low_rank)
        return fast_sums(
            Z, self.profile, self.n_jobs, tolerance=_FACTORED.get(self.profile.name), columns=columns, plans=self.plans
        )

    def _dense_terms(self, terms: list[DenseTerm], Z: Array, Zc: Array) -> tuple[list[float], Array]:
        """``H`` of every dense term, and ``Σ_c coefficient_c (diag(W1) - W) Z`` over them."""
        single, plain = self.dtype == np.float32, not any(term.tiles for term in terms)
        transform = None
        if self.plain and plain and single:
            transform = fast_sums(Z, self.profile, self.n_jobs, plans=self.plans)
        if transform is not None:
            entropy, moved = fast_entropy(transform, len(Z))
            return [entropy] * len(terms), sum(term.coefficient for term in terms) * moved
        sums = self._row_sums(terms, Zc)
        entropies = [mean_entropy(column, term.floor) for column, term in zip(sums.T, terms, strict=True)]
        return entropies, self._dense_gradient(terms, Zc, sums)

    def _row_sums(self, terms: list[DenseTerm], Z: Array) -> Array:
        """``s_i`` of every dense term (n, C); stores the tiles of the latent kernel if they fit (``_KEPT``)."""
        n, parts = len(Z), spans(len(Z))
        side = min(n, TILE)  # a buffer of a whole tile costs a fit of few rows more than its computations
        ones = np.ones(side, dtype=self.dtype)
        self.latent.move(Z)

        def row(i: int) -> Array:
            out = np.zeros((n, len(terms)))
            spare = np.empty((side, side), dtype=self.dtype)
            for j in range(i, len(parts)):
                K = self.latent.compute((i, j), spare)
                for c, term in enumerate(terms):
                    product = term.product((i, j), K, spare)
                    out[parts[i], c] += product @ ones[: product.shape[1]]
                    if i != j:
                        out[parts[j], c] += ones[: product.shape[0]] @ product
            return out

        return _added_strips(row, len(parts), self.n_jobs if n >= _THREADED else 1)

    def _dense_gradient(self, terms: list[DenseTerm], Z: Array, sums: Array) -> Array:
        """``Σ_c coefficient_c (diag(W1) - W) Z`` over the dense terms."""
        n, parts, side = len(Z), spans(len(Z)), min(len(Z), TILE)
        inverse = inverse_of(sums, self.dtype, np.array([term.floor for term in terms]))
        extended = np.column_stack([Z, np.ones(n, dtype=self.dtype)])

        def row(i: int) -> Array:
            out = np.zeros((n, Z.shape[1] + 1))
            spare = (np.empty((side, side), dtype=self.dtype), np.empty((side, side), dtype=self.dtype))
            for j in range(i, len(parts)):
                W = self._weights(terms, (i, j), parts, inverse, spare)
                out[parts[i]] += W @ extended[parts[j]]
                if i != j:
                    out[parts[j]] += W.T @ extended[parts[i]]
            return out

        summed = _added_strips(row, len(parts), self.n_jobs if n >= _THREADED else 1)
        moved: Array = summed[:, -1:] * Z - summed[:, :-1]
        return moved

    def _weights(
        self, terms: list[DenseTerm], key: Key, parts: list[Slice], inverse: Array, spare: tuple[Array, Array]
    ) -> Array:
        """One tile of ``Σ_c coefficient_c W_c``; ``spare`` are two work buffers."""
        rows, cols = parts[key[0]], parts[key[1]]
        K = self.latent.again(key, spare[0])
        total, W = (tile_buffer(buffer, K) for buffer in spare)
        for c, term in enumerate(terms):
            out = W if c else total
            scaled = term.coefficient * inverse[:, c]
            np.add(scaled[rows, None], scaled[None, cols], out=out)
            for tiles in term.tiles:
                out *= tiles[key]
            if c:
                total += W
        total *= self.profile.slope(K)
        return total


class _LatentTiles:
    """Upper tiles of the latent kernel: stored once computed if they fit in memory, else computed again."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.kept: dict[Key, Array] = {}
        self.kind: tuple[int, DType] | None = None

    def move(self, Z: Array) -> None:
        """Set the latent points ``Z`` (n, q); tiles have their dtype."""
        self.distances = PairDistances(Z)
        if self.kind == (len(Z), Z.dtype):
            return
        self.kind, self.parts, self.dtype = (len(Z), Z.dtype), spans(len(Z)), Z.dtype
        few = len(Z) ** 2 // 2 * Z.itemsize <= _KEPT
        rows = range(len(self.parts)) if few else []
        self.kept = {(i, j): self._empty((i, j)) for i in rows for j in range(i, len(self.parts))}

    def compute(self, key: Key, spare: Array) -> Array:
        """Compute a tile; ``spare`` is a work buffer."""
        K = self.kept[key] if self.kept else self._empty(key)
        return self.profile.value(self.distances.fill(K, self.parts[key[0]], self.parts[key[1]], spare))

    def again(self, key: Key, spare: Array) -> Array:
        """A tile computed before: the stored one, or computed again."""
        return self.kept[key] if self.kept else self.compute(key, spare)

    def _empty(self, key: Key) -> Array:
        rows, cols = self.parts[key[0]], self.parts[key[1]]
        return np.empty((rows.stop - rows.start, cols.stop - cols.start), self.dtype)


def fast_entropy(transform: FastSums, n: int) -> tuple[float, Array]:
    """``H(Z)`` and ``(diag(W1) - W) Z = (P1)/s + P(1/s)`` (n, q), by a fast Gauss transform of n points."""
    ones = np.ones((n, 1))
    sums = transform.sums(ones)
    pulls = transform.pulls(np.hstack([ones, 1 / sums]))
    moved: Array = (pulls[:, :, 0] / sums[:, 0] + pulls[:, :, 1]).T
    return mean_entropy(sums[:, 0]), moved


def _added_strips(row: Callable[[int], Array], n_rows: int, n_jobs: int | None) -> Array:
    """Sum of ``row(i)`` over i in a fixed order, with at most 32 summands in memory."""
    total: list[Array] = []
    for part in spans(n_rows, _STRIPS):
        total = [sum_in_order([*total, *run_tiles(row, range(part.start, part.stop), n_jobs)])]
    return total[0]
