"""A fitted linear-Gaussian model in the units of the data, as one value: latent points, missing entries, densities."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.tiles import by_block
from sidelight.objectives.gaussian import Gaussian, gaussian_entries
from sidelight.objectives.linear_gaussian import (
    LinearGaussian,
    entries,
    entry_variance,
    latent_mean,
    log_density,
    posterior,
    reconstruction,
)

from .sparse_gaussian import sparse_latent_means, sparse_log_density
from .truncated import is_sparse

__all__ = ["LinearGaussianMaps"]

Array = npt.NDArray[Any]
_BLOCK = 2048  # rows whose patterns of missing entries are found together


@dataclass(frozen=True)
class LinearGaussianMaps:
    """Maps, imputation and densities. Each answer is computed row by row, in the type of the rows.

    Rows of ``embed``, ``covariance``, ``project`` and ``log_density`` may be CSR arrays, without missing entries.

    Parameters
    ----------
    model : LinearGaussian
        Of rows in the frame ``(x - centre) / scale``.
    gaussian : Gaussian or None
        A Gaussian of full covariance in the same frame, by which missing entries are imputed; None: by the model.
    centre, scale : arrays of shape (d,)
    """

    model: LinearGaussian
    gaussian: Gaussian | None
    centre: Array
    scale: Array

    def embed(self, X: Array, n_jobs: int | None) -> Array:
        """Posterior means (m, q) of the latent points of rows, from their observed entries."""
        if is_sparse(X):
            return sparse_latent_means(self.model, X, self.centre, self.scale, n_jobs)
        return by_block(lambda part: latent_mean(self.model, self.inside(part)), X, n_jobs, block=_BLOCK)

    def covariance(self, X: Array) -> Array:
        """Posterior covariances (m, q, q) of the latent points of rows."""
        rows = np.zeros((1, len(self.centre))) if is_sparse(X) else self.inside(X)
        q = self.model.n_components
        return np.array(np.broadcast_to(posterior(self.model, rows)[1], (X.shape[0], q, q)), dtype=X.dtype)

    def reconstruct(self, Z: Array, columns: Array | None = None) -> Array:
        """Rows (m, d) at latent points, E[x | z]; (m, c) in some ``columns``."""
        if columns is not None:
            model = LinearGaussian(self.model.mean[columns], self.model.W[columns], self.model.noise)
            return LinearGaussianMaps(model, None, self.centre[columns], self.scale[columns]).reconstruct(Z)
        return np.asarray(self.outside(reconstruction(self.model, Z)).astype(Z.dtype, copy=False))

    def project(self, X: Array, n_jobs: int | None) -> Array:
        """Rows to latent points and back (m, d)."""
        if is_sparse(X):
            return self.reconstruct(self.embed(X, n_jobs))
        return by_block(lambda part: self._projected(self.inside(part)), X, n_jobs, block=_BLOCK)

    def complete(self, X: Array, n_jobs: int | None) -> Array:
        """Rows (m, d) with missing entries (NaN) replaced by their mean given the observed ones."""
        filled = by_block(lambda part: self._completed(self.inside(part)), X, n_jobs, block=_BLOCK)
        return np.asarray(np.where(np.isnan(X), filled, X))

    def missing_variance(self, X: Array, n_jobs: int | None) -> Array:
        """Variance (m, d) of each missing entry given the observed ones of its row; 0 where an entry is observed."""
        units = self.scale**2
        found = by_block(lambda part: self._entry_variance(self.inside(part)) * units, X, n_jobs, block=_BLOCK)
        return np.asarray(np.where(np.isnan(X), found, np.zeros((), dtype=X.dtype)))

    def missing_entries(self, X: Array, n_jobs: int | None) -> tuple[Array, Array]:
        """:meth:`complete` and :meth:`missing_variance` together, in less time than both."""

        def both(part: Array) -> Array:
            inside = self.inside(part)
            means, variances = self._entries(inside)
            return np.stack([self.outside(means), variances * self.scale**2], axis=1)

        found, gone = by_block(both, X, n_jobs, block=_BLOCK), np.isnan(X)
        return np.where(gone, found[:, 0], X), np.where(gone, found[:, 1], np.zeros((), dtype=X.dtype))

    def noise_variance(self) -> Array:
        """Variance of the noise in each column (d,)."""
        return np.asarray(self.model.noise * self.scale**2)

    def log_density(self, X: Array, n_jobs: int | None) -> Array:
        """Log density (m,) of the observed entries of rows."""
        logs = np.log(self.scale)
        certain = replace(self.model, spread=None)
        if is_sparse(X):
            return sparse_log_density(certain, X, self.centre, self.scale, n_jobs)

        def scored(part: Array) -> Array:
            inside = self.inside(part)
            return np.asarray(log_density(certain, inside) - ~np.isnan(inside) @ logs)

        return by_block(scored, X, n_jobs, block=_BLOCK)

    def sample(self, n_samples: int, rng: np.random.Generator) -> Array:
        """Rows (n_samples, d) drawn from the density."""
        Z = rng.normal(size=(n_samples, self.model.n_components))
        noise = np.sqrt(self.model.noise) * rng.normal(size=(n_samples, len(self.model.mean)))
        return self.outside(reconstruction(self.model, Z) + noise)

    def inside(self, X: Array) -> Array:
        """Data to frame."""
        return np.asarray((np.asarray(X, dtype=np.float64) - self.centre) / self.scale)

    def outside(self, Y: Array) -> Array:
        """Frame to data."""
        return np.asarray(Y * self.scale + self.centre)

    def _projected(self, inside: Array) -> Array:
        return self.outside(reconstruction(self.model, latent_mean(self.model, inside)))

    def _entries(self, inside: Array) -> tuple[Array, Array]:
        """Means and variances (m, d) of missing entries, inside the frame."""
        return entries(self.model, inside) if self.gaussian is None else gaussian_entries(self.gaussian, inside)

    def _completed(self, inside: Array) -> Array:
        """Means of all entries of rows (m, d), given the observed ones."""
        if self.gaussian is None:
            return self._projected(inside)
        return self.outside(gaussian_entries(self.gaussian, inside)[0])

    def _entry_variance(self, inside: Array) -> Array:
        """Variance of missing entries, inside the frame (m, d)."""
        if self.gaussian is None:
            return entry_variance(self.model, inside)
        return gaussian_entries(self.gaussian, inside)[1]
