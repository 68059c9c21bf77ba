"""Sums of a latent kernel over all pairs in the plane, to three digits: cubic B-splines on a grid and real FFTs.

For points Z (n, 2), weights w (n,) and a profile k, with B a product of two cubic B-splines on a grid of step h

    (K w)_i ≈ Σ_g B(z_i - g) Σ_g' T(g - g') Σ_j B(z_j - g') w_j
              interpolate      convolve      spread

    (P w)_i = Σ_j w_j g(|z_i - z_j|²) (z_i - z_j) ≈ -½ ∂/∂z_i of the same, which differentiates the interpolant

T makes the mean square error over all positions in a cell least (Hockney and Eastwood 1988, section 8-3): with ω the
frequencies of the grid, the transform of the kernel's samples times b² / (Σ_p b_p²)², b_p = sinc⁴(ω/2π + p) of each
axis. The grid is twice as wide as the points along each axis, so that the convolution does not wrap around, and only
the quadrant with the points is transformed.

Sums and pulls are those of one symmetric kernel, so the pulls are the derivative of the sums to rounding: what a line
search needs. Value and pulls of a normaliser take two convolutions, or four real FFTs; ``kernels.gauss_transform``
takes five complex ones, of more digits, and differentiates in Fourier space.

Nodes are at multiples of h, so the error is that of a place and does not depend on the other points. With weights 1 it
is at most 1e-3 of a sum (Student; a sum of n is never small). Cost: O(n + G log G) for G nodes, memory 8 G bytes.
Points, columns and rows of the grid are processed in fixed tiles: the same bytes with any number of threads.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.fft import dctn, fft, ifft, irfft, next_fast_len, rfft
from scipy.sparse import csr_array

from sidelight.base.tiles import run_tiles, spans, sum_in_order
from sidelight.base.types import Array, Slice, SparseMatrix

from .profiles import Profile

__all__ = ["GridSums", "grid_cost", "grid_sums"]


_STEPS = {"student": 0.34, "gaussian": 0.3}
"""Distance of the nodes: errors of a row sum are below 1e-3 then."""
_SUPPORT = 4  # nodes along each axis under a cubic B-spline
_ALIASES = 2  # in the sum over p: b_3 is below 1e-5
_ROUNDED = 24  # sizes are rounded up to about so many steps of an octave, so that the next points have the same size
_LINES = 128  # rows or columns of the grid per tile
_PARTS, _MANY, _PART = 2, 16_384, 2**17  # parts that many points are cut into, and the points of the largest
_KEPT = 2**18  # points up to which their splines are kept: 250 bytes each
_POINT, _NODE, _FIXED = 2.4e-7, 5e-10, 5e-4
"""Seconds of a value and its pulls: per point; per node G, times log2 G; of the calls (measured on one thread)."""


def grid_sums(
    Z: Array, profile: Profile, n_jobs: int | None = None, *, before: object = None, pair: float = np.inf
) -> GridSums | None:
    """The sums of latent points (n, 2); None where tiles of pairs are faster, or for points or profiles without a grid.

    Parameters
    ----------
    Z : array of shape (n, 2)
    profile : Profile
    n_jobs : int or None
        Threads.
    before : object
        If these are ``GridSums`` of the same profile and size, their spectrum is used.
    pair : float
        Seconds that one pair takes by tiles.
    """
    n = len(Z)
    if Z.shape[1] != 2 or profile.name not in _STEPS or n * n / 2 * pair <= _FIXED or not np.isfinite(Z).all():
        return None
    nodes = np.ptp(Z, axis=0) / _STEPS[profile.name] + _SUPPORT + 1
    size = 4.0 * math.prod(nodes.tolist())
    if size > 2**23 + 32 * n or _seconds(n, size) >= n * n / 2 * pair:
        return None
    return GridSums(Z, profile, n_jobs, before=before)


def grid_cost(n: int, extent: float) -> tuple[float, float]:
    """Estimated bytes and seconds of a value and its pulls, for ``n`` points in a square of this width."""
    size = 4.0 * (extent / _STEPS["student"] + _SUPPORT + 1) ** 2
    return 8.0 * size + 100.0 * n, _seconds(n, size)


def _seconds(n: int, size: float) -> float:
    return _FIXED + _POINT * n + _NODE * size * math.log2(size)


class GridSums:
    """Sums and pulls of the kernel of the latent points ``Z`` (n, 2), for any weights.

    Examples
    --------
    >>> from sidelight.kernels.profiles import STUDENT
    >>> Z = np.array([[0.0, 0.0], [1.0, 0.0]])
    >>> sums = GridSums(Z, STUDENT).sums(np.ones((2, 1)))
    >>> bool(np.allclose(sums, 1.5, rtol=1e-2))
    True
    """

    def __init__(self, Z: Array, profile: Profile, n_jobs: int | None = None, *, before: object = None) -> None:
        self.profile, self.n_jobs, self.step = profile, n_jobs, _STEPS[profile.name]
        at = np.asarray(Z, dtype=np.float64) / self.step
        first = np.floor(at)
        inside = (at - first).astype(np.float32)
        node = (first - first.min(axis=0)).astype(np.int32)
        self.shape = tuple((node.max(axis=0) + _SUPPORT).tolist())
        self.corner = node[:, 0] * self.shape[1] + node[:, 1]
        self.weights = [_spline(t) for t in inside.T]
        self.slopes = [_spline_slope(t) for t in inside.T]
        n = len(node)
        self.parts = spans(n, n if n < _MANY else min(-(-n // _PARTS), _PART))
        self.kept: dict[int, tuple[SparseMatrix, SparseMatrix, SparseMatrix]] = {}
        self.period = tuple(_rounded(2 * length) for length in self.shape)
        if isinstance(before, GridSums) and before.profile is profile and before.period == self.period:
            self.spectrum: Array = before.spectrum
        else:
            self.spectrum = _spectrum(profile, self.step, self.period)

    def sums(self, W: Array) -> Array:
        """``Σ_j W_jc k_ij`` (n, c), for weights (n, c)."""
        return np.column_stack([self.values_and_pull(self.potential(w))[0] for w in W.T])

    def pulls(self, W: Array) -> Array:
        """``Σ_j W_jc g_ij (z_i - z_j)`` (q, n, c), for weights (n, c)."""
        return np.stack([self.values_and_pull(self.potential(w))[1].T for w in W.T], axis=2)

    def potential(self, w: Array) -> Array:
        """``Σ_g' T(g - g') Σ_j B(z_j - g') w_j`` at the nodes, for weights (n,)."""
        return self._convolved(self._spread(w))

    def values_and_pull(self, potential: Array) -> tuple[Array, Array]:
        """``(K w)_i`` (n,) and ``(P w)_i`` (n, 2) from the potential of w."""
        flat, out = potential.ravel(), np.empty((3, len(self.corner)))

        def one(part: Slice) -> None:
            for number, splines in enumerate(self._splines(part)):
                out[number, part] = splines @ flat

        run_tiles(one, self.parts, self.n_jobs)
        return out[0], (-0.5 / self.step) * out[1:].T

    def _splines(self, part: Slice) -> tuple[SparseMatrix, SparseMatrix, SparseMatrix]:
        """``B(z_i - g)`` (m, G) of some points, and its derivatives along both axes, in units of h."""
        if part.start in self.kept:
            return self.kept[part.start]
        (a, b), (da, db) = ([array[part] for array in arrays] for arrays in (self.weights, self.slopes))
        steps = np.arange(_SUPPORT, dtype=np.int32)
        nodes = (self.corner[part, None, None] + (self.shape[1] * steps[:, None] + steps)).ravel()
        starts = np.arange(0, len(nodes) + 1, _SUPPORT**2, dtype=np.int32)

        def matrix(along: Array, across: Array) -> SparseMatrix:
            values = np.repeat(along, _SUPPORT, axis=1) * np.tile(across, (1, _SUPPORT))  # faster than to broadcast
            return csr_array((values.ravel(), nodes, starts), shape=(len(along), math.prod(self.shape)))

        made = matrix(a, b), matrix(da, b), matrix(a, db)
        if len(self.corner) <= _KEPT:
            self.kept[part.start] = made
        return made

    def _spread(self, w: Array) -> Array:
        """``Σ_j B(z_j - g) w_j`` at the nodes."""
        w = np.asarray(w, dtype=np.float32)
        grids = run_tiles(lambda part: self._splines(part)[0].T @ w[part], self.parts, self.n_jobs)
        return sum_in_order(grids).reshape(self.shape)

    def _convolved(self, grid: Array) -> Array:
        """The spread weights (a, b) convolved with T."""
        (rows, columns), (height, width) = self.shape, self.period
        F = np.empty((rows, width // 2 + 1), dtype=np.complex64)
        out = np.empty(self.shape, dtype=np.float32)

        def along_rows(part: Slice) -> None:
            F[part] = rfft(grid[part], n=width, axis=1)

        def along_columns(part: Slice) -> None:
            G = fft(F[:, part], n=height, axis=0)
            G *= self.spectrum[:, part]
            F[:, part] = ifft(G, axis=0, overwrite_x=True)[:rows]

        def back_along_rows(part: Slice) -> None:
            out[part] = irfft(F[part], n=width, axis=1)[:, :columns]

        for work, count in ((along_rows, rows), (along_columns, F.shape[1]), (back_along_rows, rows)):
            run_tiles(work, spans(count, _LINES), self.n_jobs)
        return out


def _rounded(length: int) -> int:
    """An even size of at least ``length`` that is fast to transform; most sizes a little smaller give the same one."""
    step = max(2, 2 ** round(math.log2(length / _ROUNDED)))
    size = -(-length // step) * step
    while (fast := int(next_fast_len(size, real=True))) % 2:
        size = fast + 1
    return fast


def _spectrum(profile: Profile, step: float, period: tuple[int, ...]) -> Array:
    """The transform of T for real FFTs of this size (a, b // 2 + 1)."""
    squares = [np.square(step * np.arange(length // 2 + 1)) for length in period]
    T = np.asarray(dctn(profile.value(squares[0][:, None] + squares[1]), type=1))
    for axis, length in enumerate(period):
        turns = np.arange(length // 2 + 1) / length
        squared = sum(np.sinc(turns + p) ** (2 * _SUPPORT) for p in range(-_ALIASES, _ALIASES + 1))
        T *= (np.sinc(turns) ** (2 * _SUPPORT) / squared**2).reshape((-1, 1) if axis == 0 else (1, -1))
    return np.concatenate([T, T[-2:0:-1]]).astype(np.float32)


def _spline(t: Array) -> Array:
    """Values (n, 4) of the cubic B-splines that are not 0 at ``t`` (n,) in [0, 1)."""
    u = 1 - t
    return np.column_stack([u**3 / 6, (4 - 6 * t**2 + 3 * t**3) / 6, (4 - 6 * u**2 + 3 * u**3) / 6, t**3 / 6])


def _spline_slope(t: Array) -> Array:
    """Derivatives (n, 4) of the cubic B-splines at ``t`` (n,)."""
    u = 1 - t
    return np.column_stack([-(u**2) / 2, (3 * t**2 - 4 * t) / 2, (4 * u - 3 * u**2) / 2, t**2 / 2])
