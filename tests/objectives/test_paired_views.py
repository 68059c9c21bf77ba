"""The alternating kernel and the objectives of two views, against loops and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.kernels.alternating import ViewKernel, alternating_kernel
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum, joint_information
from sidelight.objectives.evaluation import WeightedSum
from sidelight.objectives.paired import alternating_parts, joint_parts

STORE = {"dense": lambda K: SymmetricTiles.from_dense(K, np.float64), "sparse": csr_array}


def gaussian_kernels(n, storage="dense", seed=0):
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(2):
        V = rng.normal(size=(n, 3))
        made.append(np.exp(-((V[:, None] - V[None]) ** 2).sum(axis=-1) / 3))
    return made, [STORE[storage](K) for K in made]


# the alternating kernel


@pytest.mark.parametrize("storage", STORE)
def test_the_alternating_kernel_is_a_step_in_each_view_and_unseen_rows_stay(storage):
    n, seen = 9, [np.arange(7), np.array([0, 2, 3, 5, 7, 8])]
    plain = [gaussian_kernels(len(rows), storage, seed)[0][0] for seed, rows in enumerate(seen)]
    views = [ViewKernel(STORE[storage](K), rows, n) for K, rows in zip(plain, seen, strict=True)]
    steps = []
    for K, rows in zip(plain, seen, strict=True):
        if storage == "sparse":
            K = K + np.diag(K.max(axis=1))
        step = np.eye(n)
        for i, row in enumerate(rows):
            step[row] = 0
            for j, col in enumerate(rows):
                step[row, col] = K[i, j] * len(rows) / K.sum()
        steps.append(step)
    wanted = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                there, back = (sum(A[i, k] * B[k, j] for k in range(n)) for A, B in (steps, steps[::-1]))
                wanted[i, j] = 0.5 * (there + back)
    found = alternating_kernel(views, keep=n)
    dense = found.to_dense() if isinstance(found, SymmetricTiles) else found.toarray()
    np.testing.assert_allclose(dense, wanted, rtol=1e-6, atol=1e-9)


def test_a_sparse_alternating_kernel_keeps_the_largest_entries_of_each_row_and_is_symmetric():
    _, kernels = gaussian_kernels(40, "sparse")
    views = [ViewKernel(K, np.arange(40), 40) for K in kernels]
    whole, kept = (alternating_kernel(views, keep=keep).toarray() for keep in (40, 6))
    np.testing.assert_array_equal(kept, kept.T)
    np.testing.assert_array_equal(kept[kept > 0], whole[kept > 0])
    for row, few in zip(whole, kept, strict=True):
        assert few[np.argsort(row)[-6:]].all()
    assert (kept == 0).sum() > 800


# the objectives


def naive_entropy(Z, *kernels):
    total = 0.0
    for i in range(len(Z)):
        row = 0.0
        for j in range(len(Z)):
            row += math.prod(K[i, j] for K in kernels) * math.exp(-((Z[i] - Z[j]) ** 2).sum())
        total -= math.log(row) / len(Z)
    return total


def semi_supervised(storage, name="gaussian"):
    """Twelve rows, of which X has seen the first nine and Y the last eight: five pairs."""
    seen = [np.arange(9), np.arange(4, 12)]
    plain = [gaussian_kernels(len(rows), storage, seed)[0][0] for seed, rows in enumerate(seen)]
    views = [ViewKernel(STORE[storage](K), rows, 12) for K, rows in zip(plain, seen, strict=True)]
    S = alternating_kernel(views, keep=12)
    built = {"joint": joint_parts(views, profile(name)), "alternating": alternating_parts(S, seen, profile(name))}
    for parts in built.values():
        for _, part in parts.values():
            part.objective.dtype = np.dtype(np.float64)  # pairs in double precision, for the comparison
    return plain, S, {member: WeightedSum(parts) for member, parts in built.items()}


def test_the_semi_supervised_sum_is_that_of_loops_over_pairs():
    (K, L), S, objectives = semi_supervised("dense")
    Z = np.random.default_rng(3).normal(size=(12, 2))
    A, B, P = Z[:9], Z[4:], Z[4:9]
    Kp, Lp = K[4:, 4:], L[:5, :5]
    joint = naive_entropy(P, Kp) + naive_entropy(P, Lp) - naive_entropy(P) - naive_entropy(P, Kp, Lp)
    plain = (naive_entropy(A) - naive_entropy(A, K)) + (naive_entropy(B) - naive_entropy(B, L))
    assert objectives["joint"].value_and_grad(Z).value == pytest.approx(joint - plain, rel=1e-6)
    S = S.to_dense()
    shared = [naive_entropy(V, S[rows, rows]) - naive_entropy(V) for V, rows in ((A, slice(9)), (B, slice(4, 12)))]
    value = objectives["alternating"].value_and_grad(Z).value
    assert value == pytest.approx((9 * shared[0] + 8 * shared[1]) / 17, rel=1e-6)


@pytest.mark.parametrize("storage", STORE)
@pytest.mark.parametrize("name", ["gaussian", "student"])
@pytest.mark.parametrize("member", ["joint", "alternating"])
def test_the_gradient_of_the_semi_supervised_sum_agrees_with_finite_differences(member, name, storage):
    objective = semi_supervised(storage, name)[2][member]
    Z = 0.7 * np.random.default_rng(4).normal(size=(12, 2))
    gradient, numeric, step = objective.value_and_grad(Z).gradient, np.empty((12, 2)), 1e-5
    for place in np.ndindex(12, 2):
        move = np.zeros((12, 2))
        move[place] = step
        ahead, behind = (objective.value_and_grad(Z + sign * move).value for sign in (1, -1))
        numeric[place] = (ahead - behind) / (2 * step)
    assert np.linalg.norm(gradient - numeric) < 1e-6 * np.linalg.norm(numeric)


def test_terms_are_named_by_the_rows_they_are_of():
    terms = semi_supervised("dense")[2]["joint"].value_and_grad(np.zeros((12, 2))).terms
    assert {"H(Z) of pairs", "H(X,Y,Z) of pairs", "H(Z) of X", "H(Z) of Y", "I(X;Y|Z)", "-I(X)", "-I(Y)"} <= set(terms)


def test_the_published_objective_of_adaptive_kernels_has_a_bottom_only_with_self_weight():
    """Two groups of three rows joined by one pair that both views know: pulling it apart costs nothing else."""
    K, L = np.zeros((6, 6)), np.zeros((6, 6))
    for M, links in ((K, [(0, 1), (0, 2), (1, 4), (2, 3), (4, 5)]), (L, [(0, 1), (0, 3), (1, 5), (2, 3), (4, 5)])):
        for i, j in links:
            M[i, j] = M[j, i] = 0.5
    far, farther = (distance * np.array([0.0, 1.0, 0.0, 0.0, 1.0, 1.0])[:, None] for distance in (3.0, 6.0))
    bare = EntropySum(joint_information(csr_array(K), csr_array(L)), profile("gaussian"))
    assert bare.value_and_grad(farther).value < bare.value_and_grad(far).value - 5
    views = [ViewKernel(csr_array(M), np.arange(6), 6) for M in (K, L)]
    ((_, part),) = joint_parts(views, profile("gaussian")).values()
    assert part.value_and_grad(farther).value == pytest.approx(part.value_and_grad(far).value, abs=1e-3)
