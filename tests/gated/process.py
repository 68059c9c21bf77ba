"""One of several processes that train together: ``python process.py RANK PORT PATH`` writes what it found to PATH."""

from __future__ import annotations

import pickle
import sys
from datetime import timedelta

import torch
from torch import distributed

from sidelight.gated._divergence import contrast
from sidelight.gated._machines import GatedMachine
from sidelight.gated._training import Run, Schedule
from sidelight.gated._units import units


def gradient_of_a_batch():
    """Gradients of a step of learning, and the parameters after it."""
    torch.manual_seed(0)
    model = GatedMachine(5, units("gaussian-learned", 5), units("binary", 3))
    batch = torch.randn(21, 5)[:20], torch.randn(21, 5)[:20]
    run = Run(
        model,
        lambda part, generator: contrast(model.condition(part[0]), part[1], generator=generator)[0],
        Schedule(optimizer="sgd", learning_rate=1.0, momentum=0.0),
    )
    run.update(batch)
    return [part.detach().numpy().copy() for p in model.parameters() for part in (p.grad, p)]


def together(rank, port):
    """The same as a process of two; the batch is shared out inside."""
    address = f"tcp://127.0.0.1:{port}"
    distributed.init_process_group("gloo", address, timedelta(seconds=90), rank=rank, world_size=2)
    try:
        return gradient_of_a_batch()
    finally:
        distributed.destroy_process_group()


if __name__ == "__main__":
    found = together(int(sys.argv[1]), int(sys.argv[2]))
    with open(sys.argv[3], "wb") as file:
        pickle.dump(found, file)
