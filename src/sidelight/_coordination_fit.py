"""How coordinated models are fitted: a mixture for each view, sums over rows of what charts share, one eigenproblem.

Written once against :class:`sidelight.rows.Rows`, for memory and for batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from ._frame import Frame
from ._messages import complain
from ._mixture_fit import climbed, surveyed
from ._ppca_mixture import PPCAMixture
from .kernels.neighbours import nearest
from .maps.charts import gaussian_charts
from .maps.coordinated import ChartedView, CoordinatedMap, latent_charts, weighed
from .maps.plane_charts import PlaneCharts, plane_charts
from .objectives.coordination import Overlaps, distortion, overlap_sums, overlaps_of, unfolded
from .objectives.linear_gaussian import LinearGaussian
from .objectives.mixtures import MixtureParameters, Planes
from .objectives.spectral import lle_matrix, reconstruction_weights
from .rows import ArrayRows, Rows, Sums
from .rows._base import Statistic
from .solvers.coordination import coordinated, whitener
from .solvers.eigen import fix_signs
from .solvers.result import Status

__all__ = ["BALANCES", "Glued", "ViewRows", "aligned", "bridging", "charted", "glued", "look"]

Array = npt.NDArray[Any]
BALANCES = (np.inf, 1e-1, 1e-2, 1e-3, 1e-4)
"""What ``balance="auto"`` tries; the source's objective first, which so wins ties."""

_SAMPLE = 5_000  # rows that the number of charts is chosen on
_IN_MEMORY = 100_000  # rows that a mixture without sums over batches is fitted to
_FIRST = 5  # charts that the search begins with
_ROWS_EACH = 6  # rows for each coefficient of a chart, at least, in the search
_ISOMETRIC = 0.02  # a distortion below it, of charts that are flat, needs no more charts
_EVEN = 0.05  # of distortion, that no map is without
_PROBE = 1_000  # rows that are sent there and back
_WORTH = 0.8  # more charts, that do not fit better, must give maps as much better as this
_STARTS, _APART = 3, 1_000  # that are tried where charts are not enough, and how far apart their seeds are
_FLAT = 0.05  # the share of a flat chart's variance that lies off its plane
_BRIDGE = 0.1, 6.0  # off its plane: this share of a chart's variance, and so many times that of the others


class ViewRows(Rows):
    """Some columns of rows, inside a frame, without the rows in which they are missing."""

    def __init__(self, rows: Rows, columns: Array, frame: Frame) -> None:
        self._rows, self._columns, self._frame = rows, columns, frame
        self.n_features = len(columns)

    def blocks(self) -> Iterator[Array]:
        """Blocks of the rows that the view has seen."""
        return (self._seen(block) for block in self._rows.blocks())

    def total(self, statistic: Statistic) -> Sums:
        """The sum over the rows that the view has seen."""

        def own(block: Array) -> Sums:
            seen = self._seen(block)
            if len(seen):
                return statistic(seen)
            # no row of this block was seen: the names and shapes of a sum, with nothing in it
            return {name: 0 * value for name, value in statistic(np.zeros((1, self.n_features))).items()}

        return self._rows.total(own)

    def _seen(self, block: Array) -> Array:
        Y = self._frame.inside(block[:, self._columns])
        return np.asarray(Y[~np.isnan(Y).any(axis=1)])


def look(sample: Array, columns: Array) -> Frame:
    """The frame of a view, from a sample of the rows."""
    V = sample[:, columns]
    return Frame.of(V[~np.isnan(V).any(axis=1)])


def charted(
    model: Any, rows: Rows, sample: Array, columns: Array, view: int, seed: int
) -> tuple[list[ChartedView], int]:
    """The mixtures of one view, parallel ones with starts of their own, and the steps they took."""
    mixture = model.mixture[view] if isinstance(model.mixture, (list, tuple)) else model.mixture
    gaussian = type(mixture).__module__.startswith("sklearn.mixture")  # whose import would cost every user time
    framed = mixture is None or gaussian or isinstance(mixture, PPCAMixture)
    frame = look(sample, columns) if framed else Frame(np.zeros(len(columns)), 1.0)
    own = ViewRows(rows, columns, frame)
    make = _default(model, own, seed) if mixture is None else _given(model, own, mixture, seed)
    made = [make(number) for number in range(model.n_mixtures)]
    views = [ChartedView(charts, columns, frame.centre, frame.scale, view) for charts, _ in made]
    return views, sum(steps for _, steps in made)


def _default(model: Any, rows: ViewRows, seed: int) -> Callable[[int], tuple[Any, int]]:
    """Mixtures of probabilistic PCA, of as many charts as the data needs."""
    q = _n_local(model, rows.n_features)
    k, found = (model.n_charts, None) if model.n_charts != "auto" else _search(model, rows, q, seed)
    if k > rows.count():
        rule = f"is more than the {rows.count()} rows"
        raise ValueError(complain(model, "n_charts", k, rule, "Give fewer charts, or more rows"))

    def make(number: int) -> tuple[Any, int]:
        if found is not None and rows.count() <= _SAMPLE:
            return found[number].charts_, found[number].n_iter_
        own = _planes(model, k, q, seed + number, callback=model.callback, verbose=model.verbose)
        return _of_all_rows(own, rows, None if found is None else found[number].charts_)

    return make


def _of_all_rows(own: PPCAMixture, rows: Rows, start: PlaneCharts | None) -> tuple[PlaneCharts, int]:
    """Charts of all rows and the EM steps they took, begun from charts of a sample where there are such."""
    if start is None:
        own.fit_batches(rows)
        return own.charts_, own.n_iter_
    survey = surveyed(own, rows, start.n_charts, int(own.random_state))
    shrink = start.scale / survey.frame.scale
    charts = tuple(
        LinearGaussian(survey.frame.inside(c.mean * start.scale + start.centre), c.W * shrink, c.noise * shrink**2)
        for c in start.charts
    )
    family = Planes(max(own.noise_floor * float(survey.variance.mean()), 1e-12), survey.missing)
    climb = climbed(
        own, family, rows, MixtureParameters(start.weights, charts), survey, fewest=max(start.n_local) + 1.5
    )
    if climb.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return plane_charts(climb.parameters, survey.frame.centre, survey.frame.scale), max(1, len(climb.history))


def _planes(model: Any, k: int, q: int | str, seed: int, **options: Any) -> PPCAMixture:
    return PPCAMixture(k, q, max_iter=model.max_iter, tol=model.tol, random_state=seed, n_jobs=model.n_jobs, **options)


def _n_local(model: Any, d: int) -> Any:
    wanted = model.n_components if model.n_local is None else model.n_local
    if not isinstance(wanted, (str, int, np.integer)):
        remedy = "Give one number, or a GaussianMixture as mixture"
        rule = "is a list, which a mixture of probabilistic PCA does not take"
        raise ValueError(complain(model, "n_local", wanted, rule, remedy))
    return wanted if isinstance(wanted, str) else max(0, min(int(wanted), d - 1))


@dataclass(frozen=True)
class _Trial:
    """Mixtures of k charts, how well they fit (the lower, the better) and how good their maps are."""

    k: int
    mixtures: list[PPCAMixture]
    fit: float
    found: Glued

    @property
    def is_enough(self) -> bool:
        """Flat charts that agree on one stretching."""
        return self.found.distortion < _ISOMETRIC and float(self.found.off_plane.max()) < _FLAT


def _search(model: Any, rows: ViewRows, q: Any, seed: int) -> tuple[int, list[PPCAMixture]]:
    """The number of charts, doubled until they are flat and agree, or until more of them help neither fit nor maps.

    Where none are enough, other starts are tried, too. The mixtures found are those wanted where all rows are in the
    sample, and a start for them where not.
    """
    sample = Rows.sample(rows, _SAMPLE, seed)
    most = max(1, len(sample) // (_ROWS_EACH * (1 + (model.n_components if isinstance(q, str) else q))))
    k = min(_FIRST, most)
    tried = [_trial(model, sample, k, q, seed)]
    while not tried[-1].is_enough and (k := _more(tried, most)):
        tried.append(_trial(model, sample, k, q, seed))
    best = min(tried, key=lambda trial: trial.found.criterion)
    for again in range(1, _STARTS if best.k > 1 else 1):
        if not best.is_enough:
            other = _trial(model, sample, best.k, q, seed + again * _APART)
            best = min(best, other, key=lambda trial: trial.found.criterion)
    return best.k, best.mixtures


def _trial(model: Any, sample: Array, k: int, q: Any, seed: int) -> _Trial:
    rows = ArrayRows(sample, n_jobs=model.n_jobs)
    mixtures = [_planes(model, k, q, seed + i).fit_batches(rows) for i in range(model.n_mixtures)]
    found = glued(model, rows, [_whole(own.charts_, sample.shape[1]) for own in mixtures], sample)
    return _Trial(k, mixtures, float(np.mean([own.bic(sample) for own in mixtures])), found)


def _more(tried: Sequence[_Trial], most: int) -> int:
    """How many charts to try next; 0: no more."""
    last, before = tried[-1], tried[:-1]
    fits = [trial.fit for trial in before]
    maps = [trial.found.criterion for trial in before]
    if before and last.fit >= min(fits) and last.found.criterion > _WORTH * min(maps):
        return 0
    if 2 * last.k <= most:
        return 2 * last.k
    bridges = int(bridging(last.found.off_plane).sum())  # where doubling is too much, each makes room for one
    return min(last.k + bridges, most) if bridges and last.k < most else 0


def _whole(charts: Any, d: int) -> ChartedView:
    return ChartedView(charts, np.arange(d), np.zeros(d), 1.0)


def _given(model: Any, rows: ViewRows, mixture: Any, seed: int) -> Callable[[int], tuple[Any, int]]:
    """Mixtures of the user's: fitted charts as they are, estimators cloned and fitted."""
    if hasattr(mixture, "responsibilities") and hasattr(mixture, "features"):
        return lambda number: (mixture, 1)
    if not hasattr(mixture, "fit"):
        rule = "is neither an estimator nor charts (responsibilities, features, reconstruction)"
        raise TypeError(complain(model, "mixture", mixture, rule, "Give a PPCAMixture or a GaussianMixture"))

    def make(number: int) -> tuple[Any, int]:
        own = clone(mixture)
        if "random_state" in own.get_params():
            own.set_params(random_state=seed + number)
        if hasattr(own, "fit_batches"):
            own.fit_batches(rows)
        else:
            own.fit(Rows.sample(rows, _IN_MEMORY, seed))
        steps = max(1, int(getattr(own, "n_iter_", 1)))
        if hasattr(own, "charts_"):
            return own.charts_, steps
        n_local = model.n_components if model.n_local is None else model.n_local
        most = max(1, rows.n_features - 1)
        numbers = min(int(n_local), most) if isinstance(n_local, (int, np.integer)) else list(n_local)
        return gaussian_charts(own, numbers), steps

    return make


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
