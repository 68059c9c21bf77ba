"""How a metric is found from known distances: first how strong the prior is, by held-out ones; then the metric."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.result import Callback, Status
from sidelight.maps.hinted import ridge_of, variances_of
from sidelight.objectives.partial_distances import PartialDistances
from sidelight.solvers.anneal import Path, anneal
from sidelight.solvers.generalised import principal_factor

__all__ = ["DistanceSearch", "Found", "Known"]

Array = npt.NDArray[Any]
_STRENGTHS = (0.1, 0.03, 0.01, 1e-3, 1e-4)  # of the prior, strongest first
_USUAL = 1e-3  # where too few distances are known to hold any out: 20, or fewer than there are coordinates
_FEW, _SOME = 20, 300  # distances: too few to hold any out; few enough to hold each out once
_WORSE = 1.1  # times the best error so far: weaker priors are not tried
_ROUGH, _ROUGH_ITERATIONS = 1e-7, 1000  # of the searches that only choose
_SPARE = 4  # directions beyond those asked for: with them, the search does not get stuck


@dataclass(frozen=True)
class Known:
    """Squared distances (m,) of pairs (m, 2) of rows T (n, p)."""

    T: Array
    index: Array
    squares: Array

    def take(self, which: Array) -> Known:
        """Some of the pairs."""
        return Known(self.T, self.index[which], self.squares[which])

    def misfit(self, W: Array) -> float:
        """Sum of squared errors under the metric WWᵀ."""
        P = self.T @ W
        D = P[self.index[:, 0]] - P[self.index[:, 1]]
        return float(((np.einsum("er,er->e", D, D) - self.squares) ** 2).sum())


@dataclass(frozen=True)
class Found:
    """The weight of the prior, the factor (p, r) in its own axes, and the way to it."""

    strength: float
    factor: Array
    path: Path | None


@dataclass
class DistanceSearch:
    """Searches one after the other on one path, so that whoever watches sees all of them and can end any."""

    prior: str
    n_components: int | None
    max_iter: int
    tolerance: float
    watch: Callback | None
    path: Path | None = None

    def __call__(self, known: Known, strength: float | str) -> Found:
        """Find the metric; ``strength`` is the weight of the prior, or "auto"."""
        if not known.T.shape[1]:
            return Found(_USUAL if isinstance(strength, str) else float(strength), np.zeros((0, 1)), None)
        chosen, W = self._chosen(known) if isinstance(strength, str) else (float(strength), None)
        if W is None:
            W = self._solve(known, chosen)
        return Found(chosen, principal_factor(known.T, W, self.n_components), self.path)

    def _chosen(self, known: Known) -> tuple[float, Array | None]:
        """What predicts held-out distances best; and the metric so far, if the search was ended there."""
        m = len(known.index)
        if m < max(_FEW, known.T.shape[1]):
            return _USUAL, None
        parts = [np.arange(m) % 5 == k for k in range(5 if m < _SOME else 1)]
        found: list[Array | None] = [None for _ in parts]
        errors: list[float] = []
        for strength in _STRENGTHS:
            for k, out in enumerate(parts):
                found[k] = W = self._solve(known.take(~out), strength, after=found[k], rough=True)
                if self._ended():
                    return strength, W
            errors.append(sum(known.take(out).misfit(W) for out, W in zip(parts, found, strict=True) if W is not None))
            if errors[-1] > _WORSE * min(errors):
                break
        return _STRENGTHS[int(np.argmin(errors))], None

    def _solve(self, known: Known, strength: float, after: Array | None = None, *, rough: bool = False) -> Array:
        """The factor W (p, r): from that of a stronger prior, or with directions to spare, cut down and refined."""
        variances = variances_of(known.T)
        scale = 1.0 / np.sqrt(variances + ridge_of(variances, strength))  # the curvatures of both terms
        problem = PartialDistances(known.T, known.index, known.squares, prior=self.prior, scale=scale)
        if after is not None:
            return self._follow(problem, strength, problem.point(after), rough)
        p = len(variances)
        enough = p if self.prior == "identity" else min(p, int(np.sqrt(2.0 * len(known.index))) + 2)
        wanted = enough if self.n_components is None else min(int(self.n_components), p)
        W = self._follow(problem, strength, problem.start(min(enough, wanted + _SPARE)), rough)
        if wanted < W.shape[1] and not self._ended():
            W = self._follow(problem, strength, problem.point(principal_factor(known.T, W, wanted)), rough)
        return W

    def _follow(self, problem: PartialDistances, strength: float, start: Array, rough: bool) -> Array:
        self.path = anneal(
            lambda weight: lambda F: problem.value_and_grad(F, weight),
            [strength],
            start,
            max_iter=min(self.max_iter, _ROUGH_ITERATIONS) if rough else self.max_iter,
            tolerance=max(self.tolerance, _ROUGH) if rough else self.tolerance,
            callback=self.watch,
            before=self.path,
        )
        return problem.factor(self.path.point)

    def _ended(self) -> bool:
        return self.path is not None and self.path.status in (Status.STOPPED, Status.INTERRUPTED)
