"""What each axis of the map stands for, over the whole map and region by region.

    b = argmin Σ |û(z_i) - ū - b (z_i - z̄)|²        over the rows of a region; û is ``inverse_transform``, b (d, q)
    share_fa = 1 - Σ (u_f - ū_f - b_fa (z_a - z̄_a))² / Σ (u_f - ū_f)²      of a feature's variance in the region

b is the mean slope of the way back over the region, with its steps and jumps: the mean of the derivative at the rows
(``inverse_jacobian``) would leave these out. The share is what a move along the axis, as the map has it, explains of
the feature: 1 if the feature is the axis, 0 or below if it is not. Shares of different axes do not add up where these
are correlated within the region.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread

from ._reading import back_rows, read_model, take_rows
from ._tables import tidy

__all__ = ["WHOLE", "axes", "axis_columns"]

Array = npt.NDArray[Any]
WHOLE = "whole map"
"""Name of the region of all rows."""
_ROWS = 2000  # rows that are looked at, evenly spaced


@one_blas_thread
def axes(
    model: Any,
    X: Any,
    *,
    given: Any = None,
    regions: int = 0,
    random_state: int = 0,
    output: str | None = None,
) -> Any:
    """What each axis of the map stands for: how features change along it, over the whole map and in its regions.

    Parameters
    ----------
    model : fitted model or Pipeline
        With ``jacobian`` and ``inverse_transform``; steps of a Pipeline before it are linear.
    X : array, sparse array or table of shape (n, d)
        Rows; of more than 2,000, so many are looked at, evenly spaced.
    given : array of shape (n,) or (n, g), or table, default=None
        The known variables of the rows: held, and features are looked at after their effect.
    regions : int, default=0
        Regions of the map, by k-means of the places with a fixed seed, besides the whole map. On a map that bends, an
        axis stands for other features in one region than in another.
    random_state : int, default=0
        Seed of k-means.
    output : {"pandas", "polars"} or None, default=None
        As for :func:`local`.

    Returns
    -------
    table
        A record for each region, axis and feature, those that follow the axis most first: the number of ``rows`` of the
        region, the mean ``slope`` in units of the feature per unit of the map, ``standardised`` in standard deviations
        within the region, and the ``share`` of the feature's variance there that the slope explains.

    See Also
    --------
    groups : What sets clusters apart.
    local : Around each row.
    in_words : The table as sentences.

    Examples
    --------
    >>> from sidelight import ProbabilisticPCA, explain
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [5.0, 1.0, 0.1]
    >>> table = explain.axes(ProbabilisticPCA(1).fit(X), X)
    >>> table.feature[0], bool(table.share[0] > 0.9)
    ('0', True)
    """
    return tidy("explain.axes", axis_columns(model, X, given, regions, random_state), output)


def axis_columns(model: Any, X: Any, given: Any, regions: int, random_state: int, most: int = _ROWS) -> dict[str, Any]:
    """Columns of the table of :func:`axes`, from at most so many rows."""
    owner = "explain.axes"
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    some = np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))
    X, given = take_rows(X, some), None if given is None else take_rows(given, some)
    reading = read_model(owner, model, X, given)
    every = np.arange(reading.n)
    Z = reading.smooth.value(reading.coordinates, every)
    back = back_rows(owner, model, Z, given)
    names, members = _regions(owner, Z, regions, random_state)
    moments = _Moments(len(names), len(reading.features), Z)
    for tile in reading.tiles(every):
        moments.add(tile, members[:, tile], reading.units(tile), back(tile))
    return moments.records(names, members.sum(axis=1), reading.features, reading.axes)


def _regions(owner: str, Z: Array, regions: int, seed: int) -> tuple[list[str], Array]:
    """Names of the regions, the whole map first, and which rows (r, n) are in each."""
    if not 0 <= regions <= len(Z) or regions == 1:
        rule = f"is not 0 or a number from 2 to the {len(Z)} rows"
        raise ValueError(error_message(owner, "regions", regions, rule, "Give such a number"))
    whole = np.ones((1, len(Z)), dtype=bool)
    if not regions:
        return [WHOLE], whole
    labels = KMeans(regions, n_init=4, random_state=seed).fit(Z).labels_
    found = [labels == k for k in range(regions)]
    order = np.argsort([Z[rows, 0].mean() if rows.any() else np.inf for rows in found], kind="stable")
    return [WHOLE, *(f"region {k + 1}" for k in range(regions))], np.concatenate([whole, [found[k] for k in order]])


class _Moments:
    """Sums over rows from which slopes and shares of r regions follow."""

    def __init__(self, r: int, d: int, Z: Array) -> None:
        q = Z.shape[1]
        self.Z = Z
        self.u, self.uu, self.uz = np.zeros((r, d)), np.zeros((r, d)), np.zeros((r, d, q))
        self.back, self.back_z = np.zeros((r, d)), np.zeros((r, d, q))
        self.z, self.zz = np.zeros((r, q)), np.zeros((r, q, q))
        self.first: Any = None

    def add(self, rows: Array, members: Array, u: Array, back: Array) -> None:
        """Add rows with features u (m, d) and those of the way back (m, d); ``members`` (r, m)."""
        self.first = (u[0].copy(), back[0].copy()) if self.first is None else self.first
        U, B, Z, W = u - self.first[0], back - self.first[1], self.Z[rows], members.astype(np.float64)
        WZ = W[:, :, None] * Z  # (r, m, q)
        self.u += W @ U
        self.uu += W @ U**2
        self.uz += np.einsum("rmq,md->rdq", WZ, U, optimize=True)
        self.back += W @ B
        self.back_z += np.einsum("rmq,md->rdq", WZ, B, optimize=True)
        self.z += W @ Z
        self.zz += np.einsum("rmq,mp->rqp", WZ, Z)

    def records(self, names: list[str], counts: Array, features: list[str], axes: list[str]) -> dict[str, Any]:
        """Columns of the table."""
        n = np.maximum(counts, 1)[:, None]
        z = self.z / n
        covariance = self.zz / n[:, :, None] - z[:, :, None] * z[:, None, :]
        both, back = (
            sums / n[:, :, None] - (mean / n)[:, :, None] * z[:, None, :]
            for sums, mean in ((self.uz, self.u), (self.back_z, self.back))
        )
        b = back @ np.linalg.pinv(covariance, rcond=1e-10, hermitian=True)
        spread = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 0.0)[:, None, :]
        variance = np.maximum(self.uu / n - (self.u / n) ** 2, 0.0)[:, :, None]
        share = _over(2.0 * b * both - b**2 * spread, variance)
        values = {"slope": b, "standardised": b * np.sqrt(_over(spread + 0.0 * b, variance)), "share": share}
        order = np.argsort(-share, axis=1, kind="stable").transpose(0, 2, 1)  # (r, q, d)
        r, q, d = order.shape
        return {
            "region": np.repeat(np.array(names, dtype=object), q * d),
            "rows": np.repeat(counts, q * d),
            "axis": np.tile(np.repeat(np.array(axes, dtype=object), d), r),
            "feature": np.array(features, dtype=object)[order].ravel(),
            **{
                name: np.take_along_axis(value.transpose(0, 2, 1), order, axis=2).ravel()
                for name, value in values.items()
            },
        }


def _over(a: Array, b: Array) -> Array:
    b = np.broadcast_to(b, a.shape)
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0)
