"""Who the training rows are: checks of the ``individuals`` of ``counterfactual_interval``."""

from __future__ import annotations

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.paired_changes import individuals_needed
from sidelight.side.columns import is_missing

__all__ = ["check_enough_individuals", "checked_individuals"]


def checked_individuals(owner: object, individuals: object, n: int) -> Array:
    """Numbers (n,) of the individuals of the training rows; without them nothing is known of pairs, and it raises.

    A row whose individual is missing (None, NaN) is one of its own: of whom nothing is known, nothing is paired.
    """
    if individuals is None:
        rule = (
            "needs individuals for intervals: groups of unknown individuals do not tell how much of a row stays the "
            "same in the other group"
        )
        remedy = 'Give individuals (who each training row is), or use residual="auto"'
        raise ValueError(error_message(owner, "residual", "row", rule, remedy))
    labels = np.asarray(individuals)
    if labels.shape != (n,):
        rule = f"does not have one entry for each of the {n} training rows with a known given"
        remedy = "Give them in the order of the fit, without the rows whose given is missing"
        raise ValueError(error_message(owner, "individuals", labels.shape, rule, remedy))
    unknown = np.array([is_missing(label) for label in labels.tolist()], dtype=bool)
    numbers = np.full(n, -1)
    numbers[~unknown] = np.unique(labels[~unknown].astype(str), return_inverse=True)[1]
    numbers[unknown] = numbers.max(initial=-1) + 1 + np.arange(unknown.sum())
    return numbers


def check_enough_individuals(owner: object, found: int, level: float) -> None:
    """Raise where too few individuals were seen in both groups for this level."""
    needed = individuals_needed(level)
    if found < needed:
        rule = f"are in both categories, and level={level:g} needs {needed}"
        remedy = (
            f"Choose a level of at most {int(100 * found / (found + 1)) / 100:g}"
            if found >= 2
            else 'Use residual="auto"'
        )
        raise ValueError(error_message(owner, "individuals", found, rule, remedy))
