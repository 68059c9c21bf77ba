"""Choose the number of charts of a view: mixtures of more and more charts, glued, until the maps are good enough.

The search sees a sample of the rows. A fit that is stopped or interrupted keeps the best of what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.tiles import by_block
from sidelight.base.types import Array, NamedValues
from sidelight.maps.charts import Charts
from sidelight.maps.coordinated import ChartedView
from sidelight.maps.mixture_fit import EMSettings, FittedMixture, fit_mixture, information_criterion
from sidelight.maps.plane_charts import PlaneCharts
from sidelight.maps.plane_mixture import PlaneKind, refit_planes
from sidelight.objectives.coordination import bridging
from sidelight.objectives.mixtures import MixtureParameters
from sidelight.rows import ArrayRows, Rows

from ._coordination_fit import Coordinated, glue
from ._fit_progress import FitProgress
from ._settings import CoordinationSettings

__all__ = ["FittedCharts", "fit_planes", "mixture_numbers", "search_charts"]


_FIRST = 5  # charts that the search begins with
_ROWS_EACH = 6  # rows for each coefficient of a chart, at least
_ISOMETRIC = 0.02  # a distortion below it, of charts that are flat, needs no more charts
_FLAT = 0.05  # the share of a flat chart's variance that lies off its plane
_WORTH = 0.8  # more charts, that do not fit better, must lower the criterion of the maps to this share
_STARTS, _APART = 3, 1_000  # starts that are tried where no number is good enough, and how far apart their seeds are
_N_INIT = 4  # starts of a mixture: with one, twice as fast, maps of many columns were worse (mfeat, decision 0008)
_OWNER = "PPCAMixture"  # in messages of EM: the mixture that is fitted by default


@dataclass(frozen=True)
class FittedCharts:
    """The charts of one mixture, the EM steps it took, and their records."""

    charts: Charts
    n_iter: int
    history: list[NamedValues]


@dataclass(frozen=True)
class FittedPlanes(FittedCharts):
    """The charts of a mixture of probabilistic PCA."""

    charts: PlaneCharts


def mixture_numbers(n_mixtures: int, progress: FitProgress) -> Iterator[int]:
    """The numbers of parallel mixtures, the first even where the fit was ended."""
    for number in range(n_mixtures):
        if number and progress.ended:
            return
        yield number


def fit_planes(
    rows: Rows,
    n_charts: int,
    n_local: int | str,
    seed: int,
    settings: CoordinationSettings,
    progress: FitProgress,
    *,
    start: PlaneCharts | None = None,
    verbose: int = 0,
) -> FittedPlanes:
    """Fit a mixture of probabilistic PCA; where Ctrl-C interrupts EM, as far as it came.

    Parameters
    ----------
    rows : Rows
    n_charts : int
    n_local : int or "auto"
        Local dimensions of each chart.
    seed : int
        Of the starts.
    settings : CoordinationSettings
        For ``max_iter``, ``tol`` and ``n_jobs``.
    progress : FitProgress
        Callback of EM.
    start : PlaneCharts or None
        Charts of a sample of the rows, to start from; None: starts are made.
    verbose : int
        1 shows a progress bar.
    """
    em = EMSettings(_OWNER, _N_INIT, settings.max_iter, settings.tol, seed, settings.n_jobs, verbose, progress)
    kind = PlaneKind(n_local)
    found: FittedMixture[MixtureParameters]
    found = fit_mixture(rows, kind, em, n_charts) if start is None else refit_planes(rows, start, kind, em, seed)
    if found.interrupted:
        progress.interrupt(kept=True)
    charts = kind.charts(found.mixture, found.summary.frame)
    return FittedPlanes(charts, max(1, len(found.history)), [vars(record) for record in found.history])


@dataclass(frozen=True)
class _Trial:
    """Mixtures of k charts, how well they fit (the lower, the better) and how good their maps are."""

    k: int
    mixtures: list[FittedPlanes]
    fit: float
    found: Coordinated

    @property
    def is_enough(self) -> bool:
        """Flat charts that agree on one stretching."""
        return self.found.distortion < _ISOMETRIC and float(self.found.off_plane.max()) < _FLAT


def search_charts(
    sample: Array, n_local: int | str, settings: CoordinationSettings, progress: FitProgress
) -> tuple[int, list[FittedPlanes]]:
    """The number of charts with the best maps, and mixtures of so many, fitted to the sample (m, d)."""
    tried: list[_Trial] = []
    try:
        for trial in _trials(sample, n_local, settings, progress):
            tried.append(trial)
            if progress.ended:
                break
    except KeyboardInterrupt:
        progress.interrupt(kept=bool(tried))
    best = min(tried, key=lambda trial: trial.found.criterion)
    return best.k, best.mixtures


def _trials(
    sample: Array, n_local: int | str, settings: CoordinationSettings, progress: FitProgress
) -> Iterator[_Trial]:
    """Numbers of charts, doubled until they are flat and agree, or until more of them help neither fit nor maps.

    Where none are enough, other starts are tried, too.
    """
    most = max(1, len(sample) // (_ROWS_EACH * (1 + (settings.n_components if isinstance(n_local, str) else n_local))))
    k, seed = min(_FIRST, most), settings.seed
    tried: list[_Trial] = []
    while k:
        tried.append(_trial(sample, k, n_local, seed, settings, progress))
        yield tried[-1]
        k = 0 if tried[-1].is_enough else _next_number(tried, most)
    best = min(tried, key=lambda trial: trial.found.criterion)
    for again in range(1, _STARTS if best.k > 1 else 1):
        if not best.is_enough:
            other = _trial(sample, best.k, n_local, seed + again * _APART, settings, progress)
            yield other
            best = min(best, other, key=lambda trial: trial.found.criterion)


def _trial(
    sample: Array, k: int, n_local: int | str, seed: int, settings: CoordinationSettings, progress: FitProgress
) -> _Trial:
    rows, d = ArrayRows(sample, n_jobs=settings.n_jobs), sample.shape[1]
    mixtures = [
        fit_planes(rows, k, n_local, seed + i, settings, progress)
        for i in mixture_numbers(settings.n_mixtures, progress)
    ]
    views = [ChartedView(own.charts, np.arange(d), np.zeros(d), 1.0) for own in mixtures]
    found = glue(rows, views, sample, settings)
    fits = [
        information_criterion(by_block(own.charts.log_density, sample, settings.n_jobs), own.charts.n_parameters)
        for own in mixtures
    ]
    return _Trial(k, mixtures, float(np.mean(fits)), found)


def _next_number(tried: Sequence[_Trial], most: int) -> int:
    """How many charts to try next; 0: no more."""
    last, before = tried[-1], tried[:-1]
    fits = [trial.fit for trial in before]
    maps = [trial.found.criterion for trial in before]
    if before and last.fit >= min(fits) and last.found.criterion > _WORTH * min(maps):
        return 0
    if 2 * last.k <= most:
        return 2 * last.k
    bridges = int(bridging(last.found.off_plane).sum())  # where doubling is too much, one more for each of them
    return min(last.k + bridges, most) if bridges and last.k < most else 0
