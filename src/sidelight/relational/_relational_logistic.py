r"""Multinomial logistic regression of the labels of some rows, with predictions of rows that are left out.

With features x_i (p,) of unit total variance, labels as one-hot rows t_i (k,), and a penalty 1 / C,

    W, b  =  argmin  -Σ_i t_i · log softmax(W x_i + b)  +  |W|² / (2 C)

Rows are left out in ten folds, five of more than 200 rows. Squared errors of kernel ridge regression
(``_relational_prediction``) count rows that are far on their right side; this loss does not.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax

from sidelight.base.types import Array

__all__ = ["logistic_predictions"]

_STRENGTHS = (1.0, 10.0, 100.0)  # C
_AXES = 100  # principal axes of the rows with labels that are used
_MANY = 200  # rows with labels beyond which five folds are enough
_STEPS = 100


def logistic_predictions(features: Array, rows: Array, targets: Array) -> Iterator[tuple[Array, Array]]:
    """Probabilities of labels (n, k) of all rows, and of ``rows`` without themselves (m, k), for several penalties.

    Parameters
    ----------
    features : array of shape (n, d)
    rows : array of shape (m,)
        Rows with labels.
    targets : array of shape (m, k)
        One-hot labels.
    """
    X = _coordinates(features, rows)
    known = X[rows]
    folds = np.random.default_rng(0).permutation(len(rows)) % min(len(rows), 10 if len(rows) <= _MANY else 5)
    for strength in _STRENGTHS:
        left_out = np.empty(targets.shape)
        for fold in range(folds.max() + 1):
            out = folds == fold
            left_out[out] = _probabilities(known[out], _fitted(known[~out], targets[~out], strength))
        yield _probabilities(X, _fitted(known, targets, strength)), left_out


def _coordinates(features: Array, rows: Array) -> Array:
    """Features (n, p) with a column of ones: those of unit variance, along the axes that rows with labels span."""
    centred = features - features.mean(axis=0)
    unit = np.sqrt(float(np.einsum("ij,ij->", centred, centred)) / len(features)) or 1.0
    own = centred[rows]
    if own.shape[1] > min(len(own), _AXES):  # the penalised solution lies in their span
        centred = centred @ np.linalg.svd(own, full_matrices=False)[2][:_AXES].T
    return np.column_stack([centred / unit, np.ones(len(features))])


def _fitted(X: Array, targets: Array, strength: float) -> Array:
    """Weights (p, k), those of the last column, the intercept, without a penalty."""
    shape = (X.shape[1], targets.shape[1])
    penalty = np.full((shape[0], 1), 1.0 / strength)
    penalty[-1] = 1e-6  # labels that no row has, and equal shifts of all labels, leave it free

    def value_and_grad(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(shape)
        logs = log_softmax(X @ W, axis=1)
        value = -float((targets * logs).sum()) + 0.5 * float((penalty * W**2).sum())
        return value, (X.T @ (np.exp(logs) - targets) + penalty * W).ravel()

    start = np.zeros(shape)
    start[-1] = np.log((targets.sum(axis=0) + 1.0) / (len(targets) + shape[1]))
    found = minimize(value_and_grad, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    return np.asarray(found.x.reshape(shape))


def _probabilities(X: Array, W: Array) -> Array:
    return np.asarray(softmax(X @ W, axis=1))
