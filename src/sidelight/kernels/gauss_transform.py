"""Sums of a latent kernel over all pairs in O(n + M log M): a Gauss transform by non-uniform FFT (finufft).

For points Z (n, q), q ≤ 3, bandwidth 1, a profile k with slope g = -dk/d(r²), and weights w (n,)

    sums    (K w)_i = Σ_j w_j k(|z_i - z_j|²)
    pulls   (P w)_i = Σ_j w_j g(|z_i - z_j|²) (z_i - z_j) = -½ ∂(K w)/∂z_i

On a box with periods L_d the kernel is a Fourier series, k(|x|²) = Σ_m c_m exp(i ω_m·x) with ω_m = 2π m / L, so

    (K w)_i = Σ_m exp(i ω_m·z_i)  c_m            Σ_j exp(-i ω_m·z_j) w_j       (P w)_i: the same with  -½ i ω_m c_m
              type 2              multiply       type 1

which takes O(n + M log M) for M modes. The pulls are differentiated in Fourier space because z_i (K w)_i - (K (w z))_i
would cancel in dense clusters. K is real, so two columns of weights share a complex transform.

gaussian  c_m = Π_d √π/L_d exp(-ω²/4) (Poisson); with e = 1e-6/n (1e-10 at most), L_d = extent + √log(1/e) keeps the
          wrap-around error, and |ω| ≤ 2 √log(1/e) the truncation error, below e for a pair: 1e-6 for a sum that is at
          least 1.
student   by cosine transforms of samples (``student_series``); L_d = 2 (extent + 4), |ω| ≤ log(1e8), as the spectrum
          falls as e^-ω. Where few digits are asked for, in two parts with fewer modes each, where that is faster.

A ``tolerance`` (relative, of a row sum) asks for fewer digits. For initialisation, without a line search, 1e-3 is
enough: float32, fewer modes and narrower spreading take a tenth of the time. Sums and pulls are those of the same
truncated kernel, so the pulls remain the exact derivative of the sums.

Plans of the library are kept (``transform_plans``); each runs on one thread, and several run in parallel.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sidelight.base.tiles import run_tiles, thread_count
from sidelight.base.types import Array

from .profiles import GAUSSIAN, STUDENT, Profile
from .student_series import FAR_TAPER, TAPER, far_frequency, far_series, near_reach, near_series, student_series
from .transform_plans import Grid, Plans, library, packed, unpacked

__all__ = [
    "FastSums",
    "Modes",
    "SplitSums",
    "factored_cost",
    "factored_seconds",
    "factors_are_faster",
    "fast_sums",
    "is_faster",
    "modes_of",
    "normaliser_cost",
    "oversampling_of",
    "parts_of",
    "split_modes",
]


_ERROR = 1e-6  # of a row sum of Gaussians, in the worst case: all other points in one cluster
_FEW = 10_000  # fewer points get the same precision: pulls in a tight cluster are small, and need their digits
_STUDENT_ERROR = 1e-8  # of one pair; a row sum of n is never small, as its tails reach everywhere
_PRECISION = 1e-9  # of the library's transforms, relative
_WIDTHS = {1.25: 15, 1.5: 12, 2.0: 10}
"""Oversampling factors of finufft's grid, and the grid points (per axis) to which it then spreads a point."""
_SINGLE_WIDTHS = {1.25: 7}  # the same for few digits
_SINGLE = 3e-4  # tolerance from which on float32 is precise enough
_PLAN, _POINT, _SPREAD, _FFT = 6e-5, 3.7e-8, 8e-10, 1.65e-9
"""Seconds: per run of a kept plan; per point; per grid point that a point is spread to; of the FFT, per G log2 G."""
_PAIR = {"gaussian": 3.5e-9, "student": 1.7e-9}
"""Seconds per pair of an exact evaluation: half the time of one thread, because pairs run well on two threads, and
transforms, some of which wait for others, hardly do. (A pair is cheaper without ``exp``, coefficients dearer.)"""
_LOOSE_PAIR = 8e-9  # the same where few digits are asked for, whose pairs are visited both ways (``pair_sums``)
_TILED_PAIR, _TILED_FACTOR = 1.2e-8, 1e-10  # seconds of a pair of a tile made of factors, and per factor
_THREADED = 1e-3  # seconds of a transform from which on another thread is worth its start
_AGAIN = 1.6  # times as long where the kernel is too large to be kept, and is computed twice
_KEPT_ROWS = 12_000
_PART = 0.02  # of the tolerance may be lost of a pair where a part of the kernel is cut off
_WIDEST = 1e6  # units that a split kernel may span
Item = TypeVar("Item")


@dataclass(frozen=True)
class Modes:
    """Fourier modes of a periodic box.

    Parameters
    ----------
    half : tuple of int
        Axis d has the modes -half[d] .. half[d].
    period : tuple of float
        Of each axis.
    precision : float
        Relative precision of the transforms.
    """

    half: tuple[int, ...]
    period: tuple[float, ...]
    precision: float = _PRECISION

    @property
    def single(self) -> bool:
        """Whether float32 is precise enough."""
        return self.precision >= 0.1 * _SINGLE

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of modes of each axis: about a dozen where the points hardly vary."""
        return tuple(2 * m + 1 for m in self.half)

    @property
    def count(self) -> int:
        """Total number of modes."""
        return math.prod(self.shape)

    def frequency(self, axis: int) -> Array:
        """``ω`` of each mode of an axis, shaped to be multiplied with an array of all modes."""
        m = self.half[axis]
        return _along(np.arange(-m, m + 1) * (2 * np.pi / self.period[axis]), axis, len(self.half))


def _along(values: Array, axis: int, n_axes: int) -> Array:
    """Reshape a vector so that it broadcasts along one axis of several."""
    return values.reshape([-1 if d == axis else 1 for d in range(n_axes)])


def modes_of(profile: Profile, n: int, extent: Array, tolerance: float | None = None) -> Modes | None:
    """The modes needed for ``n`` points of the given extent.

    Parameters
    ----------
    profile : Profile
    n : int
    extent : array of shape (q,)
        Width of the point cloud along each axis.
    tolerance : float or None
        Relative error allowed in a row sum. None: the tightest.

    Returns
    -------
    Modes or None
        None if there would be too many, or for a profile without a known transform.
    """
    if profile is GAUSSIAN:
        reach = math.sqrt(math.log(max(n, _FEW) / (tolerance or _ERROR)))
        period, highest = extent + reach, 2 * reach
    elif profile is STUDENT:
        period, highest = 2 * (extent + TAPER), -math.log(tolerance or _STUDENT_ERROR)
    else:
        return None
    half = [float(m) for m in np.ceil(highest * period / (2 * np.pi))]
    precision = _PRECISION if tolerance is None else 0.1 * tolerance
    if math.prod(2 * m + 1 for m in half) > _most_modes(n) * (1 if tolerance is None else 2):
        return None
    return Modes(tuple(int(m) for m in half), tuple(float(length) for length in period), precision)


def split_modes(extent: Array, tolerance: float) -> tuple[Modes, Modes]:
    """Modes of the near and of the far part of the Student kernel, for points of the given extent (q,)."""
    error = _PART * tolerance
    reach, highest = near_reach(error), (-math.log(tolerance), far_frequency(error))
    boxes = np.maximum(extent + reach, 2 * reach), 2 * (extent + FAR_TAPER)
    near, far = (
        Modes(tuple(np.ceil(top * box / (2 * np.pi)).astype(np.int64).tolist()), tuple(box.tolist()), 0.1 * tolerance)
        for box, top in zip(boxes, highest, strict=True)
    )
    return near, far


def parts_of(profile: Profile, n: int, extent: Array, tolerance: float | None = None) -> tuple[Modes, ...]:
    """The modes of the kernel, or of its near and far part where that is faster; none if there would be too many."""
    modes = modes_of(profile, n, extent, tolerance)
    whole = () if modes is None else (modes,)
    if profile is not STUDENT or tolerance is None or tolerance < _SINGLE or not (extent < _WIDEST).all():
        return whole
    parts = split_modes(extent, tolerance)
    if sum(part.count for part in parts) > 2 * _most_modes(n):
        return whole
    return whole if whole and _seconds(n, *whole) <= _seconds(n, *parts) else parts


def oversampling_of(n: int, modes: Modes) -> float:
    """Oversampling of finufft's grid with the least estimated time: fine for many points, coarse for many modes."""
    return min(_widths(modes), key=lambda factor: _transform_seconds(n, modes, factor))


def is_faster(profile: Profile, n: int, *parts: Modes) -> bool:
    """Whether value and gradient of H(Z) cost less by q + 3 transforms of each part than by n²/2 pairs, on two threads.

    The answer depends on the number of points and their extent only, so that the same points always use the same
    method.
    """
    transforms = len(parts[0].half) + 3
    pairs = n * n / 2 * (_AGAIN if n > _KEPT_ROWS else 1.0)
    pair = _PAIR[profile.name] if parts[0].precision <= _PRECISION else _LOOSE_PAIR
    return transforms * _seconds(n, *parts) < pair * pairs


def factors_are_faster(n: int, modes: Modes, columns: int) -> bool:
    """Whether the FFT beats tiles of pairs for sums weighted with a kernel of ``columns`` factors."""
    return factored_seconds(n, modes, columns) < n * n / 2 * (_TILED_PAIR + _TILED_FACTOR * columns)


def factored_seconds(n: int, modes: Modes, columns: int) -> float:
    """Seconds of value and gradient with ``columns`` factors: for each, one transform, and q + 1 for the pulls."""
    return (len(modes.half) + 2) * columns * _transform_seconds(n, modes, oversampling_of(n, modes))


def factored_cost(profile: Profile, n: int, q: int, columns: int) -> tuple[float, float]:
    """Estimated bytes and seconds of a value and gradient with ``columns`` factors.

    The extent assumed is of a latent space with one unit of volume for each of the 3^q · columns positions that the
    factors can distinguish, at most n.
    """
    extent = np.full(q, min(n, 3**q * columns) ** (1.0 / q))
    modes = modes_of(profile, n, extent) if 1 <= q <= 3 else None
    if modes is None or not factors_are_faster(n, modes, columns):
        return 12.0 * n * columns, n * n / 2 * (_TILED_PAIR + _TILED_FACTOR * columns)
    return 200.0 * modes.count + n * (24.0 * columns + 1500.0), factored_seconds(n, modes, columns)


def normaliser_cost(profile: Profile, n: int, q: int, tolerance: float | None = None) -> tuple[float, float]:
    """Estimated bytes and seconds of a value and gradient of H(Z), for one latent point per unit of volume."""
    kept = min(2.0 * n * n, 2.0**28)
    parts = parts_of(profile, n, np.full(q, n ** (1.0 / q)), tolerance) if 1 <= q <= 3 else ()
    if not parts or not is_faster(profile, n, *parts):
        return kept, 1e-3 + 5e-9 * n * n / 2 * (_AGAIN if n > _KEPT_ROWS else 1.0)
    return 100.0 * sum(part.count for part in parts) + 50.0 * n * (q + 3), (q + 3) * _seconds(n, *parts)


def fast_sums(
    Z: Array,
    profile: Profile,
    n_jobs: int | None = None,
    *,
    tolerance: float | None = None,
    columns: int = 1,
    plans: Plans | None = None,
) -> FastSums | None:
    """The transform of latent points (n, q); None where tiles of pairs are faster, or the only way.

    Parameters
    ----------
    Z : array of shape (n, q)
    profile : Profile
    n_jobs : int or None
        Threads.
    tolerance : float or None
        Relative error allowed in a row sum. None: the tightest.
    columns : int
        Factors that every sum is taken for.
    plans : Plans or None
        Plans kept from other points, and for other points.
    """
    n, q = Z.shape
    if not 1 <= q <= 3 or n < 2:
        return None
    if columns == 1 and n * n / 2 * _LOOSE_PAIR <= (q + 3) * _PLAN:
        return None  # pairs take no longer than the calls alone, whatever the extent: below 270 points
    if not np.isfinite(Z).all():
        return None
    extent = np.ptp(Z, axis=0)
    parts = parts_of(profile, n, extent, tolerance)
    if not parts or library() is None:
        return None
    if not (is_faster(profile, n, *parts) if columns == 1 else factors_are_faster(n, parts[0], columns)):
        return None
    if len(parts) == 1:
        return FastSums(Z, profile, parts[0], n_jobs, plans)
    return SplitSums(Z, parts[0], parts[1], n_jobs, plans)


class FastSums:
    """Sums and pulls of the kernel of the latent points ``Z`` (n, q), for any weights, by non-uniform FFT.

    Examples
    --------
    >>> from sidelight.kernels.profiles import GAUSSIAN
    >>> Z = np.array([[0.0], [1.0]])
    >>> sums = FastSums(Z, GAUSSIAN, modes_of(GAUSSIAN, 2, np.ptp(Z, axis=0))).sums(np.ones((2, 1)))
    >>> bool(np.allclose(sums, 1 + np.exp(-1)))
    True
    """

    def __init__(
        self,
        Z: Array,
        profile: Profile,
        modes: Modes,
        n_jobs: int | None = None,
        plans: Plans | None = None,
        series: list[Array] | None = None,
    ) -> None:
        """``series``: the coefficients of a part of the profile; None: those of the profile."""
        self.modes, self.plans = modes, plans or Plans()
        oversampling = oversampling_of(len(Z), modes)
        self.n_jobs = n_jobs if _transform_seconds(len(Z), modes, oversampling) >= _THREADED else 1
        Z = np.asarray(Z, dtype=np.float64)
        middle = 0.5 * (Z.min(axis=0) + Z.max(axis=0))
        turns = (Z - middle) * (2 * np.pi / np.array(modes.period))
        self.dtype = np.dtype(np.complex64 if modes.single else np.complex128)
        real = np.float32 if modes.single else np.float64
        self.grid = Grid(modes.shape, modes.precision, self.dtype, oversampling)
        self.angles = [np.ascontiguousarray(column, dtype=real) for column in turns.T]
        if series is None:
            whole = profile is STUDENT
            series = student_series(modes.half, modes.period) if whole else _gaussian_series(modes)
        self.coefficients = [factor.astype(real) for factor in series]

    def sums(self, W: Array) -> Array:
        """``Σ_j W_jc k_ij`` (n, c), for weights (n, c)."""
        found = self._each(lambda V, place: self._at_points(self.series(V, place), place), packed(W))
        return unpacked(found, W.shape[1])

    def pulls(self, W: Array) -> Array:
        """``Σ_j W_jc g_ij (z_i - z_j)`` (q, n, c), for weights (n, c)."""
        series = self._each(self.series, packed(W))
        work = [(axis, F) for axis in range(len(self.angles)) for F in series]
        found = self._each(lambda item, place: self._at_points(self._pulling(*item), place), work)
        step = len(series)
        return np.stack([unpacked(found[k : k + step], W.shape[1]) for k in range(0, len(found), step)])

    def _each(self, work: Callable[[Item, int], Array], items: list[Item]) -> list[Array]:
        """``work(item, place)`` of every item, on threads; on one thread all take the same plans."""
        alone = thread_count(self.n_jobs) == 1
        return run_tiles(lambda i: work(items[i], 0 if alone else i), range(len(items)), self.n_jobs)

    def series(self, V: Array, place: int = 0) -> Array:
        """``c_m Σ_j exp(-i ω_m·z_j) v_j`` for complex weights (n,), or for some at once (b, n)."""
        F = self.plans.transform(1, self.grid, self.angles, V, place)
        for factor in self.coefficients:
            F *= factor
        return F

    def _pulling(self, axis: int, F: Array) -> Array:
        """``-½ i ω F``: the spectrum of the pulls along an axis."""
        return np.asarray(F * (-0.5j * self.modes.frequency(axis)).astype(self.dtype))

    def _at_points(self, F: Array, place: int) -> Array:
        """``Σ_m exp(i ω_m·z_i) F_m`` (n,) or (b, n)."""
        return self.plans.transform(2, self.grid, self.angles, F, place)


class SplitSums(FastSums):
    """The same of the Student kernel in two parts: the near one, and ``far``."""

    def __init__(self, Z: Array, near: Modes, far: Modes, n_jobs: int | None, plans: Plans | None) -> None:
        plans = plans or Plans()
        super().__init__(Z, STUDENT, near, n_jobs, plans, near_series(near.half, near.period))
        self.far = FastSums(Z, STUDENT, far, n_jobs, plans, far_series(far.half, far.period))

    def sums(self, W: Array) -> Array:
        """``Σ_j W_jc k_ij`` (n, c), for weights (n, c)."""
        return super().sums(W) + self.far.sums(W)

    def pulls(self, W: Array) -> Array:
        """``Σ_j W_jc g_ij (z_i - z_j)`` (q, n, c), for weights (n, c)."""
        return super().pulls(W) + self.far.pulls(W)


def _gaussian_series(modes: Modes) -> list[Array]:
    """``√π/L exp(-ω²/4)`` of each axis."""
    q = len(modes.half)
    return [np.sqrt(np.pi) / modes.period[d] * np.exp(-0.25 * modes.frequency(d) ** 2) for d in range(q)]


def _transform_seconds(n: int, modes: Modes, oversampling: float) -> float:
    """Estimated seconds of a transform: spreading each point to the grid, and the FFT (measured on one thread)."""
    q = len(modes.half)
    grid = modes.count * math.pow(oversampling, q)
    places = math.pow(_widths(modes)[oversampling], q)
    share = 0.5 if modes.single else 1.0
    return _PLAN + share * (n * (_POINT + _SPREAD * places) + _FFT * grid * math.log2(grid))


def _seconds(n: int, *parts: Modes) -> float:
    """Estimated seconds of one transform of each part."""
    return sum(_transform_seconds(n, modes, oversampling_of(n, modes)) for modes in parts)


def _widths(modes: Modes) -> dict[float, int]:
    """Oversampling factors and the kernel width of finufft for each."""
    return _SINGLE_WIDTHS if modes.single else _WIDTHS


def _most_modes(n: int) -> int:
    """Largest number of modes, for memory: about 100 bytes each."""
    return 2**22 + 16 * n
