"""The objective of known distances: gradient, naive value, and the semidefinite program as an oracle."""

from __future__ import annotations

import numpy as np
import pytest
from oracle import solved_by

from sidelight.objectives.partial_distances import PartialDistances
from sidelight.solvers.lbfgs import minimise

RNG = np.random.default_rng(3)
T = RNG.normal(size=(20, 5)) * np.array([3.0, 2.0, 1.0, 0.5, 0.1])
INDEX = np.array([[0, 1], [2, 3], [4, 9], [5, 6], [0, 7], [8, 19], [10, 3], [11, 12]])
SQUARES = RNG.uniform(0.5, 4.0, len(INDEX))
SCALE = np.array([0.3, 0.5, 1.0, 2.0, 5.0])


def problem(prior):
    return PartialDistances(T, INDEX, SQUARES, prior=prior, scale=SCALE)


def naive(A, prior, strength):
    D = T[INDEX[:, 0]] - T[INDEX[:, 1]]
    lengths = (D**2).sum(axis=1)
    misfit = ((np.array([v @ A @ v for v in D]) - SQUARES) ** 2).sum() / (SQUARES**2).sum()
    if prior == "trace":
        return misfit + strength * np.trace(A) * lengths.mean() / 5 / SQUARES.mean()
    c = (lengths @ SQUARES) / (lengths @ lengths)
    return misfit + strength * ((A / c - np.eye(5)) ** 2).sum() / 5


@pytest.mark.parametrize("prior", ["trace", "identity"])
def test_value_is_that_of_the_formula(prior):
    F = RNG.normal(size=(5, 3))
    W = problem(prior).factor(F)
    assert problem(prior).value_and_grad(F, 0.2)[0] == pytest.approx(naive(W @ W.T, prior, 0.2), rel=1e-12)


@pytest.mark.parametrize("prior", ["trace", "identity"])
def test_gradient_agrees_with_finite_differences(prior):
    F = RNG.normal(size=(5, 3))
    _, gradient, terms = problem(prior).value_and_grad(F, 0.2)
    for place in np.ndindex(F.shape):
        step = np.zeros_like(F)
        step[place] = 1e-6
        up, down = (problem(prior).value_and_grad(F + sign * step, 0.2)[0] for sign in (1, -1))
        assert (up - down) / 2e-6 == pytest.approx(gradient[place], rel=1e-5, abs=1e-6 * np.abs(gradient).max())
    assert set(terms) == {"misfit", "prior"}


@pytest.mark.parametrize("prior", ["trace", "identity"])
@pytest.mark.parametrize("strength", [1e-3, 0.1])
def test_the_factor_finds_the_minimum_of_the_semidefinite_program(prior, strength):
    cvxpy = pytest.importorskip("cvxpy", reason="the oracle is an SDP solver")
    A = cvxpy.Variable((5, 5), PSD=True)
    D = T[INDEX[:, 0]] - T[INDEX[:, 1]]
    lengths = (D**2).sum(axis=1)
    fitted = cvxpy.sum(cvxpy.multiply(D @ A, D), axis=1)
    misfit = cvxpy.sum_squares(fitted - SQUARES) / (SQUARES @ SQUARES)
    c = (lengths @ SQUARES) / (lengths @ lengths)
    priors = {
        "trace": cvxpy.trace(A) * lengths.mean() / 5 / SQUARES.mean(),
        "identity": cvxpy.sum_squares(A / c - np.eye(5)) / 5,
    }
    solver = solved_by(cvxpy.Problem(cvxpy.Minimize(misfit + strength * priors[prior])))
    values, vectors = np.linalg.eigh(A.value)
    oracle = naive((vectors * np.maximum(values, 0)) @ vectors.T, prior, strength)
    one = problem(prior)
    found = minimise(lambda F: one.value_and_grad(F, strength), one.start(5), max_iter=5000, tolerance=1e-15)
    assert found.value <= oracle + 1e-9, f"the oracle is {solver}"


def test_the_start_of_a_planted_rank_one_metric_points_along_it():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 8))
    index = rng.integers(0, 300, size=(2000, 2))
    index = index[index[:, 0] != index[:, 1]]
    v = np.eye(8)[2]
    one = PartialDistances(
        rows, index, ((rows[index[:, 0]] - rows[index[:, 1]]) @ v) ** 2, prior="trace", scale=np.ones(8)
    )
    F = one.start(1)[:, 0]
    assert abs(F @ v) / np.linalg.norm(F) > 0.9  # a direction at random: 0.35


def test_a_wide_problem_starts_from_the_same_directions_by_either_solver(monkeypatch):
    rng = np.random.default_rng(0)
    rows, index = rng.normal(size=(40, 30)), np.arange(40).reshape(20, 2)
    one = PartialDistances(rows, index, rng.uniform(1, 2, 20), prior="trace", scale=np.ones(30))
    dense = one.start(3)
    monkeypatch.setattr("sidelight.objectives.partial_distances._DENSE", 0)
    sparse = one.start(3)
    np.testing.assert_allclose(np.abs(sparse), np.abs(dense), atol=1e-4 * np.abs(dense).max())


def test_distances_of_zero_shrink_the_metric_to_nothing():
    one = PartialDistances(T, INDEX, np.zeros(len(INDEX)), prior="trace", scale=SCALE)
    found = minimise(lambda F: one.value_and_grad(F, 1e-3), one.start(3))
    assert np.abs(one.factor(found.point)).max() < 1e-3
