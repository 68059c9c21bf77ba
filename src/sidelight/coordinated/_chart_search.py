"""How many charts a view needs: mixtures of ever more of them, glued, until the maps are good enough.

The search sees a sample. A fit that is ended keeps the best of what was tried.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.maps.coordinated import ChartedView
from sidelight.mixtures.ppca_mixture import PPCAMixture
from sidelight.objectives.coordination import bridging
from sidelight.rows import ArrayRows, Rows

from ._coordination_fit import Course, Glued, glued

__all__ = ["fitted", "numbers", "planes", "searched"]

Array = npt.NDArray[Any]
_FIRST = 5  # charts that the search begins with
_ROWS_EACH = 6  # rows for each coefficient of a chart, at least
_ISOMETRIC = 0.02  # a distortion below it, of charts that are flat, needs no more charts
_FLAT = 0.05  # the share of a flat chart's variance that lies off its plane
_WORTH = 0.8  # more charts, that do not fit better, must give maps as much better as this
_STARTS, _APART = 3, 1_000  # that are tried where charts are not enough, and how far apart their seeds are
_N_INIT = 4  # starts of a mixture: with one, twice as fast, maps of many columns were worse (mfeat, decision 0008)


def numbers(model: Any, course: Course) -> Iterator[int]:
    """The numbers of parallel mixtures; the first even where the fit was ended."""
    for number in range(model.n_mixtures):
        if number and course.ended:
            return
        yield number


def fitted(own: Any, rows: Rows, course: Course) -> Any:
    """A mixture of this library, fitted, or as it stands where that was interrupted."""
    try:
        return own.fit_batches(rows)
    except KeyboardInterrupt:
        course.interrupt(kept=hasattr(own, "charts_"))
        return own


def planes(model: Any, k: int, q: int | str, seed: int, course: Course, **options: Any) -> PPCAMixture:
    """A mixture of k charts of q dimensions, with what the model says of EM."""
    same = {name: getattr(model, name) for name in ("max_iter", "tol", "n_jobs")}
    return PPCAMixture(k, q, random_state=seed, callback=course, **same, **options)


@dataclass(frozen=True)
class _Trial:
    """Mixtures of k charts, how well they fit (the lower, the better) and how good their maps are."""

    k: int
    mixtures: list[PPCAMixture]
    fit: float
    found: Glued

    @property
    def is_enough(self) -> bool:
        """Flat charts that agree on one stretching."""
        return self.found.distortion < _ISOMETRIC and float(self.found.off_plane.max()) < _FLAT


def searched(model: Any, sample: Array, q: Any, seed: int, course: Course) -> tuple[int, list[PPCAMixture]]:
    """The number of charts with the best maps, and mixtures of so many, fitted to the sample."""
    tried: list[_Trial] = []
    try:
        for trial in _trials(model, sample, q, seed, course):
            tried.append(trial)
            if course.ended:
                break
    except KeyboardInterrupt:
        course.interrupt(kept=bool(tried))
    best = min(tried, key=lambda trial: trial.found.criterion)
    return best.k, best.mixtures


def _trials(model: Any, sample: Array, q: Any, seed: int, course: Course) -> Iterator[_Trial]:
    """Numbers of charts, doubled until they are flat and agree, or until more of them help neither fit nor maps.

    Where none are enough, other starts are tried, too.
    """
    most = max(1, len(sample) // (_ROWS_EACH * (1 + (model.n_components if isinstance(q, str) else q))))
    k, tried = min(_FIRST, most), []
    while k:
        tried.append(_trial(model, sample, k, q, seed, course))
        yield tried[-1]
        k = 0 if tried[-1].is_enough else _more(tried, most)
    best = min(tried, key=lambda trial: trial.found.criterion)
    for again in range(1, _STARTS if best.k > 1 else 1):
        if not best.is_enough:
            other = _trial(model, sample, best.k, q, seed + again * _APART, course)
            yield other
            best = min(best, other, key=lambda trial: trial.found.criterion)


def _trial(model: Any, sample: Array, k: int, q: Any, seed: int, course: Course) -> _Trial:
    rows = ArrayRows(sample, n_jobs=model.n_jobs)
    mixtures = [
        fitted(planes(model, k, q, seed + i, course, n_init=_N_INIT), rows, course) for i in numbers(model, course)
    ]
    found = glued(model, rows, [_whole(own.charts_, sample.shape[1]) for own in mixtures], sample)
    return _Trial(k, mixtures, float(np.mean([own.bic(sample) for own in mixtures])), found)


def _more(tried: Sequence[_Trial], most: int) -> int:
    """How many charts to try next; 0: no more."""
    last, before = tried[-1], tried[:-1]
    fits = [trial.fit for trial in before]
    maps = [trial.found.criterion for trial in before]
    if before and last.fit >= min(fits) and last.found.criterion > _WORTH * min(maps):
        return 0
    if 2 * last.k <= most:
        return 2 * last.k
    bridges = int(bridging(last.found.off_plane).sum())  # where doubling is too much, each makes room for one
    return min(last.k + bridges, most) if bridges and last.k < most else 0


def _whole(charts: Any, d: int) -> ChartedView:
    return ChartedView(charts, np.arange(d), np.zeros(d), 1.0)
