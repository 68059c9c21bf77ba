"""Hybrid embedding: distances and local structure in one eigenproblem (S4 2.2).

    minimise over Y (n, q)    (1-α) |s M - Y Yᵀ|² + α tr(Yᵀ L Y)

is solved by the top q eigenpairs (μ, v) of ``(1-α) s M - (α/2) L``, with ``y = v √(μ / (1-α))``, in units of M after
division by √s. M is the Gram matrix of the distances (``-½ H D² H``), L the local structure (a graph Laplacian, or the
matrix of LLE).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidelight.base.alias import formerly
from sidelight.base.capabilities import TWO_WAY
from sidelight.base.cost import Cost, check_cost, refuse_if_too_large
from sidelight.base.estimator import Estimator
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array, RandomState, SparseMatrix
from sidelight.base.validation import check_choice, check_integer, check_number, relative_bandwidth, validated
from sidelight.base.warnings import warn
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import Correction
from sidelight.maps.nystrom import NystromMap
from sidelight.maps.smooth_map import SmoothMap
from sidelight.maps.two_way import LISTED
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import Neighbours, nearest, nearest_precomputed, neighbour_seconds
from sidelight.neighbours.sparse_distances import zero_distance_groups
from sidelight.objectives.spectral import neighbour_graph, padded_lists, radius_graph

from ._hybrid_distances import DataView, check_square, distance_kind, hybrid_distances
from ._hybrid_maps import NystromPlaces, hybrid_maps, nystrom_map, nystrom_places, places_jacobian
from ._hybrid_problem import Hybrid, locality_matrix, solve_hybrid

__all__ = ["HybridEmbedding"]


_EXACT, _LANDMARKS = 2000, 256  # rows up to which all geodesic distances are computed, and landmarks beyond


@formerly("distance", "metric")
class HybridEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMixin, Estimator):
    """Embed rows by one eigenproblem that interpolates between MDS or Isomap and Laplacian eigenmaps or LLE.

    The combination of both in one eigenproblem is that of [1]_, chapter 2; its ends are Isomap [2]_ (or classical
    scaling), Laplacian eigenmaps [3]_ and locally linear embedding [4]_.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    metric : {"geodesic", "euclidean", "precomputed"}, array of shape (n, n), or object, default="geodesic"
        The distances to preserve. "geodesic": shortest paths along the neighbourhood graph. "euclidean": straight-line
        distances. "precomputed": ``X`` is a matrix of distances. Or another matrix of distances between the rows of
        ``X``; a fitted transformer (distances between its outputs: a learned metric); or a callable ``X -> (n, n)``
        such as :class:`TangentDistance` and :class:`ReconstructionDistance`. The former name ``distance`` is accepted.
    locality : {"laplacian", "lle"}, default="laplacian"
        The local structure to preserve: closeness of neighbours, or the weights with which neighbours reconstruct a
        row.
    alpha : float, default=0.5
        Weight of the local structure, from 0 (distances alone: MDS or Isomap) to 1 (local structure alone). 1 itself
        needs ``negative`` other than "clip".
    n_neighbors : int, default=12
        Neighbours in the graph and for the local structure.
    radius : float or None, default=None
        If set, neighbours are all rows within this distance, in units of the data, and ``n_neighbors`` is not used.
    graph : {"mutual", "union"}, default="mutual"
        Edges between rows that are both neighbours of each other, or between rows of which at least one is (with a
        ``radius`` there is no difference). Disconnected components are joined by their shortest links.
    heat : float or None, default=None
        Width of the Laplacian's weights ``exp(-d²/heat)``, in squared units of the data; None: every edge has weight 1.
    n_landmarks : int, "auto" or None, default="auto"
        Number of rows from which distances along a graph are computed; None: all. "auto": all up to 2,000 rows, else
        256.
    negative : {"auto", "clip", "shift"}, default="auto"
        Treatment of negative eigenvalues, which occur near α = 1 and with few rows. "clip": their columns are 0, the
        optimum of the objective. "shift": all eigenvalues are raised by ``(α/2) |L|``, to those of the kernel ``((1-α)
        s M + (α/2)(|L| I - L)) / (1 - α/2)``. "auto": shift if fewer than q eigenvalues are positive.
    random_state : int, RandomState or None, default=None
        For ``sample``; nothing else is random. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        In units of the distance.
    eigenvalues_ : array of shape (q,)
        Eigenvalues of ``(1-α) s M - (α/2) L``, divided by ``|L|``.
    scale_ : float
        The factor s of M in the objective (the scale of the data is ``frame_.scale``).
    n_features_in_ : int

    See Also
    --------
    TangentDistance : A distance that a small transformation does not change.
    ReconstructionDistance : A distance by how well neighbours reconstruct a row.
    sklearn.manifold.Isomap : Geodesic distances alone.
    sklearn.manifold.LocallyLinearEmbedding : Locality alone.

    Notes
    -----
    ``transform`` uses the Nyström formula for Euclidean and geodesic distances, kernel regression otherwise [5]_;
    ``inverse_transform`` is kernel regression.

    References
    ----------
    .. [1] A. Ghodsi, "Nonlinear dimensionality reduction with side information", PhD thesis, University of Waterloo,
       2005.
    .. [2] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for nonlinear dimensionality
       reduction", Science 290, 2319-2323, 2000.
    .. [3] M. Belkin and P. Niyogi, "Laplacian eigenmaps for dimensionality reduction and data representation", Neural
       Computation 15, 1373-1396, 2003.
    .. [4] S. T. Roweis and L. K. Saul, "Nonlinear dimensionality reduction by locally linear embedding", Science 290,
       2323-2326, 2000.
    .. [5] Y. Bengio, J.-F. Paiement, P. Vincent, O. Delalleau, N. Le Roux and M. Ouimet, "Out-of-sample extensions for
       LLE, Isomap, MDS, eigenmaps, and spectral clustering", Advances in Neural Information Processing Systems 16,
       2004.

    Examples
    --------
    >>> from sidelight import HybridEmbedding
    >>> from sidelight.datasets import swiss_roll
    >>> data = swiss_roll(300, random_state=0)
    >>> model = HybridEmbedding(locality="lle", alpha=0.5).fit(data.X)
    >>> model.embedding_.shape, model.transform(data.X[:5]).shape
    ((300, 2), (5, 2))
    """

    _capabilities = TWO_WAY.also("takes_distances")
    nystrom_: NystromMap | None
    correction_: Correction | None = None  # a default, because model files of version 0.1 lack it

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: object = "geodesic",
        locality: str = "laplacian",
        alpha: float = 0.5,
        n_neighbors: int = 12,
        radius: float | None = None,
        graph: str = "mutual",
        heat: float | None = None,
        n_landmarks: int | str | None = "auto",
        negative: str = "auto",
        random_state: RandomState = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.locality = locality
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph = graph
        self.heat = heat
        self.n_landmarks = n_landmarks
        self.negative = negative
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> HybridEmbedding:
        """Embed rows and fit the maps both ways.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n) of distances
        y : ignored

        Returns
        -------
        self
        """
        del y
        self._check_parameters()
        table, owner = X, type(self).__name__
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        if self._precomputed:
            check_square(owner, X)
        check_cost(self, self.estimate_cost(*X.shape), len(X))
        frame = Frame.of(X, "precomputed" if self._precomputed else "euclidean")
        points = frame.points(X)
        near = self._neighbours(points)
        edges, lists = self._graph(points, near, frame.scale)
        M, unit = hybrid_distances(
            owner, self.metric, DataView(X, table, points, frame), edges,
            n_landmarks=self._landmarks(len(X)), n_components=self.n_components, n_jobs=self.n_jobs,
        )  # fmt: skip
        heat = None if self.heat is None else relative_bandwidth(self, "heat", self.heat, frame.scale)
        L = locality_matrix(self.locality, points, lists, edges, heat, precomputed=self._precomputed)
        found = solve_hybrid(M.matrix, L, float(self.alpha), self.n_components)
        factor = self._factors(found) * unit
        Z = self._one_place(points, found.pairs.vectors * factor)
        maps = hybrid_maps(frame, points, Z, near, precomputed=self._precomputed, n_jobs=self.n_jobs)
        places = None
        if distance_kind(self.metric) in ("euclidean", "geodesic"):
            nystrom = nystrom_map(
                points, M, found, factor, edges, alpha=float(self.alpha), locality=self.locality, heat=heat,
                n_neighbors=min(self.n_neighbors, len(points) - 1) if self.radius is None else 0,
            )  # fmt: skip
            places = nystrom_places(nystrom, Z, self.n_jobs)
        self._keep_maps(maps, np.asarray(Z.astype(X.dtype)))
        self.scale_, self.eigenvalues_ = found.scale, found.pairs.values / (found.norm or 1.0)
        self.nystrom_, self.correction_ = (None, None) if places is None else (places.nystrom, places.correction)
        return self

    def fit_transform(self, X: Array, y: object = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    @one_blas_thread
    def transform(self, X: Array) -> Array:
        """Embed rows, each independently of the others: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows (for precomputed distances, distances to the n training rows).

        Returns
        -------
        Z : array of shape (m, q)
        """
        check_is_fitted(self)
        places = self._places()
        if places is None:
            return np.asarray(super().transform(X))
        X = self._checked(X)
        return np.asarray(places(self.frame_.points(X), self.n_jobs).astype(X.dtype, copy=False))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimate memory and time of a fit of n rows and d columns, before fitting."""
        kind, landmarks = distance_kind(self.metric), self._landmarks(n)
        whole = kind != "euclidean" and (landmarks is None or kind not in ("geodesic", "graph"))
        rows = 0 if kind == "euclidean" else n if whole else min(n, landmarks or n)
        size = 8 * n * (6 * d + 3 * LISTED + 12 * self.n_neighbors) + (32 if whole else 20) * rows * n + 2**26
        neighbours = neighbour_seconds(n, d)
        return Cost(int(size), float(0.1 + neighbours + 6e-7 * n * rows + 2e-4 * n))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        if isinstance(self.metric, str):
            check_choice(self, "metric", self.metric, ("geodesic", "euclidean", "precomputed"))
        elif distance_kind(self.metric) == "unknown":
            rule = "is not a name, a matrix, a transformer or a callable"
            raise ValueError(error_message(self, "metric", self.metric, rule, "Give one of them"))
        check_choice(self, "locality", self.locality, ("laplacian", "lle"))
        check_choice(self, "graph", self.graph, ("mutual", "union"))
        check_choice(self, "negative", self.negative, ("auto", "clip", "shift"))
        if self.alpha != 0 and not (self.negative != "clip" and self.alpha == 1):
            check_number(self, "alpha", self.alpha, 0.0, 1.0)
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
        if self.radius is not None:
            check_number(self, "radius", self.radius, 0.0)
        if self.heat is not None:
            check_number(self, "heat", self.heat, 0.0)
        if isinstance(self.n_landmarks, str):
            check_choice(self, "n_landmarks", self.n_landmarks, ("auto",))
        elif self.n_landmarks is not None:
            check_integer(self, "n_landmarks", self.n_landmarks, 2)

    @property
    def _precomputed(self) -> bool:
        return distance_kind(self.metric) == "precomputed"

    def _landmarks(self, n: int) -> int | None:
        if isinstance(self.n_landmarks, str):
            return None if n <= _EXACT else _LANDMARKS
        return self.n_landmarks

    def _neighbours(self, points: Array) -> Neighbours:
        """Neighbour lists, long enough for the graph and for the maps."""
        width = max(LISTED, self.n_neighbors)
        if self._precomputed:
            return nearest_precomputed(points, k=width, own=True)
        return nearest(points, k=width, n_jobs=self.n_jobs)

    def _graph(self, points: Array, wide: Neighbours, scale: float) -> tuple[SparseMatrix, Array]:
        """The neighbourhood graph with edge lengths, and neighbour lists (n, k) for LLE (padded with -1)."""
        if self.radius is not None:
            radius = float(self.radius) / scale
            refuse_if_too_large(self, _edge_cost(points, radius, precomputed=self._precomputed), len(points))
            edges = radius_graph(points, radius, precomputed=self._precomputed, n_jobs=self.n_jobs)
            return edges, padded_lists(edges)
        k = min(self.n_neighbors, len(points) - 1)
        near = Neighbours(wide.index[:, :k], wide.distance[:, :k])
        return neighbour_graph(points, near, kind=self.graph, precomputed=self._precomputed), near.index

    def _one_place(self, points: Array, columns: Array) -> Array:
        """Latent points (n, q): columns padded with 0, equal rows moved to their mean."""
        Z = np.zeros((len(points), self.n_components))
        Z[:, : columns.shape[1]] = columns
        return group_means(Z, zero_distance_groups(points) if self._precomputed else equal_row_groups(points))

    def _factors(self, found: Hybrid) -> Array:
        """Factor of each eigenvector (k,), in units of M, as ``negative`` says; warns if columns become 0."""
        values, alpha = found.pairs.values, float(self.alpha)
        if not found.pairs.converged:
            rule = "makes an eigenproblem that did not converge"
            message = error_message(
                self, "alpha", self.alpha, rule, "Take fewer components, or an alpha further from 1"
            )
            warn(message, ConvergenceWarning)
        positive = int((values > 1e-12 * (found.norm or 1.0)).sum())
        if self.negative == "shift" or (self.negative == "auto" and positive < len(values)):
            return np.sqrt(np.maximum(values + 0.5 * alpha * found.norm, 0.0) / (1 - 0.5 * alpha) / found.scale)
        if positive < min(found.n_positive, self.n_components):
            rule = f"leaves {positive} of {self.n_components} eigenvalues above 0, and the other columns at 0"
            message = error_message(self, "alpha", self.alpha, rule, 'Take a smaller alpha, or negative="auto"')
            warn(message, UserWarning)
        return np.sqrt(np.where(values > 1e-12 * (found.norm or 1.0), values, 0.0) / (1 - alpha) / found.scale)

    def _places(self) -> NystromPlaces | None:
        """The fitted Nyström map with its correction, or None for distances without a Nyström formula."""
        if self.nystrom_ is None:
            return None
        return NystromPlaces(self.nystrom_, self.correction_, self.embedding_.shape[1])

    def _has_data_space(self) -> bool:
        return not self._precomputed

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        plain, places = super()._smooth_map(given, n), self._places()
        if places is None:
            return plain
        frame, n_jobs = self.frame_, self.n_jobs

        def slope(C: Array, which: Array) -> Array:
            del which
            return places_jacobian(places, frame.points(C), n_jobs) / frame.scale

        return replace(plain, value=lambda C, which: places(frame.points(C), n_jobs), slope=slope)

    def _no_jacobian(self) -> str | None:
        return super()._no_jacobian() if vars(self).get("nystrom_") is None else None

    def _projected(self, X: Array) -> Array:
        places = self._places()
        if places is None:
            return super()._projected(X)
        Z = self.latent_frame_.inside(places(self.frame_.points(X), self.n_jobs))
        return np.asarray(self.forward_(Z, self.n_jobs))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._precomputed
        return tags


def _edge_cost(points: Array, radius: float, *, precomputed: bool) -> Cost:
    """Estimated cost of the graph of all pairs within a radius, from up to 256 rows."""
    rows = np.unique(np.linspace(0, len(points) - 1, 256).astype(np.int64))
    share = float(np.mean((points[rows] if precomputed else cdist(points[rows], points)) <= radius))
    edges = share * len(points) ** 2
    return Cost(int(120 * edges), 3e-7 * edges)
