"""How the effect of a group depends on the row: linear in its content, from matched rows, checked on held-out regions.

    rest_i ≈ common + Φ(c_i, g_i),      Φ(c, g) = [1, c] B_g           rest: rows less the overall effect of ``given``

c (n, r) is the *content* of a row: leading principal scores of the mean of the row and its nearest rows of the same
group, with Φ subtracted. Rows of different groups are matched (mutual nearest neighbours with Φ subtracted), and

    minimise  Σ_(i,j) w_ij |(s_i - s_j) - [1, c_ij] (B_{g_i} - B_{g_j})|² + λ_0 Σ_g |B_g0|² + λ Σ_g |B_g1|²

over matches of different groups, s the local means of ``rest``, c_ij the mean content of both, twice, matched anew with
the first Φ subtracted. λ is chosen by leaving out regions of the content, and predicting the change of their rows from
those of the other regions: what is asked of a counterfactual where no row of the group was seen. Where no λ predicts it
better than the overall effect alone by 2 %, B = 0. The idea that an effect is linear in the latent position is that of
LEMUR (Ahlmann-Eltze and Huber, Nature Genetics 2025).

Cost: two searches of the nearest rows in every group and O(m C r d), for a stratified sample of m ≤ 2,500 rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sidelight.neighbours.graph import mutual
from sidelight.neighbours.strata import InStratum, centres, nearest_in_strata

from .effect import principal_axes

__all__ = ["MatchedChange", "Matches", "find_matches", "matched_change", "place_features"]

Array = npt.NDArray[Any]
_CONTENT = 4  # principal scores of the content
_MATCHES, _SMOOTHED = 5, 10  # neighbours in another group that may match; of the own group in a local mean
_FEWEST = 10  # rows of a group from which on rows can be matched with it
_REGIONS = 10
_PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, np.inf)  # λ, relative to the weight of the matches of a group
_OFFSET_PENALTY = 1e-3  # λ_0, likewise
_BETTER = 0.98  # held-out error, as a share of that of the overall effect, below which B is used
_ROUNDS = 2


@dataclass(frozen=True)
class Matches:
    """Mutual nearest neighbours of different groups.

    Parameters
    ----------
    i, j : arrays of shape (p,)
        Rows; the group of i is the smaller number.
    weight : array of shape (p,)
        So that a row with many matches counts as one with few.
    own : array of shape (n, k)
        Nearest rows of the own group, the row itself first.
    """

    i: Array
    j: Array
    weight: Array
    own: Array


@dataclass(frozen=True)
class MatchedChange:
    """The change as a function of content and group.

    Parameters
    ----------
    content : array of shape (n, r)
    coefficients : array of shape (C (1 + r), d)
        B, zero where the overall effect predicts as well.
    error : array of shape (d,)
        Mean squared error of the change of a held-out region, by feature.
    matches : Matches or None
        None if no rows match.
    """

    content: Array
    coefficients: Array
    error: Array
    matches: Matches | None


def place_features(share: Array, content: Array) -> Array:
    """Features (m, C (1 + r)) of which Φ is linear: those of group g are ``share_g · [1, c]``, of shares (m, C)."""
    one = np.column_stack([np.ones(len(content)), content])
    return np.asarray((share[:, :, None] * one[:, None, :]).reshape(len(content), -1))


def find_matches(points: Array, codes: Array, n_jobs: int | None = None) -> Matches | None:
    """Match rows of different groups: of the ``points`` (n, r), in groups ``codes`` (n,), 0 to C - 1."""
    counts = np.bincount(codes)
    told = np.flatnonzero(counts >= _FEWEST)
    if len(told) < 2:
        return None
    width = max(_MATCHES, _SMOOTHED)
    strata = nearest_in_strata(points, codes, width, n_jobs=n_jobs)
    own = np.tile(np.arange(len(points))[:, None], (1, 1 + _SMOOTHED))
    sources, targets = [], []
    for group, stratum in enumerate(strata):
        _own_lists(stratum, codes == group, own)
        other = (codes[stratum.rows] != group) & (counts[codes[stratum.rows]] >= _FEWEST)
        if counts[group] >= _FEWEST:
            lists = stratum.neighbours.index[other][:, :_MATCHES]
            sources.append(np.repeat(stratum.rows[other], lists.shape[1]))
            targets.append(lists.ravel())
    i, j = np.concatenate(sources), np.concatenate(targets)
    both = mutual(i, j, len(points)) & (codes[i] < codes[j])
    i, j = i[both], j[both]
    if not len(i):
        return None
    of_row = np.bincount(np.concatenate([i, j]), minlength=len(points))
    order = np.lexsort((j, i))
    i, j = i[order], j[order]
    return Matches(i, j, 1.0 / np.sqrt(of_row[i] * of_row[j]), own)


def _own_lists(stratum: InStratum, members: Array, own: Array) -> None:
    """Write the nearest rows of the own group into ``own`` (n, 1 + k); a small group repeats the row itself."""
    inside = members[stratum.rows]
    lists = stratum.neighbours.index[inside][:, :_SMOOTHED]
    own[stratum.rows[inside], 1 : 1 + lists.shape[1]] = lists


def matched_change(rest: Array, codes: Array, n_jobs: int | None = None) -> MatchedChange:
    """Estimate the change of ``rest`` (n, d), rows less the overall effect, in groups ``codes`` (n,), 0 to C - 1."""
    n_codes, d = int(codes.max()) + 1, rest.shape[1]
    axes = principal_axes(rest)
    projected = rest @ axes
    share = np.eye(n_codes)[codes]
    corrected, found, matches = projected, None, None
    content, error = np.zeros((len(rest), 0)), np.zeros(d)
    coefficients = np.zeros((n_codes, d))
    for _ in range(_ROUNDS if n_codes > 1 else 0):
        matches = find_matches(corrected, codes, n_jobs)
        if matches is None:
            break
        average = _averaging(matches.own)
        content = _content(average @ corrected)
        problem = _Problem.of(matches, codes, content, average @ projected, n_codes)
        penalty, held_out = problem.best_penalty()
        error = np.square(axes) @ held_out
        if penalty is None:
            found = None
            break
        found = problem.solve(penalty)
        corrected = projected - place_features(share, content) @ found
        coefficients = found @ axes.T if d != axes.shape[1] else found
    if found is None:
        coefficients = np.zeros((n_codes * (1 + content.shape[1]), d))
    return MatchedChange(content, np.asarray(coefficients), np.asarray(error), matches)


def _averaging(own: Array) -> csr_array:
    """Sparse matrix (n, n) that averages each row with its nearest rows of the same group."""
    n, k = own.shape
    return csr_array((np.full(n * k, 1.0 / k), own.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


def _content(local: Array) -> Array:
    """Leading principal scores (n, r) of local means, centred, with mean square 1."""
    centred = local - local.mean(axis=0)
    _, _, V = np.linalg.svd(centred, full_matrices=False)
    scores = centred @ V[:_CONTENT].T
    return np.asarray(scores / (float(np.sqrt(np.mean(np.square(scores)))) or 1.0))


@dataclass(frozen=True)
class _Problem:
    """Normal equations of the regression on matches, by region q and pair of groups g < h.

    Parameters
    ----------
    squares : array of shape (Q, C, C, 1 + r, 1 + r)
        ``Σ w uᵀu``, u = [1, c_ij].
    products : array of shape (Q, C, C, 1 + r, e)
        ``Σ w uᵀ(s_i - s_j)``.
    total : array of shape (Q,)
        ``Σ w |s_i - s_j|²``.
    """

    squares: Array
    products: Array
    total: Array

    @classmethod
    def of(cls, matches: Matches, codes: Array, content: Array, local: Array, n_codes: int) -> _Problem:
        i, j, w = matches.i, matches.j, matches.weight
        between = 0.5 * (content[i] + content[j])
        region, count = _regions(between)
        u = np.column_stack([np.ones(len(i)), between])
        change = local[i] - local[j]
        p, e = u.shape[1], change.shape[1]
        squares, products = np.zeros((count, n_codes, n_codes, p, p)), np.zeros((count, n_codes, n_codes, p, e))
        cell = (region * n_codes + codes[i]) * n_codes + codes[j]
        order = np.argsort(cell, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(cell[order]) > 0])
        for rows in np.split(order, starts[1:]):
            at = region[rows[0]], codes[i[rows[0]]], codes[j[rows[0]]]
            weighted = w[rows, None] * u[rows]
            squares[at], products[at] = weighted.T @ u[rows], weighted.T @ change[rows]
        total = np.bincount(region, weights=w * np.einsum("ij,ij->i", change, change), minlength=count)
        return cls(squares, products, total)

    def best_penalty(self) -> tuple[float | None, Array]:
        """λ with the least held-out error, None for B = 0, and the squared error (e,) of the change of a region."""
        whole = self._normal(slice(None))
        parts = [self._normal(slice(q, q + 1)) for q in range(len(self.total))]
        none = float(self.total.sum())
        tried = []
        for penalty in _PENALTIES:
            error, deviations, weight = none, np.zeros(self.products.shape[-1]), 0.0
            for q, (A, F) in enumerate(parts):
                B = _solved(whole[0] - A, whole[1] - F, penalty, self._block)
                error += float(np.sum(B * (A @ B)) - 2.0 * np.sum(B * F))
                means, counts = self._mean_deviations(q, B)
                deviations += counts @ np.square(means)
                weight += float(counts.sum())
            tried.append((error, penalty, deviations / max(weight, 1e-300)))
        error, best, held_out = min(tried, key=lambda entry: entry[0])
        if error < _BETTER * none:
            return float(best), held_out
        found = [self._mean_deviations(q, None) for q in range(len(parts))]
        means, weights = (np.concatenate([part[which] for part in found]) for which in (0, 1))
        return None, np.asarray(weights @ np.square(means) / max(float(weights.sum()), 1e-300))

    def solve(self, penalty: float) -> Array:
        """Coefficients (C (1 + r), e) from all regions."""
        return _solved(*self._normal(slice(None)), penalty, self._block)

    @property
    def _block(self) -> int:
        return int(self.squares.shape[-1])

    def _normal(self, regions: slice) -> tuple[Array, Array]:
        """Normal equations of some regions: (C (1 + r), C (1 + r)) and (C (1 + r), e)."""
        G, F = self.squares[regions].sum(axis=0), self.products[regions].sum(axis=0)
        n_codes, p = len(G), self._block
        A = -(G + G.transpose(1, 0, 2, 3))
        diagonal = G.sum(axis=1) + G.sum(axis=0)
        A[np.arange(n_codes), np.arange(n_codes)] += diagonal
        rhs = F.sum(axis=1) - F.sum(axis=0)
        return A.transpose(0, 2, 1, 3).reshape(n_codes * p, -1), rhs.reshape(n_codes * p, -1)

    def _mean_deviations(self, q: int, B: Array | None) -> tuple[Array, Array]:
        """Mean error (k, e) of the predicted change in each pair of groups of a region, and their weights (k,)."""
        weight = self.squares[q, :, :, 0, 0]
        g, h = np.nonzero(weight)
        sums = self.products[q, g, h, 0]
        if B is not None:
            of_group = B.reshape(len(weight), self._block, -1)
            sums = sums - np.einsum("kp,kpe->ke", self.squares[q, g, h, 0], of_group[g] - of_group[h])
        counts = weight[g, h]
        return sums / counts[:, None], counts


def _solved(A: Array, F: Array, penalty: float, block: int) -> Array:
    """Ridge solution; offsets are penalised little, and with an infinite penalty the slopes are 0."""
    n_codes = len(A) // block
    unit = max(float(np.trace(A[::block, ::block])), 1e-300) / n_codes
    slope = np.tile(np.arange(block) > 0, n_codes)
    out = np.zeros_like(F)
    kept = np.flatnonzero(~slope) if np.isinf(penalty) else np.arange(len(A))
    ridge = np.where(slope[kept], 0.0 if np.isinf(penalty) else penalty, _OFFSET_PENALTY) * unit
    out[kept] = np.linalg.solve(A[np.ix_(kept, kept)] + np.diag(ridge), F[kept])
    return out


def _regions(content: Array) -> tuple[Array, int]:
    """Regions (p,) of the content by k-means, and how many there are; independent of the order of the rows."""
    distinct, back, weight = np.unique(content, axis=0, return_inverse=True, return_counts=True)
    count = min(_REGIONS, len(distinct))
    labels = centres(distinct, weight, count, n_init=2)[1]
    return np.asarray(labels[back.reshape(-1)]), count
