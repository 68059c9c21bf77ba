"""Tiny gated machines whose states can all be listed, for the tests of S0 section 2.2 and chapters 5 and 6."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

D, J, K = 3, 4, 2  # inputs, outputs, hidden units
RNG = np.random.default_rng(0)
X = (RNG.uniform(size=(60, D)) < 0.5).astype(float)
Y = (RNG.uniform(size=(60, J)) < 0.5).astype(float)
REAL = RNG.normal(size=(60, J))
ALL_Y = np.array(list(itertools.product([0.0, 1.0], repeat=J)))
ALL_Z = np.array(list(itertools.product([0.0, 1.0], repeat=K)))
QUICK = {"max_iter": 15, "learning_rate": 0.3, "optimizer": "sgd", "random_state": 0}

unconverged = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def sigmoid(a):
    return 1 / (1 + np.exp(-a))


def randomised(machine):
    """The machine with normal weights of size 0.5, in double precision."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in machine.parameters():
            parameter.copy_(0.5 * torch.randn(parameter.shape, generator=generator, dtype=torch.float64))
    return machine.double()


def parameters(model):
    """Fitted parameters by name, in double precision."""
    return {name: np.asarray(value, dtype=np.float64) for name, value in model.parameters_.items()}
