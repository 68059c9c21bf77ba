from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import dblquad, quad
from sklearn.neighbors import KernelDensity

from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.bandwidths import LeaveOneOut
from sidelight.kernels.profiles import GAUSSIAN
from sidelight.maps.parzen import ParzenDensity, fit_density
from sidelight.neighbours.search import nearest

NAMES = ["gaussian", "student", "quartic"]


def cloud(n=80, d=2, seed=0):
    return np.random.default_rng(seed).normal(size=(n, d))


@pytest.mark.parametrize("d", [1, 2, 5, 12])
@pytest.mark.parametrize("h", [0.1, 1.0, 7.0])
def test_a_gaussian_density_is_that_of_scikit_learn(d, h):
    X, Q = cloud(d=d), cloud(30, d, seed=1)
    theirs = KernelDensity(bandwidth=np.sqrt(h / 2)).fit(X).score_samples(Q)
    np.testing.assert_allclose(ParzenDensity(X, np.full(80, h)).log_density(Q), theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "quartic"])
def test_a_density_with_a_bandwidth_per_row_is_the_naive_mixture(name):
    X, Q = cloud(12), cloud(5, seed=1)
    h = np.random.default_rng(2).uniform(0.5, 3, size=12)
    found = ParzenDensity(X, h, name).log_density(Q)
    constant = np.pi if name == "gaussian" else np.pi * 8 / (4 * 6)
    for q, log_p in zip(Q, found, strict=True):
        total = 0.0
        for x, width in zip(X, h, strict=True):
            r2 = ((q - x) ** 2).sum() / width
            total += (np.exp(-r2) if name == "gaussian" else max(1 - r2, 0.0) ** 2) / (constant * width)
        assert log_p == pytest.approx(np.log(total / 12), rel=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_densities_on_the_line_integrate_to_one(name):
    X = np.array([[-1.0], [0.0], [2.0]])
    density = ParzenDensity(X, np.array([0.5, 1.0, 2.0]), name)

    def p(x):
        return float(np.exp(density.log_density(np.array([[x]]))[0]))

    middle = sum(quad(p, a, a + 1, limit=200)[0] for a in range(-4, 5))
    tails = quad(p, -np.inf, -4)[0] + quad(p, 5, np.inf)[0]
    assert middle + tails == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("name", ["gaussian", "quartic"])
def test_densities_on_the_plane_integrate_to_one(name):
    density = ParzenDensity(np.array([[0.3, -0.2]]), np.array([1.5]), name)
    grid = np.linspace(-6, 6, 801)
    Q = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    total = np.exp(density.log_density(Q)).sum() * (grid[1] - grid[0]) ** 2
    assert total == pytest.approx(1.0, abs=1e-4)


def test_the_student_density_on_the_plane_integrates_to_one():
    density = ParzenDensity(np.zeros((1, 2)), np.array([2.0]), "student")

    def ring(r, angle):
        q = r * np.array([[np.cos(angle), np.sin(angle)]])
        return r * float(np.exp(density.log_density(q)[0]))

    total = dblquad(ring, 0, 2 * np.pi, 0, np.inf, epsabs=1e-6)[0]
    assert total == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("name", ["gaussian", "quartic"])
def test_samples_have_the_moments_of_the_mixture(name):
    X = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 6.0]])
    h = np.array([0.5, 2.0, 4.0])
    density = ParzenDensity(X, h, name)
    drawn = density.sample(60_000, np.random.default_rng(3))
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.06)
    own = density.profile.variance(2) * h.mean()
    np.testing.assert_allclose(drawn.var(axis=0), X.var(axis=0) + own, rtol=0.03)


def test_student_samples_stay_as_near_as_their_density_says():
    density = ParzenDensity(np.zeros((1, 1)), np.array([4.0]), "student")
    drawn = np.abs(density.sample(50_000, np.random.default_rng(4))[:, 0])
    assert np.mean(drawn < 2.0) == pytest.approx(0.5, abs=0.01)  # a Cauchy variable of scale 2


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [2, 12])
def test_far_away_the_density_is_low_and_never_nan(name, d):
    density = ParzenDensity(cloud(d=d), np.full(80, 40.0), name)
    Q = np.array([[1.0], [1e3], [1e100], [1e200]]) * np.ones((1, d))
    logs = density.log_density(Q)
    assert not np.isnan(logs).any()
    assert (logs[1:] < logs[0]).all()
    if name != "quartic":
        assert np.isfinite(logs).all()


@pytest.mark.parametrize("d", [2, 12])
def test_rows_are_answered_alike_alone_and_in_company_and_on_one_or_two_threads(d):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    density = ParzenDensity(cloud(2100, d), np.random.default_rng(5).uniform(0.5, 1, size=2100))
    Q = cloud(1030, d, seed=6)
    evaluate = one_blas_thread(density.log_density)
    together = evaluate(Q, 1)
    assert together.tobytes() == evaluate(Q, 2).tobytes()
    alone = np.concatenate([evaluate(Q[i : i + 1], 1) for i in range(0, 1030, 50)])
    np.testing.assert_allclose(alone, together[::50], rtol=1e-12, atol=1e-12)


def test_a_fitted_density_has_the_best_factor_for_its_relative_bandwidths():
    X = cloud(150)
    relative = np.random.default_rng(7).uniform(0.5, 2, size=150)
    density = fit_density(X, relative)
    factor = density.bandwidths / relative
    np.testing.assert_allclose(factor, factor[0])
    score = LeaveOneOut(X, GAUSSIAN, relative)
    assert score(factor[0]) >= max(score(0.7 * factor[0]), score(1.4 * factor[0]))


def test_neighbour_lists_spare_the_search_of_many_rows():
    """The factor is nearly the same, and the index is built for the first query."""
    rng = np.random.default_rng(7)
    X = rng.standard_normal((12_000, 4)) @ rng.standard_normal((4, 12)) + 0.1 * rng.standard_normal((12_000, 12))
    near = nearest(X, k=25, n_jobs=1)
    relative = near.distance[:, 10] ** 2
    listed, searched = fit_density(X, relative, lists=near.index), fit_density(X, relative)
    assert listed.bandwidths[0] == pytest.approx(searched.bandwidths[0], rel=0.02)
    few = fit_density(X, relative, lists=near.index[:, :5])
    assert few.bandwidths.tobytes() == searched.bandwidths.tobytes()


def test_the_fitted_density_of_a_normal_cloud_is_close_to_the_truth():
    X, fresh = cloud(600), cloud(300, seed=8)
    truth = -0.5 * (fresh**2).sum(axis=1) - np.log(2 * np.pi)
    found = fit_density(X, np.ones(600)).log_density(fresh)
    assert np.mean(truth - found) < 0.1


@pytest.mark.parametrize("zeros", [1, 40, 80])
def test_rows_without_a_bandwidth_get_the_smallest_one(zeros):
    X = cloud()
    relative = np.r_[np.zeros(zeros), np.linspace(0.5, 1, 80 - zeros)]
    density = fit_density(X, relative)
    assert (density.bandwidths > 0).all()
    assert (density.bandwidths[:zeros] == density.bandwidths.min()).all()
    assert np.isfinite(density.log_density(X)).all()


def test_rows_that_are_all_the_same_have_a_density():
    density = fit_density(np.full((20, 3), 0.1), np.zeros(20))
    assert np.isfinite(density.log_density(np.full((2, 3), 0.1))).all()
