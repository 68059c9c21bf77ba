"""Sammon mapping: its objective and its minimum."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import ConvergenceWarning

from sidelight.datasets import s_curve
from sidelight.objectives.sammon import SammonStress
from sidelight.solvers.eigen import landmark_scaling
from sidelight.two_way.sammon import sammon_mapping

RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(14, 5)), RNG.normal(size=(14, 2))


def test_gradient_is_that_of_finite_differences():
    stress, step, slope = SammonStress(cdist(X, X)), 1e-5, np.zeros(Z.shape)
    for at in np.ndindex(*Z.shape):
        away = np.zeros(Z.shape)
        away[at] = step
        slope[at] = (stress.value_and_grad(Z + away).value - stress.value_and_grad(Z - away).value) / (2 * step)
    np.testing.assert_allclose(stress.value_and_grad(Z).gradient, slope, atol=1e-8)
    assert np.abs(slope).max() > 1e-3


def test_flat_rows_are_found_again():
    plane = RNG.normal(size=(30, 2)) @ np.linalg.qr(RNG.normal(size=(6, 2)))[0].T
    np.testing.assert_allclose(cdist(*2 * [sammon_mapping(plane)]), cdist(plane, plane), atol=1e-5)


def test_stress_is_below_that_of_classical_scaling_and_at_a_minimum():
    rows = s_curve(80, random_state=0).X
    D = cdist(rows, rows)
    stress, found = SammonStress(D), sammon_mapping(rows, tol=1e-13, max_iter=3000)
    here = stress.value_and_grad(found)
    assert here.value < 0.9 * stress.value_and_grad(landmark_scaling(D, np.arange(80), 2)).value
    assert np.abs(here.gradient).max() < 1e-5
    np.testing.assert_allclose(found.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_of_the_data_are_those_of_the_map(scale):
    np.testing.assert_allclose(sammon_mapping(scale * X) / scale, sammon_mapping(X), atol=1e-4)


def test_equal_rows_have_one_point():
    found = sammon_mapping(np.vstack([X, X[:3]]))
    np.testing.assert_array_equal(found[:3], found[-3:])
    np.testing.assert_array_equal(sammon_mapping(np.ones((4, 3))), np.zeros((4, 2)))


def test_more_dimensions_than_the_rows_have_are_empty_or_finite():
    assert np.isfinite(sammon_mapping(X[:3], 4)).all()


def test_too_few_iterations_are_warned_of():
    with pytest.warns(ConvergenceWarning, match="max_iter=2 did not let the stress converge"):
        sammon_mapping(X, max_iter=2)


@pytest.mark.parametrize(("options", "words"), [({"n_components": 0}, "n_components=0"), ({"tol": -1.0}, "tol=-1")])
def test_a_bad_argument_is_named(options, words):
    with pytest.raises(ValueError, match=f"^sammon_mapping: {words}"):
        sammon_mapping(X, **options)
