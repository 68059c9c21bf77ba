"""Gated Boltzmann machine: a step of learning and all distances, beside the ways one would write first.

Full weights: the explicit three-way array x_i y_j z_k of the batch, and a ``torch.einsum`` for each contraction; both
with the same optimiser, the same states and the same update. One thread each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.harness import Report, peak_memory, race
from sidelight.gated import GatedBoltzmannMachine
from sidelight.gated._distance import pairwise_distance
from sidelight.gated._divergence import contrast
from sidelight.gated._machines import GatedMachine
from sidelight.gated._training import Run, Schedule
from sidelight.gated._units import units

TITLE = "gated Boltzmann machine: steps of learning, and distances of all pairs"
RIVALS = ("torch",)
SIZES = (100, 100, 50)
FACTORED = (400, 400, 100, 200)
BATCH = 100

_SETUP = """
import torch
torch.set_num_threads(1)
from benchmarks.gated import BATCH, ours
small = ours(4, 4, 3, batch=5)
small()
step = ours({i}, {j}, {k}, n_factors={f}, batch=BATCH)
"""


def pairs(i: int, j: int, batch: int = BATCH) -> tuple[Tensor, Tensor]:
    torch.manual_seed(0)
    return (torch.rand(batch, i) < 0.1).float(), (torch.rand(batch, j) < 0.1).float()


def ours(i: int, j: int, k: int, *, n_factors: int | None = None, batch: int = BATCH) -> Callable[[], Any]:
    """A step of our training loop: fold, contrast, backward, Adam."""
    machine = GatedMachine(i, units("binary", j), units("binary", k), n_factors=n_factors)
    run = Run(
        machine,
        lambda rows, generator: contrast(machine.condition(rows[0]), rows[1], generator=generator)[0],
        Schedule(learning_rate=1e-3),
    )
    rows = pairs(i, j, batch)
    return lambda: run.update(rows)


class Written:
    """The same step with weights only, every contraction written out; ``explicit``: through the array (n, i, j, k)."""

    def __init__(self, i: int, j: int, k: int, *, explicit: bool, batch: int = BATCH) -> None:
        torch.manual_seed(0)
        self.weights = torch.nn.Parameter(0.01 * torch.randn(i, j, k))
        self.optimizer = torch.optim.Adam([self.weights], lr=1e-3, fused=True)
        self.x, self.y = pairs(i, j, batch)
        self.explicit = explicit

    @torch.no_grad()
    def __call__(self) -> None:
        W, x, y = self.weights, self.x, self.y
        hidden, visible, outer = (_explicit if self.explicit else _einsum)(W, x)
        z = torch.sigmoid(hidden(y))
        y_model = torch.sigmoid(visible(z))
        z_model = torch.sigmoid(hidden(y_model))
        W.grad = (outer(y_model, z_model) - outer(y, z)) / len(x)
        self.optimizer.step()


def _einsum(W: Tensor, x: Tensor) -> tuple[Callable[..., Tensor], ...]:
    return (
        lambda y: torch.einsum("ijk,ni,nj->nk", W, x, y),
        lambda z: torch.einsum("ijk,ni,nk->nj", W, x, z),
        lambda y, z: torch.einsum("ni,nj,nk->ijk", x, y, z),
    )


def _explicit(W: Tensor, x: Tensor) -> tuple[Callable[..., Tensor], ...]:
    def both(y: Tensor) -> Tensor:
        return x[:, :, None] * y[:, None, :]

    return (
        lambda y: (W * both(y)[..., None]).sum(dim=(1, 2)),
        lambda z: (W * (x[:, :, None, None] * z[:, None, None, :])).sum(dim=(1, 3)),
        lambda y, z: (both(y)[..., None] * z[:, None, None, :]).sum(dim=0),
    )


def agreement(i: int = 7, j: int = 6, k: int = 5) -> float:
    """The largest difference of the three updates of a machine with weights only: they compute the same."""
    found = []
    for explicit in (False, True):
        step = Written(i, j, k, explicit=explicit)
        step()
        found.append(step.weights.grad)
    machine = GatedMachine(i, units("binary", j), units("binary", k), biases=())
    with torch.no_grad():
        machine.gated.weights.copy_(Written(i, j, k, explicit=False).weights)
    x, y = pairs(i, j)
    contrast(machine.condition(x), y)[0].backward()
    return max(float((machine.gated.weights.grad - other).abs().max()) for other in found)


def templates(n: int, visible: str = "gaussian") -> tuple[GatedMachine, Tensor, Tensor]:
    """A machine of 16 × 16 pixels and 50 mapping units with weights that matter, and rows."""
    torch.manual_seed(0)
    machine = GatedMachine(256, units(visible, 256), units("binary", 50), size=0.02).requires_grad_(False)
    rows = torch.randn(2, n, 256) if visible == "gaussian" else (torch.rand(2, n, 256) < 0.3).float()
    return machine, rows[0], rows[1]


def run(*, quick: bool) -> Report:
    torch.set_num_threads(1)
    report = Report()
    repeats = 5 if quick else 30
    report.at_most("largest difference of the three updates", agreement(), 1e-6)
    step, einsum = ours(*SIZES), Written(*SIZES, explicit=False)
    times = race({"ours": step, "einsum": einsum}, repeats=repeats)
    name = "step at {} × {} × {}, batch {}".format(*SIZES, BATCH)
    report.faster(name, times["ours"], times["einsum"], "torch.einsum", at_least=1.5)
    slow = race({"ours": step, "explicit": Written(*SIZES, explicit=True)}, repeats=2 if quick else 4)
    report.faster(f"the same {name}", slow["ours"], slow["explicit"], "explicit tensor", at_least=10.0)
    factored = race({"ours": ours(*FACTORED[:3], n_factors=FACTORED[3])}, repeats=repeats)["ours"]
    report.note("factored step at {} × {} × {}, {} factors".format(*FACTORED), factored.best, unit="s")
    _memory(report)
    _distances(report, 200 if quick else 1000)
    _estimator(report, 300 if quick else 500)
    return report


def _memory(report: Report) -> None:
    """A step takes parameters, gradient, two moments, and a few arrays (n, j, k); never (n, i, j, k)."""
    i, j, k = SIZES
    numbers = i * j * k + BATCH * j * k
    peak = peak_memory(_SETUP.format(i=i, j=j, k=k, f=None), "step(); step()")
    limit = 10 * 4 * numbers / 2**20
    report.at_most(
        "memory of a step",
        peak / 2**20,
        limit,
        unit="MiB",
        rival=4 * BATCH * i * j * k / 2**20,
        rival_name="explicit tensor",
    )
    i, j, k, f = FACTORED
    peak = peak_memory(_SETUP.format(i=i, j=j, k=k, f=f), "step(); step()")
    report.note("memory of a factored step", peak / 2**20, unit="MiB")


def _distances(report: Report, n: int) -> None:
    for visible in ("gaussian", "binary"):
        machine, x, y = templates(n, visible)
        timing = race({"ours": lambda m=machine, a=x, b=y: pairwise_distance(m, a, b)}, repeats=3)["ours"]
        what = f"distances of {n:,} × {n:,} rows of 256, 50 units, {visible} outputs"
        if n < 1000 or visible == "binary":
            report.note(what, timing.best, unit="s")
        else:
            report.at_most(what, timing.best, 2.0, unit="s")
        report.details.setdefault("repeats", {})[what] = timing.seconds


def _estimator(report: Report, max_iter: int) -> None:
    """What the estimator adds to its steps: batches, records, frames."""
    i, j, k = SIZES
    X, Y = (part.numpy() for part in pairs(i, j, 2000))
    model = GatedBoltzmannMachine(k, visible="binary", max_iter=max_iter, random_state=0)
    step = ours(*SIZES)
    times = race(
        {"fit": lambda: model.fit(X, Y), "steps": lambda: [step() for _ in range(max_iter)]}, repeats=1, warm_up=False
    )
    report.note("fit over its bare steps", times["fit"].best / times["steps"].best)
    report.details["loss"] = float(np.mean([record["objective"] for record in model.history_[-5:]]))
