"""S1 section 5: joint and conditional embedding combined, I(X; Y | Z, G), as a sum of entropies; against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import Entropy, EntropySum

N, H = 20, 1.3
RNG = np.random.default_rng(0)
X, Y, G, Z = (RNG.normal(size=(N, d)) for d in (3, 4, 1, 2))


def kernel(V, h=1.0):
    return np.exp(-((V[:, None] - V) ** 2).sum(axis=-1) / h)


def entropy(*variables):
    """Parzen entropy of variables together, up to a constant: kernels multiplied."""
    return -np.log(np.prod(variables, axis=0).sum(axis=1)).mean()


def joint_given():
    """``H(G,X,Z) + H(G,Y,Z) - H(G,Z) - H(G,X,Y,Z)``: equation 12 with the kernel of G in each product."""
    K, L, M = (SymmetricTiles.from_dense(kernel(V, H), np.float64) for V in (X, Y, G))
    terms = [
        Entropy("H(G,X,Z)", 1.0, (M, K)),
        Entropy("H(G,Y,Z)", 1.0, (M, L)),
        Entropy("H(G,Z)", -1.0, (M,)),
        Entropy("H(G,X,Y,Z)", -1.0, (M, K, L)),
    ]
    return EntropySum(terms, profile("gaussian"), dtype=np.float64)


def test_section_5_joint_and_conditional_information_at_once():
    k, g, x, y = kernel(Z), kernel(G, H), kernel(X, H), kernel(Y, H)
    by_hand = entropy(g, x, k) + entropy(g, y, k) - entropy(g, k) - entropy(g, x, y, k)
    assert joint_given().value_and_grad(Z).value == pytest.approx(by_hand, rel=1e-11)


def test_section_5_gradient_of_joint_and_conditional_information():
    objective, found = joint_given(), np.empty_like(Z)
    for place in np.ndindex(Z.shape):
        step = np.zeros_like(Z)
        step[place] = 1e-5
        up, down = (objective.value_and_grad(Z + sign * step).value for sign in (1.0, -1.0))
        found[place] = (up - down) / 2e-5
    np.testing.assert_allclose(objective.value_and_grad(Z).gradient, found, atol=1e-8)
