"""Any embedding, made two-way: kernel maps, densities and samples on a ready (X, Z).

Given data X (n, d) and any embedding Z (n, q) of it, by whatever method:

    backward  z(x) = Σ_j w_j(x) z_j         forward  x(z) = Σ_j w_j(z) x_j

with adaptive weights (``maps.weights``) whose perplexity is chosen for each map by leave-one-out error. Linear methods
of scikit-learn have exact maps of their own, which are used instead, and so has the backward direction of kernel PCA
and Isomap (``_own_maps``).
Cost: O(n² (d + q)) time for the neighbours, O(n) memory.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, clone
from sklearn.decomposition import PCA
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.small_data import warn_if_small
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_choice, check_rows, checked_array, validated
from sidelight.maps.frames import Frame
from sidelight.maps.kernel_projection import KernelProjection
from sidelight.maps.linear import LinearMaps
from sidelight.maps.truncated import TruncatedFrame, truncated_basis
from sidelight.maps.two_way import LISTED, TwoWayMaps, adaptive_maps
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.neighbours.equal_rows import equal_row_groups, group_means

from ._own_maps import own_maps, own_projection

__all__ = ["TwoWayEmbedding"]


class TwoWayEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMixin, Estimator):
    """Add maps for new rows, an inverse map, densities and samples to any embedding.

    The maps are kernel regressions [1]_ [2]_ between the data and its embedding, as those of a kernel information
    embedding [3]_, with a bandwidth for each neighbourhood.

    Parameters
    ----------
    estimator : estimator or None, default=None
        Any estimator with ``fit_transform`` (UMAP, t-SNE, Isomap, ...); None: PCA to two dimensions. It is cloned. Not
        needed if an ``embedding`` is passed to ``fit``.
    maps : {"own", "kernel"}, default="own"
        "own": ``transform``, ``inverse_transform``, ``denoise`` and ``score`` use the maps of the estimator itself if
        it is one of scikit-learn's linear methods (PCA, IncrementalPCA, FactorAnalysis, FastICA, TruncatedSVD), and
        kernel regressions otherwise; for KernelPCA and Isomap (Euclidean, up to 2,000 rows), ``transform`` is their own
        and ``inverse_transform`` a kernel regression. "kernel": kernel regressions in any case.
    random_state : int, RandomState or None, default=None
        For ``sample``. The estimator keeps its own. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads of the maps; None: all. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
    estimator_ : the fitted estimator (absent after ``fit(embedding=...)`` and after ``sidelight.load``)
    estimator_description_ : str
        Class and parameters of the estimator, as text.
    linear_ : LinearMaps
        The maps of a linear estimator, as arrays (absent if the maps are kernel regressions).
    projection_ : KernelProjection
        The map of KernelPCA or Isomap from rows to latent points, as arrays (absent for all others).
    n_features_in_ : int

    See Also
    --------
    KernelInformationEmbedding : an embedding whose own kernels make the maps.

    Notes
    -----
    ``transform`` uses the kernel map even if another nonlinear estimator has a ``transform`` of its own: it embeds row
    by row, and a model gives the same results before and after saving (the maps are saved, never the estimator). The
    maps of linear methods are a mean and two matrices, those of KernelPCA and Isomap the rows and eigenvectors of their
    kernel, which are saved as such.

    The estimator runs with one BLAS and OpenMP thread, so that its result does not depend on their number; to use all
    of them, fit it yourself and pass ``embedding=``.

    References
    ----------
    .. [1] E. A. Nadaraya, "On estimating regression", Theory of Probability and its Applications 9, 141-142, 1964.
    .. [2] G. S. Watson, "Smooth regression analysis", Sankhya A 26, 359-372, 1964.
    .. [3] R. Memisevic, "Non-linear latent factor models for revealing structure in high-dimensional data", PhD thesis,
       University of Toronto, 2007, section 3.1.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.manifold import Isomap
    >>> from sidelight import TwoWayEmbedding
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> model = TwoWayEmbedding(Isomap()).fit(X)
    >>> model.inverse_transform(model.embedding_[:3]).shape
    (3, 5)
    """

    _capabilities = TWO_WAY

    linear_: LinearMaps
    projection_: KernelProjection

    def __init__(
        self,
        estimator: object = None,
        *,
        maps: str = "own",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.maps = maps
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None, *, embedding: object = None) -> TwoWayEmbedding:
        """Embed with the estimator, or use a given embedding, and fit the maps in both directions.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            Sparse rows are reduced to 50 principal coordinates without a dense copy, and passed to the estimator; the
            maps take and return all d columns.
        y : array or None, default=None
            Passed to the estimator.
        embedding : array of shape (n, q) or None, default=None
            Latent points of the rows, by any method; None: computed by the estimator. Equal rows get the mean of their
            points.

        Returns
        -------
        self
        """
        check_choice(self, "maps", self.maps, ("own", "kernel"))
        X = validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2, accept_sparse="csr")
        reduction = truncated_basis(X, n_jobs=self.n_jobs) if issparse(X) else None
        if reduction is not None:
            X = reduction.scores(X).astype(X.dtype, copy=False)
            warn_if_small(self, X)
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        frame = Frame.of(X)
        estimator = None
        if embedding is None:
            estimator, embedding = self._embedded(X, y)
        # t-SNE, for one, places equal rows apart; a map from rows to places has one place for them
        Z = group_means(self._checked_embedding(embedding, len(X)), equal_row_groups(X))
        maps = adaptive_maps(frame, frame.points(X), Z, n_jobs=self.n_jobs)
        if reduction is not None:
            maps = replace(maps, frame=TruncatedFrame(frame, reduction))
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype, copy=False)))
        self.estimator_description_ = "a ready embedding" if estimator is None else _describe(estimator)
        if estimator is not None:
            self.estimator_ = estimator
        linear = own_maps(estimator) if self.maps == "own" else None
        if linear is not None:
            self.linear_ = linear
        projection = own_projection(estimator) if self.maps == "own" else None
        if projection is not None:
            self.projection_ = projection
        return self

    def fit_transform(self, X: Array, y: object = None, *, embedding: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y, embedding=embedding).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of fitting the maps for n rows and d columns, without the estimator."""
        return Cost(int(8 * n * (4 * d + 4 * LISTED) + 2**26), 0.1 + n * (2e-4 + 1.6e-6 * d) + 1e-11 * n * n * d)

    def _maps(self) -> TwoWayMaps:
        found = super()._maps()
        if hasattr(self, "projection_"):
            return replace(found, projection=self.projection_)
        return replace(found, linear=self.linear_) if hasattr(self, "linear_") else found

    def _embedded(self, X: Array, y: object) -> tuple[BaseEstimator, object]:
        """A fitted clone of the estimator, and its embedding."""
        chosen = PCA(n_components=min(2, *X.shape)) if self.estimator is None else self.estimator
        if not hasattr(chosen, "fit_transform"):
            rule = "has no fit_transform (a loaded model has only the description of its estimator)"
            raise TypeError(error_message(self, "estimator", chosen, rule, "Give an estimator, or fit(X, embedding=Z)"))
        estimator = clone(chosen)
        # our PCA also computes variances, which are not used here: they overflow, or their shares are 0 / 0
        with np.errstate(over="ignore", invalid="ignore") if self.estimator is None else nullcontext():
            return estimator, estimator.fit_transform(X, y)

    def _checked_embedding(self, embedding: object, n: int) -> Array:
        Z = np.asarray(checked_array(self, embedding, dtype=[np.float64, np.float32], input_name="embedding"))
        check_rows(self, "embedding", Z, n)
        return Z

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _describe(estimator: object) -> str:
    """Class and parameters of an estimator, as text."""
    kind = type(estimator)
    return f"{kind.__module__}.{kind.__qualname__}: {estimator!r}"
