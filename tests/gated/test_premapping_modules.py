"""Premappings that are torch modules of the user's: trained copies, the same result for a seed, refused by files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import nn

import sidelight
from sidelight.gated import GatedAutoencoder, GatedBoltzmannMachine, GatedField

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
Y = np.roll(X, 1, axis=1)


def network(*more):
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(6, 5), nn.Tanh(), *more, nn.Linear(5, 3))


def machine(module, **options):
    return GatedBoltzmannMachine(3, premapping=module, **{"max_iter": 20, "random_state": 0, **options})


def same(one, other):
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name])


def test_clones_copies_and_pickles_have_the_same_weights():
    model = machine(network()).fit(X, Y)
    same(clone(model).fit(X, Y).parameters_, model.parameters_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.infer(X, Y), model.infer(X, Y))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("more", [(nn.Dropout(0.5),), (nn.BatchNorm1d(5),)], ids=["dropout", "batch norm"])
def test_the_seed_decides_whatever_a_module_draws(more):
    torch.manual_seed(5)
    first = machine(network(*more), validation_fraction=0.2).fit(X, Y)
    torch.manual_seed(6)
    state = torch.get_rng_state()
    second = machine(network(*more), validation_fraction=0.2)
    torch.set_rng_state(state)
    second.fit(X, Y)
    assert torch.equal(torch.get_rng_state(), state)
    same(first.parameters_, second.parameters_)
    np.testing.assert_array_equal(first.infer(X, Y), first.infer(X, Y))


def test_training_goes_on_and_fixed_parameters_stay():
    module = network()
    module[0].requires_grad_(False)
    fixed = module[0].weight.detach().numpy().copy()
    model = machine(module).partial_fit(X, Y)
    first = model.parameters_["premapping.2.weight"].copy()
    loaded = pickle.loads(pickle.dumps(model)).partial_fit(X, Y)
    for trained in (model.partial_fit(X, Y), loaded):
        np.testing.assert_array_equal(trained.parameters_["premapping.0.weight"], fixed)
        assert np.abs(trained.parameters_["premapping.2.weight"] - first).max() > 0
    model.set_params(premapping=nn.Linear(6, 3))
    with pytest.raises(ValueError, match=r"premapping=.* is not that of the fit"):
        model.partial_fit(X, Y)


@pytest.mark.parametrize("module", [nn.Linear(4, 3), nn.Flatten(0), nn.LSTM(6, 3)])
def test_a_module_that_does_not_take_rows_is_refused(module):
    for model in (machine(module), GatedAutoencoder(3, premapping=module)):
        with pytest.raises(ValueError, match=r"premapping=\w+ is not a module that takes rows of 6 columns"):
            model.fit(X, Y)
        assert not hasattr(model, "parameters_")


def test_a_model_file_refuses_a_module_and_says_what_to_do(tmp_path):
    model = machine(network(), max_iter=2).fit(X, Y)
    with pytest.raises(
        TypeError, match=r"premapping=.*Sequential.* is a torch module, and a model file never .* Pickle"
    ):
        sidelight.save(model, tmp_path / "model.sidelight")
    assert not list(tmp_path.iterdir())


def test_flow_and_cost_know_of_a_module():
    model = machine(network(), max_iter=2).fit(X, Y)
    with pytest.raises(ValueError, match="premapping=Sequential mixes the input columns"):
        model.flow(X, Y)
    assert model.estimate_cost(60, 6).bytes < GatedBoltzmannMachine(3, max_iter=2).estimate_cost(60, 6).bytes


def test_a_field_takes_a_module_of_its_patches():
    pictures = RNG.normal(size=(4, 7, 7))
    field = GatedField(machine(nn.Linear(9, 4), max_iter=3, batch_size=4), patch_size=3)
    field.fit(pictures, np.roll(pictures, 1, axis=2))
    assert field.parameters_["premapping.weight"].shape == (4, 9)
    field.partial_fit(pictures, np.roll(pictures, 1, axis=2))
    assert field.n_iter_ == 4


def test_noise_of_outputs_that_are_not_gaussian_is_refused():
    with pytest.raises(ValueError, match=r"noise=0.5 is the standard deviation of Gaussian outputs"):
        GatedBoltzmannMachine(2, visible="binary", noise=0.5).fit((X > 0).astype(float), (Y > 0).astype(float))
