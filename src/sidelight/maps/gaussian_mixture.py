"""Mixtures of Gaussians with shrunken covariances for ``maps.mixture_fit``; see ``objectives.gaussian_charts``.

Rows are scaled by column, so that units do not matter. The covariance T that charts are shrunken to is that of a
mixture which has been fitted before (``GaussianKind.after``), or the one inside the clusters of a partition
(``first_kind``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sidelight.objectives.gaussian_charts import Gaussians, gaussian_charts, shared_covariance
from sidelight.objectives.mixtures import MixtureParameters
from sidelight.solvers.partition import partition

from .frames import Frame
from .mixture_stream import MixtureStream
from .plane_charts import PlaneCharts
from .row_summary import RowSummary

__all__ = ["GaussianKind", "first_kind", "rows_outside"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class GaussianKind:
    """A mixture of Gaussians.

    Parameters
    ----------
    target : array of shape (d, d)
        Covariance that charts are shrunken to, of columns divided by their standard deviations.
    strength : float
        Weight of the target, in rows per chart.
    diagonal : bool
        Whether columns are independent inside a chart.
    noise_floor : float
        Least variance in any direction, as a share of the mean variance of the scaled columns.
    widths, outside : array of shape (d,) or None, float
        Of rows that are from no chart (``PlaneCharts``).
    """

    target: Array
    strength: float
    diagonal: bool = False
    noise_floor: float = 1e-6
    widths: Array | None = None
    outside: float = 0.0

    framed: ClassVar[bool] = True
    by_column: ClassVar[bool] = True

    def family(self, summary: RowSummary, *, stream: bool = False) -> Gaussians:
        """The EM for these rows."""
        floor, spread = _least(summary, self.noise_floor), _spread(summary, self.noise_floor)
        share = 1.0 / summary.n if stream else 1.0
        target = self.target * spread[:, None] * spread
        return Gaussians(target, self.strength, floor, self.diagonal, summary.missing, share)

    def start(
        self, summary: RowSummary, family: Gaussians, n_charts: int, rng: np.random.RandomState
    ) -> MixtureParameters:
        """Random initialisation: one chart for each cluster of a k-means partition of the sample."""
        X = summary.sample
        centres, labels = partition(X, n_charts, rng)
        wide = np.repeat(family.target[None], n_charts, axis=0)
        charts = gaussian_charts(centres, wide, family.floor, diagonal=self.diagonal)
        sums = _sums_of_parts(X, labels, centres)
        return family.maximised(sums, MixtureParameters(np.full(n_charts, 1.0 / n_charts), charts))

    def fewest_rows(self, summary: RowSummary, n_charts: int) -> float:
        """Number of rows at or below which a chart is dead."""
        return float(min(1.0, summary.n / (2.0 * n_charts)))

    def pruned(self, mixture: MixtureParameters, summary: RowSummary) -> MixtureParameters | None:
        """Charts keep all their dimensions."""
        del mixture, summary
        return None

    def finished(self, mixture: MixtureParameters) -> MixtureParameters:
        """The mixture as it is."""
        return mixture

    def charts(self, mixture: MixtureParameters, frame: Frame) -> PlaneCharts:
        """Charts in the units of the data."""
        charts = PlaneCharts(frame.centre, frame.scale, mixture.weights, mixture.charts, frame.columns, self.diagonal)
        return replace(charts, widths=self.widths, outside=self.outside)

    def joined(
        self, stream: MixtureStream[MixtureParameters, Gaussians], X: Array
    ) -> MixtureStream[MixtureParameters, Gaussians]:
        """The stream, with the prior's share of all rows so far: its sums are means over rows."""
        missing = stream.family.missing or bool(np.isnan(X).any())
        return replace(stream, family=replace(stream.family, missing=missing, share=1.0 / (stream.n_seen + len(X))))

    def after(
        self, mixture: MixtureParameters, summary: RowSummary, *, wide: bool, toward_diagonal: float
    ) -> GaussianKind:
        """The same kind with the shared covariance of a mixture, its correlations times ``1 - toward_diagonal``."""
        spread = _spread(summary, self.noise_floor)
        shared = shared_covariance(mixture, wide=wide) / spread[:, None] / spread
        return replace(self, target=_mixed(shared, toward_diagonal), **rows_outside(summary, self.noise_floor))


def rows_outside(summary: RowSummary, noise_floor: float) -> dict[str, Any]:
    """``widths`` and ``outside`` for rows of this summary: one row of all is from no chart."""
    return {"widths": _spread(summary, noise_floor), "outside": 1.0 / (summary.n + 1.0)}


def _least(summary: RowSummary, noise_floor: float) -> float:
    """Least variance in any direction, in the units of the frame."""
    return max(noise_floor * float(summary.variance.mean()), 1e-12)


def _spread(summary: RowSummary, noise_floor: float) -> Array:
    """Standard deviations (d,) of the columns, which are above 0 also of constant ones."""
    return np.asarray(np.sqrt(np.maximum(summary.variance, _least(summary, noise_floor))))


def first_kind(
    summary: RowSummary,
    n_charts: int,
    strength: float,
    rng: np.random.RandomState,
    *,
    diagonal: bool,
    noise_floor: float,
    toward_diagonal: float,
) -> GaussianKind:
    """A kind whose target is the covariance inside the clusters of a partition of the sample."""
    X = summary.sample
    centres, labels = partition(X, n_charts, rng)
    spread = _spread(summary, noise_floor)
    seen = ~np.isnan(X)
    residual = np.where(seen, X - centres[labels], 0.0) / spread
    both = np.maximum(seen.T.astype(np.float64) @ seen, 1.0)
    target = residual.T @ residual / both
    if not seen.all():  # a covariance of pairs need not be positive
        values, vectors = np.linalg.eigh(target)
        target = (vectors * np.maximum(values, 1e-3)) @ vectors.T
    return GaussianKind(_mixed(target, toward_diagonal), strength, diagonal, noise_floor)


def _mixed(C: Array, toward_diagonal: float) -> Array:
    """A covariance with its correlations times ``1 - toward_diagonal``."""
    own = np.diag(np.diag(C))
    return np.asarray((1.0 - toward_diagonal) * C + toward_diagonal * own)


def _sums_of_parts(X: Array, labels: Array, centres: Array) -> dict[str, Array]:
    """Sums of the M step of clusters; a missing entry is at its cluster's centre."""
    filled = np.where(np.isnan(X), centres[labels], X)
    k, upper = len(centres), np.triu_indices(X.shape[1])
    parts = [filled[labels == s] for s in range(k)]
    return {
        "rows": np.array(float(len(X))),
        "n": np.array([float(len(part)) for part in parts]),
        "x": np.stack([part.sum(axis=0) for part in parts]),
        "xx": np.stack([(part.T @ part)[upper] for part in parts]),
    }
