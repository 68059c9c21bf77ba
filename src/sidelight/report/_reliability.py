"""How far each row of the map of a report can be believed."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import last_step_of
from sidelight.base.model import FittedModel
from sidelight.explain import reliability
from sidelight.maps.two_way_mixin import TwoWayMixin

__all__ = ["LEAST", "reliability_in_words", "reliability_of"]

LEAST = 0.5
"""Rows of a lower reliability are rather wrong than right: the map fades them."""


def reliability_of(
    model: FittedModel, Z: NDArray[Any], X: NDArray[Any] | None, given: Any
) -> NDArray[np.float64] | None:
    """Reliability (n,) of rows at places Z (n, q) of the model's map; None where nothing can be said.

    Rows without gaps; the others have NaN.
    """
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
    return out


def reliability_in_words(values: NDArray[np.float64]) -> str:
    """Which share of the rows can be believed.

    Examples
    --------
    >>> reliability_in_words(np.array([0.9, 0.9, 0.8, 0.2]))
    'About 70 % of the rows can be believed (mean reliability); 1 of 4 is rather wrong than right.'
    """
    known = values[np.isfinite(values)]
    wrong = int((known < LEAST).sum())
    said = (
        f"{wrong:,} of {len(known):,} {'is' if wrong == 1 else 'are'} rather wrong than right"
        if wrong
        else ("none is rather wrong than right")
    )
    return f"About {100 * known.mean():.0f} % of the rows can be believed (mean reliability); {said}."
