"""Choose the charts of a mixture for rows of numbers: how many, and whether planes or Gaussians, by held-out rows.

A recipe is a point in a small space (number of charts; planes of some dimensions, or Gaussians, full or diagonal, with
the covariance that they are shrunken to and by how much). The search doubles the number of charts of full Gaussians
while that helps, then moves one step at a time in the other directions, and looks at diagonal Gaussians and planes
where it has come to. Planes are taken where they are not surely worse: they have fewer parameters, and coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.fitting import raise_if_interrupted
from sidelight.base.random import start_seed
from sidelight.objectives.gaussian_charts import MOST_COLUMNS, Gaussians
from sidelight.objectives.mixtures import MixtureParameters, Planes
from sidelight.rows import ArrayRows, Rows

from .charts import MOST_LOCAL
from .entry_densities import draw_entries
from .gaussian_mixture import GaussianKind, first_kind, rows_outside
from .mixture_fit import EMSettings, FittedMixture, MixtureKind, fit_mixture, run_em, start_mixture
from .mixture_trials import Choice, Splits, Trials, splits_of
from .plane_mixture import PlaneKind
from .row_summary import summarise_rows

__all__ = ["Recipe", "Wanted", "choose_planes"]

Array = npt.NDArray[Any]
AnyKind = MixtureKind[MixtureParameters, Planes] | MixtureKind[MixtureParameters, Gaussians]
_STEP = 4.0  # factor between strengths of the prior
_WEAKEST, _STRONGEST = 1 / 64, 64.0  # strengths, in rows per column
_TOWARD = (0.0, 0.02, 0.1, 0.5)
_MOVES = 20  # most trials after the number of charts
_NUMBERS = (1, 2, 4, 8, 16, 32)  # local dimensions that are tried
_ROUGH_CHARTS, _ROUGH_ROWS = 10, 20  # of the mixture that fills missing entries: charts at most, rows for each
_FAR = 1.0  # nats below the best from which planes are not looked at further
_ROWS_EACH = 6  # rows per chart, at least; as many as columns for full covariances, where these are more


@dataclass(frozen=True)
class Wanted:
    """The user's settings; "auto" is selected on held-out rows.

    Parameters
    ----------
    n_charts, n_components : int or "auto"
    covariance : {"plane", "diagonal", "full", "auto"}
    noise_floor : float
    """

    n_charts: int | str
    n_components: int | str
    covariance: str
    noise_floor: float


@dataclass(frozen=True)
class Recipe:
    """A candidate: ``strength`` is in rows per column; see :class:`GaussianKind` for the others."""

    n_charts: int
    covariance: str
    n_components: int | str = 0
    strength: float = 1.0
    wide: bool = False
    toward_diagonal: float = 0.0

    @property
    def name(self) -> str:
        """A name, for the scores of a search."""
        charts = f"{self.n_charts} {self.covariance}"
        if self.covariance == "plane":
            return f"{charts} ({self.n_components})"
        mean = "wide" if self.wide else "narrow"
        return f"{charts} ({self.strength:g} {mean} {self.toward_diagonal:g})"


def choose_planes(rows: Rows, wanted: Wanted, settings: EMSettings) -> Choice[Any]:
    """The kind of mixture and the number of charts with the highest log density of held-out rows.

    Parameters
    ----------
    rows : Rows
        The data; entries may be missing (NaN).
    wanted : Wanted
    settings : EMSettings
        Of the fit that follows.
    """
    fixed = None if isinstance(wanted.n_charts, str) else int(wanted.n_charts)
    summarise_rows(settings.owner, rows, fixed or 1, start_seed(settings.random_state))  # says what cannot be fitted
    splits = splits_of(rows, settings)
    if splits.fewest < (fixed or 1) + 1:
        return Choice(_fallback(rows, wanted, settings), fixed or 1)
    if np.isnan(splits.X).any():
        splits = replace(splits, filled=_filled(splits.X, settings))
    trials: Trials[Recipe, Any] = Trials(splits, _Fits(wanted.noise_floor), settings)
    search = _Search(trials, wanted, splits)
    recipe = search.found()
    return trials.choice(recipe, recipe.n_charts, lambda one: one.name)


def _filled(X: Array, settings: EMSettings) -> Array:
    """Rows with missing entries drawn from a rough mixture of planes."""
    kind = PlaneKind(min(2, X.shape[1] - 1), 1e-4)
    k = min(_ROUGH_CHARTS, max(1, len(X) // _ROUGH_ROWS))
    rough = replace(settings, n_init=1, max_iter=30, tol=1e-2, verbose=0, callback=None, quiet=True)
    found = fit_mixture(ArrayRows(X, n_jobs=settings.n_jobs), kind, rough, k)
    raise_if_interrupted(found.interrupted, kept=False)
    rng = np.random.default_rng(start_seed(settings.random_state))
    return draw_entries(kind.charts(found.mixture, found.summary.frame), X, rng, settings.n_jobs)


def _fallback(rows: Rows, wanted: Wanted, settings: EMSettings) -> AnyKind:
    """Model for too few rows to hold any out: planes, or Gaussians with half of the correlations."""
    d = rows.n_features
    if wanted.covariance == "plane" or d > MOST_COLUMNS:
        return PlaneKind(min(2, d - 1) if isinstance(wanted.n_components, str) else wanted.n_components)
    recipe = Recipe(1, wanted.covariance, strength=1.0, toward_diagonal=0.5)
    return _first_kind(rows, recipe, settings, wanted.noise_floor)[0]


@dataclass(frozen=True)
class _Fits:
    """Fits of recipes."""

    noise_floor: float

    def __call__(
        self,
        rows: Rows,
        recipe: Recipe,
        settings: EMSettings,
        before: FittedMixture[MixtureParameters] | None = None,
    ) -> tuple[FittedMixture[MixtureParameters], Any]:
        """A fitted mixture, and its kind with the shared covariance that was found."""
        if recipe.covariance == "plane":
            plane = PlaneKind(recipe.n_components, self.noise_floor)
            planes = fit_mixture(rows, plane, settings, recipe.n_charts)
            return planes, replace(plane, **rows_outside(planes.summary, self.noise_floor))
        if before is None:
            kind, summary = _first_kind(rows, recipe, settings, self.noise_floor)
            start = start_mixture(kind, kind.family(summary), summary, recipe.n_charts, settings)
        else:
            start, summary, d = before.mixture, before.summary, rows.n_features
            kind = GaussianKind(np.eye(d), recipe.strength * d, recipe.covariance == "diagonal", self.noise_floor)
        kind = kind.after(start, summary, wide=recipe.wide, toward_diagonal=recipe.toward_diagonal)
        fewest = kind.fewest_rows(summary, recipe.n_charts)
        found = run_em(rows, kind.family(summary), start, summary, settings, fewest=fewest)
        kind = kind.after(found.mixture, summary, wide=recipe.wide, toward_diagonal=recipe.toward_diagonal)
        return found, kind


def _first_kind(rows: Rows, recipe: Recipe, settings: EMSettings, noise_floor: float) -> tuple[GaussianKind, Any]:
    seed = start_seed(settings.random_state)
    summary = summarise_rows(settings.owner, rows, recipe.n_charts, seed, by_column=True)
    rng = np.random.RandomState(seed)
    kind = first_kind(
        summary,
        recipe.n_charts,
        recipe.strength * rows.n_features,
        rng,
        diagonal=recipe.covariance == "diagonal",
        noise_floor=noise_floor,
        toward_diagonal=recipe.toward_diagonal,
    )
    return kind, summary


class _Search:
    """The search over recipes."""

    def __init__(self, trials: Trials[Recipe, Any], wanted: Wanted, splits: Splits) -> None:
        self._trials, self._wanted = trials, wanted
        self._d = splits.X.shape[1]
        self._rows = splits.fewest

    def found(self) -> Recipe:
        """The simplest of the best recipes."""
        covariance = self._wanted.covariance
        if covariance == "auto" and self._d > MOST_COLUMNS:
            covariance = "plane"
        if covariance == "plane":
            self._planes(self._numbered(Recipe(1, "plane", self._first_dimensions())))
            return self._simplest()
        best = self._gaussians(covariance if covariance != "auto" else "full")
        if covariance == "auto":
            self._diagonals(best)
            if self._trials.best().covariance == "diagonal":
                self._hill_climbed(self._trials.best())
            self._planes(Recipe(self._trials.best().n_charts, "plane", self._first_dimensions()))
        return self._simplest()

    def _simplest(self) -> Recipe:
        """Of the recipes that are as good as the best: planes, the fewest charts, the fewest dimensions."""
        best = self._trials.best()
        if self._trials.ended:
            return best
        good = [one for one in self._trials.tried if self._trials.is_as_good(one, best)]
        return min(good, key=self._size)

    def _size(self, recipe: Recipe) -> tuple[bool, int, int, float]:
        charts = self._trials.tried[recipe].found.mixture.charts
        dimensions = sum(chart.n_components for chart in charts)
        return recipe.covariance != "plane", recipe.n_charts, dimensions, -self._score(recipe)

    def _most(self, recipe: Recipe) -> int:
        """How many charts are tried at most."""
        return max(1, self._rows // max(_ROWS_EACH, self._d if recipe.covariance == "full" else 1))

    def _score(self, recipe: Recipe) -> float:
        return self._trials.score(recipe)

    def _first_dimensions(self) -> int | str:
        own = self._wanted.n_components
        return own if not isinstance(own, str) else ("auto" if self._d <= MOST_COLUMNS else min(2, self._d - 1))

    def _numbered(self, recipe: Recipe) -> Recipe:
        """A recipe with the best number of charts."""
        if not isinstance(self._wanted.n_charts, str):
            own = replace(recipe, n_charts=int(self._wanted.n_charts))
            self._score(own)
            return own
        return replace(recipe, n_charts=self._trials.doubled(lambda k: replace(recipe, n_charts=k), self._most(recipe)))

    def _gaussians(self, covariance: str) -> Recipe:
        strength = 1.0 if covariance == "full" else 1.0 / self._d
        return self._hill_climbed(self._numbered(Recipe(1, covariance, strength=strength)))

    def _hill_climbed(self, best: Recipe) -> Recipe:
        """The best recipe that single moves lead to."""
        left, moved = _MOVES, True
        while moved and left > 0:
            moved = False
            for recipe in self._moves(best):
                if recipe in self._trials.tried or left <= 0:
                    continue
                left -= 1
                alike = recipe.n_charts == best.n_charts
                if self._trials.score(recipe, best if alike else None) > self._score(best):
                    best, moved = recipe, True
                    break
        return best

    def _moves(self, recipe: Recipe) -> Iterator[Recipe]:
        for strength in (recipe.strength * _STEP, recipe.strength / _STEP):
            if _WEAKEST <= strength <= _STRONGEST:
                yield replace(recipe, strength=strength)
        yield replace(recipe, wide=not recipe.wide)
        if recipe.covariance == "full":
            place = _TOWARD.index(recipe.toward_diagonal)
            for other in (place + 1, place - 1):
                if 0 <= other < len(_TOWARD):
                    yield replace(recipe, toward_diagonal=_TOWARD[other])
        yield from self._other_numbers(recipe)

    def _other_numbers(self, recipe: Recipe) -> Iterator[Recipe]:
        k = recipe.n_charts
        if isinstance(self._wanted.n_charts, str):
            for other in (k + max(1, k // 2), k - max(1, k // 4)):
                if 1 <= other <= self._most(recipe):
                    yield replace(recipe, n_charts=other)

    def _diagonals(self, best: Recipe) -> None:
        """Try diagonal Gaussians, more of them as long as they may come to what full ones have reached."""
        recipe = Recipe(best.n_charts, "diagonal", strength=1.0 / self._d)  # one row per chart
        value, target = self._score(recipe), self._score(best)
        if not isinstance(self._wanted.n_charts, str):
            return
        while 2 * recipe.n_charts <= self._most(recipe):
            recipe, before = replace(recipe, n_charts=2 * recipe.n_charts), value
            value = self._score(recipe)
            if value <= before or target - value > 2.0 * (value - before):
                return

    def _planes(self, recipe: Recipe) -> None:
        """Try planes: numbers of charts near a recipe's, and of dimensions."""
        best = recipe
        self._score(best)
        if isinstance(self._wanted.n_charts, str):
            for factor in (0.5, 2.0, 0.75):
                best = self._scaled(best, factor)
        if not isinstance(self._wanted.n_components, str) or self._is_far(best):
            return
        most = self._d - 1 if self._d > MOST_COLUMNS else min(MOST_LOCAL, self._d - 1)
        before = -np.inf
        for q in (q for q in _NUMBERS if q <= most):
            own = replace(best, n_components=q)
            value = self._score(own)
            if value < before:
                break
            before = value

    def _scaled(self, recipe: Recipe, factor: float) -> Recipe:
        """A recipe with its number of charts multiplied as often as that helps."""
        while 1 <= (k := int(recipe.n_charts * factor)) <= self._most(recipe) and k != recipe.n_charts:
            other = replace(recipe, n_charts=k)
            if self._score(other) <= self._score(recipe):
                break
            recipe = other
        return recipe

    def _is_far(self, recipe: Recipe) -> bool:
        return self._score(recipe) < self._score(self._trials.best()) - _FAR
