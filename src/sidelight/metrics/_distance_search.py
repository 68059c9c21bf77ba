"""Find a metric from known distances: first the weight of the prior, by held-out distances; then the metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.result import Callback, Status
from sidelight.base.types import Array
from sidelight.maps.hinted import ridge_of, variances_of
from sidelight.objectives.partial_distances import PartialDistances
from sidelight.solvers.anneal import Path, anneal
from sidelight.solvers.generalised import principal_factor

__all__ = ["FoundMetric", "KnownDistances", "SearchSettings", "search_metric"]


_STRENGTHS = (0.1, 0.03, 0.01, 1e-3, 1e-4)  # of the prior, strongest first
_USUAL = 1e-3  # where too few distances are known to hold any out: 20, or fewer than there are coordinates
_FEW, _SOME = 20, 300  # distances: too few to hold any out; few enough to hold each out once
_WORSE = 1.1  # times the best error so far: weaker priors are not tried
_ROUGH, _ROUGH_ITERATIONS = 1e-7, 1000  # of the searches that only choose
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

    def misfit(self, W: Array) -> float:
        """Sum of squared errors under the metric WWᵀ."""
        P = self.T @ W
        D = P[self.index[:, 0]] - P[self.index[:, 1]]
        return float(((np.einsum("er,er->e", D, D) - self.squares) ** 2).sum())


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
    """The weight of the prior, the factor (p, r) in its own axes, and the path of the solver (None: none was run)."""

    strength: float
    factor: Array
    path: Path | None


def search_metric(known: KnownDistances, settings: SearchSettings) -> FoundMetric:
    """Find the metric that agrees with known distances.

    Parameters
    ----------
    known : KnownDistances
    settings : SearchSettings
        ``regularization="auto"``: the weight that predicts held-out distances best.
    """
    wanted = settings.regularization
    if not known.T.shape[1]:
        return FoundMetric(_USUAL if isinstance(wanted, str) else float(wanted), np.zeros((0, 1)), None)
    search = _Search(settings)
    strength, W = search.chosen(known) if isinstance(wanted, str) else (float(wanted), None)
    if W is None:
        W = search.solved(known, strength)
    return FoundMetric(strength, principal_factor(known.T, W, settings.n_components), search.path)


class _Search:
    """Solves one problem after the other on one path, so that the callback sees all of them and can stop any."""

    def __init__(self, settings: SearchSettings) -> None:
        self.settings = settings
        self.path: Path | None = None

    def chosen(self, known: KnownDistances) -> tuple[float, Array | None]:
        """The weight that predicts held-out distances best; and the factor so far, if the search was ended there."""
        m = len(known.index)
        if m < max(_FEW, known.T.shape[1]):
            return _USUAL, None
        parts = [np.arange(m) % 5 == k for k in range(5 if m < _SOME else 1)]
        found: list[Array | None] = [None for _ in parts]
        errors: list[float] = []
        for strength in _STRENGTHS:
            for k, out in enumerate(parts):
                found[k] = W = self.solved(known.take(~out), strength, after=found[k], rough=True)
                if self._is_ended():
                    return strength, W
            errors.append(sum(known.take(out).misfit(W) for out, W in zip(parts, found, strict=True) if W is not None))
            if errors[-1] > _WORSE * min(errors):
                break
        return _STRENGTHS[int(np.argmin(errors))], None

    def solved(
        self, known: KnownDistances, strength: float, after: Array | None = None, *, rough: bool = False
    ) -> Array:
        """The factor W (p, r): from that of a stronger prior, or with directions to spare, cut down and refined."""
        settings, variances = self.settings, variances_of(known.T)
        scale = 1.0 / np.sqrt(variances + ridge_of(variances, strength))  # the curvatures of both terms
        problem = PartialDistances(known.T, known.index, known.squares, prior=settings.prior, scale=scale)
        if after is not None:
            return self._minimised(problem, strength, problem.point(after), rough)
        p = len(variances)
        enough = p if settings.prior == "identity" else min(p, int(np.sqrt(2.0 * len(known.index))) + 2)
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
