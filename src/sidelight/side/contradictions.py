"""Checks of pairs: a row paired with itself, a repeated pair, a pair that is both same and different.

Every message names the rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.validation import DISTANCE_LIMIT, refuse_too_large
from sidelight.base.warnings import warn

from .pairs import Pairs, as_pairs

__all__ = ["check_distances", "distinct_pairs", "listed", "refuse_contradictions"]

Array = npt.NDArray[Any]
_SHOWN = 5


def distinct_pairs(owner: object, argument: str, pairs: Any, n: int) -> Pairs:
    """Pairs of two different rows, each once, lower row first; warns of repeated pairs, which count once.

    Parameters
    ----------
    owner, argument
        Estimator and argument that messages name.
    pairs : Pairs or array of shape (m, 2)
    n : int
        Rows of the data.
    """
    found = as_pairs(pairs, n)
    _refuse_loops(owner, argument, found.index)
    ordered = np.sort(found.index, axis=1)
    kept, first, counts = np.unique(ordered, axis=0, return_index=True, return_counts=True)
    if len(kept) < len(ordered):
        rule = "occurs more than once and counts once"
        warn(error_message(owner, argument, listed(kept[counts > 1]), rule, "Give each pair once"), UserWarning)
    return Pairs(ordered[np.sort(first)], n)


def refuse_contradictions(owner: object, same: Pairs, different: Pairs, attribute: str | None = None) -> None:
    """Raise if a pair is in both ``same`` and ``different``; both as ``distinct_pairs`` returns them.

    The message names the ``attribute``, where there are several.
    """
    n = max(same.n_samples, 1)
    first, second = (pairs.index[:, 0] * n + pairs.index[:, 1] for pairs in (same, different))
    both = np.intersect1d(first, second)
    if len(both):
        where = "" if attribute is None else f"[{attribute!r}]"
        rule = f"is among the pairs of different{where} too"
        seen = listed(np.column_stack([both // n, both % n]))
        raise ValueError(error_message(owner, f"same{where}", seen, rule, "Decide which of the two it is"))


def check_distances(owner: object, pairs: Any, distances: Any, n: int) -> tuple[Pairs, Array]:
    """Pairs and their distances (m,).

    A pair may occur more than once: it was measured more than once.

    Parameters
    ----------
    owner : object
        Estimator or name for messages.
    pairs : Pairs or array of shape (m, 2)
    distances : array of shape (m,) or None
        None: the ``values`` of the pairs.
    n : int
        Rows of the data.
    """
    found = as_pairs(pairs, n)
    if distances is None:
        if found.values is None:
            raise ValueError(
                error_message(owner, "distances", None, "leaves the pairs without a distance", "Give one for each pair")
            )
        distances = found.values
    values = np.asarray(distances, dtype=np.float64)
    if values.shape != (len(found.index),):
        seen, rule = f"array of shape {values.shape}", f"does not match the {len(found.index)} pairs"
        remedy = "Give one for each pair; where rows are split, Pairs(index, n, values=distances) keeps them together"
        raise ValueError(error_message(owner, "distances", seen, rule, remedy))
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        seen = f"{values[wrong][0]} for rows {listed(found.index[wrong])}"
        raise ValueError(
            error_message(owner, "distances", seen, "is not a distance", "Give finite numbers of at least 0")
        )
    refuse_too_large(owner, "distances", values, largest_allowed=DISTANCE_LIMIT)
    _refuse_loops(owner, "pairs", found.index)
    return found, values


def listed(index: Array) -> str:
    """The first few pairs as text.

    >>> listed(np.array([[0, 3], [1, 2]]))
    '(0, 3), (1, 2)'
    """
    shown = ", ".join(f"({i}, {j})" for i, j in index[:_SHOWN].tolist())
    return shown if len(index) <= _SHOWN else f"{shown} and {len(index) - _SHOWN} more"


def _refuse_loops(owner: object, argument: str, index: Array) -> None:
    loops = index[index[:, 0] == index[:, 1]]
    if len(loops):
        rule = "pairs a row with itself"
        raise ValueError(error_message(owner, argument, listed(loops), rule, "Give pairs of two rows"))
