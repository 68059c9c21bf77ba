"""Fit a mixture to rows by EM, in memory, in batches or on a cluster.

1. One pass over the rows: mean, variance, missing entries (:func:`summarise_rows`), and a sample.
2. ``n_init`` starts on the sample, ten EM steps each; the most likely one goes on (:func:`start_mixture`).
3. EM on all rows; charts with too few rows are restarted at the rows of lowest likelihood (:func:`run_em`).

With ``n_charts="auto"`` this is repeated for the numbers of charts that :func:`lowest_criterion` tries. A stream of
batches is fitted by stepwise EM instead (``maps.mixture_stream``).

A kind of mixture (:class:`MixtureKind`: ``maps.plane_mixture.PlaneKind`` and the Bernoulli kind of ``mixtures``)
defines the initialisation and the sums over rows that EM needs. This module does not depend on the kind.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.messages import error_message
from sidelight.base.progress import ProgressBar, combine_callbacks
from sidelight.base.random import start_seed
from sidelight.base.result import Callback, Record, Status
from sidelight.base.warnings import warn
from sidelight.objectives.mixtures import normalised
from sidelight.rows import ArrayRows, Rows, Sums
from sidelight.solvers.em import EMResult, em

from .charts import MixtureCharts
from .frames import Frame
from .row_summary import RowSummary, summarise_rows

if TYPE_CHECKING:
    from .mixture_stream import MixtureStream

__all__ = [
    "EMSettings",
    "Family",
    "FittedMixture",
    "Mixture",
    "MixtureKind",
    "fit_mixture",
    "information_criterion",
    "lowest_criterion",
    "run_em",
    "start_mixture",
]

Array = npt.NDArray[Any]
P = TypeVar("P", bound="Mixture")
F = TypeVar("F", bound="Family[Any]")
T = TypeVar("T")
_SHORT = 10  # EM steps after which initialisations are compared
_ROUNDS = 3  # maximum number of restarts of dead charts
_ENDED = (Status.STOPPED, Status.INTERRUPTED)


class Mixture(Protocol):
    """Parameters of a mixture."""

    @property
    def weights(self) -> Array:
        """Mixing weights of the charts (k,)."""
        ...


class Family(Protocol[P]):
    """The EM of a kind of mixture, as sums over rows."""

    def joint(self, mixture: P, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        ...

    def sums(self, mixture: P, X: Array) -> Sums:
        """Sufficient statistics of rows for the M step, with ``rows`` (a number) and ``n`` (k,), rows per chart."""
        ...

    def maximised(self, sums: Sums, mixture: P) -> P:
        """The M step."""
        ...

    def value(self, sums: Sums, mixture: P) -> float:
        """Objective of EM at the mixture with which the sums were computed."""
        ...

    def carried(self, sums: Sums, before: P, after: P) -> Sums:
        """Convert sums taken at the mixture ``before`` to sums at ``after``."""
        ...

    def reseeded(self, mixture: P, charts: Array, X: Array) -> P:
        """The mixture with some charts restarted at rows."""
        ...


class MixtureKind(Protocol[P, F]):
    """A kind of mixture with its settings: initialisation, EM, and conversion to charts."""

    framed: ClassVar[bool]
    """Whether rows are centred and scaled before the fit."""

    by_column: ClassVar[bool]
    """Whether each column is scaled by its own spread."""

    def family(self, summary: RowSummary, *, stream: bool = False) -> F:
        """The EM for rows of this summary; ``stream``: for stepwise EM."""
        ...

    def start(self, summary: RowSummary, family: F, n_charts: int, rng: np.random.RandomState) -> P:
        """One random initialisation on ``summary.sample``."""
        ...

    def fewest_rows(self, summary: RowSummary, n_charts: int) -> float:
        """Number of rows at or below which a chart is dead and is restarted."""
        ...

    def pruned(self, mixture: P, summary: RowSummary) -> P | None:
        """The mixture with fewer local dimensions, to restart EM from; None: no pruning."""
        ...

    def finished(self, mixture: P) -> P:
        """The same mixture in its final parametrisation."""
        ...

    def charts(self, mixture: P, frame: Frame) -> MixtureCharts:
        """The charts of a mixture fitted inside ``frame``."""
        ...

    def joined(self, stream: MixtureStream[P, F], X: Array) -> MixtureStream[P, F]:
        """The stream, prepared for a batch of scaled rows ``X`` (n, d)."""
        ...


@dataclass(frozen=True)
class EMSettings:
    """How EM is run.

    Parameters
    ----------
    owner : str
        Class name of the estimator, for messages and the progress bar.
    n_init : int
        Number of initialisations.
    max_iter : int
        Maximum number of EM steps.
    tol : float
        Converged when a step gains less, in mean log likelihood per row.
    random_state : int, RandomState or None
        For the sample and the initialisations.
    n_jobs : int or None
        Threads; None: all.
    verbose : int
        1 shows a progress bar.
    callback : callable or None
        Called after each step; returning True stops the fit.
    quiet : bool
        Whether a fit that runs out of steps is no reason for a warning: it is only compared with others.
    """

    owner: str
    n_init: int
    max_iter: int
    tol: float
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    callback: Callback | None = None
    quiet: bool = False


@dataclass(frozen=True)
class FittedMixture(Generic[P]):
    """Result of a mixture fit.

    Parameters
    ----------
    mixture : parameters
        Fitted to rows scaled by ``summary.frame``.
    summary : RowSummary
    status : Status
    history : tuple of Record
    interrupted : bool
        Whether Ctrl-C ended the fit, or the search for the number of charts.
    criteria : dict or None
        Bayesian information criterion of each number of charts that was tried; None if the number was given.
    """

    mixture: P
    summary: RowSummary
    status: Status
    history: tuple[Record, ...]
    interrupted: bool
    criteria: dict[str, float] | None = None


def fit_mixture(rows: Rows, kind: MixtureKind[P, F], settings: EMSettings, n_charts: int | str) -> FittedMixture[P]:
    """Fit a mixture by EM.

    Parameters
    ----------
    rows : Rows
        The data; entries may be missing (NaN).
    kind : MixtureKind
    settings : EMSettings
    n_charts : int or "auto"
        "auto": the number with the lowest Bayesian information criterion.

    Returns
    -------
    FittedMixture

    Raises
    ------
    KeyboardInterrupt
        If Ctrl-C comes before there is a first mixture.
    """
    if not isinstance(n_charts, str):
        return _fit(rows, kind, settings, int(n_charts))

    def with_criterion(k: int) -> tuple[FittedMixture[P], float]:
        found = _fit(rows, kind, settings, k)
        if found.status in _ENDED:
            return found, np.inf
        charts = kind.charts(found.mixture, found.summary.frame)
        log = rows.total(lambda X: {"log": np.asarray(charts.log_density(X).sum())})["log"]
        return found, float(-2.0 * log + charts.n_parameters * np.log(found.summary.n))

    best, last, criteria = lowest_criterion(with_criterion, rows.count())
    return replace(best, interrupted=last.interrupted, criteria=criteria)


def _fit(rows: Rows, kind: MixtureKind[P, F], settings: EMSettings, n_charts: int) -> FittedMixture[P]:
    """Summary, initialisation and EM with a given number of charts."""
    seed = start_seed(settings.random_state)
    summary = summarise_rows(settings.owner, rows, n_charts, seed, framed=kind.framed, by_column=kind.by_column)
    family = kind.family(summary)
    start = start_mixture(kind, family, summary, n_charts, settings)
    fewest = kind.fewest_rows(summary, n_charts)
    found = run_em(rows, family, start, summary, settings, fewest=fewest)
    pruned = None if found.status in _ENDED else kind.pruned(found.mixture, summary)
    if pruned is not None:
        found = run_em(rows, family, pruned, summary, settings, fewest=fewest, before=found.history)
    return replace(found, mixture=kind.finished(found.mixture))


def start_mixture(kind: MixtureKind[P, F], family: F, summary: RowSummary, n_charts: int, settings: EMSettings) -> P:
    """Best of ``n_init`` initialisations, each after ten EM steps on the sample.

    Parameters
    ----------
    kind : MixtureKind
    family : Family
        Its EM.
    summary : RowSummary
    n_charts : int
    settings : EMSettings

    Returns the mixture with the highest likelihood, after these steps.
    """
    rng = np.random.RandomState(start_seed(settings.random_state))
    starts = [kind.start(summary, family, n_charts, rng) for _ in range(settings.n_init)]
    step = _em_step(family, ArrayRows(summary.sample, n_jobs=settings.n_jobs))
    results = []
    for start in starts:
        results.append(em(step, start, max_iter=_SHORT, tol=0.0))
        raise_if_interrupted(results[-1].status is Status.INTERRUPTED, kept=False)  # there is no mixture to return yet
    return max(results, key=lambda result: result.log_likelihood).parameters


def run_em(
    rows: Rows,
    family: Family[P],
    start: P,
    summary: RowSummary,
    settings: EMSettings,
    *,
    fewest: float,
    before: Sequence[Record] = (),
) -> FittedMixture[P]:
    """EM on all rows, with restarts of dead charts.

    Charts with ``fewest`` rows or less are restarted at the rows of lowest likelihood, up to three times. A restart is
    kept if it leaves fewer dead charts or has a higher likelihood. In the history it is a stage of its own.

    Parameters
    ----------
    rows : Rows
    family : Family
        The EM of the kind of mixture.
    start : parameters
        Initial mixture, in the scaled units of ``summary.frame``.
    summary : RowSummary
    settings : EMSettings
    fewest : float
        Number of rows at or below which a chart is dead.
    before : sequence of Record
        History to continue.

    Returns
    -------
    FittedMixture
    """
    bar = ProgressBar(settings.owner) if settings.verbose else None
    callback = combine_callbacks(bar, settings.callback)
    step = _em_step(family, rows, summary)
    history = list(before)

    def run(start: P, reseeded: int) -> EMResult[P]:
        result = em(step, start, max_iter=settings.max_iter, tol=settings.tol, callback=callback)
        history.extend(_in_stage(history, result.history, reseeded))
        return result

    best = run(start, 0)
    for _ in range(_ROUNDS):
        dead = _dead_charts(best.parameters, summary.n, fewest)
        if len(dead) == 0 or best.status in _ENDED:
            break
        again = run(_restarted(family, best.parameters, dead, summary.sample), len(dead))
        fewer = len(_dead_charts(again.parameters, summary.n, fewest)) < len(dead)
        if not (fewer or again.log_likelihood > best.log_likelihood or again.status in _ENDED):
            break
        best = again
    if bar is not None:
        bar.close(best.message)
    if best.status in (Status.ITERATIONS, Status.STALLED) and not settings.quiet:
        rule = f"did not let the fit converge: it {best.message}"
        message = error_message(settings.owner, "max_iter", settings.max_iter, rule, "Raise max_iter or tol")
        warn(message, ConvergenceWarning)
    interrupted = best.status is Status.INTERRUPTED
    return FittedMixture(best.parameters, summary, best.status, tuple(history), interrupted)


def _em_step(family: Family[P], rows: Rows, summary: RowSummary | None = None) -> Callable[[P], tuple[P, float]]:
    """EM step ``mixture -> (new mixture, value)`` on rows, in the frame of ``summary`` (None: as they are)."""

    def step(mixture: P) -> tuple[P, float]:
        sums = rows.total(lambda X: family.sums(mixture, X if summary is None else summary.inside(X)))
        return family.maximised(sums, mixture), family.value(sums, mixture)

    return step


def _dead_charts(mixture: Mixture, n: int, fewest: float) -> Array:
    return np.flatnonzero(mixture.weights * n <= fewest)


def _restarted(family: Family[P], mixture: P, dead: Array, sample: Array) -> P:
    """Move dead charts to the distinct rows of the sample with the lowest log density per observed entry."""
    _, log_density = normalised(family.joint(mixture, sample))
    seen = np.maximum((~np.isnan(sample)).sum(axis=1), 1)
    worst = sample[np.argsort(log_density / seen, kind="stable")]
    _, first = np.unique(worst, axis=0, return_index=True)
    places = np.sort(first)[: len(dead)]
    return family.reseeded(mixture, dead[: len(places)], worst[places])


def _in_stage(before: list[Record], new: Sequence[Record], reseeded: int) -> list[Record]:
    """Records of a further run of EM, with stage and iteration numbers continued."""
    stage = before[-1].stage + 1 if before else 0
    more = {"reseeded": float(reseeded)} if reseeded else {}
    last = len(before)
    return [replace(r, stage=stage, iteration=r.iteration + last, terms={**r.terms, **more}) for r in new]


def lowest_criterion(fit: Callable[[int], tuple[T, float]], most: int) -> tuple[T, T, dict[str, float]]:
    """Search the number of charts with the lowest criterion: double it while that helps, then try k - k/4 and k + k/2.

    ``fit(k)`` returns a fit and its criterion; infinity ends the search (the fit was stopped). ``most`` is the largest
    number tried. Returns the best fit, the last one, and the criteria by number.

    >>> lowest_criterion(lambda k: (k, abs(k - 6.0)), 100)
    (6, 12, {'1': 5.0, '2': 4.0, '4': 2.0, '8': 2.0, '16': 10.0, '6': 0.0, '12': 6.0})
    """
    tried: dict[int, tuple[T, float]] = {}

    def criterion(k: int) -> float:
        if k not in tried:
            tried[k] = fit(k)
        return tried[k][1]

    k = 1
    criterion(k)
    while criterion(k) < np.inf and 2 * k <= most and criterion(2 * k) <= criterion(k):
        k *= 2
    for middle in (k - k // 4, k + k // 2):
        if middle <= most and np.isfinite([value for _, value in tried.values()]).all():
            criterion(middle)
    best = min(tried, key=lambda k: (tried[k][1], k))
    last = tried[list(tried)[-1]][0]
    return tried[best][0], last, {str(k): value for k, (_, value) in tried.items() if value < np.inf}


def information_criterion(log_densities: Array, n_parameters: int) -> float:
    """Bayesian information criterion from the log densities (n,) of rows; lower is better."""
    return float(-2.0 * log_densities.sum() + n_parameters * np.log(len(log_densities)))
