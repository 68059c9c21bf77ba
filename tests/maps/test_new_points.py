"""The share of one more row in the bound: against the bound itself, its gradient, and where it puts rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.kernels.profiles import GAUSSIAN, STUDENT
from sidelight.kernels.repulsion import repulsion_table
from sidelight.maps.new_points import NewPointEmbedder
from sidelight.objectives.bound import InformationBound

rng = np.random.default_rng(0)
Z = 2.0 * rng.normal(size=(400, 2))
P = np.full((1, 5), 0.2)
NEAR = np.array([[3, 30, 100, 200, 399]])


def placing(profile=STUDENT, inputs=Z):
    return NewPointEmbedder(inputs, Z, repulsion_table(Z, profile), profile, 5, 3.0, 1.5)


def bound_with_one_more(z, profile):
    """N times the bound of all rows and one at z, whose pairs count in both directions."""
    n = len(Z)
    last, others = np.full(5, n), NEAR[0]
    pairs = (np.r_[last, others], np.r_[others, last])
    K = csr_array((np.tile(P[0], 2), pairs), shape=(n + 1, n + 1))
    bound = InformationBound(K, profile, attraction=1.5, background=0.0, tolerance=None)
    return (n + 1) * bound.value_and_grad(np.vstack([Z, z])).value


@pytest.mark.parametrize("profile", [GAUSSIAN, STUDENT], ids=repr)
def test_share_differs_between_places_as_the_bound_does(profile):
    places = rng.uniform(-3, 3, size=(6, 2))
    share = [placing(profile).share(z[None], P, Z[NEAR])[0][0] for z in places]
    bound = [bound_with_one_more(z, profile) for z in places]
    np.testing.assert_allclose(np.diff(share), np.diff(bound), atol=0.03)
    assert np.ptp(bound) > 1


def test_gradient_of_the_share_is_that_of_its_value():
    model, e = placing(), 1e-5
    z = rng.uniform(-3, 3, size=(1, 2))
    _, gradient, _ = model.share(z, P, Z[NEAR])
    for d in range(2):
        step = e * np.eye(2)[d]
        ahead, behind = (model.share(z + sign * step, P, Z[NEAR])[0][0] for sign in (1, -1))
        assert gradient[0, d] == pytest.approx((ahead - behind) / (2 * e), abs=1e-6)


def test_a_row_between_two_groups_joins_one():
    """The mean of neighbours in two groups far apart is nowhere; the share has no valley there."""
    sides = np.array([[-20.0, 0.0], [20.0, 0.0]])
    places = np.repeat(sides, 50, axis=0) + rng.normal(size=(100, 2))
    inputs = np.repeat([[-1.0], [1.0]], 50, axis=0) + 0.01 * rng.normal(size=(100, 1))
    model = NewPointEmbedder(inputs, places, repulsion_table(places, STUDENT), STUDENT, 100, 90.0, 1.5)
    found = model(np.array([[0.02], [-0.02]]))
    assert (np.abs(np.abs(found[:, 0]) - 20) < 3).all()


def test_places_are_near_a_minimum_of_the_share():
    queries = Z[:50] + 0.1 * rng.normal(size=(50, 2))
    model = placing()
    near = model._near(queries, None)
    weights = np.full(near.index.shape, 1 / near.index.shape[1])
    places = model._settled(weights, Z[near.index])
    value, gradient, curvature = model.share(places, weights, Z[near.index])
    inside = ((places > model.table.low) & (places < model.table.high)).all(axis=1)
    assert inside.sum() > 40
    assert np.median(np.linalg.norm(gradient[inside], axis=1) / curvature[inside]) < 0.02
    for _ in range(5):
        moved = model._within(places + 0.2 * rng.normal(size=places.shape))
        assert (model.share(moved, weights, Z[near.index])[0] > value - 1e-3).mean() > 0.95
