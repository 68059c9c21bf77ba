"""Gram programs: derivatives of the augmented Lagrangian, and the matrices of its rows."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.objectives.gram import gram_program

PAIRS = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [0, 2], [1, 3], [2, 4], [0, 4]])
MIXED = csr_array(
    np.array(
        [[1, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0], [0, 0, 1, -1, 0, 0, 0, 0], [0, 0, 0, 0, 1, 1, 0, -1.0]]
    )
)


def programs():
    rng = np.random.default_rng(0)
    lengths = rng.uniform(0.5, 2.0, len(PAIRS))
    soft = np.where(np.arange(8) % 2, 3.0, np.inf)
    return {
        "inequalities": gram_program(PAIRS, lengths, 5),
        "equalities": gram_program(PAIRS, lengths, 5, equal=True),
        "soft and hard": gram_program(PAIRS, lengths, 5, equal=np.arange(8) < 4, weights=soft),
        "differences": gram_program(PAIRS, [1.0, 2.0, 0.0, 0.5], 5, rows=MIXED, equal=[False, False, True, True]),
    }


every = pytest.mark.parametrize("program", programs().values(), ids=programs().keys())


def somewhere(program, seed=1):
    rng = np.random.default_rng(seed)
    V = rng.normal(size=(5, 3))
    y = np.abs(rng.normal(size=len(program.bounds)))
    return V - V.mean(axis=0), y, rng.uniform(1.0, 4.0, len(y)), rng


@every
def test_gradient_is_that_of_finite_differences(program):
    V, y, rho, rng = somewhere(program)
    U = rng.normal(size=V.shape)
    U -= U.mean(axis=0)
    step = 1e-6
    ahead, behind = (program.augmented(V + s * U, y, rho).value for s in (step, -step))
    slope = np.vdot(program.augmented(V, y, rho).gradient, U)
    np.testing.assert_allclose((ahead - behind) / (2 * step), slope, rtol=1e-6)


@every
def test_hessian_product_is_that_of_finite_differences(program):
    V, y, rho, rng = somewhere(program)
    U = rng.normal(size=V.shape)
    U -= U.mean(axis=0)
    step = 1e-6
    ahead, behind = (program.augmented(V + s * U, y, rho).gradient for s in (step, -step))
    np.testing.assert_allclose(
        program.augmented(V, y, rho).product(U), (ahead - behind) / (2 * step), rtol=1e-5, atol=1e-6
    )


@every
def test_turning_the_axes_changes_neither_value_nor_slopes(program):
    V, y, rho, rng = somewhere(program)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    point = program.augmented(V, y, rho)
    turned, again = point.turned(R), program.augmented(V @ R, y, rho)
    np.testing.assert_allclose(turned.value, again.value)
    np.testing.assert_allclose(turned.gradient, again.gradient, atol=1e-12)


@every
def test_preconditioner_with_all_columns_dominates_the_hessian(program):
    V, y, rho, rng = somewhere(program)
    point = program.augmented(V, y, rho)
    whole, single = point.curvature(3)
    assert np.linalg.eigvalsh(whole.toarray())[0] > 0
    assert np.linalg.eigvalsh(single.toarray())[0] > 0
    for _ in range(5):
        U = rng.normal(size=V.shape)
        U -= U.mean(axis=0)
        assert np.vdot(U, point.product(U)) <= U.ravel() @ (whole @ U.ravel()) + 1e-9


@every
def test_laplacian_of_multipliers_is_what_they_pull(program):
    V, y, _, _ = somewhere(program)
    pulled = float(y @ (program.residual(V) + program.bounds))
    np.testing.assert_allclose(np.trace(V.T @ (program.laplacian(y) @ V)), pulled)
    np.testing.assert_allclose(program.laplacian(y) @ np.ones(5), 0.0, atol=1e-12)


def test_weak_duality_holds_for_every_feasible_pair():
    program = gram_program(PAIRS, np.ones(8), 5)
    rng = np.random.default_rng(2)
    for _ in range(20):
        V, y = rng.normal(size=(5, 3)), rng.uniform(0, 1, 8)
        V -= V.mean(axis=0)
        V /= np.sqrt((program.residual(V) + 1.0).max())
        smallest = np.linalg.eigvalsh(program.laplacian(y).toarray())[1]
        assert program.value(V) <= program.dual_value(y / smallest) + 1e-9


def test_slack_costs_and_only_in_soft_rows():
    V = np.array([[-1.0], [1.0]])
    assert gram_program([[0, 1]], [1.0], 2).value(V) == 2.0
    assert gram_program([[0, 1]], [1.0], 2, weights=2.0).value(V) == 2.0 - 9.0


def test_pieces_that_no_row_ties_are_counted():
    assert gram_program([[0, 1], [2, 3]], [1.0, 1.0], 4).n_pieces == 2
    assert gram_program([[0, 1], [2, 3], [1, 2]], [1.0, 1.0], 4, rows=np.eye(3)[:2]).n_pieces == 2
    assert gram_program([[0, 1], [2, 3], [1, 2]], np.ones(3), 4).n_pieces == 1


def test_rows_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"rows of shape \(4, 8\) do not fit 3 bounds and 8 pairs"):
        gram_program(PAIRS, np.ones(3), 5, rows=MIXED)
