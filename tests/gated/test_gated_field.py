"""One gated machine at every site: a single site is the machine itself, and sites do not know where they are."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import sidelight
from sidelight.gated import GatedBoltzmannMachine, GatedField
from sidelight.gated._divergence import contrast
from sidelight.gated._machines import GatedMachine
from sidelight.gated._patches import Patches, bands
from sidelight.gated._site_product import SiteProduct
from sidelight.gated._units import units

TINY = {"max_iter": 30, "batch_size": 5, "random_state": 0}


def pictures(n=2, height=12, width=14, seed=0):
    return np.random.default_rng(seed).normal(size=(n, height, width))


def moved(X):
    """Each picture one site to the right or to the left."""
    return np.stack([np.roll(x, 1 if i % 2 == 0 else -1, axis=1) for i, x in enumerate(X)])


def product(kind="gaussian", patches=None, seed=0):
    patches = patches or Patches(3, 3)
    area = patches.height * patches.width
    torch.manual_seed(seed)
    machine = GatedMachine(area, units(kind, area), units("binary", 4), size=0.3).double().requires_grad_(False)
    for parameter in machine.parameters():
        parameter.copy_(0.3 * torch.randn(parameter.shape))
    return SiteProduct(machine, patches)


def field(seed, height=9, width=10, kind="gaussian"):
    made = torch.randn(1, 1, height, width, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return made if kind == "gaussian" else (made > 0).double()


@pytest.mark.parametrize("kind", ["gaussian", "binary"])
def test_one_site_is_the_machine(kind):
    one = product(kind)
    x, y = field(1, 3, 3, kind), field(2, 3, 3, kind)
    conditioned = one.machine.condition(x.reshape(1, -1))
    codes = conditioned.hidden.mean(conditioned.hidden_parameters(y.reshape(1, -1)))
    torch.testing.assert_close(one.infer(x, y), codes)
    expected = conditioned.visible.mean(conditioned.visible_parameters(codes)).reshape(y.shape)
    torch.testing.assert_close(one.apply(x, codes), expected)
    torch.testing.assert_close(one.step(x, y, mean_field=True), expected)


@pytest.mark.parametrize("kind", ["gaussian", "binary"])
def test_the_gradient_of_one_site_is_that_of_the_machine(kind):
    one = product(kind)
    one.machine.requires_grad_(True)
    x, y = torch.cat([field(s, 3, 3, kind) for s in range(6)]), torch.cat([field(s, 3, 3, kind) for s in range(6, 12)])
    options = {"steps": 2, "mean_field": True}
    one.contrast(x, y, **options).backward()
    found = [p.grad.clone() for p in one.machine.parameters()]
    one.machine.zero_grad()
    contrast(one.machine.condition(x.reshape(6, -1)), y.reshape(6, -1), **options)[0].backward()
    for ours, theirs in zip(found, (p.grad for p in one.machine.parameters()), strict=True):
        torch.testing.assert_close(ours, theirs)


def slow_mean(site, x, z, kind):
    """The product of the patches' densities, written out site by site."""
    height, width = x.shape[2:]
    total, counts, number = torch.zeros(height, width).double(), torch.zeros(height, width).double(), 0
    for i in range(0, height - 2, site.patches.stride):
        for j in range(0, width - 2, site.patches.stride):
            machine = site.machine.condition(x[0, 0, i : i + 3, j : j + 3].reshape(1, -1))
            total[i : i + 3, j : j + 3] += machine.visible_parameters(z[number : number + 1]).reshape(3, 3)
            counts[i : i + 3, j : j + 3] += 1
            number += 1
    return torch.sigmoid(total) if kind == "binary" else total / counts


@pytest.mark.parametrize("kind", ["gaussian", "binary"])
@pytest.mark.parametrize("stride", [1, 2])
def test_overlapping_outputs_are_the_product_of_the_patches(kind, stride):
    site = product(kind, Patches(3, 3, stride))
    x = field(1, 9, 11, kind)
    z = torch.rand(np.prod(site.patches.places(x)), 4).double()
    torch.testing.assert_close(site.apply(x, z)[0, 0], slow_mean(site, x, z, kind))


@pytest.mark.thorough
def test_samples_have_the_mean_and_variance_of_the_product():
    site = product()
    x = field(1)
    total = site._empty(x) + 1.0
    generator = torch.Generator().manual_seed(0)
    draws = torch.cat([site._outputs(total, False, generator) for _ in range(4000)])
    counts = site.patches.counts((9, 10), x)[0, 0]
    torch.testing.assert_close(draws.mean(0)[0], 1 / counts, atol=0.07, rtol=0)
    torch.testing.assert_close(draws.var(0)[0] * counts, torch.ones(9, 10).double(), atol=0.12, rtol=0)


def test_bands_do_not_change_what_comes_out(monkeypatch):
    site = product(patches=Patches(3, 3, 2))
    x, y = field(1, 21, 11), field(2, 21, 11)
    whole = site.infer(x, y), site.step(x, y, mean_field=True)
    monkeypatch.setattr("sidelight.gated._site_product._FILTERS", 1)
    assert len(site._spans(x)) == 10
    torch.testing.assert_close(site.infer(x, y), whole[0])
    torch.testing.assert_close(site.step(x, y, mean_field=True), whole[1])
    torch.testing.assert_close(site.apply(x, whole[0]), whole[1])


def test_bands_with_a_stride_hold_every_patch_once():
    for height, thickness, stride in ((21, 3, 2), (20, 1, 3), (9, 50, 1)):
        starts = [row for begin, end in bands(height, 5, thickness, stride) for row in range(begin, end - 4, stride)]
        assert starts == list(range(0, height - 4, stride))


@pytest.fixture(scope="module")
def fitted():
    X = pictures(4, 30, 30)
    model = GatedBoltzmannMachine(8, learning_rate=0.03, batch_size=10, max_iter=250, random_state=0)
    return GatedField(model, patch_size=5).fit(X, moved(X))


@pytest.mark.thorough
def test_shifted_pictures_give_shifted_answers_inside(fitted):
    X = pictures(1, 24, 26, seed=3)
    Y = moved(X)
    there = fitted.reconstruct(X, Y)
    shifted = fitted.reconstruct(X[:, 2:, 3:], Y[:, 2:, 3:])
    inside = (slice(None), slice(4, -4), slice(4, -4))
    np.testing.assert_allclose(shifted[inside], there[:, 2:, 3:][inside], rtol=1e-9, atol=1e-9)
    codes = fitted.infer(X, Y)
    np.testing.assert_allclose(fitted.infer(X[:, 2:, 3:], Y[:, 2:, 3:]), codes[:, 2:, 3:], rtol=1e-9, atol=1e-9)


@pytest.mark.thorough
def test_what_was_done_to_a_picture_is_done_to_another_of_any_size(fitted):
    X, new = pictures(2, 30, 30, seed=5), pictures(1, 41, 22, seed=6)
    Y = moved(X)
    for row, step in ((0, 1), (1, -1)):
        (found,) = fitted.transfer(X[row : row + 1], Y[row : row + 1], new, n_steps=1)
        right = np.roll(new[0], step, axis=1)[:, 2:-2]
        assert np.corrcoef(found[:, 2:-2].ravel(), right.ravel())[0, 1] > 0.95
    assert fitted.score(X, Y) > 0.8


@pytest.mark.thorough
def test_one_row_of_mapping_units_serves_all_sites(fitted):
    X = pictures(1, 12, 13, seed=7)
    z = np.linspace(0, 1, 8)
    everywhere = np.broadcast_to(z, (1, 8, 9, 8))
    np.testing.assert_array_equal(fitted.apply(X, z), fitted.apply(X, everywhere))


def test_sampled_steps_depend_on_the_seed_alone(fitted):
    X = pictures(1, 12, 13, seed=7)
    draws = [fitted.reconstruct(X, X, n_steps=3, sampled=True, random_state=seed) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(draws[0], draws[1])
    assert np.abs(draws[0] - draws[2]).max() > 1e-3


def test_pictures_that_do_not_end_with_a_patch_are_answered_whole():
    X = pictures(2, 16, 17)
    field = GatedField(GatedBoltzmannMachine(3, **TINY), 4, stride=3).fit(X, moved(X))
    assert field.infer(X, moved(X)).shape == (2, 5, 6, 3)
    found = field.transfer(X, moved(X), X)
    assert found.shape == X.shape
    assert np.isfinite(found).all()


def test_the_far_rows_of_pictures_are_held_out_and_looked_at():
    X = pictures(2, 20, 14)
    options = {**TINY, "max_iter": 200, "validation_fraction": 0.4, "patience": 1}
    field = GatedField(GatedBoltzmannMachine(3, **options), 3)
    with pytest.warns(ConvergenceWarning, match="max_iter=200 ended training while held-out rows were still improving"):
        field.fit(X, moved(X))
    assert field.history_[-1]["terms"]["held_out"] < field.history_[101]["terms"]["held_out"]


def test_held_out_rows_of_pictures_are_never_trained_on():
    X = pictures(2, 20, 14)
    Y = moved(X)
    changed = Y.copy()
    changed[:, 12:] = Y[:, :11:-1]  # the frame stays the same
    options = {**TINY, "validation_fraction": 0.4, "patience": 0}
    one, two = (GatedField(GatedBoltzmannMachine(3, **options), 3).fit(X, part) for part in (Y, changed))
    assert one.history_[-1]["objective"] == two.history_[-1]["objective"]
    assert one.history_[-1]["terms"] != two.history_[-1]["terms"]


def test_crops_are_reconstructed_as_whole_pictures_are():
    site = product()
    x, y = torch.cat([field(1), field(3)]), torch.cat([field(2), field(4)])
    whole = torch.cat([site.step(x[i : i + 1], y[i : i + 1], mean_field=True) for i in (0, 1)])
    torch.testing.assert_close(site.reconstruct(x, y), whole)


def test_colours_and_binary_outputs_are_taken():
    X = np.random.default_rng(0).random((3, 12, 12, 3))
    Y = (X[..., :2] > 0.5).astype(float)
    field = GatedField(GatedBoltzmannMachine(3, visible="binary", **TINY), 3).fit(X, Y)
    found = field.reconstruct(X, Y)
    assert found.shape == (3, 12, 12, 2)
    assert 0 <= found.min() < found.max() <= 1


def test_it_is_saved_cloned_and_fitted_again_to_the_bit(tmp_path):
    X = pictures()
    field = GatedField(GatedBoltzmannMachine(3, **TINY), 3).fit(X, moved(X))
    sidelight.save(field, tmp_path / "field")
    copies = (sidelight.load(tmp_path / "field"), pickle.loads(pickle.dumps(field)), clone(field).fit(X, moved(X)))
    for other in copies:
        np.testing.assert_array_equal(other.transfer(X, moved(X), X), field.transfer(X, moved(X), X))


def test_a_large_picture_takes_little_memory(fitted):
    X = pictures(1, 512, 512, seed=1).astype(np.float32)
    usage = []
    real = SiteProduct._band

    def watched(self, x, span):
        band = real(self, x, span)
        usage.append(sum(tie.filters(1).numel() for tie in band.ties[:1]))
        return band

    tracemalloc.start()
    SiteProduct._band = watched
    try:
        found = fitted.reconstruct(X, X)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        SiteProduct._band = real
        tracemalloc.stop()
    assert found.shape == X.shape
    assert max(usage) <= 1 << 22  # numbers of a band's filters: 16 MB, where all sites have 52 million
    assert peak < 40 * X.nbytes


def test_float32_pictures_give_float32_close_to_those_of_64_bits(fitted):
    X = pictures(2, 14, 15, seed=4)
    single = fitted.reconstruct(X.astype(np.float32), moved(X).astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, fitted.reconstruct(X, moved(X)), atol=1e-4)


def test_lists_of_pictures_of_different_sizes_come_back_as_lists(fitted):
    X = [pictures(1, 14, 15)[0], pictures(1, 9, 20)[0]]
    found = fitted.reconstruct(X, X)
    assert [part.shape for part in found] == [(14, 15), (9, 20)]
    np.testing.assert_allclose(found[1], fitted.reconstruct([X[1]], [X[1]])[0])
    assert [part.shape for part in fitted.transfer(X, X, X)] == [(14, 15), (9, 20)]


def test_not_fitted_is_said():
    X = pictures()
    for call in ("infer", "apply", "reconstruct", "score"):
        with pytest.raises(NotFittedError):
            getattr(GatedField(), call)(X, X)
    with pytest.raises(NotFittedError):
        GatedField().transfer(X, X, X)


BAD = [
    ({"model": 3}, "model=3 is not a GatedBoltzmannMachine"),
    (
        {"model": GatedBoltzmannMachine(visible="gaussian-learned")},
        "model.visible=gaussian-learned has a standard",
    ),
    ({"model": GatedBoltzmannMachine(persistent=True)}, "model.persistent=True is not available for crops"),
    ({"patch_size": 0}, "patch_size=0 is not"),
    ({"stride": 0}, "stride=0 is not"),
    ({"stride": 6}, "stride=6 leaves sites between patches"),
    ({"crop": 2}, "crop=2 is not"),
    ({"patch_size": 50}, "is smaller than patch_size=50"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_what_cannot_be_is_said(options, message):
    with pytest.raises(ValueError, match=f"GatedField: .*{message}"):
        GatedField(**options).fit(pictures(), pictures())


def test_pictures_that_do_not_belong_together_are_refused(fitted):
    X = pictures()
    with pytest.raises(ValueError, match="does not have the sizes of X"):
        fitted.infer(X, X[:, :9])
    with pytest.raises(ValueError, match="does not match the 1 channels of the fit"):
        fitted.infer(np.stack([X, X], axis=3), X)
    with pytest.raises(ValueError, match="does not match the places of X"):
        fitted.apply(X, np.zeros((2, 3, 3, 8)))
    with pytest.raises(ValueError, match="does not match the 3 samples of X_new"):
        fitted.transfer(X, X, pictures(3))
