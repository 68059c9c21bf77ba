r"""Categories drawn together with the other entries of a row.

A joint draw of codes is Gaussian, or nearly so, and its largest indicator is not distributed as the probabilities are.
With e the standardised deviation of the indicator of the most probable level k (probability p), and Φ the normal
distribution function,

    level = k   if Φ(e) > 1 - p,     else one of the others, by their probabilities

so that k has its probability, and goes along with the other entries of its row as the joint draw says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from ._category_code import CategoryCode

__all__ = ["drawn_levels"]

Array = npt.NDArray[Any]


def drawn_levels(code: CategoryCode, mean: Array, deviation: Array, drawn: Array, rng: np.random.Generator) -> Array:
    """Return the codes (m, width) of drawn levels.

    Parameters
    ----------
    code : CategoryCode
    mean, deviation : arrays of shape (m, width)
        Conditional means and standard deviations of the code.
    drawn : array of shape (m, width)
        A joint draw of it.
    rng : Generator
    """
    P = code.probabilities(mean)
    rows = np.arange(len(P))
    likely = P.argmax(axis=1)
    away = (drawn - mean) / np.maximum(deviation, 1e-12)
    # of a truth value there is the indicator of its second level alone
    e = np.where(likely == 1, away[:, 0], -away[:, 0]) if code.is_boolean else away[rows, likely]
    others = P.copy()
    others[rows, likely] = 0.0
    cumulative = np.cumsum(others, axis=1)
    pick = rng.random(len(P)) * cumulative[:, -1]
    other = np.minimum((pick[:, None] >= cumulative).sum(axis=1), P.shape[1] - 1)
    return code.encode(np.where(ndtr(e) > 1.0 - P[rows, likely], likely, other))
