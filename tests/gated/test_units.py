"""Unit types: log partitions against sums, means against derivatives and draws."""

from __future__ import annotations

import pytest
import torch
from enumeration import OPTIONS, SIZES, states_of

from sidelight.gated._units import KINDS, MultinomialUnits, units

every = pytest.mark.parametrize("kind", KINDS)


def made(kind):
    one = units(kind, SIZES[kind], **OPTIONS.get(kind, {})).double()
    if kind.startswith("gaussian"):
        torch.nn.init.constant_(one.log_scale, -0.3)
    return one


def eta_of(kind, n=1):
    return 0.9 * torch.randn(n, SIZES[kind], generator=torch.Generator().manual_seed(1)).double()


def probabilities(one, kind, eta):
    states = states_of(kind, SIZES[kind])
    logs = one.statistic(states.values) @ eta[0] + one.base(states.values) + states.log_weights
    return states.values, logs.detach()


@every
def test_the_log_partition_is_the_sum_over_states(kind):
    one, eta = made(kind), eta_of(kind)
    _, logs = probabilities(one, kind, eta)
    torch.testing.assert_close(one.log_partition(eta)[0].detach(), torch.logsumexp(logs, dim=0))


@every
def test_the_mean_is_that_of_the_states_and_the_mode_the_most_probable(kind):
    one, eta = made(kind), eta_of(kind)
    values, logs = probabilities(one, kind, eta)
    mean = (torch.softmax(logs, dim=0)[:, None] * values).sum(dim=0)
    torch.testing.assert_close(one.mean(eta)[0].detach(), mean)
    step = 0.11 if kind.startswith("gaussian") else 1e-12  # of the grid
    assert (one.mode(eta)[0] - values[logs.argmax()]).abs().max() <= step


@every
def test_draws_have_the_mean_and_the_seed_decides(kind):
    one, eta = made(kind), eta_of(kind).expand(40_000, -1)
    draws = one.sample(eta, torch.Generator().manual_seed(0))
    torch.testing.assert_close(draws.mean(dim=0), one.mean(eta)[0].detach(), rtol=0.03, atol=0.02)
    assert torch.equal(draws, one.sample(eta, torch.Generator().manual_seed(0)))
    assert not torch.equal(draws, one.sample(eta, torch.Generator().manual_seed(1)))


@every
def test_what_noise_adds_to_the_base_has_the_gradient_of_draws(kind):
    one = made(kind)
    eta = eta_of(kind).expand(200_000, -1)
    if not list(one.parameters()):
        assert not getattr(one.noise_base(), "requires_grad", False)
        return
    with torch.no_grad():
        draws, mean = one.sample(eta, torch.Generator().manual_seed(0)), one.mean(eta)
    (by_draws,) = torch.autograd.grad(one.base(draws).mean() - one.base(mean).mean(), one.log_scale)
    (ours,) = torch.autograd.grad(one.noise_base(), one.log_scale)
    torch.testing.assert_close(ours, by_draws, rtol=0.02, atol=0)


def test_poisson_rates_do_not_overflow():
    assert torch.isfinite(units("poisson", 1).mean(torch.tensor([[200.0]]))).all()


def test_groups_that_do_not_divide_the_columns_are_said():
    with pytest.raises(ValueError, match=r"MultinomialUnits: levels=3 does not divide the 4 columns\."):
        MultinomialUnits(4, levels=3)
