"""Parzen density: a kernel on every training row (S0 3.1), with one bandwidth or one per row.

log p(a) = log (1/n) Σ_j k(|a - a_j|² / h_j) / (C · h_j^(p/2))      C = ∫ k(|u|²) du
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from sidelight.kernels.bandwidths import leave_one_out_bandwidth, perplexity_rows
from sidelight.kernels.distances import squared_distances
from sidelight.kernels.profiles import Profile, profile
from sidelight.kernels.tiles import run_tiles, spans

__all__ = ["ParzenDensity", "fit_density", "neighbourhood_density"]

Array = npt.NDArray[Any]
_BUDGET = 2_000_000
_PERPLEXITY = 15.0


@dataclass(frozen=True)
class ParzenDensity:
    """A mixture of kernels at ``points`` (n, p) with ``bandwidths`` (n,)."""

    points: Array
    bandwidths: Array
    kernel: str = "gaussian"

    @property
    def profile(self) -> Profile:
        """The normalisable profile of the kernel."""
        return profile(self.kernel).density_profile(self.points.shape[1])

    def log_density(self, Q: Array, n_jobs: int | None = None) -> Array:
        """``log p`` at each query (m,); it falls for ever, and is never NaN."""
        n, p = self.points.shape
        shape = self.profile
        shift = -0.5 * p * np.log(self.bandwidths) - np.log(n) - shape.log_integral(p)

        def one(rows: slice) -> Array:
            R = squared_distances(Q[rows], self.points)
            logs: Array = logsumexp(shape.log_value(R / self.bandwidths) + shift, axis=1)
            return logs

        return np.concatenate(run_tiles(one, spans(len(Q), max(8, _BUDGET // n)), n_jobs))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Draw ``n`` points: a training row at random and a step from its kernel."""
        chosen = rng.integers(len(self.points), size=n)
        steps = self.profile.offsets(n, self.points.shape[1], rng)
        drawn: Array = self.points[chosen] + np.sqrt(self.bandwidths[chosen])[:, None] * steps
        return drawn


def fit_density(points: Array, relative: Array, *, n_rows: int = 500) -> ParzenDensity:
    """A Gaussian density with bandwidths proportional to ``relative`` (n,), the factor chosen by leave-one-out.

    Rows whose relative bandwidth is 0 (many duplicates) get the smallest positive one. The likelihood is taken over
    ``n_rows`` rows spread evenly over the data (fewer where their distances would fill memory).
    """
    positive = relative[relative > 0]
    if len(positive) == 0:  # every row is the same
        return ParzenDensity(points, np.ones(len(points)))
    relative = np.maximum(relative, positive.min())
    rows = np.unique(
        np.linspace(0, len(points) - 1, min(n_rows, len(points), max(20, _BUDGET // len(points)))).astype(np.int64)
    )
    shape = profile("gaussian")
    factor = leave_one_out_bandwidth(points, shape, typical=1.0, relative=relative, rows=rows)
    return ParzenDensity(points, factor * relative)


def neighbourhood_density(points: Array, distance: Array) -> ParzenDensity:
    """A density whose bandwidths are as wide as the neighbourhoods; ``distance`` (n, k) to the nearest rows of each."""
    perplexity = min(_PERPLEXITY, max(1.5, distance.shape[1] / 3))
    return fit_density(points, perplexity_rows(distance**2, perplexity)[1])
