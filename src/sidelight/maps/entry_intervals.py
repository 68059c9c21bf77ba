r"""Widths of intervals of missing entries, calibrated by the errors of held-out entries.

With the errors r_1 ≤ ... ≤ r_m of m held-out entries, in their own standard deviations, a further entry is as likely to
fall into any of the m + 1 gaps between them, so that

    P(r ≤ r_k) = k / (m + 1)      and the half width for a level a is r_k with k = (m + 1) a

which for small m is more than the quantile a of the r_i. Beyond the largest of them the tail is taken as normal. Draws
need one scale s of the standard deviations rather than a width; there the errors count as m entries, and the model's
own deviations as k = 20:

    s² = (m s_m² + k) / (m + k),      s_m the half width for 95.4 %, divided by 2
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from .entry_models import EntryModel

__all__ = ["draw_scale", "half_width"]

_TWO_DEVIATIONS = 0.9545
_PRIOR = 20  # held-out entries that the model's own standard deviations are worth


def half_width(model: EntryModel, level: float, n_held_out: int) -> float:
    """Return half the width of intervals that hold a share ``level`` of further entries, in standard deviations.

    Parameters
    ----------
    model : EntryModel
    level : float
        Between 0 and 1.
    n_held_out : int
        Held-out entries by whose errors the model was calibrated; 0: none, and errors are normal.

    Examples
    --------
    >>> import numpy as np
    >>> from sidelight.maps.entry_models import fit_entry_model
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> model = fit_entry_model(X, "gaussian", owner="example", seed=0, n_jobs=1)
    >>> half_width(model, 0.9, 20) > half_width(model, 0.9, 2000)
    True
    """
    if n_held_out < 2:
        return _normal(level)
    rank = (n_held_out + 1) * level
    if rank <= n_held_out:
        return model.half_width(max(0.0, (rank - 1) / (n_held_out - 1)))
    return model.half_width(1.0) * _normal(level) / _normal(n_held_out / (n_held_out + 1))


def draw_scale(model: EntryModel, n_held_out: int) -> float:
    """Return the factor of the deviations of ``model.draw`` from the mean; 1 where many entries were held out."""
    if n_held_out < 2:
        return 1.0 / float(np.sqrt(model.factor))
    measured = model.factor * (half_width(model, _TWO_DEVIATIONS, n_held_out) / 2.0) ** 2
    return float(np.sqrt((n_held_out * measured + _PRIOR) / (n_held_out + _PRIOR) / model.factor))


def _normal(level: float) -> float:
    """Half the width of the interval of a standard normal variable."""
    return float(ndtri((1.0 + level) / 2.0))
