"""What fixed points do to others, read from a table: against pairs, and its own gradient against differences."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels import repulsion
from sidelight.kernels.profiles import GAUSSIAN, STUDENT
from sidelight.kernels.repulsion import repulsion_table

rng = np.random.default_rng(0)


def exact(Z, U, profile):
    def kernel(A):
        return profile.value(((A[:, None] - Z) ** 2).sum(axis=2))

    return np.log1p(kernel(U).sum(axis=1)) + kernel(U) @ (1 / kernel(Z).sum(axis=1))


@pytest.mark.parametrize("profile", [GAUSSIAN, STUDENT], ids=repr)
@pytest.mark.parametrize(("q", "error"), [(1, 2e-3), (2, 2e-3), (3, 1e-2)])
@pytest.mark.parametrize("way", ["transform", "pairs"])
def test_table_holds_the_sums(profile, q, error, way, monkeypatch):
    if way == "pairs":
        monkeypatch.setattr(repulsion, "_by_transform", lambda *_: None)
    Z = 2.0 * rng.normal(size=(150, q))
    U = rng.uniform(Z.min(axis=0), Z.max(axis=0), size=(200, q))
    table = repulsion_table(Z, profile)
    assert np.abs(table.value_and_grad(U)[0] - exact(Z, U, profile)).max() < error


@pytest.mark.parametrize("q", [1, 2, 3])
def test_gradient_is_that_of_the_value(q):
    Z = 2.0 * rng.normal(size=(60, q))
    table = repulsion_table(Z, STUDENT)
    U = rng.uniform(Z.min(axis=0), Z.max(axis=0), size=(50, q))
    gradient, e = table.value_and_grad(U)[1], 1e-5
    for d in range(q):
        step = e * np.eye(q)[d]
        slope = (table.value_and_grad(U + step)[0] - table.value_and_grad(U - step)[0]) / (2 * e)
        np.testing.assert_allclose(gradient[:, d], slope, atol=1e-7)


def test_corners_of_the_box_have_an_answer():
    Z = np.array([[0.0, 0.0], [3.0, 1.0], [3.0, 1.0]])
    table = repulsion_table(Z, STUDENT)
    np.testing.assert_allclose(table.value_and_grad(Z)[0], exact(Z, Z, STUDENT), atol=2e-3)


def test_too_many_dimensions_or_too_wide_a_box_have_no_table():
    assert repulsion_table(np.zeros((5, 4)), STUDENT) is None
    assert repulsion_table(np.array([[0.0, 0.0], [1e5, 1e5]]), STUDENT) is None
