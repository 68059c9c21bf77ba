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

from .kernels.neighbours import nearest
from .maps.coordinated import ChartedView, CoordinatedMap, latent_charts, weighed
from .objectives.coordination import Overlaps, distortion, overlap_sums, overlaps_of, unfolded
from .objectives.spectral import lle_matrix, reconstruction_weights
from .rows import ArrayRows, Rows, Sums
from .solvers.coordination import coordinated, whitener
from .solvers.eigen import fix_signs
from .solvers.result import State, Status

__all__ = ["BALANCES", "Course", "Glued", "aligned", "bridging", "glued"]

Array = npt.NDArray[Any]
BALANCES = (np.inf, 1e-1, 1e-2, 1e-3, 1e-4)
"""What ``balance="auto"`` tries; the source's objective first, which so wins ties."""

_EVEN = 0.05  # of distortion, that no map is without
_PROBE = 1_000  # rows that are sent there and back
_BRIDGE = 0.1, 6.0  # off its plane: this share of a chart's variance, and so many times that of the others


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
            raise KeyboardInterrupt


@dataclass(frozen=True)
class _Problem:
    """What is the same for every balance that is tried."""

    model: Any
    views: tuple[ChartedView, ...]
    overlaps: Overlaps
    sums: Sums
    axes: list[Array]
    probe: Array

    @classmethod
    def of(cls, model: Any, rows: Rows, views: Sequence[ChartedView], sample: Array) -> _Problem:
        """One walk over the rows."""
        sums = rows.total(lambda X: _sums(views, X, float(model.smoothing)))
        overlaps = overlaps_of(sums, [q for view in views for q in view.charts.n_local])
        axes = [view.axes(s) for view in views for s in range(view.charts.n_charts)]
        probe = sample[:: max(1, len(sample) // _PROBE)]
        return cls(model, tuple(views), overlaps, sums, axes, probe)

    def solved(self, B: Array, H: Array, balance: float) -> Glued:
        """The maps that disagree least by B, and how good they are."""
        overlaps = self.overlaps
        L, values = coordinated(B, H, overlaps.products, overlaps.constant(), overlaps.n, self.model.n_components)
        maps = tuple(fix_signs(L)[block] for block in overlaps.blocks)
        residuals, shares = _left(self.sums, overlaps, self.views, self.axes)
        latent = latent_charts(overlaps, maps)
        both = CoordinatedMap(self.views, maps, latent, residuals, float(self.model.smoothing))
        return Glued(both, values, balance, self._distortion(maps), _loss(both, self.probe), shares)

    def _distortion(self, maps: Sequence[Array]) -> float:
        """The mean over views: each may have a stretching of its own."""
        groups = np.repeat([view.view for view in self.views], [view.charts.n_charts for view in self.views])
        found = []
        for group in np.unique(groups):
            own = [int(s) for s in np.flatnonzero(groups == group)]
            slopes, axes = [maps[s][:-1] for s in own], [self.axes[s] for s in own]
            found.append(distortion(slopes, axes, self.overlaps.rows[own]))
        return float(np.mean(found))


def glued(model: Any, rows: Rows, views: Sequence[ChartedView], sample: Array) -> Glued:
    """One walk over the rows, and one small eigenproblem for each balance that is tried."""
    problem = _Problem.of(model, rows, views, sample)
    trials = BALANCES if model.balance == "auto" else (np.inf if model.balance is None else float(model.balance),)
    H = whitener(problem.overlaps.moments, problem.overlaps.n)
    found = [problem.solved(problem.overlaps.disagreement(balance), H, balance) for balance in trials]
    return min(found, key=lambda trial: trial.criterion)


def aligned(model: Any, X: Array, views: Sequence[ChartedView]) -> Glued:
    """Automatic alignment: ``Uᵀ(I - W)ᵀ(I - W)U v = λ UᵀU v``, W the weights that rebuild rows from neighbours.

    S2 eq. 24 as printed is indefinite, W being negative in part; this is what its source minimises.
    """
    X = X.astype(np.float64)
    problem = _Problem.of(model, ArrayRows(X, n_jobs=model.n_jobs), views, X)
    inside = (X - model.centre_) / model.scale_
    lists = nearest(inside, k=min(model.n_neighbors, len(X) - 1), n_jobs=model.n_jobs).index
    M = lle_matrix(reconstruction_weights(inside, lists), lists)
    U = unfolded(*weighed(views, X, float(model.smoothing))[:2])
    H = whitener([problem.overlaps.products], problem.overlaps.n)
    return problem.solved(np.asarray(U.T @ (M @ U)), H, np.inf)


def _loss(both: CoordinatedMap, X: Array) -> float:
    """The share of the variance of rows, within each view, that the way there and back loses; at most 1."""
    Z = both.backward(X)
    lost = []
    for view in {own.view: own for own in both.views}.values():
        Y, seen = view.inside(X)
        found = (both.forward(Z, view.view) - view.centre) / view.scale
        spread = ((Y[seen] - Y[seen].mean(axis=0)) ** 2).sum()
        lost.append(float(((Y - found)[seen] ** 2).sum() / spread) if spread > 0 else 0.0)
    return float(np.minimum(lost, 1.0).mean())


def _sums(views: Sequence[ChartedView], X: Array, smoothing: float) -> Sums:
    """What charts share, and what they leave, of a block."""
    Q, features, insides = weighed(views, X, smoothing)
    sums, s = overlap_sums(Q, features), 0
    for number, (view, Y) in enumerate(zip(views, insides, strict=True)):
        left = []
        for chart in range(view.charts.n_charts):
            left.append(Q[:, s] @ (Y - view.charts.reconstruction(features[s], chart)) ** 2)
            s += 1
        sums[f"left {number}"] = np.stack(left)
    return sums


def _left(
    sums: Sums, overlaps: Overlaps, views: Sequence[ChartedView], axes: Sequence[Array]
) -> tuple[tuple[Array, ...], Array]:
    """Variance off the planes of the charts of each mixture (k, d), and its share of the chart's variance (K,)."""
    rows = np.maximum(overlaps.rows, 1e-300)
    along = [_along(D, W) for D, W in zip(overlaps.moments, axes, strict=True)]
    residuals, start = [], 0
    for number, view in enumerate(views):
        k = view.charts.n_charts
        residuals.append(sums[f"left {number}"] / rows[start : start + k, None])
        start += k
    off = np.concatenate([left.sum(axis=1) for left in residuals])
    total = off + np.array(along)
    return tuple(residuals), np.where(total > 0, off / np.where(total > 0, total, 1.0), 0.0)


def _along(D: Array, W: Array) -> float:
    """Variance of a chart along its plane."""
    if len(D) == 1:
        return 0.0
    rows = max(float(D[-1, -1]), 1e-300)
    mean = D[:-1, -1] / rows
    return float(np.einsum("ij,di,dj->", D[:-1, :-1] / rows - np.outer(mean, mean), W, W))


def bridging(shares: Array) -> Array:
    """Charts that lie across what they should follow: far more off their plane than the others."""
    share, times = _BRIDGE
    return np.asarray((shares > share) & (shares > times * np.median(shares)))
