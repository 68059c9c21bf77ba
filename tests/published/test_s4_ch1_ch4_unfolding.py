"""S4 section 1.7 (semidefinite embedding) and chapter 4 (action respecting embedding): constraints and optimum.

The programs are written out for a generic solver, as they are printed.
"""

from __future__ import annotations

import numpy as np
import pytest
from oracle import solved_by

from sidelight import ActionRespectingEmbedding, SemidefiniteEmbedding
from sidelight.unfolding._action_program import neighbours_by_actions

RNG = np.random.default_rng(0)
ARC = np.linspace(0, 4, 12)
CURVE = np.column_stack([np.cos(ARC), np.sin(ARC), 0.2 * np.cos(3 * ARC)])
SCATTERED = np.random.default_rng(1).normal(size=(16, 8))
"""Sixteen rows, many of which name a neighbour that does not name them."""
ACTIONS = ["forward"] * 5 + ["back"] * 3 + [None]
WALK = RNG.normal(size=(9, 6))
"""Nine different observations, so that every row is a place of its own."""


def squares(A):
    return ((A[:, None] - A) ** 2).sum(axis=-1)


def common(near):
    """η_ij > 0 or [ηᵀη]_ij > 0."""
    near = near.astype(int)
    both = (near + near.T + near.T @ near) > 0
    np.fill_diagonal(both, False)
    return both


def largest_trace(n, rules):
    """Maximise tr K, K ⪰ 0, centred, under ``rules(K, distance)``, by a generic solver."""
    cvxpy = pytest.importorskip("cvxpy", reason="the oracle is a generic solver")
    K = cvxpy.Variable((n, n), PSD=True)
    limits = [cvxpy.sum(K) == 0, *rules(lambda i, j: K[i, i] - 2 * K[i, j] + K[j, j])]
    problem = cvxpy.Problem(cvxpy.Maximize(cvxpy.trace(K)), limits)
    solved_by(problem, accepted=("optimal", "optimal_inaccurate"))
    return float(problem.value)


@pytest.mark.parametrize(("rows", "k"), [(CURVE, 2), (SCATTERED, 3), (SCATTERED[:12], 3)])
def test_table_1_3_semidefinite_embedding_with_equality(rows, k):
    """η_ij > 0 where j is among the k nearest of i, or [ηᵀη]_ij > 0; K_ii - 2K_ij + K_jj (printed: K_ij first)."""
    D, n = squares(rows), len(rows)
    near = np.zeros((n, n), dtype=bool)
    near[np.repeat(np.arange(n), k), np.argsort(D, axis=1)[:, 1 : k + 1].ravel()] = True
    kept = common(near)
    model = SemidefiniteEmbedding(n, n_neighbors=k, graph="nearest", equality=True, tol=1e-6, gap=1e-5).fit(rows)
    np.testing.assert_allclose(squares(model.embedding_)[kept], D[kept], rtol=1e-4)
    assert model.gram_eigenvalues_.sum() == pytest.approx(
        largest_trace(n, lambda d: [d(i, j) == D[i, j] for i, j in np.argwhere(np.triu(kept))]), rel=1e-4
    )
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-9)


def naive_neighbours(D, T):
    """Equation 4.1 as meant: |k - i| ≤ T and ≥ (printed: <, >, with which T = 1 has no neighbours)."""
    n = len(D)
    near = np.zeros((n, n), dtype=bool)
    for i in range(n):
        for j in range(n):
            reach = [max(D[a, b] for b in range(n) if abs(a - b) <= T) for a in (i, j)]
            near[i, j] = i != j and D[i, j] <= min(reach)
    return near


@pytest.mark.parametrize("window", [1, 2])
def test_eq_4_1_neighbours_by_actions(window):
    actions = [*["on"] * 11, None]
    model = ActionRespectingEmbedding(window=window, merge=0).fit(CURVE, actions=actions)
    found = neighbours_by_actions(squares(CURVE), np.arange(12), model.actions_, window)
    by_hand = common(naive_neighbours(squares(CURVE), window))
    assert 0.2 < by_hand.mean() < 0.8
    np.testing.assert_array_equal(np.asarray(found) & ~np.eye(12, dtype=bool), by_hand)


@pytest.fixture(scope="module")
def walked():
    return ActionRespectingEmbedding(merge=0, gap=1e-6, tol=1e-7).fit(WALK, actions=ACTIONS)


def test_eq_4_3_same_actions_preserve_distances(walked):
    D = squares(walked.latent_)
    for name in ("forward", "back"):
        rows = [i for i, action in enumerate(ACTIONS) if action == name]
        for i in rows:
            for j in rows:
                assert D[i + 1, j + 1] == pytest.approx(D[i, j], abs=1e-6 * D.max())


def test_table_4_1_action_respecting_embedding(walked):
    D, near = squares(WALK), common(naive_neighbours(squares(WALK), 1))
    same = [(i, j) for i in range(8) for j in range(i) if ACTIONS[i] == ACTIONS[j]]

    def rules(d):
        upper = [d(i, j) <= D[i, j] for i, j in np.argwhere(np.triu(near))]
        return upper + [d(i + 1, j + 1) == d(i, j) for i, j in same]

    assert (squares(walked.latent_)[near] <= D[near] * (1 + 1e-5)).all()
    assert walked.gram_eigenvalues_.sum() == pytest.approx(largest_trace(9, rules), rel=1e-3)


def test_eq_4_6_prediction_by_distances(walked):
    """An arg min (printed: arg max). Where the action was taken in training the observed row is returned."""
    D = np.sqrt(squares(walked.latent_))
    for name in ("forward", "back"):
        begins = np.array([i for i, action in enumerate(ACTIONS) if action == name])
        others = np.setdiff1d(np.arange(9), begins)
        misfit = ((D[others][:, None, begins] - D[None][:, :, begins + 1]) ** 2).sum(axis=-1)
        found = walked.predict_next(others, name)
        least = misfit.min(axis=1)
        np.testing.assert_allclose(misfit[np.arange(len(others)), found], least, atol=1e-6 * D.max() ** 2)
