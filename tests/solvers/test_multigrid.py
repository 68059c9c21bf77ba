"""The V-cycle: a symmetric positive approximation of a Laplacian's inverse, from links that change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array
from scipy.sparse.linalg import LinearOperator, cg, spsolve

from sidelight.kernels.matrices import adaptive_kernel
from sidelight.neighbours.search import nearest
from sidelight.solvers import multigrid
from sidelight.solvers.levels import Level, levels_of, merged
from sidelight.solvers.multigrid import Hierarchy


def kernel(n=400, seed=0):
    """A sparse symmetric kernel graph of a noisy plane."""
    X = np.random.default_rng(seed).standard_normal((n, 2))
    return csr_array(adaptive_kernel(nearest(X, k=12), 6.0)[0])


def reweighed(K, seed=1):
    """The same links with other weights, the same both ways."""
    rows = np.repeat(np.arange(K.shape[0]), np.diff(K.indptr))
    place = np.random.default_rng(seed).standard_normal(K.shape[0])
    return csr_array((K.data / (1 + (place[rows] - place[K.indices]) ** 2), K.indices, K.indptr), shape=K.shape)


def system(W, held):
    return csr_array(np.diag(W.sum(axis=1) + held) - W.toarray())


def held_of(K):
    return 0.01 * (K @ np.ones(K.shape[0])) + 1e-5


GRAPHS = {
    "one component": kernel,
    "two components": lambda: csr_array(block_diag([kernel(250), kernel(150, seed=1)])),
    "rows without links": lambda: csr_array(block_diag([kernel(380), np.zeros((20, 20))])),
}
every_graph = pytest.mark.parametrize("graph", GRAPHS)


@every_graph
def test_a_cycle_is_symmetric_and_positive(graph):
    K = GRAPHS[graph]()
    cycle = Hierarchy(levels_of(K, 50)).cycle(0, reweighed(K).data, held_of(K))
    M = cycle(np.eye(K.shape[0]))
    np.testing.assert_allclose(M, M.T, atol=1e-4 * np.abs(M).max())
    assert np.linalg.eigvalsh(M + M.T).min() > 0


@every_graph
def test_conjugate_gradients_need_far_fewer_steps_with_it_than_with_the_diagonal(graph):
    K = GRAPHS[graph]()
    W, held = reweighed(K), held_of(K)
    A, b = system(W, held), np.random.default_rng(2).standard_normal(K.shape[0])
    cycle = Hierarchy(levels_of(K, 50)).cycle(0, W.data, held)
    diagonal = A.diagonal()
    steps = {}
    for name, inverse in (("cycle", lambda g: cycle(g[:, None])[:, 0]), ("diagonal", lambda g: g / diagonal)):
        seen = []
        x, _ = cg(A, b, rtol=1e-4, M=LinearOperator(A.shape, inverse), callback=seen.append)
        steps[name] = len(seen)
        np.testing.assert_allclose(x, spsolve(A, b), atol=2e-2 * np.abs(x).max())
    assert steps["cycle"] <= steps["diagonal"] / 2


def test_few_rows_are_solved_for_exactly():
    K = kernel(200)
    W, held, G = reweighed(K), held_of(K), np.random.default_rng(0).standard_normal((200, 2))
    cycle = Hierarchy([Level(K, np.ones(200))]).cycle(0, W.data, held)
    expected = np.linalg.solve(system(W, held).toarray(), G)
    np.testing.assert_allclose(cycle(G), expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_many_rows_that_do_not_merge_take_two_steps_of_the_diagonal(monkeypatch):
    monkeypatch.setattr(multigrid, "_LEFT", 50)
    K = csr_array((120, 120))
    cycle = Hierarchy(levels_of(K, 50)).cycle(0, K.data, np.full(120, 2.0))
    np.testing.assert_allclose(cycle(np.ones((120, 1))), 0.5 * (0.6 + 0.6 * 0.4), rtol=1e-5)


def test_links_merge_as_the_kernel_does():
    K = kernel()
    hierarchy, W = Hierarchy(levels_of(K, 50)), reweighed(K)
    fine, coarse = hierarchy.levels[:2]
    expected = merged(W, fine.parent)
    found = csr_array((hierarchy.mergings[0].merged(W.data), coarse.kernel.indices, coarse.kernel.indptr))
    np.testing.assert_allclose(found.toarray(), expected.toarray(), rtol=1e-5, atol=1e-7)
