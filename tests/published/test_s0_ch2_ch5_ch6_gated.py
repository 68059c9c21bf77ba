"""S0 section 2.2 and chapters 5 and 6: Boltzmann machines and auto-encoders, plain and gated, against NumPy.

Densities and exact gradients are sums over all states of tiny machines. ``parameters_`` are in single precision.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from tiny_machines import ALL_Y, ALL_Z, QUICK, D, J, K, X, Y, randomised, sigmoid, unconverged

from sidelight.gated import (
    Autoencoder,
    BiasedAutoencoder,
    GatedAutoencoder,
    GatedBoltzmannMachine,
    GatedField,
    Manifield,
    RestrictedBoltzmannMachine,
)
from sidelight.gated._divergence import contrast
from sidelight.gated._machines import GatedMachine, PlainMachine
from sidelight.gated._units import units

RNG = np.random.default_rng(1)


def arrays(machine):
    return {name: value.detach().numpy() for name, value in machine.named_parameters()}


def score(p, x, y, z):
    """Equation 5.1 with all the generalised biases of 5.7 and below it."""
    pair = np.einsum("ijk,i,j,k->", p["gated.weights"], x, y, z) + y @ p["tie.weights"] @ z
    return pair + (x @ p["input_visible"] + p["visible_bias"]) @ y + (x @ p["input_hidden"] + p["hidden_bias"]) @ z


@pytest.fixture(scope="module")
def machine():
    return randomised(GatedMachine(D, units("binary", J), units("binary", K)))


@pytest.fixture(scope="module")
def plain():
    return randomised(PlainMachine(units("binary", J), units("binary", K)))


def joint(scores):
    """p(y, z) over all states (2.10, 5.2) from scores of all pairs (2.9, 5.1)."""
    return np.exp(scores - np.logaddexp.reduce(scores, axis=None))


def test_eq_2_2_linear_auto_encoder_has_the_error_of_pca():
    """The least Σ |y - WAy|² is that of PCA (2.3); the weights themselves are free up to a linear map."""
    rows = RNG.normal(size=(80, 2)) @ RNG.normal(size=(2, 5)) + 0.1 * RNG.normal(size=(80, 5))
    model = Autoencoder(2, max_iter=2000, random_state=0).fit(rows)
    pca = PCA(2).fit(rows)
    least = ((rows - pca.inverse_transform(pca.transform(rows))) ** 2).sum()
    assert ((rows - model.denoise(rows)) ** 2).sum() == pytest.approx(least, rel=1e-3)


def test_eqs_2_9_to_2_14_rbm_density_by_all_states(plain):
    """``free_score`` is log p(y) + log Z."""
    p = arrays(plain)
    scores = np.array(
        [[y @ p["tie.weights"] @ z + p["visible_bias"] @ y + p["hidden_bias"] @ z for z in ALL_Z] for y in ALL_Y]
    )
    own = plain.condition().free_score(torch.tensor(ALL_Y)).detach().numpy()
    log_p = np.log(joint(scores).sum(axis=1))
    np.testing.assert_allclose(own - np.logaddexp.reduce(own), log_p, rtol=1e-10)


def test_eqs_2_12_and_2_13_rbm_conditionals():
    model = RestrictedBoltzmannMachine(K, visible="binary", **QUICK).fit(Y)
    p = {name: np.asarray(value, dtype=np.float64) for name, value in model.parameters_.items()}
    code = sigmoid(Y @ p["tie.weights"] + p["hidden_bias"])
    np.testing.assert_allclose(model.transform(Y), code, rtol=1e-5)
    np.testing.assert_allclose(
        model.inverse_transform(ALL_Z), sigmoid(ALL_Z @ p["tie.weights"].T + p["visible_bias"]), rtol=1e-5
    )


def test_eq_2_15_rbm_gradient_and_eq_2_17(plain):
    """Minus the log likelihood: model expectation less data expectation (2.17 has the sign and an index wrong)."""
    p, rows = arrays(plain), torch.tensor(Y[:5])
    scores = np.array(
        [[y @ p["tie.weights"] @ z + p["visible_bias"] @ y + p["hidden_bias"] @ z for z in ALL_Z] for y in ALL_Y]
    )
    expected = np.einsum("yz,yj,zk->jk", joint(scores), ALL_Y, ALL_Z)
    seen = Y[:5].T @ sigmoid(Y[:5] @ p["tie.weights"] + p["hidden_bias"]) / 5
    own = plain.condition()
    loss = torch.logsumexp(own.free_score(torch.tensor(ALL_Y)), dim=0) - own.free_score(rows).mean()
    (found,) = torch.autograd.grad(loss, plain.tie.weights)
    np.testing.assert_allclose(found.numpy(), expected - seen, atol=1e-12)


def test_eq_2_18_contrastive_divergence(plain):
    """One reconstruction in place of the model expectation; mean field: means instead of samples."""
    p, rows = arrays(plain), Y[:5]
    z = sigmoid(rows @ p["tie.weights"] + p["hidden_bias"])
    y1 = sigmoid(z @ p["tie.weights"].T + p["visible_bias"])
    z1 = sigmoid(y1 @ p["tie.weights"] + p["hidden_bias"])
    loss, _ = contrast(plain.condition(), torch.tensor(rows), steps=1, mean_field=True)
    (found,) = torch.autograd.grad(loss, plain.tie.weights)
    np.testing.assert_allclose(found.numpy(), (y1.T @ z1 - rows.T @ z) / 5, atol=1e-12)


def test_eq_5_1_score_and_eq_5_7_generalised_biases(machine):
    found = machine.condition(torch.tensor(X[:4])).score(torch.tensor(Y[:4]), torch.tensor(ALL_Z))
    by_hand = [score(arrays(machine), x, y, z) for x, y, z in zip(X, Y, ALL_Z, strict=False)]
    np.testing.assert_allclose(found.detach().numpy(), by_hand, rtol=1e-10)


def all_scores(machine, x):
    return np.array([[score(arrays(machine), x, y, z) for z in ALL_Z] for y in ALL_Y])


def test_eqs_5_2_to_5_4_density_of_outputs_given_the_input(machine):
    """Z(x) is a sum over outputs and mapping units, for each input."""
    for x in X[:3]:
        own = machine.condition(torch.tensor(x[None]).expand(len(ALL_Y), -1)).free_score(torch.tensor(ALL_Y))
        own = own.detach().numpy()
        log_p = np.log(joint(all_scores(machine, x)).sum(axis=1))
        np.testing.assert_allclose(own - np.logaddexp.reduce(own), log_p, rtol=1e-10)


@pytest.fixture(scope="module")
def fitted():
    return GatedBoltzmannMachine(K, visible="binary", **QUICK).fit(X, Y)


@pytest.fixture(scope="module")
def weights(fitted):
    return {name: np.asarray(value, dtype=np.float64) for name, value in fitted.parameters_.items()}


def test_eq_5_5_mapping_units(fitted, weights):
    eta = np.einsum("ijk,ni,nj->nk", weights["gated.weights"], X, Y) + Y @ weights["tie.weights"]
    eta += X @ weights["input_hidden"] + weights["hidden_bias"]
    np.testing.assert_allclose(fitted.infer(X, Y), sigmoid(eta), rtol=1e-5)


def test_eq_5_6_outputs(fitted, weights):
    Z = fitted.infer(X, Y)
    eta = np.einsum("ijk,ni,nk->nj", weights["gated.weights"], X, Z) + Z @ weights["tie.weights"].T
    eta += X @ weights["input_visible"] + weights["visible_bias"]
    np.testing.assert_allclose(fitted.apply(X, Z), sigmoid(eta), rtol=1e-5)


def test_eq_5_1_alone_has_no_biases():
    """``biases=()``; p(z | x, y) is then 5.5 as printed."""
    model = GatedBoltzmannMachine(K, visible="binary", biases=(), **QUICK).fit(X, Y)
    (W,) = model.parameters_.values()
    np.testing.assert_allclose(model.infer(X, Y), sigmoid(np.einsum("ijk,ni,nj->nk", W, X, Y)), rtol=1e-5)


def test_eqs_5_8_and_5_9_log_likelihood_and_its_gradient(machine):
    """With the probabilities, the minus and 1/N that 5.9 omits."""
    x, y, p = X[:3], Y[:3], arrays(machine)
    by_hand = np.zeros((D, J, K))
    for a, b in zip(x, y, strict=True):
        P = joint(all_scores(machine, a))
        posterior = P[np.flatnonzero((b == ALL_Y).all(axis=1))[0]]
        posterior = posterior / posterior.sum()
        seen = np.einsum("i,j,k->ijk", a, b, posterior @ ALL_Z)
        by_hand += (np.einsum("i,yz,yj,zk->ijk", a, P, ALL_Y, ALL_Z) - seen) / 3
    everything = machine.condition(torch.tensor(np.repeat(x, len(ALL_Y), axis=0)))
    log_z = torch.logsumexp(everything.free_score(torch.tensor(np.tile(ALL_Y, (3, 1)))).reshape(3, -1), dim=1)
    loss = (log_z - machine.condition(torch.tensor(x)).free_score(torch.tensor(y))).mean()
    log_p = [
        np.log(joint(all_scores(machine, a)).sum(axis=1))[(b == ALL_Y).all(axis=1)][0]
        for a, b in zip(x, y, strict=True)
    ]
    assert loss.item() == pytest.approx(-np.mean(log_p), rel=1e-10)
    (found,) = torch.autograd.grad(loss, machine.gated.weights)
    np.testing.assert_allclose(found.numpy(), by_hand, atol=1e-12)
    assert p["gated.weights"].shape == by_hand.shape


def test_eq_5_10_modulated_filters(machine):
    """Ŵ_jk = Σ_i W_ijk x_i: the machine of an input is an RBM with these weights."""
    tie = machine.condition(torch.tensor(X[:4])).ties[0]
    by_hand = np.einsum("ijk,ni->njk", arrays(machine)["gated.weights"], X[:4])
    np.testing.assert_allclose(tie.filters(4).detach().numpy(), by_hand, atol=1e-12)


@pytest.fixture(scope="module")
def gaussian():
    """With ν = 0.7, and a bias of outputs."""
    made = randomised(GatedMachine(D, units("gaussian", J), units("binary", K), biases=("y", "z")))
    made.visible.log_scale.data.fill_(np.log(0.7))
    return made


def test_eq_5_11_score_of_gaussian_outputs(gaussian):
    """Up to a constant: the bias b of 5.11 is ν times ``visible_bias``."""
    p, nu = arrays(gaussian), 0.7
    y, z, x = RNG.normal(size=(4, J)), ALL_Z, X[:4]
    b = nu * p["visible_bias"]
    by_hand = -((y - b) ** 2).sum(axis=1) / (2 * nu**2) + np.einsum("ijk,ni,nj,nk->n", p["gated.weights"], x, y, z) / nu
    by_hand += z @ p["hidden_bias"]
    found = gaussian.condition(torch.tensor(x)).score(torch.tensor(y), torch.tensor(z)).detach().numpy()
    np.testing.assert_allclose(found - found[0], by_hand - by_hand[0], atol=1e-10)


def test_eq_5_12_gaussian_outputs_given_mapping_units(gaussian):
    """N(ν Σ W x z + b, ν²); the mapping units see (1/ν) Σ W x y."""
    p, nu, x, y = arrays(gaussian), 0.7, torch.tensor(X[:4]), RNG.normal(size=(4, J))
    own = gaussian.condition(x)
    mean = own.visible.mean(own.visible_parameters(torch.tensor(ALL_Z))).detach().numpy()
    by_hand = nu * np.einsum("ijk,ni,nk->nj", p["gated.weights"], X[:4], ALL_Z) + nu * p["visible_bias"]
    np.testing.assert_allclose(mean, by_hand, atol=1e-12)
    eta = own.hidden_parameters(torch.tensor(y)).detach().numpy()
    np.testing.assert_allclose(
        eta, np.einsum("ijk,ni,nj->nk", p["gated.weights"], X[:4], y) / nu + p["hidden_bias"], atol=1e-12
    )
    many = own.visible_parameters(torch.tensor(ALL_Z))[:1].expand(20_000, -1)
    drawn = own.visible.sample(many, torch.Generator().manual_seed(0)).detach().numpy()
    np.testing.assert_allclose(drawn.var(axis=0), nu**2, rtol=0.05)


@pytest.mark.parametrize(
    ("kind", "mean"), [("poisson", np.exp), ("multinomial", lambda e: np.exp(e) / np.exp(e).sum(axis=1, keepdims=True))]
)
def test_eqs_5_14_and_5_15_exponential_family(kind, mean):
    """Natural parameters are the shifted biases; the mean is that of the family (with + in 5.13, as in 5.14)."""
    made = randomised(GatedMachine(D, units(kind, J), units("binary", K), biases=("y", "z")))
    p, own = arrays(made), made.condition(torch.tensor(X[:4]))
    eta = np.einsum("ijk,ni,nk->nj", p["gated.weights"], X[:4], ALL_Z) + p["visible_bias"]
    found = own.visible.mean(own.visible_parameters(torch.tensor(ALL_Z))).detach().numpy()
    np.testing.assert_allclose(found, mean(eta), rtol=1e-10)


def test_eq_5_16_field_of_one_machine_at_every_site():
    """Weights are shared; the mapping units of a site are 5.5 of its own patches."""
    pictures = RNG.normal(size=(6, 7, 7))
    moved = np.roll(pictures, 1, axis=2)
    patch = GatedBoltzmannMachine(3, max_iter=5, random_state=0)
    model = GatedField(patch, patch_size=3).fit(list(pictures), list(moved))
    (found,) = model.infer(list(pictures[:1]), list(moved[:1]))
    p = {name: np.asarray(value, dtype=np.float64) for name, value in model.parameters_.items()}
    for a, b in np.ndindex(found.shape[:2]):
        x, y = (picture[0, a : a + 3, b : b + 3].reshape(1, -1) for picture in (pictures, moved))
        x, y = model.input_frame_.inside(x)[0], model.output_frame_.inside(y)[0]
        eta = np.einsum("ijk,i,j->k", p["gated.weights"], x, y) + y @ p["tie.weights"] + x @ p["input_hidden"]
        np.testing.assert_allclose(found[a, b], sigmoid(eta + p["hidden_bias"]), rtol=1e-4)


def test_eq_5_17_weights_as_functions_of_premapped_inputs():
    """W_jk(x) = Σ_i W_ijk φ_i(x), φ a network trained with the rest."""
    model = GatedBoltzmannMachine(K, visible="binary", premapping=2, biases=(), **QUICK).fit(X, Y)
    p = {name: np.asarray(value, dtype=np.float64) for name, value in model.parameters_.items()}
    phi = X @ p["premapping.0.weight"].T + p["premapping.0.bias"]
    eta = np.einsum("ijk,ni,nj->nk", p["gated.weights"], phi, Y)
    np.testing.assert_allclose(model.infer(X, Y), sigmoid(eta), rtol=1e-5)


def test_section_5_4_2_distance_in_three_steps():
    """Gaussian outputs: ẑ = arg max p(z | x, y), ŷ = arg max p(y | x, ẑ), d = |y - ŷ|."""
    rows = RNG.normal(size=(40, J))
    model = GatedBoltzmannMachine(K, visible="gaussian", **{**QUICK, "learning_rate": 0.05}).fit(X[:40], rows)
    found = model.distance(X[:3], rows[:3])
    for i in range(3):
        for j in range(3):
            code = (model.infer(X[i : i + 1], rows[j : j + 1]) > 0.5).astype(float)
            assert found[i, j] == pytest.approx(np.linalg.norm(rows[j] - model.apply(X[i : i + 1], code)), rel=1e-3)


@unconverged
def test_eqs_6_3_and_6_4_gated_auto_encoder():
    """z_k = a(Σ_ij A_ijk x_i y_j), ŷ_j = Σ_ik W_ijk x_i z_k, without and with biases."""
    rows = RNG.normal(size=(60, J))
    model = GatedAutoencoder(K, biases=(), activation="linear", max_iter=5, random_state=0).fit(X, rows)
    x, y = model.input_frame_.inside(X), model.output_frame_.inside(rows)
    code = np.einsum("ijk,ni,nj->nk", model.parameters_["encoding.weights"], x, y)
    np.testing.assert_allclose(model.infer(X, rows), code, rtol=1e-4, atol=1e-6)
    rebuilt = np.einsum("ijk,ni,nk->nj", model.parameters_["decoding.weights"], x, code)
    np.testing.assert_allclose(model.reconstruct(X, rows), model.output_frame_.outside(rebuilt), rtol=1e-4, atol=1e-5)


@unconverged
def test_figure_6_1_b_biased_auto_encoder():
    """The auto-encoder cleans up what the predictor says: decode(encode(p(x)))."""
    rows = RNG.normal(size=(60, J))
    model = BiasedAutoencoder(2, predictor=(), max_iter=5, random_state=0).fit(X, rows)
    p = {name: np.asarray(value, dtype=np.float64) for name, value in model.parameters_.items()}
    guess = model.input_frame_.inside(X) @ p["predictor.0.weight"].T + p["predictor.0.bias"]
    code = guess @ p["autoencoder.encoder.0.weight"].T + p["autoencoder.encoder.0.bias"]
    found = code @ p["autoencoder.decoder.0.weight"].T + p["autoencoder.decoder.0.bias"]
    np.testing.assert_allclose(model.predict(X), model.output_frame_.outside(found), rtol=1e-4, atol=1e-5)


@unconverged
def test_section_6_2_3_manifield_averages_the_patches_over_a_site():
    noisy = RNG.normal(size=40)
    patch = BiasedAutoencoder(2, predictor=(), max_iter=5, random_state=0)
    model = Manifield(patch, patch_size=5).fit([noisy], [np.sin(np.arange(40) / 3)])
    p = {name: np.asarray(value, dtype=np.float64) for name, value in model.parameters_.items()}
    frames, total, count = model.input_frame_.inside(noisy[:, None])[:, 0], np.zeros(40), np.zeros(40)
    for s in range(36):
        guess = p["predictor.0.weight"] @ frames[s : s + 5] + p["predictor.0.bias"]
        code = p["autoencoder.encoder.0.weight"] @ guess + p["autoencoder.encoder.0.bias"]
        total[s : s + 5] += p["autoencoder.decoder.0.weight"] @ code + p["autoencoder.decoder.0.bias"]
        count[s : s + 5] += 1
    (found,) = model.predict([noisy])
    by_hand = model.output_frame_.outside((total / count)[:, None])[:, 0]
    np.testing.assert_allclose(found, by_hand, rtol=1e-4, atol=1e-5)
