"""Densities of training rows under a model that was fitted without them, to compare new rows with.

A mixture with few rows for each of its parameters has a larger density at its training rows than at new ones, which
would all look unusual beside them. So rows are held out in five folds, and the fitted parameters are moved by a few EM
steps on the other rows: after the first, the parameters no longer depend on the rows that are held out, except by where
the charts began. A single plane of complete rows is fitted anew in closed form. Where rows are many for the parameters,
this makes no difference and is left out (``needs_folds``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sidelight.objectives.linear_gaussian import LinearGaussian
from sidelight.objectives.mixtures import MixtureParameters, Planes
from sidelight.objectives.principal_axes import axes_of_moments, axes_of_rows, closed_form, moments
from sidelight.rows import ArrayRows

from .frames import Frame
from .mixture_fit import Family, Mixture
from .plane_charts import PlaneCharts

__all__ = ["FEW_STEPS", "MOST_ROWS", "held_out", "needs_folds", "refitted", "refitted_plane", "refitted_planes"]

Array = npt.NDArray[Any]
P = TypeVar("P", bound=Mixture)
MOST_ROWS = 5_000
"""Rows up to which folds are held out."""
FEW_STEPS = 2
"""EM steps where charts are refitted many times: densities of left-out rows are those of five steps, measured."""
_FOLDS = 5
_STEPS = 5
_WELL_KNOWN = 40  # entries per parameter above which training rows have the densities of new ones, measured
_TINY = 1e-12  # least variance of the noise, in scaled units
_NO_NOISE = 1e-9  # of the mean variance: rows lie in the plane, from which EM would not move it


def needs_folds(X: Array, n_parameters: int) -> bool:
    """Whether rows (n, d) are few for the number of parameters."""
    return len(X) >= 2 * _FOLDS and int((~np.isnan(X)).sum()) < _WELL_KNOWN * n_parameters


def held_out(X: Array, refit: Callable[[Array], Callable[[Array], Array]]) -> Array:
    """``refit(other rows)(rows)`` (n, ...) of rows in five folds, in the order of the rows."""
    fold = np.random.default_rng(0).permutation(len(X)) % _FOLDS
    parts = [refit(X[fold != number])(X[fold == number]) for number in range(_FOLDS)]
    out = np.empty((len(X), *parts[0].shape[1:]))
    for number, part in enumerate(parts):
        out[fold == number] = part
    return out


def refitted(
    X: Array, family: Family[P], mixture: P, frame: Frame | None = None, n_jobs: int | None = None, steps: int = _STEPS
) -> P:
    """The mixture after a few EM steps on rows X (n, d), scaled by ``frame`` (None: as they are)."""
    rows = ArrayRows(X if frame is None else frame.inside(X), n_jobs=n_jobs)
    for _ in range(steps):
        mixture = family.maximised(rows.total(partial(family.sums, mixture)), mixture)
    return mixture


def refitted_planes(charts: PlaneCharts, X: Array, n_jobs: int | None = None, steps: int = _STEPS) -> PlaneCharts:
    """Charts after a few EM steps on rows X (n, d), in the units of the data."""
    family = Planes(_TINY, bool(np.isnan(X).any()))
    mixture = MixtureParameters(charts.weights, charts.charts)
    found = refitted(X, family, mixture, charts.frame, n_jobs, steps)
    return replace(charts, weights=found.weights, charts=found.charts)


def refitted_plane(model: LinearGaussian, X: Array, n_jobs: int | None = None) -> LinearGaussian:
    """A plane as if fitted to rows X (n, d) alone, in its own units.

    In closed form if rows are complete; by a few EM steps where they have less than twice as many axes as the plane,
    as the closed form would leave too little noise.
    """
    (n, d), q = X.shape, model.n_components
    exact = model.noise <= _NO_NOISE * (float((model.W**2).sum()) / d + model.noise)
    if np.isnan(X).any() or not (exact or min(n - 1, d) >= 2 * q):
        plane = PlaneCharts(np.zeros(d), 1.0, np.ones(1), (replace(model, spread=None),))
        return refitted_planes(plane, X, n_jobs).charts[0]
    axes = axes_of_rows(X) if n < d else axes_of_moments(moments(X))
    return closed_form(axes, q, least_noise=_TINY)
