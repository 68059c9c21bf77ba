from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.bandwidths import leave_one_out_bandwidth
from sidelight.kernels.data_kernel import auto_kernel, fixed_kernel, perplexity_kernel
from sidelight.kernels.matrices import (
    SymmetricTiles,
    adaptive_kernel,
    compact_kernel,
    dense_kernel,
    left_out,
    matrix_rows,
    multiply,
    share_of_near_pairs,
)
from sidelight.kernels.profiles import DELTA, GAUSSIAN, QUARTIC, STUDENT
from sidelight.neighbours.search import Neighbours, nearest
from sidelight.objectives.entropy import EntropySum, information

SIZES = [1, 40, 512, 530]


def symmetric(n, seed=0):
    K = np.random.default_rng(seed).uniform(size=(n, n))
    return K + K.T


def sparse(n, seed=1):
    K = symmetric(n, seed)
    return csr_array(np.where(K > 1.4, K, 0.0))


@pytest.mark.parametrize("n", SIZES)
def test_tiles_hold_half_of_a_square_matrix_and_give_it_back(n):
    K = symmetric(n)
    tiles = SymmetricTiles.from_dense(K, np.float64)
    np.testing.assert_array_equal(tiles.to_dense(), K)
    assert matrix_rows(tiles) == n
    assert tiles.nbytes <= 8 * (n * n + 512 * n) / 2 + 8 * 512**2


@pytest.mark.parametrize("n", SIZES)
def test_tiles_times_vectors_is_the_dense_product(n):
    K = symmetric(n)
    V = np.random.default_rng(2).normal(size=(n, 3))
    tiles = SymmetricTiles.from_dense(K, np.float64)
    np.testing.assert_allclose(tiles @ V, K @ V, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(tiles @ V[:, 0], K @ V[:, 0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n", SIZES)
def test_entries_are_found_on_either_side_of_the_diagonal(n):
    K = symmetric(n)
    rows, cols = np.random.default_rng(3).integers(n, size=(2, 200))
    tiles = SymmetricTiles.from_dense(K, np.float64)
    np.testing.assert_array_equal(tiles.entries(rows, cols), K[rows, cols])
    assert tiles.entries(rows[:0], cols[:0]).shape == (0,)


@pytest.mark.parametrize("first", ["dense", "sparse"])
@pytest.mark.parametrize("second", ["dense", "sparse"])
def test_a_product_is_element_wise_and_sparse_if_either_factor_is(first, second):
    n = 530
    made = {"dense": SymmetricTiles.from_dense(symmetric(n), np.float64), "sparse": sparse(n)}
    held = {"dense": symmetric(n), "sparse": sparse(n).toarray()}
    product = multiply(made[first], made[second])
    assert isinstance(product, csr_array if "sparse" in (first, second) else SymmetricTiles)
    assert matrix_rows(product) == n
    as_array = product.to_dense() if isinstance(product, SymmetricTiles) else product.toarray()
    np.testing.assert_allclose(as_array, held[first] * held[second], rtol=1e-14)


def test_a_mixed_product_forms_no_square_array(monkeypatch):
    one, other = sparse(530), symmetric(530)
    monkeypatch.setattr(SymmetricTiles, "to_dense", None)
    product = multiply(one, SymmetricTiles.from_dense(other, np.float64))
    np.testing.assert_allclose(product.toarray(), one.toarray() * other, rtol=1e-14)


@pytest.mark.parametrize("shape", [GAUSSIAN, STUDENT, QUARTIC], ids=str)
def test_dense_kernel_is_the_profile_of_every_pair(shape):
    X = 100 + np.random.default_rng(4).normal(size=(14, 3))
    K = dense_kernel(X, 1.7, shape, dtype=np.float64).to_dense()
    for i in range(14):
        for j in range(14):
            r2 = sum((X[i, c] - X[j, c]) ** 2 for c in range(3)) / 1.7
            assert K[i, j] == pytest.approx(float(shape.value(np.array([r2]))[0]), abs=1e-12)


def test_dense_kernel_has_ones_on_its_diagonal_and_the_same_bytes_with_one_and_two_threads():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = np.random.default_rng(5).normal(size=(1030, 20))
    build = one_blas_thread(dense_kernel)
    one, two = (build(X, 3.0, GAUSSIAN, n_jobs=jobs) for jobs in (1, 2))
    assert one.tiles[0, 0].dtype == np.float32
    assert (np.diag(one.to_dense()) == 1).all()
    assert one.to_dense().tobytes() == two.to_dense().tobytes()
    sample = np.ix_([0, 511, 512, 1029], [3, 600, 1024])
    np.testing.assert_allclose(one.to_dense()[sample], np.exp(-(cdist(X, X)[sample] ** 2) / 3), rtol=1e-5)


@pytest.mark.parametrize("width", [3, 12, 40])
def test_a_delta_kernel_is_exactly_one_between_equal_rows(width):
    rng = np.random.default_rng(6)
    group = rng.integers(7, size=600)
    for codes in (np.eye(max(width, 7))[:7], rng.normal(size=(7, width))):
        K = dense_kernel(codes[group], 1.0, DELTA).to_dense()
        np.testing.assert_array_equal(K, group[:, None] == group)


def test_adaptive_kernel_is_the_mean_of_both_directions_without_self_weight():
    X = np.random.default_rng(7).normal(size=(25, 2))
    near = nearest(X, k=9)
    K, h = adaptive_kernel(near, 4.0)
    one_way = np.zeros((25, 25))
    for i in range(25):
        p = np.exp(-(near.distance[i] ** 2) / h[i])
        one_way[i, near.index[i]] = p / p.sum()
        entropy = -sum(v * np.log(v) for v in one_way[i] if v > 0)
        assert entropy == pytest.approx(np.log(4.0), abs=1e-8)
    np.testing.assert_allclose(K.toarray(), (one_way + one_way.T) / 2, rtol=1e-8, atol=1e-15)
    assert not K.diagonal().any()
    assert K.has_sorted_indices


def test_adaptive_kernel_of_duplicates_is_even_and_finite():
    K, h = adaptive_kernel(nearest(np.zeros((10, 2)), k=9), 3.0)
    np.testing.assert_allclose(K.toarray(), (1 - np.eye(10)) / 9)
    assert not h.any()


@pytest.mark.parametrize("n", [2, 3, 5, 40])
@pytest.mark.parametrize("n_neighbors", [None, 2, 10])
def test_perplexity_kernel_holds_for_few_rows(n, n_neighbors):
    X = np.random.default_rng(8).normal(size=(n, 2))
    kernel = perplexity_kernel(X, max(1.000001, (n - 1) / 3), n_neighbors)
    assert kernel.matrix.sum() == pytest.approx(n)
    assert np.isfinite(kernel.bandwidth).all()
    assert (kernel.bandwidth > 0).all()
    assert kernel.bandwidth.max() < 1e4
    assert kernel.lists.shape[0] == n


@pytest.mark.parametrize("n_neighbors", [None, 6])
def test_perplexity_kernel_of_points_and_of_their_distances_agree(n_neighbors):
    X = np.random.default_rng(9).normal(size=(80, 3))
    by_points = perplexity_kernel(X, 8.0, n_neighbors)
    by_distances = perplexity_kernel(cdist(X, X), 8.0, n_neighbors, precomputed=True)
    np.testing.assert_array_equal(by_points.lists, by_distances.lists)
    np.testing.assert_allclose(by_points.matrix.toarray(), by_distances.matrix.toarray(), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(by_points.bandwidth, by_distances.bandwidth, rtol=1e-9)


def test_bandwidths_follow_the_scale_of_the_data():
    X = np.random.default_rng(10).normal(size=(60, 3))
    small, large = perplexity_kernel(X, 8.0, 6), perplexity_kernel(1e3 * X, 8.0, 6)
    np.testing.assert_allclose(large.bandwidth, 1e6 * small.bandwidth, rtol=1e-6)
    np.testing.assert_allclose(large.matrix.toarray(), small.matrix.toarray(), rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("shape", [GAUSSIAN, STUDENT, QUARTIC], ids=str)
def test_a_fixed_kernel_without_bandwidth_takes_the_leave_one_out_one(shape):
    X = np.random.default_rng(11).normal(size=(120, 3))
    kernel = fixed_kernel(X, None, shape)
    spread = 2 * X.var(axis=0).sum()
    assert kernel.bandwidth == leave_one_out_bandwidth(X, shape, typical=spread)
    assert 0.01 * spread < kernel.bandwidth < 10 * spread
    np.testing.assert_array_equal(kernel.matrix.to_dense(), dense_kernel(X, kernel.bandwidth, shape).to_dense())


@pytest.mark.parametrize("bandwidth", [None, 2.0])
def test_a_fixed_kernel_of_distances_is_that_of_the_points(bandwidth):
    X = np.random.default_rng(12).normal(size=(50, 3))
    D = cdist(X, X)
    kernel = fixed_kernel(D, bandwidth, GAUSSIAN, precomputed=True)
    h = np.median(D[D > 0]) ** 2 if bandwidth is None else bandwidth
    assert kernel.bandwidth == pytest.approx(h)
    np.testing.assert_allclose(kernel.matrix.to_dense(), dense_kernel(X, h, GAUSSIAN).to_dense(), rtol=1e-5)


@pytest.mark.parametrize("D", [np.zeros((6, 6)), np.kron(1 - np.eye(2), np.ones((3, 3)))], ids=["constant", "two"])
def test_a_fixed_kernel_of_distances_between_duplicates_is_finite(D):
    kernel = fixed_kernel(D, None, GAUSSIAN, precomputed=True)
    assert np.isfinite(kernel.matrix.to_dense()).all()


def test_constant_data_has_a_fixed_kernel_of_ones():
    kernel = fixed_kernel(np.full((20, 3), 0.1), None, GAUSSIAN)
    np.testing.assert_array_equal(kernel.matrix.to_dense(), np.ones((20, 20)))


def test_a_neighbour_list_may_be_one_sided():
    K, _ = adaptive_kernel(Neighbours(np.array([[1], [0], [0]]), np.ones((3, 1))), 1.0)
    assert K.toarray().tolist() == [[0, 1, 0.5], [1, 0, 0], [0.5, 0, 0]]


def sheet(n=1100):
    return np.random.default_rng(20).uniform(0, 4, size=(n, 2))


def test_a_compact_kernel_stores_the_pairs_within_reach_and_no_others():
    X = sheet()
    sparse, dense = compact_kernel(X, 0.3, QUARTIC), dense_kernel(X, 0.3, QUARTIC).to_dense()
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert sparse.nnz == np.count_nonzero(dense)
    assert (sparse != sparse.T).nnz == 0


def test_the_share_within_reach_is_that_of_the_pairs():
    X = sheet(600)
    assert share_of_near_pairs(X, 0.5) == pytest.approx((cdist(X, X) ** 2 < 0.5).mean(), rel=0.05)
    assert share_of_near_pairs(X, 100.0) == 1.0


@pytest.mark.parametrize("latent", [GAUSSIAN, STUDENT], ids=str)
def test_stored_pairs_have_the_value_and_the_gradient_of_tiles(latent):
    X = sheet()
    Z = 3 * X + 0.3 * np.random.default_rng(21).normal(size=X.shape)
    kernels = compact_kernel(X, 0.3, QUARTIC), dense_kernel(X, 0.3, QUARTIC)
    few, all_pairs = (EntropySum(information(K), latent, dtype=np.float64).value_and_grad(Z) for K in kernels)
    assert few.value == pytest.approx(all_pairs.value, rel=1e-6)
    size = np.abs(all_pairs.gradient).max()
    np.testing.assert_allclose(few.gradient, all_pairs.gradient, rtol=1e-6, atol=1e-6 * size)


def test_a_fixed_quartic_kernel_is_sparse_where_few_pairs_are_within_reach():
    X = sheet()
    few, every = auto_kernel(X, 0.3, QUARTIC).matrix, fixed_kernel(X, 0.3, QUARTIC).matrix
    assert isinstance(few, csr_array)
    assert isinstance(every, SymmetricTiles)
    np.testing.assert_array_equal(few.toarray(), every.to_dense())
    assert few.data.nbytes + few.indices.nbytes < 0.2 * every.nbytes
    assert auto_kernel(X, 8.0, QUARTIC) is None
    assert isinstance(fixed_kernel(X, 0.3, GAUSSIAN).matrix, SymmetricTiles)


@pytest.mark.parametrize("columns", [3, 20])
def test_what_lists_leave_out_is_the_share_of_the_weights_beyond_them(columns):
    X = np.random.default_rng(0).standard_normal((60, columns))
    found = nearest(X, k=6)
    _, h = adaptive_kernel(found, 4.0)
    W = np.exp(-(cdist(X, X) ** 2) / h[:, None])
    np.fill_diagonal(W, 0)
    expected = 1 - np.take_along_axis(W, found.index, axis=1).sum(axis=1) / W.sum(axis=1)
    assert left_out(X, found.index, h) == pytest.approx(expected.mean(), rel=1e-9)
    assert left_out(X, nearest(X, k=59).index, h) == pytest.approx(0.0, abs=1e-12)


def test_an_adaptive_kernel_of_many_rows_has_the_same_bytes_on_two_threads():
    """Bytes may be compared: each task has its own rows."""
    rng = np.random.default_rng(0)
    index = np.argsort(rng.random((18_000, 12)), axis=1) + rng.integers(0, 17_000, (18_000, 1))
    found = Neighbours(index, np.sort(rng.random((18_000, 12)), axis=1))
    (one, h), (two, g) = (adaptive_kernel(found, 5.0, jobs) for jobs in (1, 2))
    assert h.tobytes() == g.tobytes()
    for name in ("data", "indices", "indptr"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
    assert one.has_sorted_indices
    np.testing.assert_array_equal((one - one.T).data, 0.0)
    np.testing.assert_allclose(one.sum(), 18_000)
