"""How every mixture is fitted: look at the rows once, start from the best of a few, climb, begin dead charts anew.

A family (``objectives.mixtures.Planes``, ``objectives.bernoulli.Bernoullis``) says what the sums over rows are and what
follows from them; nothing here knows which. Rows may be in memory, in batches or on a cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from sidelight.base.messages import complain
from sidelight.base.progress import ProgressBar, both
from sidelight.base.random import random_seed
from sidelight.base.result import Record, Status
from sidelight.base.validation import check_integer, check_number
from sidelight.base.warnings import warn
from sidelight.maps.frames import Frame
from sidelight.objectives.mixtures import normalised
from sidelight.rows import ArrayRows, Rows, Sums
from sidelight.solvers.em import EMResult, em

__all__ = [
    "Climbed",
    "Family",
    "Fit",
    "Survey",
    "best_start",
    "check_mixture",
    "climbed",
    "fewest_by_criterion",
    "fitted_rows",
    "seed_of",
    "stepped",
    "surveyed",
]

Array = npt.NDArray[Any]
P = TypeVar("P", bound="Mixture")
T = TypeVar("T")
_SAMPLE = 5_000  # rows that starts are made of, at least; a hundred for each chart
_SHORT = 10  # steps after which starts are compared
_ROUNDS = 3  # of beginning dead charts anew
_ENDED = (Status.STOPPED, Status.INTERRUPTED)


class Mixture(Protocol):
    """Parameters of a mixture."""

    @property
    def weights(self) -> Array:
        """Shares of the charts (k,)."""
        ...


class Family(Protocol[P]):
    """A kind of mixture, as sums over rows."""

    def joint(self, mixture: P, X: Array) -> Array:
        """``log p(x, s)`` (n, k)."""
        ...

    def sums(self, mixture: P, X: Array) -> Sums:
        """What the M step needs of rows; among it ``rows`` (a number) and ``n`` (k,), the rows of each chart."""
        ...

    def maximised(self, sums: Sums, mixture: P) -> P:
        """The M step."""
        ...

    def value(self, sums: Sums, mixture: P) -> float:
        """What EM climbs, of the mixture that the sums were made with."""
        ...

    def carried(self, sums: Sums, before: P, after: P) -> Sums:
        """Sums that refer to one mixture, as they refer to the next."""
        ...

    def reseeded(self, mixture: P, charts: Array, X: Array) -> P:
        """The mixture with some charts begun anew at rows."""
        ...


@dataclass(frozen=True)
class Survey:
    """What is known of the rows before a fit, inside the frame: how many, mean and variance of what is seen."""

    frame: Frame
    n: int
    mean: Array
    variance: Array
    missing: bool
    sample: Array


def check_mixture(model: Any) -> None:
    """Every parameter that mixtures share in range, or a sentence."""
    if model.n_charts != "auto":
        check_integer(model, "n_charts", model.n_charts, 1)
    check_integer(model, "n_init", model.n_init, 1)
    check_integer(model, "max_iter", model.max_iter, 1)
    check_number(model, "tol", model.tol, 0.0)


def seed_of(model: Any) -> int:
    """The seed of starts; without a ``random_state`` always the same."""
    return 0 if model.random_state is None else random_seed(model.random_state)


def surveyed(owner: Any, rows: Rows, n_charts: int, seed: int, *, framed: bool = True) -> Survey:
    """Walk the rows once and refuse what no mixture can be fitted to."""
    raw = rows.sample(max(_SAMPLE, 100 * n_charts), seed)
    frame = _frame(raw) if framed else Frame(np.zeros(raw.shape[1]), 1.0)

    def looked_at(X: Array) -> Sums:
        seen = ~np.isnan(X)
        inside = np.where(seen, frame.inside(X), 0.0)
        empty = np.flatnonzero(~seen.any(axis=1))
        return {
            "n": np.array(len(X)),
            "seen": seen.sum(axis=0),
            "x": inside.sum(axis=0),
            "xx": (inside**2).sum(axis=0),
            "empty": np.array(len(empty)),
        }

    found = rows.total(looked_at)
    n, seen = int(found["n"]), found["seen"]
    _refuse(owner, n, n_charts, seen, int(found["empty"]))
    mean = found["x"] / seen
    variance = np.maximum(found["xx"] / seen - mean**2, 0.0)
    return Survey(frame, n, mean, variance, bool((seen < n).any()), frame.inside(raw))


def _refuse(owner: Any, n: int, n_charts: int, seen: Array, empty: int) -> None:
    if n < 2:
        raise ValueError(f"{type(owner).__name__}: n_samples={n} while a minimum of 2 is required. Give more rows.")
    if n_charts > n:
        rule = f"is more than the {n} rows of X"
        raise ValueError(complain(owner, "n_charts", n_charts, rule, f"Give at most {n}, or more rows"))
    if empty:
        rule = "have no value at all, and tell nothing"
        message = complain(owner, "X", f"{empty} rows", rule, "Leave them out of the fit")
        warn(message, UserWarning)
    if (seen == 0).any():
        column = int(np.flatnonzero(seen == 0)[0])
        rule = "has no value in any row, so nothing can be learned of it"
        raise ValueError(complain(owner, "X", f"column {column}", rule, "Leave the column out"))


def _frame(X: Array) -> Frame:
    """The frame of rows of which some entries are missing."""
    seen = ~np.isnan(X)
    size = float(np.abs(X[seen]).max(initial=0.0)) or 1.0
    centre = np.where(seen, X / size, 0.0).sum(axis=0) / np.maximum(seen.sum(axis=0), 1) * size
    return Frame(centre, float(np.abs((X - centre)[seen]).max(initial=0.0)) or 1.0)


def best_start(family: Family[P], starts: Iterable[P], sample: Array, n_jobs: int | None) -> P:
    """The start that is the most likely after a few steps on a sample, as it is then."""
    rows = ArrayRows(sample, n_jobs=n_jobs)
    step, results = _step(family, rows), []
    for start in starts:
        results.append(em(step, start, max_iter=_SHORT, tol=0.0))
        if results[-1].status is Status.INTERRUPTED:  # before there is a mixture that could be kept
            raise KeyboardInterrupt
    return max(results, key=lambda result: result.log_likelihood).parameters


def _step(family: Family[P], rows: Rows, inside: Frame | None = None) -> Callable[[P], tuple[P, float]]:
    def step(mixture: P) -> tuple[P, float]:
        sums = rows.total(lambda X: family.sums(mixture, X if inside is None else inside.inside(X)))
        return family.maximised(sums, mixture), family.value(sums, mixture)

    return step


def stepped(family: Family[P], mixture: P, kept: Sums | None, X: Array, share: float) -> tuple[P, Sums]:
    """Stepwise EM: mean sums ``kept`` of the rows before, moved towards those of ``X`` by ``share``.

    Cappé and Moulines 2009: with shares (t + 2)^-0.7 the stream converges to where EM on all its rows would.
    """
    own = {name: value / len(X) for name, value in family.sums(mixture, X).items()}
    sums = own if kept is None else {name: (1.0 - share) * kept[name] + share * own[name] for name in own}
    new = family.maximised(sums, mixture)
    return new, family.carried(sums, mixture, new)


@dataclass(frozen=True)
class Climbed(Generic[P]):
    """Where the climb ended."""

    parameters: P
    status: Status
    history: tuple[Record, ...]


def climbed(
    model: Any,
    family: Family[P],
    rows: Rows,
    start: P,
    survey: Survey,
    *,
    fewest: float,
    before: Climbed[P] | None = None,
) -> Climbed[P]:
    """EM on all rows; charts with ``fewest`` rows or less are begun anew at rows that no chart explains.

    A round of that is kept where it leaves fewer dead charts or a better mixture. ``history_`` has it as a stage.
    """
    bar = ProgressBar(type(model).__name__) if model.verbose else None
    step = _step(family, rows, survey.frame)
    history = list(before.history) if before is not None else []

    def climb(start: P, reseeded: int) -> EMResult[P]:
        result = em(step, start, max_iter=model.max_iter, tol=model.tol, callback=both(bar, model.callback))
        history.extend(_in_stage(history, result.history, reseeded))
        return result

    best = climb(start, 0)
    for _ in range(_ROUNDS):
        idle = _idle(best.parameters, survey.n, fewest)
        if len(idle) == 0 or best.status in _ENDED:
            break
        again = climb(_begun_anew(family, best.parameters, idle, survey.sample), len(idle))
        fewer = len(_idle(again.parameters, survey.n, fewest)) < len(idle)
        if not (fewer or again.log_likelihood > best.log_likelihood or again.status in _ENDED):
            break
        best = again
    _announce(model, bar, best)
    return Climbed(best.parameters, best.status, tuple(history))


def _idle(mixture: Mixture, n: int, fewest: float) -> Array:
    return np.flatnonzero(mixture.weights * n <= fewest)


def _begun_anew(family: Family[P], mixture: P, idle: Array, sample: Array) -> P:
    """Dead charts at the rows of the sample that the mixture explains worst, different ones."""
    _, log_density = normalised(family.joint(mixture, sample))
    seen = np.maximum((~np.isnan(sample)).sum(axis=1), 1)
    worst = sample[np.argsort(log_density / seen, kind="stable")]
    _, first = np.unique(worst, axis=0, return_index=True)
    places = np.sort(first)[: len(idle)]
    return family.reseeded(mixture, idle[: len(places)], worst[places])


def _in_stage(before: list[Record], new: Sequence[Record], reseeded: int) -> list[Record]:
    """Records of a further climb, counted on from those before."""
    stage = before[-1].stage + 1 if before else 0
    more = {"reseeded": float(reseeded)} if reseeded else {}
    last = len(before)
    return [replace(r, stage=stage, iteration=r.iteration + last, terms={**r.terms, **more}) for r in new]


def _announce(model: Any, bar: ProgressBar | None, result: EMResult[Any]) -> None:
    if bar is not None:
        bar.close(result.message)
    if result.status in (Status.ITERATIONS, Status.STALLED):
        rule = f"did not let the fit converge: it {result.message}"
        message = complain(model, "max_iter", model.max_iter, rule, "Raise max_iter or tol")
        warn(message, ConvergenceWarning)


@dataclass(frozen=True)
class Fit(Generic[P]):
    """A fit with one number of charts: what was known before it, the family, and where the climb ended."""

    survey: Survey
    family: Family[P]
    climb: Climbed[P]


def fitted_rows(
    model: Any, rows: Rows, fit: Callable[[int], Fit[P]], charts_of: Callable[[Fit[P]], Any]
) -> tuple[Fit[P], bool]:
    """The fit with ``n_charts``, or with the number of the lowest Bayesian criterion; and whether Ctrl-C ended it.

    Keeps ``history_``, ``n_iter_`` and, where the number was chosen, ``criteria_``.
    """

    def with_criterion(k: int) -> tuple[Fit[P], float]:
        found = fit(k)
        if found.climb.status in _ENDED:
            return found, np.inf
        charts = charts_of(found)
        log = rows.total(lambda X: {"log": np.asarray(charts.log_density(X).sum())})["log"]
        return found, float(-2.0 * log + charts.n_parameters * np.log(found.survey.n))

    if model.n_charts == "auto":
        found, last, model.criteria_ = fewest_by_criterion(with_criterion, rows.count())
    else:
        found = last = fit(int(model.n_charts))
    model.history_ = [vars(record) for record in found.climb.history]
    model.n_iter_ = max(1, len(found.climb.history))
    return found, last.climb.status is Status.INTERRUPTED


def fewest_by_criterion(fit: Callable[[int], tuple[T, float]], most: int) -> tuple[T, T, dict[str, float]]:
    """The fit with the lowest criterion: numbers of charts are doubled while that helps, then the middles are tried.

    A criterion of infinity ends the search (the fit was stopped). Returns the best fit, the last one, and the criteria.

    >>> fewest_by_criterion(lambda k: (k, abs(k - 6.0)), 100)
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
