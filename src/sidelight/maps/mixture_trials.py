"""Compare mixtures by the log density of rows that they were not fitted to.

Up to a few thousand rows are split: a fifth is held out, of few rows each fifth in turn. A trial fits a mixture to the
others, with two starts and few steps, and its score is the mean log density of the held-out rows (:class:`Trials`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from sidelight.base.random import start_seed
from sidelight.base.result import Status
from sidelight.rows import ArrayRows, Rows

from .mixture_fit import EMSettings, FittedMixture, Mixture, MixtureKind, fit_mixture, run_em
from .row_summary import summarise_rows

__all__ = ["Choice", "Splits", "Trial", "Trials", "splits_of", "trial_rows"]

Array = npt.NDArray[Any]
P = TypeVar("P", bound=Mixture)
K = TypeVar("K", bound=MixtureKind[Any, Any])
R = TypeVar("R", bound=Hashable)
_FOLDS = 5
_FEWEST = 10  # rows below which none can be spared
_ENOUGH = 1200  # rows from which one fifth is enough to compare; below, each fifth in turn until so many are held out
_STARTS, _STEPS, _TOL = 2, 40, 5e-3  # EM of a trial
_ENDED = (Status.STOPPED, Status.INTERRUPTED)
_ROOM = 250_000  # entries of the rows that trials are made with, where these are more than _LEAST rows
_LEAST, _MOST = 1000, 4000
_TIE = 0.1  # nats per row
_FEW = 8  # charts up to which a number that does not help does not end the search


@dataclass(frozen=True)
class Splits:
    """Rows (n, d) and the held-out parts: pairs of masks (training, held out).

    ``filled`` (n, d) are the rows that trials are fitted to, if other ones: without missing entries, which make EM
    slow.
    """

    X: Array
    parts: tuple[tuple[Array, Array], ...]
    filled: Array | None = None

    @property
    def fewest(self) -> int:
        """Training rows of the smallest split; 0 without any."""
        return min((int(train.sum()) for train, _ in self.parts), default=0)


@dataclass(frozen=True)
class Trial(Generic[K]):
    """A fitted candidate: its kind, with what the fit has found; the held-out log densities; the fit of each split."""

    kind: K
    logs: Array
    fits: tuple[FittedMixture[Any], ...]

    @property
    def found(self) -> FittedMixture[Any]:
        """The fit of the first split, or the one that was stopped."""
        return next((fit for fit in self.fits if fit.status in _ENDED), self.fits[0])

    @property
    def score(self) -> float:
        """Mean log density of held-out rows; minus infinity where the fit was stopped."""
        return -np.inf if self.found.status in _ENDED else float(self.logs.mean())


@dataclass(frozen=True)
class Choice(Generic[K]):
    """The selected candidate.

    Parameters
    ----------
    kind : MixtureKind
    n_charts : int or str
    scores : dict or None
        Held-out log density of everything that was tried, by name; None if nothing was to be chosen.
    ended : FittedMixture or None
        The best mixture so far, if the search was stopped or interrupted.
    start : FittedMixture or None
        The mixture of the trial, from which the fit to all rows goes on; None: starts are made.
    """

    kind: K
    n_charts: int | str
    scores: dict[str, float] | None = None
    ended: FittedMixture[Any] | None = None
    start: FittedMixture[Any] | None = None

    def fitted(self, rows: Rows, settings: EMSettings) -> FittedMixture[Any]:
        """The mixture of all rows; as far as it came, if the search was ended."""
        if self.ended is not None:
            return self.ended
        if self.start is None:
            return fit_mixture(rows, self.kind, settings, self.n_charts)
        k, seed = len(self.start.mixture.weights), start_seed(settings.random_state)
        summary = summarise_rows(settings.owner, rows, k, seed, frame=self.start.summary.frame)
        fewest = self.kind.fewest_rows(summary, k)
        found = run_em(rows, self.kind.family(summary), self.start.mixture, summary, settings, fewest=fewest)
        return replace(found, mixture=self.kind.finished(found.mixture))


class Trials(Generic[R, K]):
    """Trials of recipes, each once.

    ``fit(rows, recipe, settings, start)`` returns a fitted mixture and its kind; ``start`` is a mixture of a like
    recipe that was fitted to the same rows, or None.
    """

    def __init__(
        self,
        splits: Splits,
        fit: Callable[[Rows, R, EMSettings, FittedMixture[Any] | None], tuple[FittedMixture[Any], K]],
        settings: EMSettings,
    ) -> None:
        steps, tol = min(settings.max_iter, _STEPS), max(settings.tol, _TOL)
        starts = min(settings.n_init, _STARTS)
        self._settings = replace(settings, n_init=starts, max_iter=steps, tol=tol, verbose=0, quiet=True)
        self._splits, self._fit = splits, fit
        self.tried: dict[R, Trial[K]] = {}
        self.interrupted = False

    @property
    def ended(self) -> bool:
        """Whether a callback or Ctrl-C has ended the search."""
        return self.interrupted or any(trial.found.status in _ENDED for trial in self.tried.values())

    def score(self, recipe: R, start: R | None = None) -> float:
        """Held-out log density of a recipe; minus infinity once the search has ended.

        ``start``: a recipe that was tried, from whose mixtures EM goes on.
        """
        if recipe not in self.tried:
            if self.ended:
                return -np.inf
            try:
                self.tried[recipe] = self._trial(recipe, None if start is None else self.tried[start])
            except KeyboardInterrupt:
                if not self.tried:
                    raise
                self.interrupted = True
                return -np.inf
        return self.tried[recipe].score

    def best(self) -> R:
        """The recipe with the highest score; the first of equals."""
        return max(self.tried, key=lambda recipe: self.tried[recipe].score)

    def is_as_good(self, recipe: R, other: R) -> bool:
        """Whether a recipe is worse than another by no more than 0.1 nats and the standard error of the difference."""
        difference = self.tried[other].logs - self.tried[recipe].logs
        return bool(difference.mean() <= min(_TIE, difference.std() / np.sqrt(len(difference))))

    def doubled(self, recipe: Callable[[int], R], most: int) -> int:
        """The best number of charts of ``recipe(k)``: doubled from 1 as long as that surely helps, then k - k/4.

        Up to eight charts it is doubled anyway, because two may be worse than one where four are better.
        """
        k, numbers = 1, [1]
        self.score(recipe(1))
        while 2 * k <= most and not self.ended:
            k *= 2
            numbers.append(k)
            if not np.isfinite(self.score(recipe(k))):
                break
            if k > _FEW and self.is_as_good(recipe(k // 2), recipe(k)):
                break
        best = max(numbers, key=lambda k: (self.score(recipe(k)), -k))
        middle = best - best // 4
        return max((best, middle), key=lambda k: (self.score(recipe(k)), -k))

    def choice(self, recipe: R, n_charts: int, names: Callable[[R], str]) -> Choice[K]:
        """The choice of a recipe, with all scores by name."""
        scores = {names(one): trial.score for one, trial in self.tried.items() if np.isfinite(trial.score)}
        trial = self.tried[recipe]
        interrupted = self.interrupted or any(one.found.interrupted for one in self.tried.values())
        found = replace(trial.found, interrupted=interrupted) if self.ended else None
        return Choice(trial.kind, n_charts, scores, found, trial.found)

    def _trial(self, recipe: R, start: Trial[K] | None) -> Trial[K]:
        X, logs, fits, kinds = self._splits.X, [], [], []
        given = X if self._splits.filled is None else self._splits.filled
        for number, (train, held_out) in enumerate(self._splits.parts):
            rows = ArrayRows(given[train], n_jobs=self._settings.n_jobs)
            found, kind = self._fit(rows, recipe, self._settings, None if start is None else start.fits[number])
            fits.append(found)
            kinds.append(kind)
            if found.status in _ENDED:
                return Trial(kind, np.zeros(1), tuple(fits))
            logs.append(kind.charts(found.mixture, found.summary.frame).log_density(X[held_out]))
        return Trial(kinds[0], np.concatenate(logs), tuple(fits))


def trial_rows(n: int, d: int, room: int = _ROOM) -> int:
    """How many of n rows of d columns trials are made with: about ``room`` entries."""
    return min(n, int(np.clip(room // max(d, 1), _LEAST, _MOST)))


def splits_of(rows: Rows, settings: EMSettings, room: int = _ROOM) -> Splits:
    """A sample of the rows, without empty ones, and its held-out parts; none if rows are too few."""
    X = rows.sample(trial_rows(_MOST, rows.n_features, room), start_seed(settings.random_state))
    X = X[~np.isnan(X).all(axis=1)]
    if len(X) < _FEWEST:
        return Splits(X, ())
    fold = np.random.default_rng(0).permutation(len(X)) % _FOLDS
    turns = min(_FOLDS, max(1, -(-_ENOUGH // len(X))))
    parts = [(fold != number, fold == number) for number in range(turns)]
    seen = [(~np.isnan(X[train])).any(axis=0).all() for train, _ in parts]
    return Splits(X, tuple(part for part, whole in zip(parts, seen, strict=True) if whole))
