r"""Intervals of a predicted second view, from rows seen in both views that were left out.

    ŷ(x) = Σ_j w_j(x) f(z_j),      e_i = y_i - ŷ_{-i}(x_i)

Without row i, w has no weight on it, and f, the forward map of the second view, is that of the other rows. Rows of both
views are recognised by their latent points, which the maps of both hold, so that older files have intervals, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sidelight.base.interval_method import interval_method
from sidelight.base.intervals import Intervals
from sidelight.base.types import Array
from sidelight.maps.calibration import Calibration
from sidelight.maps.interval_mixin import check_enough_rows, intervals_around
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.left_out_rows import fit_allowance, in_folds
from sidelight.maps.repeated_rows import warn_of_repeats
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.maps.views import ViewMaps
from sidelight.maps.without_rows import backward_without, inputs_of, kernel_map_without

__all__ = ["JointIntervals", "has_second_view", "left_out_predictions", "paired_rows"]


def has_second_view(model: JointIntervals) -> bool:
    """Whether there is a second view to predict; before a fit this is not known."""
    return "views_" not in vars(model) or len(model.views_) == 2


class JointIntervals(TwoWayMixin):
    """``predict_interval`` of a model of two views."""

    _is_arranged: ClassVar[bool] = True
    views_: Sequence[ViewMaps]
    prediction_: KernelMap
    y_is_flat_: bool

    @interval_method(has_second_view)
    def predict_interval(self, X: Array, *, level: float = 0.9) -> Intervals:
        """Prediction intervals for the second view of rows around ``predict(X)``, column by column.

        They contain a share ``level`` of the entries of y of new rows. Calibrated on rows of the fit with both views,
        each predicted by maps without it; the width varies over the map.
        """
        X = self._checked(X)
        frame = self.views_[1].frame
        middle = frame.outside(self.prediction_(self.frame_.points(X), self.n_jobs)).astype(X.dtype, copy=False)
        places = self.backward_(self.frame_.points(X), self.n_jobs)
        half = self._prediction_errors().half_widths(places, level, self.n_jobs)
        half = np.sqrt(frame.outside_variance(np.square(half)))
        if self.y_is_flat_:
            middle, half = middle[:, 0], half[:, 0]
        return intervals_around(middle, half, level)

    def _prediction_errors(self) -> Calibration:
        memo, key = self.prediction_.memo, "left-out predictions"
        if key not in memo:
            first, second = self.views_
            pairs = paired_rows(inputs_of(first.forward), inputs_of(second.forward))
            check_enough_rows(self, len(pairs))
            warn_of_repeats(self, inputs_of(self.prediction_), memo)
            memo[key] = left_out_predictions(first, second, self.prediction_, pairs, self.n_jobs)
        found: Calibration = memo[key]
        return found


def paired_rows(first: Array, second: Array) -> Array:
    """Rows (p, 2) of two sets of latent points, (n, q) and (m, q), that have the same one; each row once."""
    numbers: dict[bytes, list[int]] = {}
    for number, point in enumerate(second):
        numbers.setdefault(point.tobytes(), []).append(number)
    found = [(i, numbers[key].pop(0)) for i, key in enumerate(point.tobytes() for point in first) if numbers.get(key)]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def left_out_predictions(
    first: ViewMaps, second: ViewMaps, prediction: KernelMap, pairs: Array, n_jobs: int | None
) -> Calibration:
    """Errors of the second view of left-out rows, by their places.

    Parameters
    ----------
    first, second : ViewMaps
    prediction : KernelMap
        From the first view to the second.
    pairs : array of shape (p, 2)
        Numbers of the rows seen in both views, in each of them.
    n_jobs : int or None
        Threads.
    """
    X, Y, Z = inputs_of(prediction), second.forward.outputs, inputs_of(first.forward)

    def answer(kept: Array, rows: Array) -> tuple[Array, ...]:
        del kept
        out, out_of_second = pairs[rows].T
        here = np.setdiff1d(np.arange(len(X)), out)
        back = kernel_map_without(second.forward, np.setdiff1d(np.arange(len(Y)), out_of_second))
        found = KernelMap(kernel_map_without(prediction, here).weights, back(Z[here], n_jobs))(X[out], n_jobs)
        places = backward_without(first.backward, here, X[out])(X[out], n_jobs)
        return places, Y[out_of_second] - found

    places, errors = in_folds(len(pairs), Y.shape[1], answer)
    return Calibration(places, fit_allowance(second.forward, places) * errors)
