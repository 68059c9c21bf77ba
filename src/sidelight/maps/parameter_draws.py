r"""Effect of parameter uncertainty on the means of missing entries: the Gaussian refitted to bootstrap samples.

Of n rows at most m are kept, X_m. With θ fitted to X_m, and θ* to m rows of it drawn with replacement,

    shift = sqrt(m / n) (E[x_M | x_O; θ*] - E[x_M | x_O; θ])

is a draw of the error of the means of a table, one θ* for all of its rows. Without it, tables that are drawn with one
θ differ too little, and Rubin's rules give intervals that are too narrow. The means of trees, neighbours and blends are
as uncertain as those of a Gaussian at least, and take its shift.

    D. B. Rubin. Multiple imputation for nonresponse in surveys. Wiley, 1987.
    B. Efron. Missing data, imputation, and the bootstrap. Journal of the American Statistical Association 89, 1994.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .entry_densities import Member, entry_means, fit_densities
from .entry_models import EntryModel

__all__ = ["RowSample", "mean_shifts", "sample_rows"]

Array = npt.NDArray[Any]
_MOST = 1000  # rows kept: with more, a refit takes longer and says the same
_STREAM = 21  # of random numbers


@dataclass(frozen=True)
class RowSample:
    """Some of the rows of a fit.

    Parameters
    ----------
    rows : array of shape (m, d)
        NaN where an entry is missing.
    n_rows : int
        Rows of the fit, m of which are here.
    """

    rows: Array
    n_rows: int


def sample_rows(X: Array, seed: int) -> RowSample:
    """Return at most 1,000 rows (n, d) of a fit; every column keeps an observed entry."""
    if len(X) <= _MOST:
        return RowSample(np.array(X), len(X))
    kept = np.sort(np.random.default_rng([seed, _STREAM]).choice(len(X), _MOST, replace=False))
    return RowSample(_with_all_columns(X[kept], X), len(X))


def mean_shifts(
    model: EntryModel, sample: RowSample, X: Array, generators: Iterable[np.random.Generator], n_jobs: int | None
) -> Iterator[Array]:
    """Yield, for each generator, a draw (k, d) of the error of the means of the missing entries of rows (k, d).

    Parameters
    ----------
    model : EntryModel
        Whose means they are; its frame is used.
    sample : RowSample
        Of the rows that it was fitted to.
    X : array of shape (k, d)
        NaN where an entry is missing.
    generators : iterable of Generator
        Of the rows drawn.
    n_jobs : int or None
        Threads.
    """
    inside, asked = ((rows - model.centre) / model.scale for rows in (sample.rows, X))
    expected = entry_means(_fitted(inside, n_jobs), asked, n_jobs)
    width = np.sqrt(len(inside) / sample.n_rows) * model.scale
    for rng in generators:
        drawn = _with_all_columns(inside[rng.integers(len(inside), size=len(inside))], inside)
        yield np.asarray((entry_means(_fitted(drawn, n_jobs), asked, n_jobs) - expected) * width)


def _fitted(rows: Array, n_jobs: int | None) -> Member:
    """A Gaussian fitted to rows, deterministically."""
    return fit_densities(rows, ("gaussian",), owner="Imputer", seed=0, n_jobs=n_jobs)[0]


def _with_all_columns(drawn: Array, rows: Array) -> Array:
    """The drawn rows, and for each column without an observed entry the first row that has one."""
    lost = np.flatnonzero(np.isnan(drawn).all(axis=0))
    if not len(lost):
        return drawn
    first = np.unique(np.argmax(~np.isnan(rows[:, lost]), axis=0))
    return np.vstack([drawn, rows[first]])
