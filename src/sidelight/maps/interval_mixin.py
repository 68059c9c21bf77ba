"""Mixin with intervals of rows at latent points and of the places of rows, from training rows that were left out.

One convention for the whole library: a method whose name ends with ``_interval`` takes ``level`` and returns
``base.intervals.Intervals``. The errors it rests on are computed when they are first asked for, and not stored: a
model that was saved computes the same ones from the rows that its maps hold.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.metaestimators import available_if

from sidelight.base.interval_method import interval_method
from sidelight.base.intervals import Intervals
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import check_number

from .calibration import FEWEST, Calibration
from .frames import AnyFrame, Frame
from .interpolation import BackwardMap
from .jacobian_mixin import InverseJacobianMixin
from .kernel_map import KernelMap
from .left_out_rows import LeftOutRows, left_out_rows
from .repeated_rows import warn_of_repeats
from .truncated import TruncatedFrame
from .two_way import TwoWayMaps
from .weights import PrecomputedWeights

__all__ = ["IntervalMixin", "check_enough_rows", "has_place_intervals", "has_row_intervals", "intervals_around"]

Array = npt.NDArray[Any]


def has_row_intervals(model: IntervalMixin) -> bool:
    """Whether rows can be left out of both maps: not of distances, nor of rows that were reduced to a basis."""
    if not has_place_intervals(model):
        return False
    return "frame_" not in vars(model) or not isinstance(model.frame_, TruncatedFrame)


def has_place_intervals(model: IntervalMixin) -> bool:
    """Whether rows can be left out of the map to latent points: not of distances."""
    if not model._has_data_space():
        return False
    return "backward_" not in vars(model) or not isinstance(model.backward_.weights, PrecomputedWeights)


def intervals_around(middle: Array, half: Array, level: float) -> Intervals:
    """Intervals ``middle ± half``, in the type of ``middle``."""
    lower, upper = (np.asarray((middle + side * half).astype(middle.dtype, copy=False)) for side in (-1.0, 1.0))
    return Intervals(lower, upper, level=float(level))


def check_enough_rows(owner: object, n: int) -> None:
    """Raise where fewer than 20 rows can be left out."""
    if n < FEWEST:
        rule = f"is less than the {FEWEST} needed to calibrate intervals"
        raise ValueError(error_message(owner, "training rows", n, rule, "Fit to more rows"))


class IntervalMixin(InverseJacobianMixin):
    """``inverse_transform_interval``, ``transform_interval`` and ``transform_radius`` of a two-way estimator."""

    _is_arranged: ClassVar[bool] = False
    """Whether the embedding arranges rows around each other (``maps.left_out_rows``)."""
    n_jobs: int | None
    frame_: AnyFrame
    latent_frame_: Frame
    backward_: BackwardMap
    forward_: KernelMap

    @interval_method(has_row_intervals)
    def inverse_transform_interval(self, X: Any, *, level: float = 0.9, columns: Any = None) -> Intervals:
        """Prediction intervals for rows at latent points, feature by feature.

        They contain a share ``level`` of the entries of new rows that ``transform`` maps to these points. Calibrated on
        training rows, mapped to the latent space and back by maps fitted without them; the width varies over the map.
        ``predictive_variance`` is the variance of the model itself, which is too large.

        Examples
        --------
        >>> from sidelight import TwoWayEmbedding
        >>> from sidelight.datasets import s_curve
        >>> X, new = s_curve(300, random_state=0).X, s_curve(200, random_state=1).X
        >>> model = TwoWayEmbedding().fit(X)
        >>> found = model.inverse_transform_interval(model.transform(new), level=0.9)
        >>> bool(0.85 < found.holds(new).mean() < 0.95)
        True
        """
        return self._row_intervals(X, level, columns, None)

    @interval_method(has_place_intervals)
    def transform_interval(self, X: Any, *, level: float = 0.9) -> Intervals:
        """Intervals for the latent points of rows, coordinate by coordinate.

        A training row that is left out of the maps is mapped near, but not exactly to, its point in ``embedding_``. A
        share ``level`` of these displacements, in each coordinate, lies within intervals of this width, which varies
        over the map. The intervals describe the uncertainty within the fitted embedding, not the difference between
        fits.
        """
        return self._place_intervals(X, level, None)

    @available_if(has_place_intervals)
    @one_blas_thread
    def transform_radius(self, X: Any, *, level: float = 0.9) -> Array:
        """Radius (m,) around ``transform(X)`` that contains a share ``level`` of the latent points of such rows.

        As ``transform_interval``, for all latent coordinates together.
        """
        return self._place_radius(X, level, None)

    if TYPE_CHECKING:  # a stub would hide that of JacobianMixin, which comes later among the bases

        def _chosen(self, columns: Any) -> Array | None: ...

    def _row_intervals(self, X: Any, level: float, columns: Any, given: object) -> Intervals:
        Z = self._checked_latent(X)
        half = self._widths(self.latent_frame_.inside(Z), level, "rows", given)
        half = np.sqrt(self.frame_.outside_variance(np.square(half)))
        middle, chosen = self._middle_rows(Z, given), self._chosen(columns)
        if chosen is not None:
            middle, half = middle[:, chosen], half[:, chosen]
        return intervals_around(middle, half, level)

    def _place_intervals(self, X: Any, level: float, given: object) -> Intervals:
        Z = self._middle_places(X, given)
        half = self._widths(self.latent_frame_.inside(Z), level, "places", given)[:, :-1]
        return intervals_around(Z, half * self.latent_frame_.scale, level)

    def _place_radius(self, X: Any, level: float, given: object) -> Array:
        check_number(self, "level", level, 0.0, 1.0)
        Z = self._middle_places(X, given)
        half = self._widths(self.latent_frame_.inside(Z), level, "places", given)[:, -1]
        return np.asarray((half * self.latent_frame_.scale).astype(Z.dtype, copy=False))

    def _widths(self, Z: Array, level: float, what: str, given: object) -> Array:
        """Half widths inside the frames, of rows (m, d) or of places (m, q + 1), at latent points inside theirs."""
        del given
        return self._calibration(what, "").half_widths(Z, level, self.n_jobs)

    def _calibration(self, what: str, which: str) -> Calibration:
        """Errors of left-out rows, kept with the forward map, whose rows they are."""
        memo = self.forward_.memo
        key = f"left-out {what} {which}"
        if key not in memo:
            check_enough_rows(self, len(self.forward_.outputs))
            warn_of_repeats(self, self.forward_.outputs, memo)
            found = self._left_out_rows(which)
            memo[f"left-out rows {which}"], memo[f"left-out places {which}"] = found.of_rows, found.of_places
        calibration: Calibration = memo[key]
        return calibration

    def _left_out_rows(self, which: str) -> LeftOutRows:
        del which
        return left_out_rows(self._maps(), self.n_jobs, arranged=self._is_arranged)

    def _middle_rows(self, Z: Array, given: object) -> Array:
        del given
        return np.asarray(self.inverse_transform(Z))

    def _middle_places(self, X: Any, given: object) -> Array:
        del given
        return np.asarray(self.transform(X))

    @abstractmethod
    def transform(self, X: Any) -> Array:
        """Latent points (m, q) of rows."""

    @abstractmethod
    def inverse_transform(self, X: Any) -> Array:
        """Rows (m, d) at latent points."""

    @abstractmethod
    def _has_data_space(self) -> bool: ...

    @abstractmethod
    def _maps(self) -> TwoWayMaps: ...

    @abstractmethod
    def _checked_latent(self, X: Any) -> Array: ...
