"""S4 chapter 3, Metric learning from side information: closed forms and objectives against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import DistanceMetric, EquivalenceMetric, MultiAttributeMetric
from sidelight.objectives.partial_distances import PartialDistances

N, D = 30, 4
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, D)) * [1.0, 2.0, 0.5, 1.5]
SAME = np.array([[0, 1], [2, 3], [4, 5], [0, 2]])
DIFFERENT = np.array([[0, 6], [7, 8]])
OTHER = np.array([[9, 10], [11, 12], [13, 14], [15, 16]])


def differences(pairs, rows=X):
    return rows[pairs[:, 0]] - rows[pairs[:, 1]]


def scatter(pairs, rows=X):
    return differences(pairs, rows).T @ differences(pairs, rows)


@pytest.mark.parametrize("different", [None, DIFFERENT])
def test_eq_3_1_metric_from_same_and_different_pairs(different):
    """min L(A), A ⪰ 0, tr A = 1: a linear function, least at vvᵀ of the smallest eigenvalue (``form="literal"``)."""
    M = scatter(SAME) - (0 if different is None else scatter(different))
    A = EquivalenceMetric(form="literal").fit(X, same=SAME, different=different).mahalanobis_
    assert np.trace(A) == pytest.approx(1.0, abs=1e-12)
    assert (A * M).sum() == pytest.approx(np.linalg.eigvalsh(M)[0], rel=1e-9)
    for _ in range(50):
        W = RNG.normal(size=(D, D))
        other = W @ W.T / np.trace(W @ W.T)
        assert (other * M).sum() >= (A * M).sum()


def test_section_3_2_1_distance_of_the_metric():
    """|x_i - x_j|_A is the Euclidean distance between outputs of ``transform``."""
    model = EquivalenceMetric(form="literal").fit(X, same=SAME, different=DIFFERENT)
    away = X[:10] - X[10:20]
    by_hand = np.sqrt(np.einsum("ij,jk,ik->i", away, model.mahalanobis_, away))
    Z = model.transform(X)
    np.testing.assert_allclose(np.linalg.norm(Z[:10] - Z[10:20], axis=1), by_hand, rtol=1e-9)


def test_section_3_3_several_attributes_are_the_span_of_their_eigenvectors():
    """Â = UUᵀ with U an orthonormal basis of [v_1 ... v_k]."""
    vectors = np.column_stack([np.linalg.eigh(scatter(pairs))[1][:, 0] for pairs in (SAME, OTHER)])
    U = np.linalg.svd(vectors, full_matrices=False)[0]
    found = MultiAttributeMetric(form="literal").fit(X, same={"one": SAME, "two": OTHER})
    np.testing.assert_allclose(found.mahalanobis_, U @ U.T, atol=1e-9)


def test_section_3_3_each_attribute_has_same_and_different_pairs():
    """v_k is the dominant eigenvector of the A_k of eq. 3.1, and eq. 3.1 has both kinds of pairs."""
    M = {"one": scatter(SAME) - scatter(DIFFERENT), "two": scatter(OTHER), "three": -scatter(DIFFERENT[1:])}
    vectors = np.column_stack([np.linalg.eigh(one)[1][:, 0] for one in M.values()])
    U = np.linalg.svd(vectors, full_matrices=False)[0]
    different = {"one": DIFFERENT, "three": DIFFERENT[1:]}
    found = MultiAttributeMetric(form="literal").fit(X, same={"one": SAME, "two": OTHER}, different=different)
    np.testing.assert_allclose(found.mahalanobis_, U @ U.T, atol=1e-9)


def test_section_3_4_metric_of_kernel_columns():
    """𝒜 = ββᵀ: eq. 3.1 with k_i = [K(x_1, x_i), ..., K(x_t, x_i)] for x_i; new rows by their own kernel columns."""
    K, new = (np.exp(-0.2 * ((rows[:, None] - X) ** 2).sum(axis=-1)) for rows in (X, X[:5] + 0.3))
    values, vectors = np.linalg.eigh(scatter(SAME, K) - scatter(DIFFERENT, K))
    model = EquivalenceMetric(form="literal", kernel="rbf", gamma=0.2, kernel_coordinates="columns")
    model.fit(X, same=SAME, different=DIFFERENT)
    L = (model.pair_distance(X, pairs=SAME) ** 2).sum() - (model.pair_distance(X, pairs=DIFFERENT) ** 2).sum()
    assert pytest.approx(values[0], rel=1e-9) == L
    beta = vectors[:, 0]  # tr 𝒜 = 1
    np.testing.assert_allclose(model.pair_distance(X[:5] + 0.3, X[5:10]), np.abs((new - K[5:10]) @ beta), atol=1e-9)


def test_section_3_4_kernelised_metric_is_that_of_kernel_pca_coordinates():
    """The default: in kernel columns the source weighs the directions of the span by their eigenvalues once more."""
    gamma, H = 0.2, np.eye(N) - 1 / N
    G = H @ np.exp(-gamma * ((X[:, None] - X) ** 2).sum(axis=-1)) @ H
    values, vectors = np.linalg.eigh(G)
    T = (vectors * np.sqrt(np.maximum(values, 0)))[:, values > 1e-10 * values[-1]]
    M = scatter(SAME, T) - scatter(DIFFERENT, T)
    v = np.linalg.eigh(M)[1][:, 0]
    found = EquivalenceMetric(form="literal", kernel="rbf", gamma=gamma).fit(X, same=SAME, different=DIFFERENT)
    Z = found.transform(X)[:, 0]
    np.testing.assert_allclose(np.abs(Z - Z.mean()), np.abs(T @ v - (T @ v).mean()), atol=1e-5 * np.abs(Z).max())


def test_section_3_5_misfit_of_known_distances():
    """Σ (|x_i - x_j|²_A - d²)², as a share of Σ d⁴; the target is squared, where the source compares with d."""
    W, squares = RNG.normal(size=(D, 2)), RNG.uniform(1, 4, size=len(SAME))
    A = W @ W.T
    lengths = np.einsum("ij,jk,ik->i", differences(SAME), A, differences(SAME))
    objective = PartialDistances(X, SAME, squares, prior="trace", scale=np.ones(D))
    value, gradient, terms = objective.value_and_grad(W, 0.0)
    assert value == terms["misfit"] == pytest.approx(((lengths - squares) ** 2).sum() / (squares**2).sum(), rel=1e-12)
    slope = np.einsum("e,ea,eb->ab", lengths - squares, differences(SAME), differences(SAME))  # ∂/∂A, halved
    np.testing.assert_allclose(gradient, 4 * slope @ W / (squares**2).sum(), rtol=1e-10)


def test_section_3_5_distances_of_a_metric_are_found_again():
    pairs = np.array([(i, j) for i in range(8) for j in range(i)])
    A = np.diag([1.0, 0.0, 4.0, 0.0])
    d = np.sqrt(np.einsum("ij,jk,ik->i", differences(pairs), A, differences(pairs)))
    model = DistanceMetric(prior="trace", regularization=1e-9, tol=1e-13).fit(X, pairs=pairs, distances=d)
    np.testing.assert_allclose(model.mahalanobis_, A, atol=1e-3)
