"""Views of the same rows: rows observed in each view, its scaling and kernel, and its maps to and from latent space.

backward  z(v) = Σ_j w_j(v) z_j        over the rows observed in the view, exact at those (``maps.interpolation``)
forward   v(z) = Σ_j w_j(z) v_j        w of the latent kernel, bandwidth 1 (if not all rows are observed in the view, a
                                       larger one by leave-one-out error)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.validation import check_rows, checked_array, relative_bandwidth
from sidelight.base.warnings import warn
from sidelight.kernels.data_kernel import DataKernel, fixed_kernel, perplexity_kernel
from sidelight.kernels.profiles import GAUSSIAN
from sidelight.neighbours.equal_rows import equal_row_groups, group_means

from .frames import Frame
from .interpolation import BackwardMap, interpolate
from .kernel_map import KernelMap, best_perplexity
from .parzen import ParzenDensity, kernel_density
from .weights import AdaptiveWeights, FixedWeights

__all__ = [
    "ObservedView",
    "ViewMaps",
    "as_columns",
    "check_second_view",
    "fit_view_maps",
    "observed_rows",
    "observed_view",
    "refuse_half_rows",
]

Array = npt.NDArray[Any]
_WIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)


@dataclass(frozen=True)
class ObservedView:
    """One view: indices of its observed ``rows`` (m,), their scaled ``points`` (m, d), its ``frame`` and kernel."""

    rows: Array
    frame: Frame
    points: Array
    kernel: DataKernel

    @property
    def is_constant(self) -> bool:
        """Whether all observed rows of the view are equal."""
        return bool((self.points == self.points[0]).all())


@dataclass(frozen=True)
class ViewMaps:
    """Maps of one view between its scaled data and the latent space, and its density."""

    frame: Frame
    backward: BackwardMap
    forward: KernelMap
    density: ParzenDensity


def observed_view(
    V: Array,
    rows: Array,
    bandwidth: str | float,
    *,
    perplexity: float,
    n_neighbors: int | None,
    n_jobs: int | None,
) -> ObservedView:
    """Scale a view and compute its data kernel, over its observed rows.

    Parameters
    ----------
    V : array of shape (n, d)
        The view of all rows.
    rows : array of shape (m,)
        Indices of the observed rows.
    bandwidth : "perplexity", another str, or float
        "perplexity": one bandwidth per row; a number: that one for all rows; another str: one chosen from the data.
    perplexity, n_neighbors, n_jobs
        As in the estimator.

    Returns
    -------
    ObservedView
    """
    seen = V[rows]
    frame = Frame.of(seen)
    points = frame.points(seen)
    if bandwidth == "perplexity":
        kernel = perplexity_kernel(points, perplexity, n_neighbors, n_jobs=n_jobs)
    else:
        h = None
        if not isinstance(bandwidth, str):
            h = relative_bandwidth("JointInformationEmbedding", "bandwidth", bandwidth, frame.scale)
        kernel = fixed_kernel(points, h, GAUSSIAN, n_jobs=n_jobs)
    return ObservedView(rows, frame, points, kernel)


def fit_view_maps(view: ObservedView, Z: Array, latent_kernel: str) -> ViewMaps:
    """Fit the maps between a view and the latent space, and the view's density.

    Parameters
    ----------
    view : ObservedView
    Z : array of shape (n, q)
        Latent points of all rows.
    latent_kernel : str
        Profile of the latent kernel.

    Returns
    -------
    ViewMaps
    """
    own, kernel = Z[view.rows], view.kernel
    one_place = group_means(own, equal_row_groups(view.points))
    weights: AdaptiveWeights | FixedWeights
    if kernel.lists is not None:
        weights = AdaptiveWeights(view.points, kernel.lists, best_perplexity(view.points, one_place, kernel.lists))
    else:
        weights = FixedWeights(view.points, float(kernel.bandwidth))
    return ViewMaps(
        view.frame,
        interpolate(KernelMap(weights, one_place)),
        _forward(view, own, len(Z), latent_kernel),
        kernel_density(view.points, kernel.bandwidth),
    )


def _forward(view: ObservedView, own: Array, n: int, latent_kernel: str) -> KernelMap:
    """The forward map; a subset of the rows is sparser in latent space, so its bandwidth is chosen by leave-one-out."""
    widths = _WIDTHS if len(own) < n else _WIDTHS[:1]
    maps = [KernelMap(FixedWeights(own, width, latent_kernel), view.points) for width in widths]
    return maps[int(np.argmin([candidate.leave_one_out_error() for candidate in maps]))] if len(maps) > 1 else maps[0]


def as_columns(V: Array) -> Array:
    """A 1-d array as one column (n, 1); a 2-d array as it is."""
    return np.asarray(V.reshape(-1, 1) if V.ndim == 1 else V)


def check_second_view(owner: object, y: Any, n: int) -> Array:
    """Validate the second view: array (n, e), with a whole row of NaN where the row is not observed in it."""
    kinds = [np.float64, np.float32]
    Y = as_columns(checked_array(owner, y, dtype=kinds, ensure_2d=False, ensure_all_finite="allow-nan", input_name="y"))
    check_rows(owner, "y", Y, n)
    refuse_half_rows(owner, "y", Y)
    return Y


def refuse_half_rows(owner: object, name: str, V: Array) -> None:
    """Raise an error if a row is partly NaN: a row of a view must be observed entirely or not at all."""
    missing = np.isnan(V)
    half = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if len(half):
        rule = "has NaN beside numbers; a row without this view must be all NaN"
        raise ValueError(error_message(owner, name, f"row {half[0]}", rule, "Fill the gaps, or make the whole row NaN"))


def observed_rows(owner: object, V: list[Array], n_wanted: int) -> list[Array]:
    """Indices of the rows observed in each view.

    Parameters
    ----------
    owner : object
        The estimator, for messages.
    V : list of arrays of shape (n, d_v)
        The views; NaN rows are not observed.
    n_wanted : int
        Rows that should be observed in both views. With fewer, one view can rotate against the other: a warning.

    Raises
    ------
    ValueError
        If a view has fewer than two rows, a row is in no view, or no row is in both.
    """
    seen = [np.flatnonzero(~np.isnan(view[:, 0])) for view in V]
    for name, rows in zip("Xy", seen, strict=False):
        if len(rows) < 2:
            rule, remedy = "is too few to embed (the others are NaN)", "Give two or more"
            raise ValueError(error_message(owner, name, f"{len(rows)} rows", rule, remedy))
    n, paired = len(V[0]), np.intersect1d(seen[0], seen[-1])
    unseen = np.setdiff1d(np.arange(n), np.concatenate(seen))
    if len(unseen):
        raise ValueError(error_message(owner, "X", f"row {unseen[0]}", "is NaN in both views", "Leave such rows out"))
    remedy = f"Pair {n_wanted} rows or more"
    if len(paired) == 0:
        rule = "shares no row with X, so the views cannot be aligned"
        raise ValueError(error_message(owner, "y", f"{len(seen[1])} rows", rule, remedy))
    if len(paired) < min(n, n_wanted):
        rule = f"{'does' if len(paired) == 1 else 'do'} not determine the rotation of one view against the other"
        warn(error_message(owner, "y", f"{len(paired)} pairs", rule, remedy), UserWarning)
    return seen
