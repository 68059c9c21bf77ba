from __future__ import annotations

import numpy as np
import pytest
from entropy_reference import FAMILY, STORE, VALUES, data_kernels
from scipy.sparse import csr_array

from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.data_kernel import perplexity_kernel
from sidelight.kernels.matrices import SymmetricTiles, dense_kernel
from sidelight.kernels.profiles import GAUSSIAN, QUARTIC, profile
from sidelight.objectives.entropy import Entropy, EntropySum, information

SIZES = [300, 512, 530, 1030]


def cloud(n):
    """Data, latent points near them, and kernels of the data: dense, and sparse of perplexity 10."""
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, 3))
    Z = 2 * X[:, :2] + 0.1 * rng.normal(size=(n, 2))
    return Z, {
        "dense": dense_kernel(X, 0.5, GAUSSIAN, dtype=np.float64),
        "sparse": perplexity_kernel(X, 10.0, None).matrix,
    }


def turned(Z):
    c, s = np.cos(0.7), np.sin(0.7)
    turn = np.array([[c, -s], [s, c]])
    return Z @ turn.T + [40.0, -7.0], turn


@pytest.mark.parametrize("kind", STORE)
@pytest.mark.parametrize("name", VALUES)
def test_moving_and_turning_the_latent_points_turns_the_gradient_only(name, kind):
    Z, kernels = cloud(530)
    objective = EntropySum(information(kernels[kind]), profile(name), dtype=np.float64)
    moved, turn = turned(Z)
    before, after = objective.value_and_grad(Z), objective.value_and_grad(moved)
    assert after.value == pytest.approx(before.value, rel=1e-11)
    np.testing.assert_allclose(after.gradient, before.gradient @ turn.T, atol=1e-11)


@pytest.mark.parametrize("kind", STORE)
@pytest.mark.parametrize("name", VALUES)
def test_forces_between_pairs_cancel(name, kind):
    Z, kernels = cloud(530)
    gradient = EntropySum(information(kernels[kind]), profile(name), dtype=np.float64).value_and_grad(Z).gradient
    np.testing.assert_allclose(gradient.sum(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("member", FAMILY)
@pytest.mark.parametrize("name", VALUES)
def test_storing_a_kernel_dense_or_sparse_changes_nothing(name, member):
    kernels = data_kernels(60)
    Z = 0.5 * np.random.default_rng(1).normal(size=(60, 2))
    found = []
    for first in STORE:
        for second in STORE:
            terms = FAMILY[member][0](STORE[first](kernels[0]), STORE[second](kernels[1]))
            found.append(EntropySum(terms, profile(name), dtype=np.float64).value_and_grad(Z))
    for other in found[1:]:
        assert other.value == pytest.approx(found[0].value, rel=1e-12)
        np.testing.assert_allclose(other.gradient, found[0].gradient, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", STORE)
@pytest.mark.parametrize("name", VALUES)
def test_single_precision_agrees_with_double(name, kind, n):
    Z, kernels = cloud(n)
    single, double = (
        EntropySum(information(kernels[kind]), profile(name), dtype=dtype).value_and_grad(Z)
        for dtype in (np.float32, np.float64)
    )
    assert single.gradient.dtype == np.float64
    assert single.value == pytest.approx(double.value, rel=1e-5)
    assert np.linalg.norm(single.gradient - double.gradient) <= 1e-5 * np.linalg.norm(double.gradient)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("kind", STORE)
def test_one_and_two_threads_give_the_same_bytes(kind, n):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    Z, kernels = cloud(n)
    results = []
    for jobs in (1, 2):
        objective = EntropySum(information(kernels[kind]), profile("gaussian"), n_jobs=jobs)
        evaluate = one_blas_thread(objective.value_and_grad)
        evaluate(Z + 1)  # the buffers hold something else
        results.append(evaluate(Z))
    assert results[0].value == results[1].value
    assert results[0].gradient.tobytes() == results[1].gradient.tobytes()


@pytest.mark.parametrize("n", [12, 600, 1030])
def test_rows_without_neighbours_count_as_floored_and_are_not_moved(n):
    lonely = [0, 3, 4, n - 2, n - 1]
    K = np.random.default_rng(2).uniform(0.5, 1, size=(n, n))
    K = K + K.T
    K[lonely] = 0
    K[:, lonely] = 0
    Z = np.random.default_rng(3).normal(size=(n, 2))
    found = EntropySum([Entropy("H", 1.0, (csr_array(K),))], profile("student"), dtype=np.float64).value_and_grad(Z)
    kept = np.setdiff1d(np.arange(n), lonely)
    inner = SymmetricTiles.from_dense(K[np.ix_(kept, kept)], np.float64)
    alone = EntropySum([Entropy("H", 1.0, (inner,))], profile("student"), dtype=np.float64).value_and_grad(Z[kept])
    np.testing.assert_allclose(n * found.gradient[kept], len(kept) * alone.gradient, rtol=1e-10, atol=1e-13)
    assert not found.gradient[lonely].any()
    floor = -np.log(float(np.finfo(np.float32).tiny) * 1e4)
    assert n * found.value == pytest.approx(len(kept) * alone.value + len(lonely) * floor, rel=1e-12)


def test_a_kernel_without_any_entry_gives_a_flat_finite_value():
    K = csr_array((5, 5), dtype=np.float64)
    found = EntropySum([Entropy("H", 1.0, (K,))], profile("gaussian")).value_and_grad(np.ones((5, 2)))
    assert np.isfinite(found.value)
    assert not found.gradient.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", STORE)
@pytest.mark.parametrize("name", VALUES)
def test_latent_points_out_of_each_others_reach_give_finite_values(name, kind, dtype):
    Z, kernels = cloud(300)
    found = EntropySum(information(kernels[kind]), profile(name), dtype=dtype).value_and_grad(1e5 * Z)
    assert np.isfinite(found.value)
    assert np.isfinite(found.gradient).all()


@pytest.mark.parametrize("spread", [1.0, 4.0, 8.0, 9.0, 12.0, 27.0])
def test_the_gradient_is_that_of_the_value_where_row_sums_underflow(spread):
    Z = spread * np.array([[0.0], [1.0], [2.1], [2.2]])
    terms = [Entropy("H", 1.0, (csr_array(1 - np.eye(4)),))]
    objective = EntropySum(terms, profile("gaussian"), dtype=np.float64)
    numeric = np.empty((4, 1))
    for i in range(4):
        move = 1e-5 * np.eye(4)[:, i : i + 1]
        ahead, behind = (objective.value_and_grad(Z + s * move).value for s in (1, -1))
        numeric[i] = (ahead - behind) / 2e-5
    gradient = objective.value_and_grad(Z).gradient
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-8)
    single = EntropySum(terms, profile("gaussian"), dtype=np.float32).value_and_grad(Z).gradient
    np.testing.assert_allclose(single, gradient, rtol=1e-5, atol=1e-30)


def test_quartic_points_without_overlap_have_no_entropy_left_to_lose():
    Z = 3.0 * np.arange(10.0)[:, None]
    found = EntropySum([Entropy("H(Z)", 1.0)], QUARTIC, dtype=np.float64).value_and_grad(Z)
    assert found.value == 0
    assert not found.gradient.any()


@pytest.mark.parametrize("name", VALUES)
def test_coinciding_points_have_the_entropy_of_one_point_and_no_gradient(name):
    found = EntropySum([Entropy("H(Z)", 1.0)], profile(name), dtype=np.float64).value_and_grad(np.full((600, 3), 0.1))
    assert found.value == pytest.approx(-np.log(600), rel=1e-12)
    np.testing.assert_allclose(found.gradient, 0, atol=1e-15)


@pytest.mark.parametrize("kind", STORE)
def test_evaluating_leaves_the_point_and_the_kernel_as_they_were(kind):
    Z, kernels = cloud(300)
    kernel = kernels[kind]
    kept_point, kept = Z.copy(), kernel.to_dense() if kind == "dense" else kernel.toarray()
    objective = EntropySum(information(kernel), profile("gaussian"), dtype=np.float64)
    first = objective.value_and_grad(Z)
    second = objective.value_and_grad(Z)
    assert first.value == second.value
    assert first.gradient.tobytes() == second.gradient.tobytes()
    np.testing.assert_array_equal(Z, kept_point)
    np.testing.assert_array_equal(kernel.to_dense() if kind == "dense" else kernel.toarray(), kept)
