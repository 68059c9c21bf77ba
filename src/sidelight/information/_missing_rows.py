"""The rows of a fit with their missing entries filled: from the nearest rows, tied to adjacent rows of a trajectory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.maps.entry_models import EntryModel, fit_entry_model
from sidelight.maps.missing import LocalFill, fit_fill
from sidelight.maps.time_bridge import TimeBridge, fit_bridge, nearest_in_time
from sidelight.side.trajectory import trajectory_numbers

from .missing import Missing

__all__ = ["FilledRows", "Projection", "checked_trajectory", "fill_rows", "project_rows"]

Projection = Callable[[Array], tuple[Array, Array]]
"""From filled rows (n, d) to their projections f(g(x)) (n, d) and the variances of these (n, d)."""


@dataclass(frozen=True)
class FilledRows:
    """Training rows with missing entries filled.

    Parameters
    ----------
    X : array of shape (n, d)
        The rows, filled.
    gone : boolean array of shape (n, d)
        Which entries were missing.
    variance : array of shape (n, d)
        Variance of the filled entries, 0 where an entry was observed.
    filler : LocalFill or EntryModel
        Fills new rows; its ``centre`` and ``scale`` are the units in which variances are computed.
    bridge : TimeBridge or None
        Predictions from adjacent rows, in units of the filler; None: the order of the rows is not known.
    """

    X: Array
    gone: Array
    variance: Array
    filler: LocalFill | EntryModel
    bridge: TimeBridge | None = None

    def replaced(self, mean: Array, variance: Array) -> FilledRows:
        """Fill the missing entries with predictions ``mean`` (n, d) of ``variance`` (n, d), tied to adjacent rows."""
        centre, scale = self.filler.centre, self.filler.scale
        m, s = (np.asarray(mean, dtype=np.float64) - centre) / scale, variance / scale**2
        if self.bridge is not None:
            m, s = self.bridge.combined(m, s)
        filled = np.where(self.gone, m * scale + centre, self.X).astype(self.X.dtype, copy=False)
        return replace(self, X=filled, variance=np.where(self.gone, s * scale**2, 0.0))


def checked_trajectory(owner: str, trajectory: object, n: int, missing: Missing) -> Array | None:
    """Trajectory numbers of ``n`` rows (n,); raise if no missing entries are filled, because nothing else uses them."""
    if trajectory is not None and not missing.fills:
        rule = "is for filling missing entries, and missing='refuse' fills none"
        raise ValueError(error_message(owner, "trajectory", "something", rule, "Set missing='impute', or leave it out"))
    if trajectory is None and missing.start == "nearest":
        rule = "needs to know which rows follow each other"
        raise ValueError(error_message(owner, "missing.start", "nearest", rule, "Give fit(X, trajectory=...)"))
    return None if trajectory is None else trajectory_numbers(owner, trajectory, n)


def fill_rows(X: Array, missing: Missing, trajectory: Array | None, *, owner: str, n_jobs: int | None) -> FilledRows:
    """Fill the missing entries (NaN) of rows ``X`` (n, d) from the nearest rows, and from adjacent ones if known.

    Parameters
    ----------
    X : array of shape (n, d)
    missing : Missing
        The method, and with "project" the start.
    trajectory : int array of shape (n,) or None
        Which rows follow each other.
    owner : str
        Name of the estimator, for messages.
    n_jobs : int or None
    """
    gone = np.isnan(X)
    filler: LocalFill | EntryModel
    if missing.method == "expected":
        filler = fit_entry_model(X, "neighbours", owner=owner, seed=0, n_jobs=n_jobs)
        mean, variance = filler(X, n_jobs), filler.variance(X, n_jobs) if gone.any() else np.zeros(X.shape)
    else:
        filler = fit_fill(X, n_jobs)
        mean, variance = filler.training_moments(n_jobs)
        if trajectory is None:
            mean = filler.rows * filler.scale + filler.centre
    found = FilledRows(X, gone, variance, filler)
    if trajectory is not None:
        inside = (np.asarray(X, dtype=np.float64) - filler.centre) / filler.scale
        if missing.start == "nearest":
            mean, variance = nearest_in_time(inside, trajectory) * filler.scale + filler.centre, np.zeros(X.shape)
        else:
            found = replace(found, bridge=fit_bridge(inside, trajectory))
    return found.replaced(mean, variance)


def project_rows(filled: FilledRows, rounds: int, project: Projection) -> FilledRows:
    """Replace the filled entries by their projections, ``rounds`` times (S0 3.1.5)."""
    for _ in range(rounds if filled.gone.any() else 0):
        filled = filled.replaced(*project(filled.X))
    return filled
