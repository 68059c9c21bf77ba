from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from sidelight.base.tiles import one_blas_thread
from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.profiles import profile
from sidelight.maps.weights import AdaptiveWeights, FixedWeights, PrecomputedWeights
from sidelight.neighbours.distances import squared_distances
from sidelight.neighbours.search import nearest

NAMES = ["gaussian", "student", "quartic"]


def pairs(n=90, d=2, r=3, seed=0):
    """Inputs, outputs, and queries among and around the inputs."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    return A, rng.normal(size=(n, r)), np.r_[rng.normal(size=(20, d)), A[:5], 3 + A[:2]]


def adaptive(A, k=20, perplexity=6.0):
    return AdaptiveWeights(A, nearest(A, k=k).index, perplexity)


def kinds(d):
    A, V, Q = pairs(d=d)
    h = 0.5 * d
    yield from ((name, FixedWeights(A, h, name), V, Q) for name in NAMES)
    yield "adaptive", adaptive(A), V, Q


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("name", NAMES)
def test_fixed_weights_average_by_the_kernel(name, d):
    A, V, Q = pairs(d=d)
    h = 2.0 * d
    found = FixedWeights(A, h, name).average(Q, V)
    for q, answer in zip(Q, found, strict=True):
        k = np.array([float(profile(name).value(np.array([((q - a) ** 2).sum() / h]))[0]) for a in A])
        if k.sum() > 0:
            np.testing.assert_allclose(answer, (k @ V) / k.sum(), rtol=1e-10, atol=1e-12)
        else:
            np.testing.assert_allclose(answer, V[((A - q) ** 2).sum(axis=1).argmin()])


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("name", ["gaussian", "quartic"])
def test_where_every_kernel_value_vanishes_the_nearest_row_answers(name, d):
    A, V, _ = pairs(d=d)
    Q = np.r_[A[:4] + 1e-3, 1e4 + A[4:6]]
    found = FixedWeights(A, 1e-8, name).average(Q, V)
    np.testing.assert_allclose(found, V[cdist(Q, A).argmin(axis=1)], rtol=1e-9)


def test_rows_that_tie_as_nearest_share_the_answer_of_a_compact_kernel():
    A, V = np.array([[-1.0], [1.0], [9.0]]), np.array([[2.0], [4.0], [100.0]])
    assert FixedWeights(A, 1e-3, "quartic").average(np.array([[0.0]]), V).tolist() == [[3.0]]


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("name", NAMES)
def test_fixed_leave_one_out_is_what_a_map_without_the_row_says(name, d):
    A, V, _ = pairs(n=40, d=d)
    found = FixedWeights(A, 0.5 * d, name).leave_one_out(V)
    for i in range(40):
        rest = np.arange(40) != i
        alone = FixedWeights(A[rest], 0.5 * d, name).average(A[i : i + 1], V[rest])[0]
        np.testing.assert_allclose(found[i], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [2, 12])
def test_adaptive_weights_weigh_the_list_of_the_nearest_row_at_the_perplexity_asked_for(d):
    A, V, Q = pairs(d=d)
    weights = adaptive(A)
    found = weights.average(Q, V)
    for q, answer in zip(Q, found, strict=True):
        R = ((A - q) ** 2).sum(axis=1)
        anchor = int(R.argmin())
        candidates = [anchor, *weights.lists[anchor]]
        w, _ = perplexity_rows(R[candidates][None], 6.0)
        np.testing.assert_allclose(answer, w[0] @ V[candidates], rtol=1e-9, atol=1e-12)


def test_adaptive_leave_one_out_weighs_the_rows_own_list():
    A, V, _ = pairs(n=40)
    weights = adaptive(A)
    found = weights.leave_one_out(V)
    for i in range(40):
        others = weights.lists[i]
        assert i not in others
        w, _ = perplexity_rows(((A[others] - A[i]) ** 2).sum(axis=1)[None], 6.0)
        np.testing.assert_allclose(found[i], w[0] @ V[others], rtol=1e-9, atol=1e-12)


def test_adaptive_leave_one_out_with_full_lists_is_what_a_map_without_the_row_says():
    A, V, _ = pairs(n=30)
    found = adaptive(A, k=29).leave_one_out(V)
    for i in range(30):
        rest = np.arange(30) != i
        alone = adaptive(A[rest], k=28).average(A[i : i + 1], V[rest])[0]
        np.testing.assert_allclose(found[i], alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("m", [1, 3, 8, 30])
@pytest.mark.parametrize("d", [2, 8, 9, 40])
def test_rows_are_answered_alike_alone_and_in_company(d, m):
    for name, weights, V, Q in kinds(d):
        together = weights.average(Q, V)
        parts = np.concatenate([weights.average(Q[i : i + m], V) for i in range(0, len(Q), m)])
        np.testing.assert_allclose(parts, together, rtol=1e-12, atol=1e-14, err_msg=name)


def test_rows_among_duplicates_are_answered_alike_alone_and_in_company():
    A = np.repeat(np.random.default_rng(2).normal(size=(5, 12)), 12, axis=0)
    V = np.random.default_rng(3).normal(size=(60, 2))
    Q = np.r_[A, A + 1e-9, 0.5 * (A[:1] + A[-1:])]
    for weights in (adaptive(A, k=15), FixedWeights(A, 0.1)):
        alone = np.concatenate([weights.average(Q[i : i + 1], V) for i in range(len(Q))])
        np.testing.assert_allclose(alone, weights.average(Q, V), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("d", [2, 12])
def test_one_and_two_threads_give_the_same_bytes(d):
    """Bytes may be compared: fixed tiles, each on one BLAS thread, are added in the order of the tiles."""
    A, V, _ = pairs(n=2100, d=d)
    Q = np.random.default_rng(4).normal(size=(1030, d))
    for weights in (FixedWeights(A, 0.3), adaptive(A)):
        average = one_blas_thread(weights.average)
        assert average(Q, V, 1).tobytes() == average(Q, V, 2).tobytes()


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("far", [1e8, 1e30, 1e160, 1e300])
def test_a_query_from_very_far_away_gets_a_finite_answer_within_the_outputs(far, d):
    A, V, _ = pairs(d=d)
    Q = np.full((3, d), far)
    for weights in (FixedWeights(A, 0.3), FixedWeights(A, 0.3, "quartic"), adaptive(A)):
        found = weights.average(Q, V)
        assert (found >= V.min(axis=0) - 1e-9).all()
        assert (found <= V.max(axis=0) + 1e-9).all()


def test_inputs_that_are_all_the_same_give_the_mean_of_the_outputs():
    A, V = np.full((12, 3), 0.1), np.random.default_rng(5).normal(size=(12, 2))
    for weights in (FixedWeights(A, 1.0), adaptive(A, k=11)):
        np.testing.assert_allclose(weights.average(A[:2], V), np.tile(V.mean(axis=0), (2, 1)), atol=1e-12)


def test_precomputed_weights_are_those_of_the_nearest_rows():
    A, V, Q = pairs()
    D = cdist(Q, A)
    found = PrecomputedWeights(15, 5.0).average(D, V)
    for row, answer in zip(D, found, strict=True):
        chosen = np.argsort(row, kind="stable")[:15]
        w, _ = perplexity_rows(row[chosen][None] ** 2, 5.0)
        np.testing.assert_allclose(answer, w[0] @ V[chosen], rtol=1e-9, atol=1e-12)
    alone = np.concatenate([PrecomputedWeights(15, 5.0).average(D[i : i + 1], V) for i in range(len(D))])
    np.testing.assert_allclose(alone, found, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", [*NAMES, "adaptive"])
def test_leave_one_out_of_some_rows_is_that_of_all_at_these_rows(kind):
    A, V, _ = pairs()
    weights = adaptive(A) if kind == "adaptive" else FixedWeights(A, 0.5, kind)
    rows = np.array([7, 3, 88])
    found = weights.leave_one_out(V, rows)
    assert found.shape == (3, 3)
    np.testing.assert_allclose(found, weights.leave_one_out(V)[rows], rtol=1e-12)
    if kind != "adaptive":
        for i, answer in zip(rows, found, strict=True):
            rest = np.delete(np.arange(len(A)), i)
            alone = FixedWeights(A[rest], 0.5, kind).average(A[i : i + 1], V[rest])[0]
            np.testing.assert_allclose(answer, alone, rtol=1e-9)


def test_student_weights_are_those_of_the_logarithms_and_a_far_query_changes_no_other():
    rng = np.random.default_rng(0)
    weights = FixedWeights(rng.normal(size=(40, 2)), 1e-60, "student")
    near, far = rng.normal(size=(5, 2)), np.full((1, 2), 1e120)
    alone, both = weights.matrix(near), weights.matrix(np.vstack([near, far]))
    R = squared_distances(near, weights.inputs) / weights.bandwidth
    assert (alone == both[:5]).all()
    assert np.allclose(alone, weights._weights_by_logarithms(R), rtol=1e-12)
    assert np.isfinite(both).all()
    assert np.allclose(both.sum(axis=1), 1.0)
