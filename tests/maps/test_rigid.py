"""Rigid maps: found again from points, and left alone where points say nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.maps.rigid import RigidMap, fit_rigid


def some(seed=0, r=4, reflected=False):
    rng = np.random.default_rng(seed)
    R = np.linalg.qr(rng.normal(size=(r, r)))[0]
    if (np.linalg.det(R) < 0) != reflected:
        R[:, 0] *= -1
    return RigidMap(R, rng.normal(size=r)), rng


@pytest.mark.parametrize("reflected", [False, True])
def test_a_rigid_map_is_found_again(reflected):
    true, rng = some(reflected=reflected)
    A = rng.normal(size=(9, 4))
    found = fit_rigid(A, true(A))
    np.testing.assert_allclose(found.rotation, true.rotation, atol=1e-12)
    np.testing.assert_allclose(found.translation, true.translation, atol=1e-12)


def test_no_other_rigid_map_is_nearer():
    true, rng = some()
    A = rng.normal(size=(20, 4))
    B = true(A) + 0.3 * rng.normal(size=A.shape)
    best = ((fit_rigid(A, B)(A) - B) ** 2).sum()
    for seed in range(1, 200):
        turn = np.linalg.qr(np.eye(4) + 0.05 * np.random.default_rng(seed).normal(size=(4, 4)))[0]
        turn *= np.sign(np.diag(turn))
        other = fit_rigid(A, B).rotation @ turn
        moved = A @ other.T
        assert ((moved - moved.mean(axis=0) + B.mean(axis=0) - B) ** 2).sum() > best


def test_the_inverse_undoes_it():
    true, rng = some(3)
    A = rng.normal(size=(5, 4))
    np.testing.assert_allclose(true.inverse()(true(A)), A, atol=1e-12)


def test_what_points_do_not_determine_stays_as_it_is():
    """A quarter turn in the first two of four dimensions: the other two keep their places."""
    A = np.zeros((6, 4))
    A[:, :2] = np.random.default_rng(0).normal(size=(6, 2))
    B = A[:, [1, 0, 2, 3]] * np.array([-1.0, 1.0, 1.0, 1.0])
    found = fit_rigid(A, B)
    np.testing.assert_allclose(found.rotation[2:, 2:], np.eye(2), atol=1e-12)
    np.testing.assert_allclose(found(A), B, atol=1e-12)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(4), atol=1e-12)


def test_one_step_is_a_translation():
    found = fit_rigid(np.array([[1.0, 2.0]]), np.array([[4.0, 1.0]]))
    np.testing.assert_allclose(found.rotation, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(found.translation, [3.0, -1.0])
