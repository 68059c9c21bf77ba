"""The own maps of fitted methods of scikit-learn, as data: arrays instead of the estimator.

Linear methods have maps both ways:

    PCA, IncrementalPCA   A = Vᵀ                     B = V             V (q, d) components; whitened: A = Vᵀ/σ, B = σ V
    FactorAnalysis        A = Ψ⁻¹Wᵀ (I + WΨ⁻¹Wᵀ)⁻¹   B = W             W (q, d) loadings, Ψ noise variances
    FastICA               A = Uᵀ                     B = Mᵀ            U (q, d) unmixing, M (d, q) mixing matrix
    TruncatedSVD          A = Vᵀ                     B = V, without centring

with z = (x - μ) A and x = z B + μ (``maps.linear``). A is what ``transform`` of the estimator computes, B what its
``inverse_transform`` does; FactorAnalysis has none, and B is the mean of its own model p(x | z).

KernelPCA and Isomap have a map from rows to latent points (``maps.kernel_projection``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, KernelPCA, TruncatedSVD
from sklearn.manifold import Isomap

from sidelight.base.types import Array
from sidelight.maps.kernel_projection import KERNELS, KernelProjection
from sidelight.maps.linear import LinearMaps

__all__ = ["own_maps", "own_projection"]

MOST_PATHS = 2000
"""Rows of an Isomap up to which the paths between all of them (32 MB) are kept."""


def own_maps(estimator: object) -> LinearMaps | None:
    """The maps of a fitted linear method; None for every other estimator.

    A subclass may compute something else, so only the classes themselves are known.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> own_maps(PCA(2).fit(X)).to_data.shape
    (2, 4)
    >>> own_maps(Isomap().fit(X)) is None
    True
    """
    builder = _BUILDERS.get(type(estimator))
    return None if builder is None else builder(estimator)


def own_projection(estimator: object) -> KernelProjection | None:
    """The map from rows to latent points of a fitted KernelPCA or Isomap; None for every other estimator.

    None also for kernels that are functions or precomputed, other distances than Euclidean, neighbours within a radius,
    and an Isomap of more than 2,000 rows, whose paths would make a large file.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> own_projection(KernelPCA(2, kernel="rbf").fit(X)).vectors.shape
    (30, 2)
    """
    if isinstance(estimator, KernelPCA) and type(estimator) is KernelPCA:
        return _of_kernel_pca(estimator) if estimator.kernel in KERNELS else None
    if isinstance(estimator, Isomap) and type(estimator) is Isomap:
        return _of_isomap(estimator) if _has_plain_paths(estimator) else None
    return None


def _of_kernel_pca(fitted: KernelPCA) -> KernelProjection:
    return KernelProjection(
        np.array(fitted.X_fit_, dtype=np.float64),
        *_centred_eigenvectors(fitted),
        kernel=fitted.kernel,
        gamma=float(getattr(fitted, "gamma_", fitted.gamma or 1.0 / fitted.n_features_in_)),
        degree=float(fitted.degree),
        coef0=float(fitted.coef0),
    )


def _of_isomap(fitted: Isomap) -> KernelProjection | None:
    paths = np.array(fitted.dist_matrix_, dtype=np.float64)
    if len(paths) > MOST_PATHS or not np.isfinite(paths).all():
        return None
    return KernelProjection(
        np.array(fitted.nbrs_._fit_X, dtype=np.float64),
        *_centred_eigenvectors(fitted.kernel_pca_),
        kernel="paths",
        paths=paths,
        n_neighbors=int(fitted.n_neighbors),
    )


def _has_plain_paths(isomap: Isomap) -> bool:
    euclidean = isomap.metric == "euclidean" or (isomap.metric == "minkowski" and isomap.p == 2)
    return euclidean and not isomap.metric_params and isomap.n_neighbors is not None


def _centred_eigenvectors(fitted: KernelPCA) -> tuple[Array, Array, float]:
    """Eigenvectors (n, q) over the roots of their eigenvalues, and the column means (n,) and mean of the kernel."""
    values = np.asarray(fitted.eigenvalues_, dtype=np.float64)
    inverse = np.divide(1.0, np.sqrt(values), out=np.zeros_like(values), where=values > 0)
    centre = fitted._centerer
    vectors = np.asarray(fitted.eigenvectors_, dtype=np.float64) * inverse
    return vectors, np.array(centre.K_fit_rows_, dtype=np.float64), float(centre.K_fit_all_)


def _maps(mean: object, to_latent: object, to_data: object) -> LinearMaps:
    return LinearMaps(*(np.array(part, dtype=np.float64) for part in (mean, to_latent, to_data)))


def _of_pca(fitted: PCA | IncrementalPCA) -> LinearMaps:
    V = np.asarray(fitted.components_, dtype=np.float64)
    if not fitted.whiten:
        return _maps(fitted.mean_, V.T, V)
    spread = np.sqrt(fitted.explained_variance_)
    # scikit-learn divides by no less than the precision of the data, and multiplies by the spread itself
    divisor = np.maximum(spread, np.finfo(spread.dtype).eps)
    return _maps(fitted.mean_, V.T / divisor, V * spread[:, None])


def _of_factor_analysis(fitted: FactorAnalysis) -> LinearMaps:
    W = np.asarray(fitted.components_, dtype=np.float64)
    scaled = W / fitted.noise_variance_
    return _maps(fitted.mean_, np.linalg.solve(np.eye(len(W)) + scaled @ W.T, scaled).T, W)


def _of_ica(fitted: FastICA) -> LinearMaps:
    mean = fitted.mean_ if fitted.whiten else np.zeros(fitted.components_.shape[1])
    return _maps(mean, fitted.components_.T, fitted.mixing_.T)


def _of_svd(fitted: TruncatedSVD) -> LinearMaps:
    V = fitted.components_
    return _maps(np.zeros(V.shape[1]), V.T, V)


_BUILDERS: dict[type, Callable[[BaseEstimator], LinearMaps]] = {
    PCA: _of_pca,
    IncrementalPCA: _of_pca,
    FactorAnalysis: _of_factor_analysis,
    FastICA: _of_ica,
    TruncatedSVD: _of_svd,
}
