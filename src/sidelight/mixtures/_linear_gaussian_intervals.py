r"""Intervals of ``ProbabilisticPCA``: of rows at latent points, and of missing entries.

The model has few parameters for its rows, and errors are those of training rows in the fit, times a factor for what n
rows make them too small: 1 + (q + 1) / n for rows on a plane of q dimensions, and √((n + p) / (n - p)) for an entry
predicted from p others. Both are computed in the fit, because the rows are not kept, and summarised where they are many
(``maps.calibration_summary``).
"""

from __future__ import annotations

import numpy as np

from sidelight.base.columns import chosen_columns
from sidelight.base.interval_method import interval_method
from sidelight.base.intervals import Intervals
from sidelight.base.types import Array
from sidelight.maps.calibration import FEWEST, Calibration, calibrated_rows, half_widths
from sidelight.maps.calibration_summary import Errors, WidthTable, bounded_errors, bounded_multiples, keeps
from sidelight.maps.interval_mixin import intervals_around
from sidelight.maps.left_out_entries import hide_like_others
from sidelight.maps.linear_gaussian_maps import LinearGaussianMaps
from sidelight.maps.truncated import is_sparse

from ._linear_gaussian_mixin import LinearGaussianMixin

__all__ = ["LinearGaussianIntervals", "entry_errors", "row_errors"]

_INVERTED = 2e9  # rows times q³, at most, in which entries are hidden
_FEW, _KEPT = 500, 40_000  # rows, and entries of them, that are enough: of more, errors took longer than the fit itself


def row_errors(maps: LinearGaussianMaps, sample: Array, n_jobs: int | None) -> Errors | None:
    """Errors of complete training rows (m, d) at their latent points; None of fewer than 20."""
    if is_sparse(sample):
        return None
    rows = sample[~np.isnan(sample).any(axis=1)]
    if len(rows) < FEWEST:
        return None
    rows = np.asarray(rows[_chosen(rows)], dtype=np.float64)
    places = maps.embed(rows, n_jobs)
    grown = 1.0 + (places.shape[1] + 1) / len(sample)
    return bounded_errors(Calibration(places, grown * (rows - maps.reconstruct(places))))


def entry_errors(maps: LinearGaussianMaps, sample: Array, n_jobs: int | None) -> Array | WidthTable | None:
    """Errors (m, d) of entries hidden in training rows, as multiples of their deviations, NaN where none was hidden."""
    if is_sparse(sample) or len(sample) < FEWEST or sample.shape[1] < 2:
        return None
    # of a model by which entries are imputed each row inverts a matrix (q, q), which of hundreds takes long
    most = max(FEWEST, int(_INVERTED / maps.model.n_components**3)) if maps.gaussian is None else len(sample)
    rows = np.asarray(sample[_chosen(sample, most)], dtype=np.float64)
    hidden = hide_like_others(~np.isnan(rows))
    queries = np.where(hidden, np.nan, rows)
    mean, variance = maps.missing_entries(queries, n_jobs)
    known = hidden & (variance > 0)
    if not known.any():
        return None
    out = np.full(rows.shape, np.nan)
    out[known] = np.abs(rows - mean)[known] / np.sqrt(variance[known])
    n, p = len(sample), sample.shape[1] if maps.gaussian is not None else maps.model.n_components + 1
    return bounded_multiples(np.asarray(out * np.sqrt((n + p) / max(n - p, 0.2 * n))))


def _chosen(X: Array, most: int | None = None) -> Array:
    """Numbers of the training rows, increasing, whose errors are computed."""
    n, d = X.shape
    return np.sort(calibrated_rows(n, d)[: max(_FEW, _KEPT // d)][:most])


class LinearGaussianIntervals(LinearGaussianMixin):
    """``inverse_transform_interval`` and ``impute_interval``."""

    row_errors_: Errors
    entry_errors_: Array | WidthTable

    @interval_method(keeps("row_errors_", "model_"))
    def inverse_transform_interval(self, X: Array, *, level: float = 0.9, columns: object = None) -> Intervals:
        """Prediction intervals for rows at latent points, feature by feature.

        They contain a share ``level`` of the entries of new rows that ``transform`` maps to these points. Calibrated on
        the errors of training rows; the width varies over the map.
        """
        Z = self._checked_latent(X)
        half, middle = (
            self.row_errors_.half_widths(Z.astype(np.float64), level, self.n_jobs),
            self._maps().reconstruct(Z),
        )
        if columns is not None:
            names = getattr(self, "feature_names_in_", None)
            chosen = chosen_columns(self, columns, len(self.centre_), names)
            half, middle = half[:, chosen], middle[:, chosen]
        return intervals_around(middle, half, level)

    @interval_method(keeps("entry_errors_", "model_"))
    def impute_interval(self, X: Array, *, level: float = 0.9) -> Intervals:
        """Intervals for the missing entries (NaN) of rows around ``impute(X)``, entry by entry.

        They contain a share ``level`` of missing entries. Calibrated on entries hidden in training rows, in the
        patterns of missing entries of other training rows (if there are none: a tenth of the entries).
        """
        kept = self.entry_errors_
        multiples = kept.half_widths(level) if isinstance(kept, WidthTable) else half_widths(kept, level)
        half = multiples * np.sqrt(self.impute_variance(X))
        return intervals_around(self.impute(X), half, level)

    def _keep_errors(self, maps: LinearGaussianMaps, sample: Array) -> None:
        rows, entries = row_errors(maps, sample, self.n_jobs), entry_errors(maps, sample, self.n_jobs)
        if rows is not None:
            self.row_errors_ = rows
        if entries is not None:
            self.entry_errors_ = entries
