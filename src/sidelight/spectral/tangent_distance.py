"""Distances by the angle between the tangents of a known transformation (S4 2.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import error_message
from sidelight.base.types import Array, Function, SparseMatrix
from sidelight.base.validation import check_choice, check_integer, check_number
from sidelight.objectives.spectral import geodesic_squares

from ._chosen_transformation import STEPS, chosen_transformation, is_local, picture_shape
from ._connected_graph import connected_graph
from ._transformations import (
    Parameter,
    Transformation,
    filtered,
    orthonormal,
    side_by_side,
    sine_neighbours,
    smoothed,
    squared_sines,
    tangents,
)

__all__ = ["TangentDistance"]


_SHARE = 1 / 7  # smoothing, in shorter sides of an image: chosen on five draws of three digits, see the reproduction


@dataclass(frozen=True)
class TangentDistance:
    """Distance between rows by the angle between their tangent spaces under a known transformation.

    ``√(mean sin² of the principal angles)``: small if two rows change alike under the transformation (a shift, a
    rotation), however different their columns are. From [1]_, section 2.5, with several parameters and smoothing added;
    tangents of transformations as a distance go back to [2]_.

    Parameters
    ----------
    transformation : "local", "shift", "rotate" or callable, default="local"
        "local": a filter of ``size`` x ``size`` pixels, fitted for each row to its nearest other row. "shift": along
        the width, with wrap-around. "rotate": about the centre. A callable ``(X, theta) -> X'`` transforms all rows by
        a parameter (a number, or with several steps an array of them) and is the identity at 0.
    image_shape : tuple (height, width) or None, default=None
        Shape of the image that a row holds; None: a row is a line of values.
    step : float, sequence of float or None, default=None
        Step of the central difference that estimates a tangent, one for each parameter. None: a pixel, 10 degrees,
        1e-3.
    size : int, default=3
        Width of the local filter.
    smoothing : float or "auto", default="auto"
        Standard deviation, in pixels, of a Gaussian filter applied to images before their tangents are computed (lines
        of values are not smoothed). "auto": a seventh of the shorter side; one pixel if ``parameters`` are given,
        because the transformation itself then bridges the steps between rows. 0: none.
    paths : bool, default=False
        False: the angle of each pair. True: sin² is summed along shortest paths, so that rows that are connected by
        gradually changing rows are near. Disconnected components are joined by their shortest links.
    parameters : sequence or None, default=None
        With ``paths``: values of θ, besides 0, by which a row is transformed before its tangents are compared with
        those of other rows.
    n_neighbors : int, default=20
        With ``paths``: edges kept for each row and θ.
    n_jobs : int or None, default=None
        Threads; None: all. The result does not depend on it.

    See Also
    --------
    ReconstructionDistance : A distance by how well neighbours reconstruct a row.
    HybridEmbedding : Embeds by either of them.
    sidelight.gated.GatedBoltzmannMachine : A distance whose transformations are learned from pairs.

    References
    ----------
    .. [1] A. Ghodsi, "Nonlinear dimensionality reduction with side information", PhD thesis, University of Waterloo,
       2005.
    .. [2] P. Simard, Y. LeCun and J. S. Denker, "Efficient pattern recognition using a new transformation distance",
       Advances in Neural Information Processing Systems 5, 1993.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(6, 25))
    >>> D = TangentDistance("shift", image_shape=(5, 5))(X)
    >>> D.shape, bool((D[0] <= 1).all())
    ((6, 6), True)
    """

    transformation: str | Function[Array] = "local"
    image_shape: tuple[int, int] | None = None
    step: npt.ArrayLike | None = None
    size: int = 3
    smoothing: bool | float | str = "auto"  # False is 0
    paths: bool = False
    parameters: Iterable[Parameter] | None = None
    n_neighbors: int = 20
    n_jobs: int | None = None

    def __call__(self, X: Array, Y: Array | None = None) -> Array:
        """Distances between rows: √(mean sin² of the angles between tangents), or with ``paths`` sums of sin².

        Parameters
        ----------
        X : array of shape (n, d)
        Y : array of shape (m, d) or None, default=None
            None: the rows of ``X``. With ``paths`` only None.

        Returns
        -------
        D : array of shape (n, m)
        """
        if self.paths:
            if Y is not None:
                rule = "follows paths among the rows of one array"
                raise ValueError(error_message(self, "paths", True, rule, "Give X alone, or paths=False"))
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
    def graph(self, X: Array) -> SparseMatrix:
        """The connected graph of sin², whose shortest paths give the distances."""
        check_integer(self, "n_neighbors", self.n_neighbors, 1)
        X = self._smoothed(X)
        there = orthonormal(self._tangents(X))
        moved = [there, *(orthonormal(self._tangents(rows)) for rows in self._moved(X))]
        found = [sine_neighbours(basis, there, k=self.n_neighbors, n_jobs=self.n_jobs) for basis in moved]
        return connected_graph(side_by_side(found), lambda rows: squared_sines(there[rows], there, n_jobs=self.n_jobs))

    def _smoothed(self, X: Array) -> Array:
        """Pictures smoothed by the Gaussian; lines of values unchanged."""
        X = np.asarray(X, dtype=np.float64)
        automatic = isinstance(self.smoothing, str)
        if automatic:
            check_choice(self, "smoothing", self.smoothing, ("auto",))
        elif self.smoothing != 0:
            check_number(self, "smoothing", self.smoothing, 0.0)
        if self.image_shape is None:
            if not automatic and self.smoothing:
                rule = "needs pictures"
                raise ValueError(error_message(self, "smoothing", self.smoothing, rule, 'Give image_shape, or "auto"'))
            return X
        shape = picture_shape(type(self).__name__, self.image_shape, X.shape[1])
        pixels = self.smoothing
        if automatic:
            pixels = _SHARE * min(shape) if self.parameters is None else 1.0
        return smoothed(X, float(pixels), shape) if pixels else X

    def _tangents(self, X: Array) -> Array:
        """Tangents (n, parameters, d) of smoothed rows."""
        if is_local(self.transformation):
            check_integer(self, "size", self.size, 2)
            shape = picture_shape(type(self).__name__, self.image_shape, X.shape[1])
            return (filtered(X, shape, self.size, n_jobs=self.n_jobs) - X)[:, None, :]
        move = self._function(X)
        default = STEPS.get(self.transformation, 1e-3) if isinstance(self.transformation, str) else 1e-3
        steps = np.atleast_1d(np.asarray(default if self.step is None else self.step, dtype=np.float64))
        for step in steps:
            check_number(self, "step", float(step), 0.0)
        return tangents(X, move, list(steps))

    def _moved(self, X: Array) -> Iterator[Array]:
        """The rows moved by each of ``parameters``."""
        if self.parameters is None:
            return
        if is_local(self.transformation):
            rule = "moves rows by a filter that is fitted, not given"
            raise ValueError(error_message(self, "transformation", "local", rule, "Leave parameters out"))
        move = self._function(X)
        for theta in self.parameters:
            yield move(X, theta)

    def _function(self, X: Array) -> Transformation:
        return chosen_transformation(type(self).__name__, self.transformation, self.image_shape, X.shape[1])
