"""Find a metric from known distances: first the prior and its weight, by held-out distances; then the metric.

With ``prior="auto"`` both priors are tried with several weights, strongest first. Held-out squared distances are
predicted with an error e; the Euclidean metric, at the scale that fits the others best, has the error e₀. The prior and
weight of the least mean error are taken if the mean of e₀² - e² is above 0 by t standard errors, t a quantile of
Student's distribution; the Euclidean metric otherwise (decision 0030).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from sidelight.base.result import Callback, Status
from sidelight.base.types import Array
from sidelight.maps.hinted import informed_directions, ridge_of, variances_of
from sidelight.objectives.partial_distances import PartialDistances
from sidelight.objectives.scatter import PairScatter
from sidelight.solvers.anneal import Path, anneal
from sidelight.solvers.generalised import principal_factor

from ._chosen_prior import chosen_prior

__all__ = ["FoundMetric", "KnownDistances", "SearchSettings", "search_metric"]


_STRENGTHS = (0.1, 0.03, 0.01, 1e-3, 1e-4)  # of the prior, strongest first
_USUAL = 1e-3  # where too few distances are known to hold any out: 20, or fewer than there are coordinates
_FEW, _SOME = 20, 300  # distances: too few to hold any out; few enough to hold each out once
_WORSE = 1.1  # times the best error so far: weaker priors are not tried
_ROUGH, _ROUGH_ITERATIONS = 1e-7, 1000  # of the searches that only choose
_SURE = 0.975  # how sure a metric must be better than the Euclidean one
_LEAST = 5  # distances: with fewer, the metric stays Euclidean
_CLOSE = 1e-6  # share by which an error must be smaller to be preferred
_WIDE = 200  # coordinates up to which a prior of full rank is tried by itself
_SPARE = 4  # directions beyond the wanted ones: with them, the search does not get stuck


@dataclass(frozen=True)
class KnownDistances:
    """Squared distances (m,) of pairs (m, 2) of rows T (n, p)."""

    T: Array
    index: Array
    squares: Array

    def take(self, which: Array) -> KnownDistances:
        """Some of the pairs."""
        return KnownDistances(self.T, self.index[which], self.squares[which])

    def are_two_values(self) -> bool:
        """Whether some distances are 0 and all others are equal: whether rows are the same, not how far apart."""
        above = self.squares[self.squares > 0]
        return 0 < len(above) < len(self.squares) and float(above.min()) == float(above.max())

    def lengths(self, W: Array) -> Array:
        """Squared distances (m,) of the pairs under the metric WWᵀ."""
        P = self.T @ W
        D = P[self.index[:, 0]] - P[self.index[:, 1]]
        return np.asarray(np.einsum("er,er->e", D, D))

    def errors(self, W: Array) -> Array:
        """Squared errors (m,) of the squared distances under the metric WWᵀ."""
        return np.asarray((self.lengths(W) - self.squares) ** 2)

    def plain(self, r: int | None) -> Array:
        """Factor (p, r) of the Euclidean metric (of rank r: PCA's) at the scale that fits the distances best."""
        return self.scaled(np.eye(self.T.shape[1])[:, :r])

    def scaled(self, W: Array) -> Array:
        """A factor at the scale that fits the distances best."""
        lengths = self.lengths(W)
        norm = float(lengths @ lengths)
        scale = float(lengths @ self.squares) / norm if norm else 0.0
        return np.asarray(W * np.sqrt(scale or 1.0))


@dataclass(frozen=True)
class SearchSettings:
    """Parameters of ``DistanceMetric`` that the search needs; ``regularization`` is the weight of the prior."""

    prior: str
    regularization: float | str
    n_components: int | None
    max_iter: int
    tol: float
    callback: Callback | None


@dataclass(frozen=True)
class FoundMetric:
    """The prior, its weight, the factor (p, r) in its own axes, its misfit, and the path of the solver, if it ran."""

    prior: str
    strength: float
    factor: Array
    misfit: float
    path: Path | None


def search_metric(known: KnownDistances, settings: SearchSettings) -> FoundMetric:
    """Find the metric that agrees with known distances.

    Parameters
    ----------
    known : KnownDistances
    settings : SearchSettings
        ``prior="auto"`` and ``regularization="auto"``: those that predict held-out distances best.
    """
    wanted = settings.regularization
    prior = "identity" if settings.prior == "auto" else settings.prior
    if not known.T.shape[1]:
        strength = _USUAL if isinstance(wanted, str) else float(wanted)
        return FoundMetric(prior, strength, np.zeros((0, 1)), 0.0, None)
    search, W = _Search(settings), None
    if not isinstance(wanted, str):
        strength = float(wanted)
    elif settings.prior == "auto" and known.are_two_values():
        prior, (strength, W) = "pairs", _same_and_different(known, settings.n_components)
    elif settings.prior == "auto":
        prior, strength, W = search.chosen_prior(known)
    else:
        strength, W = search.chosen(known, prior)
    if W is None:
        W = search.solved(known, prior, strength)
    total = float(known.squares @ known.squares) or 1.0
    W = principal_factor(known.T, W, settings.n_components)
    return FoundMetric(prior, strength, W, float(known.errors(W).sum()) / total, search.path)


class _Search:
    """Solves one problem after the other on one path, so that the callback sees all of them and can stop any."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings
        self.path: Path | None = None

    def chosen_prior(self, known: KnownDistances) -> tuple[str, float, Array | None]:
        """The prior and weight that predict held-out distances best; the factor, if Euclidean or the search ended."""
        m, p = len(known.index), known.T.shape[1]
        plain = known.plain(self.settings.n_components)
        if m < _LEAST:
            return "identity", np.inf, plain
        parts = _parts(m)
        base = np.concatenate(
            [known.take(out).errors(known.take(~out).plain(self.settings.n_components)) for out in parts]
        )
        best: tuple[float, str, float] = (np.inf, "identity", np.inf)
        for prior in ("identity", "trace") if p <= _WIDE else ("trace",):
            errors, W = self._held_out(known, prior, parts)
            if W is not None:
                return prior, _STRENGTHS[len(errors)], W
            for strength, found in zip(_STRENGTHS, errors, strict=False):
                gain = base - found
                bound = gain.mean() - student.ppf(_SURE, len(gain) - 1) * gain.std(ddof=1) / np.sqrt(len(gain))
                if bound > 0 and found.mean() < best[0] * (1 - _CLOSE):
                    best = (float(found.mean()), prior, strength)
        return best[1], best[2], plain if np.isinf(best[2]) else None

    def chosen(self, known: KnownDistances, prior: str) -> tuple[float, Array | None]:
        """The weight that predicts held-out distances best; and the factor so far, if the search was ended there."""
        m = len(known.index)
        if m < max(_FEW, known.T.shape[1]):
            return _USUAL, None
        errors, W = self._held_out(known, prior, _parts(m))
        if W is not None:
            return _STRENGTHS[len(errors)], W
        return _STRENGTHS[int(np.argmin([found.sum() for found in errors]))], None

    def _held_out(self, known: KnownDistances, prior: str, parts: list[Array]) -> tuple[list[Array], Array | None]:
        """Errors (m,) of held-out distances for each weight tried; and the factor so far, if the search was ended."""
        found: list[Array | None] = [None for _ in parts]
        errors: list[Array] = []
        for strength in _STRENGTHS:
            for k, out in enumerate(parts):
                found[k] = W = self.solved(known.take(~out), prior, strength, after=found[k], rough=True)
                if self._is_ended():
                    return errors, W
            fits = zip(parts, found, strict=True)
            errors.append(np.concatenate([known.take(out).errors(W) for out, W in fits if W is not None]))
            if errors[-1].sum() > _WORSE * min(one.sum() for one in errors):
                break
        return errors, None

    def solved(
        self, known: KnownDistances, prior: str, strength: float, after: Array | None = None, *, rough: bool = False
    ) -> Array:
        """The factor W (p, r): from that of a stronger prior, or with directions to spare, cut down and refined."""
        settings, variances = self.settings, variances_of(known.T)
        scale = 1.0 / np.sqrt(variances + ridge_of(variances, strength))  # the curvatures of both terms
        problem = PartialDistances(known.T, known.index, known.squares, prior=prior, scale=scale)
        if after is not None:
            return self._minimised(problem, strength, problem.point(after), rough)
        p = len(variances)
        enough = p if prior == "identity" else min(p, int(np.sqrt(2.0 * len(known.index))) + 2)
        wanted = enough if settings.n_components is None else min(int(settings.n_components), p)
        W = self._minimised(problem, strength, problem.start(min(enough, wanted + _SPARE)), rough)
        if wanted < W.shape[1] and not self._is_ended():
            W = self._minimised(problem, strength, problem.point(principal_factor(known.T, W, wanted)), rough)
        return W

    def _minimised(self, problem: PartialDistances, strength: float, start: Array, rough: bool) -> Array:
        max_iter, tol = self.settings.max_iter, self.settings.tol
        self.path = anneal(
            lambda weight: lambda F: problem.value_and_grad(F, weight),
            [strength],
            start,
            max_iter=min(max_iter, _ROUGH_ITERATIONS) if rough else max_iter,
            tolerance=max(tol, _ROUGH) if rough else tol,
            callback=self.settings.callback,
            before=self.path,
        )
        return problem.factor(self.path.point)

    def _is_ended(self) -> bool:
        return self.path is not None and self.path.status in (Status.STOPPED, Status.INTERRUPTED)


def _same_and_different(known: KnownDistances, r: int | None) -> tuple[float, Array]:
    """The metric of pairs at distance 0, which are the same, and of the others, which are different; and its weight."""
    same = known.squares == 0
    together, apart = (PairScatter(known.index[which], len(known.T)) for which in (same, ~same))
    prior = chosen_prior(together, apart, known.T, r)
    V = informed_directions(together, apart, known.T, prior.weight, r, form=prior.form)
    return prior.weight, known.scaled(V)


def _parts(m: int) -> list[Array]:
    """Which of m distances are held out together: each of them once, or if there are many a fifth of them."""
    return [np.arange(m) % 5 == k for k in range(5 if m < _SOME else 1)]
