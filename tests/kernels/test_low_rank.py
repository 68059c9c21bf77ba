"""A kernel of few factors and near pairs, beside the dense kernel it stands for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.base.tiles import TILE
from sidelight.datasets import s_curve
from sidelight.kernels.data_kernel import auto_kernel, fixed_kernel, loo_bandwidth
from sidelight.kernels.low_rank import LowRankKernel, low_rank_kernel
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import GAUSSIAN, STUDENT
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest

both_profiles = pytest.mark.parametrize("profile", [GAUSSIAN, STUDENT], ids=lambda p: p.name)


def exact(X, bandwidth, profile):
    return profile.value(cdist(X, X, "sqeuclidean") / bandwidth)


def cloud(n, d=10, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


@both_profiles
def test_near_pairs_and_the_diagonal_are_exact_and_the_rest_are_products_of_factors(profile):
    X = cloud(200)
    K, _ = low_rank_kernel(X, 30.0, profile, most=20, tolerance=0.0)
    near = np.zeros((200, 200), dtype=bool)
    near[np.repeat(np.arange(200), 60), nearest(X, k=60).index.ravel()] = True
    near |= near.T | np.eye(200, dtype=bool)
    expected = np.where(near, exact(X, 30.0, profile), K.factors @ K.factors.T)
    assert K.factors.shape == (200, 20)
    np.testing.assert_allclose(K.to_dense(), expected, atol=1e-12)


@both_profiles
def test_few_factors_are_enough_for_a_broad_kernel_of_a_sheet(profile):
    X = s_curve(600, random_state=0).X
    K, error = low_rank_kernel(X, 10.0, profile, tolerance=1e-4)
    assert K.factors.shape[1] <= 60
    assert error.row_sum <= 1e-4
    np.testing.assert_allclose(K.to_dense(), exact(X, 10.0, profile), atol=5e-3)


def test_the_rank_is_the_smallest_that_keeps_the_tolerance():
    X = cloud(400)
    ranks = {tolerance: low_rank_kernel(X, 10.0, GAUSSIAN, tolerance=tolerance) for tolerance in (0.03, 0.01, 0.003)}
    sizes = [K.factors.shape[1] for K, _ in ranks.values()]
    assert sizes[0] < sizes[1] < sizes[2] < 200
    for tolerance, (K, error) in ranks.items():
        fewer, worse = low_rank_kernel(X, 10.0, GAUSSIAN, tolerance=tolerance, most=K.factors.shape[1] - 10)
        assert error.row_sum <= tolerance < worse.row_sum
        assert fewer.factors.shape[1] == K.factors.shape[1] - 10


def test_the_error_said_is_the_error_made():
    X = cloud(300)
    K, said = low_rank_kernel(X, 25.0, GAUSSIAN, most=30, tolerance=0.0)
    rows = spread_rows(300, 256)
    D = exact(X, 25.0, GAUSSIAN)
    E = (D - K.to_dense())[rows]
    through = [np.abs((E * D[rows] ** p).sum(axis=1)) / (D[rows] ** (p + 1)).sum(axis=1) for p in (0, 1, 3)]
    assert said.row_sum == pytest.approx(max(part.mean() for part in through), rel=1e-6)
    assert said.worst_row_sum == pytest.approx(through[0].max(), rel=1e-6)
    assert said.entry == pytest.approx(np.abs(E).max(), rel=1e-6)
    assert said.trace == pytest.approx(1 - (K.factors[rows] ** 2).sum() / len(rows), rel=1e-6)


def test_tiles_and_products_are_those_of_the_whole_matrix():
    K, _ = low_rank_kernel(cloud(TILE + 30), 25.0, GAUSSIAN, most=20)
    whole = K.to_dense()
    np.testing.assert_allclose(K[0, 0], whole[:TILE, :TILE], atol=1e-12)
    np.testing.assert_allclose(K[0, 1], whole[:TILE, TILE:], atol=1e-12)
    np.testing.assert_allclose(K[1, 1], whole[TILE:, TILE:], atol=1e-12)
    V = cloud(TILE + 30, 3, seed=1)
    np.testing.assert_allclose(K @ V, whole @ V, atol=1e-9)


def test_one_and_two_threads_give_the_same_bytes():
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    X = cloud(3000, 5)
    one, two = (low_rank_kernel(X, 20.0, GAUSSIAN, most=20, n_jobs=jobs)[0] for jobs in (1, 2))
    assert one.factors.tobytes() == two.factors.tobytes()
    assert one.near.data.tobytes() == two.near.data.tobytes()


@pytest.mark.parametrize("X", [np.zeros((50, 3)), np.repeat(cloud(4, 3), 20, axis=0)], ids=["constant", "duplicates"])
def test_rows_that_are_alike_need_a_factor_for_each_kind(X):
    K, error = low_rank_kernel(X, 1.0, GAUSSIAN, most=10)
    assert K.factors.shape[1] <= len(np.unique(X, axis=0))
    assert error.row_sum < 1e-12
    np.testing.assert_allclose(K.to_dense(), exact(X, 1.0, GAUSSIAN), atol=1e-12)


@both_profiles
def test_up_to_ten_thousand_rows_auto_is_dense(profile):
    assert auto_kernel(cloud(300), 20.0, profile) is None


@pytest.mark.parametrize(
    ("bandwidth", "form"), [(0.5, "sparse"), (40.0, "low_rank"), (2.0, "dense")], ids=["narrow", "broad", "between"]
)
def test_beyond_auto_is_what_suits_the_bandwidth(bandwidth, form, monkeypatch):
    monkeypatch.setattr("sidelight.kernels.data_kernel.EXACT_ROWS", 100)
    monkeypatch.setattr("sidelight.kernels.data_kernel.MOST_STORED", 30)
    X = cloud(600)
    found = auto_kernel(X, bandwidth, GAUSSIAN)
    assert ("dense" if found is None else found.form) == form
    if found is not None:
        assert found.error.row_sum <= 0.01


def test_a_sparse_kernel_lacks_entries_below_the_cut_and_says_how_much_they_weigh():
    X = cloud(300)
    kernel = fixed_kernel(X, 2.0, GAUSSIAN, form="sparse")
    D = exact(X, 2.0, GAUSSIAN)
    cut = kernel.error.entry
    np.testing.assert_allclose(kernel.matrix.toarray(), np.where(cut <= D, D, 0), atol=1e-6)
    lost = (np.where(cut > D, D, 0).sum(axis=1) / D.sum(axis=1))[spread_rows(300, 256)]
    assert kernel.error.row_sum == pytest.approx(lost.mean(), rel=1e-6)
    assert 0 < kernel.error.row_sum <= 1e-3


def test_a_broad_kernel_is_not_stored_sparsely():
    with pytest.raises(
        ValueError, match=r"leaves 600 entries of a row .* Use kernel=KernelOptions\(storage='low_rank'\) or 'dense'"
    ):
        fixed_kernel(cloud(600), 100.0, GAUSSIAN, form="sparse")


def test_the_forms_have_their_types():
    X = cloud(80)
    assert isinstance(fixed_kernel(X, 9.0, GAUSSIAN).matrix, SymmetricTiles)
    assert isinstance(fixed_kernel(X, 9.0, GAUSSIAN, form="low_rank").matrix, LowRankKernel)


def test_the_likely_bandwidth_of_many_rows_is_that_of_fewer_queries(monkeypatch):
    X = cloud(800, 3)
    every = loo_bandwidth(X, GAUSSIAN)
    monkeypatch.setattr("sidelight.kernels.data_kernel._PAIRS", 400_000)
    fewer = loo_bandwidth(X, GAUSSIAN)
    assert fewer != every
    assert fewer == pytest.approx(every, rel=0.1)
