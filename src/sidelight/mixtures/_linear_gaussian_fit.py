"""How a linear-Gaussian model is fitted to rows, whole or with missing entries, in memory, in batches or on a cluster.

Whole rows: the closed form, from sums of products (d, d) or, where columns outnumber rows, the Gram matrix; EM where
both would be too large. Missing entries: EM from the axes of the entries that are there. The number of dimensions, if
it is to be found: from the eigenvalues, or while EM climbs (``objectives.relevance``). Where entries are missing and
rows are many, a Gaussian of full covariance follows, which entries are imputed by (``objectives.gaussian``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

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
from sidelight.rows import ArrayRows, Rows, Sums
from sidelight.solvers.eigen import fix_signs
from sidelight.solvers.em import EMResult, em

__all__ = ["LARGEST", "Fitted", "Task", "canonical", "fitted", "from_moments"]

Array = npt.NDArray[Any]
P = TypeVar("P")
LARGEST = 3000  # columns of which a matrix of products is made
_UNCERTAIN = 10_000_000  # numbers in the covariances of W
_FIRST = 2  # steps before the dimensions to begin with are counted
_MORE = 1.5  # times as many as those, and three, are gone on with
_STAGES = (2, 4, 8)  # steps after which columns that vanish are dropped; the last one again and again
_FULL = 1000  # columns up to which a covariance of all of them is refined
_ROWS_EACH = 2  # observed rows for each column that it takes
_TINY = 1e-12  # of the mean variance: the least noise
_ENDED = (Status.STOPPED, Status.INTERRUPTED)


@dataclass(frozen=True)
class Task:
    """Rows, how they come into the frame, what is known of them, and how far to go."""

    rows: Rows
    inside: Callable[[Array], Array]
    sample: Array  # inside the frame
    n: int
    seen: Array  # (d,) observed entries of each column
    variance: float  # mean over columns, inside the frame
    n_components: int | None
    max_iter: int
    tol: float
    n_jobs: int | None
    refinements: int
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

    def total(self, statistic: Callable[[Array], Sums]) -> Sums:
        """A sum over the rows, inside the frame."""
        return self.rows.total(lambda X: statistic(self.inside(X)))


@dataclass(frozen=True)
class Fitted:
    """The model inside the frame, how EM ended (None: there was none), its records, and what entries are imputed by."""

    model: LinearGaussian
    status: Status | None = None
    history: tuple[Record, ...] = ()
    gaussian: Gaussian | None = None


def fitted(task: Task) -> Fitted:
    """The most likely model, or that of the highest evidence where the number of dimensions is to be found."""
    if task.missing:
        found = _relevant(task) if task.n_components is None else _climbed(task, int(task.n_components))
        return _refined(task, found)
    if task.n < task.n_features and len(task.sample) == task.n:
        axes = axes_of_rows(task.sample)
    elif task.n_features <= LARGEST:
        axes = axes_of_moments(task.total(moments))
    else:
        return _climbed(task, task.n_components or _count(axes_of_rows(task.sample)))
    return Fitted(from_axes(axes, task.n_components, task.least_noise))


def _refined(task: Task, found: Fitted) -> Fitted:
    """A few steps from the plane to a Gaussian of full covariance, drawn to the plane the more, the fewer the rows.

    Not where rows are too few to tell a covariance: there the plane imputes better.
    """
    d, rows = task.n_features, float(task.seen.mean())
    if found.status in _ENDED or not task.refinements or d > _FULL or rows < _ROWS_EACH * d:
        return found
    plane = found.model
    target = plane.W @ plane.W.T + plane.noise * np.eye(d)
    model = gaussian_of(plane.mean, target)
    try:
        for _ in range(task.refinements):
            sums = task.total(partial(gaussian_statistics, model))
            model = gaussian_maximised(sums, model, target, d / (d + rows))
    except KeyboardInterrupt:
        return replace(found, status=Status.INTERRUPTED)
    return replace(found, gaussian=model)


def from_moments(sums: Sums, n_components: int | None) -> LinearGaussian:
    """The model of whole rows of which the sums are kept."""
    axes = axes_of_moments(sums)
    return from_axes(axes, n_components, _TINY * (axes.total / len(axes.mean) or 1.0))


def from_axes(axes: PrincipalAxes, n_components: int | None, least_noise: float) -> LinearGaussian:
    """The model in closed form; None: as many dimensions as the eigenvalues speak for."""
    q = _count(axes) if n_components is None else n_components
    return canonical(closed_form(axes, q, least_noise=least_noise))


def canonical(model: LinearGaussian) -> LinearGaussian:
    """The same density with orthogonal columns of W, longest first, the largest entry of each positive."""
    V = np.linalg.svd(np.linalg.qr(model.W, mode="r"))[2].T
    W = model.W @ V
    return turned(model, np.where((fix_signs(W) * W).sum(axis=0) < 0, -V, V))


def _count(axes: PrincipalAxes) -> int:
    return max(1, relevant_count(axes.values, axes.n, len(axes.mean)))


def _climbed(task: Task, q: int) -> Fitted:
    """EM with q dimensions."""
    missing = task.missing

    def step(model: LinearGaussian) -> tuple[LinearGaussian, float]:
        sums = task.total(lambda X: statistics(model, X, missing=missing))
        new = maximised(sums, model, least_noise=task.least_noise)
        return new, float(sums["log_likelihood"] / sums["n"])

    axes = available_axes(task.sample)[0] if missing else axes_of_rows(task.sample)
    result = em(step, _start(task, axes, q), max_iter=task.max_iter, tol=_per_row(task), callback=task.callback)
    model = result.parameters
    if not missing:
        unbiased = task.n / max(task.n - 1, 1)  # as the closed form has it
        model = replace(model, W=model.W * np.sqrt(unbiased), noise=model.noise * unbiased)
    return Fitted(canonical(model), result.status, result.history)


def _start(task: Task, axes: PrincipalAxes, q: int) -> LinearGaussian:
    """Axes of what is there; a column of length 0 would stay so, thus none has it."""
    model = closed_form(axes, q, least_noise=max(task.least_noise, 1e-3 * task.variance))
    kept = min(q, axes.axes.shape[1])
    W = model.W.copy()
    W[:, :kept] = axes.axes[:, :kept] * np.sqrt(np.maximum(axes.values[:kept] - model.noise, 0.01 * model.noise))
    return LinearGaussian(model.mean, W, model.noise)


def _per_row(task: Task) -> float:
    return task.tol * float(task.seen.sum()) / task.n


def _relevant(task: Task) -> Fitted:
    """EM on the evidence: as many dimensions as rise above their noise, of which those that vanish are dropped."""
    state = with_relevance(_counted_start(task), task.seen)
    vanished = least_length(float(task.seen.mean()), task.n_features)

    def step(state: Any) -> tuple[Any, float]:
        sums = task.total(lambda X: statistics(state.model, X))
        return maximised_relevance(sums, state, least_noise=task.least_noise), bound(sums, state)

    history: list[Record] = []
    stage, status = 0, Status.ITERATIONS
    while len(history) < task.max_iter:
        steps = min(_STAGES[min(stage, len(_STAGES) - 1)], task.max_iter - len(history))
        result = em(step, state, max_iter=steps, tol=_per_row(task), callback=_counted(task.callback, stage, history))
        history.extend(_in_stage(result, stage, history))
        state, status, stage = dropped(result.parameters, vanished), result.status, stage + 1
        settled = status is Status.CONVERGED and state is result.parameters
        if settled or status in (*_ENDED, Status.STALLED):
            break
    return Fitted(canonical(state.model), status, tuple(history))


def _counted_start(task: Task) -> LinearGaussian:
    """Some more dimensions than the sample speaks for, its gaps filled by models that grow to that number."""
    axes, rising = available_axes(task.sample)
    most = max(1, min(task.n - 1, task.n_features - 1, int(np.sqrt(_UNCERTAIN / task.n_features))))
    q = max(1, min(rising, 2 * _count(axes) + 5, most))
    rows = ArrayRows(task.sample, n_jobs=task.n_jobs, block=max(64, -(-len(task.sample) // 4)))
    for _ in range(2):
        model = _start(task, axes, q)
        for _ in range(_FIRST):
            sums = rows.total(partial(statistics, model))
            model = maximised(sums, model, least_noise=task.least_noise)
        axes = expected_axes(model, task.sample)
        q = min(int(_MORE * kept_count(axes.values, float(task.seen.mean()), task.n_features)) + 3, most)
    return _start(task, axes, q)


def _in_stage(result: EMResult[Any], stage: int, before: list[Record]) -> list[Record]:
    seconds, done = (before[-1].seconds if before else 0.0), len(before)
    return [replace(r, stage=stage, iteration=r.iteration + done, seconds=r.seconds + seconds) for r in result.history]


def _counted(callback: Callback | None, stage: int, before: list[Record]) -> Callback | None:
    """The callback, told of the steps of earlier stages."""
    if callback is None:
        return None
    seconds, done = (before[-1].seconds if before else 0.0), len(before)

    def call(state: State) -> bool | None:
        later = replace(state, stage=stage, iteration=state.iteration + done, seconds=state.seconds + seconds)
        return callback(replace(later, n_stages=max(stage + 1, len(_STAGES))))

    return call
