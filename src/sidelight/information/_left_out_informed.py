"""Training rows that are mapped to latent points and back as if they were new, with or without their ``given``.

With ``given``: by the maps conditional on it. Without: by those that average over it. The effect of ``given`` is not
estimated again: it is that of whole groups.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.interpolation import BackwardMap
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.left_out_entries import fill_without, hidden_errors
from sidelight.maps.left_out_rows import LeftOutRows, fit_allowance, in_folds, left_out_rows
from sidelight.maps.missing import LocalFill
from sidelight.maps.without_rows import backward_without, inputs_of, kernel_map_without

from ._informed_maps import GivenMaps, InformedMaps

__all__ = ["left_out_gaps", "left_out_informed"]


def left_out_informed(
    maps: InformedMaps, *, given: bool, placed_by_given: bool | None = None, n_jobs: int | None
) -> LeftOutRows:
    """Places and errors of left-out rows.

    Parameters
    ----------
    maps : InformedMaps
    given : bool
        Whether rows are reconstructed for their own ``given``, which the model must hold.
    placed_by_given : bool or None
        Whether they are placed with it; None: as they are reconstructed.
    n_jobs : int or None
        Threads.
    """
    known, forward = maps.given, maps.plain.forward
    if known is None:
        return left_out_rows(maps.plain, n_jobs, arranged=True)
    assert forward is not None
    backward = _backward(maps, known, given=given if placed_by_given is None else placed_by_given)
    X, Z, P = inputs_of(backward), backward.outputs, known.marginal_forward.outputs

    def answer(kept: Array, rows: Array) -> tuple[Array, ...]:
        placed = backward_without(backward, kept, X[rows])(X[rows], n_jobs)
        if given:
            found = _conditional(forward, known, kept, rows, placed, n_jobs)
        else:
            found = kernel_map_without(known.marginal_forward, kept)(placed, n_jobs)
        return rows, placed, placed - Z[rows], P[rows] - found

    found = LeftOutRows(*in_folds(len(P), P.shape[1], answer))
    if not given:
        return replace(found, errors=fit_allowance(known.marginal_forward, found.places) * found.errors)
    assert known.features is not None
    inputs = np.column_stack([found.places, known.scale * known.features[found.rows]])
    return replace(found, errors=fit_allowance(forward, inputs) * found.errors)


def _backward(maps: InformedMaps, known: GivenMaps, *, given: bool) -> BackwardMap:
    """The map that ``InformedMaps.backward`` takes for rows with and without ``given``."""
    if known.product is not None:
        return known.product.backward if given else maps.plain.backward
    return maps.plain.backward if given or known.effect is None else known.marginal


def _conditional(
    forward: KernelMap, known: GivenMaps, kept: Array, rows: Array, placed: Array, n_jobs: int | None
) -> Array:
    """Rows at the places (m, q) for the ``given`` of ``rows`` (m,), by the forward map on the rows ``kept``."""
    assert known.features is not None
    features = known.features[rows]
    found = kernel_map_without(forward, kept)(np.column_stack([placed, known.scale * features]), n_jobs)
    return np.asarray(found if known.forward_effect is None else known.forward_effect.at_rest(found, features) + found)


def left_out_gaps(fill: LocalFill, maps: InformedMaps, rounds: int, n_jobs: int | None) -> Array:
    """Errors (k, d) of entries hidden in left-out rows, as multiples of their standard deviations; else NaN.

    With ``rounds`` the entries are replaced by projections of the rows, so often, as ``missing="project"`` does.
    """
    X = fill.rows * fill.scale + fill.centre
    known, frame = maps.given, maps.plain.frame
    backward = maps.plain.backward if known is None else _backward(maps, known, given=False)
    forward = maps.plain.forward if known is None else known.marginal_forward

    def predict(kept: Array, queries: Array) -> tuple[Array, Array]:
        filled, variance = fill_without(fill, kept, n_jobs).moments(queries, n_jobs)
        if not rounds:
            return filled, variance
        assert forward is not None
        back = kernel_map_without(forward, kept)
        for _ in range(rounds):
            points = frame.points(filled)
            placed = backward_without(backward, kept, points)(points, n_jobs)
            filled = np.where(np.isnan(queries), frame.outside(back(placed, n_jobs)), queries)
        return filled, maps.variance(maps.plain.latent_frame.outside(placed), None, n_jobs)

    return hidden_errors(X, fill.observed, predict)
