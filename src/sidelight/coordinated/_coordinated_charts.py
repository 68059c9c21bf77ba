"""How the charts of coordinated models are made: a mixture for each view; how many charts: ``_chart_search.py``.

Written once against :class:`sidelight.rows.Rows`, for memory and for batches. A fit that is ended keeps what it has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from sidelight.base.messages import complain
from sidelight.base.progress import both
from sidelight.base.result import Status
from sidelight.maps.charts import gaussian_charts
from sidelight.maps.coordinated import ChartedView
from sidelight.maps.frames import Frame
from sidelight.maps.plane_charts import PlaneCharts, plane_charts
from sidelight.mixtures._mixture_fit import climbed, surveyed
from sidelight.mixtures.ppca_mixture import PPCAMixture
from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.objectives.mixtures import MixtureParameters, Planes
from sidelight.rows import Rows, Statistic, Sums

from ._chart_search import fitted, numbers, planes, searched
from ._coordination_fit import Course

__all__ = ["ViewRows", "charted", "look"]

Array = npt.NDArray[Any]
_SAMPLE = 5_000  # rows that the number of charts is chosen on
_IN_MEMORY = 100_000  # rows that a mixture without sums over batches is fitted to


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


def look(sample: Array, columns: Array) -> Frame:
    """The frame of a view, from a sample of the rows."""
    V = sample[:, columns]
    return Frame.of(V[~np.isnan(V).any(axis=1)])


@dataclass(frozen=True)
class _Made:
    """The charts of one mixture, and how they came about."""

    charts: Any
    n_iter: int
    history: list[dict[str, Any]]

    @classmethod
    def of(cls, own: Any, charts: Any) -> _Made:
        return cls(charts, max(1, int(getattr(own, "n_iter_", 1))), getattr(own, "history_", []))


def charted(
    model: Any, rows: Rows, sample: Array, columns: Array, view: int, seed: int, course: Course
) -> list[ChartedView]:
    """The mixtures of one view, parallel ones with starts of their own; fewer where the fit was ended."""
    mixture = model.mixture[view] if isinstance(model.mixture, (list, tuple)) else model.mixture
    gaussian = type(mixture).__module__.startswith("sklearn.mixture")  # whose import would cost every user time
    framed = mixture is None or gaussian or isinstance(mixture, PPCAMixture)
    frame = look(sample, columns) if framed else Frame(np.zeros(len(columns)), 1.0)
    own, views = ViewRows(rows, columns, frame), []
    made = _default(model, own, seed, course) if mixture is None else _given(model, own, mixture, seed, course)
    try:
        for one in made:
            views.append(ChartedView(one.charts, columns, frame.centre, frame.scale, view))
            course.add(one.history, one.n_iter)
    except KeyboardInterrupt:
        course.interrupt(kept=bool(views))
    return views


def _default(model: Any, rows: ViewRows, seed: int, course: Course) -> Iterator[_Made]:
    """Mixtures of probabilistic PCA, of as many charts as the data needs."""
    q = _n_local(model, rows.n_features)
    k, found = model.n_charts, None
    if k == "auto":
        k, found = searched(model, Rows.sample(rows, _SAMPLE, seed), q, seed, course)
    if k > rows.count():
        rule = f"is more than the {rows.count()} rows"
        raise ValueError(complain(model, "n_charts", k, rule, "Give fewer charts, or more rows"))
    if found is not None and (course.ended or rows.count() <= _SAMPLE):
        yield from (_Made.of(own, own.charts_) for own in found)
        return
    for number in numbers(model, course):
        own = planes(model, k, q, seed + number, course, verbose=model.verbose)
        yield _of_all_rows(own, rows, None if found is None else found[number].charts_, course)


def _of_all_rows(own: PPCAMixture, rows: Rows, start: PlaneCharts | None, course: Course) -> _Made:
    """Charts of all rows, begun from charts of a sample where there are such."""
    if start is None:
        return _Made.of(fitted(own, rows, course), own.charts_)
    survey = surveyed(own, rows, start.n_charts, int(own.random_state))
    shrink = start.scale / survey.frame.scale
    charts = tuple(
        LinearGaussian(survey.frame.inside(c.mean * start.scale + start.centre), c.W * shrink, c.noise * shrink**2)
        for c in start.charts
    )
    family = Planes(max(own.noise_floor * float(survey.variance.mean()), 1e-12), survey.missing)
    climb = climbed(
        own, family, rows, MixtureParameters(start.weights, charts), survey, fewest=max(start.n_local) + 1.5
    )
    if climb.status is Status.INTERRUPTED:
        course.interrupt(kept=True)
    found = plane_charts(climb.parameters, survey.frame.centre, survey.frame.scale)
    return _Made(found, max(1, len(climb.history)), [vars(record) for record in climb.history])


def _n_local(model: Any, d: int) -> Any:
    wanted = model.n_components if model.n_local is None else model.n_local
    if not isinstance(wanted, (str, int, np.integer)):
        remedy = "Give one number, or a GaussianMixture as mixture"
        rule = "is a list, which a mixture of probabilistic PCA does not take"
        raise ValueError(complain(model, "n_local", wanted, rule, remedy))
    return wanted if isinstance(wanted, str) else max(0, min(int(wanted), d - 1))


def _given(model: Any, rows: ViewRows, mixture: Any, seed: int, course: Course) -> Iterator[_Made]:
    """Mixtures of the user's: fitted charts as they are, estimators cloned and fitted."""
    if hasattr(mixture, "responsibilities") and hasattr(mixture, "features"):
        yield from (_Made(mixture, 1, []) for _ in numbers(model, course))
        return
    if not hasattr(mixture, "fit"):
        rule = "is neither an estimator nor charts (responsibilities, features, reconstruction)"
        raise TypeError(complain(model, "mixture", mixture, rule, "Give a PPCAMixture or a GaussianMixture"))
    for number in numbers(model, course):
        own = _cloned(mixture, seed + number, course)
        if hasattr(own, "fit_batches"):
            fitted(own, rows, course)
        else:
            own.fit(Rows.sample(rows, _IN_MEMORY, seed))
        yield _Made.of(own, own.charts_ if hasattr(own, "charts_") else _gaussian(model, own, rows.n_features))


def _cloned(mixture: Any, seed: int, course: Course) -> Any:
    own = clone(mixture)
    known = own.get_params(deep=False)
    options = {"random_state": seed, "callback": both(course, known.get("callback"))}
    options["binarize"] = None  # charts and the way back are of the rows as they are: only 0 and 1 will do
    return own.set_params(**{name: value for name, value in options.items() if name in known})


def _gaussian(model: Any, own: Any, d: int) -> Any:
    """The charts of a Gaussian mixture of scikit-learn."""
    n_local = model.n_components if model.n_local is None else model.n_local
    numbers = min(int(n_local), max(1, d - 1)) if isinstance(n_local, (int, np.integer)) else list(n_local)
    return gaussian_charts(own, numbers)
