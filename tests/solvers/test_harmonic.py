"""Values known at some vertices, carried along a graph."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from sidelight.solvers.harmonic import harmonic


def test_carried_values_solve_the_normal_equations():
    rng = np.random.default_rng(0)
    S = rng.uniform(size=(12, 12)) * (rng.uniform(size=(12, 12)) < 0.4)
    S = S + S.T
    np.fill_diagonal(S, 0.0)
    index, T = np.array([1, 4, 9]), rng.normal(size=(3, 2))
    known = np.zeros(12)
    known[index] = 1.0
    right = np.zeros((12, 2))
    right[index] = T
    expected = np.linalg.solve(np.diag(S.sum(axis=1) + known + 1e-9) - S, right)
    np.testing.assert_allclose(harmonic(csr_array(S), index, T), expected, atol=1e-5)


def test_a_piece_of_the_graph_without_values_gets_zero():
    S = csr_array(np.kron(np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]])))
    np.testing.assert_allclose(harmonic(S, np.array([0]), np.array([[3.0]])).ravel(), [3, 3, 0, 0], atol=1e-5)
