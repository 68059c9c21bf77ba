"""Steps that lower the stress of distances to landmarks."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.neighbours.landmarks import landmark_distances
from sidelight.solvers.eigen import landmark_scaling
from sidelight.solvers.landmark_stress import lower_stress


def sphere(n: int = 300) -> np.ndarray:
    """Rows on a sphere, which has no map in two dimensions that keeps distances."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def stress(D: np.ndarray, landmarks: np.ndarray, Z: np.ndarray) -> float:
    found = np.linalg.norm(Z[landmarks][:, None] - Z, axis=2)
    there = D > 0
    return float((((found - D)[there]) ** 2 / D[there]).sum())


def test_the_stress_falls_and_the_mean_stays():
    landmarks, D = landmark_distances(sphere(), None, n_landmarks=60)
    Z = landmark_scaling(D, landmarks, 2)
    found = lower_stress(D, landmarks, Z)
    assert stress(D, landmarks, found) < 0.8 * stress(D, landmarks, Z)
    np.testing.assert_allclose(found.mean(axis=0), Z.mean(axis=0), atol=1e-12)


def test_a_map_that_keeps_all_distances_stays():
    Z = np.random.default_rng(0).normal(size=(80, 2))
    landmarks, D = landmark_distances(Z, None, n_landmarks=20)
    start = Z - Z.mean(axis=0)
    np.testing.assert_allclose(lower_stress(D, landmarks, start), start, atol=1e-9)


def test_repeated_rows_and_one_place_for_all():
    X = np.repeat(sphere(40), 3, axis=0)
    landmarks, D = landmark_distances(X, None, n_landmarks=30)
    found = lower_stress(D, landmarks, landmark_scaling(D, landmarks, 2))
    assert np.isfinite(found).all()
    same = np.zeros((5, 2))
    landmarks, D = landmark_distances(same, None, n_landmarks=3)
    np.testing.assert_array_equal(lower_stress(D, landmarks, same), same)


def test_one_landmark_and_no_dimension():
    X = sphere(10)
    landmarks, D = landmark_distances(X, None, n_landmarks=1)
    assert np.isfinite(lower_stress(D, landmarks, X[:, :1])).all()
    assert lower_stress(D, landmarks, np.zeros((10, 0))).shape == (10, 0)


@pytest.mark.parametrize("apart", [1e-8, 1e-12, 1e-15])
def test_rows_that_are_nearly_equal_do_not_have_all_the_weight(apart):
    X = np.repeat(sphere(40), 3, axis=0)
    X += apart * np.random.default_rng(1).normal(size=X.shape)
    landmarks, D = landmark_distances(X, None, n_landmarks=30)
    Z = landmark_scaling(D, landmarks, 2)
    found = lower_stress(D, landmarks, Z)
    assert np.isfinite(found).all()
    whole = np.where(D > 1e-3, D, 0.0)  # without those between rows that are nearly equal
    assert stress(whole, landmarks, found) < 0.9 * stress(whole, landmarks, Z)
