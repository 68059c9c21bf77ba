"""Held rows: they stay where ``init`` has them, the gradient is that of the others, and bad values get a sentence."""

import numpy as np
import pytest

from sidelight import Annealing, KernelInformationEmbedding, datasets
from sidelight.solvers.held import HeldRows
from sidelight.solvers.lbfgs import minimise

ROWS = datasets.s_curve(60, random_state=0).X


@pytest.fixture(scope="module")
def places():
    return KernelInformationEmbedding(max_iter=20, tol=1e-3).fit(ROWS).embedding_


def test_the_gradient_is_that_of_the_rows_that_move_by_finite_differences():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(6, 6))

    def quartic(Z):
        D = A @ Z
        return float((D**4).sum()), 4 * A.T @ D**3, {}

    held = HeldRows.of(np.array([True, False, False, True, False, False]))
    Z = rng.normal(size=(6, 2))
    _, gradient, _ = held.objective(quartic)(Z)
    for row in range(6):
        for axis in range(2):
            step = np.zeros_like(Z)
            step[row, axis] = 1e-6
            slope = (quartic(Z + step)[0] - quartic(Z - step)[0]) / 2e-6
            np.testing.assert_allclose(gradient[row, axis], 0.0 if row in (0, 3) else slope, rtol=1e-5, atol=1e-6)
    inverse = held.inverse(lambda G: A.T @ A @ G)
    found = minimise(held.objective(quartic), Z, precondition=inverse)
    assert found.point[[0, 3]].tobytes() == Z[[0, 3]].tobytes()
    assert found.value < quartic(Z)[0]
    assert HeldRows.of(np.zeros(3, dtype=bool)) is None


@pytest.mark.parametrize("solver", ["annealed", "multilevel"])
@pytest.mark.parametrize("given", [False, pytest.param(True, marks=pytest.mark.thorough)])
def test_held_rows_keep_their_places_and_the_others_move(places, solver, given):
    start = places.copy()
    start[:5] += [0.0, 4.0 * places.std()]
    known = {"given": np.arange(60) % 2} if given else {}
    model = KernelInformationEmbedding(init=start, solver=solver, max_iter=15, tol=1e-3, conditioning="balanced")
    Z = model.fit(ROWS, held=range(5), **known).embedding_
    np.testing.assert_allclose(Z[:5] - Z[0], start[:5] - start[0], atol=1e-9)
    moved = np.abs((Z[5:] - Z[0]) - (start[5:] - start[0])).max()
    assert moved > 0.01 * places.std()
    mask = np.arange(60) < 5
    assert model.fit_transform(ROWS, held=mask, **known).tobytes() == Z.tobytes()
    np.testing.assert_allclose(model.transform(ROWS[:5], **({"given": known["given"][:5]} if given else {})), Z[:5])


@pytest.mark.parametrize(
    ("options", "held", "rule"),
    [
        ({}, [0], "needs the positions of the held rows"),
        ({"init": "places"}, [60], "is neither a mask of the 60 rows"),
        ({"init": "places"}, [0.5], "is neither a mask"),
        ({"init": "places"}, np.ones(59, dtype=bool), "is neither a mask"),
        ({"init": "places", "bandwidth": "learned"}, [0], "bandwidth that is not learned"),
        ({"init": "places", "penalty": "l2", "regularization": Annealing(0.01, limit=1.0)}, [0], "with a penalty"),
    ],
)
def test_held_rows_that_mean_nothing_are_refused(places, options, held, rule):
    own = {name: places if isinstance(value, str) and value == "places" else value for name, value in options.items()}
    with pytest.raises(ValueError, match=rule):
        KernelInformationEmbedding(max_iter=2, **own).fit(ROWS, held=held)
