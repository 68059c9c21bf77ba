"""How charts are glued: sums over rows of what they share, one eigenproblem; the charts: ``_coordinated_charts.py``.

Written once against :class:`sidelight.rows.Rows`, for memory and for batches.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.fitting import KeptInterrupt
from sidelight.base.result import State, Status
from sidelight.maps.coordinated import (
    ChartedView,
    CoordinatedMap,
    gluing_sums,
    latent_charts,
    residuals_of,
    stretching,
    weighed,
)
from sidelight.maps.frames import Frame
from sidelight.neighbours.search import nearest
from sidelight.objectives.coordination import Overlaps, off_plane, overlaps_of, unfolded
from sidelight.objectives.spectral import lle_matrix, reconstruction_weights
from sidelight.rows import ArrayRows, Rows
from sidelight.solvers.coordination import coordinated, whitener
from sidelight.solvers.eigen import fix_signs

__all__ = ["Course", "Glued", "aligned", "glued"]

Array = npt.NDArray[Any]
_BALANCES = (np.inf, 1e-1, 1e-2, 1e-3, 1e-4)
"""What ``balance="auto"`` tries; the source's objective first, which so wins ties."""

_EVEN = 0.05  # of distortion, that no map is without
_PROBE = 1_000  # rows that are sent there and back


@dataclass(frozen=True)
class Glued:
    """The maps, and how good they are.

    λ (q,) of each latent axis, the balance used, the distortion, the share of the variance that the way there and back
    loses, and the share off its plane of each chart.
    """

    map: CoordinatedMap
    disagreement: Array
    balance: float
    distortion: float
    loss: float
    off_plane: Array

    @property
    def criterion(self) -> float:
        """Small where nothing is folded (which loses rows on the way back) and nothing is stretched unevenly.

        Data that is no sheet cannot be stretched evenly, and there the loss alone decides.
        """
        return self.loss * (_EVEN + min(self.distortion, 1.0))


class Course:
    """What happens in a fit, for ``history_``, and whether the callback or Ctrl-C has ended it.

    It is the callback of every mixture: once ended, those that the maps cannot do without take one step.
    """

    def __init__(self, model: Any) -> None:
        self.callback, self.began = model.callback, time.perf_counter()
        self.history: list[dict[str, Any]] = []
        self.n_iter = 0
        self.ended: Status | None = None

    def __call__(self, state: State) -> bool:
        """Ask the callback, until the fit is ended."""
        if self.ended is None and self.callback is not None and self.callback(state):
            self.ended = Status.STOPPED
        return self.ended is not None

    def interrupt(self, *, kept: bool) -> None:
        """Remember Ctrl-C; where nothing is kept, or it is the second one, it is raised at once."""
        if not kept or self.ended is Status.INTERRUPTED:
            raise KeyboardInterrupt
        self.ended = Status.INTERRUPTED

    def add(self, history: Sequence[dict[str, Any]], n_iter: int) -> None:
        """The steps of one more mixture, counted on from those before."""
        last = self.history[-1] if self.history else {"stage": -1, "iteration": 0, "seconds": 0.0}
        first = {"stage": last["stage"] + 1, "iteration": last["iteration"], "seconds": last["seconds"]}
        self.history += [record | {name: record[name] + first[name] for name in first} for record in history]
        self.n_iter += n_iter

    def add_gluing(self, found: Glued) -> None:
        """The eigenproblem, a stage of one step; its seconds are those of the whole fit."""
        total = float(found.disagreement.sum())
        terms = {"disagreement": total, "distortion": found.distortion, "loss": found.loss}
        record = {"stage": 0, "regularization": 0.0, "iteration": 1, "objective": total, "terms": terms, "seconds": 0.0}
        self.add([record], 0)
        self.history[-1]["seconds"] = time.perf_counter() - self.began

    def finish(self) -> None:
        """Raise Ctrl-C again, when all is kept."""
        if self.ended is Status.INTERRUPTED:
            raise KeptInterrupt


@dataclass(frozen=True)
class _Problem:
    """What is the same for every balance that is tried."""

    model: Any
    views: tuple[ChartedView, ...]
    overlaps: Overlaps
    residuals: tuple[Array, ...]
    axes: list[Array]
    off_plane: Array
    probe: Array
    probe_features: Array

    @classmethod
    def of(cls, model: Any, rows: Rows, views: Sequence[ChartedView], sample: Array) -> _Problem:
        """One walk over the rows."""
        sums = rows.total(lambda X: gluing_sums(views, X, float(model.smoothing)))
        overlaps = overlaps_of(sums, [q for view in views for q in view.charts.n_local])
        axes = [view.axes(s) for view in views for s in range(view.charts.n_charts)]
        residuals = residuals_of(sums, overlaps.rows, views)
        off = np.concatenate([left.sum(axis=1) for left in residuals])
        shares = off_plane(off, overlaps.along(axes))
        probe = sample[:: max(1, len(sample) // _PROBE)]
        U = unfolded(*weighed(views, probe, float(model.smoothing))[:2])
        return cls(model, tuple(views), overlaps, residuals, axes, shares, probe, U)

    def solved(self, B: Array, H: Array, balance: float) -> Glued:
        """The maps that disagree least by B, and how good they are."""
        overlaps = self.overlaps
        L, values = coordinated(B, H, overlaps.products, overlaps.constant(), overlaps.n, self.model.n_components)
        L = fix_signs(L)
        maps = tuple(L[block] for block in overlaps.blocks)
        latent = latent_charts(overlaps, maps)
        both = CoordinatedMap(self.views, maps, latent, self.residuals, float(self.model.smoothing))
        stretched = stretching(self.views, maps, self.axes, overlaps.rows)
        return Glued(both, values, balance, stretched, both.loss(self.probe, self.probe_features @ L), self.off_plane)


def glued(model: Any, rows: Rows, views: Sequence[ChartedView], sample: Array) -> Glued:
    """One walk over the rows, and one small eigenproblem for each balance that is tried."""
    problem = _Problem.of(model, rows, views, sample)
    trials = _BALANCES if model.balance == "auto" else (np.inf if model.balance is None else float(model.balance),)
    H = whitener(problem.overlaps.moments, problem.overlaps.n)
    found = [problem.solved(problem.overlaps.disagreement(balance), H, balance) for balance in trials]
    return min(found, key=lambda trial: trial.criterion)


def aligned(model: Any, X: Array, views: Sequence[ChartedView]) -> Glued:
    """Automatic alignment: ``Uᵀ(I - W)ᵀ(I - W)U v = λ UᵀU v``, W the weights that rebuild rows from neighbours.

    S2 eq. 24 as printed is indefinite, W being negative in part; this is what its source minimises.
    """
    X = X.astype(np.float64)
    problem = _Problem.of(model, ArrayRows(X, n_jobs=model.n_jobs), views, X)
    inside = Frame.of(X).inside(X)
    lists = nearest(inside, k=min(model.n_neighbors, len(X) - 1), n_jobs=model.n_jobs).index
    M = lle_matrix(reconstruction_weights(inside, lists), lists)
    U = unfolded(*weighed(views, X, float(model.smoothing))[:2])
    H = whitener([problem.overlaps.products], problem.overlaps.n)
    return problem.solved(np.asarray(U.T @ (M @ U)), H, np.inf)
