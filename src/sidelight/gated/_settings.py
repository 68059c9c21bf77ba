"""The fourteen training parameters that all estimators of this package share, with their documentation.

Helpers get a ``TrainingSettings`` instead of the estimator. ``shows_training_parameters`` inserts the texts below into
the docstring of an estimator, with that class's own defaults, so that ``help`` and the API pages show them.
"""

from __future__ import annotations

import inspect
import os
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Protocol, TypeVar

import torch

from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.result import Callback
from sidelight.base.types import Parameters, RandomState
from sidelight.base.validation import check_choice, check_integer, check_number

from ._training import Schedule

__all__ = ["MACHINE_OPTIMIZERS", "NETWORK_OPTIMIZERS", "TrainingSettings", "shows_training_parameters"]

MACHINE_OPTIMIZERS = ("sgd", "adam")
NETWORK_OPTIMIZERS = ("auto", "lbfgs", "adam", "sgd")
_SMALL = 30_000_000  # rows times parameters: an iteration on all rows takes less than about 0.1 s
_PLACE = "{training parameters}"

# name: (type, text). <...> is shown only where an estimator can be trained on all rows at once, {...} where it cannot.
_TEXTS = {
    "optimizer": (
        "",
        '<"lbfgs": all rows at once, in double precision. "auto": that where rows times parameters are few, else '
        '"adam".>',
    ),
    "learning_rate": ("float", '<Of "adam" and "sgd".>{In the last half of the updates it falls to nothing.}'),
    "momentum": ("float", 'Of "sgd".'),
    "weight_decay": (
        "float",
        "λ in the penalty λ/2 Σ W² on weights.< The loss itself is a mean over rows and columns.>",
    ),
    "decay_biases": ("bool", "True: the penalty is on biases, too."),
    "batch_size": ("int", 'Rows of an update<, of "adam" and "sgd">.'),
    "max_iter": ("int", "Updates, of one batch each<, or iterations on all rows>."),
    "validation_fraction": (
        "float",
        "Share of the rows held out; the parameters <with the lowest loss on them>{that reconstruct them best} are "
        "kept.",
    ),
    "patience": (
        "int",
        "With held-out rows: looks (every 100 updates<, 10 iterations on all rows>) without improvement that end "
        "training.",
    ),
    "device": ("str", "Where torch computes."),
    "checkpoint": (
        "path or None",
        "A file that training< by batches> is saved to every 100 updates, and taken up from where it exists, by a "
        "model with the same parameters.",
    ),
    "random_state": (
        "int, RandomState or None",
        "For the first weights, the batches and what is drawn. None is a fixed seed: the same call gives the same "
        "result.",
    ),
    "verbose": ("int", "1: a progress bar."),
    "callback": ("callable or None", "Called with a state now and then; returning True ends training."),
}


@dataclass(frozen=True)
class TrainingSettings:
    """Training parameters; the fields are the constructor parameters of the same names."""

    optimizer: str
    learning_rate: float
    momentum: float
    weight_decay: float
    decay_biases: bool
    batch_size: int
    max_iter: int
    validation_fraction: float
    patience: int
    device: str
    checkpoint: str | os.PathLike[str] | None
    random_state: RandomState
    verbose: int
    callback: Callback | None

    @classmethod
    def checked(cls, owner: str, parameters: Parameters, optimizers: tuple[str, ...]) -> TrainingSettings:
        """The settings among the ``parameters`` of an estimator; ValueError if one is out of range."""
        found = cls(**{field.name: parameters[field.name] for field in fields(cls)})
        check_choice(owner, "optimizer", found.optimizer, optimizers)
        check_number(owner, "learning_rate", found.learning_rate, 0.0)
        check_number(owner, "momentum", found.momentum, -1e-12, 1.0)
        check_number(owner, "weight_decay", found.weight_decay, -1e-12)
        check_integer(owner, "batch_size", found.batch_size, 1)
        check_integer(owner, "max_iter", found.max_iter, 1)
        check_number(owner, "validation_fraction", found.validation_fraction, -1e-12, 1.0)
        check_integer(owner, "patience", found.patience, 0)
        return found

    def check_stream(self, owner: str) -> None:
        """Raise ValueError for an optimiser that needs all rows at once."""
        if self.optimizer == "lbfgs":
            rule = "works on all rows at once, and here they come batch by batch"
            raise ValueError(error_message(owner, "optimizer", "lbfgs", rule, 'Use "adam", which "auto" takes here'))

    @property
    def place(self) -> tuple[torch.device, torch.dtype]:
        """Device and dtype of training."""
        return torch.device(self.device), torch.float32

    def draw_seed(self) -> int:
        """A seed from ``random_state``; if that is a generator, a new one at each call."""
        return random_seed(self.random_state)

    def at_once(self, n_rows: int, n_parameters: int) -> bool:
        """Whether to train on all rows at once instead of batches of them."""
        if self.optimizer == "auto":
            return n_rows * n_parameters <= _SMALL and self.checkpoint is None and self.device == "cpu"
        return self.optimizer == "lbfgs"

    def schedule(self, seed: int, *, decay_share: float = 0.0, identity: Mapping[str, str] | None = None) -> Schedule:
        """The settings of the training loop; ``identity``: settings that a checkpoint must have been written with."""
        return Schedule(
            optimizer="adam" if self.optimizer == "auto" else self.optimizer,
            learning_rate=self.learning_rate,
            momentum=self.momentum,
            weight_decay=self.weight_decay,
            decay_biases=bool(self.decay_biases),
            max_iter=self.max_iter,
            patience=self.patience,
            seed=seed,
            checkpoint=self.checkpoint,
            decay_share=decay_share,
            settings={} if identity is None else identity,
        )


class HasOptimizers(Protocol):
    """An estimator class that lists the allowed values of its parameter ``optimizer``."""

    _optimizers: tuple[str, ...]


_Estimator = TypeVar("_Estimator", bound=HasOptimizers)


def shows_training_parameters(cls: type[_Estimator]) -> type[_Estimator]:
    """Class decorator: replaces ``{training parameters}`` in the docstring by the documentation of these parameters."""
    if cls.__doc__:  # None under python -OO
        cls.__doc__ = cls.__doc__.replace(_PLACE, _documentation(cls, cls._optimizers))
    return cls


def _documentation(cls: type[object], optimizers: tuple[str, ...]) -> str:
    """A numpydoc entry for each parameter, indented as in a class docstring."""
    defaults = inspect.signature(cls).parameters
    at_once = "lbfgs" in optimizers
    lines: list[str] = []
    for name, (kind, text) in _TEXTS.items():
        options = kind or "{" + ", ".join(f'"{option}"' for option in optimizers) + "}"
        default = defaults[name].default
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        lines.append(f"{name} : {options}, default={shown}")
        lines += [f"    {line}" for line in textwrap.wrap(_chosen(text, at_once), width=112)]
    return "\n    ".join(lines)


def _chosen(text: str, at_once: bool) -> str:
    """Keep the parts in <> or those in {}, without the brackets."""
    dropped, kept = (r"\{[^}]*\}", r"[<>]") if at_once else (r"<[^>]*>", r"[{}]")
    return re.sub(kept, "", re.sub(dropped, "", text))
