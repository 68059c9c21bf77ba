"""Settings that a checkpoint stores beside its state; a run can only be resumed with the same settings."""

from __future__ import annotations

import os
import pickle
from collections.abc import Mapping

import numpy as np
import torch
from sklearn.base import BaseEstimator

from sidelight.base.messages import error_message
from sidelight.base.types import NamedValues, Parameters

__all__ = ["FREE", "identity_of", "read"]

FREE = ("callback", "checkpoint", "device", "max_iter", "n_jobs", "tol", "verbose")
"""Parameters that may change when a run is resumed."""
_OWNER = "estimator"


def identity_of(owner: str, parameters: Parameters, sizes: Mapping[str, int]) -> dict[str, str]:
    """Parameters that determine the training (also of a patch model) and the columns of the data, as text."""
    identity = {_OWNER: owner}
    for name, value in parameters.items():
        if name.rpartition("__")[2] not in FREE:
            identity[name] = _text(value)
    return identity | {name: _text(size) for name, size in sizes.items()}


def _text(value: object) -> str:
    """Text to compare values by: estimators and random generators by class name, lists and sets as tuples."""
    if isinstance(value, BaseEstimator | np.random.RandomState | np.random.Generator):
        return type(value).__name__
    if isinstance(value, set | frozenset):
        value = sorted(value)
    if isinstance(value, list | tuple):
        return "(" + ", ".join(_text(part) for part in value) + ")"
    return repr(value.item() if isinstance(value, np.generic) else value)


def read(path: str | os.PathLike[str], settings: Mapping[str, str]) -> NamedValues:
    """Read the checkpoint at ``path``; it must have been written with the same ``settings``."""
    owner = settings.get(_OWNER, "train")
    shown = os.fspath(path)
    try:
        content = torch.load(path, weights_only=True)
        before: dict[str, str] = content["settings"]
    except (pickle.UnpicklingError, RuntimeError, EOFError, KeyError, TypeError) as error:
        rule = "is not a checkpoint that training can resume from"
        raise ValueError(error_message(owner, "checkpoint", shown, rule, "Name another file, or delete it")) from error
    for name in sorted({*before, *settings}, key=lambda name: (name != _OWNER, name)):
        then, now = before.get(name), settings.get(name)
        if then != now:
            rule = f"was written with {name}={then}, not {name}={now}"
            raise ValueError(error_message(owner, "checkpoint", shown, rule, "Set it back, or delete the file"))
    return dict(content)
