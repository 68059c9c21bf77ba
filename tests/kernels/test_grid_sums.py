"""Sums of a latent kernel over all pairs in the plane, on a grid of splines."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight.kernels import grid_sums as module
from sidelight.kernels.grid_sums import GridSums, grid_sums
from sidelight.kernels.pair_sums import PairSums, factored_pulls, factored_repulsion, factored_sums, latent_sums
from sidelight.kernels.profiles import GAUSSIAN, QUARTIC, STUDENT, profile


def cloud(kind, n=800):
    """Points (n, 2) of unit density, spread evenly, or half of them in a clump."""
    rng = np.random.default_rng(1)
    Z = np.sqrt(n) * rng.random((n, 2))
    if kind == "clump":
        Z[: n // 2] = 7.3 + 0.3 * rng.standard_normal((n // 2, 2))
    return Z


def weights(n=800):
    rng = np.random.default_rng(9)
    return np.column_stack([np.ones(n), rng.random(n), rng.integers(1, 6, size=n)])


@pytest.mark.parametrize("name", ["gaussian", "student"])
@pytest.mark.parametrize("kind", ["even", "clump"])
def test_row_sums_keep_a_thousandth(name, kind):
    Z, latent = cloud(kind), profile(name)
    exact = PairSums(Z, latent).sums(weights())
    error = np.abs(GridSums(Z, latent).sums(weights()) / exact - 1)
    assert error.max() < 1e-3
    assert np.median(error) < 2e-4


@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_pulls_are_near_those_of_pairs(name):
    Z, latent = cloud("even"), profile(name)
    exact = PairSums(Z, latent).pulls(weights())
    error = np.linalg.norm(GridSums(Z, latent).pulls(weights()) - exact, axis=(0, 1))
    assert (error < 2e-2 * np.linalg.norm(exact, axis=(0, 1))).all()


@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_pulls_are_the_derivative_of_the_sums_of_the_same_grid(name):
    """Far closer than they are to the exact ones: a line search sees one function."""
    Z, latent, w = cloud("even"), profile(name), weights()[:, 1:2]
    direction = np.random.default_rng(5).standard_normal(Z.shape)

    def energy(t):
        return float((w * GridSums(Z + t * direction, latent).sums(w)).sum())

    step = 3e-2
    slope = (8 * (energy(step) - energy(-step)) - energy(2 * step) + energy(-2 * step)) / (12 * step)
    pulls = GridSums(Z, latent).pulls(w)[..., 0].T
    assert slope == pytest.approx(-4 * float((w * pulls * direction).sum()), rel=1e-3)


def test_the_kernel_is_symmetric():
    """Σ_i u_i (K v)_i = Σ_i v_i (K u)_i to rounding, without which pulls would be no derivative."""
    Z, W = cloud("clump"), weights()
    S = W.T @ GridSums(Z, STUDENT).sums(W)
    assert np.allclose(S, S.T, rtol=1e-5)


def test_the_error_of_a_place_does_not_depend_on_the_other_points():
    Z = cloud("even")
    some = GridSums(Z, STUDENT).sums(np.eye(1, len(Z)).T)[:20, 0]
    wider = GridSums(np.vstack([Z, [[-37.1, 5.0], [61.7, 80.3]]]), STUDENT).sums(np.eye(1, len(Z) + 2).T)[:20, 0]
    assert np.allclose(some, wider, atol=2e-5)


@pytest.mark.parametrize("r", [1, 3])
def test_the_repulsion_of_factors_is_that_of_sums_and_pulls(r):
    Z, w = cloud("even"), weights()[:, 2]
    A = np.ones((len(Z), 1)) if r == 1 else np.random.default_rng(2).random((len(Z), r))
    grid, floor = GridSums(Z, STUDENT), np.zeros(len(Z))
    s, moved = factored_repulsion(grid, A, w, floor)
    assert np.allclose(s, factored_sums(grid, A, w), rtol=1e-6)
    assert np.allclose(
        moved, factored_pulls(grid, A, 1 / s, w) * w[:, None], rtol=1e-5, atol=1e-5 * np.abs(moved).max()
    )
    exact, pairs = factored_repulsion(PairSums(Z, STUDENT), A, w, floor)
    assert np.allclose(s, exact, rtol=1e-3)
    assert np.linalg.norm(moved - pairs) < 2e-2 * np.linalg.norm(pairs)


def test_the_spectrum_of_points_nearly_the_same_is_used_again():
    Z = cloud("even")
    first = GridSums(Z, STUDENT)
    again = GridSums(Z * 1.001, STUDENT, before=first)
    fresh = GridSums(Z * 1.001, STUDENT)
    assert again.spectrum is first.spectrum
    assert again.sums(weights()).tobytes() == fresh.sums(weights()).tobytes()
    assert GridSums(Z, GAUSSIAN, before=first).spectrum is not first.spectrum
    assert GridSums(3 * Z, STUDENT, before=first).spectrum is not first.spectrum


@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_grids_give_the_same_bytes_on_one_and_two_threads(name, monkeypatch):
    """Bytes may be compared: points, rows and columns are processed in fixed tiles, and grids added in their order."""
    monkeypatch.setattr(module, "_MANY", 1000)
    monkeypatch.setattr(module, "_PART", 300)
    Z, W = cloud("clump", 2000), weights(2000)
    one, two = (GridSums(Z, profile(name), jobs) for jobs in (1, 2))
    assert one.sums(W).tobytes() == two.sums(W).tobytes()
    assert one.pulls(W).tobytes() == two.pulls(W).tobytes()


def test_splines_that_are_not_kept_give_the_same_bytes(monkeypatch):
    Z, W = cloud("even"), weights()
    kept = GridSums(Z, STUDENT)
    sums, pulls = kept.sums(W), kept.pulls(W)
    monkeypatch.setattr(module, "_KEPT", 0)
    again = GridSums(Z, STUDENT)
    assert again.sums(W).tobytes() == sums.tobytes()
    assert again.pulls(W).tobytes() == pulls.tobytes()
    assert kept.kept
    assert not again.kept


def test_grids_are_for_planes_of_many_points_few_digits_and_kernels_with_a_step():
    Z = cloud("even", 4000)
    assert isinstance(latent_sums(Z, STUDENT, tolerance=1e-3), GridSums)
    assert not isinstance(latent_sums(Z, STUDENT, tolerance=1e-5), GridSums)
    assert not isinstance(latent_sums(Z, STUDENT), GridSums)
    assert not isinstance(latent_sums(np.c_[Z, Z[:, 0]], STUDENT, tolerance=1e-3), GridSums)
    assert isinstance(latent_sums(Z, QUARTIC, tolerance=1e-3), PairSums)
    assert isinstance(latent_sums(Z[:100], STUDENT, tolerance=1e-3), PairSums)


@pytest.mark.parametrize("far", [1e6, 1e12, 1e200, np.inf, np.nan])
def test_points_too_far_apart_have_no_grid(far):
    Z = cloud("even")
    Z[3, 1] = far
    assert grid_sums(Z, STUDENT) is None
