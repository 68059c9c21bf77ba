"""The eigenproblem of coordination against a dense solver, and what makes it well posed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import block_diag, eigh

from sidelight.objectives.coordination import overlap_sums, overlaps_of, unfolded
from sidelight.solvers.coordination import coordinated, whitener


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    Q = rng.dirichlet([0.5] * 4, size=300)
    features = [rng.normal(size=(300, 2)) for _ in range(4)]
    return overlaps_of(overlap_sums(Q, features), (2,) * 4), unfolded(Q, features)


def solve(overlaps, n_components, B=None):
    H = whitener(overlaps.moments, overlaps.n)
    B = overlaps.disagreement() if B is None else B
    return coordinated(B, H, overlaps.products, overlaps.constant(), overlaps.n, n_components)


def test_solutions_are_those_of_a_dense_solver_without_the_trivial_one(problem):
    overlaps, _ = problem
    values, vectors = eigh(overlaps.disagreement(), block_diag(*overlaps.moments))
    L, found = solve(overlaps, 3)
    np.testing.assert_allclose(found, values[1:4], atol=1e-12)
    for own, dense in zip(L.T, vectors[:, 1:4].T, strict=True):
        cosine = own @ dense / np.linalg.norm(own) / np.linalg.norm(dense)
        assert abs(cosine) == pytest.approx(1.0, abs=1e-10)


def test_latent_columns_have_mean_zero_and_unit_variance_and_are_uncorrelated(problem):
    overlaps, U = problem
    Z = U @ solve(overlaps, 3)[0]
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(3), atol=1e-10)


def test_the_trivial_solution_is_not_found_where_others_tie_with_it():
    """Charts that share no row are free: every function on them has disagreement 0, as the constant has."""
    rng = np.random.default_rng(1)
    Q = np.repeat(np.eye(3), 50, axis=0)
    features = [rng.normal(size=(150, 1)) for _ in range(3)]
    overlaps, U = overlaps_of(overlap_sums(Q, features), (1,) * 3), unfolded(Q, features)
    L, values = solve(overlaps, 5)
    np.testing.assert_allclose(values, 0.0, atol=1e-12)
    np.testing.assert_allclose((U @ L).mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose((U @ L).var(axis=0), 1.0)


def test_flat_directions_and_empty_charts_are_left_out():
    rng = np.random.default_rng(2)
    Q = np.column_stack([rng.dirichlet([1.0] * 2, size=80), np.zeros(80)])
    flat = np.column_stack([rng.normal(size=80), np.zeros(80)])
    overlaps = overlaps_of(overlap_sums(Q, [flat, flat, flat]), (2,) * 3)
    assert whitener(overlaps.moments, overlaps.n).shape == (9, 4)
    L, values = solve(overlaps, 6)
    assert np.isfinite(L).all()
    assert np.isfinite(values[:3]).all()
    np.testing.assert_array_equal(L[:, 3:], 0.0)
