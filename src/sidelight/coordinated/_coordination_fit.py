r"""Glue fitted charts into one map: sums over rows of what charts share, and an eigenproblem of the size of the charts.

The charts themselves are fitted in ``_coordinated_charts.py``. Rows may be in memory, in batches or on a cluster.

Charts in many columns, or of clusters, share next to no rows: a row then belongs to one chart with a probability of
0.99 and more, and the eigenproblem has little to go by. Where the glued charts are no sheet, they are placed along the
neighbourhood graph instead (``_targets.py``): with y_n the latent points of a sample and u_n its features [q_ns z_ns],

    L = argmin Σ_n |Lᵀ u_n - y_n|² + ρ Σ_i (UᵀU)_ii |l_i|²,      ρ = 0.001

Which of the maps is kept is decided by ``Coordinated.unexplained``: what is lost on the way there and back, times what
the neighbours on the map do not tell of a row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
from ._targets import GLUED, Placement, along_graphs, explained_by_neighbours, target

__all__ = ["Coordinated", "align", "best_placement", "glue", "kept_placement", "left_unexplained"]


_BALANCES = (np.inf, 1e-1, 1e-2, 1e-3, 1e-4)
"""What ``balance="auto"`` tries; the source's objective first, which so wins ties."""

_EVEN = 0.05  # distortion that every map has
_PROBE = 1_000  # rows on which the reconstruction error is measured
_JUDGED = 2_000  # rows whose neighbours on the map are looked at
_RIDGE = 1e-3  # ρ
_ISOMETRIC = 0.02  # a distortion below it, of charts that are flat, needs no better map
_FLAT = 0.05  # the share of a flat chart's variance that lies off its plane
_PREFERRED = 1.1  # a map that leaves this many times as much unexplained is no worse than another
_LEAST = 0.01  # what a good map may lose
_GOOD = (2 * _LEAST) ** 2  # what a map leaves unexplained that loses this, both ways


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
    placement : Placement
        How the charts were placed.
    explained : float
        Share of the variance of a row that its neighbours on the map tell; NaN where it was not asked for.
    """

    map: CoordinatedMap
    disagreement: Array
    balance: float
    distortion: float
    loss: float
    off_plane: Array
    placement: Placement = GLUED
    explained: float = np.nan

    @property
    def is_sheet(self) -> bool:
        """Flat charts that agree on one stretching."""
        return self.distortion < _ISOMETRIC and float(self.off_plane.max()) < _FLAT

    @property
    def unexplained(self) -> float:
        """To compare maps of any placement: what is lost there and back, times what neighbours do not tell."""
        return _unexplained(self.loss, self.explained)

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
        return self.judged(L, values, balance)

    def mapped(self, L: Array) -> CoordinatedMap:
        """The maps L (p, q) of the charts, both ways."""
        maps = tuple(L[block] for block in self.overlaps.blocks)
        latent = latent_charts(self.overlaps, maps)
        return CoordinatedMap(self.views, maps, latent, self.residuals, self.smoothing)

    def judged(self, L: Array, disagreement: Array, balance: float) -> Coordinated:
        """The maps L (p, q), with signs that do not depend on the machine, and how good they are."""
        L = fix_signs(L)
        both = self.mapped(L)
        stretched = stretching(self.views, both.maps, self.axes, self.overlaps.rows)
        loss = both.loss(self.probe, self.probe_features @ L)
        return Coordinated(both, disagreement, balance, stretched, loss, self.off_plane)

    def coordinated(self, balance: float | str | None) -> Coordinated:
        """The maps with the least disagreement: the best of several balances, or with a given one."""
        trials = _BALANCES if isinstance(balance, str) else (np.inf if balance is None else float(balance),)
        trials = trials if len(self.axes) > 1 else trials[:1]  # the balance is one of pairs of charts
        H = whitener(self.overlaps.moments, self.overlaps.n)
        found = [self.solved(self.overlaps.disagreement(one), H, one) for one in trials]
        return min(found, key=lambda trial: trial.criterion)

    def features(self, X: Array) -> Array:
        """``u_n`` (m, p) of rows (m, d), of which latent points are linear functions."""
        return unfolded(*weighed(self.views, X, self.smoothing)[:2])

    def least_squares(self, U: Array, latent: Array) -> Array:
        """The maps (p, q) that take rows of features U (m, p) nearest to latent points (m, q), of mean 0, variance 1.

        The variance is the mean of those of the columns.
        """
        overlaps = self.overlaps
        G = U.T @ U
        size = np.diag(G)
        G[np.diag_indices_from(G)] += _RIDGE * size + max(1e-9 * float(size.max()), 1e-300)
        L = np.linalg.solve(G, U.T @ latent)
        ends = [block.stop - 1 for block in overlaps.blocks]
        L[ends] -= (overlaps.products @ overlaps.constant()) @ L / overlaps.n
        variance = float(np.einsum("pq,pr,rq->", L, overlaps.products, L, optimize=True)) / (overlaps.n * L.shape[1])
        return np.asarray(L / np.sqrt(variance) if variance > 0.0 else L)

    def placed(self, U: Array, latent: Array, placement: Placement) -> Coordinated:
        """The maps that take rows of features U (m, p) nearest to latent points (m, q), and how good they are."""
        L, overlaps = self.least_squares(U, latent), self.overlaps
        B = overlaps.disagreement()
        blocks = zip(overlaps.blocks, overlaps.moments, strict=True)
        among = np.sum([np.einsum("pq,pr,rq->q", L[own], D, L[own]) for own, D in blocks], axis=0)
        apart = np.maximum(np.einsum("pq,pq->q", L, B @ L), 0.0)
        return replace(self.judged(L, apart / np.maximum(among, 1e-300), np.inf), placement=placement)


def glue(
    rows: Rows,
    views: Sequence[ChartedView],
    sample: Array,
    settings: CoordinationSettings,
    placement: Placement | None = None,
    latent: Array | None = None,
) -> Coordinated:
    """Maps into one latent space.

    Parameters
    ----------
    rows : Rows
        Read once.
    views : sequence of ChartedView
        The charts, of one or more mixtures for each view.
    sample : array of shape (m, d)
        Rows on which maps are judged, and along whose graph charts may be placed.
    settings : CoordinationSettings
        ``alignment="coordination"``: charts agree about the rows they share; with ``balance="auto"``, one eigenproblem
        for each balance that is tried. "geodesic": they follow distances along the graph. "auto": the first where it
        finds a sheet, else the better of both.
    placement : Placement or None
        What was chosen for these charts; None: by ``settings.alignment``.
    latent : array of shape (m, q) or None
        Its latent points of the sample, where they are known; of fewer rows they are computed again.
    """
    problem = _Problem.of(rows, views, sample, settings)
    if placement is not None and placement.alignment != "coordination":
        if latent is None or len(latent) != len(sample):  # the search may have seen fewer rows
            latent = target(sample, placement, settings.n_components, settings.n_jobs)
        return problem.placed(problem.features(sample), latent, placement)
    if settings.alignment == "geodesic":
        return _best(_geodesic(problem, sample, settings))
    found = problem.coordinated(settings.balance)
    if settings.alignment != "auto" or placement is not None or found.is_sheet:
        return found
    return _best([_with_explained(found, sample, settings), *_geodesic(problem, sample, settings)])


def left_unexplained(
    views: Sequence[ChartedView],
    kept: Array,
    left: Array,
    placements: Mapping[Placement, Array],
    settings: CoordinationSettings,
) -> dict[Placement, float]:
    """What each placement of charts leaves unexplained of rows that were left out.

    Parameters
    ----------
    views : sequence of ChartedView
        Charts that were fitted to ``kept``.
    kept, left : arrays of shape (m, d) and (l, d)
        Rows that charts are placed by, and rows that were left out.
    placements : dict of Placement to array of shape (m, q)
        Latent points of ``kept``; empty arrays for charts that are glued by the rows they share.
    settings : CoordinationSettings
    """
    problem = _Problem.of(ArrayRows(kept, n_jobs=settings.n_jobs), views, kept, settings)
    U, new = problem.features(kept), problem.features(left)
    Y, other = (views[0].inside(rows)[0] for rows in (kept, left))
    out = {}
    for placement, latent in placements.items():
        asked = problem.mapped(problem.least_squares(U, latent)) if latent.size else None
        found = asked or problem.coordinated(settings.balance).map
        L = np.concatenate(found.maps)
        told = explained_by_neighbours(Y, U @ L, settings.n_jobs, other, new @ L)
        out[placement] = _unexplained(found.loss(left, new @ L), told)
    return out


def _unexplained(loss: float, told: float) -> float:
    """What is lost there and back, times what neighbours do not tell; maps with a hundredth of both are equals."""
    return (_LEAST + loss) * (_LEAST + 1.0 - told)


def best_placement(unexplained: Sequence[float]) -> int:
    """The number of the map that leaves least unexplained, the simplest first: another must be better by a tenth."""
    best = 0
    for number, lost in enumerate(unexplained):
        best = number if _PREFERRED * lost < unexplained[best] else best
    return best


def kept_placement(unexplained: Mapping[Placement, float]) -> Placement:
    """The first placement unless another is better by a tenth; squared steps only where plain ones leave something.

    Where nothing is left to be explained, rows lie on a sheet, whose lengths squared steps would bend.
    """
    plain = [one for one in unexplained if one.power == 1.0]
    is_good = min(unexplained[one] for one in plain) <= _GOOD
    tried = plain if is_good else list(unexplained)
    return tried[best_placement([unexplained[one] for one in tried])]


def _best(found: Sequence[Coordinated]) -> Coordinated:
    by_placement = {one.placement: one for one in found}
    return by_placement[kept_placement({one.placement: one.unexplained for one in found})]


def _geodesic(problem: _Problem, sample: Array, settings: CoordinationSettings) -> list[Coordinated]:
    """The charts placed along each of the graphs."""
    U, latents = problem.features(sample), along_graphs(sample, settings.n_components, settings.n_jobs)
    return [_with_explained(problem.placed(U, Z, one), sample, settings) for one, Z in latents.items()]


def _with_explained(found: Coordinated, sample: Array, settings: CoordinationSettings) -> Coordinated:
    """The maps, with the share of sampled rows (m, d) that neighbours on the map tell."""
    some = sample[:: -(-len(sample) // _JUDGED)]
    Y = found.map.views[0].inside(some)[0]
    return replace(found, explained=explained_by_neighbours(Y, found.map.backward(some), settings.n_jobs))


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
    return replace(problem.solved(np.asarray(U.T @ (M @ U)), H, np.inf), placement=Placement("automatic"))
