"""The spectral smoother embedding: latent points that averaging over data neighbours moves least.

    minimise |Z - B Z|²,  ZᵀZ = n I       B (n, n) the kernel matrix of the data, rows summing to 1   (S0 2.3.2)

is solved by the eigenvectors of ``(I - B)ᵀ(I - B)`` with the smallest eigenvalues, without the constant one. B is the
backward map at the training rows, so the embedding comes with that map. The forward map is fitted afterwards: its one
parameter is the scale of Z relative to a latent kernel of bandwidth 1, chosen by leave-one-out error (S0 3.1.5).
"""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from sidelight.base.capabilities import TWO_WAY
from sidelight.base.cost import Cost, check_cost
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState
from sidelight.base.validation import check_choice, check_integer, check_number, relative_bandwidth, validated
from sidelight.base.warnings import warn
from sidelight.kernels.bandwidths import maximise_over_scale
from sidelight.kernels.data_kernel import DataKernel, fixed_kernel, perplexity_kernel
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.maps.frames import Frame
from sidelight.maps.mean_map_mixin import MeanMapMixin
from sidelight.maps.two_way import kernel_maps
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import neighbour_seconds
from sidelight.objectives.reconstruction import LeaveOneOutReconstruction
from sidelight.solvers.eigen import graph_spectrum
from sidelight.solvers.smoother import smoother_vectors

from ._starts import padded

__all__ = ["SmootherEmbedding"]


_MODES = 64  # smooth directions the eigenproblem is preconditioned with


class SmootherEmbedding(ClassNamePrefixFeaturesOutMixin, MeanMapMixin, Estimator):
    """Embed rows by an eigenproblem (the smoothest functions on the data graph), with maps both ways.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    bandwidth : "perplexity", "loo" or float, default="perplexity"
        Width of the data kernel. "perplexity": one bandwidth per row, set so that the row has ``perplexity`` effective
        neighbours. "loo": one bandwidth for all rows, by leave-one-out likelihood. A number: that bandwidth, in units
        of squared distance.
    perplexity : float, default=30
        With ``bandwidth="perplexity"``: effective neighbours of a row (at most a third of the rows).
    n_neighbors : int or None, default=15
        Neighbours in the mutual nearest-neighbour graph along which a perplexity kernel measures distances (geodesic
        distances). None: straight-line distances.
    random_state : int, RandomState or None, default=None
        For ``sample``; nothing else is random. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        Columns of equal spread, smoothest first.
    eigenvalues_ : array of shape (q,)
        ``|z - B z|² / |z|²`` of each column: how much one smoothing step changes it.
    scale_ : float
        Standard deviation of the columns, chosen for the forward map.
    reconstruction_error_ : float
        Leave-one-out error of the forward map at the training rows, as a share of the variance; a row that is 8
        units or more from all others counts as reconstructed by the mean.
    bandwidth_ : float or array of shape (n,)
        Bandwidth of the data kernel, in squared units of the data.
    n_features_in_ : int

    See Also
    --------
    UnsupervisedKernelRegression : Learns the forward map, by iteration.
    KernelInformationEmbedding : Maps both ways that factor out what is known.
    sklearn.decomposition.PCA : A linear base line.

    References
    ----------
    .. [1] R. Memisevic. Non-linear latent factor models for revealing structure in high-dimensional data. PhD thesis,
           University of Toronto, 2007, section 2.3.2.

    Examples
    --------
    >>> from sidelight import SmootherEmbedding
    >>> from sidelight.datasets import s_curve
    >>> data = s_curve(200, random_state=0)
    >>> model = SmootherEmbedding(n_components=2).fit(data.X)
    >>> model.embedding_.shape, model.inverse_transform(model.transform(data.X)).shape
    ((200, 2), (200, 3))
    """

    _capabilities = TWO_WAY

    def __init__(
        self,
        n_components: int = 2,
        *,
        bandwidth: str | float = "perplexity",
        perplexity: float = 30.0,
        n_neighbors: int | None = 15,
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.bandwidth = bandwidth
        self.perplexity = perplexity
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> SmootherEmbedding:
        """Embed the rows of ``X`` (n, d) and fit the maps both ways; ``y`` is ignored."""
        del y
        self._check_parameters()
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        frame = Frame.of(X)
        points = frame.points(X)
        kernel = self._data_kernel(points, frame.scale)
        eigenvalues, shape = self._smooth_vectors(kernel, len(X))
        reconstruction = LeaveOneOutReconstruction(points, profile("gaussian"), n_jobs=self.n_jobs)
        scale = maximise_over_scale(lambda scale: -reconstruction.value(scale * shape), 0.1, 3.0 * len(X))
        Z = group_means(scale * shape, equal_row_groups(points))
        maps = kernel_maps(frame, points, Z, kernel, n_jobs=self.n_jobs)
        self.eigenvalues_, self.scale_ = eigenvalues, scale
        self.reconstruction_error_ = reconstruction.value(scale * shape)
        self.bandwidth_ = kernel.bandwidth * frame.scale**2
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype)))
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, before fitting."""
        dense = self.bandwidth != "perplexity"
        pairs, stored = n * n / 2, 4.5 * self.perplexity * n
        size = 4 * pairs * (4 if dense else 1) + 8 * n * (4 * d + 3 * _MODES) + 40 * stored + 2**26
        errors = 25 * pairs * (6e-9 + 1e-10 * d)
        products = 300 * (2e-9 * pairs if dense else 4e-9 * stored) * (self.n_components + 4)
        return Cost(int(size), float(0.1 + errors + products + neighbour_seconds(n, d) + 5e-4 * n))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        if not isinstance(self.bandwidth, str):
            check_number(self, "bandwidth", self.bandwidth, 0.0)
        else:
            check_choice(self, "bandwidth", self.bandwidth, ("perplexity", "loo"))
        check_number(self, "perplexity", self.perplexity, 1.0)
        if self.n_neighbors is not None:
            check_integer(self, "n_neighbors", self.n_neighbors, 1)

    def _data_kernel(self, points: Array, scale: float) -> DataKernel:
        if self.bandwidth == "perplexity":
            perplexity = float(max(1.0 + 1e-6, min(self.perplexity, (len(points) - 1) / 3)))
            return perplexity_kernel(points, perplexity, self.n_neighbors, n_jobs=self.n_jobs)
        h = None
        if not isinstance(self.bandwidth, str):
            h = relative_bandwidth(self, "bandwidth", self.bandwidth, scale)
        return fixed_kernel(points, h, profile("gaussian"), n_jobs=self.n_jobs)

    def _smooth_vectors(self, kernel: DataKernel, n: int) -> tuple[Array, Array]:
        """Eigenvalues, and eigenvectors (n, q) of unit standard deviation, padded with zero columns if fewer exist."""
        K = kernel.matrix
        if isinstance(K, SymmetricTiles):  # products in single precision would drown the smallest eigenvalues
            K = SymmetricTiles(n, {key: tile.astype(np.float64) for key, tile in K.tiles.items()})
        found = smoother_vectors(K, self.n_components, graph_spectrum(K, _MODES))
        if not found.converged:
            rule = "makes an eigenproblem that did not converge"
            message = error_message(self, "bandwidth", self.bandwidth, rule, "Give a wider kernel")
            warn(message, ConvergenceWarning)
        return found.values, padded(np.sqrt(n) * found.vectors, n, self.n_components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
