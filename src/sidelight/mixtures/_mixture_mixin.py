"""The methods that all mixture estimators share: fits, streams, responsibilities, density, samples."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, Self, TypeVar

import numpy as np
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.cost import Cost, announce_cost
from sidelight.base.fitting import all_or_nothing, all_or_nothing_continued, raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.random import random_numbers
from sidelight.base.result import Callback
from sidelight.base.tiles import by_block, one_blas_thread
from sidelight.base.types import Array, RandomState, Untyped
from sidelight.base.validation import check_integer, check_number, validated
from sidelight.maps.chart_jacobians import responsibility_jacobian
from sidelight.maps.charts import ChartEstimator, MixtureCharts
from sidelight.maps.held_out import MOST_ROWS, held_out, needs_folds, refitted
from sidelight.maps.jacobian_mixin import JacobianMixin, complete_rows
from sidelight.maps.mixture_fit import (
    EMSettings,
    Family,
    FittedMixture,
    Mixture,
    MixtureKind,
    information_criterion,
)
from sidelight.maps.mixture_stream import MixtureStream, advance_stream, begin_stream, resume_stream
from sidelight.maps.mixture_trials import Choice
from sidelight.maps.novelty_mixin import NoveltyMixin
from sidelight.maps.smooth_map import SmoothMap
from sidelight.maps.truncated import TruncatedBasis, dense_rows
from sidelight.maps.typicality import COMPARED, DRAWN, StandardizedDensity, lower_share, p_value
from sidelight.rows import BLOCK, ArrayRows, Rows, SparseRows, Sums, as_rows

__all__ = ["MixtureMixin"]


P = TypeVar("P", bound=Mixture)
F = TypeVar("F", bound=Family[Untyped])


def _has_reference(model: object) -> bool:
    """Whether training rows are there to compare with: not after ``partial_fit``, nor in older files."""
    return "charts_" not in vars(model) or "training_densities_" in vars(model)


def standardized_density(charts: MixtureCharts) -> StandardizedDensity:
    """The density of a mixture, standardised for every set of observed entries."""
    return StandardizedDensity(charts.log_density, charts.sample(DRAWN, np.random.RandomState(0))[0])


def _training_densities(rows: Rows, kind: MixtureKind[P, F], found: FittedMixture[P], n_jobs: int | None) -> Array:
    """Sorted standardised densities of training rows; held out where these are few for the parameters."""
    frame, family = found.summary.frame, kind.family(found.summary)
    charts = kind.charts(found.mixture, frame)
    if found.summary.n <= MOST_ROWS:
        X = rows.sample(MOST_ROWS, 0)
        if needs_folds(X, charts.n_parameters):
            inside = frame if kind.framed else None

            def refit(others: Array) -> StandardizedDensity:
                mixture = refitted(others, family, found.mixture, inside, n_jobs)
                return standardized_density(kind.charts(mixture, frame))

            return np.sort(held_out(X, refit))
    return np.sort(standardized_density(charts)(rows.sample(COMPARED, 0), n_jobs))


class MixtureMixin(
    Generic[P, F], ClassNamePrefixFeaturesOutMixin, NoveltyMixin, JacobianMixin, TransformerMixin, ChartEstimator
):
    """An estimator that fits a mixture and sets ``charts_``; every method allows missing entries (NaN).

    A subclass says which kind of mixture it fits (``_kind``), which attributes follow from its state (``_keep_stream``)
    and how these become the state again, for ``partial_fit`` (``_stream``).
    """

    n_charts: int | str
    n_init: int
    max_iter: int
    tol: float
    random_state: RandomState
    n_jobs: int | None
    verbose: int
    callback: Callback | None
    dtype_: str
    criteria_: dict[str, float]
    held_out_scores_: dict[str, float]
    running_: Sums
    n_samples_seen_: int
    n_features_in_: int
    reduction_: TruncatedBasis | None = None  # a default, because older model files lack it
    training_densities_: Array

    @all_or_nothing
    @one_blas_thread
    def fit(self, X: Array, y: object = None) -> Self:
        """Fit to rows in memory.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            NaN where an entry is missing. Sparse rows have no missing entries, and no dense copy of them is made.
        y : ignored
        """
        del y
        X = self._validated(X, ensure_min_samples=2)
        batch, reduction = self._reduced(X) if issparse(X) else (self._prepared(X), None)
        missing = not issparse(X) and bool(np.isnan(X).any())
        announce_cost(self, self.estimate_cost(X.shape[0], batch.shape[1], missing=missing), X.shape[0])
        return self._fit_rows(self._rows_of(batch, self._block(X.shape[0])), X.dtype.name, X.shape[1], reduction)

    @all_or_nothing
    @one_blas_thread
    def fit_batches(self, source: object) -> Self:
        """Fit to rows that are read once for each EM step, in memory that does not depend on their number.

        Parameters
        ----------
        source : callable, array, list of arrays, or path
            A callable that returns batches, an array (also mapped from a file), a list of batches, or the path of a
            .npy or Parquet file. The result is that of ``fit`` on all rows at once.
        """
        rows = as_rows(source, owner=self, missing=True, n_jobs=self.n_jobs)
        return self._fit_rows(self._prepared_rows(rows), "float64", rows.n_features)

    @all_or_nothing_continued
    @one_blas_thread
    def partial_fit(self, X: Array, y: object = None) -> Self:
        """Move the mixture towards one more batch of a stream (stepwise EM).

        The first batch determines the start and all selected settings, and must be large enough for that. Batch t is
        weighted by t^-0.7. After ``fit`` or ``fit_batches`` the stream continues from the fitted mixture.

        Parameters
        ----------
        X : array or sparse array of shape (n, d)
            NaN where an entry is missing. Sparse rows have no missing entries, and no dense copy of them is made,
            except for a batch that follows dense ones in a PPCAMixture.
        y : ignored
        """
        del y
        begun = "running_" in vars(self)
        X = self._validated(X, reset=not begun)
        self._check_parameters()
        choice, reduction = None, None
        if begun:
            batch, kind, stream = self._seen(X), self._stream_kind(), self._stream()
        else:
            batch, reduction = self._reduced(X) if issparse(X) else (self._prepared(X), None)
            rows = self._rows_of(batch)
            choice = self._choice(rows)
            kind = choice.kind
            raise_if_interrupted(choice.ended is not None and choice.ended.interrupted, kept=False)
            stream = begin_stream(rows, kind, self._settings(), self._n_stream_charts(choice.n_charts))
        stream = advance_stream(stream, kind, batch)
        if choice is not None:
            self.dtype_, self.reduction_ = X.dtype.name, reduction
            if choice.scores is not None:
                self.held_out_scores_ = choice.scores
        self._keep_stream(stream, kind)
        if hasattr(self, "training_densities_"):
            del self.training_densities_  # of the rows of an earlier fit, under another density
        return self

    def predict_proba(self, X: Array) -> Array:
        """Responsibilities (n, k): posterior probability of each chart given the observed entries of a row."""
        X = self._checked(X)
        return by_block(self.charts_.responsibilities, X, self.n_jobs)

    def predict(self, X: Array) -> Array:
        """The most likely chart of each row (n,)."""
        return np.asarray(self.predict_proba(X).argmax(axis=1))

    def transform(self, X: Array) -> Array:
        """Responsibilities (n, k), as ``predict_proba``: the latent variable of a mixture is the chart."""
        return self.predict_proba(X)

    def score_samples(self, X: Array) -> Array:
        """Log density of each row (n,), of its observed entries."""
        X = self._checked(X)
        return by_block(self.charts_.log_density, X, self.n_jobs)

    @available_if(_has_reference)
    @one_blas_thread
    def typicality(self, X: Array) -> Array:
        """Typicality (n,) of rows relative to the training rows, by their observed entries, from 0 to 1.

        The share of training rows with at most the density of the row. With missing entries, densities are standardised
        by their expected values for the observed entries. 0 means a lower density than every training row; below 0.01 a
        row is an outlier. Not available after ``partial_fit``, which does not keep the rows of the stream.
        """
        X = self._checked(X)
        return lower_share(self.training_densities_, standardized_density(self.charts_)(X, self.n_jobs))

    def _compares_rows(self) -> bool:
        return _has_reference(self)

    def _p_values(self, X: Array) -> tuple[Array, int]:
        X, own = self._checked(X), self.training_densities_
        return p_value(own, standardized_density(self.charts_)(X, self.n_jobs)), len(own)

    def denoise(self, X: Array) -> Array:
        """Reconstruct rows from their charts (n, d): chart means weighted by the responsibilities."""
        X = self._checked(X)
        return self._in_columns(by_block(self.charts_.expected, X, self.n_jobs))

    def score(self, X: Array, y: object = None) -> float:
        """Mean log density of rows."""
        del y
        return float(np.mean(self.score_samples(X), dtype=np.float64))

    def bic(self, X: Array) -> float:
        """Bayesian information criterion on rows; the lower, the better."""
        return information_criterion(self.score_samples(X).astype(np.float64), self.charts_.n_parameters)

    def aic(self, X: Array) -> float:
        """Akaike information criterion on rows; the lower, the better."""
        logs = self.score_samples(X).astype(np.float64)
        return float(-2.0 * logs.sum() + 2.0 * self.charts_.n_parameters)

    @one_blas_thread
    def sample(self, n_samples: int = 1, random_state: RandomState = None) -> Array:
        """Draw rows (n_samples, d) from the fitted density; ``random_state=None`` uses the model's own."""
        check_is_fitted(self, "charts_")
        if n_samples < 1:
            raise ValueError(error_message(self, "n_samples", n_samples, "is less than 1", "Ask for at least one row"))
        rng = random_numbers(random_state, self.random_state)
        return self._in_columns(self.charts_.sample(n_samples, rng)[0].astype(self.dtype_))

    @abstractmethod
    def estimate_cost(self, n: int, d: int, *, missing: bool = False) -> Cost:
        """Memory and time of a fit to n rows and d columns, with ``missing`` entries or whole."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Every parameter in range, or a sentence."""

    @abstractmethod
    def _choice(self, rows: Rows) -> Choice[MixtureKind[P, F]]:
        """The kind of mixture and the number of charts that are fitted to rows."""

    @abstractmethod
    def _stream_kind(self) -> MixtureKind[P, F]:
        """The kind of mixture that was fitted, to go on with a stream."""

    @abstractmethod
    def _keep_stream(self, stream: MixtureStream[P, F], kind: MixtureKind[P, F]) -> None:
        """Set the charts, the attributes derived from them, and the state of the stream."""

    @abstractmethod
    def _stream(self) -> MixtureStream[P, F]:
        """The state that ``_keep_stream`` has set."""

    def _n_stream_charts(self, n_charts: int | str) -> int:
        """Initial number of charts of a stream; raise for a selection that needs all rows."""
        if isinstance(n_charts, str):
            remedy = 'Give a number, or "auto", which chooses by the first batch'
            raise ValueError(error_message(self, "n_charts", self.n_charts, "cannot be chosen from a stream", remedy))
        return n_charts

    def _keep_fitted(self, rows: Rows) -> None:
        """Set what only a fit to all rows has."""
        del rows

    def _prepared(self, X: Untyped) -> Untyped:
        """Rows as the mixture sees them."""
        return X

    def _reduced(self, X: Untyped) -> tuple[Untyped, TruncatedBasis | None]:
        """Sparse rows as a new mixture sees them, and the basis of their coordinates if it is one of these."""
        return self._prepared(X), None

    def _rows_of(self, X: Array, block: int = BLOCK) -> Rows:
        """Rows in memory, dense or sparse, in blocks."""
        if issparse(X):
            return SparseRows(X, n_jobs=self.n_jobs, block=block)
        return ArrayRows(X, n_jobs=self.n_jobs, block=block)

    def _seen(self, X: Untyped) -> Untyped:
        """Rows in the space of the mixture: principal coordinates, if it was fitted to sparse rows."""
        if self.reduction_ is not None:
            return self.reduction_.scores(X).astype(X.dtype, copy=False)
        return self._prepared(X)

    def _in_columns(self, rows: Array) -> Array:
        """Rows (n, d) in the columns of the data."""
        return rows if self.reduction_ is None else self.reduction_.rows(rows)

    def _prepared_rows(self, rows: Rows) -> Rows:
        """The same for rows in batches."""
        return rows

    def _block(self, n: int) -> int:
        """Rows of a block in ``fit``."""
        del n
        return BLOCK

    def _fit_rows(self, rows: Rows, dtype: str, d: int, reduction: TruncatedBasis | None = None) -> Self:
        self._check_parameters()
        choice = self._choice(rows)
        kind, found = choice.kind, choice.fitted(rows, self._settings())
        stream = resume_stream(found, kind)
        own = _training_densities(rows, kind, found, self.n_jobs)
        self.n_features_in_, self.reduction_ = d, reduction
        self.dtype_ = dtype
        self.history_ = [vars(record) for record in found.history]
        self.n_iter_ = max(1, len(found.history))
        if found.criteria is not None:
            self.criteria_ = found.criteria
        if choice.scores is not None:
            self.held_out_scores_ = choice.scores
        self._keep_stream(stream, kind)
        self._keep_fitted(rows)
        self.training_densities_ = own
        raise_if_interrupted(found.interrupted)
        return self

    def _settings(self) -> EMSettings:
        return EMSettings(
            owner=type(self).__name__,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
            callback=self.callback,
        )

    def _check_shared(self) -> None:
        """Every parameter that mixtures share in range, or a sentence."""
        if self.n_charts not in ("auto", "bic"):
            check_integer(self, "n_charts", self.n_charts, 1)
        check_integer(self, "n_init", self.n_init, 1)
        check_integer(self, "max_iter", self.max_iter, 1)
        check_number(self, "tol", self.tol, 0.0)

    def _validated(
        self,
        X: Untyped,
        *,
        reset: bool = True,
        spread: float = np.inf,
        ensure_min_samples: int = 1,
        sparse: bool = True,
    ) -> Untyped:
        """An array of numbers, with NaN where entries are missing, or a complete CSR array."""
        complete = issparse(X) or (not reset and self.reduction_ is not None)
        return validated(
            self, X, reset=reset, spread=spread, ensure_min_samples=ensure_min_samples, dtype=[np.float64, np.float32],
            ensure_all_finite=True if complete else "allow-nan", accept_sparse="csr" if sparse else False,
        )  # fmt: skip

    def _checked(self, X: Untyped, *, sparse: bool = True) -> Untyped:
        """New rows, as the mixture sees them."""
        check_is_fitted(self, "charts_")
        return self._seen(self._validated(X, reset=False, spread=self.charts_.spread, sparse=sparse))

    def _smooth_map(self, given: object, n: int) -> SmoothMap:
        del given, n
        check_is_fitted(self, "charts_")
        charts, n_jobs, basis = self.charts_, self.n_jobs, None if self.reduction_ is None else self.reduction_.basis
        return SmoothMap(
            lambda X: complete_rows(self, dense_rows(self._checked(X), None)),
            lambda C, which: by_block(charts.responsibilities, C, n_jobs, dtype=np.float64),
            lambda C, which: by_block(lambda part: responsibility_jacobian(charts, part), C, n_jobs, dtype=np.float64),
            basis,
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.charts_.n_charts)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
