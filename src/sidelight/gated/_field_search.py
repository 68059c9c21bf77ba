"""The short search of a field that is trained on all sites at once: network, share of single patches, weight decay.

Each candidate is trained until held-out blocks are predicted no better. The one that predicts them best, as averages of
overlapping patches, is trained again on all sites, for as many iterations. A network must be better than a linear
filter by ``_MARGIN``: blocks are few, and the filter is never far off.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar, cast

import torch
from torch import nn

from sidelight.base.types import NamedValues

from ._batches import Batch
from ._fields import Fields, as_tensor
from ._objectives import PatchObjective
from ._trainer import TrainedNetwork, Trainer

__all__ = ["ALONE", "LINEAR", "SHARES", "Candidate", "Searched", "searched", "train_on_sites"]

ALONE = 0.5
"""Weight of the loss of single patches where it is None and there is no search."""
SHARES = (0.1, 0.5)
"""The weights that a search tries."""
LINEAR = "linear"
"""Name of the candidate that is a linear filter."""
_MARGIN = 0.05
Setup = TypeVar("Setup")


@dataclass(frozen=True)
class Candidate(Generic[Setup]):
    """A patch model with its settings, the weight of the loss of single patches, and a name for the record."""

    name: str
    setup: Setup
    alone: float
    weight_decay: float


@dataclass(frozen=True)
class Searched(Generic[Setup]):
    """The best candidate, its network, and a record for each that was tried."""

    candidate: Candidate[Setup]
    found: TrainedNetwork
    records: list[NamedValues]


def searched(
    candidates: Sequence[Candidate[Setup]],
    trainer_of: Callable[[Candidate[Setup]], Trainer[nn.Module]],
    parts: tuple[list[Fields], ...],
    seed: int,
    *,
    verbose: int = 0,
) -> Searched[Setup]:
    """Train every candidate, and the best one again for as many iterations, on all sites.

    ``parts``: all fields, those to train on, and held-out ones. An interrupt or a callback that ends training ends the
    search: the best network so far is returned.
    """
    kinds, seen, held = parts
    tried: list[tuple[Candidate[Setup], TrainedNetwork]] = []
    for candidate in candidates:
        tried.append((candidate, train_on_sites(trainer_of(candidate), (seen, held), seed)))
        if tried[-1][1].was_ended:
            break
    records = [_record(candidate, found) for candidate, found in tried]
    candidate, found = min(tried, key=lambda pair: pair[1].held_out * (1 + _MARGIN * (pair[0].name != LINEAR)))
    last = tried[-1][1]
    if not last.was_ended:
        trainer = trainer_of(candidate)
        settings = replace(trainer.settings, max_iter=found.n_iter, verbose=verbose)
        last = train_on_sites(replace(trainer, settings=settings), (kinds, None), seed)
        found = found if last.was_ended else last
    return Searched(candidate, replace(found, was_interrupted=last.was_interrupted), records)


def train_on_sites(
    trainer: Trainer[nn.Module], parts: tuple[list[Fields], list[Fields] | None], seed: int
) -> TrainedNetwork:
    """Train a patch model on all sites at once; ``parts``: fields to train on, and held-out ones (or None).

    Where training ends by itself, averages of overlapping patches are judged, so that losses can be compared.
    """
    module, objective = trainer.begin(seed), cast(PatchObjective[nn.Module], trainer.objective)
    groups, out = _groups(parts[0]), None if parts[1] is None else _groups(parts[1])
    judge = replace(objective, alone=0.0) if trainer.settings.ends_by_itself else objective
    judged = None if out is None else lambda: float(judge.of_groups(module, out).detach())
    return trainer.at_once(module, lambda: objective.of_groups(module, groups), judged, seed)


def _groups(kinds: list[Fields]) -> list[Batch]:
    """Samples of one size together, in double precision."""
    by_shape: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, shape in enumerate(kinds[0].shapes):
        by_shape[shape].append(number)
    return [
        tuple(torch.cat([as_tensor(kind.samples[number]) for number in numbers]).double() for kind in kinds)
        for numbers in by_shape.values()
    ]


def _record(candidate: Candidate[Setup], found: TrainedNetwork) -> NamedValues:
    known = {"network": candidate.name, "alone": candidate.alone, "weight_decay": candidate.weight_decay}
    return known | {"held_out": found.held_out, "n_iter": found.n_iter}
