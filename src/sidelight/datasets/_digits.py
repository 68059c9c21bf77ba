"""scikit-learn's digits, which come with it and need no download; and pictures of digits moved sideways."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sidelight.base.messages import error_message

from ._dataset import Dataset
from ._sheets import check_count

__all__ = ["load_digits", "shifted_digits"]


def load_digits() -> Dataset:
    """Load scikit-learn's digits: 1797 pictures of 8x8, values 0 to 16; factor label.

    See Also
    --------
    load_mnist : More and larger ones, from files.

    Examples
    --------
    >>> load_digits()
    Dataset(digits: 1797 rows x 64 columns (8x8 pictures); factors: label)
    """
    from sklearn.datasets import load_digits as load

    X, label = load(return_X_y=True)
    return Dataset(
        np.asarray(X, dtype=np.float64),
        {"label": np.asarray(label)},
        image_shape=(8, 8),
        name="digits",
        description="Handwritten digits, 8x8 pixels (UCI, through scikit-learn).",
    )


def shifted_digits(
    digits: Sequence[int] = (5, 6, 8),
    *,
    n_shifts: int = 9,
    step: int = 1,
    pictures: ArrayLike | None = None,
) -> Dataset:
    """Move one picture of each digit sideways over an empty background, ``n_shifts`` places each.

    Parameters
    ----------
    digits : sequence of int
        Which digits; the first picture of each is taken.
    n_shifts : int
        Places of each digit.
    step : int
        Pixels between two places.
    pictures : array of shape (len(digits), height, width) or None
        Other pictures, one for each digit (MNIST's, say); None: scikit-learn's digits, 8 x 8, each pixel doubled.

    Returns
    -------
    Dataset
        Pictures with values in [0, 1], wide enough for every place; factors ``"digit"`` and ``"shift"`` (pixels).

    See Also
    --------
    load_digits : The digits.
    sidelight.gated.GatedBoltzmannMachine : Learns the shift.

    Examples
    --------
    >>> shifted_digits()
    Dataset(shifted_digits: 27 rows x 384 columns (16x24 pictures); factors: digit, shift)
    """
    check_count("shifted_digits", "n_shifts", n_shifts)
    check_count("shifted_digits", "step", step)
    drawn = _pictures(digits) if pictures is None else np.asarray(pictures, dtype=np.float64)
    if drawn.ndim != 3 or len(drawn) != len(digits):
        rule = f"is not one picture for each of the {len(digits)} digits"
        raise ValueError(error_message("shifted_digits", "pictures", drawn.shape, rule, "Give (digits, height, width)"))
    drawn = drawn / (float(drawn.max()) or 1.0)
    n, height, width = drawn.shape
    wide = width + step * (n_shifts - 1)
    X = np.zeros((n, n_shifts, height, wide))
    for place in range(n_shifts):
        X[:, place, :, place * step : place * step + width] = drawn
    return Dataset(
        X.reshape(n * n_shifts, -1),
        {
            "digit": np.repeat(np.asarray(digits), n_shifts),
            "shift": np.tile(step * np.arange(n_shifts), n),
        },
        image_shape=(height, wide),
        name="shifted_digits",
        description=f"Digits moved sideways by {step} pixels at a time.",
    )


def _pictures(digits: Sequence[int]) -> np.ndarray:
    data = load_digits()
    label = data.factors["label"]
    if not set(digits) <= set(range(10)):
        raise ValueError(error_message("shifted_digits", "digits", digits, "are not digits", "Choose from 0 to 9"))
    first = [int(np.flatnonzero(label == digit)[0]) for digit in digits]
    return np.asarray(data.images[first].repeat(2, axis=1).repeat(2, axis=2))
