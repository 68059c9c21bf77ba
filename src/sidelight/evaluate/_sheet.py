r"""Is a sheet laid out untorn? Correlation of distances on the map with distances on the true sheet.

.. math::

    \rho = \text{Spearman}\big( |z_i - z_j|,\; |s_i - s_j| \big)_{i < j}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import pdist
from scipy.stats import rankdata

from sidelight.base.messages import error_message
from sidelight.base.random import random_numbers

from ._ranks import Array, check_same_rows, rows_of

__all__ = ["correlation", "sheet_correlation"]


def sheet_correlation(
    Z: ArrayLike,
    factors: ArrayLike | Mapping[str, ArrayLike],
    *,
    sample: int = 1000,
    random_state: int | np.random.RandomState | None = 0,
) -> float:
    """Correlate distances on the map with distances in the true coordinates (Spearman; 1 is best).

    Parameters
    ----------
    Z : array-like of shape (n, q)
        Embedding.
    factors : array-like of shape (n,) or (n, k), or a mapping of names to such arrays
        True coordinates in one unit, such as arc length and height; ``Dataset.factors`` of a sheet will do.
    sample : int
        Number of rows, drawn at random, between which distances are taken.
    random_state : int, RandomState or None
        Seed of the sample. None means 0: the same call gives the same number.

    Returns
    -------
    float
        Spearman's correlation; 0 when all distances on one side are equal.

    See Also
    --------
    recovery : Local, where this is global.
    trustworthiness : Without the truth.

    Examples
    --------
    >>> from sidelight.datasets import swiss_roll
    >>> data = swiss_roll(300, random_state=0)
    >>> sheet = [[a, h] for a, h in zip(data.factors["arc"], data.factors["height"])]
    >>> round(sheet_correlation(sheet, data.factors), 6)
    1.0
    """
    if not isinstance(sample, (int, np.integer)) or isinstance(sample, bool) or sample < 3:
        raise ValueError(
            error_message("sheet_correlation", "sample", sample, "is not a whole number >= 3", "Give 1000")
        )
    rows, sheet = rows_of("sheet_correlation", "Z", Z), rows_of("sheet_correlation", "factors", _stacked(factors))
    check_same_rows("sheet_correlation", Z=rows, factors=sheet)
    if len(rows) < 3:
        rule = "has fewer than 3 rows, so that there is nothing to correlate"
        raise ValueError(error_message("sheet_correlation", "Z", f"array of {len(rows)} rows", rule, "Give more rows"))
    if sample < len(rows):
        chosen = random_numbers(random_state).choice(len(rows), size=sample, replace=False)
        rows, sheet = rows[chosen], sheet[chosen]
    return correlation(rankdata(pdist(rows)), rankdata(pdist(sheet)))


def correlation(left: Array, right: Array) -> float:
    """Pearson's correlation; 0 where one side does not vary."""
    left, right = left - left.mean(), right - right.mean()
    scale = float(np.sqrt(np.square(left).sum() * np.square(right).sum()))
    return float((left * right).sum()) / scale if scale > 0.0 else 0.0


def _stacked(factors: Any) -> Any:
    """Columns side by side."""
    if isinstance(factors, Mapping):
        return np.column_stack([np.asarray(values) for values in factors.values()])
    values = np.asarray(factors)
    return values[:, None] if values.ndim == 1 else values
