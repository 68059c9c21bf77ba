"""Mixtures of probabilistic PCA for ``maps.mixture_fit``, and refitting from given charts.

With ``n_components="auto"`` each chart starts with ten local dimensions. After EM, each chart is reduced to the
dimensions that its rows support (``objectives.mixtures.kept_dimensions``), and EM is run again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.objectives.mixtures import MixtureParameters, Planes, kept_dimensions
from sidelight.objectives.plane_starts import planes
from sidelight.rows import Rows
from sidelight.solvers.partition import partition

from .charts import MOST_LOCAL
from .frames import Frame
from .mixture_fit import EMSettings, FittedMixture, run_em
from .mixture_stream import MixtureStream
from .plane_charts import PlaneCharts, with_principal_axes
from .row_summary import RowSummary, summarise_rows

__all__ = ["PlaneKind", "refit_planes"]

Array = npt.NDArray[Any]
_TINY = 1e-12  # variance floor for constant data, in scaled units


@dataclass(frozen=True)
class PlaneKind:
    """A mixture of probabilistic PCA.

    Parameters
    ----------
    n_components : int or "auto"
        Local dimensions of each chart.
    noise_floor : float
        Least variance of the noise, as a share of the mean variance of the columns.
    widths, outside : array of shape (d,) or None, float
        Of rows that are from no chart (``PlaneCharts``).
    """

    n_components: int | str = 2
    noise_floor: float = 1e-6
    widths: Array | None = None
    outside: float = 0.0

    framed: ClassVar[bool] = True
    by_column: ClassVar[bool] = False

    def family(self, summary: RowSummary, *, stream: bool = False) -> Planes:
        """The EM for these rows; without parameter expansion in a stream, whose sums refer to the previous axes."""
        floor = max(self.noise_floor * float(summary.variance.mean()), _TINY)
        return Planes(floor, summary.missing, expand=not stream)

    def start(
        self, summary: RowSummary, family: Planes, n_charts: int, rng: np.random.RandomState
    ) -> MixtureParameters:
        """Random initialisation: one plane per cluster of a k-means partition of the sample."""
        centres, labels = partition(summary.sample, n_charts, rng)
        return planes(summary.sample, centres, labels, self._n_local(len(summary.mean)), family.floor, rng)

    def fewest_rows(self, summary: RowSummary, n_charts: int) -> float:
        """Number of rows at or below which a chart is dead: q + 1 rows always lie in a plane."""
        return float(min(self._n_local(len(summary.mean)) + 1.5, summary.n / (2.0 * n_charts)))

    def pruned(self, mixture: MixtureParameters, summary: RowSummary) -> MixtureParameters | None:
        """With ``n_components="auto"``: each chart with the dimensions its rows support; else None."""
        if not isinstance(self.n_components, str):
            return None
        return kept_dimensions(mixture, mixture.weights * summary.n)

    def finished(self, mixture: MixtureParameters) -> MixtureParameters:
        """The mixture with principal local axes in each chart."""
        return with_principal_axes(mixture)

    def charts(self, mixture: MixtureParameters, frame: Frame) -> PlaneCharts:
        """Charts in the units of the data."""
        charts = PlaneCharts(frame.centre, frame.scale, mixture.weights, mixture.charts)
        return replace(charts, widths=self.widths, outside=self.outside)

    def joined(
        self, stream: MixtureStream[MixtureParameters, Planes], X: Array
    ) -> MixtureStream[MixtureParameters, Planes]:
        """The stream, with statistics that allow missing entries if this batch is the first with any."""
        family = stream.family
        if family.missing or not np.isnan(X).any():
            return stream
        sums = None if stream.sums is None else family.opened(stream.sums, stream.mixture)
        return replace(stream, family=replace(family, missing=True), sums=sums)

    def _n_local(self, d: int) -> int:
        return min(MOST_LOCAL if isinstance(self.n_components, str) else int(self.n_components), d - 1)


def refit_planes(
    rows: Rows, charts: PlaneCharts, kind: PlaneKind, settings: EMSettings, seed: int
) -> FittedMixture[MixtureParameters]:
    """EM on all rows, initialised with charts fitted to a sample of them.

    Parameters
    ----------
    rows : Rows
    charts : PlaneCharts
        Initial charts.
    kind : PlaneKind
    settings : EMSettings
    seed : int
        For the sample of the summary.

    Returns
    -------
    FittedMixture
    """
    summary = summarise_rows(settings.owner, rows, charts.n_charts, seed)
    shrink = charts.scale / summary.frame.scale
    moved = tuple(
        LinearGaussian(summary.frame.inside(c.mean * charts.scale + charts.centre), c.W * shrink, c.noise * shrink**2)
        for c in charts.charts
    )
    start = MixtureParameters(charts.weights, moved)
    found = run_em(rows, kind.family(summary), start, summary, settings, fewest=max(charts.n_local) + 1.5)
    return replace(found, mixture=kind.finished(found.mixture))
