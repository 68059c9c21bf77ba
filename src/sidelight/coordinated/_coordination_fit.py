"""Glue fitted charts into one map: sums over rows of what charts share, and one eigenproblem of the size of the charts.

The charts themselves are fitted in ``_coordinated_charts.py``. Rows may be in memory, in batches or on a cluster.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
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
from sidelight.objectives.coordination import Overlaps, off_plane_share, overlaps_of, unfolded
from sidelight.objectives.spectral import lle_matrix, reconstruction_weights
from sidelight.rows import ArrayRows, Rows
from sidelight.solvers.coordination import coordinated, whitener
from sidelight.solvers.eigen import fix_signs

from ._settings import CoordinationSettings

__all__ = ["Coordinated", "align", "glue"]


_BALANCES = (np.inf, 1e-1, 1e-2, 1e-3, 1e-4)
"""What ``balance="auto"`` tries; the source's objective first, which so wins ties."""

_EVEN = 0.05  # distortion that every map has
_PROBE = 1_000  # rows on which the reconstruction error is measured


@dataclass(frozen=True)
class Coordinated:
    """The maps, and how good they are.

    Parameters
    ----------
    map : CoordinatedMap
    disagreement : array of shape (q,)
        Eigenvalue of each latent axis.
    balance : float
        The balance used.
    distortion : float
        How far the charts are from one common stretching of the data.
    loss : float
        Share of the variance that is lost by ``inverse_transform(transform(X))``.
    off_plane : array of shape (k,)
        Share of each chart's variance that lies off its plane.
    """

    map: CoordinatedMap
    disagreement: Array
    balance: float
    distortion: float
    loss: float
    off_plane: Array

    @property
    def criterion(self) -> float:
        """Low for maps without folds (a fold raises the loss) that stretch the data evenly.

        Data that is no sheet cannot be stretched evenly; there the loss alone decides.
        """
        return self.loss * (_EVEN + min(self.distortion, 1.0))

    @property
    def terms(self) -> dict[str, float]:
        """What the history records."""
        total = float(self.disagreement.sum())
        return {"disagreement": total, "distortion": self.distortion, "loss": self.loss}


@dataclass(frozen=True)
class _Problem:
    """The eigenproblem without its balance: what charts share, and rows to judge a solution by."""

    n_components: int
    smoothing: float
    views: tuple[ChartedView, ...]
    overlaps: Overlaps
    residuals: tuple[Array, ...]
    axes: list[Array]
    off_plane: Array
    probe: Array
    probe_features: Array

    @classmethod
    def of(cls, rows: Rows, views: Sequence[ChartedView], sample: Array, settings: CoordinationSettings) -> _Problem:
        """One pass over the rows."""
        smoothing = float(settings.smoothing)
        sums = rows.total(lambda X: gluing_sums(views, X, smoothing))
        overlaps = overlaps_of(sums, [q for view in views for q in view.charts.n_local])
        axes = [view.axes(s) for view in views for s in range(view.charts.n_charts)]
        residuals = residuals_of(sums, overlaps.rows, views)
        off = np.concatenate([left.sum(axis=1) for left in residuals])
        shares = off_plane_share(off, overlaps.along(axes))
        probe = sample[:: max(1, len(sample) // _PROBE)]
        U = unfolded(*weighed(views, probe, smoothing)[:2])
        return cls(settings.n_components, smoothing, tuple(views), overlaps, residuals, axes, shares, probe, U)

    def solved(self, B: Array, H: Array, balance: float) -> Coordinated:
        """The maps with the least disagreement, by the matrix B, and how good they are."""
        overlaps = self.overlaps
        L, values = coordinated(B, H, overlaps.products, overlaps.constant(), overlaps.n, self.n_components)
        L = fix_signs(L)
        maps = tuple(L[block] for block in overlaps.blocks)
        latent = latent_charts(overlaps, maps)
        both = CoordinatedMap(self.views, maps, latent, self.residuals, self.smoothing)
        stretched = stretching(self.views, maps, self.axes, overlaps.rows)
        return Coordinated(
            both, values, balance, stretched, both.loss(self.probe, self.probe_features @ L), self.off_plane
        )


def glue(rows: Rows, views: Sequence[ChartedView], sample: Array, settings: CoordinationSettings) -> Coordinated:
    """Maps into one latent space, such that charts agree about the rows they share.

    Parameters
    ----------
    rows : Rows
        Read once.
    views : sequence of ChartedView
        The charts, of one or more mixtures for each view.
    sample : array of shape (m, d)
        Rows on which the reconstruction error is measured.
    settings : CoordinationSettings
        ``balance="auto"``: one eigenproblem for each balance that is tried; the best maps are returned.
    """
    problem = _Problem.of(rows, views, sample, settings)
    balance = settings.balance
    trials = _BALANCES if isinstance(balance, str) else (np.inf if balance is None else float(balance),)
    H = whitener(problem.overlaps.moments, problem.overlaps.n)
    found = [problem.solved(problem.overlaps.disagreement(balance), H, balance) for balance in trials]
    return min(found, key=lambda trial: trial.criterion)


def align(X: Array, views: Sequence[ChartedView], settings: CoordinationSettings, n_neighbors: int) -> Coordinated:
    """Automatic alignment: ``Uᵀ(I - W)ᵀ(I - W)U v = λ UᵀU v``, W the weights that rebuild rows from neighbours.

    S2 eq. 24 as printed is indefinite, W being negative in part; this is what its source minimises.
    """
    X = X.astype(np.float64)
    problem = _Problem.of(ArrayRows(X, n_jobs=settings.n_jobs), views, X, settings)
    inside = Frame.of(X).inside(X)
    lists = nearest(inside, k=min(n_neighbors, len(X) - 1), n_jobs=settings.n_jobs).index
    M = lle_matrix(reconstruction_weights(inside, lists), lists)
    U = unfolded(*weighed(views, X, problem.smoothing)[:2])
    H = whitener([problem.overlaps.products], problem.overlaps.n)
    return problem.solved(np.asarray(U.T @ (M @ U)), H, np.inf)
