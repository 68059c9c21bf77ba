"""Sums of a latent kernel in any number of dimensions: near pairs one by one, far cells as a whole."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.kernels.cell_lists import cell_lists
from sidelight.kernels.cell_sums import cell_sum_error, cell_sums
from sidelight.kernels.pair_sums import PairSums, factored_pulls, factored_sums
from sidelight.kernels.profiles import GAUSSIAN, STUDENT
from sidelight.neighbours.distances import squared_distances

PROFILES = pytest.mark.parametrize("latent", [GAUSSIAN, STUDENT], ids=lambda p: p.name)
N = 400


def clumps(n=N, q=10, seed=0):
    """Points (n, q) in twelve clumps of two dimensions each, as embeddings are: thin, and apart."""
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 12, n)
    axes = rng.standard_normal((12, 2, q)) / np.sqrt(q)
    return 6 * rng.standard_normal((12, q))[kind] + 2 * np.einsum("nk,nkq->nq", rng.standard_normal((n, 2)), axes[kind])


def linked(Z, k=8):
    """A sparse array that stores the ``k`` nearest rows of each row."""
    near = np.argsort(squared_distances(Z, Z), axis=1)[:, 1 : k + 1]
    n = len(Z)
    return csr_array((np.ones(n * k), near.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))


def weighed(n=N, r=3):
    rng = np.random.default_rng(1)
    return rng.integers(1, 5, n).astype(float), rng.random((n, r))


def exact(Z, latent, w, A):
    """Sums (n,), and half the negative gradient of Σ w log s, over all pairs."""
    pairs, A = PairSums(Z, latent), np.ones((len(Z), 1)) if A is None else A
    s = factored_sums(pairs, A, w)
    return s, factored_pulls(pairs, A, 1 / s, w) * w[:, None]


@PROFILES
@pytest.mark.parametrize("informed", [False, True])
def test_sums_are_exact_if_every_cell_is_listed_or_every_pair_is_linked(latent, informed):
    n = 120
    Z, (w, A) = clumps(n), weighed(n)
    A = A if informed else None
    sums, pushes = exact(Z, latent, w, A)
    pairs = csr_array(np.ones((n, n)))
    for lists in (cell_lists(Z, listed=n), cell_lists(Z, listed=1, links=pairs)):
        found = cell_sums(Z, lists, latent, weights=w, factors=A)
        np.testing.assert_allclose(found.sums, sums, rtol=1e-4)  # squares of float32
        assert np.linalg.norm(found.pushes - pushes) <= 1e-4 * np.linalg.norm(pushes)


@PROFILES
@pytest.mark.parametrize("informed", [False, True])
def test_pushes_are_the_gradient_of_the_approximate_sums(latent, informed):
    """By finite differences, with lists that stay as they are: what a line search sees."""
    Z, (w, A) = clumps(), weighed()
    A = A if informed else None
    lists = cell_lists(Z, listed=3, links=linked(Z))
    pushes = cell_sums(Z, lists, latent, weights=w, factors=A).pushes
    far = exact(Z, latent, w, A)[1]
    assert np.linalg.norm(pushes - far) > 1e-3 * np.linalg.norm(far)  # cells count: these are not the exact sums
    for direction in (pushes, np.random.default_rng(2).standard_normal(Z.shape) * np.abs(pushes)):
        step = 4.0 * direction / np.linalg.norm(direction)

        def value(t, step=step):
            return float(w @ np.log(cell_sums(Z + t * step, lists, latent, weights=w, factors=A).sums))

        slope = (8 * (value(0.02) - value(-0.02)) - (value(0.04) - value(-0.04))) / 0.24
        assert slope == pytest.approx(-2 * float(np.vdot(pushes, step)), rel=2e-3, abs=2e-3 * np.linalg.norm(pushes))


@PROFILES
def test_the_error_is_small_falls_with_longer_lists_and_is_at_most_what_is_said(latent):
    Z, w = clumps(), np.ones(N)
    sums = exact(Z, latent, w, None)[0]
    errors = []
    for listed in (2, 8, 16):
        found = cell_sums(Z, cell_lists(Z, listed=listed, links=linked(Z)), latent, weights=w).sums
        rows = np.random.default_rng(0).choice(N, 64, replace=False)
        said = cell_sum_error(found, Z, latent, weights=w)
        assert said == pytest.approx(np.abs(found / sums - 1)[rows].max(), rel=1e-3, abs=1e-6)
        errors.append(float(np.abs(found / sums - 1).max()))
    assert errors[2] < errors[1] < errors[0]
    assert errors[1] < 0.05
    assert errors[2] < 0.01


def test_the_error_said_of_few_rows_is_that_of_all_of_them():
    Z, (w, A) = clumps(60), weighed(60)
    sums = exact(Z, STUDENT, w, A)[0]
    found = cell_sums(Z, cell_lists(Z, listed=2), STUDENT, weights=w, factors=A).sums
    said = cell_sum_error(found, Z, STUDENT, weights=w, factors=A)
    assert 1e-3 < said == pytest.approx(np.abs(found / sums - 1).max(), rel=1e-6)


@PROFILES
def test_links_between_far_cells_make_the_sums_more_exact(latent):
    Z, w = clumps(q=4, seed=3), np.ones(N)
    sums = exact(Z, latent, w, None)[0]
    without, with_links = (
        np.abs(cell_sums(Z, cell_lists(Z, listed=2, links=links), latent, weights=w).sums / sums - 1).mean()
        for links in (None, linked(Z))
    )
    assert with_links < 0.8 * without


def test_equal_points_and_one_cell_are_no_special_cases():
    Z, w = np.zeros((50, 5)), np.ones(50)
    found = cell_sums(Z, cell_lists(Z, listed=4), STUDENT, weights=w)
    np.testing.assert_allclose(found.sums, 50.0, rtol=1e-6)
    np.testing.assert_allclose(found.pushes, 0.0, atol=1e-6)
    one = cell_sums(Z[:1], cell_lists(Z[:1], listed=4), GAUSSIAN, weights=w[:1])
    np.testing.assert_allclose(one.sums, 1.0, rtol=1e-6)


@PROFILES
def test_the_same_bytes_on_one_and_two_threads(latent):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    Z, (w, A) = clumps(), weighed()
    lists = [cell_lists(Z, listed=4, links=linked(Z), n_jobs=jobs) for jobs in (1, 2)]
    assert lists[0].order.tobytes() == lists[1].order.tobytes()
    assert lists[0].near.tobytes() == lists[1].near.tobytes()
    one, two = (cell_sums(Z, lists[0], latent, weights=w, factors=A, n_jobs=jobs) for jobs in (1, 2))
    assert one.sums.tobytes() == two.sums.tobytes()
    assert one.pushes.tobytes() == two.pushes.tobytes()


def test_every_link_is_in_a_listed_cell_or_visited_by_itself():
    Z = clumps(200)
    K = linked(Z)
    lists = cell_lists(Z, listed=3, links=K)
    cell = np.empty(len(Z), dtype=int)
    cell[lists.order] = lists.cell
    wanted = {(i, j) for i, j in zip(*K.nonzero(), strict=True) if cell[j] not in lists.near[cell[i]]}
    links = [tile.links for tile in lists.tiles]
    visited = [(lists.order[a], lists.order[b]) for some in links for a, b in zip(some.one, some.other, strict=True)]
    assert 0 < len(visited) == len(wanted)
    assert set(visited) == wanted


@pytest.mark.parametrize("latent", [GAUSSIAN, STUDENT])
def test_points_far_off_in_a_trial_step_have_finite_sums(latent):
    """float32 rounds r² of points far from the middle of their cell below -1: warnings are errors in these tests."""
    Z = clumps()
    lists, moved = cell_lists(Z, listed=4), Z.copy()
    moved[::7] += 1e5 * np.random.default_rng(0).normal(size=Z[::7].shape)
    found = cell_sums(moved, lists, latent, weights=np.ones(N))
    assert np.isfinite(found.sums).all()
    assert np.isfinite(found.pushes).all()
