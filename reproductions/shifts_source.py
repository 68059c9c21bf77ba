"""S0 figs. 5.2 and 5.3 in the source's setting: contrastive divergence with drawn negatives, plain gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from reproductions.harness import Outcome
from reproductions.shifts import HALVES, SEEDS, WHOLE, Shifts, Trial, draw_pairs, measured
from sidelight.gated import GatedBoltzmannMachine

TITLE = "Shifts by contrastive divergence as in the source"
SOURCE = "S0 (Memisevic 2007), section 5.2.4, figs. 5.2 and 5.3"
BATCHES, RATE = 3000, 0.5


def run() -> Outcome:
    found = {name: [trained(shifts, seed) for seed in SEEDS] for name, shifts in KINDS.items()}
    outcome = Outcome(
        f"Random pictures of 10 × 10 pixels, a tenth of them on; 20 and 10 mapping units, binary outputs, {BATCHES:,} "
        "batches of 100 pairs made on the fly, one step of Gibbs sampling for the negatives, plain gradients. Not "
        f"given: the rate ({RATE}), and how many batches (several thousand). Five seeds, 500 held-out pairs.",
        draw_pairs([(KINDS[name], trials[0].model) for name, trials in found.items()]),
        "As in figs. 5.2 and 5.3, from left to right in each half: input, output, inferred flow, another picture, and "
        "the inferred transformation applied to it. Left: whole pictures, right: halves on their own. Held-out pairs, "
        "first seed.",
    )
    for name, trials in found.items():
        _compare(outcome, name, trials)
    return outcome


KINDS = {"shifts": WHOLE, "factorial shifts": HALVES}


def trained(shifts: Shifts, seed: int) -> Trial:
    """A machine by the source's training, measured on held-out pairs."""
    options: dict[str, Any] = {"optimizer": "sgd", "momentum": 0.0, "learning_rate": RATE, "negatives": "sampled"}
    options |= {"max_iter": 3000, "weight_decay": 0.0}
    model = GatedBoltzmannMachine(shifts.n_mapping, visible="binary", random_state=seed, **options)
    make = shifts.batches(np.random.default_rng(seed))
    for _ in range(BATCHES):
        model.partial_fit(*make())  # a constant rate
    return measured(shifts, model)


def _compare(outcome: Outcome, name: str, trials: list[Trial]) -> None:
    flow, precision = [t.flow for t in trials], [t.precision for t in trials]
    what = f"source's setting: {name}"
    outcome.note(f"{what}: flow right, median of five seeds", np.median(flow), '"consistently"')
    outcome.note(f"{what}: flow right, worst of five seeds", min(flow), '"consistently"')
    outcome.note(f"{what}: average precision of the transferred picture, median", np.median(precision), "a picture")
    outcome.note(f"{what}: average precision of the transferred picture, worst", min(precision), "a picture")
    outcome.details[name] = {"flow": flow, "precision": precision}
