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
from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from sidelight.base.tiles import run_tiles, spans, sum_in_order, thread_count
from sidelight.base.types import Array, DType

from .fourier_modes import PRECISION, SINGLE, Modes, modes_of, most_modes, split_modes, without_conflicts
from .profiles import STUDENT, Profile
from .student_series import far_series, near_series, student_series
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


_WIDTHS = {1.25: 15, 1.5: 12, 2.0: 10}
"""Oversampling factors of finufft's grid, and the grid points (per axis) to which it then spreads a point."""
_SINGLE_WIDTHS = {1.25: 7}  # the same for few digits
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
_WIDEST = 1e6  # units that a split kernel may span
Item = TypeVar("Item")
Series = Callable[[Sequence[int], Sequence[float]], list[Array]]
"""Coefficients of a kernel from the modes and periods of the axes."""


def parts_of(profile: Profile, n: int, extent: Array, tolerance: float | None = None) -> tuple[Modes, ...]:
    """The modes of the kernel, or of its near and far part where that is faster; none if there would be too many."""
    modes = modes_of(profile, n, extent, tolerance)
    whole = () if modes is None else (modes,)
    if profile is not STUDENT or tolerance is None or tolerance < SINGLE or not (extent < _WIDEST).all():
        return whole
    parts = split_modes(extent, tolerance)
    if sum(part.count for part in parts) > 2 * most_modes(n):
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
    pair = _PAIR[profile.name] if parts[0].precision <= PRECISION else _LOOSE_PAIR
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
    Z = np.asfortranarray(Z)
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
        series: Series | None = None,
    ) -> None:
        """``series``: the coefficients of a part of the profile; None: those of the profile."""
        oversampling = oversampling_of(len(Z), modes)
        self.modes, self.plans = without_conflicts(modes, oversampling), plans or Plans()
        self.n_jobs = n_jobs if _transform_seconds(len(Z), modes, oversampling) >= _THREADED else 1
        self.dtype = np.dtype(np.complex64 if modes.single else np.complex128)
        self.grid = Grid(self.modes.shape, modes.precision, self.dtype, oversampling)
        self.parts: Sequence[FastSums] = (self,)
        self._Z = np.asarray(Z, dtype=np.float64)
        self._angles: list[Array] | None = None
        self._coefficients: list[Array] | None = None
        self._series = series or (student_series if profile is STUDENT else _gaussian_series)

    @property
    def angles(self) -> list[Array]:
        """The points on a box of period 2π, one array (n,) for each axis."""
        if self._angles is None:  # not a cached_property, whose lock would let one part of a kernel wait for the other
            middle = 0.5 * (self._Z.min(axis=0) + self._Z.max(axis=0))
            turns = (self._Z - middle) * (2 * np.pi / np.array(self.modes.period))
            self._angles = [np.ascontiguousarray(column, dtype=self._real) for column in turns.T]
        return self._angles

    @property
    def coefficients(self) -> list[Array]:
        """Arrays whose product is c_m."""
        if self._coefficients is None:
            series = self._series(self.modes.half, self.modes.period)
            self._coefficients = [factor.astype(self._real) for factor in series]
        return self._coefficients

    @property
    def _real(self) -> DType:
        return np.dtype(np.float32 if self.modes.single else np.float64)

    def sums(self, W: Array) -> Array:
        """``Σ_j W_jc k_ij`` (n, c), for weights (n, c)."""
        work = [(part, V) for part in self.parts for V in packed(W, part.dtype)]
        found = self._each(lambda part, V, place: part.at_points(part.series(V, place), place), work)
        return self._total(lambda some: unpacked(some, W.shape[1]), found)

    def pulls(self, W: Array) -> Array:
        """``Σ_j W_jc g_ij (z_i - z_j)`` (q, n, c), for weights (n, c)."""
        work = [(part, V) for part in self.parts for V in packed(W, part.dtype)]
        series = self._each(lambda part, V, place: part.series(V, place), work)
        axes, step = range(self._Z.shape[1]), len(work) // len(self.parts)
        spread = [
            ((part, axis), F)
            for part, some in zip(self.parts, _split(series, step), strict=True)
            for axis in axes
            for F in some
        ]
        found = self._each(lambda on, F, place: on[0].at_points(on[0].pulling(on[1], F), place), spread)
        return self._total(
            lambda some: np.stack([unpacked(values, W.shape[1]) for values in _split(some, step)]), found
        )

    def _each(self, work: Callable[[Item, Array, int], Array], items: list[tuple[Item, Array]]) -> list[Array]:
        """``work(part, array, place)`` of every item, on threads; on one thread all take the same plans."""
        alone = thread_count(self.n_jobs) == 1
        return run_tiles(lambda i: work(*items[i], 0 if alone else i), range(len(items)), self.n_jobs)

    def _total(self, joined: Callable[[list[Array]], Array], found: list[Array]) -> Array:
        """The sum over the parts of the kernel of their results, each joined from a list."""
        return sum_in_order([joined(some) for some in _split(found, len(found) // len(self.parts))])

    def series(self, V: Array, place: int = 0) -> Array:
        """``c_m Σ_j exp(-i ω_m·z_j) v_j`` for complex weights (n,), or for some at once (b, n)."""
        F = self.plans.transform(1, self.grid, self.angles, V, place)
        for factor in self.coefficients:
            F *= factor
        return F

    def pulling(self, axis: int, F: Array) -> Array:
        """``-½ i ω F``: the spectrum of the pulls along an axis."""
        return np.asarray(F * (-0.5j * self.modes.frequency(axis)).astype(self.dtype))

    def at_points(self, F: Array, place: int = 0) -> Array:
        """``Σ_m exp(i ω_m·z_i) F_m`` (n,) or (b, n)."""
        return self.plans.transform(2, self.grid, self.angles, F, place)


class SplitSums(FastSums):
    """The same of the Student kernel in two parts, the near and the far one, which are transformed side by side."""

    def __init__(self, Z: Array, near: Modes, far: Modes, n_jobs: int | None, plans: Plans | None) -> None:
        plans = plans or Plans()
        super().__init__(Z, STUDENT, near, n_jobs, plans, near_series)
        self.parts = (self, FastSums(Z, STUDENT, far, n_jobs, plans, far_series))


def _split(items: list[Item], size: int) -> list[list[Item]]:
    """Lists of ``size`` items each."""
    return [items[part] for part in spans(len(items), size)]


def _gaussian_series(half: Sequence[int], period: Sequence[float]) -> list[Array]:
    """``√π/L exp(-ω²/4)`` of each axis."""
    modes = Modes(tuple(half), tuple(period))
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
