"""Intervals of coordinated models: of rows at latent points, and of a predicted view.

Errors of rows at latent points are those of training rows, times a factor by which rows are farther from charts that
were fitted without them (``maps.left_out_charts``). A regression from view to view depends on its rows more, and
leaves each of them out (``maps.cross_view.left_out_errors``). Both are computed in the fit, because the rows are not
kept, and summarised where they are many (``maps.calibration_summary``).
"""

from __future__ import annotations

from abc import abstractmethod
from functools import partial

import numpy as np

from sidelight.base.interval_method import interval_method
from sidelight.base.intervals import Intervals
from sidelight.base.tiles import by_block
from sidelight.base.types import Array
from sidelight.maps.calibration import FEWEST, Calibration, calibrated_rows
from sidelight.maps.calibration_summary import Errors, bounded_errors, keeps
from sidelight.maps.coordinated import CoordinatedMap
from sidelight.maps.cross_view import CrossView, left_out_errors, without_left_out
from sidelight.maps.interval_mixin import intervals_around
from sidelight.maps.left_out_charts import chart_growth

from ._coordinated_mixin import CoordinatedMixin

__all__ = ["CoordinatedIntervals", "PredictionIntervals", "prediction_errors", "row_errors"]


def row_errors(both: CoordinatedMap, rows: Array, n_columns: int, n_jobs: int | None) -> Errors | None:
    """Errors of the first columns of rows (m, D) at their latent points; None of fewer than 20 complete rows.

    Parameters
    ----------
    both : CoordinatedMap
    rows : array of shape (m, D)
        Training rows.
    n_columns : int
        Columns of X; the others, of y, are not known when rows are placed.
    n_jobs : int or None
        Threads.
    """
    rows = rows[~np.isnan(rows[:, :n_columns]).any(axis=1)]
    if len(rows) < FEWEST:
        return None
    known = len(rows)
    rows = rows[np.sort(calibrated_rows(*rows.shape))].copy()
    rows[:, n_columns:] = np.nan
    excess = chart_growth(both, rows, np.arange(n_columns)) - 1.0
    grown = 1.0 + excess * len(rows) / known  # the charts were fitted to all of them
    places = by_block(both.backward, rows, n_jobs, dtype=np.float64)
    back = np.full(rows.shape, np.nan)
    for view, columns in {own.view: own.columns for own in both.views}.items():
        back[:, columns] = by_block(partial(both.forward, view=view), places, n_jobs)
    return bounded_errors(Calibration(places, grown * (rows - back)[:, :n_columns]))


def prediction_errors(
    cross: CrossView, both: CoordinatedMap, sample: Array, view: int, columns: Array, n_jobs: int | None
) -> Errors | None:
    """Errors of a view of left-out rows by the latent points of their other views; None of fewer than 20 rows."""
    rows, errors = left_out_errors(cross, sample, view)
    if len(rows) < FEWEST:
        return None
    some = np.sort(calibrated_rows(*errors.shape))
    rows = rows[some].copy()
    rows[:, columns] = np.nan
    return bounded_errors(Calibration(by_block(both.backward, rows, n_jobs, dtype=np.float64), errors[some]))


class CoordinatedIntervals(CoordinatedMixin):
    """``inverse_transform_interval`` of a coordinated model."""

    row_errors_: Errors

    @interval_method(keeps("row_errors_", "map_"))
    def inverse_transform_interval(self, X: Array, *, level: float = 0.9) -> Intervals:
        """Intervals of the rows that ``transform`` places at latent points, each feature by itself.

        A share ``level`` of the entries of new rows that are placed there should lie within: calibrated by the errors
        of training rows; the width is local.
        """
        Z = self._checked_latent(X)
        half = self.row_errors_.half_widths(Z.astype(np.float64), level, self.n_jobs)
        return intervals_around(self.inverse_transform(Z), half, level)

    def _keep_row_errors(self, sample: Array) -> None:
        found = row_errors(self.map_, sample, self.n_features_in_, self.n_jobs)
        if found is not None:
            self.row_errors_ = found


class PredictionIntervals(CoordinatedIntervals):
    """``predict_interval`` of a model of several views."""

    view_columns_: list[Array]
    cross_: CrossView
    n_columns_y_: int
    y_is_flat_: bool
    prediction_errors_: Errors

    @interval_method(keeps("prediction_errors_", "map_"))
    def predict_interval(self, X: Array, *, level: float = 0.9) -> Intervals:
        """Intervals of y around ``predict(X)``, each of its columns by itself.

        A share ``level`` of the entries of y of new rows should lie within: calibrated by rows of the fit that were
        left out of the regression, with all views observed; the width is local.
        """
        middle = np.asarray(self.predict(X))
        places = by_block(self._backward, self._checked(X), self.n_jobs, dtype=np.float64)
        half = self.prediction_errors_.half_widths(places, level, self.n_jobs)
        return intervals_around(middle, half[:, 0] if self.y_is_flat_ else half, level)

    def _keep_cross(self, cross: CrossView, sample: Array) -> None:
        """Set the regressions from view to view, and the errors of that of y."""
        self.cross_ = without_left_out(cross)
        if not self.n_columns_y_:
            return
        view = len(self.view_columns_) - 1
        found = prediction_errors(cross, self.map_, sample, view, self.view_columns_[view], self.n_jobs)
        if found is not None:
            self.prediction_errors_ = found

    @abstractmethod
    def predict(self, X: Array) -> Array:
        """Y of rows."""
