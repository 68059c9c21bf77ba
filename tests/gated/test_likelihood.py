"""Gradients and densities against sums over all states of tiny machines."""

from __future__ import annotations

import itertools

import pytest
import torch
from enumeration import OPTIONS, SIZES, all_scores, gradients, log_partition, machine, states_of

from sidelight.gated._divergence import contrast
from sidelight.gated._machines import BIASES, GatedMachine, PlainMachine
from sidelight.gated._training import Schedule, train
from sidelight.gated._units import units

X = torch.tensor([[0.7, -0.4]], dtype=torch.float64)
PAIRS = [
    ("binary", "binary"),
    ("gaussian", "binary"),
    ("gaussian-learned", "binary"),
    ("poisson", "binary"),
    ("multinomial", "binary"),
    ("binary", "gaussian"),
    ("binary", "gaussian-learned"),
    ("binary", "multinomial"),
    ("gaussian-learned", "multinomial"),
    ("binary", "poisson"),
]
SHAPES = {
    "full": {},
    "factored": {"n_factors": 3},
    "premapped": {"premapped": True},
    "premapped, factored": {"premapped": True, "n_factors": 2},
    **{f"without {bias}": {"biases": [other for other in BIASES if other != bias]} for bias in BIASES},
    "no biases": {"biases": ()},
}


def states(visible, hidden):
    return states_of(visible, SIZES[visible]), states_of(hidden, 2)


def data_row(visible):
    rows = {"binary": [1, 0, 1], "poisson": [2, 0], "multinomial": [0, 1, 1, 0]}
    return torch.tensor([rows.get(visible, [0.8, -1.3])], dtype=torch.float64)


def log_likelihood(model, y, all_y, all_z):
    conditioned = model.condition(X)
    seen = all_scores(conditioned, y, all_z.values) + all_z.log_weights
    return torch.logsumexp(seen[0], dim=0) - log_partition(conditioned, all_y, all_z)


def expected_contrast(model, y, all_y, all_z):
    """The contrast with every state of the model in turn, weighted by its probability: no sampling, no steps."""
    conditioned = model.condition(X)
    with torch.no_grad():
        joint = all_scores(conditioned, all_y.values, all_z.values) + all_y.log_weights[:, None] + all_z.log_weights
        probability = torch.softmax(torch.logsumexp(joint, dim=1), dim=0)
        kept = probability > 1e-14
    rows = all_y.values[kept]
    many = model.condition(X.expand(len(rows), -1))
    with torch.no_grad():
        hidden_data = many.hidden.mean(many.hidden_parameters(y.expand(len(rows), -1)))
        hidden_model = many.hidden.mean(many.hidden_parameters(rows))
    scores = many.score(rows, hidden_model) - many.score(y.expand(len(rows), -1), hidden_data)
    return (probability[kept] * scores).sum()


@pytest.mark.parametrize(("visible", "hidden"), PAIRS)
def test_the_contrast_with_all_states_is_the_gradient_of_the_log_likelihood(visible, hidden):
    model, y = machine(visible, hidden), data_row(visible)
    everything = states(visible, hidden)
    exact = gradients(model, lambda: -log_likelihood(model, y, *everything))
    ours = gradients(model, lambda: expected_contrast(model, y, *everything))
    assert exact.abs().max() > 0.05
    torch.testing.assert_close(ours, exact, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("visible", ["binary", "gaussian-learned"])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_gradient_is_exact_for_every_form_of_the_machine(visible, shape):
    model, y = machine(visible, **SHAPES[shape]), data_row(visible)
    everything = states(visible, "binary")
    exact = gradients(model, lambda: -log_likelihood(model, y, *everything))
    ours = gradients(model, lambda: expected_contrast(model, y, *everything))
    torch.testing.assert_close(ours, exact, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("visible", "hidden"), PAIRS)
@pytest.mark.parametrize("factors", [None, 3])
def test_the_free_score_is_the_sum_over_hidden_states(visible, hidden, factors):
    model, y = machine(visible, hidden, n_factors=factors), data_row(visible)
    _, all_z = states(visible, hidden)
    conditioned = model.condition(X)
    summed = torch.logsumexp(all_scores(conditioned, y, all_z.values) + all_z.log_weights, dim=1)
    torch.testing.assert_close(conditioned.free_score(y), summed, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("visible", ["binary", "gaussian", "gaussian-learned", "poisson", "multinomial"])
@pytest.mark.parametrize("shape", ["full", "factored", "premapped", "no biases"])
def test_the_contrast_of_batches_is_the_difference_of_mean_scores(visible, shape):
    model = machine(visible, **SHAPES[shape])
    rows = states_of(visible, SIZES[visible]).values
    rows = rows[torch.linspace(0, len(rows) - 1, 8).long()]
    y, fantasy = rows[:4], rows[4:]
    x, z, z_model = torch.randn(4, 2).double(), torch.rand(4, 2).double(), torch.rand(4, 2).double()

    def by_scores():
        conditioned = model.condition(x)
        return (conditioned.score(fantasy, z_model) - conditioned.score(y, z)).mean()

    ours = gradients(model, lambda: model.condition(x).contrast(y, z, fantasy, z_model))
    torch.testing.assert_close(ours, gradients(model, by_scores))
    torch.testing.assert_close(model.condition(x).contrast(y, z, fantasy, z_model), by_scores())


@pytest.mark.parametrize("bias", BIASES)
def test_a_bias_that_is_switched_off_is_not_there(bias):
    n_parameters = {name: p.numel() for name, p in machine().named_parameters()}
    names = {"xy": "input_visible", "xz": "input_hidden", "yz": "tie.weights", "y": "visible_bias", "z": "hidden_bias"}
    without = machine(biases=[other for other in BIASES if other != bias])
    assert set(n_parameters) - {name for name, _ in without.named_parameters()} == {names[bias]}


def cd_gradient(model, x, y, steps, generator):
    return gradients(
        model, lambda: contrast(model.condition(x), y, steps=steps, mean_field=False, generator=generator)[0]
    )


@pytest.mark.parametrize("visible", ["binary", "gaussian-learned", "poisson", "multinomial"])
def test_cd_tends_to_the_exact_gradient_as_its_steps_grow(visible):
    model, y = machine(visible), data_row(visible)
    with torch.no_grad():
        model.gated.weights *= 2  # slow mixing: one step is not enough
    exact = gradients(model, lambda: -log_likelihood(model, y, *states(visible, "binary")))
    generator = torch.Generator().manual_seed(0)
    n = 40_000
    x, rows = X.expand(n, -1), y.expand(n, -1)
    far = {steps: cd_gradient(model, x, rows, steps, generator) - exact for steps in (1, 20)}
    one = far[1] + exact
    assert one @ exact > 0.5 * one.norm() * exact.norm()  # the direction is right after one step
    assert far[20].norm() < 0.3 * far[1].norm()
    assert far[20].norm() < 0.05 * exact.norm()


@pytest.mark.thorough
def test_mean_field_learning_finds_standard_deviations_that_no_unit_explains():
    torch.manual_seed(0)
    y = torch.randn(500, 3) * torch.tensor([0.2, 1.0, 3.0])
    model = PlainMachine(units("gaussian-learned", 3), units("binary", 2), size=0.0)
    model.tie.weights.requires_grad_(False)
    train(
        model,
        lambda batch, generator: contrast(model.condition(), batch[0], generator=generator)[0],
        lambda done: itertools.repeat((y,)),
        Schedule(learning_rate=0.02, max_iter=500),
    )
    torch.testing.assert_close(model.visible.scale.detach(), y.std(dim=0), rtol=0.01, atol=0)


@pytest.mark.parametrize("visible", ["binary", "gaussian-learned", "poisson", "multinomial"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_constant_input_makes_it_a_restricted_machine(visible, optimizer):
    """Gradients and updates, bit by bit as far as products of other shapes allow."""
    size = SIZES[visible]
    torch.manual_seed(0)
    plain = PlainMachine(units(visible, size, **OPTIONS.get(visible, {})), units("binary", 3)).double()
    gated = GatedMachine(
        1, units(visible, size, **OPTIONS.get(visible, {})), units("binary", 3), biases=("y", "z")
    ).double()
    with torch.no_grad():
        plain.tie.weights.copy_(0.5 * torch.randn(size, 3))
        gated.gated.weights.copy_(plain.tie.weights[None])
    rows = states_of(visible, size).values
    y = rows[torch.linspace(0, min(len(rows), 40) - 1, 12).long()]
    x = torch.ones(12, 1).double()

    def loss(model):
        return lambda batch, generator: contrast(model.condition(x), batch[0], mean_field=False, generator=generator)[0]

    schedule = Schedule(optimizer=optimizer, learning_rate=0.05, max_iter=30)
    for model in (plain, gated):
        train(model, loss(model), lambda done: itertools.repeat((y,)), schedule)
    torch.testing.assert_close(gated.gated.weights[0], plain.tie.weights)
    torch.testing.assert_close(gated.visible_bias, plain.visible_bias)
    torch.testing.assert_close(gated.hidden_bias, plain.hidden_bias)
    assert (plain.hidden_bias.abs() > 1e-3).all()
