"""Sums of a latent kernel over all pairs: pair by pair, and by a transform that was asked for few digits."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels import gauss_transform
from sidelight.kernels.gauss_transform import FastSums
from sidelight.kernels.pair_sums import PairSums, latent_sums, sum_error
from sidelight.kernels.profiles import GAUSSIAN, QUARTIC, STUDENT, profile

fast_only = pytest.mark.skipif(gauss_transform.library() is None, reason="no finufft for this machine")
TOLERANCES = [1e-3, 1e-5, None]
EXTENTS = {1: 60.0, 2: 15.0, 3: 3.0}
N = 600


@pytest.fixture
def always(monkeypatch):
    """The transform wherever there is one, also where pairs would be faster."""
    monkeypatch.setattr(gauss_transform, "is_faster", lambda profile, n, *modes: True)
    monkeypatch.setattr(gauss_transform, "_PLAN", 0.0)


def cloud(kind, q, n=N):
    """Points (n, q): spread evenly, in tight clumps at the corners of a box, or half of them in one clump."""
    rng = np.random.default_rng(q)
    extent = EXTENTS[q]
    if kind == "corners":
        return extent * rng.integers(0, 2, size=(n, q)) + 1e-3 * rng.standard_normal((n, q))
    Z = extent * rng.random((n, q))
    if kind == "clump":
        Z[: n // 2] = 0.3 * extent + 1e-3 * rng.standard_normal((n // 2, q))
    return Z


def weights(n=N):
    rng = np.random.default_rng(9)
    return np.column_stack([np.ones(n), rng.random(n), rng.integers(1, 6, size=n)])


def obvious(Z, profile, W):
    """Sums (n, c) and pulls (q, n, c) by a loop over rows and one over their partners."""
    n, q = Z.shape
    sums, pulls = np.zeros(W.shape), np.zeros((q, *W.shape))
    for i in range(n):
        for j in range(n):
            difference = Z[i] - Z[j]
            k = profile.value(np.array([difference @ difference]))
            sums[i] += W[j] * k
            pulls[:, i] += np.outer(difference, W[j] * profile.slope(k))
    return sums, pulls


@pytest.mark.parametrize("latent", [GAUSSIAN, STUDENT, QUARTIC], ids=lambda p: p.name)
@pytest.mark.parametrize("q", [1, 2, 5])
def test_pairs_are_summed_as_the_formula_says(latent, q):
    rng = np.random.default_rng(q)
    Z, W = 1.5 * rng.standard_normal((40, q)) + 10, weights(40)
    sums, pulls = obvious(Z, latent, W)
    found = PairSums(Z, latent)
    np.testing.assert_allclose(found.sums(W), sums, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.pulls(W), pulls, rtol=1e-11, atol=1e-11)


def test_rows_of_several_tiles_come_back_in_order(monkeypatch):
    Z, W = cloud("even", 2, 100), weights(100)
    whole = PairSums(Z, STUDENT)
    monkeypatch.setattr("sidelight.kernels.pair_sums._BUDGET", 1600)
    tiled = PairSums(Z, STUDENT)
    assert (len(whole.parts), len(tiled.parts)) == (1, 7)
    np.testing.assert_allclose(tiled.sums(W), whole.sums(W), rtol=1e-13)
    np.testing.assert_allclose(tiled.pulls(W), whole.pulls(W), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("kind", ["even", "clump"])
@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_few_points_and_few_digits_are_summed_in_single_precision(name, kind, q):
    Z = cloud(kind, q)
    Z -= Z.mean(axis=0)
    single, double = PairSums(Z, profile(name), single=True), PairSums(Z, profile(name))
    np.testing.assert_allclose(single.sums(weights()), double.sums(weights()), rtol=3e-6)
    pulls = double.pulls(weights())
    assert np.linalg.norm(single.pulls(weights()) - pulls) <= 2e-4 * np.linalg.norm(pulls)


@fast_only
@pytest.mark.parametrize("tolerance", TOLERANCES)
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "kind"),
    [(name, kind) for name in ("gaussian", "student") for kind in ("even", "corners")] + [("gaussian", "clump")],
)
def test_a_transform_keeps_its_tolerance(name, kind, q, tolerance, always):
    Z, latent = cloud(kind, q), profile(name)
    found = latent_sums(Z, latent, tolerance=tolerance)
    assert isinstance(found, FastSums)
    exact = PairSums(Z, latent).sums(weights())
    error = np.abs(found.sums(weights()) / exact - 1).max()
    assert error <= (tolerance or 1e-6)


@fast_only
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
@pytest.mark.parametrize("q", [1, 2])
def test_tails_of_a_clump_miss_the_tolerance_and_are_caught(q, tolerance, always):
    """Far from the clump a Student row sum is small beside the rows that are summed, so its errors are not."""
    Z = cloud("clump", q)
    found = latent_sums(Z, STUDENT, tolerance=tolerance)
    error = np.abs(found.sums(np.ones((N, 1))) / PairSums(Z, STUDENT).sums(np.ones((N, 1))) - 1).max()
    assert tolerance < sum_error(found, Z, STUDENT) < error * (1 + 1e-9)
    assert error < 10 * tolerance


@fast_only
@pytest.mark.parametrize(("tolerance", "step", "digits"), [(1e-3, 1e-2, 2e-3), (1e-5, 1e-3, 5e-5), (None, 1e-4, 1e-7)])
@pytest.mark.parametrize("q", [1, 2, 3])
@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_pulls_are_the_derivative_of_the_sums_of_the_same_transform(name, q, tolerance, step, digits, always):
    Z, latent, w = cloud("even", q), profile(name), weights()[:, 1:2]
    direction = np.random.default_rng(5).standard_normal(Z.shape)
    direction[[np.argmin(Z, axis=0), np.argmax(Z, axis=0)]] = 0.0  # the box, and with it the modes, stays as it is

    def energy(t):
        return float((w * latent_sums(Z + t * direction, latent, tolerance=tolerance).sums(w)).sum())

    slope = (energy(step) - energy(-step)) / (2 * step)
    pulls = latent_sums(Z, latent, tolerance=tolerance).pulls(w)[..., 0].T
    assert slope == pytest.approx(-4 * float((w * pulls * direction).sum()), rel=digits)


@fast_only
def test_the_error_of_a_transform_is_measured_and_pairs_have_none(always):
    Z = cloud("even", 2)
    loose, strict = (latent_sums(Z, STUDENT, tolerance=tolerance) for tolerance in (1e-3, None))
    everywhere = np.abs(loose.sums(np.ones((N, 1))) / PairSums(Z, STUDENT).sums(np.ones((N, 1))) - 1)[:, 0]
    rows = np.random.default_rng(0).choice(N, 64, replace=False)
    assert sum_error(loose, Z, STUDENT) == pytest.approx(everywhere[rows].max(), rel=1e-9)
    assert 1e-7 < sum_error(loose, Z, STUDENT) <= 1e-3
    assert sum_error(strict, Z, STUDENT) < 1e-8
    assert sum_error(PairSums(Z, STUDENT), Z, STUDENT) == 0.0
    assert sum_error(loose, Z + [100.0, 0.0] * (np.arange(N) < 9)[:, None], STUDENT) > 0.1  # of other points


@fast_only
def test_fewer_digits_take_single_precision_and_fewer_modes(always):
    Z = cloud("even", 2)
    loose, middle, strict = (latent_sums(Z, STUDENT, tolerance=tolerance) for tolerance in TOLERANCES)
    assert loose.dtype == np.complex64
    assert middle.dtype == strict.dtype == np.complex128
    assert loose.modes.count < middle.modes.count < strict.modes.count


@fast_only
@pytest.mark.parametrize("name", ["gaussian", "student"])
@pytest.mark.parametrize("tolerance", TOLERANCES)
def test_a_transform_gives_the_same_bytes_on_one_and_two_threads(name, tolerance, always):
    """Bytes may be compared: each transform of finufft runs on one thread, and they are added in order."""
    Z, W = cloud("clump", 2, 2000), weights(2000)
    one, two = (latent_sums(Z, profile(name), tolerance=tolerance, n_jobs=jobs) for jobs in (1, 2))
    assert isinstance(one, FastSums)
    assert one.sums(W).tobytes() == two.sums(W).tobytes()
    assert one.pulls(W).tobytes() == two.pulls(W).tobytes()


@pytest.mark.parametrize("single", [False, True])
def test_pairs_give_the_same_bytes_on_one_and_two_threads(single, monkeypatch):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    monkeypatch.setattr("sidelight.kernels.pair_sums._BUDGET", 30_000)
    Z, W = cloud("clump", 3, 900), weights(900)
    one, two = (PairSums(Z, STUDENT, n_jobs=jobs, single=single) for jobs in (1, 2))
    assert len(one.parts) == 28
    assert one.sums(W).tobytes() == two.sums(W).tobytes()
    assert one.pulls(W).tobytes() == two.pulls(W).tobytes()


def test_few_points_and_many_dimensions_are_summed_pair_by_pair():
    rng = np.random.default_rng(3)
    assert isinstance(latent_sums(rng.random((100, 2)), GAUSSIAN, tolerance=1e-3), PairSums)
    assert isinstance(latent_sums(rng.random((5000, 4)), GAUSSIAN, tolerance=1e-3), PairSums)
