"""Directions in closed form: against scipy's generalised solver, and where directions are tied."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, sqrtm, subspace_angles

from sidelight.solvers.generalised import joined, principal_factor, relative_factor, smallest_directions

RNG = np.random.default_rng(1)
VARIANCES = np.array([9.0, 4.0, 1.0, 0.5, 1e-6])


def symmetric(seed=0):
    G = np.random.default_rng(seed).normal(size=(5, 5))
    return G + G.T


def positive(seed):
    G = np.random.default_rng(seed).normal(size=(5, 5))
    return G @ G.T + 0.1 * np.eye(5)


def test_rows_that_belong_together_are_equally_far_apart_in_all_directions():
    W, S = positive(0), positive(1)
    B = relative_factor(W, S, S)
    np.testing.assert_allclose(B.T @ W @ B, np.eye(5), atol=1e-10)


def test_a_direction_counts_by_how_far_different_rows_are_apart_compared_with_all():
    W, S = np.diag([1.0, 4.0, 1.0, 1.0, 1.0]), np.diag(VARIANCES)
    D = S * np.array([2.0, 1.0, 1.0, 0.5, 1.0])
    B = relative_factor(W, D, S)
    np.testing.assert_allclose(B @ B.T, np.diag([2.0, 0.25, 1.0, 0.5, 1.0]), atol=1e-9)


def test_the_factor_is_that_of_the_formula():
    W, D, S = positive(0), positive(1), positive(2)
    R = np.linalg.inv(sqrtm(W))
    Q = np.linalg.inv(sqrtm(R @ S @ R))
    B = relative_factor(W, D, S)
    np.testing.assert_allclose(B @ B.T, R @ Q @ R @ D @ R @ Q @ R, atol=1e-8)


def test_a_scatter_without_full_rank_gives_finite_weights():
    W = np.diag([1.0, 0.0, 0.0, 0.0, 0.0])
    assert np.isfinite(relative_factor(W, np.eye(5), np.eye(5))).all()
    assert relative_factor(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros((0, 0))).shape == (0, 0)


def test_the_widest_directions_are_those_of_the_generalised_eigenproblem():
    T, W = RNG.normal(size=(40, 5)), positive(3)
    S = T.T @ T
    V = principal_factor(T, relative_factor(W, S, S), 3)
    _, expected = eigh(S, W)
    np.testing.assert_allclose(np.abs(V), np.abs(expected[:, ::-1][:, :3]), atol=1e-9)
    P = T @ V
    np.testing.assert_allclose(P.T @ P, np.diag((P**2).sum(axis=0)), atol=1e-9)


def test_nothing_said_gives_the_widest_directions():
    V = smallest_directions(np.zeros((5, 5)), VARIANCES, 2)
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
