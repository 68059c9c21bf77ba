r"""Weights with which several predictions of the same entries are blended.

For predictions m_ik of the held-out entries y_i (model k of K, weight a_i of the entry):

    w = arg min Σ_i a_i (y_i - Σ_k w_k m_ik)² + λ Σ_k (w_k - 1/K)²,     w ≥ 0,  Σ_k w_k = 1

λ is worth a hundred entries: a hundred times the mean over entries of a_i times the variance of their K predictions.
With few held-out entries the weights are nearly equal, which is hard to beat; with many the entries decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

__all__ = ["blend_weights"]

Array = npt.NDArray[Any]
_WORTH = 100.0  # entries that equal weights are worth
_EXACT = 1e3  # weight of the row that makes the sum 1, against rows of norm 1


def blend_weights(means: Array, truth: Array, weight: Array) -> Array:
    """Weights (k,) of k models.

    Parameters
    ----------
    means : array of shape (k, e)
        Predictions of the held-out entries.
    truth, weight : arrays of shape (e,)
        Their values, and how much they count.
    """
    prior = np.full(len(means), 1.0 / len(means))
    penalty = np.sqrt(_WORTH * float((weight * means.var(axis=0)).mean()))
    root = np.sqrt(weight)
    A = np.vstack([(root * means).T, penalty * np.eye(len(prior))])
    b = np.concatenate([root * truth, penalty * prior])
    exact = _EXACT * (np.sqrt((A**2).sum()) or 1.0)
    found, _ = nnls(np.vstack([A, np.full((1, len(prior)), exact)]), np.append(b, exact))
    return np.asarray(found / found.sum())
