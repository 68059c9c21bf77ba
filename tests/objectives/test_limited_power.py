"""An objective on points of fixed power: its gradient, and what it leaves alone."""

import numpy as np
import pytest

from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import Entropy, EntropySum
from sidelight.objectives.limited_power import LimitedPower, power

RNG = np.random.default_rng(0)
W = RNG.normal(size=(12, 2)) + 3.0


def objective():
    return EntropySum([Entropy("H(Z)", -1.0)], profile("gaussian"), dtype=np.float64)


def test_gradient_is_that_of_finite_differences():
    limited, step = LimitedPower(objective(), 1.7), 1e-5
    slope = np.zeros(W.shape)
    for at in np.ndindex(*W.shape):
        away = np.zeros(W.shape)
        away[at] = step
        ahead, behind = limited.value_and_grad(W + away).value, limited.value_and_grad(W - away).value
        slope[at] = (ahead - behind) / (2 * step)
    np.testing.assert_allclose(limited.value_and_grad(W).gradient, slope, atol=1e-8)
    assert np.abs(slope).max() > 1e-3


def test_points_are_centred_and_have_the_power_of_the_limit_whatever_the_size():
    limited = LimitedPower(objective(), 1.7)
    for size in (1e-6, 1.0, 1e6):
        Z = limited.points(size * W)
        assert power(Z) == pytest.approx(1.7, rel=1e-12)
        np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
        assert limited.value_and_grad(size * W).value == pytest.approx(limited.value_and_grad(W).value, rel=1e-9)
