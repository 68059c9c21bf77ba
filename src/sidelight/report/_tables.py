"""A report of a table: the rows as the user knows them, beside the numbers that the model sees.

A Pipeline whose first step encodes a table of mixed columns is taken apart: the encoder is the way between the table
and the numbers, and the rest is the model that the sections describe.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import Chain
from sidelight.base.model import FittedModel
from sidelight.plot._colouring import column_names

__all__ = ["Unwrapped", "unwrap"]


@dataclass(frozen=True)
class Unwrapped:
    """A model of numbers ``X``, the ``table`` that they came from, and the way back to it."""

    described: FittedModel
    """The model with the step that encodes the table."""
    model: FittedModel
    X: Any
    table: Any
    to_data: Callable[[Any], Any] | None
    names: tuple[str, ...] = ()
    """Names of the columns of ``X`` that the encoding step gives them; empty where it gives none."""


def unwrap(model: FittedModel, X: Any, table: Any, to_data: Callable[[Any], Any] | None) -> Unwrapped:
    """Take the step that encodes a table off a chain; a model of numbers is left as it is, and ``X`` is its table."""
    own = X if table is None else table
    if X is None or not isinstance(model, Chain) or not _is_mixed(X):
        return Unwrapped(model, model, X, own, to_data)
    encoder, *rest = model.steps
    numbers = encoder.transform(X)
    numbers = np.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers)
    after = replace(model, before=tuple(rest[:-1])) if len(rest) > 1 else rest[-1]
    back = encoder.inverse_transform if capabilities(encoder).has_inverse else None
    names = encoder.get_feature_names_out() if hasattr(encoder, "get_feature_names_out") else ()
    return Unwrapped(model, after, numbers, own, back, tuple(str(name) for name in names))


def _is_mixed(X: Any) -> bool:
    """Whether a table has columns that are no numbers, or entries that are missing."""
    if not column_names(X):
        return False
    values = np.asarray(X)
    return values.dtype.kind not in "biuf" or bool(values.dtype.kind == "f" and np.isnan(values).any())
