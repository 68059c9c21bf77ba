"""Intervals of an estimator whose maps can be conditioned on ``given``: of rows, places and counterfactuals."""

from __future__ import annotations

import numpy as np
from sklearn.utils.metaestimators import available_if

from sidelight.base.interval_method import interval_method
from sidelight.base.intervals import Intervals
from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.maps.calibration import half_widths
from sidelight.maps.interval_mixin import check_enough_rows, has_place_intervals, has_row_intervals, intervals_around
from sidelight.maps.left_out_rows import LeftOutRows
from sidelight.maps.repeated_rows import warn_of_repeats
from sidelight.side.one_value import with_columns_of

from ._counterfactual_mixin import CounterfactualMixin, has_counterfactual
from ._individuals import check_enough_individuals, checked_individuals
from ._left_out_informed import left_out_informed

__all__ = ["InformedIntervals"]


def _has_counterfactual_intervals(model: InformedIntervals) -> bool:
    """Whether there are counterfactuals, of rows that can be left out."""
    return has_counterfactual(model) and has_row_intervals(model)


class InformedIntervals(CounterfactualMixin):
    """``CounterfactualMixin`` with intervals."""

    @interval_method(has_row_intervals)
    def inverse_transform_interval(
        self, X: object, *, given: object = None, level: float = 0.9, columns: object = None
    ) -> Intervals:
        """Prediction intervals for rows at latent points, feature by feature.

        They contain a share ``level`` of the entries of new rows that ``transform`` maps to these points (with their
        ``given``, if passed). Calibrated on training rows left out of both maps; the width varies over the map.

        Examples
        --------
        >>> from sidelight import KernelInformationEmbedding
        >>> from sidelight.datasets import s_curve
        >>> X, new = s_curve(300, random_state=0).X, s_curve(200, random_state=1).X
        >>> model = KernelInformationEmbedding().fit(X)
        >>> found = model.inverse_transform_interval(model.transform(new), level=0.9)
        >>> bool(0.85 < found.holds(new).mean() < 0.95)
        True
        """
        return self._row_intervals(X, level, columns, given)

    @interval_method(has_place_intervals)
    def transform_interval(self, X: object, *, given: object = None, level: float = 0.9) -> Intervals:
        """Intervals for the latent points of rows, coordinate by coordinate.

        A share ``level`` of training rows that are left out of the maps is mapped this close to their points in
        ``embedding_``; the width varies over the map. They do not describe the difference between fits.
        """
        return self._place_intervals(X, level, given)

    @available_if(has_place_intervals)
    @one_blas_thread
    def transform_radius(self, X: object, *, given: object = None, level: float = 0.9) -> Array:
        """Radius (m,) around ``transform(X)`` that contains a share ``level`` of the latent points of such rows.

        As ``transform_interval``, for all latent coordinates together.
        """
        return self._place_radius(X, level, given)

    @interval_method(_has_counterfactual_intervals)
    def counterfactual_interval(
        self,
        X: object,
        *,
        given: object,
        given_now: object = None,
        residual: str | float = "auto",
        individuals: object = None,
        level: float = 0.9,
    ) -> Intervals:
        """Prediction intervals around ``counterfactual(X, given=..., ...)``, feature by feature.

        They contain a share ``level`` of the entries of rows of the new group with this latent point. The width is the
        standard deviation of ``counterfactual`` times a factor calibrated on left-out rows, mapped to the latent space
        and back under their own ``given`` by maps without them. If the estimated change of a group is wrong, they
        contain less.

        With ``residual="row"`` they contain a share ``level`` of the entries of the *same individual* under the new
        category, if it is like the individuals of the training rows that were seen under both.

        Parameters
        ----------
        X, given, given_now, residual
            As for ``counterfactual``.
        individuals : array of shape (n,), default=None
            For ``residual="row"``: who each training row with a known ``given`` is, by any labels (None, NaN: nobody
            else). At least ``level / (1 - level)`` of the individuals (nine for 0.9) must have rows in both
            categories. The width is the same for all rows.
        level : float, default=0.9
            Between 0 and 1.
        """
        if isinstance(residual, str) and residual == "row":
            made = self.counterfactual(X, given=given, given_now=given_now, residual="row")
            return intervals_around(made, self._paired_widths(len(made), given, given_now, individuals, level), level)
        if individuals is not None:
            rule, remedy = 'is for residual="row"', "Leave it out"
            raise ValueError(error_message(self, "individuals", "something", rule, remedy))
        found = self.counterfactual(X, given=given, given_now=given_now, residual=residual, return_std=True)
        rows, deviations = found
        return intervals_around(
            rows, half_widths(self._scaled_errors(given_now is not None), level) * deviations, level
        )

    def _paired_widths(self, m: int, given: object, given_now: object, individuals: object, level: float) -> Array:
        """Half-widths (m, d) of rows that keep themselves, in units of the data."""
        places = self._places(True, False)
        if self.given_ is None or places is None:
            rule = "was one value in the whole fit, so that no change was seen"
            raise ValueError(error_message(self, "given", given, rule, 'Use residual="auto"'))
        who = checked_individuals(self, individuals, len(places.marginal.outputs))
        asked = with_columns_of(given, given_now, tuple(column.name for column in self.given_.columns))
        new, now = self._known(asked, m), self._known(given_now, m)
        if new is None or now is None or not (new.complete & now.complete).all():
            rule = "is missing in some rows"
            raise ValueError(error_message(self, "given or given_now", "NaN", rule, "Leave these rows out"))
        half = np.zeros((m, self.forward_.outputs.shape[1]))
        for at, errors in places.changes_of_pairs(who, now.features, new.features, self.n_jobs):
            check_enough_individuals(self, errors.n_individuals, level)
            half[at] = errors.half_widths(level)
        return np.sqrt(self.frame_.outside_variance(np.square(half)))

    def _scaled_errors(self, knows_now: bool) -> Array:
        """Errors (m, d) of left-out rows under their own ``given``, as multiples of the standard deviations there.

        ``knows_now``: rows are placed with it, and not without.
        """
        memo, key = self.forward_.memo, f"left-out counterfactuals {knows_now}"
        if key not in memo:
            check_enough_rows(self, len(self.forward_.outputs))
            warn_of_repeats(self, self.forward_.outputs, memo)
            maps = self._informed_maps()
            places = maps.places
            left = left_out_informed(
                maps, given=places is not None, placed_by_given=knows_now and places is not None, n_jobs=self.n_jobs
            )
            if places is None:  # given was constant
                variance = maps.variance(self.latent_frame_.outside(left.places), None, self.n_jobs)
                variance = variance / self.frame_.outside_variance(np.ones_like(variance))
            else:
                kept = np.zeros((len(left.rows), 1))
                variance = places.variance(left.places, places.features[left.rows], kept, self.n_jobs)
            errors, deviations = np.abs(left.errors), np.sqrt(variance)
            memo[key] = np.divide(errors, deviations, out=np.full(errors.shape, np.nan), where=deviations > 0)
        return np.asarray(memo[key])

    def _widths(self, Z: Array, level: float, what: str, given: object) -> Array:
        """Half widths inside the frames; of places with a complete ``given``, those of rows with theirs."""
        known = self._known(given, len(Z))
        if known is None or not known.complete.any():
            return self._calibration(what, "").half_widths(Z, level, self.n_jobs)
        at = known.complete
        first = self._calibration(what, "given").half_widths(Z[at], level, self.n_jobs)
        if at.all():
            return first
        out = np.empty((len(Z), first.shape[1]))
        out[at] = first
        out[~at] = self._calibration(what, "").half_widths(Z[~at], level, self.n_jobs)
        return out

    def _left_out_rows(self, which: str) -> LeftOutRows:
        if which == "given" and self.given_features_ is None:
            rule = "needs the given of the training rows, which models saved by an older version do not have"
            raise ValueError(error_message(self, "given", "something", rule, "Fit the model again"))
        return left_out_informed(self._informed_maps(), given=which == "given", n_jobs=self.n_jobs)

    def _middle_rows(self, Z: Array, given: object) -> Array:
        return np.asarray(self.inverse_transform(Z, given=given))

    def _middle_places(self, X: object, given: object) -> Array:
        return np.asarray(self.transform(X, given=given))
