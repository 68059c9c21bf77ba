"""Distances by how well a known transformation turns one row into another (S4 2.6)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial.distance import cdist

from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function, SparseMatrix
from sidelight.base.validation import check_integer
from sidelight.objectives.spectral import geodesic_squares

from ._chosen_transformation import STEPS, chosen_transformation, is_local, picture_shape
from ._connected_graph import connected_graph
from ._transformations import Parameter, filter_neighbours, transformed_neighbours

__all__ = ["ReconstructionDistance"]


@dataclass(frozen=True)
class ReconstructionDistance:
    """Distance between rows along shortest paths, whose edges are errors of turning one row into another.

    An edge has length ``min_θ |T(x_i, θ) - x_j|``, the smaller of both directions; the distance is the length of the
    shortest path. Rows that are connected by a chain of transformed rows are near, however different their columns are.
    The edges are the reconstruction errors of [1]_, section 2.6; paths as in Isomap [2]_.

    Parameters
    ----------
    transformation : "shift", "rotate", "local" or callable, default="shift"
        As for :class:`TangentDistance`; for "local" the best filter of each pair is found in closed form.
    image_shape : tuple (height, width) or None, default=None
        Shape of the image that a row holds; None: a row is a line of values.
    parameters : sequence or None, default=None
        The values of θ to try. None: one pixel, or 10 degrees, in either direction; required for a callable.
    n_neighbors : int, default=20
        Edges kept for each row and θ. Disconnected components are joined by their shortest Euclidean links.
    size : int, default=3
        Width of the local filter.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    See Also
    --------
    TangentDistance : A distance by the tangents of a transformation.
    HybridEmbedding : Embeds by either of them.

    References
    ----------
    .. [1] A. Ghodsi, "Nonlinear dimensionality reduction with side information", PhD thesis, University of Waterloo,
       2005.
    .. [2] J. B. Tenenbaum, V. de Silva and J. C. Langford, "A global geometric framework for nonlinear dimensionality
       reduction", Science 290, 2319-2323, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> bump = np.eye(9)[:5] * 3 + np.roll(np.eye(9), 1, axis=1)[:5]
    >>> D = ReconstructionDistance("shift")(bump)
    >>> bool(D[0, 4] < 1e-6 < np.linalg.norm(bump[0] - bump[4]))
    True
    """

    transformation: str | Function[Array] = "shift"
    image_shape: tuple[int, int] | None = None
    parameters: Iterable[Parameter] | None = None
    n_neighbors: int = 20
    size: int = 3
    n_jobs: int | None = None

    def __call__(self, X: Array) -> Array:
        """Distances (n, n) between the rows of ``X``."""
        return np.sqrt(geodesic_squares(self.graph(X), n_jobs=self.n_jobs))

    def graph(self, X: Array) -> SparseMatrix:
        """The connected graph of reconstruction errors, whose shortest paths are the distances.

        Parameters
        ----------
        X : array of shape (n, d)

        Returns
        -------
        graph : sparse array of shape (n, n)
        """
        X, owner = np.asarray(X, dtype=np.float64), type(self).__name__
        check_integer(owner, "n_neighbors", self.n_neighbors, 1)
        k = min(self.n_neighbors, len(X) - 1)
        if is_local(self.transformation):
            check_integer(owner, "size", self.size, 2)
            shape = picture_shape(owner, self.image_shape, X.shape[1])
            edges = filter_neighbours(X, shape, self.size, k=k, n_jobs=self.n_jobs)
        else:
            move = chosen_transformation(owner, self.transformation, self.image_shape, X.shape[1])
            edges = transformed_neighbours(X, move, self._tried_parameters(), k=k, n_jobs=self.n_jobs)
        return connected_graph(edges, lambda rows: cdist(X[rows], X))

    def _tried_parameters(self) -> Sequence[Parameter]:
        """The values of θ to try: those of the user, or one step in either direction."""
        if self.parameters is not None:
            return list(self.parameters)
        if not isinstance(self.transformation, str):
            rule = "has no default for a callable transformation"
            raise ValueError(error_message(self, "parameters", None, rule, "Give the values of θ to try"))
        step = STEPS[self.transformation]
        return [-step, step]
