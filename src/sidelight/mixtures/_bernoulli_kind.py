"""A mixture of Bernoullis as ``maps.mixture_fit`` takes it, and rows as 0, 1 and NaN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse

from sidelight.base.messages import error_message
from sidelight.base.types import Array, Untyped
from sidelight.maps.bernoulli_charts import BernoulliCharts, bernoulli_charts
from sidelight.maps.frames import Frame
from sidelight.maps.mixture_fit import EMSettings, FittedMixture, MixtureKind, fit_mixture
from sidelight.maps.mixture_stream import MixtureStream
from sidelight.maps.mixture_trials import Choice, Trials, splits_of
from sidelight.maps.row_summary import RowSummary
from sidelight.objectives.bernoulli import BernoulliParameters, Bernoullis
from sidelight.rows import Rows, Statistic, Sums
from sidelight.solvers.partition import partition

__all__ = ["ROOM", "BernoulliKind", "BinaryRows", "binary", "choose_number"]

AnyKind = MixtureKind[BernoulliParameters, Bernoullis]
ROOM = 500_000
"""Entries of the rows by which the number of charts is chosen, where these are more than a thousand rows."""
_ROWS_EACH = 4  # rows per chart, at least


@dataclass(frozen=True)
class BernoulliKind:
    """A mixture of Bernoullis; ``smoothing``: rows like the mean of all that each chart is given on top of its own."""

    smoothing: float

    framed: ClassVar[bool] = False
    by_column: ClassVar[bool] = False

    def family(self, summary: RowSummary, *, stream: bool = False) -> Bernoullis:
        """The EM, with the share of 1 in each column as the prior, strictly between 0 and 1."""
        del stream
        return Bernoullis(np.asarray((summary.n * summary.mean + 0.5) / (summary.n + 1.0)), self.smoothing)

    def start(
        self, summary: RowSummary, family: Bernoullis, n_charts: int, rng: np.random.RandomState
    ) -> BernoulliParameters:
        """A chart for each part of a partition of the sample."""
        X = summary.sample
        labels = partition(X, n_charts, rng)[1]
        own = (labels[:, None] == np.arange(n_charts)).astype(np.float64)
        seen = ~np.isnan(X)
        sums = {"n": own.sum(axis=0) + 1.0, "x": own.T @ np.where(seen, X, 0.0), "seen": own.T @ seen}
        return family.maximised(sums, BernoulliParameters(np.empty(0), np.empty((0, 0))))

    def fewest_rows(self, summary: RowSummary, n_charts: int) -> float:
        """A chart with at most this many rows counts as empty."""
        return float(min(1.0, summary.n / (2.0 * n_charts)))

    def pruned(self, mixture: BernoulliParameters, summary: RowSummary) -> BernoulliParameters | None:
        """Charts have no local dimensions."""
        del mixture, summary
        return None

    def finished(self, mixture: BernoulliParameters) -> BernoulliParameters:
        """The mixture as it is."""
        return mixture

    def charts(self, mixture: BernoulliParameters, frame: Frame) -> BernoulliCharts:
        """Charts without local coordinates."""
        del frame
        return bernoulli_charts(mixture)

    def joined(
        self, stream: MixtureStream[BernoulliParameters, Bernoullis], X: Array
    ) -> MixtureStream[BernoulliParameters, Bernoullis]:
        """The stream, with the prior's share of all rows so far: its sums are means over rows."""
        strength = self.smoothing / (stream.n_seen + X.shape[0])
        return replace(stream, family=replace(stream.family, strength=strength))


def choose_number(rows: Rows, kind: AnyKind, settings: EMSettings) -> Choice[AnyKind]:
    """The number of charts under which held-out rows are most likely, doubled as long as that surely helps.

    The smallest of those that are as good as the best; 1 where rows are too few to hold any out.
    """
    splits = splits_of(rows, settings, ROOM)
    if not splits.parts:
        return Choice(kind, 1)

    def fit(
        part: Rows, k: int, quick: EMSettings, before: object
    ) -> tuple[FittedMixture[BernoulliParameters], AnyKind]:
        del before
        return fit_mixture(part, kind, quick, k), kind

    trials: Trials[int, AnyKind] = Trials(splits, fit, settings)
    trials.doubled(lambda k: k, max(1, splits.fewest // _ROWS_EACH))
    best = trials.best()
    least = best if trials.ended else min(k for k in trials.tried if trials.is_as_good(k, best))
    return trials.choice(least, least, str)


class BinaryRows(Rows):
    """Rows as 0, 1 and NaN, wherever they come from."""

    def __init__(self, rows: Rows, threshold: float | None) -> None:
        self._rows, self._threshold, self.n_features = rows, threshold, rows.n_features

    def blocks(self) -> Iterator[Array]:
        """Those of the rows."""
        return (binary(block, self._threshold) for block in self._rows.blocks())

    def total(self, statistic: Statistic) -> Sums:
        """The sum over the rows."""
        threshold = self._threshold
        return self._rows.total(lambda X: statistic(binary(X, threshold)))

    def count(self) -> int:
        """How many rows there are."""
        return self._rows.count()

    def sample(self, m: int, seed: int) -> Array:
        """At most m of the rows."""
        return np.asarray(binary(self._rows.sample(m, seed), self._threshold))


def binary(X: Untyped, threshold: float | None) -> Untyped:
    """Rows as 0, 1 and NaN: 1 above ``threshold``; None: they must be so already. Sparse rows have no NaN."""
    if issparse(X):
        return _binary_sparse(X, threshold)
    missing = np.isnan(X)
    if threshold is not None:
        return np.asarray(np.where(missing, X, (threshold < X).astype(X.dtype)))
    strange = ~(missing | (X == 0) | (X == 1))
    if strange.any():
        seen = f"array with {float(X[strange][0])!r}"
        remedy = "Give 0 and 1 (NaN where missing), or to a BernoulliMixture by itself a threshold: binarize="
        raise ValueError(error_message("BernoulliMixture", "X", seen, "is not binary", remedy))
    return X


def _binary_sparse(X: Untyped, threshold: float | None) -> Untyped:
    """Sparse rows as a CSR array of 1s; entries that are not stored are 0."""
    if threshold is not None and threshold < 0:
        remedy = "Give binarize=0 or more, or a dense array"
        raise ValueError(
            error_message("BernoulliMixture", "binarize", threshold, "makes 0 a 1, in sparse rows", remedy)
        )
    X = csr_array(X, copy=True)
    X.sum_duplicates()
    X.data = binary(X.data, threshold)
    X.eliminate_zeros()
    return X
