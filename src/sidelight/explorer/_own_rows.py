"""The rows that a fitted model keeps in its maps, so that a model file alone can be explored."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sidelight.base.chain import Chain

__all__ = ["own_rows"]

_TOLERANCE = 1e-6  # of the spread of the map: a row that the model keeps is mapped to its own place


def own_rows(model: Any) -> NDArray[Any] | None:
    """The training rows (n, d) of a model that keeps all of them, else None.

    Kernel models keep their rows as points of the data's density, in the frame of the fit. Whether they are the rows of
    the map is not taken for granted: the model must map them to ``embedding_``.
    """
    if isinstance(model, Chain) and len(model.steps) != 1:
        return None
    last = model.steps[0] if isinstance(model, Chain) else model
    Z, frame, density = (getattr(last, name, None) for name in ("embedding_", "frame_", "density_"))
    points = getattr(density, "points", None)
    if Z is None or frame is None or points is None or len(points) != len(Z) or points.shape[1] != last.n_features_in_:
        return None
    X = np.asarray(frame.outside(points))
    apart = np.abs(np.asarray(last.transform(X)) - Z)
    return X if float(apart.max()) <= _TOLERANCE * max(float(np.ptp(Z)), 1e-300) else None
