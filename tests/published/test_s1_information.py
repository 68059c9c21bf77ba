"""S1, Kernel information embeddings: the equations that S0 does not repeat (maps by arg max, joint embeddings).

Equations 1 to 8 and 11 are S0 3.2 to 3.14 and 3.24: ``test_s0_ch3_information.py``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from sidelight import Annealing, JointInformationEmbedding, KernelInformationEmbedding
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum, joint_information

N, H, LAMBDA = 40, 0.8, 0.05
T = np.linspace(0, 4, N)
X = np.column_stack([np.cos(T), np.sin(T), 0.3 * T])
Y = np.column_stack([T, np.sin(2 * T)])
SCHEDULE = Annealing(LAMBDA, start=0.4)


def squares(A, B):
    return ((A[:, None] - B) ** 2).sum(axis=-1)


def entropy(*kernels):
    return -np.log(np.prod(kernels, axis=0).sum(axis=1)).mean()


def plain_information(Z, V, h):
    """Equation 8 without its constant."""
    K, L = np.exp(-squares(V, V) / h), np.exp(-squares(Z, Z))
    return entropy(L) - entropy(K, L)


def conditional_information(Z, X, Y, h):
    """Equation 12 without its constant."""
    K, L, M = np.exp(-squares(X, X) / h), np.exp(-squares(Y, Y) / h), np.exp(-squares(Z, Z))
    return entropy(K, M) + entropy(L, M) - entropy(M) - entropy(K, L, M)


@pytest.fixture(scope="module")
def fitted():
    return KernelInformationEmbedding(bandwidth=H, penalty="l2", regularization=SCHEDULE, tol=1e-4).fit(X)


def test_eq_9_backward_map_by_the_largest_information_content(fitted):
    """arg max of Î(y, z) less the penalty of the fit ("the same restrictions apply at test time")."""
    rows = X[::5] + 0.1

    def content(Z, row):
        near = -squares(Z, fitted.embedding_)
        joint = logsumexp(near - squares(row[None], X) / H, axis=1)
        return joint - logsumexp(near, axis=1) - LAMBDA * (Z**2).sum(axis=1)

    side = np.linspace(-4, 4, 61)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    for row, place in zip(rows, fitted.transform_mode(rows), strict=True):
        assert content(place[None], row)[0] >= content(grid, row).max()


@pytest.mark.parametrize("bandwidth", [0.3, 5.0, "loo", "learned"])
def test_eq_10_forward_map_by_the_mode_with_the_bandwidth_of_the_model(bandwidth):
    model = KernelInformationEmbedding(1, bandwidth=bandwidth, penalty="l2", regularization=SCHEDULE, tol=1e-4).fit(X)
    places = np.linspace(-1.5, 1.5, 3)[:, None] + 0.05

    def height(rows, place):
        return logsumexp(-squares(rows, X) / model.bandwidth_ - squares(place[None], model.embedding_), axis=1)

    for place, row in zip(places, model.inverse_transform_mode(places), strict=True):
        climbing = X.copy()  # mean shift from every training row; the best end is the mode
        for _ in range(300):
            W = np.exp(-squares(climbing, X) / model.bandwidth_ - squares(place[None], model.embedding_))
            climbing = W @ X / W.sum(axis=1, keepdims=True)
        assert height(row[None], place)[0] == pytest.approx(height(climbing, place).max(), abs=1e-7)


def test_eq_12_conditional_information_of_two_views():
    Z = np.random.default_rng(0).normal(size=(N, 2))
    K, L = (SymmetricTiles.from_dense(np.exp(-squares(V, V) / H), np.float64) for V in (X, Y))
    found = EntropySum(joint_information(K, L), profile("gaussian"), dtype=np.float64).value_and_grad(Z).value
    assert found == pytest.approx(conditional_information(Z, X, Y, H), rel=1e-11)


def joint(y):
    return JointInformationEmbedding(
        2, objective="joint", bandwidth=H, penalty="l2", regularization=SCHEDULE, tol=1e-4
    ).fit(X, y)


def test_eq_12_is_the_objective_of_a_joint_fit():
    model = joint(Y)
    by_hand = conditional_information(model.embedding_, X, Y, H)
    assert model.history_[-1]["terms"]["I(X;Y|Z)"] == pytest.approx(by_hand, abs=5e-6)


def test_section_4_semi_supervised_sum_of_eqs_7_and_12():
    """Paired rows by equation 12, all rows of X by equation 7: one is minimised, the other maximised."""
    some = np.where(np.arange(N)[:, None] < 8, Y, np.nan)
    model = joint(some)
    Z, terms = model.embedding_, model.history_[-1]["terms"]
    assert terms["I(X;Y|Z)"] == pytest.approx(conditional_information(Z[:8], X[:8], Y[:8], H), abs=5e-6)
    assert terms["-I(X)"] == pytest.approx(-plain_information(Z, X, H), abs=5e-6)


def test_section_4_each_view_has_the_density_and_the_maps_of_its_own_bandwidth():
    model = JointInformationEmbedding(
        2, objective="joint", bandwidth=(H, 2.0), penalty="l2", regularization=SCHEDULE, tol=1e-4
    ).fit(X, Y)
    np.testing.assert_allclose(model.bandwidth_, [H, 2.0], rtol=1e-12)
    by_hand = logsumexp(-squares(X[:5], X) / H, axis=1) - np.log(N) - 1.5 * np.log(np.pi * H)
    np.testing.assert_allclose(model.score_samples(X[:5]), by_hand, rtol=1e-9)
    W = np.exp(-squares(model.embedding_[:5], model.embedding_))
    by_hand = W @ Y / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.inverse_transform_view(model.embedding_[:5], 1), by_hand, rtol=1e-8, atol=1e-10)
    W = np.exp(-squares(X[:5] + 0.1, X) / H)
    by_hand = W @ model.embedding_ / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.transform_mean(X[:5] + 0.1), by_hand, rtol=1e-8, atol=1e-10)
