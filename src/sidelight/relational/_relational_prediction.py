r"""Predict what a relation says of some rows for all rows: kernel ridge regression, averaged over kernels.

With targets T (m, k) of the rows I, less their mean μ,

    F = μ + K_{:I} (K_II + λ 1)^(-1) (T - μ)                      (n, k)
    T_i - F_i without row i  =  α_i / ((K_II + λ 1)^(-1))_ii,     α = (K_II + λ 1)^(-1) (T - μ)

λ is that of the least leave-one-out error E; the predictions of several kernels are averaged with the weights
exp(-m (E - E_min) / (2 E_min)). Kernels are Gaussian in the features of the data, at six widths, near a linear
regression at the widest. Kinds of kernels, each averaged so, are mixed with weights in quarters, and the mixtures
averaged with the weights exp(-m (S - S_min) / (4 S_min)) (decision 0030).

Values  Gaussian kernels in the features, and in coordinates of the sheet that the data lies on. S = E (1 + w / 4), w
        the weight of the latter: with few values they seem better by chance.
Labels  Gaussian kernels in the features; kernels along the graph of neighbours,
        K ∝ ((1 + ε) 1 - D^(-1/2) S D^(-1/2))^(-1), with which rows without labels say which rows belong together (Zhou
        et al. 2004); and logistic regression (``_relational_logistic``). S = share of left-out rows with another label,
        plus 1 / m, plus E / 5: the share is what counts, E tells more of few rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import csc_array, csr_array, diags_array, eye_array
from scipy.sparse.linalg import splu

from sidelight.base.tiles import spans
from sidelight.base.types import Array, SparseMatrix
from sidelight.neighbours.distances import squared_distances

from ._relational_logistic import logistic_predictions

__all__ = ["Prediction", "predict_labels", "predict_values"]


_WIDTHS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)  # of the Gaussian kernels, in mean squared distances
_REACHES = (0.3, 0.1, 0.03, 0.01, 0.003)  # ε of the kernels along the graph, nearest first
_RIDGES = 10.0 ** np.arange(1.0, -9.0, -1.0)
_MOST = 1000  # rows with targets that are used, evenly spaced
_GRAPH_ROWS = 5000  # rows up to which kernels along the graph are computed
_PARTS = 4  # weights of kinds of predictions are multiples of a quarter
_SQUARES = 0.2  # part of the squared error in the score of labels
_DOUBT = 0.25  # by how much coordinates of the sheet must be better
_TILE = 2000


@dataclass(frozen=True)
class Prediction:
    """Predictions ``values`` (n, k) of all rows, and ``left_out`` (m, k) of known ``rows`` (m,) without their own."""

    values: Array
    left_out: Array
    rows: Array


def predict_labels(features: Array, graph: SparseMatrix, rows: Array, targets: Array) -> Prediction:
    """Predict scores of labels for all rows from one-hot labels of some.

    Parameters
    ----------
    features : array of shape (n, d)
    graph : sparse array of shape (n, n)
        Similarities S of neighbours, symmetric.
    rows : array of shape (m,)
        Rows with labels.
    targets : array of shape (m, k)
    """
    rows, targets = _some(rows, targets)
    mean = targets.mean(axis=0)
    kinds = (
        [_ridge(K, rows, targets - mean) for K in _gaussian_kernels(features, rows)],
        [_ridge(K, rows, targets - mean) for K in _graph_kernels(graph, rows)],
        [_fit(*found, mean, targets) for found in logistic_predictions(features, rows, targets)],
    )
    truth = targets.argmax(axis=1)

    def scores(_: Array, left_out: Array) -> Array:
        wrong = np.mean(left_out.argmax(axis=2) != truth, axis=1)
        return np.asarray(wrong + 1.0 / len(rows) + _SQUARES * _mean_squares(left_out - targets))

    return _mixed([_averaged(found, rows, mean) for found in kinds if found], scores)


def predict_values(features: Array, layout: Array, rows: Array, targets: Array) -> Prediction:
    """Predict values of all rows from those of some.

    Parameters
    ----------
    features : array of shape (n, d)
    layout : array of shape (n, k)
        Coordinates of the rows on the sheet that the data lies on.
    rows : array of shape (m,)
        Rows with values.
    targets : array of shape (m, k)
    """
    rows, targets = _some(rows, targets)
    mean = targets.mean(axis=0)
    straight, along = (
        [_ridge(K, rows, targets - mean) for K in _gaussian_kernels(space, rows)] for space in (features, layout)
    )
    kinds = [_averaged(found, rows, mean) for found in (straight, along)]
    return _mixed(kinds, lambda shares, left_out: (1.0 + _DOUBT * shares[:, 1]) * _mean_squares(left_out - targets))


def _mean_squares(rest: Array) -> Array:
    """Mean squared lengths (t,) of errors (t, m, k)."""
    return np.asarray((rest**2).sum(axis=2).mean(axis=1))


def _some(rows: Array, targets: Array) -> tuple[Array, Array]:
    """At most 1,000 of the rows, evenly spaced, and their targets."""
    some = np.unique(np.linspace(0, len(rows) - 1, min(len(rows), _MOST)).astype(np.int64))
    return rows[some], targets[some]


def _mixed(kinds: Sequence[Prediction], scores_of: Callable[[Array, Array], Array]) -> Prediction:
    """Mixtures of predictions, averaged by ``scores_of(shares (t, kinds), left_out (t, m, k))``, less is better."""
    wholes = product(range(_PARTS + 1), repeat=len(kinds))
    shares = np.array([own for own in wholes if sum(own) == _PARTS]) / _PARTS
    parts = np.stack([kind.left_out for kind in kinds])
    scores = scores_of(shares, np.tensordot(shares, parts, axes=1))
    least = max(float(scores.min()), 1e-300)
    weights = np.exp(-0.25 * parts.shape[1] * (scores - least) / least)
    share = weights @ shares / weights.sum()
    values = np.tensordot(share, np.stack([kind.values for kind in kinds]), axes=1)
    return Prediction(values, np.tensordot(share, parts, axes=1), kinds[0].rows)


def _averaged(found: Sequence[_Fit], rows: Array, mean: Array) -> Prediction:
    """The average of predictions, weighted by their leave-one-out errors."""
    errors = np.array([fit.error for fit in found])
    least = max(float(errors.min()), 1e-300)
    weights = np.exp(-0.5 * len(rows) * (errors - least) / least)
    weights /= weights.sum()
    values, left_out = np.zeros_like(found[0].values), np.zeros_like(found[0].left_out)
    for weight, fit in zip(weights, found, strict=True):
        values += weight * fit.values
        left_out += weight * fit.left_out
    return Prediction(mean + values, mean + left_out, rows)


def _gaussian_kernels(features: Array, rows: Array) -> Iterator[Array]:
    """Columns (n, m) of Gaussian kernels of several widths."""
    n, centred = len(features), features - features.mean(axis=0)
    spread = 2.0 * float(np.einsum("ij,ij->", centred, centred)) / n or 1.0
    for width in _WIDTHS:
        K = np.empty((n, len(rows)))
        for part in spans(n, _TILE):
            K[part] = np.exp(-squared_distances(centred[part], centred[rows]) / (width * spread))
        yield K


def _graph_kernels(graph: SparseMatrix, rows: Array) -> Iterator[Array]:
    """Columns (n, m) of kernels along a graph, from near to far; none for more than 5,000 rows."""
    n = graph.shape[0]
    if n > _GRAPH_ROWS:
        return
    links = csr_array(graph - diags_array(graph.diagonal()))
    scale = diags_array(1.0 / np.sqrt(np.maximum(np.asarray(links.sum(axis=1)).ravel(), 1e-300)))
    smooth = scale @ links @ scale
    columns = np.zeros((n, len(rows)))
    columns[rows, np.arange(len(rows))] = 1.0
    for reach in _REACHES:
        K = splu(csc_array((1.0 + reach) * eye_array(n) - smooth)).solve(columns)
        yield K / float(np.mean(K[rows, np.arange(len(rows))]))


@dataclass(frozen=True)
class _Fit:
    """Predictions (n, k) and leave-one-out predictions (m, k) of centred targets, and the mean error of the latter."""

    values: Array
    left_out: Array
    error: float


def _fit(values: Array, left_out: Array, mean: Array, targets: Array) -> _Fit:
    """Predictions that were made elsewhere, less the mean of the targets, with their error."""
    return _Fit(values - mean, left_out - mean, float(np.mean(((targets - left_out) ** 2).sum(axis=1))))


def _ridge(K: Array, rows: Array, targets: Array) -> _Fit:
    """Kernel ridge regression with the λ of the least leave-one-out error."""
    own = K[rows]
    lengths, axes = eigh(0.5 * (own + own.T))
    lengths, seen = np.maximum(lengths, 0.0), axes.T @ targets
    best: tuple[float, Array, Array] | None = None
    for ridge in _RIDGES:
        inverse = 1.0 / (lengths + ridge)
        alpha = axes @ (inverse[:, None] * seen)
        rest = alpha / np.einsum("ij,j,ij->i", axes, inverse, axes)[:, None]
        error = float(np.mean(np.einsum("ik,ik->i", rest, rest)))
        if best is None or error < best[0] * (1.0 - 1e-9):
            best = error, alpha, rest
    assert best is not None
    return _Fit(K @ best[1], targets - best[2], best[0])
