"""Fit a linear-Gaussian model to rows, complete or with missing entries, in memory, in batches or on a cluster.

Complete rows: the closed form, from sums of products (d, d) or, where columns outnumber rows, the Gram matrix; EM where
both would be too large. Missing entries: EM from the axes of the observed entries. The number of dimensions, if it is
to be found: from the eigenvalues, or during EM (``objectives.relevance``). Where entries are missing and rows are many,
a Gaussian of full covariance follows, by which entries are imputed (``objectives.gaussian``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.result import Callback, Record, State, Status
from sidelight.objectives.gaussian import Gaussian, gaussian_maximised, gaussian_of, gaussian_statistics
from sidelight.objectives.linear_gaussian import LinearGaussian, maximised, statistics, turned
from sidelight.objectives.principal_axes import (
    PrincipalAxes,
    available_axes,
    axes_of_moments,
    axes_of_rows,
    closed_form,
    expected_axes,
    moments,
)
from sidelight.objectives.relevance import (
    bound,
    dropped,
    kept_count,
    least_length,
    maximised_relevance,
    relevant_count,
    with_relevance,
)
from sidelight.rows import ArrayRows, Rows, Sums, summed
from sidelight.solvers.eigen import fix_signs
from sidelight.solvers.em import EMResult, em

from .linear_gaussian_maps import LinearGaussianMaps
from .row_summary import summarise_rows
from .sparse_gaussian import columns_in_frame, first_frame, sparse_axes, sparse_moments
from .truncated import is_sparse

__all__ = [
    "LARGEST",
    "FittedGaussian",
    "GaussianSettings",
    "MomentStream",
    "advance_moments",
    "fit_linear_gaussian",
    "fit_sparse_gaussian",
    "maps_of_moments",
]

Array = npt.NDArray[Any]
LARGEST = 3000  # columns up to which a matrix of their products is made
_UNCERTAIN = 10_000_000  # numbers in the covariances of W, at most
_FIRST = 2  # EM steps before the first count of the dimensions
_MORE = 1.5  # EM goes on with so many times that count, and three more
_STAGES = (2, 4, 8)  # EM steps after which columns that vanish are dropped; the last number is repeated
_FULL = 1000  # columns up to which a full covariance is refined
_ROWS_EACH = 2  # observed rows for each column that this takes
_TINY = 1e-12  # of the mean variance: the least noise
_ENDED = (Status.STOPPED, Status.INTERRUPTED)


@dataclass(frozen=True)
class GaussianSettings:
    """Parameters of ``ProbabilisticPCA`` that a fit needs; ``n_components=None``: to be found."""

    owner: str
    n_components: int | None
    standardize: bool
    refinements: int
    max_iter: int
    tol: float
    seed: int
    n_jobs: int | None
    verbose: int
    callback: Callback | None


@dataclass(frozen=True)
class FittedGaussian:
    """The fitted maps, how EM ended (None: the closed form needs none), and its records."""

    maps: LinearGaussianMaps
    status: Status | None
    history: tuple[Record, ...]


def fit_linear_gaussian(rows: Rows, settings: GaussianSettings) -> FittedGaussian:
    """The most likely model, or that of the highest evidence where the number of dimensions is to be found.

    Parameters
    ----------
    rows : Rows
        NaN where an entry is missing.
    settings : GaussianSettings
    """
    summary = summarise_rows(settings.owner, rows, 1, settings.seed)
    widths = _column_widths(summary.variance, standardize=settings.standardize)
    d = len(summary.mean)
    counted = rows.total(lambda X: {"seen": (~np.isnan(X)).sum(axis=0)}) if summary.missing else {}
    bar = ProgressBar(settings.owner) if settings.verbose else None
    problem = _Problem(
        rows=rows,
        centre=summary.frame.centre,
        scale=summary.frame.scale * widths,
        sample=summary.sample / widths,
        n=summary.n,
        seen=counted.get("seen", np.full(d, summary.n)),
        variance=float((summary.variance / widths**2).mean()),
        settings=settings,
        callback=combine_callbacks(bar, settings.callback),
    )
    found = _solved(problem)
    if bar is not None:
        bar.close("closed form" if found.status is None else f"{found.status.value}, {len(found.history)} steps")
    maps = LinearGaussianMaps(found.model, found.gaussian, problem.centre, problem.scale)
    return FittedGaussian(maps, found.status, found.history)


def fit_sparse_gaussian(X: Any, settings: GaussianSettings) -> FittedGaussian:
    """The same for a CSR array (n, d) of complete rows, by products with it: no dense copy is made."""
    centre, scale, variance = columns_in_frame(X, standardize=settings.standardize)
    axes, q = sparse_axes(X, centre, scale, settings.n_components, LARGEST, _count)
    model = _from_axes(axes, q, _TINY * (variance or 1.0))
    return FittedGaussian(LinearGaussianMaps(model, None, centre, scale), None, ())


def _column_widths(variance: Array, *, standardize: bool) -> Array:
    """Scale of each column (d,) in the frame."""
    if not standardize:
        return np.ones(len(variance))
    return np.asarray(np.where(variance > 0, np.sqrt(variance), 1.0))


@dataclass(frozen=True)
class MomentStream:
    """Sums of products of complete rows in the frame ``(x - centre) / unit`` of the first batch."""

    centre: Array
    unit: float
    moments: Sums


def advance_moments(stream: MomentStream | None, X: Any) -> MomentStream:
    """The stream with the rows ``X`` (m, d) added (a CSR array is not copied); None starts a new one."""
    if is_sparse(X):
        centre, unit = (stream.centre, stream.unit) if stream is not None else first_frame(X)
        own = sparse_moments(X, centre, unit)
        return MomentStream(centre, unit, own if stream is None else summed([stream.moments, own]))
    if stream is not None:
        return replace(stream, moments=summed([stream.moments, moments((X - stream.centre) / stream.unit)]))
    size = float(np.abs(X).max()) or 1.0
    centre = (X / size).mean(axis=0) * size
    unit = float(np.abs(X - centre).max()) or size
    return MomentStream(centre, unit, moments((X - centre) / unit))


def maps_of_moments(stream: MomentStream, n_components: int | None, *, standardize: bool) -> LinearGaussianMaps:
    """The model of the rows of a stream, in closed form."""
    sums = stream.moments
    n = float(sums["n"])
    variance = np.maximum(np.diagonal(sums["outer"]) / n - (sums["sum"] / n) ** 2, 0.0)
    widths = _column_widths(variance, standardize=standardize)
    scaled = {"n": sums["n"], "sum": sums["sum"] / widths, "outer": sums["outer"] / np.outer(widths, widths)}
    axes = axes_of_moments(scaled)
    model = _from_axes(axes, n_components, _TINY * (axes.total / len(axes.mean) or 1.0))
    return LinearGaussianMaps(model, None, stream.centre, stream.unit * widths)


@dataclass(frozen=True)
class _Problem:
    """Rows, their frame ``(x - centre) / scale``, and their statistics in it."""

    rows: Rows
    centre: Array
    scale: Array
    sample: Array  # inside the frame
    n: int
    seen: Array  # (d,) observed entries of each column
    variance: float  # mean over columns, inside the frame
    settings: GaussianSettings
    callback: Callback | None

    @property
    def n_features(self) -> int:
        """Columns."""
        return len(self.seen)

    @property
    def missing(self) -> bool:
        """Whether any entry is."""
        return bool((self.seen < self.n).any())

    @property
    def least_noise(self) -> float:
        """A floor, so that rows that lie in a plane have a density."""
        return _TINY * (self.variance or 1.0)

    @property
    def tol_per_row(self) -> float:
        """The tolerance, which is per observed entry, per row."""
        return self.settings.tol * float(self.seen.sum()) / self.n

    def total(self, statistic: Callable[[Array], Sums]) -> Sums:
        """A sum over the rows, inside the frame."""
        centre, scale = self.centre, self.scale
        return self.rows.total(lambda X: statistic((np.asarray(X, dtype=np.float64) - centre) / scale))


@dataclass(frozen=True)
class _Solution:
    """The model inside the frame, how EM ended (None: there was none), and by what entries are imputed."""

    model: LinearGaussian
    status: Status | None = None
    history: tuple[Record, ...] = ()
    gaussian: Gaussian | None = None


def _solved(problem: _Problem) -> _Solution:
    q = problem.settings.n_components
    if problem.missing:
        return _refined(problem, _by_evidence(problem) if q is None else _by_em(problem, q))
    if problem.n < problem.n_features and len(problem.sample) == problem.n:
        axes = axes_of_rows(problem.sample)
    elif problem.n_features <= LARGEST:
        axes = axes_of_moments(problem.total(moments))
    else:
        return _by_em(problem, q or _count(axes_of_rows(problem.sample)))
    return _Solution(_from_axes(axes, q, problem.least_noise))


def _refined(problem: _Problem, found: _Solution) -> _Solution:
    """A few EM steps from the plane to a Gaussian of full covariance, shrunk to the plane the more, the fewer the rows.

    Not where rows are too few for a covariance: there the plane imputes better.
    """
    d, rows = problem.n_features, float(problem.seen.mean())
    if found.status in _ENDED or not problem.settings.refinements or d > _FULL or rows < _ROWS_EACH * d:
        return found
    plane = found.model
    target = plane.W @ plane.W.T + plane.noise * np.eye(d)
    model = gaussian_of(plane.mean, target)
    try:
        for _ in range(problem.settings.refinements):
            sums = problem.total(partial(gaussian_statistics, model))
            model = gaussian_maximised(sums, model, target, d / (d + rows))
    except KeyboardInterrupt:
        return replace(found, status=Status.INTERRUPTED)
    return replace(found, gaussian=model)


def _from_axes(axes: PrincipalAxes, n_components: int | None, least_noise: float) -> LinearGaussian:
    """The model in closed form; ``n_components=None``: as many dimensions as the eigenvalues support."""
    q = _count(axes) if n_components is None else n_components
    return _canonical(closed_form(axes, q, least_noise=least_noise))


def _canonical(model: LinearGaussian) -> LinearGaussian:
    """The same density with orthogonal columns of W, longest first, the largest entry of each positive."""
    V = np.linalg.svd(np.linalg.qr(model.W, mode="r"))[2].T
    W = model.W @ V
    return turned(model, np.where((fix_signs(W) * W).sum(axis=0) < 0, -V, V))


def _count(axes: PrincipalAxes) -> int:
    return max(1, relevant_count(axes.values, axes.n, len(axes.mean)))


def _by_em(problem: _Problem, q: int) -> _Solution:
    """EM with q dimensions."""
    missing = problem.missing

    def step(model: LinearGaussian) -> tuple[LinearGaussian, float]:
        sums = problem.total(lambda X: statistics(model, X, missing=missing))
        new = maximised(sums, model, least_noise=problem.least_noise)
        return new, float(sums["log_likelihood"] / sums["n"])

    axes = available_axes(problem.sample)[0] if missing else axes_of_rows(problem.sample)
    result = em(
        step,
        _start(problem, axes, q),
        max_iter=problem.settings.max_iter,
        tol=problem.tol_per_row,
        callback=problem.callback,
    )
    model = result.parameters
    if not missing:
        unbiased = problem.n / max(problem.n - 1, 1)  # as the closed form has it
        model = replace(model, W=model.W * np.sqrt(unbiased), noise=model.noise * unbiased)
    return _Solution(_canonical(model), result.status, result.history)


def _start(problem: _Problem, axes: PrincipalAxes, q: int) -> LinearGaussian:
    """A model along given axes; no column of W has length 0, as EM would leave it so."""
    model = closed_form(axes, q, least_noise=max(problem.least_noise, 1e-3 * problem.variance))
    kept = min(q, axes.axes.shape[1])
    W = model.W.copy()
    W[:, :kept] = axes.axes[:, :kept] * np.sqrt(np.maximum(axes.values[:kept] - model.noise, 0.01 * model.noise))
    return LinearGaussian(model.mean, W, model.noise)


def _by_evidence(problem: _Problem) -> _Solution:
    """EM on the evidence, from more dimensions than needed; those that vanish are dropped on the way."""
    state = with_relevance(_counted_start(problem), problem.seen)
    vanished = least_length(float(problem.seen.mean()), problem.n_features)

    def step(state: Any) -> tuple[Any, float]:
        sums = problem.total(lambda X: statistics(state.model, X))
        return maximised_relevance(sums, state, least_noise=problem.least_noise), bound(sums, state)

    history: list[Record] = []
    stage, status = 0, Status.ITERATIONS
    while len(history) < problem.settings.max_iter:
        steps = min(_STAGES[min(stage, len(_STAGES) - 1)], problem.settings.max_iter - len(history))
        result = em(
            step, state, max_iter=steps, tol=problem.tol_per_row, callback=_counted(problem.callback, stage, history)
        )
        history.extend(_in_stage(result, stage, history))
        state, status, stage = dropped(result.parameters, vanished), result.status, stage + 1
        settled = status is Status.CONVERGED and state is result.parameters
        if settled or status in (*_ENDED, Status.STALLED):
            break
    return _Solution(_canonical(state.model), status, tuple(history))


def _counted_start(problem: _Problem) -> LinearGaussian:
    """A start with some more dimensions than the sample supports, counted on rows filled by first models."""
    axes, rising = available_axes(problem.sample)
    most = max(1, min(problem.n - 1, problem.n_features - 1, int(np.sqrt(_UNCERTAIN / problem.n_features))))
    q = max(1, min(rising, 2 * _count(axes) + 5, most))
    rows = ArrayRows(problem.sample, n_jobs=problem.settings.n_jobs, block=max(64, -(-len(problem.sample) // 4)))
    for _ in range(2):
        model = _start(problem, axes, q)
        for _ in range(_FIRST):
            sums = rows.total(partial(statistics, model))
            model = maximised(sums, model, least_noise=problem.least_noise)
        axes = expected_axes(model, problem.sample)
        q = min(int(_MORE * kept_count(axes.values, float(problem.seen.mean()), problem.n_features)) + 3, most)
    return _start(problem, axes, q)


def _in_stage(result: EMResult[Any], stage: int, before: list[Record]) -> list[Record]:
    seconds, done = (before[-1].seconds if before else 0.0), len(before)
    return [replace(r, stage=stage, iteration=r.iteration + done, seconds=r.seconds + seconds) for r in result.history]


def _counted(callback: Callback | None, stage: int, before: list[Record]) -> Callback | None:
    """The callback, with the steps of earlier stages counted."""
    if callback is None:
        return None
    seconds, done = (before[-1].seconds if before else 0.0), len(before)

    def call(state: State) -> bool | None:
        later = replace(state, stage=stage, iteration=state.iteration + done, seconds=state.seconds + seconds)
        return callback(replace(later, n_stages=max(stage + 1, len(_STAGES))))

    return call
