"""Slow, obvious entropies: loops over pairs, one number at a time."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import csr_array

from sidelight.kernels.matrices import SymmetricTiles
from sidelight.objectives.entropy import conditional_information, information, informed_information, joint_information

VALUES = {
    "gaussian": lambda r2: math.exp(-r2),
    "student": lambda r2: 1 / (1 + r2),
    "quartic": lambda r2: max(1 - r2, 0.0) ** 2,
}
SLOPES = {
    "gaussian": lambda r2: math.exp(-r2),
    "student": lambda r2: 1 / (1 + r2) ** 2,
    "quartic": lambda r2: 2 * max(1 - r2, 0.0),
}


def naive_sums(Z, kernels, name):
    """``s_i = Σ_j Π_v k_v,ij k(|z_i - z_j|²)``."""
    n = len(Z)
    sums = [0.0] * n
    for i in range(n):
        for j in range(n):
            r2 = sum((a - b) ** 2 for a, b in zip(Z[i], Z[j], strict=True))
            sums[i] += math.prod(K[i, j] for K in kernels) * VALUES[name](r2)
    return sums


def naive_entropy(Z, kernels, name):
    """``-(1/n) Σ_i log s_i``."""
    return -sum(math.log(s) for s in naive_sums(Z, kernels, name)) / len(Z)


def naive_gradient(Z, kernels, name):
    """The derivative of each ``log s_i`` by each coordinate, added up pair by pair."""
    n, q = Z.shape
    sums = naive_sums(Z, kernels, name)
    G = np.zeros((n, q))
    for i in range(n):
        for j in range(n):
            r2 = sum((a - b) ** 2 for a, b in zip(Z[i], Z[j], strict=True))
            pull = math.prod(K[i, j] for K in kernels) * SLOPES[name](r2) / sums[i]
            for c in range(q):
                G[i, c] += 2 * pull * (Z[i, c] - Z[j, c]) / n
                G[j, c] -= 2 * pull * (Z[i, c] - Z[j, c]) / n
    return G


def data_kernels(n, seed=0):
    """Two symmetric kernels: a Gaussian one, and a compact one with many zeros; both with self-weight."""
    rng = np.random.default_rng(seed)
    made = []
    for width, name in ((3.0, "gaussian"), (4.0, "quartic")):
        X = rng.normal(size=(n, 3))
        R = ((X[:, None] - X[None]) ** 2).sum(axis=-1) / width
        made.append(np.vectorize(VALUES[name])(R))
    return made


STORE = {
    "dense": lambda K: SymmetricTiles.from_dense(K, np.float64),
    "sparse": csr_array,
}
FAMILY = {
    "plain": (lambda K, L: information(K), [(-1.0, []), (1.0, [0])]),
    "conditional": (lambda K, L: conditional_information(K, L), [(-1.0, [1]), (1.0, [1, 0])]),
    **{
        f"informed, weight {weight}": (lambda K, L, w=weight: informed_information(K, L, w), recipe)
        for weight, recipe in (
            (0.0, [(1.0, [0]), (-1.0, [])]),
            (0.7, [(1.0, [0]), (-0.3, []), (-0.7, [1])]),
            (1.0, [(1.0, [0]), (-1.0, [1])]),
            (2.0, [(1.0, [0]), (1.0, []), (-2.0, [1])]),
        )
    },
    "joint": (lambda K, L: joint_information(K, L), [(1.0, [0]), (1.0, [1]), (-1.0, []), (-1.0, [0, 1])]),
}
