"""How the page shows a new map: aligned with the one before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain, last_step_of

from ._align import Similarity, aligned
from ._axis import axis_names_of
from ._fit import Fitted
from ._held import held_places
from .statement import Statement

__all__ = ["placed_map"]


def placed_map(fitted: Fitted, statements: Sequence[Statement], before: NDArray[Any]) -> Similarity:
    """The similarity that takes a map near to the places ``before`` (n, q).

    Rows that are held come to where the page has them; without such rows, pinned rows decide, or all. Named axes are
    not turned.
    """
    Z, last = fitted.embedding, last_step_of(as_chain(fitted.model))
    held = held_places(statements, np.arange(len(Z)), Z.shape[1]) if capabilities(last).takes_held else None
    if held is not None:
        return aligned(Z, held.targets(before), held.rows)
    pinned = [row for one in statements if one.kind == "pin" for row in one.rows]
    named = tuple(k for k, name in enumerate(axis_names_of(last)) if name)
    return aligned(Z, before, np.unique(pinned) if pinned else None, named)
