"""The two-way maps of a fitted model, as one value: data to latent points and back, and a density of each.

    backward  z(x) = Σ_j w_j(x) z_j     weights of the data kernel, plus a correction that makes it exact at
                                        training rows (``maps.interpolation``)                          (S0 3.23)
    forward   x(z) = Σ_j w_j(z) x_j     weights of the latent kernel                                    (S0 3.22)

Two ways to build it, both for an embedding Z (n, q) of points (n, d):

``kernel_maps``    by the kernels of the fit: the latent kernel has bandwidth 1; the data kernel keeps its bandwidth, in
                   the density too, or, for a perplexity kernel, has the perplexity with the least leave-one-out error.
``adaptive_maps``  of any embedding: weights of both maps adapt to the neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.data_kernel import DataKernel
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import nearest

from .frames import AnyFrame, Frame
from .interpolation import BackwardMap, interpolate, smooth_part
from .kernel_map import KernelMap, adaptive_map, adaptive_weights
from .kernel_projection import KernelProjection
from .linear import LinearMaps
from .local_density import LocalDensity
from .modes import conditional_mode
from .parzen import ParzenDensity, kernel_density, neighbourhood_density
from .truncated import TruncatedFrame, outside_in_columns
from .weights import AdaptiveWeights, FixedWeights

__all__ = ["LISTED", "TwoWayMaps", "adaptive_maps", "framed_log_density", "kernel_maps"]

Array = npt.NDArray[Any]
LISTED = 60
"""Neighbours that adaptive maps look at."""


@dataclass(frozen=True)
class TwoWayMaps:
    """Maps between data and latent space. Each answer is computed row by row.

    Parameters
    ----------
    frame, latent_frame : frames
        How data and latent points are moved and scaled before kernels see them.
    backward : BackwardMap
        Data to latent points, between the insides of the frames.
    latent_density : ParzenDensity
        Of the latent points, inside their frame.
    forward : KernelMap or None
        Latent points to data, between the insides. None: there is no data space to go back to (precomputed distances,
        relations alone).
    density : ParzenDensity or None
        Of the data, inside its frame.
    linear : LinearMaps or None
        Maps of the embedding itself, which replace both conditional means; modes, variances and densities stay as they
        are.
    projection : KernelProjection or None
        The embedding's own map from rows to latent points, which replaces that conditional mean.
    """

    frame: AnyFrame
    latent_frame: Frame
    backward: BackwardMap
    latent_density: ParzenDensity
    forward: KernelMap | None = None
    density: ParzenDensity | None = None
    linear: LinearMaps | None = None
    projection: KernelProjection | None = None

    def embed(self, X: Any, n_jobs: int | None) -> Array:
        """Latent points (m, q) of rows, by the conditional mean."""
        if self.linear is not None:
            return self.linear.embed(X, n_jobs)
        if self.projection is not None:
            return self.projection.embed(X, n_jobs)
        return self.latent_frame.outside(self.backward(self.frame.points(X), n_jobs))

    def embed_mode(self, X: Any, n_jobs: int | None) -> Array:
        """Latent points (m, q) of rows, by the mode of p(z | x)."""
        mean = smooth_part(self.backward)
        found = conditional_mode(mean, self.frame.points(X), self.latent_density.bandwidths, n_jobs)
        return self.latent_frame.outside(found)

    def reconstruct(self, Z: Array, n_jobs: int | None, columns: Array | None = None) -> Array:
        """Rows (m, d) at latent points, by the conditional mean; (m, c) in some ``columns``."""
        if self.linear is not None:
            rows, every = self.linear.reconstruct(Z, n_jobs), slice(None) if columns is None else columns
            if isinstance(self.frame, TruncatedFrame):
                reduction = self.frame.reduction
                return (reduction if columns is None else reduction.of_columns(columns)).rows(rows)
            return np.asarray(rows[:, every])
        return outside_in_columns(self.frame, self._way_back[0](self.latent_frame.inside(Z), n_jobs), columns)

    def reconstruct_mode(self, Z: Array, n_jobs: int | None) -> Array:
        """Rows (m, d) at latent points, by the mode of p(x | z)."""
        forward, density = self._way_back
        found = conditional_mode(forward, self.latent_frame.inside(Z), density.bandwidths, n_jobs)
        return self.frame.outside(found)

    def project(self, X: Any, n_jobs: int | None) -> Array:
        """Rows to latent points and back (m, d), inside the frame."""
        if self.linear is not None:
            return self.frame.inside(self.linear.reconstruct(self.linear.embed(X, n_jobs), n_jobs))
        if self.projection is not None:
            return self._way_back[0](self.latent_frame.inside(self.projection.embed(X, n_jobs)), n_jobs)
        return self._way_back[0](self.backward(self.frame.points(X), n_jobs), n_jobs)

    def variance(self, Z: Array, n_jobs: int | None) -> Array:
        """Variance of each feature (m, d) at latent points: of the rows around the mean, and of the data kernel."""
        Z = self.latent_frame.inside(Z)
        forward, density = self._way_back
        own = forward.weights.average(Z, density.kernel_variances[:, None], n_jobs)
        return self.frame.outside_variance(forward.variance(Z, n_jobs) + own)

    def log_density(self, X: Array, n_jobs: int | None) -> Array:
        """Log-density (m,) of rows."""
        return framed_log_density(self._way_back[1], self.frame, X, n_jobs)

    def latent_log_density(self, Z: Array, n_jobs: int | None) -> Array:
        """Log-density (m,) of latent points."""
        return framed_log_density(self.latent_density, self.latent_frame, Z, n_jobs)

    def sample(self, n_samples: int, rng: np.random.Generator) -> Array:
        """Rows (n_samples, d) drawn from the density of the data."""
        return self.frame.outside(self._way_back[1].sample(n_samples, rng))

    @property
    def _way_back(self) -> tuple[KernelMap, ParzenDensity]:
        if self.forward is None or self.density is None:  # estimators offer none of these methods then
            raise ValueError("these maps have no inverse map to the data")
        return self.forward, self.density


def framed_log_density(density: ParzenDensity | LocalDensity, frame: AnyFrame, X: Array, n_jobs: int | None) -> Array:
    """Log-density (m,) of rows (m, d) in their own units, by a density inside the frame."""
    logs = density.log_density(frame.inside(X), n_jobs)
    return np.asarray(logs - X.shape[1] * np.log(frame.scale))


def kernel_maps(
    frame: AnyFrame,
    points: Array,
    Z: Array,
    kernel: DataKernel,
    latent_kernel: str = "gaussian",
    *,
    n_jobs: int | None,
) -> TwoWayMaps:
    """Maps by the kernels of the fit.

    Parameters
    ----------
    frame : AnyFrame
        Of the data.
    points : array of shape (n, d)
        The rows, inside the frame.
    Z : array of shape (n, q)
        Their latent points, in units of the latent kernel; equal rows have one place.
    kernel : DataKernel
    latent_kernel : str
        Name of its profile.
    n_jobs : int or None
        Threads.
    """
    weights: AdaptiveWeights | FixedWeights
    if kernel.lists is not None:
        weights = adaptive_weights(points, Z, kernel.lists)
    else:
        weights = FixedWeights(points, float(kernel.bandwidth))
    return TwoWayMaps(
        frame,
        Frame(np.zeros(Z.shape[1]), 1.0),
        interpolate(KernelMap(weights, Z), n_jobs=n_jobs),
        ParzenDensity(Z, np.ones(len(Z)), latent_kernel),
        KernelMap(FixedWeights(Z, 1.0, latent_kernel), points),
        kernel_density(points, kernel.bandwidth),
    )


def adaptive_maps(frame: AnyFrame, points: Array, Z: Array, *, n_jobs: int | None) -> TwoWayMaps:
    """Maps of an embedding ``Z`` (n, q) of ``points`` (n, d), however it was made.

    Equal rows that ``Z`` puts in different places are mapped to their mean.
    """
    latent_frame = Frame.of(Z)
    latent = latent_frame.points(Z)
    near, near_latent = (nearest(rows, k=min(LISTED, len(Z) - 1), n_jobs=n_jobs) for rows in (points, latent))
    one_place = group_means(latent, equal_row_groups(points))
    return TwoWayMaps(
        frame,
        latent_frame,
        interpolate(adaptive_map(points, one_place, lists=near.index), n_jobs=n_jobs),
        neighbourhood_density(latent, near_latent.distance),
        adaptive_map(latent, points, lists=near_latent.index),
        neighbourhood_density(points, near.distance),
    )
