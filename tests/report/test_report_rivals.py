"""Errors beside those of simple rivals, and filters read from parameters."""

import numpy as np
import pytest

from sidelight.gated import GatedAutoencoder, GatedBoltzmannMachine
from sidelight.report._examples import examples_of
from sidelight.report._filters import three_way
from sidelight.report._rivals import errors_of


class Constant:
    """Predicts the same for every row."""

    def predict(self, X):
        return np.full((len(X), 3), 2.0)


class Zero:
    """A field that predicts nothing anywhere."""

    n_channels_in_, patch_size = 1, 3

    def __init__(self, structure):
        self.structure = structure

    def predict(self, X):
        return [np.zeros_like(x) for x in X]


def test_errors_are_those_of_rows_that_rivals_did_not_see():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    Y = X @ rng.normal(size=(3, 3)) + 1.0
    examples = examples_of(Constant(), X, Y, None, embedded=False)
    learn, held = examples.halves
    assert not set(learn) & set(held)
    assert len(learn) == len(held) == 100
    found = errors_of(examples)
    assert found.errors["this model"] == pytest.approx(((Y[held] - 2) ** 2).mean())
    assert found.errors["copying the input"] == pytest.approx(((Y - X)[held] ** 2).mean())
    assert found.errors["linear regression"] < 1e-6
    assert found.spread == pytest.approx(Y[held].var(axis=0).mean())


def test_linear_regression_does_not_learn_noise():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(120, 80)), rng.normal(size=(120, 3))
    found = errors_of(examples_of(Constant(), X, Y, None, embedded=False))
    assert found.errors["linear regression"] < 1.3 * found.spread


@pytest.mark.parametrize("structure", ["sequence", "grid"])
def test_a_linear_filter_within_a_patchs_reach_is_found(structure):
    rng = np.random.default_rng(0)
    shapes = [(400,)] if structure == "sequence" else [(30, 21), (25, 33)]
    X = [rng.normal(size=shape) for shape in shapes]
    Y = [x[np.maximum(np.arange(len(x)) - 2, 0)] for x in X]
    found = errors_of(examples_of(Zero(structure), X, Y, None, embedded=False))
    late = np.concatenate([y[len(y) // 2 :].ravel() for y in Y])
    assert found.errors["this model"] == pytest.approx((late**2).mean())
    assert found.errors["linear filter"] < 1e-6
    assert found.errors["copying the input"] > 1.0


@pytest.mark.parametrize("n_factors", [None, 5])
@pytest.mark.parametrize("kind", [GatedBoltzmannMachine, GatedAutoencoder])
def test_filters_of_an_input_are_what_each_mapping_unit_adds_to_its_output(kind, n_factors):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(60, 3))
    options = {"optimizer": "adam", "max_iter": 30, "random_state": 0}
    model = kind(3, n_factors=n_factors, **options).fit(X, Y)
    gated = three_way(model.parameters_)
    inside = model.input_frame_.inside(X[0])
    alone = model.apply(X[[0, 0, 0]], np.eye(3)) - model.apply(X[[0, 0, 0]], np.zeros((3, 3)))
    np.testing.assert_allclose(gated.of_input(inside) * model.output_frame_.scale, alone, rtol=1e-4, atol=1e-6)
    by_unit = np.stack([inside @ gated.of_unit(k) for k in range(3)])
    np.testing.assert_allclose(by_unit + gated.common.T, gated.of_input(inside), atol=1e-9)
    np.testing.assert_allclose(gated.sizes, [np.linalg.norm(gated.of_unit(k)) for k in range(3)], rtol=1e-6)
