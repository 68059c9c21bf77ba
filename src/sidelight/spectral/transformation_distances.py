"""Distances that know a transformation (S4 2.5, 2.6), for ``HybridEmbedding(distance=...)`` or on their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import cdist
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import complain
from sidelight.base.tiles import spans
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.neighbours.search import Neighbours
from sidelight.objectives.spectral import geodesic_squares

from ._transformations import (
    Transformation,
    filter_neighbours,
    filtered,
    orthonormal,
    rotated,
    shifted,
    side_by_side,
    sine_neighbours,
    smoothed,
    squared_sines,
    tangents,
    transformed_neighbours,
)

__all__ = ["ReconstructionDistance", "TangentDistance"]

Array = npt.NDArray[Any]
_NAMES = ("shift", "rotate", "local")
_STEPS = {"shift": 1.0, "rotate": 10.0}
_SHARE = 1 / 7  # of the shorter side of a picture: chosen on five draws of three digits, see the reproduction
_BUDGET = 4_000_000  # numbers in the temporaries of one tile
_TINY = 1e-300  # csgraph reads a stored 0 as "no edge"


@dataclass(frozen=True)
class TangentDistance:
    """The angle between the tangent spaces of a transformation: small where two rows change alike under it.

    Parameters
    ----------
    transformation : "local", "shift", "rotate" or callable, default="local"
        "local": a filter of ``size`` x ``size`` pixels, fitted for each row to its nearest other row; "shift": along
        the width, with wrap; "rotate": about the centre. A callable ``(X, theta) -> X'`` moves all rows by a
        parameter (a number, or with several steps an array of them) and is the identity at 0.
    image_shape : tuple (height, width) or None, default=None
        How to fold a row into a picture; None: a row is a line of values.
    step : float, sequence of float or None, default=None
        How far the parameters are moved to measure a tangent; one for each. None: a pixel, 10 degrees, 1e-3.
    size : int, default=3
        Width of the local filter.
    smoothing : float or "auto", default="auto"
        Standard deviation, in pixels, of the Gaussian that pictures are smoothed with before their tangents are taken
        (lines of values are not). "auto": a seventh of the shorter side; one pixel where ``parameters`` are given, for
        then the transformation itself bridges the steps between rows. 0: none.
    paths : bool, default=False
        False: each pair by its own angle. True: sin² is summed along shortest paths, so that rows between which others
        change little by little are near, however far apart they are. Pieces are joined by their shortest links.
    parameters : sequence or None, default=None
        With ``paths``: the θ by which a row is moved before its tangents are compared with another's, besides 0.
    n_neighbors : int, default=20
        With ``paths``: edges kept of each row and θ.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(6, 25))
    >>> D = TangentDistance("shift", image_shape=(5, 5))(X)
    >>> D.shape, bool((D[0] <= 1).all())
    ((6, 6), True)
    """

    transformation: Any = "local"
    image_shape: tuple[int, int] | None = None
    step: Any = None
    size: int = 3
    smoothing: Any = "auto"
    paths: bool = False
    parameters: Any = None
    n_neighbors: int = 20
    n_jobs: int | None = None

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Distances (n, m) of the rows of ``X`` to those of ``Y``: √(mean sin² of the angles between tangents).

        With ``paths`` between the rows of ``X`` only: the sums of sin².
        """
        if self.paths:
            if Y is not None:
                rule = "follows paths among the rows of one array"
                raise ValueError(complain(self, "paths", True, rule, "Give X alone, or paths=False"))
            return np.sqrt(geodesic_squares(self.graph(X), n_jobs=self.n_jobs))
        P = orthonormal(self.tangents(X))
        Q = P if Y is None else orthonormal(self.tangents(Y))
        D = np.sqrt(squared_sines(P, Q, n_jobs=self.n_jobs))
        if Y is None:
            np.fill_diagonal(D, 0.0)
            D = 0.5 * (D + D.T)
        return D

    def tangents(self, X: Array) -> Array:
        """The tangents of each row, (n, parameters, d)."""
        return self._tangents(self._smoothed(X))

    @available_if(lambda self: self.paths)
    def graph(self, X: Array) -> csr_array:
        """The connected graph of sin² whose shortest paths are the distances."""
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
        X = self._smoothed(X)
        there = orthonormal(self._tangents(X))
        moved = [there, *(orthonormal(self._tangents(rows)) for rows in self._moved(X))]
        found = [sine_neighbours(basis, there, k=self.n_neighbors, n_jobs=self.n_jobs) for basis in moved]
        return _joined(side_by_side(found), lambda rows: squared_sines(there[rows], there, n_jobs=self.n_jobs))

    def _smoothed(self, X: Array) -> Array:
        """Pictures after the Gaussian; lines of values as they are."""
        X = np.asarray(X, dtype=np.float64)
        automatic = isinstance(self.smoothing, str)
        if automatic:
            check_choice(self, "smoothing", self.smoothing, ("auto",))
        elif self.smoothing != 0:
            check_number(self, "smoothing", self.smoothing, 0.0)
        if self.image_shape is None:
            if not automatic and self.smoothing:
                rule = "needs pictures"
                raise ValueError(complain(self, "smoothing", self.smoothing, rule, 'Give image_shape, or "auto"'))
            return X
        shape = _shape(self, X, self.image_shape)
        pixels = self.smoothing
        if automatic:
            pixels = _SHARE * min(shape) if self.parameters is None else 1.0
        return smoothed(X, float(pixels), shape) if pixels else X

    def _tangents(self, X: Array) -> Array:
        if _is_local(self):
            check_integer(self, "size", self.size, 2)
            shape = _shape(self, X, self.image_shape)
            return (filtered(X, shape, self.size, n_jobs=self.n_jobs) - X)[:, None, :]
        move = _transformation(self, X)
        default = _STEPS.get(self.transformation, 1e-3) if isinstance(self.transformation, str) else 1e-3
        steps = np.atleast_1d(np.asarray(default if self.step is None else self.step, dtype=np.float64))
        for step in steps:
            check_number(self, "step", float(step), 0.0)
        return tangents(X, move, list(steps))

    def _moved(self, X: Array) -> Iterator[Array]:
        """The rows moved by each of ``parameters``."""
        if self.parameters is None:
            return
        if _is_local(self):
            rule = "moves rows by a filter that is fitted, not given"
            raise ValueError(complain(self, "transformation", "local", rule, "Leave parameters out"))
        move = _transformation(self, X)
        for theta in self.parameters:
            yield move(X, theta)


@dataclass(frozen=True)
class ReconstructionDistance:
    """How much is lost on the way from one row to another, by single applications of a transformation.

    Edges have the error ``min_θ |T(x_i, θ) - x_j|``, the smaller of both directions; the distance is that of shortest
    paths. Rows that a chain of transformed rows connects are near, however unlike they look.

    Parameters
    ----------
    transformation : "shift", "rotate", "local" or callable, default="shift"
        As for ``TangentDistance``; for "local" the best filter of each pair is found in closed form.
    image_shape : tuple (height, width) or None, default=None
        How to fold a row into a picture; None: a row is a line of values.
    parameters : sequence or None, default=None
        The θ that are tried. None: a pixel to either side, 10 degrees to either side; a callable needs them.
    n_neighbors : int, default=20
        Edges kept of each row and θ. Pieces left unconnected are joined by their shortest straight links.
    size : int, default=3
        Width of the local filter.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    Examples
    --------
    >>> import numpy as np
    >>> bump = np.eye(9)[:5] * 3 + np.roll(np.eye(9), 1, axis=1)[:5]
    >>> D = ReconstructionDistance("shift")(bump)
    >>> bool(D[0, 4] < 1e-6 < np.linalg.norm(bump[0] - bump[4]))
    True
    """

    transformation: Any = "shift"
    image_shape: tuple[int, int] | None = None
    parameters: Any = None
    n_neighbors: int = 20
    size: int = 3
    n_jobs: int | None = None

    def __call__(self, X: Array) -> Array:
        """Distances (n, n) between the rows of ``X``."""
        return np.sqrt(geodesic_squares(self.graph(X), n_jobs=self.n_jobs))

    def graph(self, X: Array) -> csr_array:
        """The connected graph of errors whose shortest paths are the distances."""
        X = np.asarray(X, dtype=np.float64)
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
        k = min(self.n_neighbors, len(X) - 1)
        if _is_local(self):
            check_integer(self, "size", self.size, 2)
            shape = _shape(self, X, self.image_shape)
            edges = filter_neighbours(X, shape, self.size, k=k, n_jobs=self.n_jobs)
        else:
            move = _transformation(self, X)
            edges = transformed_neighbours(X, move, self._grid(), k=k, n_jobs=self.n_jobs)
        return _joined(edges, lambda rows: cdist(X[rows], X))

    def _grid(self) -> Sequence[Any]:
        if self.parameters is not None:
            return list(self.parameters)
        if not isinstance(self.transformation, str):
            rule = "says nothing of a transformation of your own"
            raise ValueError(complain(self, "parameters", None, rule, "Give the values of θ to try"))
        step = _STEPS[self.transformation]
        return [-step, step]


def _transformation(owner: Any, X: Array) -> Transformation:
    """The transformation by name or by itself, as ``(X, θ) -> X'`` with the result checked."""
    chosen = owner.transformation
    if callable(chosen):
        return lambda rows, theta: _moved(owner, chosen, rows, theta)
    check_choice(owner, "transformation", chosen, _NAMES)
    shape = _shape(owner, X, owner.image_shape)
    function: Callable[..., Array] = shifted if chosen == "shift" else rotated
    return lambda rows, theta: function(rows, theta, shape)


def _moved(owner: Any, function: Callable[[Array, Any], Any], rows: Array, theta: Any) -> Array:
    moved = np.asarray(function(rows, theta), dtype=np.float64)
    if moved.shape != rows.shape or not np.isfinite(moved).all():
        rule = f"made an array of shape {moved.shape}, or not finite, of one of shape {rows.shape}"
        raise ValueError(complain(owner, "transformation", function, rule, "Return finite rows, one for each"))
    return moved


def _shape(owner: Any, X: Array, shape: Any) -> tuple[int, int]:
    if shape is None:
        return 1, X.shape[1]
    if len(shape) != 2 or int(np.prod(shape)) != X.shape[1]:
        rule = f"does not have as many pixels as X has columns ({X.shape[1]})"
        raise ValueError(complain(owner, "image_shape", shape, rule, "Give (height, width)"))
    return int(shape[0]), int(shape[1])


def _is_local(owner: Any) -> bool:
    return isinstance(owner.transformation, str) and owner.transformation == "local"


def _joined(edges: Neighbours, lengths: Callable[[slice], Array]) -> csr_array:
    """A connected symmetric graph of the listed edges, each at its smaller length.

    Pieces are joined by their shortest links; ``lengths`` gives those of some rows to all, (m, n).
    """
    n, width = edges.index.shape
    rows, columns, values = np.repeat(np.arange(n), width), edges.index.ravel(), edges.distance.ravel()
    while True:
        graph = _shortest(n, rows, columns, values)
        n_pieces, piece = connected_components(graph, directed=False)
        if n_pieces == 1:
            return graph
        start, end, length = _links(piece, lengths)
        rows, columns, values = np.r_[rows, start], np.r_[columns, end], np.r_[values, length]


def _links(piece: Array, lengths: Callable[[slice], Array]) -> tuple[Array, Array, Array]:
    """For each piece its shortest link to any other piece (one round of Borůvka's algorithm)."""
    n = len(piece)
    best, target = np.empty(n), np.empty(n, dtype=np.int64)
    for rows in spans(n, max(1, _BUDGET // n)):
        outside = np.where(piece[rows][:, None] == piece, np.inf, lengths(rows))
        target[rows] = outside.argmin(axis=1)
        best[rows] = outside.min(axis=1)
    order = np.lexsort((np.arange(n), best, piece))
    start = order[np.r_[True, np.diff(piece[order]) > 0]]
    return start, target[start], best[start]


def _shortest(n: int, rows: Array, columns: Array, lengths: Array) -> csr_array:
    """Each edge both ways at its smallest length, rows to themselves left out."""
    apart = rows != columns
    low, high = np.minimum(rows, columns)[apart], np.maximum(rows, columns)[apart]
    order = np.lexsort((lengths[apart], low * n + high))
    low, high, lengths = low[order], high[order], np.maximum(lengths[apart][order], _TINY)
    first = np.r_[True, np.diff(low * n + high) > 0] if len(low) else np.zeros(0, dtype=bool)
    low, high, lengths = low[first], high[first], lengths[first]
    ends = np.r_[low, high].astype(np.int32), np.r_[high, low].astype(np.int32)
    return csr_array(coo_array((np.r_[lengths, lengths], ends), shape=(n, n)))
