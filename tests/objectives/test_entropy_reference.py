from __future__ import annotations

import numpy as np
import pytest
from entropy_reference import FAMILY, STORE, VALUES, data_kernels, naive_entropy, naive_gradient

from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import Entropy, EntropySum

STORAGE = [("dense", "dense"), ("sparse", "sparse"), ("sparse", "dense"), ("dense", "sparse")]


def build(member, storage, name, n=13, dtype=np.float64):
    kernels = data_kernels(n)
    K, L = (STORE[kind](kernel) for kind, kernel in zip(storage, kernels, strict=True))
    make, recipe = FAMILY[member]
    return EntropySum(make(K, L), profile(name), dtype=dtype), recipe, kernels


@pytest.mark.parametrize("storage", STORAGE, ids="-".join)
@pytest.mark.parametrize("member", FAMILY)
@pytest.mark.parametrize("name", VALUES)
def test_value_and_gradient_are_those_of_loops_over_pairs(name, member, storage):
    objective, recipe, kernels = build(member, storage, name)
    Z = 0.5 * np.random.default_rng(1).normal(size=(13, 2)) + [3.0, -2.0]
    found = objective.value_and_grad(Z)
    value = sum(c * naive_entropy(Z, [kernels[k] for k in chosen], name) for c, chosen in recipe)
    gradient = sum(c * naive_gradient(Z, [kernels[k] for k in chosen], name) for c, chosen in recipe)
    assert found.value == pytest.approx(value, rel=1e-11, abs=1e-12)
    np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("storage", STORAGE, ids="-".join)
@pytest.mark.parametrize("member", FAMILY)
@pytest.mark.parametrize("name", VALUES)
def test_gradient_agrees_with_finite_differences(name, member, storage):
    objective, _, _ = build(member, storage, name)
    Z = 0.5 * np.random.default_rng(2).normal(size=(13, 2))
    gradient = objective.value_and_grad(Z).gradient
    numeric = np.empty_like(gradient)
    step = 1e-5
    for place in np.ndindex(*Z.shape):
        move = np.zeros_like(Z)
        move[place] = step
        ahead, behind = (objective.value_and_grad(Z + s * move).value for s in (1, -1))
        numeric[place] = (ahead - behind) / (2 * step)
    assert np.linalg.norm(gradient - numeric) <= 1e-6 * np.linalg.norm(numeric)


@pytest.mark.parametrize("kind", STORE)
@pytest.mark.parametrize("name", VALUES)
def test_gradient_over_several_tiles_agrees_with_finite_differences(name, kind):
    objective, _, _ = build("plain", (kind, kind), name, n=530)
    rng = np.random.default_rng(3)
    Z, move = 2 * rng.normal(size=(530, 2)), rng.normal(size=(530, 2))
    step = 1e-6  # pairs cross the rim of a compact kernel
    ahead, behind = (objective.value_and_grad(Z + s * step * move).value for s in (1, -1))
    slope = float(np.vdot(objective.value_and_grad(Z).gradient, move))
    assert slope == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("member", FAMILY)
def test_terms_are_named_and_add_up_to_the_value(member):
    objective, _, _ = build(member, ("dense", "sparse"), "gaussian")
    Z = np.random.default_rng(4).normal(size=(13, 2))
    found = objective.value_and_grad(Z)
    coefficients = {t.name: t.coefficient for t in [*objective.dense, *objective.sparse]}
    assert set(found.terms) == set(coefficients)
    assert found.value == pytest.approx(sum(c * found.terms[name] for name, c in coefficients.items()))
    if member == "plain":
        assert found.terms["H(Z)"] == pytest.approx(naive_entropy(Z, [], "gaussian"))


@pytest.mark.parametrize("q", [1, 2, 5])
def test_the_entropy_of_z_alone_takes_any_number_of_dimensions_and_rows(q):
    objective = EntropySum([Entropy("H(Z)", 1.0)], profile("student"), dtype=np.float64)
    for n in (3, 530, 600, 12, 1030, 700):
        Z = np.random.default_rng(n).normal(size=(n, q))
        R = ((Z[:, None] - Z[None]) ** 2).sum(axis=-1)
        assert objective.value_and_grad(Z).value == pytest.approx(-np.log((1 / (1 + R)).sum(axis=1)).mean(), rel=1e-12)


def test_a_coefficient_weighs_its_term():
    Z = np.random.default_rng(5).normal(size=(20, 2))
    one, three = (EntropySum([Entropy("H(Z)", c)], profile("gaussian"), dtype=np.float64) for c in (1.0, -3.0))
    first, second = one.value_and_grad(Z), three.value_and_grad(Z)
    assert second.value == pytest.approx(-3 * first.value)
    np.testing.assert_allclose(second.gradient, -3 * first.gradient, rtol=1e-12)
    assert first.terms == second.terms


def test_plain_is_the_conditional_with_a_constant_given():
    K, ones = data_kernels(20)[0], np.ones((20, 20))
    tiles, constant = (SymmetricTiles.from_dense(M, np.float64) for M in (K, ones))
    Z = np.random.default_rng(6).normal(size=(20, 2))
    plain = EntropySum(FAMILY["plain"][0](tiles, None), profile("gaussian"), dtype=np.float64).value_and_grad(Z)
    terms = FAMILY["conditional"][0](tiles, constant)
    conditional = EntropySum(terms, profile("gaussian"), dtype=np.float64).value_and_grad(Z)
    assert conditional.value == pytest.approx(plain.value, rel=1e-13)
    np.testing.assert_allclose(conditional.gradient, plain.gradient, rtol=1e-11, atol=1e-15)
