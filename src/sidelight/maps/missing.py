"""Imputation of missing entries by local linear regression on neighbouring rows.

For a row x with observed entries O, from its neighbours j with weights w_j of a given perplexity:

    tangent      m = Σ_j w_j x_j,  V (d, r) the leading principal directions of the neighbours around m, variances s
    coordinates  t = arg min_t |x_O - m_O - V_O t|² + σ² Σ_r t_r² / s_r            from observed entries alone
    entry c      a + bᵀ t = arg min Σ_j w_j o_jc (x_jc - a - bᵀ t_j)² + ridge |b|²    only rows with c observed count

With rank 0 this is the weighted mean over the neighbours in which the entry is observed. The first round finds
neighbours by the mean squared difference over commonly observed entries and imputes the mean. Later rounds measure
distances between predicted rows (predicted at observed entries too), so that neither a bad first imputation nor one
outlying entry determines the neighbours. Perplexity, rank and the number of rounds are chosen by the error on a
held-out tenth of the observed entries. The variance of an entry is the variance of the neighbours around their plane
plus the uncertainty of t, times a factor: the factor for which 95 % of the held-out entries lie within two standard
deviations.
Cost: O(n k d r²) per round for k = 3 · perplexity neighbours, besides finding them; memory is bounded by tiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.cost import Cost
from sidelight.base.tiles import run_tiles, spans
from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.neighbours.distances import padded_product
from sidelight.neighbours.search import nearest, smallest

from .time_bridge import variance_factor

__all__ = ["LocalFill", "fill_cost", "fit_fill"]

Array = npt.NDArray[Any]
CHOICES = ((5.0, 0), (10.0, 0), (10.0, 2), (20.0, 4), (20.0, 6), (30.0, 4), (40.0, 8))
_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_RIDGE, _LEAST_NOISE = 0.01, 1e-3
_FIRST = 8.0  # perplexity of the first round
_ROUNDS, _TRIAL_ROUNDS, _QUERY_ROUNDS = 7, 3, 3  # after the first: of a fit, of a trial; all of a query
_SETTLED = 1e-3  # converged when no entry changes by more, in units of the largest deviation from the mean
_JUDGES = 800  # rows used to choose perplexity and rank by held-out entries


@dataclass(frozen=True)
class LocalFill:
    """Fitted imputation model.

    Parameters
    ----------
    rows : array of shape (n, d)
        Completed training rows, centred and scaled.
    observed : boolean array of shape (n, d)
        Which of their entries were observed.
    perplexity, rank : float, int
        Of the neighbourhoods, and dimension of the local planes.
    factor : float
        Calibration of the variances.
    n_rounds : int
        Rounds of the fit after the first.
    centre, scale : array of shape (d,) and float
        Of the data.
    """

    rows: Array
    observed: Array
    perplexity: float = 20.0
    rank: int = 4
    factor: float = 1.0
    centre: Array | float = 0.0
    scale: float = 1.0
    n_rounds: int = _ROUNDS

    def moments(self, X: Array, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Rows (m, d) with imputed entries, and the variance (m, d) of these, at the cost of one of the two."""
        found, spread = self._fill(X, n_jobs)
        gone = np.isnan(X)
        filled = np.where(gone, found * self.scale + self.centre, X)
        return filled, np.where(gone, self.factor * spread * self.scale**2, 0.0)

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        """Impute the missing entries (NaN) of rows (m, d), each row independently."""
        found, _ = self._fill(X, n_jobs)
        return np.asarray(np.where(np.isnan(X), found * self.scale + self.centre, X))

    def variance(self, X: Array, n_jobs: int | None = None) -> Array:
        """Variance of the imputed entries (m, d); 0 for observed ones."""
        _, spread = self._fill(X, n_jobs)
        return np.asarray(np.where(np.isnan(X), self.factor * spread * self.scale**2, 0.0))

    def _fill(self, X: Array, n_jobs: int | None) -> tuple[Array, Array]:
        """Predictions and variances (m, d) of rows with missing entries; complete rows, which need none, have 0."""
        inside = (np.asarray(X, dtype=np.float64) - self.centre) / self.scale
        found, spread = np.zeros_like(inside), np.zeros_like(inside)
        gaps = np.isnan(inside).any(axis=1)
        if gaps.any():
            found[gaps], spread[gaps] = self._fill_rows(inside[gaps], n_jobs)
        return found, spread

    def _fill_rows(self, inside: Array, n_jobs: int | None) -> tuple[Array, Array]:
        observed = ~np.isnan(inside)
        Q = np.where(observed, inside, 0.0)
        D2 = common_distances(Q, observed, self.rows, np.ones_like(self.observed), n_jobs)
        found = spread = np.zeros_like(Q)
        for step in range(_QUERY_ROUNDS):
            if step:
                D2 = nearest_squares(self.rows, found, self.width, n_jobs)
            found, spread = self.predict(Q, observed, D2, n_jobs)
        return found, spread

    def training_moments(self, n_jobs: int | None = None) -> tuple[Array, Array]:
        """Predict every entry (n, d) of the training rows from the other rows, with its variance (n, d)."""
        near = nearest_squares(self.rows, None, self.width, n_jobs)
        found, spread = self.predict(np.where(self.observed, self.rows, 0.0), self.observed, near, n_jobs)
        return found * self.scale + self.centre, self.factor * spread * self.scale**2

    @property
    def width(self) -> int:
        """Number of neighbours per row: 3 · perplexity."""
        return min(len(self.rows) - 1, max(2, round(3 * self.perplexity)))

    def predict(self, Q: Array, observed: Array, near: tuple[Array, Array], n_jobs: int | None) -> tuple[Array, Array]:
        """Predict every entry (m, d) of the queries, and its variance (m, d), from neighbours.

        Parameters
        ----------
        Q : array of shape (m, d)
            Scaled queries, 0 where missing.
        observed : boolean array of shape (m, d)
        near : (index, squared distance), each of shape (m, k)
        n_jobs : int or None
            Threads.
        """
        index, D2 = (part[:, : self.width] for part in near)
        W = perplexity_rows(D2, min(self.perplexity, 0.6 * index.shape[1]))[0]
        rank = min(self.rank, index.shape[1] - 1, Q.shape[1] - 1)

        def one(part: slice) -> tuple[Array, Array]:
            return _local_plane(
                Q[part], observed[part], self.rows[index[part]], self.observed[index[part]], W[part], rank
            )

        wide = Q.shape[1] * (4 * index.shape[1] + 2 * (rank + 1) ** 2)
        parts = run_tiles(one, spans(len(Q), max(1, _BUDGET // wide)), n_jobs)
        return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def fit_fill(X: Array, n_jobs: int | None = None, like: LocalFill | None = None) -> LocalFill:
    """Fit the imputation to rows ``X`` (n, d) with missing entries (NaN).

    Perplexity and rank are chosen by held-out entries, which takes most of the time, or are those of ``like``; then
    every missing entry is imputed.
    """
    observed = np.asarray(~np.isnan(X))
    size = float(np.nanmax(np.abs(X))) or 1.0
    centre = np.nanmean(X / size, axis=0) * size
    scale = float(np.nanmax(np.abs(X - centre))) or 1.0
    inside = np.where(observed, (np.asarray(X, dtype=np.float64) - centre) / scale, 0.0)
    chosen = _choose(inside, observed, n_jobs) if like is None else like
    found = _first_round(inside, observed, n_jobs)
    for later, _ in islice(_rounds(inside, observed, chosen, found, n_jobs), chosen.n_rounds):
        found = later
    return replace(chosen, rows=np.where(observed, inside, found), observed=observed, centre=centre, scale=scale)


def fill_cost(n: int, d: int, *, calibrated: bool) -> Cost:
    """Estimate the cost of a fit of n rows and d columns; ``calibrated``: of ``entry_models``, with held-out entries.

    Rows that settings are chosen by take most; measured with 100 to 3,000 rows of 10 to 60 columns.
    """
    chosen, each = (1.8e-4, 1.5e-4) if calibrated else (1.6e-4, 4e-5)
    return Cost(8 * (4 * min(_BUDGET, 650 * n * d) + 8 * n * d), d * (chosen * min(n, _JUDGES) + each * n))


def _choose(inside: Array, observed: Array, n_jobs: int | None) -> LocalFill:
    """Choose perplexity, rank and the number of rounds by held-out entries.

    The error is absolute, which is robust to outliers. Rounds end at the first that does not lower it: on real tables
    the second to fourth is the best, and later ones drift away; on a noise-free sheet every round helps.
    """
    judges = np.unique(np.linspace(0, len(inside) - 1, min(_JUDGES, len(inside))).astype(np.int64))
    truth, known = inside[judges], observed[judges]
    hidden: Array = known & (np.random.default_rng(0).random(known.shape) < 0.1)
    seen: Array = known & ~hidden
    lonely = np.logical_not(np.logical_and(seen.any(axis=1, keepdims=True), seen.any(axis=0)))
    hidden, seen = hidden & ~lonely, seen | (known & lonely)
    if not hidden.any():
        return LocalFill(truth, known)
    start = np.where(seen, truth, 0.0)
    first = _first_round(start, seen, n_jobs)
    best: tuple[float, LocalFill] = np.inf, LocalFill(truth, known)
    for perplexity, rank in CHOICES:
        setting, least = LocalFill(truth, known, perplexity, rank), np.inf
        trial = islice(_rounds(start, seen, setting, first, n_jobs), _TRIAL_ROUNDS)
        for n_rounds, (found, spread) in enumerate(trial, start=1):
            error = np.abs(found - truth)[hidden]
            if not error.mean() < least:
                break
            least = float(error.mean())
            if least < best[0]:
                more = n_rounds if n_rounds < _TRIAL_ROUNDS else _ROUNDS
                best = least, replace(setting, factor=variance_factor(_ratio(error, spread[hidden])), n_rounds=more)
    return best[1]


def _ratio(error: Array, spread: Array) -> Array:
    """Squared errors over variances, which are at least a share of their mean."""
    return np.asarray(error**2 / np.maximum(spread, 1e-9 * float(spread.mean()) + 1e-300))


def _first_round(inside: Array, observed: Array, n_jobs: int | None) -> Array:
    """Predictions of all entries (n, d) from neighbours by commonly observed entries."""
    near = common_distances(inside, observed, inside, observed, n_jobs, own=True)
    return LocalFill(inside, observed, _FIRST, 0).predict(inside, observed, near, n_jobs)[0]


def _rounds(
    inside: Array, observed: Array, setting: LocalFill, found: Array, n_jobs: int | None
) -> Iterator[tuple[Array, Array]]:
    """Iterate predictions from neighbours by predicted rows, from those ``found`` (n, d) in the first round.

    Yields predictions of all entries (n, d), observed ones too, and their variances (n, d), until they converge.
    """
    change = np.inf
    while change >= _SETTLED:
        filled = replace(setting, rows=np.where(observed, inside, found), observed=observed)
        near = nearest_squares(found, None, filled.width, n_jobs)
        before, (found, spread) = found, filled.predict(inside, observed, near, n_jobs)
        change = float(np.abs(found - before).max())
        yield found, spread


def nearest_squares(rows: Array, queries: Array | None, k: int, n_jobs: int | None) -> tuple[Array, Array]:
    """Indices and squared distances (m, k) of the nearest rows to queries; None: to each row, excluding itself."""
    found = nearest(rows, queries, k=k, n_jobs=n_jobs)
    return found.index, found.distance**2


def common_distances(
    Q: Array, asked: Array, A: Array, observed: Array, n_jobs: int | None, *, own: bool = False
) -> tuple[Array, Array]:
    """Nearest rows by the mean squared difference over commonly observed entries.

    The mean squared difference over all pairs is included as one further entry: with few common entries, a single
    chance agreement would else make a neighbour. A pair without common entries has this typical distance (see Notes).

    Parameters
    ----------
    Q, asked : arrays of shape (m, d)
        Queries (0 where missing), and which entries are observed.
    A, observed : arrays of shape (n, d)
        Candidate rows, likewise.
    n_jobs : int or None
        Threads.
    own : bool
        Whether the queries are the candidate rows; a row is then not its own neighbour.

    Returns
    -------
    index, squares : arrays of shape (m, at most 150)

    Notes
    -----
    For pairs without common entries two other rules were tried, on oil flow (300 rows, 8 draws) and the CMU walk (150
    rows, 4 draws): farthest of all, and the expected distance given what each row has. Where imputation is better than
    column means (oil with 70 and 80 % missing; either half of the walk's columns missing), neither changes the error
    by more than 0.015 of the spread, or one and a half standard errors. With 90 % missing and more both are better,
    farthest by about 0.02 (1.4 to 2.5 standard errors), expected by 0.01 to 0.02 (0.5 to 2.7); but every rule is worse
    than column means there. An earlier run (oil, 500 rows, 3 draws, not compared with column means) had farthest
    within 0.02 of the typical distance, and expected 0.036 worse at 80 % and 0.044 better at 90 %.
    """
    k = min(len(A) - own, 150)
    squares, given = A * A, observed.astype(np.float64)  # of A, missing entries are 0
    sides = np.column_stack([given, squares, A]).T
    typical = 2.0 * float(squares.sum()) / max(float(given.sum()), 1.0)

    def one(part: slice) -> tuple[Array, Array]:
        q, o = Q[part], asked[part].astype(np.float64)
        total = padded_product(np.column_stack([q * q, o, -2.0 * q]), sides)
        D2 = (np.maximum(total, 0.0) + typical) / (padded_product(o, given.T) + 1.0)
        if own:
            D2[np.arange(len(q)), np.arange(part.start, part.stop)] = np.inf
        return smallest(D2, k)

    parts = run_tiles(one, spans(len(Q), max(1, _BUDGET // (4 * len(A)))), n_jobs)
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _local_plane(x: Array, known: Array, N: Array, voting: Array, W: Array, rank: int) -> tuple[Array, Array]:
    """Predict each entry (m, d) by a plane through the neighbours N (m, k, d), with its variance (m, d).

    ``voting`` (m, k, d) marks observed entries of the neighbours, W (m, k) are their weights.
    """
    T, t, C = _tangent(x, known, N, W, rank)
    B = np.concatenate([np.ones((*W.shape, 1)), T], axis=2)
    b = np.concatenate([np.ones((len(x), 1)), t], axis=1)
    votes = np.ascontiguousarray((W[:, :, None] * voting).transpose(0, 2, 1))
    fallback = W.mean() * 1e-3
    q = rank + 1
    products = (B[:, :, :, None] * B[:, :, None, :]).reshape(*W.shape, q * q)
    H = (votes @ products).reshape(*x.shape, q, q)
    h = (votes * N.transpose(0, 2, 1)) @ B
    mean = np.einsum("ik,ikc->ic", W, N)
    H[:, :, 0, 0] += fallback  # if no neighbour has the entry: the mean of imputed values
    h[:, :, 0] += fallback * mean
    H[:, :, np.arange(1, q), np.arange(1, q)] += _RIDGE
    coefficients = np.linalg.solve(H, h[..., None])[..., 0]
    found = np.einsum("icq,iq->ic", coefficients, b)
    away = N - B @ coefficients.transpose(0, 2, 1)
    spread = np.einsum("ick,ikc->ic", votes, away**2) / np.maximum(votes.sum(axis=2), fallback)
    slopes = coefficients[:, :, 1:]
    return found, spread + np.einsum("icq,iqs,ics->ic", slopes, C, slopes, optimize=True)


def _tangent(x: Array, known: Array, N: Array, W: Array, rank: int) -> tuple[Array, Array, Array]:
    """Local PCA: coordinates of neighbours (m, k, r) and of the row (m, r), and the row's posterior covariance.

    Coordinates are in units of the standard deviation along each direction. The covariance (m, r, r) is the uncertainty
    of the row's coordinates given its observed entries.
    """
    if rank == 0:
        return np.empty((*W.shape, 0)), np.empty((len(x), 0)), np.empty((len(x), 0, 0))
    mean = np.einsum("ik,ikc->ic", W, N)
    away = N - mean[:, None, :]
    A = np.sqrt(W)[:, :, None] * away
    V, s, total = _directions(A, rank)
    noise = np.maximum((total - s.sum(axis=1, keepdims=True)) / (x.shape[1] - rank), _LEAST_NOISE * total / x.shape[1])
    scaled = V * np.sqrt(s / noise)[:, None, :]
    precision = scaled.transpose(0, 2, 1) @ (known[:, :, None] * scaled)
    precision[:, np.arange(rank), np.arange(rank)] += 1.0
    covariance = np.linalg.inv(precision)
    side = scaled.transpose(0, 2, 1) @ ((x - mean) * known / np.sqrt(noise))[:, :, None]
    return away @ V / np.sqrt(s)[:, None, :], (covariance @ side)[:, :, 0], covariance


def _directions(A: Array, rank: int) -> tuple[Array, Array, Array]:
    """Leading right singular vectors (m, d, r) of each A (m, k, d), squared singular values, and the sum of all."""
    tall = A.shape[1] > A.shape[2]  # the smaller of the two product matrices has the same spectrum
    values, vectors = np.linalg.eigh(A.transpose(0, 2, 1) @ A if tall else A @ A.transpose(0, 2, 1))
    total = values.sum(axis=1, keepdims=True) + 1e-300
    s, V = np.maximum(values[:, -rank:], 1e-9 * total), vectors[:, :, -rank:]
    return V if tall else A.transpose(0, 2, 1) @ V / np.sqrt(s)[:, None, :], s, total
