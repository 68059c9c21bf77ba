"""Input validation of kernel information embeddings: arrays, precomputed distances (dense or sparse), missing entries.

Missing entries (NaN) raise an error that says what to do. With ``missing="impute"`` they are imputed from the nearest
rows (``maps.missing``); with ``missing="expected"`` too, and their variance enters the kernel of the fit
(``kernels.expected``); with ``missing="project"`` the model's own maps then replace them (``_missing_rows``). ``fit``
sets ``filler_`` and ``filled_`` (n, d), and every method takes rows with NaN.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, check_symmetric

from sidelight.base.cost import Cost
from sidelight.base.interval_method import interval_method
from sidelight.base.intervals import Intervals
from sidelight.base.messages import error_message
from sidelight.base.result import Callback
from sidelight.base.row_order import warn_of_row_order
from sidelight.base.small_data import warn_if_small
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import validated
from sidelight.maps.calibration import half_widths
from sidelight.maps.entry_models import EntryModel
from sidelight.maps.frames import Frame
from sidelight.maps.interval_mixin import check_enough_rows, intervals_around
from sidelight.maps.missing import LocalFill, fill_cost
from sidelight.maps.truncated import TruncatedBasis, TruncatedFrame, truncated_basis
from sidelight.neighbours.sparse_distances import Points, SparseDistances, dense_points, refuse_negative

from ._informed_intervals import InformedIntervals
from ._informed_maps import InformedMaps
from ._left_out_informed import left_out_gaps
from ._missing_rows import FilledRows, checked_trajectory, fill_rows, project_rows
from .missing import Missing

__all__ = ["CheckedRows", "RowChecks"]


_FLOATS = [np.float64, np.float32]


@dataclass(frozen=True)
class CheckedRows:
    """The validated rows of a fit, an array or ``SparseDistances``; ``filled`` if missing entries are accepted.

    Sparse rows are held as coordinates in a truncated basis, the ``reduction``.
    """

    X: Points
    filled: FilledRows | None = None
    reduction: TruncatedBasis | None = None

    def unreduced(self, maps: InformedMaps) -> InformedMaps:
        """Maps between latent points and the columns of the data, of maps for coordinates in the truncated basis."""
        frame = maps.plain.frame
        if self.reduction is None or not isinstance(frame, Frame):
            return maps
        return replace(maps, plain=replace(maps.plain, frame=TruncatedFrame(frame, self.reduction)))


def _imputes(model: RowChecks) -> bool:
    return Missing.of(model.missing).fills


class RowChecks(InformedIntervals):
    """Validation of the rows of ``fit`` and of every other method; adds ``impute`` and ``impute_variance``."""

    bandwidth: str | float
    missing: str | Missing
    callback: Callback | None
    filler_: LocalFill | EntryModel
    filled_: Array

    @available_if(_imputes)
    @one_blas_thread
    def impute(self, X: object) -> Array:
        """Impute missing entries (NaN) of rows, shape (m, d), each row from its own observed entries."""
        return self._filled(self._with_gaps(X))

    @available_if(_imputes)
    @one_blas_thread
    def impute_variance(self, X: object) -> Array:
        """Variance of the imputed entries, shape (m, d); 0 where the entry is observed.

        Calibrated on entries that ``fit`` held out: 95 % of those lay within two standard deviations.
        """
        rows = self._with_gaps(X)
        if Missing.of(self.missing).method != "project":
            return self.filler_.variance(rows, self.n_jobs)
        spread = self._informed_maps().variance(self._latent(self._filled(rows), None), None, self.n_jobs)
        return np.where(np.isnan(rows), spread, 0.0)

    @interval_method(_imputes)
    def impute_interval(self, X: object, *, level: float = 0.9) -> Intervals:
        """Intervals for the missing entries (NaN) of rows around ``impute(X)``, entry by entry.

        They contain a share ``level`` of missing entries. Calibrated on entries hidden in training rows left out of the
        imputation, in the patterns of missing entries of other training rows (if there are none: a tenth of the
        entries).
        """
        deviations = np.sqrt(self.impute_variance(X))
        return intervals_around(self.impute(X), self._entry_widths(level) * deviations, level)

    def _entry_widths(self, level: float) -> Array | float:
        """Half widths (d,) of intervals of missing entries, in standard deviations."""
        fill, missing, memo = self.filler_, Missing.of(self.missing), self.forward_.memo
        if isinstance(fill, EntryModel):
            return fill.half_width(level)
        if "left-out gaps" not in memo:
            check_enough_rows(self, len(fill.rows))
            rounds = missing.rounds if missing.method == "project" else 0
            memo["left-out gaps"] = left_out_gaps(fill, self._informed_maps(), rounds, self.n_jobs)
        return half_widths(memo["left-out gaps"], level)

    def _with_filling(self, cost: Cost, n: int, d: int) -> Cost:
        """The cost of a fit of n rows and d columns, with that of filling missing entries."""
        missing = Missing.of(self.missing)
        if not missing.fills:
            return cost
        filling = fill_cost(n, d, calibrated=missing.method == "expected")
        fits = 1 + missing.rounds if missing.method == "project" else 1
        return Cost(max(cost.bytes, filling.bytes), fits * cost.seconds + filling.seconds)

    def _training_rows(self, X: object, trajectory: object = None, given: object = None) -> CheckedRows:
        """Validate the rows of ``fit``; fill their missing entries, unless these are refused."""
        warn_of_row_order(self, X, given)
        if self.metric != "precomputed":
            return self._rows_of_fit(X, trajectory)
        if issparse(X):
            if self.bandwidth != "perplexity":
                rule = "needs all distances, and a sparse array holds some"
                remedy = 'Use bandwidth="perplexity", or give a dense array'
                raise ValueError(error_message(self, "bandwidth", self.bandwidth, rule, remedy))
            known = SparseDistances.between_rows(X, owner=self)
            validated(self, known.stored, accept_sparse="csr", ensure_min_samples=2)
            return CheckedRows(known)
        D = dense_points(self._rows_of_fit(X).X)
        if D.shape[0] != D.shape[1]:
            rule = "is not square, as precomputed distances are"
            raise ValueError(error_message(self, "X", f"array of shape {D.shape}", rule, "Give an (n, n) matrix"))
        refuse_negative(self, D.min())
        return CheckedRows(np.asarray(check_symmetric(D, raise_exception=False)))

    def _rows_of_fit(self, X: object, trajectory: object = None) -> CheckedRows:
        """Validate an array of numbers; refuse its missing entries or fill them; reduce sparse rows."""
        missing, owner = Missing.of(self.missing), type(self).__name__
        if issparse(X):
            return self._reduced_rows(X, trajectory)
        finite = "allow-nan" if _imputes(self) else True
        try:
            X = np.asarray(validated(self, X, dtype=_FLOATS, ensure_min_samples=2, ensure_all_finite=finite))
        except ValueError as error:
            if "contains NaN" not in str(error):
                raise
            remedy = 'Set missing="expected", or drop or fill those entries'
            raise ValueError(error_message(self, "X", "NaN", "has missing entries", remedy)) from error
        numbers = checked_trajectory(owner, trajectory, len(X), missing)
        if not missing.fills:
            return CheckedRows(X)
        self._refuse_empty(X, "row", axis=1)
        self._refuse_empty(X, "column", axis=0)
        filled = fill_rows(X, missing, numbers, owner=owner, n_jobs=self.n_jobs)
        return CheckedRows(filled.X, filled)

    def _projected_rows(self, checked: CheckedRows, given: object, same: object) -> CheckedRows:
        """With ``missing="project"``, replace missing entries by the projections of models of the filled rows."""
        missing = Missing.of(self.missing)
        if checked.filled is None or missing.method != "project":
            return checked
        model = clone(self).set_params(missing="refuse", callback=self.callback)

        def project(X: Array) -> tuple[Array, Array]:
            Z = model.fit(X, given=given, same=same).transform(X, given=given)
            return model.inverse_transform(Z, given=given), model.predictive_variance(Z, given=given)

        projected = project_rows(checked.filled, missing.rounds, project)
        return CheckedRows(projected.X, projected)

    def _kernel_variance(self, filled: FilledRows | None, scale: float) -> Array | None:
        """Variances (n, d) of missing entries in units of the frame, where these enter the kernel; else None."""
        if filled is None or Missing.of(self.missing).method != "expected" or not filled.gone.any():
            return None
        return np.asarray(filled.variance / scale**2)

    def _reduced_rows(self, X: object, trajectory: object) -> CheckedRows:
        """Coordinates of sparse rows in the basis of their truncated decomposition."""
        if self.metric != "euclidean" or _imputes(self):
            argument, seen = ("missing", Missing.of(self.missing).method) if _imputes(self) else ("metric", self.metric)
            remedy = "Reduce them first (TruncatedSVD in a Pipeline), or give a dense array"
            raise ValueError(error_message(self, argument, seen, "is not possible with sparse rows", remedy))
        rows = validated(self, X, accept_sparse="csr", dtype=_FLOATS, ensure_min_samples=2)
        checked_trajectory(type(self).__name__, trajectory, rows.shape[0], Missing.of(self.missing))
        reduction = truncated_basis(rows, n_jobs=self.n_jobs)
        scores = reduction.scores(rows).astype(rows.dtype, copy=False)
        warn_if_small(self, scores)
        return CheckedRows(scores, reduction=reduction)

    def _checked(self, X: object) -> Points:
        if self.metric == "precomputed" and issparse(X):
            check_is_fitted(self)
            known = SparseDistances.of_queries(X, owner=self)
            validated(self, known.stored, accept_sparse="csr", reset=False, spread=self.frame_.scale)
            return known
        if not _imputes(self):
            return super()._checked(X)
        rows = self._with_gaps(X)
        return self._filled(rows) if np.isnan(rows).any() else rows

    def _filled(self, rows: Array) -> Array:
        """Validated rows with their missing entries filled: by ``filler_``, then by the maps if these project."""
        filled = np.asarray(self.filler_(rows, self.n_jobs).astype(rows.dtype, copy=False))
        missing = Missing.of(self.missing)
        for _ in range(missing.rounds if missing.method == "project" else 0):
            back = self.frame_.outside(self._rows(self._latent(filled, None), None))
            filled = np.where(np.isnan(rows), back, rows).astype(rows.dtype, copy=False)
        return filled

    def _row_variance(self, X: object) -> Array | None:
        if Missing.of(self.missing).method != "expected":
            return None
        rows = self._with_gaps(X)
        if not np.isnan(rows).any():
            return None
        return np.asarray(self.filler_.variance(rows, self.n_jobs) / self.frame_.scale**2)

    def _row_gaps(self, X: object) -> bool:
        return _imputes(self) and bool(np.isnan(self._with_gaps(X)).any())

    def _with_gaps(self, X: object) -> Array:
        check_is_fitted(self)
        spread = float(np.min(self.filler_.scale))
        found = validated(self, X, reset=False, spread=spread, dtype=_FLOATS, ensure_all_finite="allow-nan")
        rows = np.asarray(found)
        self._refuse_empty(rows, "row", axis=1)
        return rows

    def _refuse_empty(self, X: Array, what: str, *, axis: int) -> None:
        empty = np.flatnonzero(np.isnan(X).all(axis=axis))
        if len(empty):
            names = getattr(self, "feature_names_in_", None) if what == "column" else None
            seen = f"{what} {empty[0] if names is None else repr(str(names[empty[0]]))}"
            rule = "has no observed entry"
            raise ValueError(error_message(self, "X", seen, rule, f"Leave out every {what} without an observed entry"))

    def __sklearn_tags__(self) -> Tags:
        tags: Tags = super().__sklearn_tags__()
        inputs = tags.input_tags
        inputs.allow_nan = _imputes(self)
        inputs.pairwise = inputs.positive_only = self.metric == "precomputed"
        inputs.sparse = inputs.pairwise or (self.metric == "euclidean" and not _imputes(self))
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
