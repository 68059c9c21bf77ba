"""The informed objective: its gradient, its value, and the kernel of what is known."""

from __future__ import annotations

import numpy as np
import pytest

from sidelight import KernelInformationEmbedding
from sidelight._informed_problem import given_kernel, inform, strata_of
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import Entropy, EntropySum
from sidelight.side.given import Given


def problem(weight, conditioning="balanced"):
    """A small problem: the model, what is known, and what is solved."""
    rng = np.random.default_rng(0)
    groups = np.arange(40) % 3
    X = rng.normal(size=(40, 4)) + np.eye(4)[groups]
    model = KernelInformationEmbedding(given_weight=weight, perplexity=8.0, conditioning=conditioning)
    given = Given.learn(model, groups, 40)
    known = given.encode(model, groups, 40)
    return known, inform(model, X / 5, given, known, None)


def _in_float64(kernel):
    """The kernel with the digits that float32 holds, so that only the objective is differentiated."""
    return SymmetricTiles.from_dense(kernel.to_dense(), np.float64) if isinstance(kernel, SymmetricTiles) else kernel


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("latent", ["gaussian", "student"])
def test_the_gradient_of_the_informed_objective_is_that_of_finite_differences(weight, latent):
    terms = [Entropy(t.name, t.coefficient, tuple(_in_float64(k) for k in t.kernels)) for t in problem(weight)[1].terms]
    objective = EntropySum(terms, profile(latent), dtype=np.float64)
    Z = np.random.default_rng(0).normal(size=(40, 2))
    gradient = objective.value_and_grad(Z).gradient.copy()
    for i, c in ((0, 0), (7, 1), (21, 0), (39, 1)):
        step = np.zeros_like(Z)
        step[i, c] = 1e-5
        slope = (objective.value_and_grad(Z + step).value - objective.value_and_grad(Z - step).value) / 2e-5
        np.testing.assert_allclose(gradient[i, c], slope, rtol=1e-6, atol=1e-9)


def test_the_informed_objective_is_a_weighted_difference_of_informations():
    """value = -(I(X;Z) - weight · I(G;Z)) up to what does not depend on Z, from dense kernels."""
    known, found = problem(0.7)
    Z = np.random.default_rng(0).normal(size=(40, 2))
    kz = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    K, G = found.kernel.matrix.toarray(), given_kernel(known.features).to_dense()
    h_z, h_xz, h_gz = (-np.log((M * kz).sum(axis=1)).mean() for M in (1.0, K, G))
    expected = -((h_z - h_xz) - 0.7 * (h_z - h_gz))
    value = EntropySum(found.terms, profile("gaussian"), dtype=np.float64).value_and_grad(Z).value
    np.testing.assert_allclose(value, expected, rtol=1e-6)


def test_a_kernel_of_many_columns_leaves_no_row_alone():
    features = np.random.default_rng(0).normal(size=(200, 12)) / np.sqrt(0.3)
    G = given_kernel(features).to_dense()
    assert G.mean() > 0.05
    np.testing.assert_allclose(np.diag(G), 1.0)


def test_the_published_objective_is_the_product_of_kernels():
    known, found = problem(1.0, "product")
    Z = np.random.default_rng(0).normal(size=(40, 2))
    kz = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    K, G = found.kernel.matrix.toarray(), given_kernel(known.features).to_dense()
    h_gz, h_gxz = (-np.log((M * kz).sum(axis=1)).mean() for M in (G, G * K))
    value = EntropySum(found.terms, profile("gaussian"), dtype=np.float64).value_and_grad(Z).value
    np.testing.assert_allclose(value, h_gxz - h_gz, rtol=1e-6)
    assert found.effect is None


def test_many_categories_do_not_take_the_machine_down():
    """Differences of one-hot codes of 1,500 categories between 500 rows would be 3 GB."""
    G = given_kernel(np.eye(1500))
    assert 0.05 < G.tiles[0, 1].mean() < 1.0


def test_strata_are_categories_and_cells_of_numbers_together():
    n = 400
    table = {"who": np.array(["a", "b"])[np.arange(n) % 2], "age": np.random.default_rng(0).uniform(size=n)}
    given = Given.learn("Model", table, n)
    categories, strata = strata_of(given, given.encode("Model", table, n))
    np.testing.assert_array_equal(categories, np.arange(n) % 2)
    assert strata.max() + 1 == 18
    assert all(len(np.unique(categories[strata == s])) == 1 for s in range(18))
