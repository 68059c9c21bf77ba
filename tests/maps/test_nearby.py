from __future__ import annotations

import gc
import pickle

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

import sidelight
from sidelight import KernelInformationEmbedding
from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.profiles import profile
from sidelight.maps import nearby, parzen, weights
from sidelight.maps.frames import Frame
from sidelight.maps.kernel_map import KernelMap, adaptive_weights, best_perplexity
from sidelight.maps.modes import InformationContent, conditional_log_density, conditional_mode, content_mode
from sidelight.maps.nearby import row_search
from sidelight.maps.parzen import ParzenDensity, fit_density
from sidelight.maps.weights import AdaptiveWeights, FixedWeights, kept_lists
from sidelight.neighbours.search import nearest

PROFILES = ["gaussian", "student", "quartic"]


@pytest.fixture
def few(monkeypatch):
    """Two hundred rows are many."""
    monkeypatch.setattr(nearby, "MANY", 200)


def cloud(n=1500, d=2, seed=0, dtype=np.float64):
    return (2.0 * np.random.default_rng(seed).normal(size=(n, d))).astype(dtype)


def around(A, m=70, seed=1):
    """Queries among the rows, on them, and outside."""
    rng = np.random.default_rng(seed)
    return np.r_[A[:m] + 0.1 * rng.normal(size=(m, A.shape[1])), A[:5], 3 * A[:5]].astype(A.dtype)


def first(A, q, k):
    """The k rows nearest to a query, ties by row number."""
    R = ((A - q) ** 2).sum(axis=1)
    order = np.lexsort((np.arange(len(A)), R))[:k]
    return order, R[order]


def maps(d, dtype=np.float64):
    A = cloud(d=d, dtype=dtype)
    return FixedWeights(A, 0.5 * d, "student"), AdaptiveWeights(A, nearest(A, k=40).index, 6.0), around(A)


@pytest.mark.parametrize("d", [1, 2, 3, 12])
def test_a_search_finds_the_nearest_rows_nearest_first(d):
    A = cloud(d=d)
    Q = around(A)
    found = row_search(A).nearest(Q, 7)
    for q, index, distance in zip(Q, found.index, found.distance, strict=True):
        chosen, R = first(A, q, 7)
        assert index.tolist() == chosen.tolist()
        np.testing.assert_allclose(distance, np.sqrt(R), rtol=1e-12)


@pytest.mark.parametrize("d", [2, 12])
def test_ties_go_to_the_lower_row_number_however_many_there_are(d):
    A = np.repeat(cloud(6, d), 150, axis=0)[np.random.default_rng(2).permutation(900)]
    found = row_search(A).nearest(A[:40], 20).index
    for q, index in zip(A[:40], found, strict=True):
        assert index.tolist() == np.flatnonzero((q == A).all(axis=1))[:20].tolist()


def test_points_on_a_grid_tie_and_are_told_apart_by_row_number():
    A = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    A = A[np.random.default_rng(3).permutation(400)]
    found = row_search(A).nearest(A, 4).index
    assert all(index.tolist() == first(A, q, 4)[0].tolist() for q, index in zip(A, found, strict=True))


@pytest.mark.parametrize("d", [2, 12])
def test_the_neighbours_of_rows_leave_the_row_out(d):
    A = np.r_[cloud(400, d), np.repeat(cloud(2, d, seed=5), 60, axis=0)]
    rows = np.arange(0, len(A), 7)
    found = row_search(A).others(rows, 10)
    assert found.index.shape == (len(rows), 10)
    assert (found.index != rows[:, None]).all()
    D = cdist(A[rows], A)
    D[np.arange(len(rows)), rows] = np.inf
    np.testing.assert_allclose(found.distance, np.sort(D, axis=1)[:, :10], rtol=1e-10, atol=1e-12)


def test_those_who_search_the_same_rows_share_a_search_that_ends_with_them():
    A = cloud(300)
    fixed, density = FixedWeights(A, 1.0), ParzenDensity(A, np.ones(300))
    assert fixed.search is density.background.search
    key = id(A)
    assert key in nearby._SEARCHES
    del fixed, density
    gc.collect()
    assert key not in nearby._SEARCHES


def test_a_pickle_does_not_hold_the_search(few):
    """Bytes may be compared: a file or a pickle holds the arrays themselves, and the same calls follow."""
    A = cloud(d=12)
    density = ParzenDensity(A, np.ones(len(A)))
    before = len(pickle.dumps(density))
    expected = density.log_density(A[:5])
    assert len(pickle.dumps(density)) == before
    assert pickle.loads(pickle.dumps(density)).log_density(A[:5]).tobytes() == expected.tobytes()


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("d", [2, 12])
def test_fixed_weights_of_many_rows_are_those_of_the_nearest(few, name, d):
    A, V = cloud(d=d), cloud(d=3, seed=4)
    Q = around(A)
    found = FixedWeights(A, 0.5 * d, name).average(Q, V)
    for q, answer in zip(Q, found, strict=True):
        chosen, R = first(A, q, weights.NEAREST)
        k = profile(name).value(R / (0.5 * d))
        k = k if k.sum() > 0 else (R.min() == R).astype(float)
        np.testing.assert_allclose(answer, k @ V[chosen] / k.sum(), rtol=1e-9, atol=1e-12)


def test_fixed_leave_one_out_of_many_rows_is_that_of_the_nearest_others(few):
    A, V = cloud(), cloud(d=3, seed=4)
    rows = np.arange(0, len(A), 100)
    found = FixedWeights(A, 0.1).leave_one_out(V, rows)
    for i, answer in zip(rows, found, strict=True):
        others = np.delete(np.arange(len(A)), i)
        chosen, R = first(A[others], A[i], weights.NEAREST)
        k = np.exp(-(R - R.min()) / 0.1)
        np.testing.assert_allclose(answer, k @ V[others[chosen]] / k.sum(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [2, 12])
def test_adaptive_weights_of_many_rows_are_those_of_few(few, monkeypatch, d):
    _, adaptive, Q = maps(d)
    V = cloud(seed=4)
    found = adaptive.average(Q, V)
    monkeypatch.setattr(nearby, "MANY", 10**9)
    np.testing.assert_allclose(found, adaptive.average(Q, V), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(("d", "share"), [(2, 1.0), (12, 0.9)])
def test_a_nearest_row_that_was_missed_is_found_through_the_lists_if_it_stands_in_them(few, d, share):
    _, adaptive, Q = maps(d)
    right = nearest(adaptive.inputs, Q, k=1).index[:, 0]
    index, W = adaptive.listed(Q, adaptive.lists[right, 3][:, None])
    found = index[:, 0] == right
    assert found.mean() >= share
    for one, expected in zip((index, W), adaptive.listed(Q, right[:, None]), strict=True):
        np.testing.assert_array_equal(one[found], expected[found])
    D = np.linalg.norm(adaptive.inputs[index] - Q[:, None], axis=2)
    assert (D[:, 0] <= D.min(axis=1) + 1e-12).all()


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_a_few_cells_and_a_walk_find_the_nearest_rows_of_a_sheet(few, noise):
    Z, waves = cloud(4300), np.random.default_rng(9).normal(size=(2, 20))
    X = np.sin(Z @ waves) + noise * cloud(4300, 20, seed=3)
    A, Q = X[:4000], X[4000:]
    adaptive = AdaptiveWeights(A, nearest(A, k=30).index, 8.0)
    found = adaptive.listed(Q, adaptive.near(Q))[0][:, 0]
    assert (found == nearest(A, Q, k=1).index[:, 0]).mean() > 0.98


def test_many_rows_choose_their_perplexity_on_a_sample_and_cut_their_lists(few, monkeypatch):
    A, V = cloud(d=3), cloud(seed=4)
    lists = nearest(A, k=90).index
    monkeypatch.setattr("sidelight.maps.kernel_map._TRIED", 10**9)
    every = best_perplexity(A, V, lists)
    monkeypatch.setattr(nearby, "MANY", 10**9)
    assert every == best_perplexity(A, V, lists)
    monkeypatch.setattr(nearby, "MANY", 200)
    found = adaptive_weights(A, A[:, :2], lists)
    assert found.lists.dtype == np.int32
    assert found.lists.shape[1] == max(30, round(3 * found.perplexity))
    np.testing.assert_array_equal(found.lists, lists[:, : found.lists.shape[1]])
    assert kept_lists(lists, 1e9).shape == lists.shape


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 12])
def test_rows_alone_in_company_and_on_two_threads_are_answered_with_the_same_bytes(few, d, dtype):
    """Bytes may be compared: a query's few neighbours are looked up and weighed by themselves, row by row."""
    fixed, adaptive, Q = maps(d, dtype)
    V = cloud(d=5, seed=4, dtype=dtype)
    density = ParzenDensity(fixed.inputs, np.random.default_rng(6).uniform(0.5, 1, size=len(V)))
    even = ParzenDensity(fixed.inputs, np.ones(len(V)), "student")
    bandwidths = density.bandwidths
    Q = np.r_[Q, Q[:700] + 0.01]
    calls = [
        lambda Q, jobs: fixed.average(Q, V, jobs),
        lambda Q, jobs: adaptive.average(Q, V, jobs),
        lambda Q, jobs: KernelMap(fixed, V).variance(Q, jobs),
        lambda Q, jobs: conditional_mode(KernelMap(adaptive, V), Q, bandwidths, jobs),
        density.log_density,
        even.log_density,
    ]
    for call in map(one_blas_thread, calls):
        together = call(Q, 1)
        assert together.tobytes() == call(Q, 2).tobytes()
        alone = np.concatenate([call(Q[i : i + 1], 1) for i in range(0, len(Q), 9)])
        assert alone.tobytes() == np.ascontiguousarray(together[::9]).tobytes()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("far", [1e4, 1e8, 1e30])
def test_a_query_from_very_far_gets_a_finite_answer_within_the_outputs(few, far, d, dtype):
    fixed, adaptive, _ = maps(d, dtype)
    V = cloud(seed=4)
    Q = np.array([[far], [-far]], dtype=dtype) * np.ones((1, d), dtype=dtype)
    for found in (fixed.average(Q, V), adaptive.average(Q, V), KernelMap(fixed, V).variance(Q)):
        assert np.isfinite(found).all()
    at = adaptive.near(Q)[:, 0]
    direction = fixed.inputs.sum(axis=1)
    assert direction[at[0]] > np.quantile(direction, 0.95)
    assert direction[at[1]] < np.quantile(direction, 0.05)


@pytest.mark.parametrize("d", [2, 12])
def test_rows_that_are_all_the_same_answer_with_a_mean(few, d):
    A, V = np.full((400, d), 0.1), cloud(400, seed=4)
    found = FixedWeights(A, 1.0).average(A[:3], V)
    np.testing.assert_allclose(found, np.tile(V[: weights.NEAREST].mean(axis=0), (3, 1)), atol=1e-12)
    density = fit_density(A, np.zeros(400))
    assert np.isfinite(density.log_density(A[:3])).all()


def test_the_variance_of_many_rows_is_that_around_the_mean_of_the_nearest(few):
    A, V = cloud(), 5 + cloud(d=3, seed=4, dtype=np.float32)
    mapped, Q = KernelMap(FixedWeights(A, 1.0), V), around(A)
    found = mapped.variance(Q)
    for q, answer in zip(Q, found, strict=True):
        chosen, R = first(A, q, weights.NEAREST)
        w = np.exp(-R) / np.exp(-R).sum() if R.min() < 100 else (np.arange(len(R)) == 0).astype(float)
        B = V[chosen].astype(float)
        np.testing.assert_allclose(answer, w @ (B - w @ B) ** 2, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("d", [2, 12])
def test_a_density_of_many_rows_sums_over_near_and_wide_ones_and_a_sample_that_stands_for_the_others(
    few, monkeypatch, d
):
    monkeypatch.setattr(parzen, "_WIDEST", 50)
    monkeypatch.setattr(parzen, "_SAMPLE", (300, 300))
    A = cloud(d=d)
    h = np.random.default_rng(5).uniform(0.5, 3, size=len(A))
    Q = np.r_[around(A), 50 * A[:3]]
    found = ParzenDensity(A, h).log_density(Q)
    for q, answer in zip(Q, found, strict=True):
        logs = -((A - q) ** 2).sum(axis=1) / h - 0.5 * d * np.log(np.pi * h)
        exactly = np.union1d(np.argsort(-h, kind="stable")[:50], first(A, q, parzen._NEAREST[d > 8])[0])
        sample = np.setdiff1d(np.linspace(0, len(A) - 1, 300).astype(int), exactly)
        rest = logsumexp(logs[sample]) + np.log((len(A) - len(exactly)) / len(sample))
        total = np.logaddexp(logsumexp(logs[exactly]), rest)
        assert answer == pytest.approx(total - np.log(len(A)), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", ["gaussian", "student"])
def test_a_density_of_one_bandwidth_is_near_that_of_all_rows(few, monkeypatch, name):
    A = 4 * cloud(6000)
    monkeypatch.setattr(parzen, "_SAMPLE", (2000, 2000))
    density, Q = ParzenDensity(A, np.ones(len(A)), name), 4 * cloud(300, seed=9)
    found = density.log_density(Q)
    monkeypatch.setattr(nearby, "MANY", 10**9)
    error = found - density.log_density(Q)
    assert np.abs(error).max() < 0.1
    assert abs(error.mean()) < 0.01


def test_far_away_a_density_of_many_rows_falls_for_ever(few):
    A = cloud(d=12)
    for h in (np.ones(len(A)), np.linspace(1, 2, len(A))):
        logs = ParzenDensity(A, h).log_density(np.array([[1.0], [1e3], [1e60], [1e100]]) * np.ones((1, 12)))
        assert np.isfinite(logs).all()
        assert (np.diff(logs) < 0).all()


def test_the_factor_of_a_density_of_many_rows_is_near_that_of_all_pairs(few, monkeypatch):
    A = cloud(1200, 3)
    monkeypatch.setattr(parzen, "_SAMPLE", (500, 500))
    relative = np.random.default_rng(7).uniform(0.5, 2, size=len(A))
    found = fit_density(A, relative).bandwidths
    monkeypatch.setattr(nearby, "MANY", 10**9)
    np.testing.assert_allclose(found, fit_density(A, relative).bandwidths, rtol=0.05)


def test_the_forward_mode_of_many_rows_is_stationary_and_no_worse_than_the_mean(few):
    Z, X = cloud(), cloud(d=4, seed=4)
    forward, Q = KernelMap(FixedWeights(Z, 1.0), X), around(cloud())[:30]
    found = conditional_mode(forward, Q, np.full(len(X), 0.5))
    W, h = forward.weights.matrix(Q), np.full(len(Q), 0.5)
    height = conditional_log_density(found, X, W, h)
    assert (height >= conditional_log_density(forward(Q), X, W, h) - 1e-9).all()
    for k in range(4):
        step = 1e-4 * np.eye(4)[k]
        ends = [conditional_log_density(found + sign * step, X, W, h) for sign in (1, -1)]
        assert np.abs(ends[0] - ends[1]).max() / 2e-4 < 1e-3


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
def test_the_backward_mode_that_sees_every_latent_point_is_that_of_all_rows(few, monkeypatch, kernel):
    Z = cloud(260)
    X = np.c_[Z, np.sin(Z)]
    backward = KernelMap(AdaptiveWeights(X, nearest(X, k=20).index, 6.0), Z)
    Q, how = X[:12] + 0.05, {"kernel": kernel, "penalty": "stretch", "weight": 0.3}
    monkeypatch.setattr("sidelight.maps.modes._AROUND", 260)
    found = content_mode(backward, Q, **how)
    content = InformationContent(Z, backward.weights.matrix(Q), kernel, "stretch", 0.3)
    height, slope = content.value_and_grad(found)
    assert np.abs(slope).max() < 1e-4
    monkeypatch.setattr(nearby, "MANY", 10**9)
    np.testing.assert_allclose(height, content.value_and_grad(content_mode(backward, Q, **how))[0], atol=1e-6)


def test_a_lean_frame_keeps_many_single_rows_single_and_rounds_each_by_itself(few):
    """Bytes may be compared: numbers are moved and scaled one by one."""
    X = (5 + cloud(3000, 4)).astype(np.float32)
    lean, plain = Frame.of(X, lean=True), Frame.of(X.astype(np.float64))
    assert lean.single
    np.testing.assert_allclose(lean.centre, plain.centre, rtol=1e-12)
    assert lean.scale == pytest.approx(plain.scale, rel=1e-6)
    inside = lean.inside(X)
    assert inside.dtype == np.float32
    np.testing.assert_allclose(inside, plain.inside(X), atol=1e-6)
    assert inside[::17].tobytes() == np.concatenate([lean.inside(X[i : i + 1]) for i in range(0, 3000, 17)]).tobytes()
    np.testing.assert_allclose(lean.outside(inside), X, rtol=1e-5, atol=1e-5)
    assert np.isfinite(lean.inside(np.full((1, 4), 1e300))).all()
    np.testing.assert_allclose(np.linalg.norm(Frame.of(X, "cosine", lean=True).points(X), axis=1), 1, atol=1e-6)
    for kept in (Frame.of(X), Frame.of(X[:150], lean=True), Frame.of(X.astype(np.float64), lean=True)):
        assert not kept.single


@pytest.fixture(scope="module")
def model():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nearby, "MANY", 200)
        X = cloud(320, 5, dtype=np.float32)
        given = np.where(np.arange(320) % 3 == 0, None, np.repeat(["a", "b"], 160))
        return (
            X,
            KernelInformationEmbedding(2, latent_kernel="student", tol=1e-2).fit(X),
            KernelInformationEmbedding(2, latent_kernel="student", tol=1e-2).fit(X, given=given),
        )


@pytest.mark.parametrize("which", [1, 2])
def test_a_model_of_many_rows_is_saved_without_its_searches_and_answers_the_same(few, model, tmp_path, which):
    """Bytes may be compared: a file or a pickle holds the arrays themselves, and the same calls follow."""
    X, fitted = model[0][:40] + 0.1, model[which]
    ways = ["transform", "transform_mode", "score_samples", "denoise"]
    latent = ["inverse_transform", "inverse_transform_mode", "predictive_variance", "latent_log_density"]
    Z = fitted.transform(X)
    before = [getattr(fitted, way)(X) for way in ways] + [getattr(fitted, way)(Z) for way in latent]
    sidelight.save(fitted, tmp_path / "model.sidelight")
    loaded = sidelight.load(tmp_path / "model.sidelight")
    after = [getattr(loaded, way)(X) for way in ways] + [getattr(loaded, way)(Z) for way in latent]
    for one, other in zip(before, after, strict=True):
        assert np.isfinite(one).all()
        assert one.tobytes() == other.tobytes()
    for way, found in zip(ways, before[:4], strict=True):
        np.testing.assert_allclose(getattr(fitted, way)(X[:1])[0], found[0], rtol=1e-6)


def test_the_maps_and_the_density_of_a_model_share_one_array_of_rows(model):
    plain = model[1]
    assert plain.backward_.weights.inputs is plain.forward_.outputs
    assert plain.density_.points is plain.forward_.outputs
