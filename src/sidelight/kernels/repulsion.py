r"""Repulsion of a fixed embedding on a new point, tabulated on a grid once and interpolated row by row.

For latent points Z (n, q), q ≤ 3, a profile k of bandwidth 1 and s(z) = Σ_j k(|z - z_j|²):

    φ(z) = log(1 + s(z)) + Σ_j k(|z - z_j|²) / s(z_j)

is what one more point at z adds to Σ_i log s_i, itself included (to first order in k/s). Both sums are evaluated on a
grid from one spectrum (``kernels.gauss_transform``): a type 1 transform of weights 1 + i/s_j, and an FFT. Between the
nodes φ is a cubic spline, whose value and gradient at a point depend on that point alone, bit by bit. (A transform
evaluated at the points of a batch would depend on the batch.) With nodes 1/4 apart the error of φ is 1e-3.

Cost: O(n + G log G) for G nodes once, then 4^q numbers per point. Memory O(G).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from scipy.fft import ifftn, next_fast_len
from scipy.ndimage import spline_filter

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice
from sidelight.neighbours.distances import squared_distances

from .gauss_transform import FastSums, modes_of
from .pair_sums import PairSums
from .profiles import Profile
from .transform_plans import library

__all__ = ["Table", "repulsion_table"]


_STEPS = {1: 0.25, 2: 0.25, 3: 0.4}  # distance between nodes, by the number of dimensions
_MARGIN = 4  # nodes beyond the points: far enough for the spline's boundary condition to have no effect
_TOLERANCE = 1e-3  # of the sums
_MOST = 2**25  # nodes: half a gibibyte while they are computed
_BUDGET = 1_000_000  # numbers in one tile


@dataclass(frozen=True)
class Table:
    """A function tabulated on the box ``low`` .. ``high``, as a cubic spline.

    Parameters
    ----------
    coefficients : array with q axes
        Of the spline, at the nodes of a regular grid.
    origin, step : arrays of shape (q,)
        First node of the grid and distance between nodes.
    low, high : arrays of shape (q,)
        The box.
    """

    coefficients: Array
    origin: Array
    step: Array
    low: Array
    high: Array

    def value_and_grad(self, Z: Array) -> tuple[Array, Array]:
        """Values (m,) and gradients (m, q) at ``Z`` (m, q), each row independently of the others.

        Examples
        --------
        >>> box = np.array([0.0]), np.array([0.5]), np.array([1.0]), np.array([2.0])
        >>> line = Table(np.arange(12.0), *box)
        >>> value, gradient = line.value_and_grad(np.array([[1.25]]))
        >>> value, gradient
        (array([2.5]), array([[2.]]))
        """
        q, shape = Z.shape[1], self.coefficients.shape
        at = (Z - self.origin) / self.step
        first = np.floor(at).astype(np.int64)
        weights = [_spline(at[:, d] - first[:, d]) for d in range(q)]
        slopes = [_spline_slope(at[:, d] - first[:, d]) for d in range(q)]
        corner = np.ravel_multi_index(tuple(first.T - 1), shape)
        flat, strides = self.coefficients.ravel(), [math.prod(shape[d + 1 :]) for d in range(q)]
        value, grad = np.zeros(len(Z)), np.zeros((q, len(Z)))
        for node in itertools.product(range(4), repeat=q):
            c = np.take(flat, corner + sum(i * stride for i, stride in zip(node, strides, strict=True)))
            own = [weights[d][i] for d, i in enumerate(node)]
            value += math.prod(own, start=c)
            for d in range(q):
                grad[d] += math.prod([*own[:d], slopes[d][node[d]], *own[d + 1 :]], start=c)
        return value, (grad / self.step[:, None]).T


def _spline(t: Array) -> list[Array]:
    """Values of the four cubic B-splines that are not 0 at ``t`` in [0, 1)."""
    u = 1 - t
    return [u**3 / 6, (4 - 6 * t**2 + 3 * t**3) / 6, (4 - 6 * u**2 + 3 * u**3) / 6, t**3 / 6]


def _spline_slope(t: Array) -> list[Array]:
    """Derivatives of the four cubic B-splines at ``t``."""
    u = 1 - t
    return [-(u**2) / 2, (3 * t**2 - 4 * t) / 2, (4 * u - 3 * u**2) / 2, t**2 / 2]


def repulsion_table(Z: Array, profile: Profile, n_jobs: int | None = None) -> Table | None:
    """Tabulate φ of a fixed embedding on its bounding box.

    Parameters
    ----------
    Z : array of shape (n, q)
        Latent points.
    profile : Profile
    n_jobs : int or None
        Threads.

    Returns
    -------
    Table or None
        None for more than three dimensions, or if the grid would have more than 2²⁵ nodes.
    """
    Z = np.asarray(Z, dtype=np.float64)
    q = Z.shape[1]
    if q not in _STEPS or np.prod(np.ptp(Z, axis=0) / _STEPS[q] + 2 * _MARGIN + 1) > _MOST:
        return None
    sums, origin, step = _by_transform(Z, profile, n_jobs) or _by_pairs(Z, profile, n_jobs)
    phi = np.log1p(np.maximum(sums.real, 0.0)) + sums.imag
    return Table(spline_filter(phi, order=3, mode="mirror"), origin, step, Z.min(axis=0), Z.max(axis=0))


def _by_transform(Z: Array, profile: Profile, n_jobs: int | None) -> tuple[Array, Array, Array] | None:
    """``s + i Σ_j k_j / s_j`` on a grid, its first node and its step, by FFT; None where no transform is available."""
    modes = modes_of(profile, len(Z), np.ptp(Z, axis=0), _TOLERANCE)
    if modes is None or library() is None:
        return None
    period = np.array(modes.period)
    shape = [next_fast_len(math.ceil(length / _STEPS[len(period)])) for length in period]
    if math.prod(shape) > _MOST:
        return None
    transform = FastSums(Z, profile, modes, n_jobs)
    modes = transform.modes
    own = np.maximum(transform.sums(np.ones((len(Z), 1)))[:, 0], 1.0)  # a row sum holds its own 1
    spectrum = np.zeros(shape, dtype=transform.dtype)
    spectrum[np.ix_(*[np.arange(-m, m + 1) for m in modes.half])] = transform.series(1 + 1j / own)
    sums = ifftn(spectrum, norm="forward", overwrite_x=True)
    step, middle = period / shape, 0.5 * (Z.min(axis=0) + Z.max(axis=0))
    first = np.floor((Z.min(axis=0) - middle) / step).astype(np.int64) - _MARGIN
    last = np.ceil((Z.max(axis=0) - middle) / step).astype(np.int64) + _MARGIN
    nodes = np.ix_(*[np.arange(a, b + 1) % g for a, b, g in zip(first, last, shape, strict=True)])
    return sums[nodes].astype(np.complex128), middle + first * step, step


def _by_pairs(Z: Array, profile: Profile, n_jobs: int | None) -> tuple[Array, Array, Array]:
    """``s + i Σ_j k_j / s_j`` on a grid, its first node and its step, by sums over all pairs."""
    step = np.full(Z.shape[1], _STEPS[Z.shape[1]])
    origin = Z.min(axis=0) - _MARGIN * step
    counts = np.ceil(np.ptp(Z, axis=0) / step).astype(np.int64) + 2 * _MARGIN + 1
    axes = [origin[d] + step[d] * np.arange(count) for d, count in enumerate(counts)]
    nodes = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(step))
    own = PairSums(Z, profile, n_jobs).sums(np.ones((len(Z), 1)))[:, 0]
    weights = np.column_stack([np.ones(len(Z)), 1 / own])

    def one(part: Slice) -> Array:
        return np.asarray(profile.value(squared_distances(nodes[part], Z)) @ weights)

    found = np.concatenate(run_tiles(one, spans(len(nodes), max(8, _BUDGET // len(Z))), n_jobs))
    return (found[:, 0] + 1j * found[:, 1]).reshape(counts), origin, step
