"""Kernel profiles: functions of the squared distance.

A kernel is ``k(a, b) = profile(|a - b|² / h)`` with bandwidth ``h``; the latent bandwidth is 1.

=========  =====================  ======================  ============================================
profile    value k(r²)            slope -dk/d(r²)         integral over R^q at h = 1
=========  =====================  ======================  ============================================
gaussian   exp(-r²)               k                       π^(q/2)
student    1 / (1 + r²)           k²                      none for q ≥ 2 (see ``density_profile``)
quartic    (1 - r²)² for r² < 1   2 √k                    V_q · 8 / ((q + 2)(q + 4)), V_q unit ball
delta      1 where r² = 0         0                       none: for categories only
=========  =====================  ======================  ============================================

A bandwidth ``h`` scales every integral by ``h^(q/2)``. For the Gaussian, ``h`` stands for a variance of
``h/2`` per dimension.

A new profile is a class here, in ``PROFILES``, and in ``LATENT_PROFILES`` if users may choose it. Sums over all pairs
visit the pairs unless ``kernels.gauss_transform`` has its Fourier transform; the multilevel solver takes it only if
``objectives.bound`` has its ``-d log k / dr²`` (``BOUND_PROFILES``).
"""

from __future__ import annotations

import abc
from typing import SupportsIndex

import numpy as np
from scipy.special import gammaln

from sidelight.base.types import Array

__all__ = [
    "BOUND_PROFILES",
    "DELTA",
    "GAUSSIAN",
    "LATENT_PROFILES",
    "PROFILES",
    "QUARTIC",
    "STUDENT",
    "Profile",
    "Student",
    "StudentDensity",
    "profile",
]


class Profile(abc.ABC):
    """A kernel as a function of the squared, bandwidth-scaled distance."""

    name: str

    def __reduce_ex__(self, protocol: SupportsIndex) -> str | tuple[object, ...]:
        """Unpickle the profiles of ``PROFILES`` as themselves: code asks whether a profile ``is`` one of them."""
        if PROFILES.get(self.name) is self:
            return profile, (self.name,)
        return super().__reduce_ex__(protocol)

    @abc.abstractmethod
    def value(self, R: Array) -> Array:
        """Replace squared distances ``R`` by kernel values, in place, and return them."""

    @abc.abstractmethod
    def slope(self, K: Array, out: Array | None = None) -> Array:
        """``-dk/d(r²)`` from kernel values ``K`` (every profile here allows it)."""

    @abc.abstractmethod
    def log_value(self, R: Array) -> Array:
        """``log k`` for squared distances ``R``."""

    def log_slope(self, R: Array) -> Array:
        """``log(-dk/d(r²))`` for squared distances ``R``; minus infinity where the slope is 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.slope(self.value(R.copy()))))

    @abc.abstractmethod
    def log_integral(self, n_dims: int) -> float:
        """``log ∫ k(|u|²) du`` over ``n_dims`` dimensions."""

    @abc.abstractmethod
    def variance(self, n_dims: int) -> float:
        """Variance per dimension of the normalised kernel at bandwidth 1 (inf where there is none)."""

    @abc.abstractmethod
    def offsets(self, n: int, n_dims: int, rng: np.random.Generator) -> Array:
        """Draw ``n`` points from the normalised kernel at bandwidth 1."""

    def density_profile(self, n_dims: int) -> Profile:
        """The profile to build a density from: itself, unless it has no finite integral."""
        del n_dims
        return self

    def __repr__(self) -> str:
        return f"<{self.name} profile>"


class Gaussian(Profile):
    """``k(r²) = exp(-r²)``."""

    name = "gaussian"

    def value(self, R: Array) -> Array:
        """``exp(-r²)``."""
        np.negative(R, out=R)
        return np.exp(R, out=R)

    def slope(self, K: Array, out: Array | None = None) -> Array:
        """``k``."""
        if out is None:
            return K
        np.copyto(out, K)
        return out

    def log_value(self, R: Array) -> Array:
        """``-r²``."""
        return -R

    def log_slope(self, R: Array) -> Array:
        """``-r²``."""
        return -R

    def log_integral(self, n_dims: int) -> float:
        """``(q/2) log π``."""
        return 0.5 * n_dims * float(np.log(np.pi))

    def variance(self, n_dims: int) -> float:
        """A half."""
        del n_dims
        return 0.5

    def offsets(self, n: int, n_dims: int, rng: np.random.Generator) -> Array:
        """Normal draws of variance a half."""
        return np.asarray(np.sqrt(0.5) * rng.standard_normal((n, n_dims)))


class Student(Profile):
    """``k(r²) = 1 / (1 + r²)``: heavy tails, which prevent crowding in two dimensions."""

    name = "student"

    def value(self, R: Array) -> Array:
        """``1 / (1 + r²)``."""
        R += 1
        return np.reciprocal(R, out=R)

    def slope(self, K: Array, out: Array | None = None) -> Array:
        """``k²``."""
        return np.multiply(K, K, out=out)

    def log_value(self, R: Array) -> Array:
        """``-log(1 + r²)``."""
        return -np.log1p(R)

    def log_integral(self, n_dims: int) -> float:
        """``log π`` in one dimension; it does not exist in more."""
        return self.density_profile(n_dims).log_integral(n_dims) if n_dims == 1 else float("inf")

    def variance(self, n_dims: int) -> float:
        """Infinite."""
        del n_dims
        return float("inf")

    def offsets(self, n: int, n_dims: int, rng: np.random.Generator) -> Array:
        """Draws from the density profile."""
        return self.density_profile(n_dims).offsets(n, n_dims, rng)

    def density_profile(self, n_dims: int) -> Profile:
        """``(1 + r²)^(-(q+1)/2)``, whose integral is finite."""
        return StudentDensity(n_dims)


class StudentDensity(Profile):
    """``k(r²) = (1 + r²)^(-(q+ν)/2)``: Student's density in ``q`` dimensions with ν degrees of freedom, unnormalised.

    ν = 1, the default, is the Cauchy density.
    """

    name = "student density"

    def __init__(self, n_dims: int, degrees: float = 1.0) -> None:
        self.degrees = degrees
        self.exponent = 0.5 * (n_dims + degrees)

    def value(self, R: Array) -> Array:
        """``(1 + r²)^(-(q+ν)/2)``."""
        R += 1
        if self.exponent == 2.0:  # a plane and ν = 2: a fifth of the time of a power
            np.multiply(R, R, out=R)
            return np.reciprocal(R, out=R)
        return np.power(R, -self.exponent, out=R)

    def slope(self, K: Array, out: Array | None = None) -> Array:
        """``a k^(1 + 1/a)`` with ``a = (q+ν)/2``."""
        powers = np.power(K, 1.0 + 1.0 / self.exponent, out=out)
        powers *= self.exponent
        return powers

    def log_value(self, R: Array) -> Array:
        """``-(q+ν)/2 · log(1 + r²)``."""
        return -self.exponent * np.log1p(R)

    def log_slope(self, R: Array) -> Array:
        """``log a - (a + 1) log(1 + r²)``: in many dimensions k itself underflows."""
        return np.asarray(np.log(self.exponent) - (self.exponent + 1.0) * np.log1p(R))

    def log_integral(self, n_dims: int) -> float:
        """``q/2 · log π + log Γ(ν/2) - log Γ((q+ν)/2)``."""
        half = 0.5 * self.degrees
        return 0.5 * n_dims * float(np.log(np.pi)) + float(gammaln(half) - gammaln(0.5 * n_dims + half))

    def variance(self, n_dims: int) -> float:
        """``1 / (ν - 2)``; infinite for ν ≤ 2."""
        del n_dims
        return 1.0 / (self.degrees - 2.0) if self.degrees > 2 else float("inf")

    def offsets(self, n: int, n_dims: int, rng: np.random.Generator) -> Array:
        """Normal draws over the root of a χ² draw with ν degrees of freedom."""
        normal = rng.standard_normal((n, n_dims))
        if self.degrees == 1:
            return normal / np.abs(rng.standard_normal((n, 1)))
        return np.asarray(normal / np.sqrt(rng.chisquare(self.degrees, size=(n, 1))))


class Quartic(Profile):
    """``k(r²) = (1 - r²)²`` inside the unit ball, 0 outside: compact, so kernel matrices are sparse."""

    name = "quartic"

    def value(self, R: Array) -> Array:
        """``max(1 - r², 0)²``."""
        np.subtract(1, R, out=R)
        np.maximum(R, 0, out=R)
        return np.multiply(R, R, out=R)

    def slope(self, K: Array, out: Array | None = None) -> Array:
        """``2 √k``."""
        root = np.sqrt(K, out=out)
        root *= 2
        return root

    def log_value(self, R: Array) -> Array:
        """``2 log(1 - r²)``, minus infinity outside."""
        with np.errstate(divide="ignore"):
            logs: Array = 2 * np.log(np.maximum(1 - R, 0))
        return logs

    def log_integral(self, n_dims: int) -> float:
        """``log(V_q · 8 / ((q + 2)(q + 4)))``."""
        log_ball = 0.5 * n_dims * np.log(np.pi) - gammaln(0.5 * n_dims + 1)
        return float(log_ball + np.log(8.0) - np.log(n_dims + 2.0) - np.log(n_dims + 4.0))

    def variance(self, n_dims: int) -> float:
        """``1 / (q + 6)``: ``E r² = q/(q+6)`` for ``r² ~ Beta(q/2, 3)``."""
        return 1.0 / (n_dims + 6.0)

    def offsets(self, n: int, n_dims: int, rng: np.random.Generator) -> Array:
        """A random direction times the root of a Beta(q/2, 3) draw."""
        direction = rng.standard_normal((n, n_dims))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        return direction * np.sqrt(rng.beta(0.5 * n_dims, 3.0, size=(n, 1)))


class Delta(Profile):
    """``k = 1`` where the distance is 0: the limit h → 0 of a Gaussian, for categories."""

    name = "delta"

    def value(self, R: Array) -> Array:
        """1 at distance 0, else 0."""
        np.copyto(R, R == 0)
        return R

    def slope(self, K: Array, out: Array | None = None) -> Array:
        """0: it does not move points."""
        if out is None:
            return np.zeros_like(K)
        out[...] = 0
        return out

    def log_value(self, R: Array) -> Array:
        """0 at distance 0, else minus infinity."""
        return np.where(R == 0, 0.0, -np.inf)

    def log_integral(self, n_dims: int) -> float:
        """Minus infinity: the integral is 0 in any dimension."""
        del n_dims
        return float("-inf")

    def variance(self, n_dims: int) -> float:
        """0."""
        del n_dims
        return 0.0

    def offsets(self, n: int, n_dims: int, rng: np.random.Generator) -> Array:
        """Zeros."""
        del rng
        return np.zeros((n, n_dims))


GAUSSIAN, STUDENT, QUARTIC, DELTA = Gaussian(), Student(), Quartic(), Delta()
PROFILES: dict[str, Profile] = {p.name: p for p in (GAUSSIAN, STUDENT, QUARTIC, DELTA)}
LATENT_PROFILES = ("gaussian", "student", "quartic")
"""Profiles that estimators offer as latent and data kernels."""
BOUND_PROFILES = ("gaussian", "student")
"""Profiles that the multilevel solver supports."""


def profile(name: str) -> Profile:
    """The profile of that name.

    Examples
    --------
    >>> float(profile("student").value(np.array([1.0]))[0])
    0.5
    """
    return PROFILES[name]
