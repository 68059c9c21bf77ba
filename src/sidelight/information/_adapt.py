"""Extend fitted maps by a category of ``given`` that was not in the fit, from a few rows of it.

    minimise over a     Σ_i |y_i - a - r(z_i)|²,        z_i = backward(y_i - a),     r(z) = Σ_j w_j(z) rest_j

y (m, d) are the rows of the new category, ``rest`` the rows of the fit less their effects: the offset a brings the new
rows to where rows like them are. Iterated from two starts, the mean effect of the known categories and the mean of the
new rows; the better one is kept. What a few rows cannot say is taken from the known categories: how the effect depends
on the row, and the spread of residuals, are their means.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.changed_rows import ChangeModel
from sidelight.maps.effect import Effect
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.weights import FixedWeights
from sidelight.side.given import Given

from ._informed_maps import InformedMaps

__all__ = ["Adapted", "adapt_maps"]


_ROUNDS = 50
_CONVERGED = 1e-4  # relative change of the offset


@dataclass(frozen=True)
class Adapted:
    """The columns of ``given`` and the maps with the new category, and what was done, in words."""

    given: Given
    maps: InformedMaps
    note: str


def adapt_maps(given: Given, maps: InformedMaps, value: object, rows: Array, n_jobs: int | None) -> Adapted:
    """Add the category ``value`` of the one column of ``given``, of which ``rows`` (m, d) in the data frame are known.

    Parameters
    ----------
    given : Given
        Of one column, of categories without a kernel matrix.
    maps : InformedMaps
        With an effect of ``given``.
    value : scalar
    rows : array of shape (m, d)
    n_jobs : int or None
        Threads.
    """
    known, forward = maps.given, maps.plain.forward
    assert known is not None
    assert known.effect is not None
    assert known.features is not None
    assert forward is not None
    offset = _offset(maps, known.effect, rows, n_jobs)
    column = given.columns[0]
    wider = replace(column, categories=(*column.categories, value))
    code = wider.features(np.array([float(len(column.categories))]))
    effect = _extended_effect(known.effect, code, offset)
    assert isinstance(forward.weights, FixedWeights)
    weights = replace(forward.weights, inputs=_padded(forward.weights.inputs))
    change = None if known.change is None else _extended_change(known.change, code)
    extended = replace(known, effect=effect, forward_effect=effect, features=_padded(known.features), change=change)
    whole = InformedMaps(replace(maps.plain, forward=replace(forward, weights=weights)), extended)
    note = (
        f"{column.name} = {value!r}: its offset is from {len(rows)} rows; its spread, and how its effect depends on "
        f"the row, are the means of the {len(column.categories)} categories of the fit"
    )
    return Adapted(replace(given, columns=(wider,)), whole, note)


def _offset(maps: InformedMaps, effect: Effect, rows: Array, n_jobs: int | None) -> Array:
    """The offset (d,) of new rows, the better of two starts."""
    forward, known = maps.plain.forward, maps.given
    assert forward is not None
    assert known is not None
    near = KernelMap(known.marginal_forward.weights, forward.outputs)
    best: tuple[float, Array] | None = None
    assert known.features is not None
    for start in (effect(known.features).mean(axis=0), rows.mean(axis=0) - forward.outputs.mean(axis=0)):
        offset = start
        for _ in range(_ROUNDS):
            expected = near(maps.plain.backward(rows - offset, n_jobs), n_jobs)
            found = np.asarray((rows - expected).mean(axis=0))
            change = float(np.linalg.norm(found - offset))
            offset = found
            if change <= _CONVERGED * float(np.linalg.norm(offset)):
                break
        expected = near(maps.plain.backward(rows - offset, n_jobs), n_jobs)
        error = float(np.mean(np.square(rows - offset - expected)))
        if best is None or error < 0.99 * best[0]:  # the mean effect of known categories, unless clearly worse
            best = error, offset
    assert best is not None
    return best[1]


def _padded(rows: Array) -> Array:
    """Rows with a column of zeros appended: the code of the new category."""
    return np.column_stack([rows, np.zeros(len(rows), dtype=rows.dtype)])


def _extended_effect(effect: Effect, code: Array, offset: Array) -> Effect:
    landmarks = np.concatenate([_padded(effect.landmarks), code])
    local = effect.local
    if local is not None:
        local = replace(
            local, offsets=np.concatenate([local.offsets, local.offsets.mean(axis=1, keepdims=True)], axis=1)
        )
    return Effect(landmarks, effect.bandwidth, np.concatenate([effect.coefficients, offset[None]]), local)


def _extended_change(change: ChangeModel, code: Array) -> ChangeModel:
    """The change with a group that has the mean of the others."""

    def with_mean(values: Array) -> Array:
        return np.concatenate([values, values.mean(axis=0, keepdims=True)])

    n_groups = len(change.groups)
    blocks = change.coefficients.reshape(n_groups, -1, change.coefficients.shape[1])
    return replace(
        change,
        groups=np.concatenate([_padded(change.groups), code]),
        coefficients=with_mean(blocks).reshape(-1, change.coefficients.shape[1]),
        scales=with_mean(change.scales),
        variance=with_mean(change.variance),
    )
