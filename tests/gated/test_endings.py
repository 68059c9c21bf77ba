"""Training that ends by itself (``max_iter=None``): when, with which weight decay, and what a given one keeps."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA

import sidelight
from sidelight.base.result import Status
from sidelight.gated import (
    Autoencoder,
    BiasedAutoencoder,
    GatedAutoencoder,
    GatedBoltzmannMachine,
    GatedField,
    Manifield,
    RestrictedBoltzmannMachine,
)
from sidelight.gated._field_reader import FieldLayout
from sidelight.gated._fields import as_fields
from sidelight.gated._machines import GatedMachine, PlainMachine
from sidelight.gated._objectives import Sampling
from sidelight.gated._patches import Patches
from sidelight.gated._site_product import SiteProduct
from sidelight.gated._training import Schedule, train
from sidelight.gated._units import units

PUBLISHED = {"weight_decay": 0.0, "batch_size": 100, "validation_fraction": 0.0, "patience": 5}


def rows(n=200, d=6, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.1 * rng.normal(size=(n, d))


def pairs(n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(rng.integers(2, size=(n, 1)), np.roll(X, 1, axis=1), X)


def waves(n=300, seed=0):
    clean = np.sin(np.arange(n) / 5)
    return clean + 0.3 * np.random.default_rng(seed).normal(size=n), clean


def same(first, second):
    return all(np.array_equal(first.parameters_[name], second.parameters_[name]) for name in first.parameters_)


FITS = {
    "rbm": lambda **o: RestrictedBoltzmannMachine(4, **o).fit(rows()),
    "gbm": lambda **o: GatedBoltzmannMachine(3, **o).fit(*pairs()),
    "autoencoder": lambda **o: Autoencoder(2, hidden=(4,), optimizer="adam", **o).fit(rows()),
    "biased": lambda **o: BiasedAutoencoder(2, predictor=(4,), **o).fit(*pairs()),
    "gated": lambda **o: GatedAutoencoder(2, optimizer="adam", **o).fit(*pairs()),
    "manifield": lambda **o: Manifield(BiasedAutoencoder(2, predictor=(4,), **o), 5).fit(*([w] for w in waves())),
    "field": lambda **o: GatedField(GatedBoltzmannMachine(2, **o), 3).fit(
        list(np.ones((1, 30, 8)) * waves(30)[0][:, None]), list(np.ones((1, 30, 8)))
    ),
}
SLOW = ("gbm", "gated", "field", "manifield")
RATES = {"rbm": 0.01, "gbm": 0.01, "field": 0.01}


# the rule


def train_with(losses, **options):
    """A run whose validation losses are given."""
    module, found = torch.nn.Linear(1, 1), iter(losses)
    schedule = Schedule(max_iter=1000, patience=2, check=10, ends_by_itself=True, **options)
    return train(
        module,
        lambda part, g: module.weight.sum() * 0,
        lambda done: itertools.repeat(()),
        schedule,
        held_out=lambda: next(found),
    )


def test_the_rate_falls_once_held_out_rows_improve_no_more_and_training_ends_half_as_long_after():
    found = train_with([5.0, 4.0, 3.99, 3.98, 3.97, 3.96, 3.95])  # looks at 10, 20, ...: the rate falls from 40 to 60
    assert (found.n_iter, found.status) == (60, Status.CONVERGED)
    assert found.held_out == 3.96


def test_training_ends_at_once_when_a_falling_rate_does_not_help():
    assert train_with([5.0, 4.0, 4.1, 4.2, *[4.3] * 9]).n_iter == 60
    assert train_with([*np.linspace(9, 5, 10), 6.0, 6.0, *[6.0] * 9]).n_iter == 140


def test_held_out_rows_that_always_improve_end_at_the_most_updates_without_a_warning():
    found = train_with(0.9 ** np.arange(200))
    assert (found.n_iter, found.status) == (1000, Status.CONVERGED)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.thorough] if name in SLOW else []) for name in FITS]
)
def test_a_fit_ends_by_itself_without_a_warning(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = FITS[name]()
    assert 0 < model.n_iter_ <= 3000
    assert model.weight_decay_ >= 0


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["rbm", "gbm", "biased", "manifield"])
def test_a_seed_decides_the_end_whatever_the_number_of_threads(name):
    found = []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(FITS[name]())
    assert same(*found)
    assert found[0].n_iter_ == found[1].n_iter_


@pytest.mark.parametrize("name", FITS)
def test_a_given_number_of_updates_keeps_the_settings_of_earlier_versions(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some do not converge in so few
        few = FITS[name](max_iter=12)
        assert same(few, FITS[name](max_iter=12, learning_rate=RATES.get(name, 0.001), **PUBLISHED))
    assert few.n_iter_ <= 12


def test_rows_that_are_too_few_to_hold_some_out_are_all_trained_on():
    model = RestrictedBoltzmannMachine(2).fit(rows(20))
    assert model.n_iter_ == 500
    assert model.history_[-1]["terms"] == {}


@pytest.mark.thorough
def test_a_run_that_ends_by_itself_is_taken_up_from_its_checkpoint_to_the_bit(tmp_path):
    class CutOffError(Exception):
        pass

    def cut(state):
        if state.iteration >= 70:
            raise CutOffError

    whole = RestrictedBoltzmannMachine(4).fit(rows())
    assert whole.n_iter_ > 80
    with pytest.raises(CutOffError):
        RestrictedBoltzmannMachine(4, checkpoint=tmp_path / "c", callback=cut).fit(rows())
    again = RestrictedBoltzmannMachine(4, checkpoint=tmp_path / "c").fit(rows())
    assert again.n_iter_ == whole.n_iter_
    assert same(again, whole)


def test_held_out_rows_are_looked_at_more_often_where_rows_are_few():
    settings = RestrictedBoltzmannMachine(4)._settings()
    assert [settings.schedule(0, n_rows=n).check for n in (999, 1000, None)] == [20, 50, 50]
    assert GatedBoltzmannMachine(4)._settings().schedule(0, n_rows=100).check == 50
    assert RestrictedBoltzmannMachine(4, max_iter=9)._settings().schedule(0, n_rows=100).check == 100


def test_a_checkpoint_with_two_groups_of_parameters_is_taken_up(tmp_path):
    """Checkpoints of earlier versions have two groups, also where nothing decays."""
    path = tmp_path / "c"
    options = {"max_iter": 30, "weight_decay": 0.0, "random_state": 0}
    RestrictedBoltzmannMachine(4, **(options | {"max_iter": 20}), checkpoint=path).fit(rows())
    content = torch.load(path, weights_only=False)
    (group,) = content["optimizer"]["param_groups"]
    content["optimizer"]["param_groups"] = [group | {"params": [0]}, group | {"params": [1, 2]}]
    torch.save(content, path)
    resumed = RestrictedBoltzmannMachine(4, **options, checkpoint=path).fit(rows())
    assert resumed.n_iter_ == 30
    assert [len(p) for p in (group["params"], resumed.history_)] == [3, 30]


def test_the_chosen_weight_decay_is_kept_in_the_file(tmp_path):
    model = FITS["biased"]()
    assert model.weight_decay_ in (1e-2, 1e-3, 1e-4, 1e-5)
    assert FITS["biased"](weight_decay=0.5).weight_decay_ == 0.5
    sidelight.save(model, tmp_path / "m")
    assert sidelight.load(tmp_path / "m").weight_decay_ == model.weight_decay_


# closed forms


@pytest.mark.parametrize("visible", ["binary", "gaussian", "poisson", "multinomial"])
@pytest.mark.parametrize("kind", ["plain", "gated", "gated, few biases"])
def test_gradients_in_closed_form_are_those_of_back_propagation(visible, kind):
    torch.manual_seed(0)
    biases = ("xy", "z") if "few" in kind else ("xy", "xz", "yz", "y", "z")
    hidden = units("binary", 3)
    plain = kind == "plain"
    module = (
        PlainMachine(units(visible, 4), hidden) if plain else GatedMachine(5, units(visible, 4), hidden, biases=biases)
    )
    module = module.double()
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    x = torch.randn(20, 5, dtype=torch.float64)
    y = units(visible, 4).double().sample(torch.randn(20, 4, dtype=torch.float64))
    sampling = Sampling(1, "sampled", False)
    inputs = () if plain else (x,)
    value = sampling.contrast(module.condition(*inputs), y, torch.Generator().manual_seed(1), None)
    value.backward()
    wanted = {name: p.grad.clone() for name, p in module.named_parameters()}
    found = sampling.gradients(module, y, torch.Generator().manual_seed(1), *inputs)
    torch.testing.assert_close(found, value.detach())
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name])


def test_gradients_of_a_field_in_closed_form_are_those_of_back_propagation():
    torch.manual_seed(0)
    module = GatedMachine(4, units("gaussian", 4), units("binary", 3), size=0.3).double()
    x, y = torch.randn(2, 3, 1, 5, 5, dtype=torch.float64)
    product = SiteProduct(module, Patches(2, 2))
    product.contrast(x, y, steps=1, mean_field=True).backward()
    wanted = {name: p.grad.clone() for name, p in module.named_parameters()}
    assert product.gradients(x, y, steps=1, mean_field=True, valued=False) is None
    for name, parameter in module.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name])


@pytest.mark.parametrize("options", [{}, {"tied": True}])
def test_a_linear_autoencoder_is_pca_without_training(options):
    X = rows()
    model, pca = Autoencoder(3, **options).fit(X), PCA(3).fit(X)
    np.testing.assert_allclose(model.denoise(X), pca.inverse_transform(pca.transform(X)), atol=1e-4)
    assert model.n_iter_ == 1
    wide = rows(4, 9)
    np.testing.assert_allclose(Autoencoder(5, **options).fit(wide).denoise(wide), wide, atol=1e-5)


# the search of a field


@pytest.mark.thorough
def test_a_manifield_takes_the_linear_filter_where_no_network_is_better():
    rng = np.random.default_rng(0)
    clean = np.convolve(rng.normal(size=330), np.exp(-0.5 * (np.arange(-10, 11) / 4) ** 2), "valid")[:300]
    model = Manifield(patch_size=5).fit([clean / clean.std() + 0.3 * rng.normal(size=300)], [clean / clean.std()])
    assert model.model_.predictor == ()
    assert [record["network"] for record in model.search_] == ["linear", *["network"] * 4]
    assert model.alone_ == model.search_[0]["alone"] == 0.1


def test_what_is_given_is_not_searched():
    x, y = waves(200)
    network = BiasedAutoencoder(2, predictor=(4,), weight_decay=1e-2)
    model = Manifield(network, 5, alone=0.3).fit([x], [y])
    assert [(record["alone"], record["weight_decay"]) for record in model.search_] == [(0.3, 1e-2)]
    assert (model.alone_, model.weight_decay_) == (0.3, 1e-2)


def test_an_interrupted_search_keeps_the_best_so_far():
    x, y = waves(200)

    def interrupt(state):
        calls.append(state)
        if len(calls) > 100:
            raise KeyboardInterrupt

    calls: list[object] = []
    model = Manifield(BiasedAutoencoder(2, predictor=(4,), callback=interrupt), 5)
    with pytest.raises(KeyboardInterrupt):
        model.fit([x], [y])
    assert 0 < len(model.search_) < 5
    assert model.predict([x])[0].shape == x.shape
    calls.clear()
    model = Manifield(BiasedAutoencoder(2, predictor=(4,), callback=lambda state: True), 5).fit([x], [y])
    assert len(model.search_) == 1


def test_held_out_blocks_come_from_all_over_a_sample_and_are_not_trained_on():
    layout = FieldLayout(5, 1, 1, "sequence", residual=False)
    fields = [as_fields("test", "X", [np.arange(400.0), np.arange(1000.0, 1030.0)], "sequence")]
    (seen,), held = layout.split_blocks(fields)
    out = held[0].sites().ravel()
    assert 0.15 < len(out) / 400 < 0.25
    assert out.min() < 100
    assert out.max() > 300
    assert not set(out) & set(seen.sites().ravel())
    assert set(range(1000, 1030)) <= set(seen.sites().ravel())
    short = [as_fields("test", "X", list(np.arange(60.0).reshape(6, 10)), "sequence")]
    (_, held) = layout.split_blocks(short)
    np.testing.assert_array_equal(held[0].sites().ravel(), np.arange(20.0, 30.0))
    assert layout.split_blocks([as_fields("test", "X", [np.arange(40.0)], "sequence")])[1] is None


# cost


MODELS = {
    "rbm": RestrictedBoltzmannMachine,
    "gbm": GatedBoltzmannMachine,
    "autoencoder": lambda **o: Autoencoder(hidden=(10,), **o),
    "linear": Autoencoder,
    "biased": BiasedAutoencoder,
    "gated": GatedAutoencoder,
    "manifield": lambda **o: Manifield(BiasedAutoencoder(**o)),
    "field": lambda **o: GatedField(GatedBoltzmannMachine(**o)),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_model_estimates_its_cost(name):
    small, large = MODELS[name]().estimate_cost(200, 4), MODELS[name]().estimate_cost(100_000, 8)
    assert 0 < small.bytes < large.bytes
    assert small.seconds > 0
    assert name == "linear" or MODELS[name](max_iter=10).estimate_cost(10**5, 8).seconds < large.seconds
    huge = MODELS[name]().estimate_cost(10**7, 10**4)
    assert huge.bytes > 10**10  # without allocating the network


def test_the_cost_of_a_search_counts_its_fits():
    whole = Manifield().estimate_cost(1000, 1)
    one = Manifield(BiasedAutoencoder(weight_decay=1e-3), alone=0.5).estimate_cost(1000, 1)
    assert whole.seconds == pytest.approx(3 * one.seconds)  # a filter, four networks, the best again; one, and again
