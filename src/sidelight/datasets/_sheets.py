r"""Curved sheets whose true coordinates are known.

S-curve (Roweis & Saul, 2000), swiss roll (Tenenbaum et al., 2000) and the noisy S of the kernel information
embedding thesis (fig. 3.2), with :math:`u, v` uniform on [0, 1]:

.. math::

    \text{S-curve:} \quad & t = 3\pi(u - \tfrac12), \; x = (\sin t, \text{height}\, v, \text{sign}(t)(\cos t - 1)) \\
    \text{swiss roll:} \quad & t = \tfrac32\pi(1 + 2u), \; x = (t\cos t, 21 v, t\sin t) \\
    \text{noisy S:} \quad & t = 3\pi(u - \tfrac12), \; x = (\sin t, \text{sign}(t)(\cos t - 1)) + \varepsilon

Both sheets can be unrolled without stretching, so the factors are lengths: Euclidean distances between factors
are geodesic distances on the sheet.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sidelight.base.messages import error_message

from ._dataset import Dataset

__all__ = ["check_count", "check_noise", "noisy_s", "s_curve", "swiss_roll"]

RandomState = int | np.random.RandomState | None


def s_curve(
    n_samples: int = 1000, *, height: float = 5.0, noise: float = 0.0, random_state: RandomState = None
) -> Dataset:
    """Sample the S-curve: a sheet bent into an S, in three dimensions.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    height : float
        Extent of the straight direction (5 in the locally linear embedding paper).
    noise : float
        Standard deviation of isotropic Gaussian noise.
    random_state : int, RandomState or None
        Same seed, same rows.

    Returns
    -------
    Dataset
        Factors ``"arc"`` (length along the S, from -3π/2 to 3π/2) and ``"height"``.

    See Also
    --------
    noisy_s : The curve in a plane.
    swiss_roll : A sheet that is rolled up.

    Examples
    --------
    >>> s_curve(500, random_state=0).X.shape
    (500, 3)
    """
    check_count("s_curve", "n_samples", n_samples)
    check_noise("s_curve", "noise", noise)
    check_noise("s_curve", "height", height)
    random = check_random_state(random_state)
    t = 3.0 * np.pi * (random.uniform(size=n_samples) - 0.5)
    across = height * random.uniform(size=n_samples)
    profile = _s_profile(t)
    X = np.column_stack([profile[:, 0], across, profile[:, 1]])
    return Dataset(
        X + noise * random.standard_normal(X.shape),
        {"arc": t, "height": across},
        name="s_curve",
        description=f"A sheet {height:g} high, bent into an S; noise {noise:g}.",
    )


def swiss_roll(n_samples: int = 1000, *, noise: float = 0.0, random_state: RandomState = None) -> Dataset:
    """Sample the swiss roll: a sheet rolled up one and a half times, in three dimensions.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of isotropic Gaussian noise.
    random_state : int, RandomState or None
        Same seed, same rows.

    Returns
    -------
    Dataset
        Factors ``"arc"``, the length of the spiral ½(t√(1+t²) + asinh t), and ``"height"``.

    See Also
    --------
    s_curve : A sheet that is bent less.
    load_swiss_roll : The rows of the original article.

    Examples
    --------
    >>> swiss_roll(500, random_state=0).X.shape
    (500, 3)
    """
    check_count("swiss_roll", "n_samples", n_samples)
    check_noise("swiss_roll", "noise", noise)
    random = check_random_state(random_state)
    t = 1.5 * np.pi * (1.0 + 2.0 * random.uniform(size=n_samples))
    across = 21.0 * random.uniform(size=n_samples)
    X = np.column_stack([t * np.cos(t), across, t * np.sin(t)])
    return Dataset(
        X + noise * random.standard_normal(X.shape),
        {"arc": 0.5 * (t * np.sqrt(1.0 + t**2) + np.arcsinh(t)), "height": across},
        name="swiss_roll",
        description=f"A rolled-up sheet; noise {noise:g}.",
    )


def noisy_s(n_samples: int = 300, *, noise: float = 0.12, random_state: RandomState = None) -> Dataset:
    """Sample the noisy S: a one-dimensional S in the plane, blurred by Gaussian noise.

    The S is 2 wide and 4 high, so that a Gaussian kernel exp(-r²/h) with h = ½ sees one stroke of it
    and not the next.

    Parameters
    ----------
    n_samples : int
        Number of rows.
    noise : float
        Standard deviation of isotropic Gaussian noise.
    random_state : int, RandomState or None
        Same seed, same rows.

    Returns
    -------
    Dataset
        Factors ``"position"`` (length along the S) and ``"clean"`` (n, 2), the points before the noise.

    See Also
    --------
    s_curve : The surface.

    Examples
    --------
    >>> noisy_s(random_state=0)
    Dataset(noisy_s: 300 rows x 2 columns; factors: position, clean)
    """
    check_count("noisy_s", "n_samples", n_samples)
    check_noise("noisy_s", "noise", noise)
    random = check_random_state(random_state)
    t = 3.0 * np.pi * (random.uniform(size=n_samples) - 0.5)
    clean = _s_profile(t)
    return Dataset(
        clean + noise * random.standard_normal(clean.shape),
        {"position": t, "clean": clean},
        name="noisy_s",
        description=f"A one-dimensional S in the plane; noise {noise:g}.",
    )


def _s_profile(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (sin t, sign(t)(cos t - 1)): two circle arcs, unit speed in t."""
    return np.column_stack([np.sin(t), np.sign(t) * (np.cos(t) - 1.0)])


def check_count(owner: str, argument: str, count: object) -> None:
    """Refuse anything but a whole number of at least one."""
    whole = isinstance(count, (int, np.integer)) and not isinstance(count, bool)
    if not whole or count < 1:  # type: ignore[operator]
        raise ValueError(error_message(owner, argument, count, "is not a whole number >= 1", "Give 1 or more"))


def check_noise(owner: str, argument: str, value: object) -> None:
    """Refuse anything but a finite number of at least zero."""
    if not isinstance(value, Real) or not 0.0 <= float(value) < np.inf:
        raise ValueError(error_message(owner, argument, value, "is not a finite number >= 0", "Give 0 or more"))
