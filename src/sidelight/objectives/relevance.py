r"""Intrinsic dimension of the linear-Gaussian model: automatic relevance determination (Bishop 1999) and evidence.

Each column i of W gets a prior N(0, α_i⁻¹ I_d), and α_i is chosen by the evidence: where the data do not need the
column, α_i → ∞ and it vanishes. W is uncertain, w_j ~ N(w̄_j, S_j) (``objectives.linear_gaussian``), so the bound is

    F = Σ_n log p̃(x_n) - Σ_j KL(N(w̄_j, S_j) | N(0, diag α⁻¹))                               (variational Bayes)
    S_j = σ² (A_j + σ² diag α)⁻¹,    (w̄_j, μ_j) = (A_j + σ² diag(α, 0))⁻¹ b_j,    α_i = d / Σ_j (w̄_ji² + S_jii)

and never falls. After each step z is whitened over the rows and the columns of W are made orthogonal, which raises F
too (Ilin and Raiko 2010). A column is dropped when it is shorter than any column that can stay at the maximum.

For complete rows F has its maximum in closed form (Nakajima, Tomioka, Sugiyama and Babacan 2015): with L = min(n, d),
M = max(n, d), ρ = L / M and x_i = n λ_i / (M σ²) for the eigenvalues λ of the covariance, column i stays where x_i > x̲,

    x̲ = (1 + τ̲)(1 + ρ/τ̲),    φ(τ̲) + φ(τ̲/ρ) = 0,    φ(t) = log(1 + t) / t - 1/2

This gives the least length of a column. Up to constants and a scale, F at the best W is -Ω(σ²); σ² minimises

    Ω = Σ_i x_i - log x_i + [x_i > x̲] (log(1 + τ_i) + ρ log(1 + τ_i/ρ) - τ_i),    x_i = (1 + τ_i)(1 + ρ/τ_i)

over the means of the eigenvalues that remain without the first k. EM with missing entries starts with this number of
columns, and some more; n is then the number of observed entries of a column. For complete rows the number is better
estimated by the evidence with W integrated out over its directions, not only its columns (Minka 2000, Laplace's
approximation), k = 0, 1, ...:

    log p(X | k) ≈ log p(U_k) - (n/2) Σ_{i≤k} log λ_i - (n/2)(d-k) log v_k
                   + ((m+k)/2) log 2π - ½ log|A_k| - (k/2) log n
    v_k = Σ_{i>k} λ_i / (d-k),   m = dk - k (k+1) / 2,   p(U_k) = 2^{-k} Π_{i≤k} Γ((d-i+1)/2) π^{-(d-i+1)/2}
    log|A_k| = Σ_{i≤k} Σ_{j>i} log n (1/λ̂_j - 1/λ̂_i)(λ_i - λ_j),   λ̂ = λ_1 .. λ_k, v_k, v_k, ...
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaln

from sidelight.base.types import Array
from sidelight.rows import Sums

from .linear_gaussian import LinearGaussian, least_squares, quadratic, whitening
from .upper_triangles import unpacked, upper_triangle

__all__ = [
    "Relevant",
    "bound",
    "dropped",
    "kept_count",
    "least_length",
    "maximised_relevance",
    "relevant_count",
    "with_relevance",
]


_ROUNDING = 1e-13  # of the largest eigenvalue


@dataclass(frozen=True)
class Relevant:
    """A model with uncertain W, the precisions α (q,) of its columns, and ``divergence``, the KL term of the bound."""

    model: LinearGaussian
    alpha: Array
    divergence: float


def with_relevance(model: LinearGaussian, seen: Array) -> Relevant:
    """Initial state from a model: W gets the uncertainty due to ``seen`` (d,) observed entries of each column."""
    q = model.n_components
    alpha = len(model.mean) / np.maximum((model.W**2).sum(axis=0), 1e-300)
    variances = model.noise / (seen[:, None] + model.noise * alpha)
    S = variances[:, :, None] * np.eye(q)
    return _relevant(LinearGaussian(model.mean, model.W, model.noise), S, np.log(variances).sum())


def bound(sums: Sums, state: Relevant) -> float:
    """Variational bound F per row, from the sums (``linear_gaussian.statistics``) taken at the state's model."""
    return float((sums["log_likelihood"] - state.divergence) / sums["n"])


def maximised_relevance(sums: Sums, state: Relevant, *, least_noise: float = 0.0) -> Relevant:
    """One variational EM step, which raises the bound; the sums are taken at the state's model."""
    model, q = state.model, state.model.n_components
    solved, A = least_squares(sums, q, model.noise * state.alpha)
    precision = A[:, :q, :q] + model.noise * np.diag(state.alpha)
    S = model.noise * np.linalg.inv(precision)
    left = (sums["square"] - 2.0 * (sums["b"] * solved).sum(axis=1) + quadratic(A, solved)).sum()
    noise = float((left + (A[:, :q, :q] * S).sum()) / sums["seen"].sum())
    mean, root = whitening(sums, q)
    W, shift = solved[:, :q], solved[:, q] + solved[:, :q] @ mean
    turn = root @ np.linalg.eigh(root @ (W.T @ W + S.sum(axis=0)) @ root)[1][:, ::-1]
    log_det = np.linalg.slogdet(S)[1].sum() + 2.0 * len(S) * np.linalg.slogdet(turn)[1]
    moved = LinearGaussian(model.mean + shift, W @ turn, max(noise, least_noise))
    return _relevant(moved, turn.T @ S @ turn, log_det)


def dropped(state: Relevant, share: float) -> Relevant:
    """Drop columns of W of squared length at most ``share`` times the noise; the same state if there are none."""
    model, q = state.model, state.model.n_components
    keep = (model.W**2).sum(axis=0) > share * model.noise
    if keep.all() or model.spread is None:
        return state
    S = unpacked(model.spread, q)[:, keep][:, :, keep]
    left = LinearGaussian(model.mean, model.W[:, keep], model.noise)
    return _relevant(left, S, float(np.linalg.slogdet(S)[1].sum()))


def _relevant(model: LinearGaussian, S: Array, log_det: float) -> Relevant:
    """The state with the best α; S (d, q, q) are the covariances of W, whose log determinants sum to ``log_det``."""
    d, q = model.W.shape
    alpha = d / ((model.W**2).sum(axis=0) + np.einsum("jii->i", S))
    divergence = float(-0.5 * (log_det + d * np.log(alpha).sum()))  # the traces cancel at this α
    rows, columns = upper_triangle(q)
    return Relevant(LinearGaussian(model.mean, model.W, model.noise, S[:, rows, columns]), alpha, divergence)


def relevant_count(values: Array, n: int, d: int) -> int:
    """Intrinsic dimension by Minka's evidence, from the eigenvalues (descending) of the covariance of rows (n, d).

    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) @ rng.normal(size=(3, 10)) + 0.5 * rng.normal(size=(200, 10))
    >>> relevant_count(np.linalg.eigvalsh(np.cov(X.T))[::-1], 200, 10)
    3
    """
    lam = values[values > _ROUNDING * max(float(values[0]), 1e-300)]
    if len(lam) < 2:
        return 0
    evidence = _evidence(lam / lam[0], n, d)
    return int(evidence.argmax())


def _evidence(lam: Array, n: int, d: int) -> Array:
    """``log p(X | k)`` for k = 0, ..., r - 1, of r eigenvalues that are not 0."""
    r = len(lam)
    k = np.arange(1, r)
    logs, m = np.cumsum(np.log(lam))[:-1], d * k - k * (k + 1) / 2
    left = (lam.sum() - np.cumsum(lam)[:-1]) / (d - k)
    size = 0.5 * (d - k + 1)
    directions = np.cumsum(gammaln(size) - size * np.log(np.pi) - np.log(2.0))
    kept = -0.5 * n * (logs + (d - k) * np.log(left)) + directions + 0.5 * (m + k) * np.log(2 * np.pi)
    none = -0.5 * n * d * np.log(lam.sum() / d)
    return np.append(none, kept - 0.5 * _log_det(lam, left, n, d) - 0.5 * k * np.log(n))


def _log_det(lam: Array, left: Array, n: int, d: int) -> Array:
    """``log|A_k|`` for k = 1, ..., r - 1: pairs within the first k, and of those with the rest, from running sums."""
    k = np.arange(1, len(lam))
    gaps = np.triu(np.log(np.maximum(lam[:, None] - lam, _ROUNDING)), 1)
    every = np.cumsum(gaps.sum(axis=1) + (d - len(lam)) * np.log(lam))[:-1]
    within = np.cumsum(gaps.sum(axis=0))[:-1]
    rest = np.tril(np.log(np.maximum(1.0 / left[:, None] - 1.0 / lam[:-1], _ROUNDING))).sum(axis=1)
    pairs = d * k - k * (k + 1) / 2
    return np.asarray(every + within - (k - 1) * np.cumsum(np.log(lam))[:-1] + (d - k) * rest + pairs * np.log(n))


def kept_count(values: Array, n: float, d: int) -> int:
    """Number of columns that the closed form keeps, from eigenvalues (descending); n observed entries per column.

    >>> kept_count(np.array([9.0, 5.0, 1.1, 1.0, 0.9]), 100, 5)
    2
    """
    rho, scale = min(n, d) / max(n, d), n / max(n, d)
    noise = np.cumsum(values[::-1])[::-1] / (d - np.arange(len(values)))
    noise = noise[noise > _ROUNDING * max(float(values[0]), 1e-300)]
    if len(noise) == 0:
        return 0
    x = np.maximum(scale * values / noise[:, None], 1e-300)
    kept = x > _threshold(rho)
    over = np.maximum(x - (1.0 + rho), 2.0 * np.sqrt(rho))
    tau = 0.5 * (over + np.sqrt(np.maximum(over**2 - 4.0 * rho, 0.0)))
    gain = np.where(kept, np.log1p(tau) + rho * np.log1p(tau / rho) - tau, 0.0)
    return int(kept[(x - np.log(x) + gain).sum(axis=1).argmin()].sum())


def least_length(n: float, d: int) -> float:
    """Approximate least squared length, in units of the noise, of a column of W that is kept (n complete rows).

    At the threshold ``|w|² |z̄|² / (σ² n) = (M / n) τ̲² / x̲``, and ``|z̄|² = n t / (1 + t)`` for ``|w|² = t σ²``.

    >>> round(least_length(1000, 10), 2)
    0.28
    """
    L, M = min(n, d), max(n, d)
    tau = _tau(L / M)
    ratio = (M / n) * tau**2 / _threshold(L / M)
    return 0.5 * (ratio + float(np.sqrt(ratio**2 + 4.0 * ratio)))


def _tau(ratio: float) -> float:
    def phi(t: float) -> float:
        return float(np.log1p(t) / t - 0.5)

    return float(brentq(lambda t: phi(t) + phi(t / ratio), 1e-9 * ratio, 1e3))


def _threshold(ratio: float) -> float:
    tau = _tau(ratio)
    return (1 + tau) * (1 + ratio / tau)
