"""Fit the charts of coordinated models: one mixture or more for each view.

By default mixtures of probabilistic PCA, of as many charts as ``_chart_search.py`` finds; or what the user gives as
``mixture``. Rows may be in memory, in batches or on a cluster. A fit that is ended early keeps what it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

import numpy as np
from sklearn.base import clone

from sidelight.base.messages import error_message
from sidelight.base.progress import combine_callbacks
from sidelight.base.types import Array, NamedValues
from sidelight.maps.charts import (
    ChartEstimator,
    Charts,
    GaussianCharts,
    LocalCoordinates,
    gaussian_charts,
    moves_with_rows,
    supported_numbers,
)
from sidelight.maps.coordinated import ChartedView
from sidelight.maps.frames import Frame
from sidelight.maps.reduced_charts import ReducedCharts, ReducedRows, leading_components
from sidelight.rows import Rows, Statistic, Sums

from ._chart_search import FittedCharts, FittedPlanes, fit_planes, mixture_numbers, search_charts
from ._fit_progress import FitProgress
from ._settings import CoordinationSettings
from ._targets import Placement

__all__ = ["FittedView", "ViewRows", "fit_charts", "view_frame"]


_SAMPLE = 5_000  # rows that the number of charts is chosen on
_IN_MEMORY = 100_000  # rows that a mixture without sums over batches is fitted to
_WIDE, _COMPONENTS = 64, 50  # above so many columns, charts whose number is sought are those of so many components


@runtime_checkable
class _Estimator(Protocol):
    """A mixture of the user's that is not fitted yet."""

    def fit(self, X: Array) -> object:
        """Fit to rows in memory."""

    def get_params(self, deep: bool = True) -> NamedValues:
        """Constructor parameters."""

    def set_params(self, **params: object) -> object:
        """Change constructor parameters."""


@runtime_checkable
class _HasCharts(Protocol):
    """A fitted mixture with charts of its own."""

    charts_: Charts


@dataclass(frozen=True)
class FittedView:
    """The mixtures of one view, and how to place their charts; None: nothing was chosen.

    ``latent`` are the latent points that they are placed at, of the rows of the sample.
    """

    mixtures: list[ChartedView]
    placement: Placement | None
    latent: Array | None = None


class ViewRows(Rows):
    """Some columns of rows, inside a frame, without the rows in which they are missing."""

    def __init__(self, rows: Rows, columns: Array, frame: Frame) -> None:
        self._rows, self._columns, self._frame = rows, columns, frame
        self.n_features = len(columns)

    def blocks(self) -> Iterator[Array]:
        """Blocks of the rows that the view has seen."""
        return (self._seen(block) for block in self._rows.blocks())

    def total(self, statistic: Statistic) -> Sums:
        """The sum over the rows that the view has seen."""

        def own(block: Array) -> Sums:
            seen = self._seen(block)
            if len(seen):
                return statistic(seen)
            # no row of this block was seen: the names and shapes of a sum, with nothing in it
            return {name: 0 * value for name, value in statistic(np.zeros((1, self.n_features))).items()}

        return self._rows.total(own)

    def _seen(self, block: Array) -> Array:
        Y = self._frame.inside(block[:, self._columns])
        return np.asarray(Y[~np.isnan(Y).any(axis=1)])


def view_frame(sample: Array, columns: Array) -> Frame:
    """The frame of a view, from a sample of the rows."""
    V = sample[:, columns]
    return Frame.of(V[~np.isnan(V).any(axis=1)])


def fit_charts(
    rows: Rows,
    sample: Array,
    columns: Array,
    view: int,
    mixture: object,
    settings: CoordinationSettings,
    progress: FitProgress,
) -> FittedView:
    """Fit the mixtures of one view.

    Parameters
    ----------
    rows : Rows
        With the columns of all views.
    sample : array of shape (m, D)
        Rows that the frame of the view is taken from.
    columns : array of int
        Of the view.
    view : int
        Its number.
    mixture : None, estimator or charts
        The parameter ``mixture`` of the model, for this view.
    settings : CoordinationSettings
    progress : FitProgress
        Receives the history.

    Returns
    -------
    FittedView
        A mixture for each of the parallel ones, which have starts of their own; fewer where the fit was ended.
    """
    frame = view_frame(sample, columns) if _is_framed(mixture) else Frame(np.zeros(len(columns)), 1.0)
    own, views = ViewRows(rows, columns, frame), list[ChartedView]()
    placement: Placement | None = None
    latent: Array | None = None
    if mixture is None:
        fits, placement, latent = _default(own, settings, progress)
    else:
        fits = _given(own, mixture, settings, progress)
    try:
        for one in fits:
            views.append(ChartedView(one.charts, columns, frame.centre, frame.scale, view))
            progress.add(one.history, one.n_iter)
    except KeyboardInterrupt:
        progress.interrupt(kept=bool(views))
    return FittedView(views, placement, latent)


def _is_framed(mixture: object) -> bool:
    """Whether a mixture may see rows that are moved and scaled: not binary ones, nor charts fitted before."""
    if mixture is None or type(mixture).__module__.startswith("sklearn.mixture"):  # an import would cost all users time
        return True
    return isinstance(mixture, ChartEstimator) and moves_with_rows(mixture)


def _default(
    rows: ViewRows, settings: CoordinationSettings, progress: FitProgress
) -> tuple[Iterator[FittedCharts], Placement | None, Array | None]:
    """Mixtures of probabilistic PCA, of as many charts as the data needs, and how and where to place them."""
    q, n_charts, seed = _n_local(settings, rows.n_features), settings.n_charts, settings.seed
    if isinstance(n_charts, str):
        return _searched(rows, q, settings, progress)
    if n_charts > rows.count():
        rule = f"is more than the {rows.count()} rows"
        raise ValueError(error_message(settings.owner, "n_charts", n_charts, rule, "Give fewer charts, or more rows"))
    numbers = mixture_numbers(settings.n_mixtures, progress)
    verbose = settings.verbose
    fits = (fit_planes(rows, n_charts, q, seed + i, settings, progress, verbose=verbose) for i in numbers)
    return fits, None, None


def _searched(
    rows: ViewRows, n_local: int | str, settings: CoordinationSettings, progress: FitProgress
) -> tuple[Iterator[FittedCharts], Placement, Array | None]:
    """Mixtures of as many charts as a search on a sample finds; of wide rows, charts of their leading components."""
    sample, own = Rows.sample(rows, _SAMPLE, settings.seed), cast(Rows, rows)
    wide = sample.shape[1] > _WIDE and not settings.thorough
    components = leading_components(sample, _COMPONENTS) if wide else None
    if components is not None:
        sample, own = components.inside(sample), ReducedRows(rows, components)
        n_local = n_local if isinstance(n_local, str) else min(n_local, max(sample.shape[1] - 1, 0))
    found = search_charts(sample, n_local, settings, progress)

    def fits() -> Iterator[FittedPlanes]:
        if progress.ended or rows.count() <= _SAMPLE:
            yield from found.mixtures
            return
        for i in mixture_numbers(settings.n_mixtures, progress):
            start, verbose = found.mixtures[i].charts, settings.verbose
            yield fit_planes(own, found.k, n_local, settings.seed + i, settings, progress, start=start, verbose=verbose)

    if components is None:
        return fits(), found.placement, found.latent
    reduced = (FittedCharts(ReducedCharts(components, one.charts), one.n_iter, one.history) for one in fits())
    return reduced, found.placement, found.latent


def _n_local(settings: CoordinationSettings, d: int) -> int | str:
    """Local dimensions of a default mixture: "auto", or a number below that of the columns."""
    wanted = settings.n_components if settings.n_local is None else settings.n_local
    if isinstance(wanted, str):
        return wanted
    if not isinstance(wanted, (int, np.integer)):
        remedy = "Give one number, or a GaussianMixture as mixture"
        rule = "is a list, which a mixture of probabilistic PCA does not take"
        raise ValueError(error_message(settings.owner, "n_local", wanted, rule, remedy))
    return max(0, min(int(wanted), d - 1))


def _given(
    rows: ViewRows, mixture: object, settings: CoordinationSettings, progress: FitProgress
) -> Iterator[FittedCharts]:
    """Mixtures of the user's: fitted charts as they are, estimators cloned and fitted."""
    numbers = mixture_numbers(settings.n_mixtures, progress)
    if isinstance(mixture, LocalCoordinates):
        yield from (FittedCharts(mixture, 1, []) for _ in numbers)  # type: ignore[arg-type]  # the rest is asked later
        return
    if not isinstance(mixture, _Estimator):
        rule = "is neither an estimator nor charts (responsibilities, features, reconstruction)"
        raise TypeError(
            error_message(settings.owner, "mixture", mixture, rule, "Give a PPCAMixture or a GaussianMixture")
        )
    for number in numbers:
        own = _cloned(mixture, settings.seed + number, progress)
        if isinstance(own, ChartEstimator):
            yield _fit_batches(own, rows, progress)
        else:
            some = Rows.sample(rows, _IN_MEMORY, settings.seed)
            own.fit(some)
            charts = own.charts_ if isinstance(own, _HasCharts) else _gaussian(own, some.shape, settings)
            yield FittedCharts(charts, max(1, int(getattr(own, "n_iter_", 1))), [])  # not every estimator counts steps


def _fit_batches(own: ChartEstimator, rows: ViewRows, progress: FitProgress) -> FittedCharts:
    """A mixture of this library, fitted, or as far as it came where that was interrupted."""
    try:
        own.fit_batches(rows)
    except KeyboardInterrupt:
        progress.interrupt(kept="charts_" in vars(own))
    return FittedCharts(own.charts_, max(1, own.n_iter_), own.history_)


def _cloned(mixture: _Estimator, seed: int, progress: FitProgress) -> _Estimator:
    """A clone with a seed of its own, that reports its steps."""
    own: _Estimator = clone(mixture)
    known = own.get_params(deep=False)
    options: NamedValues = {"random_state": seed, "callback": combine_callbacks(progress, known.get("callback"))}
    options["binarize"] = None  # charts and inverse_transform are of the rows as they are: only 0 and 1 will do
    own.set_params(**{name: value for name, value in options.items() if name in known})
    return own


def _gaussian(own: _Estimator, shape: tuple[int, ...], settings: CoordinationSettings) -> GaussianCharts:
    """The charts of a Gaussian mixture of scikit-learn that was fitted to rows of this shape (n, d)."""
    n, d = shape
    wanted = settings.n_components if settings.n_local is None else settings.n_local
    if isinstance(wanted, str):
        return gaussian_charts(own, supported_numbers(own, n))
    return gaussian_charts(own, min(int(wanted), max(1, d - 1)) if isinstance(wanted, int | np.integer) else wanted)
