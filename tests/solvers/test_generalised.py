"""Directions in closed form: against scipy's generalised solver, and where directions are tied."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, subspace_angles

from sidelight.solvers.generalised import joined, relative_directions, smallest_directions

RNG = np.random.default_rng(1)
VARIANCES = np.array([9.0, 4.0, 1.0, 0.5, 1e-6])


def symmetric(seed=0):
    G = np.random.default_rng(seed).normal(size=(5, 5))
    return G + G.T


def test_relative_directions_are_those_of_the_generalised_eigenproblem():
    M = symmetric()
    V = relative_directions(M, VARIANCES, 0.3, 3, balance=0.4)
    S = np.diag(VARIANCES + 0.3)
    _, expected = eigh(M + 0.4 * 0.3 * np.eye(5), S)
    np.testing.assert_allclose(V.T @ S @ V, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(V), np.abs(expected[:, :3]), atol=1e-10)


def test_nothing_said_gives_the_widest_directions_in_both_forms():
    none = np.zeros((5, 5))
    for V in (relative_directions(none, VARIANCES, 0.1, 2), smallest_directions(none, VARIANCES, 2)):
        assert (np.abs(V) > 1e-9).tolist() == np.eye(5, 2, dtype=bool).tolist()


def test_of_tied_directions_the_widest_come_first():
    M = np.diag([3.0, 0.0, 5.0, 0.0, 0.0])
    V = smallest_directions(M, np.array([1.0, 2.0, 1.0, 7.0, 3.0]), 2)
    np.testing.assert_allclose(np.abs(V), np.eye(5)[:, [3, 4]], atol=1e-12)


def test_literal_directions_are_the_smallest_eigenvectors():
    M = symmetric(4)
    V = smallest_directions(M, VARIANCES, 3)
    assert subspace_angles(V, eigh(M)[1][:, :3]).max() < 1e-7
    np.testing.assert_allclose(V.T @ V, np.eye(3), atol=1e-12)


def test_no_more_directions_than_there_are():
    assert smallest_directions(symmetric(), VARIANCES, 9).shape == (5, 5)
    assert smallest_directions(np.zeros((0, 0)), np.zeros(0), 2).shape == (0, 0)


def test_joined_directions_are_an_orthonormal_basis_of_their_span():
    V, metric = RNG.normal(size=(5, 2)), VARIANCES + 1
    U = joined(np.column_stack([V, V @ [1.0, 2.0]]), metric)
    assert U.shape == (5, 2)
    np.testing.assert_allclose(U.T @ (metric[:, None] * U), np.eye(2), atol=1e-12)
    assert subspace_angles(U, V).max() < 1e-7
