"""S0 chapter 5, the options of the gated machine: ν, premapping, arg max outputs, fields of any unit type; S3.

Densities are sums over all states of tiny machines; gradients are finite differences of the log likelihood.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from tiny_machines import ALL_Y, ALL_Z, QUICK, REAL, D, J, K, X, Y, parameters, randomised, sigmoid, unconverged
from torch import nn

from sidelight.gated import Autoencoder, BiasedAutoencoder, GatedAutoencoder, GatedBoltzmannMachine, GatedField
from sidelight.gated._machines import GatedMachine
from sidelight.gated._patches import Patches
from sidelight.gated._site_product import SiteProduct
from sidelight.gated._units import units

RNG = np.random.default_rng(1)


@pytest.fixture(scope="module")
def noisy():
    return GatedBoltzmannMachine(K, noise=0.4, biases=("y", "z"), **{**QUICK, "learning_rate": 0.05}).fit(X, REAL)


def test_eq_5_11_with_a_fixed_nu(noisy):
    """ν = ``noise`` · ``output_frame_.scale`` in the units of y is not learned; b of 5.11 is in these units, too."""
    p, scale, centre = parameters(noisy), noisy.output_frame_.scale, noisy.output_frame_.centre
    nu, b = 0.4 * scale, centre + 0.4 * scale * p["visible_bias"]
    x = noisy.input_frame_.inside(X)
    eta = np.einsum("ijk,ni,nj->nk", p["gated.weights"], x, REAL - centre) / nu + p["hidden_bias"]
    np.testing.assert_allclose(noisy.infer(X, REAL), sigmoid(eta), rtol=1e-5)
    free = np.logaddexp(0, eta).sum(axis=1) - ((REAL - b) ** 2).sum(axis=1) / (2 * nu**2)
    found = noisy.score_samples(X, REAL)
    np.testing.assert_allclose(found - found[0], free - free[0], atol=1e-4)
    assert np.exp(p["visible.log_scale"]) == pytest.approx(0.4)


def test_eq_5_12_with_a_fixed_nu(noisy):
    """N(ν Σ W x z + b, ν²)."""
    p, nu = parameters(noisy), 0.4 * noisy.output_frame_.scale
    b = noisy.output_frame_.centre + nu * p["visible_bias"]
    x = noisy.input_frame_.inside(X[:4])
    mean = nu * np.einsum("ijk,ni,nk->nj", p["gated.weights"], x, ALL_Z) + b
    np.testing.assert_allclose(noisy.apply(X[:4], ALL_Z), mean, rtol=1e-4, atol=1e-6)


class Squares(nn.Module):
    """φ(x) = tanh(x V) and its squares, side by side."""

    def __init__(self):
        super().__init__()
        self.V = nn.Parameter(torch.tensor(np.random.default_rng(1).normal(size=(D, 2))))

    def forward(self, x):
        h = torch.tanh(x @ self.V)
        return torch.cat([h, h**2], dim=1)


def test_eq_5_17_premapping_by_any_module():
    """W_jk(x) = Σ_i W_ijk φ_i(x); φ is trained with the rest, and the module given stays as it is."""
    given = Squares()
    before = given.V.detach().numpy().copy()
    model = GatedBoltzmannMachine(K, visible="binary", premapping=given, biases=(), **QUICK).fit(X, Y)
    p = parameters(model)
    h = np.tanh(X @ p["premapping.V"])
    eta = np.einsum("ijk,ni,nj->nk", p["gated.weights"], np.concatenate([h, h**2], axis=1), Y)
    np.testing.assert_allclose(model.infer(X, Y), sigmoid(eta), rtol=1e-5)
    np.testing.assert_array_equal(given.V.detach().numpy(), before)
    assert np.abs(p["premapping.V"] - before).max() > 1e-3


def test_eq_5_17_gradient_of_the_premapping_by_finite_differences():
    """Of the log likelihood, with Z(x) as a sum over all outputs and mapping units."""
    machine = randomised(GatedMachine(4, units("binary", J), units("binary", K), premapping=Squares()))
    p = {name: value.detach().numpy() for name, value in machine.named_parameters()}
    x, y = X[:3], Y[:3]

    def likelihood(V):
        h = np.tanh(x @ V)
        phi, total = np.concatenate([h, h**2], axis=1), 0.0
        for a, b in zip(phi, y, strict=True):
            W = np.einsum("ijk,i->jk", p["gated.weights"], a) + p["tie.weights"]
            S = (
                np.einsum("yj,jk,zk->yz", ALL_Y, W, ALL_Z)
                + ALL_Y @ (a @ p["input_visible"] + p["visible_bias"])[:, None]
            )
            S = S + (ALL_Z @ (a @ p["input_hidden"] + p["hidden_bias"]))[None]
            total += np.logaddexp.reduce(S[(b == ALL_Y).all(axis=1)][0]) - np.logaddexp.reduce(S, axis=None)
        return total / len(y)

    everything = machine.condition(torch.tensor(np.repeat(x, len(ALL_Y), axis=0)))
    log_z = torch.logsumexp(everything.free_score(torch.tensor(np.tile(ALL_Y, (3, 1)))).reshape(3, -1), dim=1)
    loss = (log_z - machine.condition(torch.tensor(x)).free_score(torch.tensor(y))).mean()
    (found,) = torch.autograd.grad(loss, machine.premapping.V)
    V = p["premapping.V"]
    assert loss.item() == pytest.approx(-likelihood(V), rel=1e-10)
    for place in np.ndindex(V.shape):
        step = np.zeros(V.shape)
        step[place] = 1e-5
        slope = (likelihood(V + step) - likelihood(V - step)) / 2e-5
        assert found.numpy()[place] == pytest.approx(-slope, abs=1e-8)


@unconverged
def test_eq_6_3_with_a_premapping_by_any_module():
    model = GatedAutoencoder(K, premapping=Squares(), biases=(), max_iter=5, random_state=0).fit(X, REAL)
    h = np.tanh(model.input_frame_.inside(X) @ model.parameters_["premapping.V"])
    phi = np.concatenate([h, h**2], axis=1)
    code = np.einsum("ijk,ni,nj->nk", model.parameters_["encoding.weights"], phi, model.output_frame_.inside(REAL))
    np.testing.assert_allclose(model.infer(X, REAL), sigmoid(code), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(("output", "value"), [("mode", lambda eta: (eta > 0).astype(float)), ("mean", sigmoid)])
def test_section_5_4_2_distance_of_binary_outputs(output, value):
    """ŷ = arg max p(y | x, ẑ) with ``output="mode"``; the default is the mean of p(y | x, ẑ)."""
    model = GatedBoltzmannMachine(K, visible="binary", **QUICK).fit(X, Y)
    p, found = parameters(model), model.distance(X[:5], Y[:6], output=output)
    for i, j in np.ndindex(5, 6):
        x, y = X[i], Y[j]
        W = np.einsum("ijk,i->jk", p["gated.weights"], x) + p["tie.weights"]
        z = (y @ W + x @ p["input_hidden"] + p["hidden_bias"] > 0).astype(float)
        eta = W @ z + x @ p["input_visible"] + p["visible_bias"]
        assert found[i, j] == pytest.approx(np.linalg.norm(y - value(eta)), rel=1e-4, abs=1e-5)


COUNTS = np.arange(400.0)


def of_site(kind, eta, c):
    """Mean of the product of c patches at a site with the summed η (channels,), by adding up or in closed form."""
    if kind == "gaussian":  # c Gaussians of variance 1 with means η_s
        return eta / c
    if kind == "multinomial":
        return np.exp(eta) / np.exp(eta).sum()
    values = COUNTS if kind == "poisson" else np.arange(2.0)
    log_h = -np.array([np.log(np.arange(1, v + 1)).sum() for v in values]) if kind == "poisson" else 0.0
    logs = eta[:, None] * values + log_h
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return (weights * values).sum(axis=1) / weights.sum(axis=1)


@pytest.mark.parametrize("kind", ["binary", "gaussian", "poisson", "multinomial"])
def test_eq_5_16_field_with_outputs_of_any_type(kind):
    """p(y | x, z) of a product of patches: natural parameters of the patches over a site, added."""
    channels, side = (3 if kind == "multinomial" else 1), 4
    machine = randomised(GatedMachine(4, units(kind, 4 * channels), units("binary", K)))
    p = {name: 0.5 * value.detach().numpy() for name, value in machine.named_parameters()}
    with torch.no_grad():
        for name, value in machine.named_parameters():
            value.copy_(torch.tensor(p[name]))
    x, codes = RNG.normal(size=(side, side)), RNG.uniform(size=(3, 3, K))
    total, count = np.zeros((channels, side, side)), np.zeros((side, side))
    for a, b in np.ndindex(3, 3):
        phi, z = x[a : a + 2, b : b + 2].ravel(), codes[a, b]
        eta = np.einsum("ijk,i,k->j", p["gated.weights"], phi, z) + p["tie.weights"] @ z
        eta += phi @ p["input_visible"] + p["visible_bias"]
        total[:, a : a + 2, b : b + 2] += eta.reshape(channels, 2, 2)
        count[a : a + 2, b : b + 2] += 1
    product = SiteProduct(machine.requires_grad_(False), Patches(2, 2))
    found = product.apply(torch.tensor(x)[None, None], torch.tensor(codes.reshape(9, K)))[0].numpy()
    for a, b in np.ndindex(side, side):
        np.testing.assert_allclose(found[:, a, b], of_site(kind, total[:, a, b], count[a, b]), rtol=1e-8)


@pytest.mark.parametrize("kind", ["binary", "gaussian", "poisson", "multinomial"])
def test_section_5_3_1_a_field_of_any_type_is_fitted_and_applied(kind):
    """Training with each type lowers the error of the reconstruction below that of the mean output."""
    pictures = RNG.integers(0, 3, size=(8, 9, 9)).astype(float)
    moved = np.roll(pictures, 1, axis=2)
    if kind == "binary":
        pictures, moved = (pictures > 0).astype(float), (moved > 0).astype(float)
    if kind == "multinomial":
        pictures, moved = np.eye(3)[pictures.astype(int)], np.eye(3)[moved.astype(int)]
    machine = GatedBoltzmannMachine(4, visible=kind, batch_size=8, learning_rate=0.03, max_iter=120, random_state=0)
    field = GatedField(machine, patch_size=3).fit(pictures, moved)
    assert field.score(pictures, moved) > 0.2
    if kind == "multinomial":
        for one in field.reconstruct(pictures[:2], moved[:2], n_steps=2, sampled=True):
            np.testing.assert_allclose(one.sum(axis=2), 1.0, rtol=1e-5)


@unconverged
def test_section_6_3_1_weight_decay_on_all_parameters():
    """Cost + λ|W|² over all parameters is ``weight_decay=2λ`` with ``decay_biases=True``: the gradient is 0 there."""
    options = {"predictor": (), "optimizer": "lbfgs", "max_iter": 500, "random_state": 0}
    model = BiasedAutoencoder(None, weight_decay=0.2, decay_biases=True, **options).fit(X, REAL + 1)
    x, y = model.input_frame_.inside(X), model.output_frame_.inside(REAL + 1)
    ones = np.column_stack([x, np.ones(len(x))])
    penalty = 0.1 * len(x) * J * np.eye(D + 1)  # the cost is a mean over rows and columns
    W = np.linalg.solve(ones.T @ ones + penalty, ones.T @ y)
    p = parameters(model)
    np.testing.assert_allclose(p["predictor.0.weight"].T, W[:D], atol=1e-4)
    np.testing.assert_allclose(p["predictor.0.bias"], W[D], atol=1e-4)


@pytest.mark.thorough
def test_s3_sparse_auto_encoder_has_codes_near_zero():
    """Σ (x - x̂)² + λ Σ |z_k| |w_k|: an over-complete code of sums of few parts, most of it 0."""
    rng = np.random.default_rng(0)
    atoms = rng.normal(size=(8, 6))
    rows = (rng.uniform(size=(300, 8)) < 0.15) * rng.uniform(1, 2, size=(300, 8)) @ atoms
    options = {"code_activation": "relu", "optimizer": "adam", "learning_rate": 0.01, "random_state": 0}
    sparse, plain = (Autoencoder(12, sparsity=weight, max_iter=600, **options).fit(rows) for weight in (0.3, 0.0))
    assert sparse.score(rows) > 0.8
    assert (sparse.transform(rows) < 1e-3).mean() > (plain.transform(rows) < 1e-3).mean() + 0.15
    p, x = parameters(sparse), sparse.frame_.inside(rows)
    z = np.maximum(x @ p["encoder.0.weight"].T + p["encoder.0.bias"], 0)
    back = z @ p["decoder.0.weight"].T + p["decoder.0.bias"]
    sizes = np.linalg.norm(p["decoder.0.weight"], axis=0)
    cost = ((x - back) ** 2).sum(axis=1) + 0.3 * (np.abs(z) * sizes).sum(axis=1)
    objective = sparse._objective(sparse.architecture_)
    with torch.no_grad():
        found = objective.loss(sparse._module(np.float64), (torch.tensor(x),), torch.Generator())
    assert found.item() == pytest.approx(cost.mean() / 6, rel=1e-5)


def test_s3_one_of_k_rows_have_a_code_of_two_numbers():
    rows = np.eye(8)
    model = Autoencoder(2, loss="multinomial", weight_decay=1e-5, max_iter=2000, random_state=0).fit(rows)
    assert (model.denoise(rows).argmax(axis=1) == np.arange(8)).all()
