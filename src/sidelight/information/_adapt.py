"""Extend fitted maps by a category of ``given`` that was not in the fit, from a few rows of it.

    minimise over a     Σ_i |y_i - a - r(z_i)|²,        z_i = backward(y_i - a),     r(z) = Σ_j w_j(z) rest_j

y (m, d) are the rows of the new category less the effect of the numbers in their ``given``, ``rest`` the rows of the
fit less their effects: the offset a brings the new rows to where rows like them are. Iterated from two starts, the mean
effect of the known categories and the mean of the new rows; the better one is kept. What a few rows cannot say is taken
from the known categories: how the effect depends on the row, and the spread of residuals, are their means.

The one-hot code of the category column becomes longer by one feature, at position ``NewGroup.at`` among all features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.changed_rows import ChangeModel
from sidelight.maps.effect import Effect
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.parzen import ParzenDensity
from sidelight.maps.weights import FixedWeights
from sidelight.neighbours.search import nearest
from sidelight.side.given import Given

from ._informed_maps import InformedMaps
from ._new_group import NewGroup

__all__ = ["Adapted", "AdaptedRows", "adapt_maps"]


_ROUNDS = 50
_CONVERGED = 1e-4  # relative change of the offset


@dataclass(frozen=True)
class AdaptedRows:
    """Rows that categories were added with, for ``overlap``.

    Parameters
    ----------
    points : array of shape (m, d)
        The rows, in units of the data frame.
    places : array of shape (m, q)
        Their latent points.
    bandwidths : array of shape (m,)
        Of the density of the data, of the fitted rows that are nearest to them on the map.
    features : array of shape (m, f)
        Their encoded ``given``.
    """

    points: Array
    places: Array
    bandwidths: Array
    features: Array

    def with_rows(self, later: AdaptedRows, at: int) -> AdaptedRows:
        """These rows and those of a category that was added after them, whose feature is at position ``at``."""
        return AdaptedRows(
            np.concatenate([self.points, later.points]),
            np.concatenate([self.places, later.places]),
            np.concatenate([self.bandwidths, later.bandwidths]),
            np.concatenate([_padded(self.features, at), later.features]),
        )

    def added_to(self, density: ParzenDensity, *, as_they_are: bool) -> ParzenDensity:
        """The density of fitted rows, or of their latent points, with the kernels of these rows."""
        own, widths = (self.points, self.bandwidths) if as_they_are else (self.places, np.ones(len(self.places)))
        points, bandwidths = np.concatenate([density.points, own]), np.concatenate([density.bandwidths, widths])
        return ParzenDensity(points, bandwidths, density.kernel)


@dataclass(frozen=True)
class Adapted:
    """The maps with the new category, its rows, and what was done, in words."""

    maps: InformedMaps
    rows: AdaptedRows
    note: str


def adapt_maps(given: Given, maps: InformedMaps, group: NewGroup, rows: Array, n_jobs: int | None) -> Adapted:
    """Add a category to maps.

    Parameters
    ----------
    given : Given
        The columns of the fit.
    maps : InformedMaps
        With an effect of ``given``.
    group : NewGroup
    rows : array of shape (m, d)
        Of the category, in units of the data frame.
    n_jobs : int or None
        Threads.
    """
    known, forward, density = maps.given, maps.plain.forward, maps.plain.density
    assert known is not None
    assert known.effect is not None
    assert known.features is not None
    assert forward is not None
    assert density is not None
    own, at = known.effect, group.at
    of_numbers = 0.0 if own.further is None else _shifted_effect(own.further, at)(group.features)
    usual = replace(own, further=None)(known.features).mean(axis=0)
    offset = _offset(maps, usual, rows - of_numbers, n_jobs)
    effect = _extended_effect(own, group, offset)
    assert isinstance(forward.weights, FixedWeights)
    inputs = _padded(forward.weights.inputs, forward.weights.inputs.shape[1] - known.features.shape[1] + at)
    weights = replace(forward.weights, inputs=inputs)
    change = None if known.change is None else _extended_change(known.change, group)
    features = _padded(known.features, at)
    extended = replace(known, effect=effect, forward_effect=effect, features=features, change=change)
    whole = InformedMaps(replace(maps.plain, forward=replace(forward, weights=weights)), extended)
    places = maps.plain.backward(rows - effect.at_rows(rows, group.features), n_jobs)
    near = nearest(maps.plain.latent_density.points, places, k=1, n_jobs=n_jobs).index[:, 0]
    column = given.columns[group.place]
    note = (
        f"{column.name} = {group.value!r}: its offset is from {len(rows)} rows; its spread, and how its effect depends "
        f"on the row, are the means of the {len(column.categories)} categories of the fit"
    )
    return Adapted(whole, AdaptedRows(rows, places, density.bandwidths[near], group.features), note)


def _offset(maps: InformedMaps, usual: Array, rows: Array, n_jobs: int | None) -> Array:
    """The offset (d,) of new rows, the better of two starts; ``usual`` (d,): the mean one of the fitted rows."""
    forward, known = maps.plain.forward, maps.given
    assert forward is not None
    assert known is not None
    near = KernelMap(known.marginal_forward.weights, forward.outputs)
    best: tuple[float, Array] | None = None
    for start in (usual, rows.mean(axis=0) - forward.outputs.mean(axis=0)):
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


def _padded(rows: Array, at: int) -> Array:
    """Rows with a column of zeros inserted: the code of the new category."""
    return np.insert(rows, at, 0.0, axis=1)


def _shifted_effect(effect: Effect, at: int) -> Effect:
    """An effect of other features, after the feature of the new category was inserted."""
    assert effect.columns is not None
    return replace(effect, columns=effect.columns + (effect.columns >= at))


def _extended_effect(effect: Effect, group: NewGroup, offset: Array) -> Effect:
    """The effect with the offset (d,) of the new category."""
    at, own, columns = group.at, group.at, effect.columns
    if columns is not None:
        own = int((columns < at).sum())
        columns = np.insert(columns + (columns >= at), own, at)
    code = group.features[:1] if columns is None else group.features[:1, columns]
    local = effect.local
    if local is not None:
        local = replace(
            local, offsets=np.concatenate([local.offsets, local.offsets.mean(axis=1, keepdims=True)], axis=1)
        )
    return Effect(
        np.concatenate([_padded(effect.landmarks, own), code]),
        effect.bandwidth,
        np.concatenate([effect.coefficients, offset[None]]),
        local,
        columns,
        None if effect.further is None else _shifted_effect(effect.further, at),
    )


def _extended_change(change: ChangeModel, group: NewGroup) -> ChangeModel:
    """The change with a group that has the mean of the others."""

    def with_mean(values: Array) -> Array:
        return np.concatenate([values, values.mean(axis=0, keepdims=True)])

    n_groups = len(change.groups)
    blocks = change.coefficients.reshape(n_groups, -1, change.coefficients.shape[1])
    return replace(
        change,
        groups=np.concatenate([_padded(change.groups, group.at), group.features.mean(axis=0, keepdims=True)]),
        coefficients=with_mean(blocks).reshape(-1, change.coefficients.shape[1]),
        scales=with_mean(change.scales),
        variance=with_mean(change.variance),
    )
