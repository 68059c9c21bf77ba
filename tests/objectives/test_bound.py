"""The bound of the information: against every pair visited, its own slope, the information, and merged rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.kernels import gauss_transform
from sidelight.kernels.cell_lists import cell_lists
from sidelight.kernels.matrices import adaptive_kernel
from sidelight.kernels.profiles import GAUSSIAN, STUDENT, profile
from sidelight.neighbours.search import nearest
from sidelight.objectives.bound import InformationBound
from sidelight.objectives.entropy import EntropySum, information
from sidelight.solvers.levels import merged

fast_only = pytest.mark.skipif(gauss_transform.library() is None, reason="no finufft for this machine")
both_profiles = pytest.mark.parametrize("latent", [GAUSSIAN, STUDENT], ids=lambda p: p.name)
N = 120


def kernel(n=N, seed=0):
    """A sparse symmetric kernel graph that sums to n."""
    matrix, _ = adaptive_kernel(nearest(np.random.default_rng(seed).standard_normal((n, 4)), k=8), 5.0)
    return csr_array(matrix * (n / float(matrix.sum())))


def places(n=N, q=2, seed=1):
    return 2 * np.random.default_rng(seed).standard_normal((n, q))


def weights(n=N):
    return np.random.default_rng(2).integers(1, 5, size=n).astype(float)


def gram_factors(n=N, r=3):
    return 0.5 + np.random.default_rng(3).random((n, r))


def dense(P, latent, Z, w, G, attraction, background):
    """Value and gradient as the equations have them, every pair visited in float64."""
    D = Z[:, None] - Z[None]
    R = (D**2).sum(axis=-1)
    K = latent.value(R.copy())
    total = w.sum()
    s = (G * K) @ w
    Zc = Z - np.average(Z, axis=0, weights=w)
    value = w @ np.log(s) - attraction * (P * latent.log_value(R)).sum() + background * w @ (Zc**2).sum(axis=1)
    pull = G * latent.slope(K) * w[:, None] * w[None] * (1 / s[:, None] + 1 / s[None])
    steepness = P * (latent.slope(K) / K)
    gradient = -2 * np.einsum("ij,ijk->ik", pull, D) + 4 * attraction * np.einsum("ij,ijk->ik", steepness, D)
    return value / total, (gradient + 2 * background * w[:, None] * Zc) / total


@both_profiles
@pytest.mark.parametrize("q", [1, 2, 3, 5])
@pytest.mark.parametrize("informed", [False, True], ids=["plain", "given"])
def test_value_and_gradient_are_those_of_the_dense_sum(latent, q, informed):
    P, Z, w = kernel(), places(q=q), weights()
    A = gram_factors() if informed else None
    G = np.ones((N, N)) if A is None else A @ A.T
    found = InformationBound(
        P, latent, weights=w, factors=A, attraction=1.7, background=0.0, tolerance=None
    ).value_and_grad(Z)
    value, gradient = dense(P.toarray(), latent, Z, w, G, 1.7, 0.0)
    assert found.value == pytest.approx(value, rel=1e-6)
    assert np.linalg.norm(found.gradient - gradient) <= 1e-6 * np.linalg.norm(gradient)


@both_profiles
def test_background_draws_rows_to_their_mean(latent):
    P, Z = kernel(), places()
    found = InformationBound(P, latent, background=0.3, tolerance=None).value_and_grad(Z + 40)
    value, gradient = dense(P.toarray(), latent, Z, np.ones(N), np.ones((N, N)), 1.5, 0.3)
    assert found.value == pytest.approx(value, rel=1e-6)
    assert np.linalg.norm(found.gradient - gradient) <= 1e-5 * np.linalg.norm(gradient)


@both_profiles
@pytest.mark.parametrize("informed", [False, True], ids=["plain", "given"])
def test_gradient_is_the_slope_of_the_value(latent, informed):
    objective = InformationBound(
        kernel(), latent, weights=weights(), factors=gram_factors() if informed else None, tolerance=None
    )
    Z, step = places(), 1e-2
    gradient = objective.value_and_grad(Z).gradient
    uphill = gradient / np.sqrt(np.mean(gradient**2))

    def slope(h):
        above, below = (objective.value_and_grad(Z + sign * h * uphill).value for sign in (1, -1))
        return (above - below) / (2 * h)

    extrapolated = (4 * slope(step) - slope(2 * step)) / 3
    assert extrapolated == pytest.approx(float(np.vdot(gradient, uphill)), rel=3e-5)


@both_profiles
def test_parts_are_the_entropy_of_the_map_and_the_bound_of_the_joint_one(latent):
    P, Z = kernel(), places()
    found = InformationBound(P, latent, attraction=2.0, background=0.0, tolerance=None).value_and_grad(Z)
    assert found.value == pytest.approx(2.0 * found.terms["bound of H(X,Z)"] - found.terms["H(Z)"], rel=1e-12)
    exact = EntropySum(information(P), latent, dtype=np.float64).value_and_grad(Z)
    assert found.terms["H(Z)"] == pytest.approx(exact.terms["H(Z)"], rel=1e-10)


def row_stochastic(n=N):
    """A symmetric kernel, its own rows included, whose rows sum to 1."""
    P = kernel(n).toarray() + np.eye(n)
    for _ in range(400):
        scale = 1 / np.sqrt(P.sum(axis=1))
        P *= scale[:, None] * scale[None]
    return csr_array(P)


@both_profiles
@pytest.mark.parametrize("scale", [0.05, 1.0, 5.0])
def test_the_bound_stays_below_the_information(latent, scale):
    P, Z = row_stochastic(), scale * places()
    bound = InformationBound(P, latent, attraction=1.0, background=0.0, tolerance=None).value_and_grad(Z).value
    negative_information = EntropySum(information(P), latent, dtype=np.float64).value_and_grad(Z).value
    assert bound > negative_information


@both_profiles
def test_the_bound_is_the_information_where_all_neighbours_are_at_one_distance(latent):
    P, Z = row_stochastic(), np.zeros((N, 2))
    bound = InformationBound(P, latent, attraction=1.0, background=0.0, tolerance=None).value_and_grad(Z).value
    assert bound == pytest.approx(
        EntropySum(information(P), latent, dtype=np.float64).value_and_grad(Z).value, abs=1e-7
    )


@both_profiles
@pytest.mark.parametrize("informed", [False, True], ids=["plain", "given"])
def test_merged_rows_have_the_value_of_all_rows_with_members_at_one_place(latent, informed):
    parent = np.random.default_rng(6).permutation(N) % 30
    A = gram_factors(30) if informed else None
    few, w = places(30), np.bincount(parent).astype(float)
    options = {"background": 0.0, "tolerance": None}
    coarse = InformationBound(merged(kernel(), parent), latent, weights=w, factors=A, **options).value_and_grad(few)
    whole = InformationBound(kernel(), latent, factors=None if A is None else A[parent], **options)
    fine = whole.value_and_grad(few[parent])
    assert coarse.value == pytest.approx(fine.value, rel=1e-6)
    together = np.column_stack([np.bincount(parent, weights=column) for column in fine.gradient.T])
    assert np.linalg.norm(coarse.gradient - together) <= 1e-6 * np.linalg.norm(together)


def test_rows_without_links_are_only_pushed():
    P = kernel().tolil()
    P[[0, 7, N - 1]] = 0
    P[:, [0, 7, N - 1]] = 0
    P = csr_array(P)
    P.eliminate_zeros()
    Z, objective = places(), InformationBound(P, STUDENT, background=0.0, tolerance=None)
    value, gradient = dense(P.toarray(), STUDENT, Z, np.ones(N), np.ones((N, N)), 1.5, 0.0)
    found = objective.value_and_grad(Z)
    assert found.value == pytest.approx(value, rel=1e-6)
    assert np.linalg.norm(found.gradient - gradient) <= 1e-6 * np.linalg.norm(gradient)
    assert len(objective.links(Z)) == P.nnz


def test_a_kernel_without_links_spends_nothing():
    objective = InformationBound(csr_array((N, N)), GAUSSIAN, background=0.0, tolerance=None)
    found = objective.value_and_grad(places())
    assert found.terms["bound of H(X,Z)"] == 0.0
    assert found.value == -found.terms["H(Z)"]
    assert objective.links(places()).shape == (0,)


@both_profiles
def test_attraction_is_the_laplacian_of_the_links_applied_to_the_places(latent):
    P, Z = kernel(), places()
    some = InformationBound(P, latent, attraction=1.0, background=0.0, tolerance=None)
    more = InformationBound(P, latent, attraction=3.0, background=0.0, tolerance=None)
    attraction = (more.value_and_grad(Z).gradient - some.value_and_grad(Z).gradient) / 2
    W = csr_array((some.links(Z), P.indices, P.indptr), shape=P.shape)
    L = np.diag(W.sum(axis=1)) - W.toarray()
    np.testing.assert_allclose(4 / N * L @ Z, attraction, atol=1e-5 * np.abs(attraction).max())


@pytest.fixture(scope="module")
def many():
    """More rows than a block of stored pairs has, and their places."""
    return kernel(4200), places(4200)


@fast_only
@both_profiles
@pytest.mark.parametrize("tolerance", [1e-3, 1e-5])
def test_a_transform_is_as_close_as_its_tolerance(latent, tolerance, many, monkeypatch):
    P, Z = many
    monkeypatch.setattr(gauss_transform, "is_faster", lambda profile, n, *modes: True)
    found = InformationBound(P, latent, tolerance=tolerance).value_and_grad(Z)
    monkeypatch.setattr(gauss_transform, "library", lambda: None)
    exact = InformationBound(P, latent, tolerance=tolerance).value_and_grad(Z)
    assert found.value != exact.value
    assert found.value == pytest.approx(exact.value, abs=tolerance)
    assert np.linalg.norm(found.gradient - exact.gradient) <= tolerance * np.linalg.norm(exact.gradient)


@both_profiles
@pytest.mark.parametrize("informed", [False, True], ids=["plain", "given"])
def test_one_and_two_threads_give_the_same_bytes(latent, informed, many):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    P, Z = many
    A = gram_factors(len(Z)) if informed else None
    one, two = (InformationBound(P, latent, factors=A, n_jobs=jobs).value_and_grad(Z) for jobs in (1, 2))
    assert (one.value, one.gradient.tobytes()) == (two.value, two.gradient.tobytes())


def test_rows_beyond_the_box_are_repelled_no_further():
    rng = np.random.default_rng(5)
    Z = 3.0 * rng.standard_normal((40, 2))
    Z[0] = [30.0, 0.5]
    K = csr_array(np.where(rng.random((40, 40)) < 0.2, 1.0, 0.0))
    K = csr_array(K + K.T)
    box = np.array([[-10.0, -10.0], [10.0, 10.0]])
    objective = InformationBound(K, STUDENT, box=box, background=0.0, tolerance=None)
    found = objective.value_and_grad(Z).gradient
    step = np.zeros_like(Z)
    for i, k in ((0, 0), (0, 1), (3, 0)):
        step[:] = 0.0
        step[i, k] = 0.1
        slope = (objective.value_and_grad(Z + step).value - objective.value_and_grad(Z - step).value) / 0.2
        assert found[i, k] == pytest.approx(slope, rel=5e-3)
    free = InformationBound(K, STUDENT, background=0.0, tolerance=None).value_and_grad(Z).gradient
    assert found[0, 0] > free[0, 0]


def test_a_profile_whose_attraction_is_not_known_is_refused():
    with pytest.raises(ValueError, match=r"profile=quartic has no bound here\. Use one of gaussian, student"):
        InformationBound(csr_array(np.eye(3)), profile("quartic"))


@both_profiles
def test_over_cells_the_gradient_is_the_slope_of_the_value_also_at_a_box(latent):
    P, Z, w, A = kernel(), places(q=6), weights(), gram_factors()
    box = np.array([np.full(6, -2.5), np.full(6, 2.5)])
    objective = InformationBound(P, latent, weights=w, factors=A, box=box).over(cell_lists(Z, listed=5, links=P))
    found = objective.value_and_grad(Z)
    every = InformationBound(P, latent, weights=w, factors=A, box=box, tolerance=None).value_and_grad(Z)
    assert 1e-6 < abs(found.value - every.value) < 0.1  # an approximation
    assert 1e-3 < objective.sum_error(Z) < 0.3
    step = -found.gradient / np.linalg.norm(found.gradient)
    ends = [objective.value_and_grad(Z + t * step).value for t in (0.02, -0.02)]
    assert (ends[0] - ends[1]) / 0.04 == pytest.approx(float(np.vdot(found.gradient, step)), rel=5e-3)


def test_a_step_too_far_for_cells_is_infinite_so_that_a_line_search_turns_back():
    P, Z = kernel(), places(q=5)
    objective = InformationBound(P, STUDENT).over(cell_lists(Z, listed=2))
    assert objective.value_and_grad(1e12 * Z).value == np.inf
