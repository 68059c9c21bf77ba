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
from dataclasses import dataclass, fields, replace
from typing import Protocol, TypeVar

import torch

from sidelight.base.messages import error_message
from sidelight.base.random import random_seed
from sidelight.base.result import Callback
from sidelight.base.types import NamedValues, Parameters, RandomState
from sidelight.base.validation import check_choice, check_integer, check_number

from ._rules import FEW, HELD_OUT, PATIENCE, TrainingRule
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
        '<"lbfgs": all rows at once, in double precision. "auto": "lbfgs" if rows times parameters are few, '
        'else "adam".>',
    ),
    "learning_rate": (
        "float or None",
        '<Of "adam" and "sgd".>{It decreases to 0 in the second half of training.} None: (rates).',
    ),
    "momentum": ("float", 'Momentum of "sgd".'),
    "weight_decay": (
        "float or None",
        "λ in the penalty λ/2 Σ W² on weights.< The loss itself is a mean over rows and columns.> None: 0 if "
        "``max_iter`` is given, else (decay).",
    ),
    "decay_biases": ("bool", "True: the penalty includes biases."),
    "batch_size": ("int or None", 'Rows per update<, for "adam" and "sgd">. None: (rows).'),
    "max_iter": (
        "int or None",
        "Number of updates (one batch each)<, or of iterations on all rows>. None: until the error of held-out rows "
        "stops decreasing, at most (longest).",
    ),
    "validation_fraction": (
        "float or None",
        "Share of the rows held out; the parameters <with the lowest loss on them>{that reconstruct them best} are "
        "kept. None: 0 if ``max_iter`` is given, else 0.1 (at most 1,000 rows).",
    ),
    "patience": (
        "int or None",
        "Number of checks of held-out rows (every 100 updates, 50 with ``max_iter=None``<, 10 iterations on all rows>) "
        "without improvement after which training stops or, with ``max_iter=None``, the rate starts to decrease. None: "
        "5 if ``max_iter`` is given, else 2.",
    ),
    "device": ("str", 'Device of PyTorch, for example "cuda".'),
    "checkpoint": (
        "path or None",
        "File to which training< by batches> is saved every 100 updates. If it exists, training resumes from it; the "
        "model must have the same parameters.",
    ),
    "random_state": (
        "int, RandomState or None",
        "Seed of the initial weights, the batches and samples. None is a fixed seed: the same call gives the same "
        "result.",
    ),
    "verbose": ("int", "1: a progress bar."),
    "callback": ("callable or None", "Called with a state at regular intervals; returning True stops training."),
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
    rule: TrainingRule
    unset: frozenset[str]
    """Parameters that were None, and have their values by the rule."""

    @classmethod
    def checked(
        cls, owner: str, parameters: Parameters, optimizers: tuple[str, ...], rule: TrainingRule
    ) -> TrainingSettings:
        """The settings among the ``parameters`` of an estimator; ValueError if one is out of range."""
        names = [field.name for field in fields(cls) if field.name not in ("rule", "unset")]
        values = _values(rule, ends_by_itself=parameters["max_iter"] is None)
        unset = frozenset(name for name in values if parameters[name] is None)
        chosen = {name: values[name] if name in unset else parameters[name] for name in names}
        found = cls(**chosen, rule=rule, unset=unset)
        check_choice(owner, "optimizer", found.optimizer, optimizers)
        check_number(owner, "learning_rate", found.learning_rate, 0.0)
        check_number(owner, "momentum", found.momentum, -1e-12, 1.0)
        check_number(owner, "weight_decay", found.weight_decay, -1e-12)
        check_integer(owner, "batch_size", found.batch_size, 1)
        check_integer(owner, "max_iter", found.max_iter, 1)
        check_number(owner, "validation_fraction", found.validation_fraction, -1e-12, 1.0)
        check_integer(owner, "patience", found.patience, 0)
        return found

    @property
    def ends_by_itself(self) -> bool:
        """Whether held-out rows decide when training ends (``max_iter=None``)."""
        return "max_iter" in self.unset

    @property
    def decays(self) -> tuple[float, ...]:
        """Weight decays to try on all rows at once: those of the rule, or the given one alone."""
        searched = self.ends_by_itself and "weight_decay" in self.unset
        return (self.rule.decays if searched else ()) or (self.weight_decay,)

    def with_decay(self, weight_decay: float) -> TrainingSettings:
        """The same with one weight decay instead of a search, and without a progress bar."""
        return replace(self, weight_decay=weight_decay, verbose=0, unset=self.unset - {"weight_decay"})

    def of_columns(self, n_columns: int) -> TrainingSettings:
        """The same settings for a number of modelled columns."""
        if not (self.rule.per_column and self.ends_by_itself and "weight_decay" in self.unset):
            return self
        return replace(self, weight_decay=self.rule.weight_decay / n_columns)

    def following(self, rule: TrainingRule) -> TrainingSettings:
        """The same parameters with another rule for those that are None."""
        values = _values(rule, ends_by_itself=self.ends_by_itself)
        return replace(self, rule=rule, **{name: values[name] for name in self.unset})

    def unjudged(self) -> TrainingSettings:
        """For rows that are too few to hold some out: the length of training is that of the rule."""
        return replace(self, max_iter=self.rule.unjudged) if self.ends_by_itself else self

    def without_end(self) -> TrainingSettings:
        """For ``partial_fit``, which cannot know when training ends: the values of a given ``max_iter``."""
        values = _values(self.rule, ends_by_itself=False)
        return replace(self, **{name: values[name] for name in self.unset}, unset=self.unset - {"max_iter"})

    def check_stream(self, owner: str) -> None:
        """Raise ValueError for an optimiser that needs all rows at once."""
        if self.optimizer == "lbfgs":
            rule = "needs all rows at once, and this call trains batch by batch"
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
            most = self.rule.at_once if self.ends_by_itself else _SMALL
            return n_rows * n_parameters <= most and self.checkpoint is None and self.device == "cpu"
        return self.optimizer == "lbfgs"

    def schedule(
        self,
        seed: int,
        *,
        decay_share: float = 0.0,
        identity: Mapping[str, str] | None = None,
        n_rows: int | None = None,
    ) -> Schedule:
        """The settings of the training loop.

        ``identity``: settings that a checkpoint must have been written with. ``n_rows``: training rows, if known.
        """
        look = self.rule.look if n_rows is None or n_rows >= FEW else self.rule.look_at_few
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
            ends_by_itself=self.ends_by_itself,
            check=look if self.ends_by_itself else 100,
        )


def _values(rule: TrainingRule, *, ends_by_itself: bool) -> NamedValues:
    """Values of the parameters that may be None."""
    return {
        "learning_rate": rule.learning_rate if ends_by_itself else rule.published_rate,
        "weight_decay": rule.weight_decay if ends_by_itself else 0.0,
        "batch_size": rule.batch_size if ends_by_itself else 100,
        "max_iter": rule.longest,
        "validation_fraction": HELD_OUT if ends_by_itself else 0.0,
        "patience": PATIENCE if ends_by_itself else 5,
    }


class HasOptimizers(Protocol):
    """An estimator class that lists the allowed values of its parameter ``optimizer``."""

    _optimizers: tuple[str, ...]
    _rule: TrainingRule


_Estimator = TypeVar("_Estimator", bound=HasOptimizers)


def shows_training_parameters(cls: type[_Estimator]) -> type[_Estimator]:
    """Class decorator: replaces ``{training parameters}`` in the docstring by the documentation of these parameters."""
    if cls.__doc__:  # None under python -OO
        line = next(line for line in cls.__doc__.splitlines() if _PLACE in line)
        entries = _documentation(cls, cls._optimizers, cls._rule)
        # Python 3.13 takes the indentation of docstrings away when it compiles them.
        cls.__doc__ = cls.__doc__.replace(_PLACE, f"\n{line[: line.index(_PLACE)]}".join(entries))
    return cls


def _documentation(cls: type[object], optimizers: tuple[str, ...], rule: TrainingRule) -> list[str]:
    """The lines of a numpydoc entry for each parameter."""
    defaults = inspect.signature(cls).parameters
    at_once = "lbfgs" in optimizers
    lines: list[str] = []
    for name, (kind, text) in _TEXTS.items():
        options = kind or "{" + ", ".join(f'"{option}"' for option in optimizers) + "}"
        default = defaults[name].default
        shown = f'"{default}"' if isinstance(default, str) else repr(default)
        lines.append(f"{name} : {options}, default={shown}")
        lines += [f"    {line}" for line in textwrap.wrap(_chosen(_with_numbers(text, rule), at_once), width=112)]
    return lines


def _with_numbers(text: str, rule: TrainingRule) -> str:
    """The text with the numbers of the rule in the place of (rates), (decay) and the like."""
    given = "if ``max_iter`` is given, else"
    tried = ", ".join(f"{decay:g}" for decay in rule.decays)
    decay = (
        f"{rule.weight_decay:g}"
        + (" over the number of columns" if rule.per_column else "")
        + ("" if rule.real_decay is None else f" ({rule.real_decay:g} for Gaussian outputs)")
    )
    numbers = {
        "(rates)": f"{rule.published_rate:g} {given} {rule.learning_rate:g}",
        "(decay)": decay + (f", or on all rows at once the best of {tried} on held-out rows" if tried else ""),
        "(longest)": f"{rule.longest:,}",
        "(rows)": "100" if rule.batch_size == 100 else f"100 {given} {rule.batch_size}",
    }
    for place, number in numbers.items():
        text = text.replace(place, number)
    return text


def _chosen(text: str, at_once: bool) -> str:
    """Keep the parts in <> or those in {}, without the brackets."""
    dropped, kept = (r"\{[^}]*\}", r"[<>]") if at_once else (r"<[^>]*>", r"[{}]")
    return re.sub(kept, "", re.sub(dropped, "", text))
