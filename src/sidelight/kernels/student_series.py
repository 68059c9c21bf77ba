"""Fourier coefficients of the Student kernel 1/(1 + r²) on a periodic box: whole, or as a near and a far part.

The kernel has no compact support, so beyond the extent of the points r² is replaced, axis by axis, by a smooth even
periodic function (``_bent_squares``), which needs a box twice as wide as the points. Its spectrum falls as e^-ω.

    1/(1 + r²)  =  exp(-a (1 + r²)) / (1 + r²)   +   (1 - exp(-a (1 + r²))) / (1 + r²)
                          near                                  far

The near part vanishes within a few units, so that it is repeated by a box that is hardly wider than the points; the far
part is a mixture of Gaussians wider than 1/√a, whose spectrum ends early: ∫_{|ω|>c} is below a exp(-c²/4a). Together
they have a third of the modes of the whole or fewer.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from scipy.fft import dctn
from scipy.special import erf, erfc

from sidelight.base.types import Array

__all__ = ["FAR_TAPER", "TAPER", "far_frequency", "far_series", "near_reach", "near_series", "student_series"]


TAPER = 4.0
"""Length of the stretch of an axis where r² is made periodic."""
FAR_TAPER = 12.0
"""The same for the far part, which has no frequencies for a short one."""
_SPLIT = 0.15  # a


def near_reach(error: float) -> float:
    """Distance at which the near part has fallen to ``error``.

    >>> round(near_reach(1e-4), 1)
    6.0
    """
    level = math.log(1 / error)
    x = level / _SPLIT
    for _ in range(20):  # x = 1 + r² solves a x + log x = level
        x = (level - math.log(x)) / _SPLIT
    return math.sqrt(max(x - 1.0, 1.0))


def far_frequency(error: float) -> float:
    """Frequency beyond which the far part has no more than ``error`` of a pair."""
    return math.sqrt(4 * _SPLIT * math.log(_SPLIT / error))


def student_series(half: Sequence[int], period: Sequence[float]) -> list[Array]:
    """Of the whole kernel: one array, as the coefficients are no product over axes."""
    return _cosine_series(half, period, _bent_squares, lambda R: 1 / (1 + R))


def near_series(half: Sequence[int], period: Sequence[float]) -> list[Array]:
    """Of its near part, for a box that is wider than the points by ``near_reach``."""
    return _cosine_series(half, period, lambda x, border: x * x, lambda R: np.exp(-_SPLIT * (1 + R)) / (1 + R))


def far_series(half: Sequence[int], period: Sequence[float]) -> list[Array]:
    """Of its far part, for a box twice as wide as the points and their ``FAR_TAPER``."""
    bent = functools.partial(_bent_squares, taper=FAR_TAPER)
    return _cosine_series(half, period, bent, lambda R: -np.expm1(-_SPLIT * (1 + R)) / (1 + R))


def _cosine_series(
    half: Sequence[int],
    period: Sequence[float],
    squares: Callable[[Array, float], Array],
    kernel: Callable[[Array], Array],
) -> list[Array]:
    """Coefficients of ``kernel(Σ_d squares(x_d))`` by the cosine transform of samples in a quarter of the box."""
    q = len(half)
    R: Array = np.zeros(tuple(m + 1 for m in half))
    for d, m in enumerate(half):
        border = 0.5 * period[d]
        R += squares(np.linspace(0.0, border, m + 1), border).reshape([-1 if k == d else 1 for k in range(q)])
    C = np.asarray(dctn(kernel(R), type=1))
    for d, m in enumerate(half):
        C /= 2 * m
        C[(slice(None),) * d + (-1,)] *= 0.5  # the highest mode stands for two, one at either end
    return [C[np.ix_(*[np.abs(np.arange(-m, m + 1)) for m in half])]]


def _bent_squares(x: Array, border: float, taper: float = TAPER) -> Array:
    """``∫_0^x 2t χ(t) dt`` with χ falling from 1 to 0 between extent and border: x² inside, constant at the border."""
    width = taper / 8.4  # erfc(4.2) is 3e-9
    middle = border - 0.5 * taper

    def part(y: Array) -> Array:
        bell = np.exp(-y * y) / np.sqrt(np.pi)
        return np.asarray(0.5 * (middle**2 + 0.5 * width**2) * erf(y) - width * (middle + 0.5 * width * y) * bell)

    y = (x - middle) / width
    return np.asarray(0.5 * x * x * erfc(y) + part(y) - part(np.array(-middle / width)))
