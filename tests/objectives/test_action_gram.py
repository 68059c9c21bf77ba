"""Programs over classes of pairs: the same as plain ones with all rows written down, and derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from sidelight.objectives.action_gram import tied_program
from sidelight.objectives.gram import gram_program

N = 6
TIED = np.array([0, 1, 2, 3, 0, 0, 1, 2, 4, 5, 1, 2, 0, 5, 6])
CLASSES, BOUNDS = np.array([0, 1, 5]), np.array([1.0, 3.0, 2.0])
EQUAL, WEIGHTS = np.array([False, False, True]), np.array([40.0, np.inf, np.inf])


def programs():
    """The same program by classes, and by explicit rows over all pairs."""
    tied = tied_program(TIED, N, classes=CLASSES, bounds=BOUNDS, reach=np.full(7, 2.0), equal=EQUAL, weights=WEIGHTS)
    members = np.bincount(TIED)
    means = (TIED[None, :] == np.arange(7)[:, None]) / members[:, None]
    deviations = (np.eye(len(TIED)) - means[TIED])[members[TIED] > 1]
    free = np.zeros(len(deviations))
    plain = gram_program(
        np.column_stack(np.triu_indices(N, 1)),
        np.r_[BOUNDS, free],
        N,
        rows=csr_array(np.vstack([means[CLASSES], deviations])),
        equal=np.r_[EQUAL, free == 0],
        weights=np.r_[WEIGHTS, free + np.inf],
    )
    return tied, plain


def somewhere(program, seed=1):
    rng = np.random.default_rng(seed)
    V, U = rng.normal(size=(2, N, 3))
    y = rng.normal(size=len(program.bounds))
    y[:2] = np.abs(y[:2])
    rho = np.r_[rng.uniform(1.0, 4.0, 3), rng.uniform(1.0, 4.0, 7)[TIED[program.deviating]]]
    return V - V.mean(axis=0), U - U.mean(axis=0), y, rho


def test_all_that_a_solver_asks_equals_the_program_with_all_rows_written_down():
    tied, plain = programs()
    V, U, y, rho = somewhere(tied)
    assert tied.unit == plain.unit
    np.testing.assert_allclose(tied.residual(V), plain.residual(V), atol=1e-12)
    np.testing.assert_allclose(tied.violation(V), plain.violation(V), atol=1e-12)
    np.testing.assert_allclose(tied.laplacian(y).toarray(), plain.laplacian(y).toarray(), atol=1e-12)
    np.testing.assert_allclose([tied.value(V), tied.dual_value(y)], [plain.value(V), plain.dual_value(y)])
    one, other = tied.augmented(V, y, rho), plain.augmented(V, y, rho)
    np.testing.assert_allclose(one.value, other.value)
    np.testing.assert_allclose(one.multipliers, other.multipliers, atol=1e-12)
    np.testing.assert_allclose(one.gradient, other.gradient, atol=1e-11)
    np.testing.assert_allclose(one.product(U), other.product(U), atol=1e-11)


def test_preconditioners_are_those_of_the_program_with_all_rows_but_for_the_floor():
    tied, plain = programs()
    V, _, y, rho = somewhere(tied)
    one, other = tied.augmented(V, y, rho), plain.augmented(V, y, rho)
    rows = [
        point.curvature(2)[0].toarray() - np.kron(point.curvature(2)[1].toarray(), np.eye(2)) for point in (one, other)
    ]
    np.testing.assert_allclose(rows[0], rows[1], atol=1e-10)
    for matrix in one.curvature(3):
        assert np.linalg.eigvalsh(matrix.toarray())[0] > 0


def test_gradient_and_hessian_are_those_of_finite_differences():
    tied, _ = programs()
    V, U, y, rho = somewhere(tied)
    step = 1e-6
    ahead, behind = (tied.augmented(V + s * U, y, rho) for s in (step, -step))
    point = tied.augmented(V, y, rho)
    np.testing.assert_allclose((ahead.value - behind.value) / (2 * step), np.vdot(point.gradient, U), rtol=1e-6)
    np.testing.assert_allclose(point.product(U), (ahead.gradient - behind.gradient) / (2 * step), rtol=1e-5, atol=1e-5)


def test_turning_the_axes_changes_neither_value_nor_slopes():
    tied, _ = programs()
    V, _, y, rho = somewhere(tied)
    R = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    point = tied.augmented(V, y, rho)
    assert point.gradient.shape == V.shape
    np.testing.assert_allclose(point.turned(R).gradient, tied.augmented(V @ R, y, rho).gradient, atol=1e-11)


def test_multipliers_of_weights_give_the_weights_where_every_class_is_bounded():
    tied = tied_program([0, 1, 0], 3, classes=[0, 1], bounds=[1.0, 4.0], reach=[1.0, 4.0])
    w = np.array([0.3, 2.0, 0.9])
    np.testing.assert_allclose(tied.spread(tied.multipliers_of(w)), w)


@pytest.mark.parametrize(("classes", "pieces"), [([0], 1), ([1], 2)])
def test_pieces_are_what_bounded_classes_do_not_tie(classes, pieces):
    assert tied_program([0, 1, 0], 3, classes=classes, bounds=[1.0], reach=[1.0, 4.0]).n_pieces == pieces
