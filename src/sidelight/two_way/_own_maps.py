"""The own maps of fitted linear methods of scikit-learn, as data: arrays instead of the estimator.

    PCA, IncrementalPCA   A = Vᵀ                     B = V             V (q, d) components; whitened: A = Vᵀ/σ, B = σ V
    FactorAnalysis        A = Ψ⁻¹Wᵀ (I + WΨ⁻¹Wᵀ)⁻¹   B = W             W (q, d) loadings, Ψ noise variances
    FastICA               A = Uᵀ                     B = Mᵀ            U (q, d) unmixing, M (d, q) mixing matrix
    TruncatedSVD          A = Vᵀ                     B = V, without centring

with z = (x - μ) A and x = z B + μ (``maps.linear``). A is what ``transform`` of the estimator computes, B what its
``inverse_transform`` does; FactorAnalysis has none, and B is the mean of its own model p(x | z).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA, FactorAnalysis, FastICA, IncrementalPCA, TruncatedSVD

from sidelight.maps.linear import LinearMaps

__all__ = ["own_maps"]


def own_maps(estimator: object) -> LinearMaps | None:
    """The maps of a fitted linear method; None for every other estimator.

    A subclass may compute something else, so only the classes themselves are known.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.manifold import Isomap
    >>> X = np.random.default_rng(0).normal(size=(30, 4))
    >>> own_maps(PCA(2).fit(X)).to_data.shape
    (2, 4)
    >>> own_maps(Isomap().fit(X)) is None
    True
    """
    builder = _BUILDERS.get(type(estimator))
    return None if builder is None else builder(estimator)


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
