"""S0 section 4.3.1: relations of one pair, as printed and as ``Relation.from_pairs`` has them; the start."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from sidelight import MultipleRelationalEmbedding, Relation
from sidelight.kernels.profiles import profile
from sidelight.kernels.relations import similarity
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import FixedWeights
from sidelight.objectives.relational import Divergence, Part, RelationalSum
from sidelight.relational._relational_problem import first_unknowns
from sidelight.relational._relational_start import Start

N, PAIR = 12, [2, 7]
RNG = np.random.default_rng(0)
X, Z = RNG.normal(size=(N, 3)), RNG.normal(size=(N, 2))
R = RNG.normal(size=(3, 2))
"""Diagonals of the transformations of the data, the labels and the pair."""
LABELS = np.arange(N) % 3
HALF = np.full((2, 2), 0.5)


def objective(pair):
    """Data, labels and a relation of one pair; the R of ``from_pairs`` is not learned."""
    relations = {
        "data": Relation.from_data(X, bandwidth=1.5),
        "class": Relation.from_labels(LABELS),
        "pair": pair,
    }
    parts = [
        Part(
            name,
            one.index,
            Divergence(similarity(one), profile("gaussian"), dtype=np.float64),
            labels=one.kind == "labels",
            one_pair=one.kind == "pairs",
        )
        for name, one in relations.items()
    ]
    return RelationalSum(parts, N, "diagonal")


def divergence_of_a_pair(squares):
    """Equation 4.8 with P = ½ everywhere, at the weighted squared distance of the two points."""
    Q = np.array([[1.0, np.exp(-squares)], [np.exp(-squares), 1.0]])
    Q /= Q.sum(axis=1, keepdims=True)
    return (HALF * np.log(HALF / Q)).sum() / 2, Q


def test_section_4_3_1_one_pair_as_printed():
    """``Relation.from_matrix``: 4.8, and 4.7 for its R."""
    found = objective(Relation.from_matrix(HALF, PAIR, n_samples=N)).value_and_grad(np.concatenate([Z, R]))
    gap = Z[PAIR[0]] - Z[PAIR[1]]
    value, Q = divergence_of_a_pair(((R[2] * gap) ** 2).sum())
    assert found.terms["pair"] == pytest.approx(value, rel=1e-10)
    slope = 2 / 2 * R[2] * (HALF - Q)[[0, 1], [1, 0]].sum() * gap**2
    np.testing.assert_allclose(found.gradient[N + 2], slope, atol=1e-12)


def test_section_4_3_1_one_pair_as_printed_shrinks_its_transformation():
    """Its gradient has the sign of R whatever Z is: nothing is to be kept apart, and R = 0 is a minimum."""
    printed = objective(Relation.from_matrix(HALF, PAIR, n_samples=N))
    for seed in range(20):
        V = np.random.default_rng(seed).normal(size=(N + 3, 2))
        assert (printed.value_and_grad(V).gradient[N + 2] * V[N + 2] > 0).all()
    V[N + 2] = 0.0
    assert printed.value_and_grad(V).terms["pair"] == pytest.approx(0.0, abs=1e-12)


def test_section_4_3_1_one_pair_seen_through_the_other_transformations():
    """``Relation.from_pairs``: 4.8 with R² = D² / (D + L), D and L the squares of the R of data and labels."""
    found = objective(Relation.from_pairs([PAIR], N)).value_and_grad(np.concatenate([Z, R]))
    D, L = R[0] ** 2, R[1] ** 2
    value, _ = divergence_of_a_pair((D**2 / (D + L) * (Z[PAIR[0]] - Z[PAIR[1]]) ** 2).sum())
    assert found.terms["pair"] == pytest.approx(value, rel=1e-10)


def test_section_4_3_1_kernel_smoother_after_the_inverse_of_r():
    """Faces from places of the other set: latents times the inverse of R of the class, then one wide kernel."""
    model = MultipleRelationalEmbedding(2, use_data=False, extend=False, max_iter=20)
    with pytest.warns(ConvergenceWarning):
        model.fit(None, relations={"class": Relation.from_labels(np.arange(N) % 2), "data": Relation.from_data(X)})
    names = list(model.relation_names_)
    collapsed = model.embedding_ / np.diag(model.transformations_[names.index("class")])
    asked, rows, h = collapsed[:3], np.arange(3, N), 1e3
    W = np.exp(-((asked[:, None] - collapsed[rows]) ** 2).sum(axis=-1) / h)
    by_hand = W @ X[rows] / W.sum(axis=1, keepdims=True)
    found = KernelMap(FixedWeights(collapsed[rows], h), X[rows])(asked)
    np.testing.assert_allclose(found, by_hand, rtol=1e-9)


def test_footnote_4_1_points_and_transformations_start_as_small_noise():
    """``init="random"``: both are normal, with a standard deviation of 0.1."""
    start = Start(np.zeros((N, 2)), np.zeros((3, 2)), None)
    found = first_unknowns("", objective(Relation.from_pairs([PAIR], N)), start, "random", 3)
    np.testing.assert_allclose(found, 0.1 * np.random.RandomState(3).standard_normal((N + 3, 2)), rtol=1e-12)


def test_fig_4_3_two_relations_of_one_pair_align_two_sets_in_the_setting_of_the_source():
    """Fig. 4.3: one bandwidth, noise as start; with ``from_pairs`` both lines run the same way from every start."""
    t, u = np.linspace(0, 1, 12), np.linspace(0, 1, 16)
    curves = np.column_stack([np.cos(2 * t), np.sin(2 * t)]), np.column_stack([u, u**2, np.sin(3 * u)])
    relations = {
        "class": Relation.from_labels(np.arange(28) >= 12),
        "a": Relation.from_data(curves[0], np.arange(12), n_samples=28, bandwidth=0.2),
        "b": Relation.from_data(curves[1], np.arange(12, 28), n_samples=28, bandwidth=0.2),
        "first": Relation.from_pairs([[0, 12]], 28),
        "last": Relation.from_pairs([[11, 27]], 28),
    }
    for seed in range(5):
        model = MultipleRelationalEmbedding(2, extend=False, init="random", random_state=seed).fit(
            None, relations=relations
        )
        shared = model.embedding_[:, int(model.relation_shares_[0].argmin())]
        assert np.corrcoef(shared[:12], t)[0, 1] * np.corrcoef(shared[12:], u)[0, 1] > 0.8
