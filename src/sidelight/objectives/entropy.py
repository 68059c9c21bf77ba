"""The entropy algebra: one value and one gradient for every kernel information embedding.

The Parzen entropy of the latent variable together with a set S of observed ones (S0 3.9, 3.12), up to a constant, is

    H(S, Z) = -(1/n) Σ_i log s_i,      s_i = Σ_j m_ij k(|z_i - z_j|²),      m_ij = Π_{v∈S} k_v,ij

and a member of the family is a signed sum of such terms, Σ_c c · H(S_c, Z), over the *same* latent kernel:

    plain        maximise H(Z) - H(X,Z)                       (S0 3.14)
    conditional  maximise H(G,Z) - H(G,X,Z)                   (S0 3.2)
    informed     maximise I(X;Z) - μ I(G;Z) = (1 - μ) H(Z) - H(X,Z) + μ H(G,Z) + constants
    joint        minimise H(X,Z) + H(Y,Z) - H(Z) - H(X,Y,Z)   (S1 §4)

With g(r²) = -dk/d(r²) and W_ij = (1/s_i + 1/s_j) m_ij g(r²_ij), the gradient of a term is

    ∂ c·H / ∂Z = (2c/n) (diag(W1) - W) Z

Shapes: Z (n, q); data kernels symmetric (n, n), dense (upper tiles) or sparse. A product of data kernels is formed
tile by tile. Cost of an evaluation: O(n² q) time for a dense term, O(nnz · q) for a sparse one; memory n²/2 numbers for
the latent kernel, or few where that is too much: then its tiles are computed once for the sums and again for the
gradient. Pairs are computed in ``dtype``, sums over tiles in float64.

H(Z) beside sparse terms visits no pairs where a transform costs less (``kernels.gauss_transform``): (diag(W1) - W) Z is
there (P1)/s + P(1/s), P the pulls. In float64, which asks for more digits than a transform has, it never does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.kernels.distances import PairDistances
from sidelight.kernels.gauss_transform import FastSums, fast_sums
from sidelight.kernels.matrices import SymmetricTiles, multiply
from sidelight.kernels.profiles import Profile
from sidelight.kernels.tiles import TILE, added, corner, run_tiles, spans

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

Array = npt.NDArray[Any]
Kernel = SymmetricTiles | csr_array
Key = tuple[int, int]
_FLOOR = float(np.finfo(np.float32).tiny) * 1e4
"""The smallest row sum that counts, in either precision: in the smaller one its weights have underflowed."""
_KEPT = 2**28
"""Bytes of the latent kernel that are kept from the sums for the gradient (float32: 11,585 rows)."""
_STRIPS = 32
"""Rows of tiles whose partial sums are in memory together."""


@dataclass(frozen=True)
class Entropy:
    """A term ``coefficient · H(S, Z)``; ``kernels`` are those of S (none: the entropy of Z alone)."""

    name: str
    coefficient: float
    kernels: tuple[Kernel, ...] = ()


def information(K: Kernel) -> list[Entropy]:
    """The negative of the plain objective: ``H(X,Z) - H(Z)``."""
    return [Entropy("H(Z)", -1.0), Entropy("H(X,Z)", 1.0, (K,))]


def conditional_information(K: Kernel, G: Kernel) -> list[Entropy]:
    """The negative of the conditional objective: ``H(G,X,Z) - H(G,Z)``."""
    return [Entropy("H(G,Z)", -1.0, (G,)), Entropy("H(G,X,Z)", 1.0, (G, K))]


def informed_information(K: Kernel, G: Kernel, weight: float) -> list[Entropy]:
    """The negative of the informed objective, μ the ``weight``: ``H(X,Z) - (1 - μ) H(Z) - μ H(G,Z)``."""
    terms = [Entropy("H(X,Z)", 1.0, (K,))]
    if weight != 1.0:
        terms.append(Entropy("H(Z)", weight - 1.0))
    if weight != 0.0:
        terms.append(Entropy("H(G,Z)", -weight, (G,)))
    return terms


def joint_information(K: Kernel, L: Kernel) -> list[Entropy]:
    """What Z keeps of each of two views less what it keeps of both: ``H(X,Z) + H(Y,Z) - H(Z) - H(X,Y,Z)``."""
    return [
        Entropy("H(X,Z)", 1.0, (K,)),
        Entropy("H(Y,Z)", 1.0, (L,)),
        Entropy("H(Z)", -1.0),
        Entropy("H(X,Y,Z)", -1.0, (K, L)),
    ]


class EntropySum:
    """``Σ_c coefficient_c · H(S_c, Z)`` with its gradient."""

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
        self.dense = [_DenseTerm(t) for t in terms if not _is_sparse(t)]
        self.sparse = [_SparseTerm(t, self.dtype) for t in terms if _is_sparse(t)]
        self.latent = _LatentTiles(profile)
        self.plain = not any(term.tiles for term in self.dense)

    def value_and_grad(self, Z: Array) -> Evaluation:
        """The value, its gradient (n, q), and each ``H`` by name."""
        n = len(Z)
        centred = Z - Z.mean(axis=0)
        Zc = np.ascontiguousarray(centred, dtype=self.dtype)
        terms: dict[str, float] = {}
        gradient = np.zeros(Z.shape)
        value = 0.0
        if self.dense:
            entropies, part = self._dense_terms(centred, Zc)
            for term, entropy in zip(self.dense, entropies, strict=True):
                terms[term.name] = entropy
                value += term.coefficient * entropy
            gradient += part
        for sparse in self.sparse:
            sums_s, part = sparse.evaluate(Zc, self.profile, self.n_jobs)
            terms[sparse.name] = _entropy(sums_s)
            value += sparse.coefficient * terms[sparse.name]
            gradient += sparse.coefficient * part
        gradient *= 2.0 / n
        return Evaluation(value, gradient, terms)

    def _dense_terms(self, Z: Array, Zc: Array) -> tuple[list[float], Array]:
        """``H`` of every dense term, and ``Σ_c coefficient_c (diag(W1) - W) Z`` over them."""
        single = self.dtype == np.float32
        transform = fast_sums(Z, self.profile, self.n_jobs) if self.plain and single else None
        if transform is not None:
            entropy, moved = fast_entropy(transform, len(Z))
            return [entropy] * len(self.dense), sum(term.coefficient for term in self.dense) * moved
        sums = self._row_sums(Zc)
        return [_entropy(column) for column in sums.T], self._dense_gradient(Zc, sums)

    def _row_sums(self, Z: Array) -> Array:
        """``s_i`` of every dense term (n, C); keeps the tiles of the latent kernel if they are not too many."""
        n, parts = len(Z), spans(len(Z))
        ones = np.ones(TILE, dtype=self.dtype)
        self.latent.move(Z)

        def row(i: int) -> Array:
            out = np.zeros((n, len(self.dense)))
            spare = np.empty((TILE, TILE), dtype=self.dtype)
            for j in range(i, len(parts)):
                K = self.latent.compute((i, j), spare)
                for c, term in enumerate(self.dense):
                    product = term.product((i, j), K, spare)
                    out[parts[i], c] += product @ ones[: product.shape[1]]
                    if i != j:
                        out[parts[j], c] += ones[: product.shape[0]] @ product
            return out

        return _added_strips(row, len(parts), self.n_jobs)

    def _dense_gradient(self, Z: Array, sums: Array) -> Array:
        """``Σ_c coefficient_c (diag(W1) - W) Z`` over the dense terms."""
        n, parts = len(Z), spans(len(Z))
        inverse = _inverse(sums, self.dtype)
        extended = np.column_stack([Z, np.ones(n, dtype=self.dtype)])

        def row(i: int) -> Array:
            out = np.zeros((n, Z.shape[1] + 1))
            spare = (np.empty((TILE, TILE), dtype=self.dtype), np.empty((TILE, TILE), dtype=self.dtype))
            for j in range(i, len(parts)):
                W = self._weights((i, j), parts, inverse, spare)
                out[parts[i]] += W @ extended[parts[j]]
                if i != j:
                    out[parts[j]] += W.T @ extended[parts[i]]
            return out

        summed = _added_strips(row, len(parts), self.n_jobs)
        moved: Array = summed[:, -1:] * Z - summed[:, :-1]
        return moved

    def _weights(self, key: Key, parts: list[slice], inverse: Array, spare: tuple[Array, Array]) -> Array:
        """``Σ_c coefficient_c W_c`` of one tile."""
        rows, cols = parts[key[0]], parts[key[1]]
        K = self.latent.again(key, spare[0])
        total, W = (corner(buffer, K) for buffer in spare)
        for c, term in enumerate(self.dense):
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
    """The upper tiles of the latent kernel: kept once computed, unless they are too many."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.kept: dict[Key, Array] = {}
        self.kind: tuple[int, np.dtype[Any]] | None = None

    def move(self, Z: Array) -> None:
        """From now on the tiles are those of the points ``Z`` (n, q), in their precision."""
        self.distances = PairDistances(Z)
        if self.kind == (len(Z), Z.dtype):
            return
        self.kind, self.parts, self.dtype = (len(Z), Z.dtype), spans(len(Z)), Z.dtype
        few = len(Z) ** 2 // 2 * Z.itemsize <= _KEPT
        rows = range(len(self.parts)) if few else []
        self.kept = {(i, j): self._empty((i, j)) for i in rows for j in range(i, len(self.parts))}

    def compute(self, key: Key, spare: Array) -> Array:
        """The tile, computed; ``spare`` is worked in."""
        K = self.kept[key] if self.kept else self._empty(key)
        return self.profile.value(self.distances.fill(K, self.parts[key[0]], self.parts[key[1]], spare))

    def again(self, key: Key, spare: Array) -> Array:
        """The tile a second time."""
        return self.kept[key] if self.kept else self.compute(key, spare)

    def _empty(self, key: Key) -> Array:
        rows, cols = self.parts[key[0]], self.parts[key[1]]
        return np.empty((rows.stop - rows.start, cols.stop - cols.start), self.dtype)


class _DenseTerm:
    """One term whose data kernels are dense (or absent)."""

    def __init__(self, term: Entropy) -> None:
        self.name, self.coefficient = term.name, term.coefficient
        self.tiles = [kernel.tiles for kernel in term.kernels if isinstance(kernel, SymmetricTiles)]

    def product(self, key: Key, K: Array, spare: Array) -> Array:
        """The tile of ``m_ij k_ij``; ``K`` itself where there are no data kernels."""
        if not self.tiles:
            return K
        out = corner(spare, K)
        np.multiply(K, self.tiles[0][key], out=out)
        for tiles in self.tiles[1:]:
            out *= tiles[key]
        return out


class _SparseTerm:
    """One term whose product of data kernels is sparse: only its stored pairs are visited."""

    def __init__(self, term: Entropy, dtype: np.dtype[Any]) -> None:
        product: Kernel = term.kernels[0]
        for kernel in term.kernels[1:]:
            product = multiply(product, kernel)
        self.name, self.coefficient = term.name, term.coefficient
        assert isinstance(product, csr_array)
        self.matrix = product.astype(dtype)
        self.counts = np.diff(self.matrix.indptr)

    def evaluate(self, Z: Array, profile: Profile, n_jobs: int | None) -> tuple[Array, Array]:
        """Row sums (n,) and ``(diag(W1) - W) Z`` (n, q)."""
        parts = spans(len(Z), 1024)
        columns = [np.ascontiguousarray(Z[:, k]) for k in range(Z.shape[1])]
        held: dict[int, tuple[Array, list[Array]]] = {}

        def first(part: slice) -> Array:
            stored = self._stored(part)
            differences = [self._difference(part, column) for column in columns]
            K = profile.value(added([difference * difference for difference in differences]))
            sums = self._row_totals(part, self.matrix.data[stored] * K)
            held[part.start] = self.matrix.data[stored] * profile.slope(K), differences
            return sums

        sums = np.concatenate(run_tiles(first, parts, n_jobs)).astype(np.float64)
        inverse = _inverse(sums, Z.dtype)

        def second(part: slice) -> Array:
            W, differences = held.pop(part.start)
            W *= np.take(inverse, self.matrix.indices[self._stored(part)]) + np.repeat(inverse[part], self.counts[part])
            return np.column_stack([self._row_totals(part, W * difference) for difference in differences])

        return sums, np.concatenate(run_tiles(second, parts, n_jobs))

    def _stored(self, part: slice) -> slice:
        """Where the pairs of some rows are stored."""
        return slice(self.matrix.indptr[part.start], self.matrix.indptr[part.stop])

    def _difference(self, part: slice, column: Array) -> Array:
        """``z_i - z_j`` of one latent dimension for the stored pairs of some rows."""
        own = np.repeat(column[part], self.counts[part])
        own -= np.take(column, self.matrix.indices[self._stored(part)])
        return np.asarray(own)

    def _row_totals(self, part: slice, values: Array) -> Array:
        """Sum the values of each row (a row without pairs sums to 0)."""
        held = self.counts[part] > 0
        starts = (self.matrix.indptr[part.start : part.stop] - self.matrix.indptr[part.start])[held]
        totals = np.zeros(len(held), dtype=values.dtype)
        totals[held] = np.add.reduceat(values, starts) if len(starts) else 0
        return totals


def fast_entropy(transform: FastSums, n: int) -> tuple[float, Array]:
    """``H(Z)`` and ``(diag(W1) - W) Z = (P1)/s + P(1/s)`` (n, q)."""
    ones = np.ones((n, 1))
    sums = transform.sums(ones)
    pulls = transform.pulls(np.hstack([ones, 1 / sums]))
    moved: Array = (pulls[:, :, 0] / sums[:, 0] + pulls[:, :, 1]).T
    return _entropy(sums[:, 0]), moved


def _added_strips(row: Callable[[int], Array], n_rows: int, n_jobs: int | None) -> Array:
    """The sum of ``row(i)`` in the order of i, of which only some are in memory together."""
    total: list[Array] = []
    for part in spans(n_rows, _STRIPS):
        total = [added([*total, *run_tiles(row, range(part.start, part.stop), n_jobs)])]
    return total[0]


def _is_sparse(term: Entropy) -> bool:
    return any(isinstance(kernel, csr_array) for kernel in term.kernels)


def _entropy(sums: Array) -> float:
    """``-(1/n) Σ log s_i`` with underflow held at the floor."""
    return -float(np.mean(np.log(np.maximum(sums, _FLOOR))))


def _inverse(sums: Array, dtype: npt.DTypeLike) -> Array:
    """``1/s_i``, and 0 at the floor, where the value is flat: such a row is left to the penalty."""
    return np.asarray(np.divide(1.0, sums, out=np.zeros_like(sums), where=sums > _FLOOR).astype(dtype))
