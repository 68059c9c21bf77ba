from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln

from sidelight.kernels.profiles import DELTA, GAUSSIAN, PROFILES, QUARTIC, STUDENT, StudentDensity, profile

SMOOTH = [GAUSSIAN, STUDENT, QUARTIC]


def radial_integral(shape, n_dims, power=0):
    """``∫ |u|^power k(|u|²) du`` by quadrature over the radius, times the surface of the unit sphere."""
    surface = 2 * np.exp(0.5 * n_dims * np.log(np.pi) - gammaln(0.5 * n_dims))

    def integrand(r):
        return r ** (n_dims - 1 + power) * float(np.exp(shape.log_value(np.array([r * r]))[0]))

    inner, _ = quad(integrand, 0, 1, epsabs=1e-13)
    outer = 0.0 if shape is QUARTIC else quad(integrand, 1, np.inf, epsabs=1e-13, limit=200)[0]
    return surface * (inner + outer)


@pytest.mark.parametrize("shape", [*SMOOTH, StudentDensity(2), StudentDensity(3), StudentDensity(2, 2.0)], ids=str)
def test_slope_is_minus_the_derivative_of_the_value(shape):
    R = np.linspace(0.01, 2.5, 60)
    R = R[np.abs(R - 1) > 1e-3]
    step = 1e-6
    numeric = -(shape.value(R + step) - shape.value(R - step)) / (2 * step)
    np.testing.assert_allclose(shape.slope(shape.value(R.copy())), numeric, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("shape", PROFILES.values(), ids=str)
def test_a_profile_unpickles_as_itself(shape):
    """Code asks whether a profile ``is`` the Gaussian: a copy would be taken for another."""
    assert pickle.loads(pickle.dumps(shape)) is shape
    assert pickle.loads(pickle.dumps(StudentDensity(2))).log_integral(2) == StudentDensity(2).log_integral(2)


@pytest.mark.parametrize("shape", [*SMOOTH, DELTA, StudentDensity(3), StudentDensity(2, 2.0)], ids=str)
def test_log_value_is_the_logarithm_of_the_value_and_leaves_its_argument_alone(shape):
    R = np.array([0.0, 0.2, 0.9, 1.0, 1.5, 30.0])
    kept = R.copy()
    logs = shape.log_value(R)
    np.testing.assert_array_equal(R, kept)
    np.testing.assert_allclose(np.exp(logs), shape.value(R.copy()), rtol=1e-14)


@pytest.mark.parametrize("shape", [*SMOOTH, DELTA], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_value_works_in_place_and_keeps_the_precision(shape, dtype):
    R = np.array([0.0, 0.5, 2.0], dtype=dtype)
    K = shape.value(R)
    assert K is R
    assert K.dtype == dtype
    assert K[0] == 1


@pytest.mark.parametrize("shape", [*SMOOTH, DELTA], ids=str)
def test_slope_fills_a_buffer_with_what_it_returns_without_one(shape):
    K = shape.value(np.array([0.0, 0.3, 0.8, 4.0]))
    buffer = np.full(4, np.nan)
    filled = shape.slope(K.copy(), out=buffer)
    assert filled is buffer
    np.testing.assert_array_equal(buffer, shape.slope(K.copy()))


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize("shape", SMOOTH, ids=str)
def test_log_integral_agrees_with_quadrature(shape, n_dims):
    density = shape.density_profile(n_dims)
    assert density.log_integral(n_dims) == pytest.approx(np.log(radial_integral(density, n_dims)), abs=1e-8)


def test_student_has_an_integral_in_one_dimension_only():
    assert STUDENT.log_integral(1) == pytest.approx(np.log(np.pi))
    assert STUDENT.log_integral(2) == np.inf
    assert STUDENT.density_profile(1).log_value(np.array([2.0])) == pytest.approx(STUDENT.log_value(np.array([2.0])))


@pytest.mark.parametrize("n_dims", [1, 2, 3, 5])
@pytest.mark.parametrize("shape", [GAUSSIAN, QUARTIC], ids=str)
def test_variance_agrees_with_quadrature_and_with_draws(shape, n_dims):
    exact = radial_integral(shape, n_dims, power=2) / radial_integral(shape, n_dims) / n_dims
    assert shape.variance(n_dims) == pytest.approx(exact, rel=1e-8)
    n = 200_000
    steps = shape.offsets(n, n_dims, np.random.default_rng(0))
    deviation = np.sqrt(exact / n)
    assert np.abs(steps.mean(axis=0)).max() < 5 * deviation
    assert steps.var(axis=0) == pytest.approx(np.full(n_dims, exact), rel=0.02)


@pytest.mark.parametrize("degrees", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_student_draws_have_the_radii_of_their_density(n_dims, degrees):
    density = StudentDensity(n_dims, degrees)
    surface = 2 * np.exp(0.5 * n_dims * np.log(np.pi) - gammaln(0.5 * n_dims) - density.log_integral(n_dims))
    radii = np.linalg.norm(density.offsets(100_000, n_dims, np.random.default_rng(1)), axis=1)
    for r in (0.5, 1.0, 3.0):
        inside, _ = quad(lambda t: surface * t ** (n_dims - 1) * (1 + t * t) ** (-(n_dims + degrees) / 2), 0, r)
        assert np.mean(radii < r) == pytest.approx(inside, abs=0.008)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_student_density_has_a_variance_beyond_two_degrees_of_freedom(n_dims):
    assert STUDENT.variance(n_dims) == StudentDensity(n_dims).variance(n_dims) == np.inf
    assert StudentDensity(n_dims, 2.0).variance(n_dims) == np.inf
    heavy = StudentDensity(n_dims, 5.0)
    exact = radial_integral(heavy, n_dims, power=2) / radial_integral(heavy, n_dims) / n_dims
    assert heavy.variance(n_dims) == pytest.approx(exact, rel=1e-6)


def test_student_draws_are_those_of_the_cauchy_density():
    drawn = STUDENT.offsets(50, 2, np.random.default_rng(1))
    np.testing.assert_array_equal(drawn, StudentDensity(2).offsets(50, 2, np.random.default_rng(1)))


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_quartic_draws_stay_inside_the_unit_ball(n_dims):
    radii = np.linalg.norm(QUARTIC.offsets(5000, n_dims, np.random.default_rng(2)), axis=1)
    assert 0.9 < radii.max() <= 1.0


def test_delta_does_not_move_points_and_has_no_width():
    assert DELTA.slope(DELTA.value(np.array([0.0, 1.0]))).tolist() == [0.0, 0.0]
    assert DELTA.variance(2) == 0.0
    assert DELTA.log_integral(2) == -np.inf
    assert not DELTA.offsets(3, 2, np.random.default_rng(0)).any()


@pytest.mark.parametrize("name", list(PROFILES))
def test_profiles_are_found_by_name_and_say_it(name):
    assert profile(name).name == name
    assert repr(profile(name)) == f"<{name} profile>"
    assert np.isfinite(profile(name).value(np.array([1e300, np.inf]))).all()
