"""The relational divergence against the naive formula and finite differences; one relation seen as it is, is SNE."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import Relation
from sidelight.kernels.profiles import profile
from sidelight.kernels.relations import similarity
from sidelight.objectives.relational import Divergence, Part, RelationalSum, unpack

RELATIONS = {
    "data": Relation.from_data(np.random.default_rng(0).normal(size=(14, 3)), perplexity=4.0),
    "fixed": Relation.from_data(np.random.default_rng(0).normal(size=(14, 3)), bandwidth=2.0),
    "labels": Relation.from_labels(list("abcabca"), [0, 3, 4, 7, 9, 11, 13], n_samples=14),
    "pairs": Relation.from_pairs([[0, 5], [3, 8]], 14),
}


def naive(P, Y, kernel):
    """(1/n) Σ P log (P / Q), pair by pair."""
    total = 0.0
    for i in range(len(Y)):
        k = [kernel(sum((a - b) ** 2 for a, b in zip(Y[i], other, strict=True))) for other in Y]
        for j in range(len(Y)):
            if P[i, j] > 0:
                total += P[i, j] * np.log(P[i, j] / (k[j] / sum(k)))
    return total / len(Y)


def sne_rows(X, bandwidth):
    weights = np.exp(-((X[:, None] - X) ** 2).sum(axis=-1) / bandwidth)
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
def test_the_divergence_is_the_formula(kernel):
    X = np.random.default_rng(0).normal(size=(14, 3))
    Y = np.random.default_rng(1).normal(size=(14, 2))
    formula = {"gaussian": lambda r: np.exp(-r), "student": lambda r: 1 / (1 + r)}[kernel]
    found = Divergence(similarity(RELATIONS["fixed"]), profile(kernel), dtype=np.float64).value_and_grad(Y)
    assert found.value == pytest.approx(naive(sne_rows(X, 2.0), Y, formula), rel=1e-9)


def central_differences(objective, V, step=1e-5):
    out = np.empty_like(V)
    for place in np.ndindex(V.shape):
        move = np.zeros_like(V)
        move[place] = step
        up, down = (objective.value_and_grad(V + sign * move).value for sign in (1.0, -1.0))
        out[place] = (up - down) / (2 * step)
    return out


def summed(kernel, transformation, sparsity=0.0):
    parts = [
        Part(
            name,
            relation.index,
            Divergence(similarity(relation), profile(kernel), dtype=np.float64),
            weight,
            few_axes=relation.kind != "data",
        )
        for weight, (name, relation) in zip((1.0, 0.5, 2.0, 0.3), RELATIONS.items(), strict=True)
    ]
    return RelationalSum(parts, 14, transformation, sparsity=sparsity)


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
@pytest.mark.parametrize(("transformation", "rows"), [("diagonal", 4), ("full", 8), ("identity", 0)])
def test_gradients_of_points_and_transformations(kernel, transformation, rows):
    objective = summed(kernel, transformation, 0.7 if transformation == "diagonal" else 0.0)
    V = np.random.default_rng(2).normal(size=(14 + rows, 2))
    found = objective.value_and_grad(V)
    np.testing.assert_allclose(found.gradient, central_differences(objective, V), atol=1e-8)


def with_single_pairs(kernel, transformation):
    """Data, labels, and two relations of one pair each."""
    relations = {
        "data": RELATIONS["data"],
        "fixed": RELATIONS["fixed"],
        "labels": RELATIONS["labels"],
        "first": Relation.from_pairs([[0, 5]], 14),
        "last": Relation.from_pairs([[3, 8]], 14),
    }
    parts = [
        Part(
            name,
            relation.index,
            Divergence(similarity(relation), profile(kernel), dtype=np.float64),
            weight,
            labels=relation.kind == "labels",
            one_pair=relation.kind == "pairs",
        )
        for weight, (name, relation) in zip((1.0, 0.5, 2.0, 0.3, 0.7), relations.items(), strict=True)
    ]
    return RelationalSum(parts, 14, transformation)


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
@pytest.mark.parametrize(("transformation", "rows"), [("diagonal", 5), ("full", 10), ("identity", 0)])
def test_gradients_with_relations_of_one_pair(kernel, transformation, rows):
    objective = with_single_pairs(kernel, transformation)
    V = np.random.default_rng(2).normal(size=(14 + rows, 2))
    found = objective.value_and_grad(V)
    np.testing.assert_allclose(found.gradient, central_differences(objective, V), atol=1e-8)


@pytest.mark.parametrize("kernel", ["gaussian", "student"])
@pytest.mark.parametrize(("transformation", "rows"), [("diagonal", 5), ("full", 10)])
def test_one_pair_is_the_formula_seen_through_the_other_relations(kernel, transformation, rows):
    """4.8 with R_c = M^½; the transformation reported for the pair is that one."""
    objective = with_single_pairs(kernel, transformation)
    V = np.random.default_rng(3).normal(size=(14 + rows, 2))
    terms = objective.value_and_grad(V).terms
    Z, R = objective.points_and_transformations(V)
    D, L = (R[0].T @ R[0] + R[1].T @ R[1]) / 2, R[2].T @ R[2]
    np.testing.assert_allclose(R[3].T @ R[3], D @ np.linalg.inv(D + L) @ D, atol=1e-12)
    formula = {"gaussian": lambda r: np.exp(-r), "student": lambda r: 1 / (1 + r)}[kernel]
    for name, pair in (("first", [0, 5]), ("last", [3, 8])):
        assert terms[name] == pytest.approx(naive(np.full((2, 2), 0.5), Z[pair] @ R[3].T, formula), rel=1e-9)


def test_one_pair_cannot_be_satisfied_by_shrinking_an_axis():
    objective = with_single_pairs("gaussian", "diagonal")
    V = np.random.default_rng(5).normal(size=(19, 2))
    moved = V.copy()
    moved[:14, 0] /= 100.0
    moved[14:, 0] *= 100.0
    found, shrunk = objective.value_and_grad(V), objective.value_and_grad(moved)
    assert shrunk.terms["first"] == pytest.approx(found.terms["first"], rel=1e-9)
    assert shrunk.value == pytest.approx(found.value, rel=1e-9)


def test_terms_name_the_divergence_of_each_relation():
    objective = summed("gaussian", "diagonal")
    found = objective.value_and_grad(np.random.default_rng(4).normal(size=(18, 2)))
    weights = {part.name: part.weight for part in objective.parts}
    assert found.value == pytest.approx(sum(weights[name] * value for name, value in found.terms.items()))


def test_value_does_not_change_when_an_axis_is_stretched_and_every_relation_looks_less():
    objective = summed("gaussian", "diagonal", 0.3)
    V = np.random.default_rng(5).normal(size=(18, 2))
    moved = V.copy()
    moved[:14, 0] *= 4.0
    moved[14:, 0] /= 4.0
    assert objective.value_and_grad(moved).value == pytest.approx(objective.value_and_grad(V).value, rel=1e-10)


def test_sparsity_is_zero_for_one_axis_each_and_largest_for_even_weights():
    objective = summed("gaussian", "diagonal", 1.0)
    V = np.random.default_rng(6).normal(size=(18, 2))
    V[14:] = [[1, 1], [1, 1], [1, 0], [0, 1]]
    assert objective.value_and_grad(V).terms["sparsity"] == pytest.approx(0.0, abs=1e-12)
    V[:14, 1] = V[:14, 0]
    V[14:] = 1.0
    assert objective.value_and_grad(V).terms["sparsity"] == pytest.approx(1.0)  # half for each of two relations


def test_unpacking_gives_points_and_matrices():
    V = np.arange(24.0).reshape(12, 2)
    Z, R = unpack(V, 8, 4, "diagonal")
    assert Z.shape == (8, 2)
    np.testing.assert_array_equal(R[1], np.diag(V[9]))
    np.testing.assert_array_equal(unpack(V, 8, 2, "full")[1][1], V[10:12])
    np.testing.assert_array_equal(unpack(V, 12, 3, "identity")[1], np.stack([np.eye(2)] * 3))
