"""Hybrid embedding: distances and locality in one eigenproblem (S4 2.2).

    minimise over Y (n, q)    (1-α) |s M - Y Yᵀ|² + α tr(Yᵀ L Y)

has the top q eigenpairs (μ, v) of ``(1-α) s M - (α/2) L`` as its solution, ``y = v √(μ / (1-α))``, in units of M after
division by √s. M holds the distances (``-½ H D² H``), L the locality (a Laplacian, or LLE's matrix).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from sidelight.base.capabilities import TWO_WAY
from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.fitting import all_or_nothing
from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import (
    check_choice,
    check_integer,
    check_number,
    refuse_too_large,
    relative_bandwidth,
    validated,
)
from sidelight.base.warnings import warn
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import Correction, correction_at_rows, interpolate, nearest_anchors
from sidelight.maps.kernel_map import KernelMap, adaptive_map
from sidelight.maps.nystrom import NystromMap
from sidelight.maps.parzen import neighbourhood_density
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.maps.weights import PrecomputedWeights
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import Neighbours, nearest, nearest_precomputed
from sidelight.neighbours.sparse_distances import zero_distance_groups
from sidelight.objectives.spectral import neighbour_graph, padded_lists, radius_graph

from ._hybrid_problem import Distances, Hybrid, from_graph, from_rows, from_squares, locality_matrix, solve_hybrid

__all__ = ["HybridEmbedding"]

Array = npt.NDArray[Any]
_LISTED, _EXACT = 60, 2000  # neighbours the maps look at; rows up to which geodesic distances are all taken
_LANDMARKS, _CANDIDATES = 256, 15
_FADE = 1.0  # of what Nyström misses at training rows: equal ones, and those of LLE


class HybridEmbedding(ClassNamePrefixFeaturesOutMixin, TwoWayMixin, BaseEstimator):
    """Embed rows by a distance and a locality at once, in closed form: from MDS or Isomap to eigenmaps or LLE.

    Parameters
    ----------
    n_components : int, default=2
        Latent dimensions.
    distance : {"geodesic", "euclidean", "precomputed"}, array of shape (n, n), or object, default="geodesic"
        What is kept far apart: lengths along the neighbour graph, straight ones, ``X`` itself as a matrix of
        distances, another matrix of distances between the rows of ``X``, a fitted transformer (distances between
        what it makes of the rows: a learned metric), or a callable ``X -> (n, n)`` such as ``TangentDistance`` and
        ``ReconstructionDistance``.
    locality : {"laplacian", "lle"}, default="laplacian"
        What is kept together: neighbours, or the way neighbours reconstruct a row.
    alpha : float, default=0.5
        From 0 (the distances alone: MDS or Isomap) towards 1 (the locality alone); 1 itself needs ``negative`` other
        than "clip".
    n_neighbors : int, default=12
        Neighbours of the graph and of the locality.
    radius : float or None, default=None
        Neighbours are all rows within this distance, in units of the data, instead of a number of them.
    graph : {"mutual", "union"}, default="mutual"
        Edges where each is a neighbour of the other, or where one is (with a ``radius`` that is the same). Pieces are
        joined by their shortest links.
    heat : float or None, default=None
        Width of the Laplacian's weights ``exp(-d²/heat)``, in squared units of the data; None: every edge weighs 1.
    n_landmarks : int, "auto" or None, default="auto"
        Rows from which distances along a graph are taken; None: all, "auto": all up to 2,000 rows, else 256.
    negative : {"auto", "clip", "shift"}, default="auto"
        What becomes of eigenvalues below 0, which come near α = 1 and with few rows. "clip": columns of 0, as the
        objective asks. "shift": all are raised by ``(α/2) |L|``, the eigenvalues of the kernel
        ``((1-α) s M + (α/2)(|L| I - L)) / (1 - α/2)``. "auto": shift, where fewer than q are above 0.
    random_state : int, RandomState or None, default=None
        For ``sample``; nothing else is random. None is a fixed seed: the same call gives the same result.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    Attributes
    ----------
    embedding_ : array of shape (n, q)
        In units of the distance.
    eigenvalues_ : array of shape (q,)
        Of ``(1-α) s M - (α/2) L``, as a share of ``|L|``.
    scale_ : float
        s, by which M was multiplied.
    n_features_in_ : int

    Notes
    -----
    New rows are placed by the Nyström formula where M has one (straight and geodesic distances), by kernel regression
    otherwise; the way back is kernel regression.

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

    def __init__(
        self,
        n_components: int = 2,
        *,
        distance: Any = "geodesic",
        locality: str = "laplacian",
        alpha: float = 0.5,
        n_neighbors: int = 12,
        radius: float | None = None,
        graph: str = "mutual",
        heat: float | None = None,
        n_landmarks: int | str | None = "auto",
        negative: str = "auto",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.distance = distance
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

    @property
    def metric(self) -> str:
        """What ``X`` is: rows, or their distances."""
        return "precomputed" if self._is("precomputed") else "euclidean"

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: Any = None) -> HybridEmbedding:
        """Embed the rows of ``X`` (n, d) and keep the maps; ``y`` is ignored."""
        del y
        self._check_parameters()
        table = X  # with the names of its columns, which a learned metric asks for
        X = np.asarray(validated(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2))
        self._check_matrix(X)
        refuse_if_too_large(self, self.estimate_cost(*X.shape), len(X))
        self.frame_ = Frame.of(X, self.metric)
        points = self.frame_.points(X)
        wide = self._neighbours(points)
        edges, listed = self._graph(points, wide)
        M, unit = self._distances(X, table, points, edges)
        heat = None if self.heat is None else relative_bandwidth(self, "heat", self.heat, self.frame_.scale)
        L = locality_matrix(self.locality, points, listed, edges, heat, precomputed=self._is("precomputed"))
        found = solve_hybrid(M.matrix, L, float(self.alpha), self.n_components)
        factor = self._factors(found) * unit
        Z = np.zeros((len(X), self.n_components))
        Z[:, : len(factor)] = found.pairs.vectors * factor
        groups = zero_distance_groups(points) if self._is("precomputed") else equal_row_groups(points)
        Z = group_means(Z, groups)
        self._keep(X, points, Z, wide)
        self.nystrom_ = self._nystrom(points, M, found, factor, edges, heat)
        self.correction_: Correction | None = None
        if self.nystrom_ is not None:
            self.correction_ = correction_at_rows(points, Z - self._placed(points), _FADE, self.n_jobs)
        return self

    def fit_transform(self, X: Array, y: Any = None) -> Array:
        """Fit, and return ``embedding_`` (n, q)."""
        return np.asarray(self.fit(X, y).embedding_)

    @one_blas_thread
    def transform(self, X: Array) -> Array:
        """Embed rows, each by itself: ``transform(X)[i] == transform(X[i:i+1])``, shape (m, q).

        For precomputed distances, give distances (m, n) to the training rows.
        """
        check_is_fitted(self)
        if self.nystrom_ is None:
            return np.asarray(TwoWayMixin.transform(self, X))
        X = self._checked(X)
        return np.asarray(self._placed(self.frame_.points(X)).astype(X.dtype, copy=False))

    def estimate_cost(self, n: int, d: int) -> Cost:
        """What a fit of n rows and d columns takes, before it is paid."""
        whole = not self._is("euclidean") and (self._landmarks(n) is None or not self._on_graph())
        rows = 0 if self._is("euclidean") else n if whole else min(n, self._landmarks(n) or n)
        size = 8 * n * (6 * d + 3 * _LISTED + 12 * self.n_neighbors) + (32 if whole else 20) * rows * n + 2**26
        neighbours = 2e-8 * n * n + 3e-10 * n * n * d
        return Cost(int(size), float(0.1 + neighbours + 1.5e-6 * n * rows + 2e-4 * n))

    def _check_parameters(self) -> None:
        check_integer(self, "n_components", self.n_components, 1)
        if isinstance(self.distance, str):
            check_choice(self, "distance", self.distance, ("geodesic", "euclidean", "precomputed"))
        elif not (callable(self.distance) or hasattr(self.distance, "transform") or np.ndim(self.distance) == 2):
            rule = "is not a name, a matrix, a transformer or a callable"
            raise ValueError(complain(self, "distance", self.distance, rule, "Give one of them"))
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

    def _check_matrix(self, X: Array) -> None:
        if not self._is("precomputed"):
            return
        if X.shape[0] != X.shape[1]:
            raise ValueError(complain(self, "X", f"array of shape {X.shape}", "is not square", "Give all distances"))
        if (X < 0).any():
            raise ValueError(complain(self, "X", float(X.min()), "is a negative distance", "Give distances"))

    def _is(self, name: str) -> bool:
        return isinstance(self.distance, str) and self.distance == name

    def _on_graph(self) -> bool:
        return self._is("geodesic") or hasattr(self.distance, "graph")

    def _landmarks(self, n: int) -> int | None:
        if isinstance(self.n_landmarks, str):
            return None if n <= _EXACT else _LANDMARKS
        return self.n_landmarks

    def _neighbours(self, points: Array) -> Neighbours:
        width = max(_LISTED, self.n_neighbors)
        if self._is("precomputed"):
            return nearest_precomputed(points, k=width, own=True)
        return nearest(points, k=width, n_jobs=self.n_jobs)

    def _graph(self, points: Array, wide: Neighbours) -> tuple[csr_array, Array]:
        """The neighbour graph with its lengths, and the neighbours (n, k) that reconstruct a row (-1: none)."""
        known = self._is("precomputed")
        if self.radius is not None:
            radius = float(self.radius) / self.frame_.scale
            refuse_if_too_large(self, _edge_cost(points, radius, precomputed=known), len(points))
            edges = radius_graph(points, radius, precomputed=known, n_jobs=self.n_jobs)
            return edges, padded_lists(edges)
        k = min(self.n_neighbors, len(points) - 1)
        near = Neighbours(wide.index[:, :k], wide.distance[:, :k])
        return neighbour_graph(points, near, kind=self.graph, precomputed=known), near.index

    def _distances(self, X: Array, table: Any, points: Array, edges: csr_array) -> tuple[Distances, float]:
        """M, and what one of its units of length is in those of the distance."""
        if self._is("euclidean"):
            return from_rows(points), self.frame_.scale
        if self._on_graph():
            own = not self._is("geodesic")
            graph = self.distance.graph(X) if own else edges
            unit = float(graph.data.max()) or 1.0 if own else 1.0
            graph = csr_array((graph.data / unit, graph.indices, graph.indptr), shape=graph.shape) if own else graph
            found = from_graph(graph, self._landmarks(len(X)), self.n_components, self.n_jobs)
            return found, unit if own else self.frame_.scale
        if self._is("precomputed"):
            return from_squares(0.5 * (points**2 + points.T**2)), self.frame_.scale
        if not callable(self.distance) and hasattr(self.distance, "transform"):
            made = np.asarray(self.distance.transform(table), dtype=np.float64)
            frame = Frame.of(made)
            return from_rows(frame.inside(made)), frame.scale
        D = self._matrix(self.distance(X) if callable(self.distance) else self.distance, len(X))
        unit = float(D.max()) or 1.0
        D = D / unit
        return from_squares(0.5 * (D**2 + D.T**2)), unit

    def _matrix(self, distances: Any, n: int) -> Array:
        D = np.asarray(distances, dtype=np.float64)
        if D.shape != (n, n) or not np.isfinite(D).all() or (D < 0).any():
            rule = f"does not give finite distances, 0 or more, of shape ({n}, {n})"
            seen = f"array of shape {D.shape}"
            raise ValueError(complain(self, "distance", seen, rule, "Give the distances between the rows of X"))
        refuse_too_large(self, "distance", D)
        return D

    def _factors(self, found: Hybrid) -> Array:
        """What multiplies each eigenvector, in units of M: the rule of ``negative``."""
        values, alpha = found.pairs.values, float(self.alpha)
        self.scale_, self.eigenvalues_ = found.scale, values / (found.norm or 1.0)
        if not found.pairs.converged:
            rule = "makes an eigenproblem that did not converge"
            message = complain(self, "alpha", self.alpha, rule, "Take fewer components, or an alpha further from 1")
            warn(message, ConvergenceWarning)
        positive = int((values > 1e-12 * (found.norm or 1.0)).sum())
        if self.negative == "shift" or (self.negative == "auto" and positive < len(values)):
            return np.sqrt(np.maximum(values + 0.5 * alpha * found.norm, 0.0) / (1 - 0.5 * alpha) / found.scale)
        if positive < min(found.n_positive, self.n_components):
            rule = f"leaves {positive} of {self.n_components} eigenvalues above 0, and the other columns at 0"
            message = complain(self, "alpha", self.alpha, rule, 'Take a smaller alpha, or negative="auto"')
            warn(message, UserWarning)
        return np.sqrt(np.where(values > 1e-12 * (found.norm or 1.0), values, 0.0) / (1 - alpha) / found.scale)

    def _keep(self, X: Array, points: Array, Z: Array, wide: Neighbours) -> None:
        """The kernel maps and densities, as ``TwoWayMixin`` asks."""
        self.embedding_ = np.asarray(Z.astype(X.dtype))
        self.latent_frame_ = Frame.of(Z)
        latent = self.latent_frame_.inside(Z)
        near = nearest(latent, k=_LISTED, n_jobs=self.n_jobs)
        self.latent_density_ = neighbourhood_density(latent, near.distance)
        if self._is("precomputed"):
            weights = PrecomputedWeights(min(_CANDIDATES, len(Z)), min(5.0, len(Z) / 2))
            self.backward_ = interpolate(KernelMap(weights, latent), wide, self.n_jobs)
            return
        self.backward_ = interpolate(adaptive_map(points, latent, lists=wide.index[:, :_LISTED]), n_jobs=self.n_jobs)
        self.forward_ = adaptive_map(latent, points, lists=near.index)
        self.density_ = neighbourhood_density(points, wide.distance[:, :_LISTED])

    def _nystrom(
        self, points: Array, M: Distances, found: Hybrid, factor: Array, edges: csr_array, heat: float | None
    ) -> NystromMap | None:
        if not (self._is("euclidean") or self._is("geodesic")):
            return None
        V = found.pairs.vectors
        gain, constant = M.gain(V)
        weight = (1 - float(self.alpha)) * found.scale
        return NystromMap(
            points, V, found.pairs.values, factor, weight * gain, M.offset, M.paths, weight * constant,
            0.5 * float(self.alpha), self.locality, heat or 0.0, padded_lists(edges),
            min(self.n_neighbors, len(points) - 1) if self.radius is None else 0,
        )  # fmt: skip

    def _placed(self, points: Array) -> Array:
        """Rows inside the frame, by Nyström; where that is not exact at training rows, with a correction: (m, q)."""
        assert self.nystrom_ is not None
        Z = np.zeros((len(points), self.embedding_.shape[1]))
        Z[:, : self.nystrom_.vectors.shape[1]] = self.nystrom_(points, self.n_jobs)
        correction = getattr(self, "correction_", None)  # models saved by version 0.1 have none
        if correction is None:
            return Z
        return np.asarray(Z + correction(*nearest_anchors(self.nystrom_.points, points, self.n_jobs)))

    def _has_data_space(self) -> bool:
        return not self._is("precomputed")

    def _projected(self, X: Array) -> Array:
        if self.nystrom_ is None:
            return super()._projected(X)
        Z = self.latent_frame_.inside(self._placed(self.frame_.points(X)))
        return np.asarray(self.forward_(Z, self.n_jobs))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.pairwise = self._is("precomputed")
        return tags


def _edge_cost(points: Array, radius: float, *, precomputed: bool) -> Cost:
    """What a graph of all pairs within a radius takes, judged by some of the rows."""
    rows = np.unique(np.linspace(0, len(points) - 1, 256).astype(np.int64))
    share = float(np.mean((points[rows] if precomputed else cdist(points[rows], points)) <= radius))
    edges = share * len(points) ** 2
    return Cost(int(120 * edges), 3e-7 * edges)
