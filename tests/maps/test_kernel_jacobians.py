"""Jacobians of kernel regressions against complex steps of slow, obvious references: no differences, no rounding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

from sidelight.maps.interpolation import Correction, InterpolatingMap, interpolate
from sidelight.maps.interpolation_jacobians import backward_jacobian
from sidelight.maps.kernel_jacobians import kernel_jacobian
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import AdaptiveWeights, FixedWeights

STEP = 1e-30


def made(n: int = 40, d: int = 4, r: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, rng.normal(size=(n, r)), X[:5] + 0.2 * rng.normal(size=(5, d))


def complex_steps(function, Q: np.ndarray) -> np.ndarray:
    """Derivatives (m, r, p) of a function of one row that takes complex numbers."""
    return np.array([[function(row + 1j * STEP * e).imag / STEP for e in np.eye(Q.shape[1])] for row in Q]).transpose(
        0, 2, 1
    )


PROFILES = {
    "gaussian": lambda R: np.exp(-R),
    "student": lambda R: 1.0 / (1.0 + R),
    "quartic": lambda R: np.where(R.real < 1, (1.0 - R) ** 2, 0.0),
}


@pytest.mark.parametrize("name", PROFILES)
def test_fixed_weights(name):
    X, V, Q = made()
    h = 9.0 if name == "quartic" else 2.0

    def naive(x):
        k = PROFILES[name](((X - x) ** 2).sum(axis=1) / h)
        return k @ V / k.sum()

    J = kernel_jacobian(KernelMap(FixedWeights(X, h, name), V), Q)
    np.testing.assert_allclose(J, complex_steps(naive, Q), rtol=1e-10, atol=1e-12)


def weights_of_perplexity(e: np.ndarray, perplexity: float) -> np.ndarray:
    """Weights of complex squared distances: the root at the real ones, and one step of Newton's method from there."""

    def entropy(beta, e):
        w = np.exp(-beta * (e - e.real.min()))
        w = w / w.sum()
        return -(w * np.log(w)).sum()

    beta = brentq(lambda b: entropy(b, e.real) - np.log(perplexity), 1e-3, 50.0, xtol=1e-15, rtol=1e-15) + 0j
    slope = (entropy(beta + 1j * STEP, e.real + 0j).imag) / STEP
    beta = beta - (entropy(beta, e) - entropy(beta, e.real + 0j)) / slope
    w = np.exp(-beta * (e - e.real.min()))
    return w / w.sum()


def lists_of(X: np.ndarray, k: int) -> np.ndarray:
    D = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.argsort(D, axis=1)[:, 1 : k + 1]


def test_adaptive_weights_move_with_the_bandwidth():
    X, V, Q = made()
    lists = lists_of(X, 12)

    def naive(x):
        nearest = int(np.argmin(((X - x.real) ** 2).sum(axis=1)))
        rows = np.r_[nearest, lists[nearest]]
        return weights_of_perplexity(((X[rows] - x) ** 2).sum(axis=1), 4.0) @ V[rows]

    J = kernel_jacobian(KernelMap(AdaptiveWeights(X, lists, 4.0), V), Q)
    np.testing.assert_allclose(J, complex_steps(naive, Q), rtol=1e-8, atol=1e-9)


def test_more_outputs_than_columns_take_the_other_way_to_the_same_derivative():
    X, V, Q = made(d=3, r=7)
    for weights in (FixedWeights(X, 2.0), AdaptiveWeights(X, lists_of(X, 12), 4.0)):
        J = kernel_jacobian(KernelMap(weights, V), Q)
        alone = np.concatenate([kernel_jacobian(KernelMap(weights, V[:, [r]]), Q) for r in range(7)], axis=1)
        np.testing.assert_allclose(J, alone, rtol=1e-10, atol=1e-12)


def length(v):
    return np.sqrt((v**2).sum())


@pytest.mark.parametrize("falloff", [0.0, 0.7])
def test_shares_and_corrections_of_the_interpolating_map(falloff):
    X, V, Q = made(60)
    mean = KernelMap(FixedWeights(X, 2.0), V)
    mapped = InterpolatingMap(mean, Correction(interpolate(mean).correction.residuals, np.full(60, falloff)))
    Q = np.concatenate([Q, 0.5 * (X[:6] + X[lists_of(X, 1)[:6, 0]]) + 0.02])  # between neighbours several rows share

    def naive(x):
        k = np.exp(-((X - x) ** 2).sum(axis=1) / 2.0)
        near = np.argsort(((X - x.real) ** 2).sum(axis=1))[:5]
        d = [length(x - X[a]) for a in near]
        reach = d[4] if d[4].real < 1.1 * d[0].real else 1.1 * d[0]
        s = [reach - one if one.real < reach.real else 0.0 for one in d[:4]]
        held = [np.exp(-falloff * one**2) for one in d[:4]]
        corrections = [a * b * mapped.correction.residuals[row] for a, b, row in zip(s, held, near[:4], strict=True)]
        return k @ V / k.sum() + np.sum(corrections, axis=0) / np.sum(s)

    J = backward_jacobian(mapped, Q)
    expected = complex_steps(naive, Q)
    np.testing.assert_allclose(J, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_rows_that_tie_do_not_move_the_weights():
    X = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [5.0, 5.0], [6.0, 5.0]])
    V = np.array([[1.0], [1.0], [1.0], [2.0], [3.0]])
    mapped = KernelMap(AdaptiveWeights(X, lists_of(X, 4), 2.0), V)
    assert np.isfinite(kernel_jacobian(mapped, np.array([[0.0, 0.0], [0.1, 0.0]]))).all()
    assert (kernel_jacobian(mapped, np.array([[0.0, 0.0]])) == 0).all()
