"""How far each row of the map of a report can be believed."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import last_step_of
from sidelight.base.model import FittedModel
from sidelight.explain import reliability
from sidelight.explain._reliable_words import believed
from sidelight.maps.two_way_mixin import TwoWayMixin

__all__ = ["LEAST", "Reliability", "reliability_of"]

LEAST = 0.5
"""Rows of a lower reliability are more often wrong than right: the map fades them."""


@dataclass(frozen=True)
class Reliability:
    """Reliability of each row (n,), NaN where a row has gaps, and sentences about all of them."""

    values: NDArray[np.float64]
    words: str


def reliability_of(model: FittedModel, Z: NDArray[Any], X: NDArray[Any] | None, given: Any) -> Reliability | None:
    """Reliability of rows at places Z (n, q) of the model's map; None where nothing can be said."""
    offers = capabilities(last_step_of(model))
    if X is None or offers.takes_distances or offers.finds_clusters or not offers.has_transform:
        return None
    whole = np.isfinite(X).all(axis=1)
    if given is not None and not whole.all():
        return None
    # The rows of a fit are known to the model: asking for them by name saves placing each again.
    own = offers.has_embedding and whole.all() and np.array_equal(np.asarray(last_step_of(model).embedding_), Z)
    asked = None if own and isinstance(last_step_of(model), TwoWayMixin) else X[whole]
    try:
        with warnings.catch_warnings():
            # Rows of the report are an array, whatever the model was fitted on.
            warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
            found = reliability(model, asked, given=None if asked is None else given, output="columns")
    except ValueError:  # a model without rows, or too few of them
        return None
    out = np.full(len(X), np.nan)
    out[whole] = found["reliability"]
    return Reliability(out, " ".join(believed(found)))
