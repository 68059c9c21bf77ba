"""scikit-learn's digits, which come with it and need no download."""

from __future__ import annotations

import numpy as np

from sidelight.datasets._dataset import Dataset

__all__ = ["load_digits"]


def load_digits() -> Dataset:
    """Load scikit-learn's digits: 1797 pictures of 8x8, values 0 to 16; factor label.

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
