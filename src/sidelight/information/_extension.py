"""Let rows join or leave a fitted map: the places of the others stay, kernel, effect and maps are those of all rows.

A map of n rows is about n^(1/q) widths of the latent kernel wide. Rows that join a map whose places stay make it
denser, and a kernel of the old width would blur them. So the unit of the latent kernel becomes finer by powers of two
(exact, so that places stay to the bit),

    resolution = 2^round(log2(N / n_fit) / q)

and the latent frame of the model says how long it is in units of the map. Placing a row, within these units:

1. each new row by itself, at the minimum of its share of the objective (``maps.new_points``; in more than three
   dimensions where ``transform`` has it);
2. new kinds of rows to a region of their own (``_regions``);
3. all new rows together, the others held (``_held_rows``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from sidelight.base.types import Array
from sidelight.kernels.profiles import profile
from sidelight.kernels.repulsion import repulsion_table
from sidelight.maps.effect import Effect
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import BackwardMap
from sidelight.maps.new_points import NewPointEmbedder
from sidelight.maps.weights import PrecomputedWeights
from sidelight.neighbours.equal_rows import equal_row_groups
from sidelight.side.given import EncodedGiven, Given

from ._fitted_maps import EmbeddedRows, informed_maps
from ._held_rows import HeldRows, settle_rows
from ._multilevel import ATTRACTION
from ._problem import Problem, with_refined_effect
from ._regions import own_regions, region_starts
from ._settings import GivenSettings, KernelSettings
from ._training import TrainingRows, problem_of_rows

__all__ = ["JoinedRows", "LivingRows", "LivingSettings", "Placed", "join_rows", "resolution_of", "start_places"]

_STEPS, _TOLERANCE = 100, 30.0
"""Iterations at most, and times ``tol``: a tenth of the finest level's, as nobody moves new rows afterwards (0043)."""


@dataclass(frozen=True)
class LivingSettings:
    """Settings of the fit that rows which join it obey; ``tol`` and ``regularization`` as there."""

    kernel: KernelSettings
    given: GivenSettings
    latent_kernel: str
    perplexity: float
    regularization: float
    tol: float

    @property
    def attraction(self) -> float:
        """Weight of the attraction, as in the fit."""
        return 1.0 + ATTRACTION * self.regularization


@dataclass(frozen=True)
class LivingRows:
    """The rows of a map.

    Parameters
    ----------
    points : array of shape (n, d)
        In units of the frame of the data.
    places : array of shape (n, q)
        In units of the latent kernel.
    given : Given or None
    known : EncodedGiven or None
        Their ``given``, complete.
    """

    points: Array
    places: Array
    given: Given | None = None
    known: EncodedGiven | None = None

    def take(self, rows: Array) -> LivingRows:
        """Some of the rows."""
        known = None if self.known is None else self.known.take(rows)
        return LivingRows(self.points[rows], self.places[rows], self.given, known)

    def with_rows(self, points: Array, places: Array, known: EncodedGiven | None) -> LivingRows:
        """These rows and further ones."""
        joined = None
        if self.known is not None and known is not None:
            parts = zip(*((one.features, one.values, one.complete) for one in (self.known, known)), strict=True)
            joined = EncodedGiven(*(np.concatenate(part) for part in parts))
        points = np.concatenate([self.points, points.astype(self.points.dtype, copy=False)])
        return LivingRows(points, np.concatenate([self.places, places]), self.given, joined)

    def scaled(self, factor: float) -> LivingRows:
        """The same map in finer units of the latent kernel."""
        return replace(self, places=self.places * factor)


@dataclass(frozen=True)
class Placed:
    """Which of all rows have no place of their own yet, which are novel, and the false-alarm rate of that."""

    free: Array
    flagged: Array
    false_alarm: float
    least: int
    hold: float | None = None


@dataclass(frozen=True)
class JoinedRows:
    """The map of all rows, and the region (N,) of each row that a new one was made for; 0: none."""

    embedded: EmbeddedRows
    problem: Problem
    region: Array
    sum_error: float
    interrupted: bool


def resolution_of(n: int, n_fit: int, q: int) -> float:
    """How many units of the latent kernel are one unit of the map of ``n`` rows that was fitted to ``n_fit``.

    >>> [resolution_of(n, 5000, 2) for n in (5000, 9000, 20_000, 50_000)]
    [1.0, 1.0, 2.0, 4.0]
    """
    return float(2.0 ** round(max(0.0, float(np.log2(n / n_fit))) / q))


def start_places(
    backward: BackwardMap, factor: float, rows: Array, settings: LivingSettings, n_jobs: int | None
) -> Array:
    """Initial latent points (m, q) of new rows (m, d) on a map scaled by ``factor``, row by row.

    ``rows`` are without the effect of ``given``.
    """
    weights, latent = backward.weights, profile(settings.latent_kernel)
    assert not isinstance(weights, PrecomputedWeights)
    places = factor * backward.outputs
    table = repulsion_table(places, latent, n_jobs)
    if table is None:
        return np.asarray(factor * backward(rows, n_jobs))
    k = max(2, min(len(places), round(settings.kernel.perplexity)))
    placing = NewPointEmbedder(
        weights.inputs, places, table, latent, k, min(settings.perplexity, 0.8 * k), settings.attraction
    )
    return np.asarray(placing(rows, n_jobs), dtype=np.float64)


def join_rows(rows: LivingRows, frame: Frame, placed: Placed, settings: LivingSettings) -> JoinedRows:
    """Settle the rows that have no place yet, and make the maps of all rows.

    Parameters
    ----------
    rows : LivingRows
        All rows; the places of the free ones are starts.
    frame : Frame
        Of the data.
    placed : Placed
    settings : LivingSettings
    """
    n, n_jobs = len(rows.points), settings.kernel.n_jobs
    columns = rows.given if rows.known is not None else None
    training = TrainingRows(rows.points, rows.points, frame, np.arange(n), columns, rows.known)
    latent = (settings.latent_kernel, rows.places.shape[1])
    problem = problem_of_rows(training, None, settings.kernel, settings.given, latent)
    if problem.refinement is not None:
        problem = with_refined_effect(problem, problem.refinement, rows.places)
    K = problem.kernel.matrix
    assert isinstance(K, csr_array)  # of the multilevel solver
    region = own_regions(K, placed.free, placed.flagged, placed.false_alarm, placed.least)
    start = np.array(rows.places)
    for number in range(1, int(region.max(initial=0)) + 1):
        own = region == number
        others = start[~own & ((region < number) | ~placed.free)]
        start[own] = region_starts(rows.points[own], start[own], others)
    same = _same_place(rows.points, rows.known, placed.free)
    free = placed.free & (same == np.arange(n))
    settled = settle_rows(
        K, problem.factors, start, HeldRows(free, placed.hold), profile(settings.latent_kernel), settings.attraction,
        max_iter=_STEPS, tolerance=_TOLERANCE * settings.tol, n_jobs=n_jobs,
    )  # fmt: skip
    Z = settled.places[same]
    embedded = informed_maps(training, problem, Z, Z[None], settings.kernel, settings.latent_kernel, product=False)
    return JoinedRows(embedded, problem, region, settled.sum_error, settled.interrupted)


def _same_place(points: Array, known: EncodedGiven | None, free: Array) -> Array:
    """The row (N,) whose place each row has: itself, or for a free row one with a place that equals it."""
    same = np.arange(len(points))
    groups = equal_row_groups(points if known is None else np.column_stack([points, known.features]))
    if groups is None:
        return same
    at = np.flatnonzero(~free)
    leader = np.full(len(points), -1)
    leader[groups[at][::-1]] = at[::-1]
    taken = free & (leader[groups] >= 0)
    same[taken] = leader[groups[taken]]
    return same


def without_effect(points: Array, known: EncodedGiven | None, effect: Effect | None) -> Array:
    """Rows (m, d) as the backward map sees them."""
    if known is None or effect is None:
        return points
    return np.asarray(points - effect.at_rows(points, known.features))
