"""Choose the number of charts of a view: mixtures of more and more charts, glued, until the maps are good enough.

The search sees a sample of the rows. With ``alignment="auto"`` mixtures have one start, a map of one chart along the
principal components is judged, too, and where no number of charts makes a sheet, maps of charts that are placed along
neighbourhood graphs (``_targets.py``): 40 charts first, more where rows are many.
A fit that is stopped or interrupted keeps the best of what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.tiles import by_block
from sidelight.base.types import Array, NamedValues
from sidelight.maps.charts import Charts
from sidelight.maps.coordinated import ChartedView
from sidelight.maps.held_out import FEW_STEPS, refitted_planes
from sidelight.maps.mixture_fit import EMSettings, FittedMixture, fit_mixture, information_criterion
from sidelight.maps.plane_charts import PlaneCharts
from sidelight.maps.plane_mixture import PlaneKind, refit_planes
from sidelight.objectives.coordination import bridging
from sidelight.objectives.mixtures import MixtureParameters
from sidelight.rows import ArrayRows, Rows

from ._coordination_fit import Coordinated, best_placement, glue, kept_placement, left_unexplained
from ._fit_progress import FitProgress
from ._settings import CoordinationSettings
from ._targets import GLUED, Placement, along_graphs, target

__all__ = ["FittedCharts", "FittedPlanes", "SearchedCharts", "fit_planes", "mixture_numbers", "search_charts"]


_FIRST = 5  # charts that the search begins with
_ROWS_EACH = 6  # rows for each coefficient of a chart, at least
_MOST_PLACED = 80  # charts up to which more are tried along a graph
_FAR, _VERY_FAR = 0.7, 4.0  # charts of a larger distortion, twice in turn or (in "auto") once, are those of no sheet
_NEAR = 0.3  # charts of a smaller distortion may be a sheet with other starts
_GAIN = 0.02  # more charts fit better where they add this share to what more charts than the first have gained so far
_WORTH = 0.8  # more charts, that do not fit better, must lower the criterion of the maps to this share
_PLACED = 40  # charts that are placed along graphs first
_ABOUT = 1.5  # glued charts take their place where these are not so many times more
_ROWS_PLACED = 10  # rows for each coefficient of a chart, at least, where more charts are tried than these
_FOLDS, _ENOUGH = 5, 150  # a fifth of the rows at a time is left out to judge placements, until they are so many
_FEWEST = 20  # rows from which placements are judged
_STARTS, _APART = 3, 1_000  # starts that are tried where no number is good enough, and how far apart their seeds are
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
    em = EMSettings(_OWNER, settings.n_init, settings.max_iter, settings.tol, seed, settings.n_jobs, verbose, progress)
    kind = PlaneKind(n_local)
    found: FittedMixture[MixtureParameters]
    found = fit_mixture(rows, kind, em, n_charts) if start is None else refit_planes(rows, start, kind, em, seed)
    if found.interrupted:
        progress.interrupt(kept=True)
    charts = kind.charts(found.mixture, found.summary.frame)
    return FittedPlanes(charts, max(1, len(found.history)), [vars(record) for record in found.history])


@dataclass(frozen=True)
class SearchedCharts:
    """The number of charts that was chosen, mixtures of so many, fitted to the sample, and how to place them.

    ``latent`` (m, q) are the latent points of the sample that they are placed at; None for charts that are glued.
    """

    k: int
    mixtures: list[FittedPlanes]
    placement: Placement
    latent: Array | None = None


@dataclass(frozen=True)
class _Trial:
    """Mixtures of k charts, how well they fit (the lower, the better) and how good their maps are."""

    k: int
    mixtures: list[FittedPlanes]
    fit: float
    found: Coordinated


@dataclass(frozen=True)
class _Placed:
    """Mixtures of k charts, a placement of them, and what it leaves unexplained of rows that were left out."""

    k: int
    mixtures: list[FittedPlanes]
    placement: Placement
    latent: Array
    unexplained: float


def search_charts(
    sample: Array, n_local: int | str, settings: CoordinationSettings, progress: FitProgress
) -> SearchedCharts:
    """The number of charts with the best maps, of a sample (m, d)."""
    auto, settings = settings.alignment == "auto", replace(settings, alignment="coordination")
    search = _Search(sample, n_local, replace(settings, n_init=1) if auto else settings, progress, auto)
    tried: list[_Trial] = []
    best: _Trial | None = None
    placed: _Placed | None = None
    try:
        tried.extend(search.doubled())
        best = min(tried, key=_criterion)
        if auto and len(sample) >= _FEWEST and not progress.ended:
            placed = search.best_placed(tried, bent=not best.found.is_sheet)
        if placed is None or placed.placement == GLUED:
            for trial in search.restarted(best):
                best = min(best, trial, key=_criterion)
    except KeyboardInterrupt:
        progress.interrupt(kept=bool(tried))
    if placed is not None and placed.placement != GLUED:
        return SearchedCharts(placed.k, placed.mixtures, placed.placement, placed.latent)
    best = best or min(tried, key=_criterion)
    return SearchedCharts(best.k, best.mixtures, GLUED)


def _criterion(trial: _Trial) -> float:
    return trial.found.criterion


@dataclass(frozen=True)
class _Search:
    """Trials on a sample (m, d); ``auto``: charts may also be placed in other ways than by the rows they share."""

    sample: Array
    n_local: int | str
    settings: CoordinationSettings
    progress: FitProgress
    auto: bool

    @property
    def most(self) -> int:
        """Charts that the sample has rows for."""
        q = self.settings.n_components if isinstance(self.n_local, str) else self.n_local
        return max(1, len(self.sample) // (_ROWS_EACH * (1 + q)))

    def doubled(self) -> Iterator[_Trial]:
        """Numbers of charts, doubled until they are flat and agree, or until more help neither fit nor maps."""
        k, tried = min(_FIRST, self.most), list[_Trial]()
        while k:
            tried.append(self.trial(k, self.settings.seed))
            yield tried[-1]
            done = tried[-1].found.is_sheet or self.progress.ended
            hopeless = self.auto and tried[-1].found.distortion > _VERY_FAR
            k = 0 if done or hopeless else _next_number(tried, self.most, thorough=self.settings.thorough)

    def restarted(self, best: _Trial) -> Iterator[_Trial]:
        """Other starts of so many charts, until one is good enough."""
        likely = self.settings.thorough or best.found.distortion < _NEAR
        for again in range(1, _STARTS if best.k > 1 and likely else 1):
            if best.found.is_sheet or self.progress.ended:
                return
            best = self.trial(best.k, self.settings.seed + again * _APART)
            yield best

    def best_placed(self, tried: Sequence[_Trial], *, bent: bool) -> _Placed:
        """The best of one chart along the components, the glued charts, and (``bent``) charts placed along graphs."""
        glued, linear = min(tried, key=_criterion), Placement("linear")
        options = [self._judged(1, self._fitted(1, self.settings.seed), {linear: self._latent(linear)})]
        if min(trial.found.distortion for trial in tried) <= _FAR:
            balance = None if np.isinf(glued.found.balance) else glued.found.balance
            known = replace(self, settings=replace(self.settings, balance=balance))
            options.append(known._judged(glued.k, glued.mixtures, {GLUED: np.empty((0, 0))}))
        if bent:
            options.append(self._along_graphs({trial.k: trial.mixtures for trial in tried}))
        return options[best_placement([one.unexplained for one in options])]

    def _along_graphs(self, tried: dict[int, list[FittedPlanes]]) -> _Placed:
        """Charts placed along graphs: of many rows more of them, as long as that is better by a tenth."""
        latents = along_graphs(self.sample, self.settings.n_components, self.settings.n_jobs)
        most = min(_MOST_PLACED, self.most * _ROWS_EACH // _ROWS_PLACED)

        def judged(k: int) -> _Placed:
            return self._judged(k, tried[k] if k in tried else self._fitted(k, self.settings.seed), latents)

        first, known = min(_PLACED, self.most), max(tried)
        best = last = judged(known if first < _ABOUT * known else first)
        while last is best and 2 * last.k <= most and not self.progress.ended:
            last = judged(2 * last.k)
            best = (best, last)[best_placement([best.unexplained, last.unexplained])]
        return best

    def trial(self, k: int, seed: int) -> _Trial:
        """Mixtures of k charts, glued."""
        rows, n_jobs = ArrayRows(self.sample, n_jobs=self.settings.n_jobs), self.settings.n_jobs
        mixtures = self._fitted(k, seed)
        found = glue(rows, [_as_view(own.charts) for own in mixtures], self.sample, self.settings)
        fits = [
            information_criterion(by_block(own.charts.log_density, self.sample, n_jobs), own.charts.n_parameters)
            for own in mixtures
        ]
        return _Trial(k, mixtures, float(np.mean(fits)), found)

    def _fitted(self, k: int, seed: int) -> list[FittedPlanes]:
        rows = ArrayRows(self.sample, n_jobs=self.settings.n_jobs)
        return [
            fit_planes(rows, k, self.n_local, seed + i, self.settings, self.progress)
            for i in mixture_numbers(self.settings.n_mixtures, self.progress)
        ]

    def _latent(self, placement: Placement) -> Array:
        return target(self.sample, placement, self.settings.n_components, self.settings.n_jobs)

    def _judged(self, k: int, mixtures: list[FittedPlanes], latents: dict[Placement, Array]) -> _Placed:
        """The best of some placements of the charts, by rows that are left out of charts and placement."""
        fold = np.random.default_rng(0).permutation(len(self.sample)) % _FOLDS
        total = dict.fromkeys(latents, 0.0)
        n_folds = min(_FOLDS, -(-_FOLDS * _ENOUGH // len(self.sample)))
        for number in range(n_folds):
            kept = self.sample[fold != number]
            n_jobs = self.settings.n_jobs
            views = [_as_view(refitted_planes(own.charts, kept, n_jobs, FEW_STEPS)) for own in mixtures]
            own = {one: latent[fold != number] if latent.size else latent for one, latent in latents.items()}
            lost = left_unexplained(views, kept, self.sample[fold == number], own, self.settings)
            total = {one: total[one] + lost[one] for one in latents}
        best = kept_placement({one: lost / n_folds for one, lost in total.items()})
        return _Placed(k, mixtures, best, latents[best], total[best])


def _as_view(charts: PlaneCharts) -> ChartedView:
    d = len(charts.centre)
    return ChartedView(charts, np.arange(d), np.zeros(d), 1.0)


def _next_number(tried: Sequence[_Trial], most: int, *, thorough: bool) -> int:
    """How many charts to try next; 0: no more."""
    last, before = tried[-1], tried[:-1]
    fits = [trial.fit for trial in before]
    maps = [trial.found.criterion for trial in before]
    if not thorough and before and min(trial.found.distortion for trial in tried[-2:]) > _FAR:
        return 0
    least = 0.0 if thorough or not before else _GAIN * (fits[0] - last.fit)
    if before and min(fits) - last.fit <= least and last.found.criterion > _WORTH * min(maps):
        return 0
    if 2 * last.k <= most:
        return 2 * last.k
    bridges = int(bridging(last.found.off_plane).sum())  # where doubling is too much, one more for each of them
    return min(last.k + bridges, most) if bridges and last.k < most else 0
