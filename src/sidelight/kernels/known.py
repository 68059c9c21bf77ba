"""What is known as a kernel and as strata: who is alike in ``given``, and who is the same.

    g_ij = exp(-|f_i - f_j|² / h)      f_i the features of row i (``side.given``), h ≥ 1

Two rows of one category, or with numbers near each other, are alike. The strata are the categories, each cut into
cells of the numbers: the rows among which the balanced kernel looks for neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.side.given import Given, Known

from .distances import squared_distances
from .matrices import SymmetricTiles, dense_kernel
from .profiles import GAUSSIAN
from .strata import MOST_STRATA, cells, codes_of, merged

__all__ = ["given_kernel", "strata_of"]

Array = npt.NDArray[Any]
_LEAST_MEAN = 0.07  # of the kernel of ``given`` over all pairs: with less, its Parzen density has no neighbours


def strata_of(given: Given, known: Known) -> tuple[Array, Array]:
    """Categories of the rows (n,), and their strata: categories and cells of the numbers together (n,)."""
    names = [c for c, column in enumerate(given.columns) if column.kind == "category"]
    n = len(known.values)
    categories = codes_of(known.values[:, names]) if names else np.zeros(n, dtype=np.int64)
    if len(names) == len(given.columns):
        return categories, codes_of(merged(categories)[:, None])
    coarse = merged(categories)
    edges = np.cumsum([0, *(column.width for column in given.columns)])
    numeric = np.concatenate([np.arange(*edges[c : c + 2]) for c in range(len(given.columns)) if c not in names])
    cell = cells(known.features[:, numeric], max(1, MOST_STRATA // (int(coarse.max()) + 1)))
    return categories, codes_of(np.column_stack([coarse, cell]))


def given_kernel(features: Array, n_jobs: int | None = None) -> SymmetricTiles:
    """The Gaussian kernel of ``given``: widened, where many columns would leave a row alone with itself."""
    rows = np.unique(np.linspace(0, len(features) - 1, min(500, len(features))).astype(np.int64))
    D = squared_distances(features[rows], features[rows])
    bandwidth = 1.0
    while np.exp(-D / bandwidth).mean() < _LEAST_MEAN:
        bandwidth *= 1.2
    return dense_kernel(features, bandwidth, GAUSSIAN, n_jobs=n_jobs)
