"""From the parts of a row to one number: how often rows with such parts are right.

    reliability = 1 / (1 + exp(-(a + b logit m))),      m = min(kept, true),  logit m = log((m + 0.02) / (1.02 - m))

*Right* is a row of whose map neighbours two thirds are truly near it, and of whose truly near rows the map keeps two
thirds (beyond chance; ``benchmarks/reliability_sets.py`` defines it). a and b are those of a logistic regression over
132 maps of twelve sets with known truth: sheets, mixtures, noise of 10 to 100 dimensions, digits; KIE, t-SNE, UMAP and
PCA, torn and folded sheets, misplaced rows; every map with the same weight. ``returns`` and ``stays`` had no weight
beside ``kept`` and ``true`` in the same regression: they say what is wrong with a row, not whether something is
(``docs/decisions/0038-reliability.md``).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RELIABLE", "calibrated"]

Array = npt.NDArray[Any]
RELIABLE = 0.8
"""Rows of at least this number are called reliable."""
_CONSTANT, _SLOPE = -1.423, 1.677
_EDGE = 0.02  # keeps logarithms finite


def calibrated(kept: Array, true: Array) -> Array:
    """Share (m,) of right rows among rows with these parts (m,).

    Examples
    --------
    >>> calibrated(np.array([1.0, 0.9, 0.5]), np.array([1.0, 1.0, 1.0])).round(2)
    array([0.99, 0.88, 0.19])
    """
    least = np.clip(np.minimum(kept, true), 0.0, 1.0)
    odds = np.log((least + _EDGE) / (1.0 - least + _EDGE))
    return np.asarray(1.0 / (1.0 + np.exp(-(_CONSTANT + _SLOPE * odds))))
