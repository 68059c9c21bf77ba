"""The problem that is solved: which objective, of which kernels."""

from __future__ import annotations

import numpy as np

from sidelight.information import _problem
from sidelight.information._problem import informed_problem, mixed_factors, with_refined_effect
from sidelight.information._settings import GivenSettings, KernelSettings
from sidelight.kernels.given_kernels import given_kernel
from sidelight.kernels.profiles import profile
from sidelight.objectives.entropy import EntropySum
from sidelight.side.given import Given


def problem(weight, conditioning="balanced", solver="annealed", number=False, n_groups=5):
    """A small problem: what is known, and what is solved. Five groups are too small to be compared, three are not."""
    rng = np.random.default_rng(0)
    groups = np.arange(40) % n_groups
    X = rng.normal(size=(40, 4)) + np.eye(n_groups, 4)[groups]
    kernel = KernelSettings(
        "test", "perplexity", 8.0, 15, "euclidean", "gaussian", "auto", multilevel=solver == "multilevel", n_jobs=None
    )
    what = rng.normal(size=40) if number else groups
    given = Given.learn("test", what, 40)
    known = given.encode("test", what, 40)
    settings = GivenSettings(conditioning, weight, None)
    return known, informed_problem(X / 5, 1.0, given, known, None, kernel, settings, ("gaussian", 2))


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


def test_rows_that_are_represented_pay_a_quarter_and_those_that_are_not_pay_nothing():
    known, found = problem(0.7, n_groups=3)
    there = found.representation
    Z = np.random.default_rng(0).normal(size=(40, 2))
    kz = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    codes, K = known.features * there.of_rows[:, None] / 4 + (1 - there.of_rows[:, None] / 4) / 3, found.kernel.matrix
    G = np.exp(-((codes[:, None] - codes[None]) ** 2).sum(axis=2))
    h_z, h_xz, h_gz = (-np.log((M * kz).sum(axis=1)).mean() for M in (1.0, K.toarray(), G))
    value = EntropySum(found.terms, profile("gaussian"), dtype=np.float64).value_and_grad(Z).value
    np.testing.assert_allclose(value, -((h_z - h_xz) - 0.7 * (h_z - h_gz)), rtol=1e-6)
    assert there.of_rows.min() > 0.5
    assert problem(0.7)[1].representation is None


def test_the_published_objective_is_the_product_of_kernels():
    known, found = problem(1.0, "product")
    Z = np.random.default_rng(0).normal(size=(40, 2))
    kz = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    K, G = found.kernel.matrix.toarray(), given_kernel(known.features).to_dense()
    h_gz, h_gxz = (-np.log((M * kz).sum(axis=1)).mean() for M in (G, G * K))
    value = EntropySum(found.terms, profile("gaussian"), dtype=np.float64).value_and_grad(Z).value
    np.testing.assert_allclose(value, h_gxz - h_gz, rtol=1e-6)
    assert found.effect is None


def test_by_levels_there_are_factors_and_short_lists_and_no_kernel_of_pairs():
    known, found = problem(1.0, solver="multilevel")
    G = given_kernel(known.features).to_dense()
    np.testing.assert_allclose(found.factors @ found.factors.T, G, atol=1e-6)
    assert found.terms == []
    assert found.kernel.matrix.nnz < problem(1.0)[1].kernel.matrix.nnz
    again = with_refined_effect(found, found.refinement, np.random.default_rng(0).normal(size=(40, 2)))
    assert again.points.shape == found.points.shape
    assert again.factors is found.factors


def test_by_levels_neighbours_are_found_along_the_graph_unless_rows_are_many_or_compared(monkeypatch):
    assert problem(1.0, solver="multilevel")[1].kernel.graph is not None
    assert problem(1.0, solver="multilevel", n_groups=3)[1].kernel.graph is None
    monkeypatch.setattr(_problem, "_WALKED", 39)
    assert problem(1.0, solver="multilevel")[1].kernel.graph is None
    assert problem(1.0)[1].kernel.graph is not None


def test_by_levels_numbers_have_a_kernel_of_few_factors_and_no_weight_has_none():
    _, found = problem(1.0, solver="multilevel", number=True)
    assert found.factors.shape[1] <= 16
    assert problem(0.0, solver="multilevel")[1].factors is None


def test_a_weight_between_none_and_one_bounds_the_entropies_from_below():
    known, found = problem(0.4, solver="multilevel")
    G = given_kernel(known.features).to_dense()
    Z = np.random.default_rng(0).normal(size=(40, 2))
    kz = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2))
    h_z, h_gz, h_mixed = (-np.log((M * kz).sum(axis=1)).mean() for M in (1.0, G, found.factors @ found.factors.T))
    bound = 0.6 * h_z + 0.4 * (h_gz + np.log(G.mean()))
    assert bound - 0.1 < h_mixed <= bound
    np.testing.assert_array_equal(mixed_factors(found.factors, 1.0), found.factors)
