"""The rows of a fit with their ``given``, validated and encoded, and the optimisation problem they state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.frames import Frame
from sidelight.neighbours.sparse_distances import Points, dense_points, submatrix
from sidelight.side.design import warn_of_design
from sidelight.side.given import EncodedGiven, Given
from sidelight.side.pairs import as_pairs

from ._data_kernel import Latent
from ._problem import Problem, informed_problem, plain_problem
from ._settings import GivenSettings, KernelSettings

__all__ = ["ReadGiven", "TrainingRows", "problem_of_rows", "read_given"]


@dataclass(frozen=True)
class ReadGiven:
    """``given`` and ``same``, encoded.

    Parameters
    ----------
    columns : Given or None
        Types and encoding of the columns of ``given``.
    known : EncodedGiven or None
        Their entries; None if they are the same for all rows, and so have no effect.
    hints : array of shape (m, 2) or None
        Pairs of corresponding rows, as indices among the rows with complete ``given``.
    """

    columns: Given | None = None
    known: EncodedGiven | None = None
    hints: Array | None = None


def read_given(owner: str, given: object, same: object, n: int, settings: GivenSettings) -> ReadGiven:
    """Validate and encode ``given`` and ``same`` for ``n`` rows.

    Parameters
    ----------
    owner : str
        Name of the estimator, for messages.
    given, same
        As passed to ``fit``.
    n : int
        Rows of X.
    settings : GivenSettings
        For the options ``types``, ``bandwidth`` and ``kernel`` of the parameter ``conditioning``.

    Returns
    -------
    ReadGiven
    """
    if given is None:
        if same is not None:
            rule = "is a hint across groups, and there are no groups"
            raise ValueError(
                error_message(owner, "same", "pairs", rule, "Say with given which group each row belongs to")
            )
        return ReadGiven()
    columns = Given.learn(owner, given, n, settings.types, settings.bandwidth, settings.kernel)
    known = columns.encode(owner, given, n)
    count = int(known.complete.sum())
    if count < 2:
        rule = f"leaves {count} rows of which everything is known"
        raise ValueError(error_message(owner, "given", "missing entries", rule, "Give it for two rows or more"))
    if len(np.unique(known.values[known.complete], axis=0)) == 1:
        return ReadGiven(columns)
    warn_of_design(owner, columns, known)
    return ReadGiven(columns, known, None if same is None else as_pairs(same, n).take(known.complete).index)


@dataclass(frozen=True)
class TrainingRows:
    """The rows of a fit.

    Parameters
    ----------
    X : array of shape (n, d), or distances
    points : array of shape (n, d), or distances
        ``X`` in units of the ``frame``.
    frame : Frame
        Centre and scale of the data.
    fitted : array of shape (m,)
        Indices of the rows that are optimised: those with complete ``given``.
    given : Given or None
        The columns of ``given``; None: nothing is factored out.
    known : EncodedGiven or None
        Their entries, for all rows.
    variance : array of shape (n, d) or None
        Variances of missing entries, in squared units of the frame; None: no entry is uncertain.
    """

    X: Points
    points: Points
    frame: Frame
    fitted: Array
    given: Given | None = None
    known: EncodedGiven | None = None
    variance: Array | None = None

    @property
    def complete(self) -> bool:
        """Whether all rows are fitted."""
        return len(self.fitted) == len(self.X)

    @property
    def features(self) -> Array | None:
        """Features of ``given`` for the fitted rows (m, f), or None."""
        return None if self.known is None else self.known.features[self.fitted]

    @property
    def fitted_points(self) -> Array:
        """Points of the fitted rows (m, d); a copy only if some rows are left out."""
        return np.asarray(dense_points(self.points if self.complete else self.points[self.fitted]))

    @property
    def fitted_variance(self) -> Array | None:
        """Variances of the entries of the fitted rows (m, d), or None."""
        return None if self.variance is None else self.variance[self.fitted]

    def inside(self, metric: str) -> Array:
        """The fitted rows (m, d) in units of the frame; with the cosine metric these differ from the points."""
        if metric == "euclidean":
            return self.fitted_points
        return self.frame.inside(dense_points(self.X if self.complete else self.X[self.fitted]))


def problem_of_rows(
    training: TrainingRows, hints: Array | None, kernel: KernelSettings, settings: GivenSettings, latent: Latent
) -> Problem:
    """The optimisation problem: without ``given``, or with it for the rows whose ``given`` is complete."""
    scale = 1.0 if kernel.metric == "cosine" else training.frame.scale
    if training.given is None or training.known is None:
        return plain_problem(training.points, scale, kernel, latent, training.variance)
    rows = training.fitted
    if kernel.precomputed:
        some = submatrix(training.points, rows, rows, kernel.owner)
    else:
        some = training.points if training.complete else training.points[rows]
    known, variance = training.known.take(rows), None if training.variance is None else training.variance[rows]
    return informed_problem(some, scale, training.given, known, hints, kernel, settings, latent, variance)
