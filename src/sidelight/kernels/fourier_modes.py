"""Fourier modes of a latent kernel on a periodic box, and the grids of finufft that suit the processor's cache.

How wide the box and how many the modes are is in ``gauss_transform``. finufft computes on a grid that is finer than the
modes by an oversampling factor. Where a row of that grid has a multiple of 128 numbers, columns lie a multiple of 1 or
2 KiB apart, fall into the same few sets of the cache and push each other out: with 720 x 512 points a transform takes
three to four times as long as with 720 x 540. ``without_conflicts`` adds modes until the next size.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array

from .profiles import GAUSSIAN, STUDENT, Profile
from .student_series import FAR_TAPER, TAPER, far_frequency, near_reach

__all__ = ["PRECISION", "SINGLE", "Modes", "modes_of", "most_modes", "split_modes", "without_conflicts"]


_ERROR = 1e-6  # of a row sum of Gaussians, in the worst case: all other points in one cluster
_FEW = 10_000  # fewer points get the same precision: pulls in a tight cluster are small, and need their digits
_STUDENT_ERROR = 1e-8  # of one pair; a row sum of n is never small, as its tails reach everywhere
PRECISION = 1e-9
"""Of the library's transforms, relative."""
SINGLE = 3e-4
"""Tolerance from which on float32 is precise enough."""
_PART = 0.02  # of the tolerance may be lost of a pair where a part of the kernel is cut off
_CONFLICT = 128  # a multiple of so many numbers in a row of the grid


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
    precision: float = PRECISION

    @property
    def single(self) -> bool:
        """Whether float32 is precise enough."""
        return self.precision >= 0.1 * SINGLE

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
    precision = PRECISION if tolerance is None else 0.1 * tolerance
    if math.prod(2 * m + 1 for m in half) > most_modes(n) * (1 if tolerance is None else 2):
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


def most_modes(n: int) -> int:
    """Largest number of modes, for memory: about 100 bytes each."""
    return 2**22 + 16 * n


def without_conflicts(modes: Modes, oversampling: float) -> Modes:
    """The same with more modes along the last axis, if a row of finufft's grid would be a multiple of 128 numbers.

    >>> without_conflicts(Modes((279, 200), (250.0, 180.0)), 1.25).half  # 512 numbers become 540
    (279, 205)
    """
    *others, m = modes.half
    while others and grid_size(2 * m + 1, oversampling) % _CONFLICT == 0:
        m += 1
    return modes if m == modes.half[-1] else replace(modes, half=(*others, m))


def grid_size(modes: int, oversampling: float) -> int:
    """Points that finufft takes for so many modes of an axis: the next even number without factors above 5.

    >>> grid_size(401, 1.25)
    512
    """
    size = 2 * math.ceil(math.ceil(modes * oversampling) / 2)
    while _without_factors(size) > 1:
        size += 2
    return size


def _without_factors(size: int) -> int:
    """A number without its factors 2, 3 and 5."""
    for prime in (2, 3, 5):
        while size % prime == 0:
            size //= prime
    return size
