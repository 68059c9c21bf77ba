"""Whether other rows of the same kind would make the same map: maps of random halves of the rows.

For each half the model is fitted again with its own settings, and its ``transform`` places all rows, z' (n, q):

    stable      how far the neighbours of row i on the map are its neighbours in z' (``kept`` of ``_row_parts``)
    displaced   |z_i - T(z'_i)| / δ      T: Procrustes (turn, mirror, scale and shift); δ: median distance on the map

``stable`` says whether a row has the same neighbours in another map, wherever these are; ``displaced`` whether it has
the same place. Both are means over the halves.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import as_chain, last_step_of
from sidelight.base.messages import error_message
from sidelight.maps.rigid import fit_rigid
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.two_way.two_way_embedding import TwoWayEmbedding

from ._mapped_rows import Read, rows_before
from ._reading import take_rows
from ._row_parts import MappedRows, row_parts, surroundings, typical_distance

__all__ = ["halves", "resampled"]

Array = npt.NDArray[Any]


def resampled(
    places: Array, refit: Callable[[Array], Array], count: int, rng: np.random.RandomState, n_jobs: int | None
) -> tuple[Array, Array]:
    """``stable`` and ``displaced`` (n,) of rows at ``places`` (n, q), over ``count`` maps.

    ``refit(half)`` fits the rows with these numbers, and returns the places of all rows (n, q).
    """
    n = len(places)
    typical = max(typical_distance(places, rng), 1e-300)
    stable, displaced = np.zeros(n), np.zeros(n)
    for _ in range(count):
        half = np.sort(rng.choice(n, size=(n + 1) // 2, replace=False))
        other = refit(half)
        stable += row_parts(surroundings(MappedRows(places, other), None, n_jobs), rng, n_jobs).kept
        displaced += np.sqrt(((places - _aligned(other, places)) ** 2).sum(axis=1)) / typical
    return stable / count, displaced / count


def halves(owner: str, model: Any, X: Any, given: Any, read: Read, n_jobs: int | None) -> Callable[[Array], Array]:
    """The function ``refit`` of a model, which is fitted anew with its parameters; refuses where that cannot be."""
    chain = as_chain(model)
    last = last_step_of(chain)
    reason = _why_not(last, X, read)
    if reason is not None:
        raise ValueError(error_message(owner, "bootstrap", "a number of maps", *reason))
    rows = rows_before(chain, X)

    def refit(half: Array) -> Array:
        again = clone(last)
        if "n_jobs" in again.get_params(deep=False):
            again.set_params(n_jobs=n_jobs)
        start = again.get_params(deep=False).get("init")
        if start is not None and not isinstance(start, str):
            again.set_params(init=np.asarray(start)[half])
        side = {} if given is None else {"given": given}
        again.fit(take_rows(rows, half), **_taken(side, half))
        return _places_of_all(again, rows, side, half, len(read.rows))

    return refit


def _places_of_all(model: Any, rows: Any, side: dict[str, Any], half: Array, n: int) -> Array:
    """Places (n, q) of all rows on the map of a half of them.

    Rows of the half have theirs on the map: ``transform``, which costs as much as the fit, would find the same.
    """
    if not isinstance(model, TwoWayMixin) or not capabilities(model).has_embedding:
        return np.asarray(model.transform(rows, **side), dtype=np.float64)
    others = np.setdiff1d(np.arange(n), half, assume_unique=True)
    places = np.empty((n, model.embedding_.shape[1]))
    places[half] = model.embedding_
    places[others] = model.transform(take_rows(rows, others), **_taken(side, others))
    return places


def _taken(side: dict[str, Any], rows: Array) -> dict[str, Any]:
    """Side information of some rows."""
    return {name: take_rows(known, rows) for name, known in side.items()}


def _why_not(last: Any, X: Any, read: Read) -> tuple[str, str] | None:
    if X is None or read.asked is not None:
        return "fits the model again, which needs the rows of its fit", "Give these as X"
    if isinstance(last, TwoWayEmbedding) and not hasattr(last, "estimator_"):
        return "cannot fit an embedding again that was handed in", "Leave bootstrap out, or give an estimator"
    if not capabilities(last).has_transform:
        return "needs a transform, which the model lacks", "Leave bootstrap out, or use TwoWayEmbedding"
    return None


def _aligned(other: Array, Z: Array) -> Array:
    """Places of another map (n, q) of the same rows, turned, mirrored, scaled and shifted onto Z (n, q)."""
    centre, from_centre = Z.mean(axis=0), other - other.mean(axis=0)
    square = max(float((from_centre**2).sum()), 1e-300)
    turned = fit_rigid(from_centre, Z - centre)(from_centre)
    return np.asarray(centre + turned * (float((turned * (Z - centre)).sum()) / square))
