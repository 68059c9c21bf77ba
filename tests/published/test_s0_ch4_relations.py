"""S0 chapter 4, Multiple relational embedding: similarities, divergence and gradients against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.kernels.profiles import profile
from sidelight.kernels.relations import similarity
from sidelight.objectives.relational import Divergence, Part, RelationalSum

N, SIGMA2 = 24, 1.5
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))
R = RNG.normal(size=(2, 2))
"""Diagonals of the transformations of two relations."""
ROWS = np.arange(0, N, 2)
"""Rows that the second relation is about (4.8)."""
LABELS = np.arange(len(ROWS)) % 3


def rows_of(A, sigma2):
    """Equations 4.1 and 4.2: softmax over all rows, the row itself included."""
    W = np.exp(-((A[:, None] - A) ** 2).sum(axis=-1) / sigma2)
    return W / W.sum(axis=1, keepdims=True)


def blocks():
    """Class membership: 1 / (size of the class) within a class, the row itself included."""
    same = (LABELS[:, None] == LABELS).astype(float)
    return same / same.sum(axis=1, keepdims=True)


def divergence(P, Y):
    """Equation 4.4 or 4.8 for one relation."""
    Q = rows_of(Y, 1.0)
    return sum(P[i, j] * np.log(P[i, j] / Q[i, j]) for i, j in zip(*np.nonzero(P), strict=True)) / len(P)


def objective(transformation="diagonal"):
    relations = {
        "data": Relation.from_data(X, bandwidth=SIGMA2),
        "class": Relation.from_labels(LABELS, ROWS, n_samples=N),
    }
    gaussian = profile("gaussian")
    parts = [
        Part(name, one.index, Divergence(similarity(one), gaussian, dtype=np.float64))
        for name, one in relations.items()
    ]
    return RelationalSum(parts, N, transformation)


def test_eq_4_1_similarity_of_data_and_of_classes():
    """``similarity`` holds P + Pᵀ, self-terms included: 1/n_class on the diagonal of a block."""
    data, classes = (
        similarity(Relation.from_data(X, bandwidth=SIGMA2)).matrix,
        similarity(Relation.from_labels(LABELS, ROWS, n_samples=N)).matrix,
    )
    P = rows_of(X, SIGMA2)
    np.testing.assert_allclose(data.toarray() if hasattr(data, "toarray") else data, P + P.T, rtol=1e-9)
    np.testing.assert_allclose(classes.toarray() if hasattr(classes, "toarray") else classes, 2 * blocks(), rtol=1e-9)


def test_eqs_4_3_and_4_4_loss_of_two_relations_and_4_8_of_partial_information():
    found = objective().value_and_grad(np.concatenate([Z, R]))
    parts = divergence(rows_of(X, SIGMA2), Z * R[0]), divergence(blocks(), Z[ROWS] * R[1])
    assert found.terms["data"] == pytest.approx(parts[0], rel=1e-10)
    assert found.terms["class"] == pytest.approx(parts[1], rel=1e-10)
    assert found.value == pytest.approx(sum(parts), rel=1e-10)


def test_eq_4_5_gradient_of_the_latent_points():
    """With the indices βα in the first term, where βl is printed."""
    by_hand = np.zeros_like(Z)
    for P, rows, r in ((rows_of(X, SIGMA2), np.arange(N), R[0]), (blocks(), ROWS, R[1])):
        Q = rows_of(Z[rows] * r, 1.0)
        pull = P + P.T - Q - Q.T
        by_hand[rows] += 2 / len(P) * (pull[:, :, None] * (Z[rows][:, None] - Z[rows]) * r**2).sum(axis=1)
    found = objective().value_and_grad(np.concatenate([Z, R])).gradient
    np.testing.assert_allclose(found[:N], by_hand, atol=1e-12)


def test_eq_4_6_gradient_of_full_transformations():
    """With the 1/n that 4.6 lacks and 4.7 has."""
    full = RNG.normal(size=(2, 2, 2))
    found = objective("full").value_and_grad(np.concatenate([Z, *full])).gradient[N:].reshape(2, 2, 2)
    for P, rows, r, slope in zip((rows_of(X, SIGMA2), blocks()), (np.arange(N), ROWS), full, found, strict=True):
        away = Z[rows][:, None] - Z[rows]
        inner = np.einsum("ij,ija,ijb->ab", P - rows_of(Z[rows] @ r.T, 1.0), away, away)
        np.testing.assert_allclose(slope, 2 / len(P) * r @ inner, atol=1e-12)


def test_eq_4_7_gradient_of_diagonal_transformations():
    found = objective().value_and_grad(np.concatenate([Z, R])).gradient[N:]
    for P, rows, r, slope in zip((rows_of(X, SIGMA2), blocks()), (np.arange(N), ROWS), R, found, strict=True):
        away = (Z[rows][:, None] - Z[rows]) ** 2
        by_hand = 2 / len(P) * r * ((P - rows_of(Z[rows] * r, 1.0))[:, :, None] * away).sum(axis=(0, 1))
        np.testing.assert_allclose(slope, by_hand, atol=1e-12)


def test_eq_4_4_with_one_relation_and_r_the_identity_is_the_objective_of_a_fit_of_sne():
    """``transformation="identity"``; history_ holds the divergence at ``embedding_``."""
    model = MultipleRelationalEmbedding(2, transformation="identity", use_data=False, tol=1e-4)
    model.fit(X, relations={"data": Relation.from_data(X, bandwidth=SIGMA2)})
    by_hand = divergence(rows_of(X, SIGMA2), model.embedding_)
    assert model.history_[-1]["terms"]["data"] == pytest.approx(by_hand, abs=1e-5)
