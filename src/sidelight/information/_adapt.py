"""Extend fitted maps by a category of ``given`` that was not in the fit, from a few rows of it.

    minimise over a     Σ_i |y_i - a - r(z_i)|²,        z_i = backward(y_i - a),     r(z) = Σ_j w_j(z) rest_j

y (m, d) are the rows of the new category less the effect of the numbers in their ``given``, ``rest`` the rows of the
fit less their effects: the offset a brings the new rows to where rows like them are. Iterated from two starts, the mean
effect of the known categories and the mean of the new rows; the better one is kept. What a few rows cannot say is taken
from the known categories: how the effect depends on the row, and the spread of residuals, are their means.

With several columns of categories, which have an offset for each combination, those of the fit are described by
offset = a(category) + b(values of the other columns), least squares by their numbers of rows; b is taken off the new
rows first, and the new category has the offset a + b with every combination of the other columns. That its effect
depends on them is more than a few rows can say.

The one-hot code of the category column becomes longer by one feature, at position ``NewGroup.at`` among all features.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.messages import count_of
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

    def added_to(self, density: ParzenDensity, *, in_data: bool) -> ParzenDensity:
        """The density of fitted rows, or of their latent points, with the kernels of these rows."""
        own, widths = (self.points, self.bandwidths) if in_data else (self.places, np.ones(len(self.places)))
        points, bandwidths = np.concatenate([density.points, own]), np.concatenate([density.bandwidths, widths])
        return ParzenDensity(points, bandwidths, density.kernel)


@dataclass(frozen=True)
class Adapted:
    """The maps with the new category, its rows, and a description in words."""

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
    table = _combinations(own, known.features, group)
    usual = (replace(own, further=None)(known.features) - table.of_fitted).mean(axis=0)
    offset = _offset(maps, usual, rows - of_numbers - table.of_rows, n_jobs)
    effect = _extended_effect(own, group, table, offset)
    assert isinstance(forward.weights, FixedWeights)
    inputs = _padded(forward.weights.inputs, forward.weights.inputs.shape[1] - known.features.shape[1] + at)
    weights = replace(forward.weights, inputs=inputs)
    change = None if known.change is None else _extended_change(known.change, group, table)
    features = _padded(known.features, at)
    extended = replace(known, effect=effect, forward_effect=effect, features=features, change=change)
    whole = InformedMaps(replace(maps.plain, forward=replace(forward, weights=weights)), extended)
    places = maps.plain.backward(rows - effect.at_rows(rows, group.features), n_jobs)
    near = nearest(maps.plain.latent_density.points, places, k=1, n_jobs=n_jobs).index[:, 0]
    return Adapted(whole, AdaptedRows(rows, places, density.bandwidths[near], group.features), _note(given, group))


def _note(given: Given, group: NewGroup) -> str:
    """Describe the adaptation in words."""
    column, n, also = given.columns[group.place], len(group.features), ""
    if group.others:
        also = f", the same with every value of {', '.join(map(repr, group.others))}"
    return (
        f"{column.name} = {group.value!r}: its offset is from {count_of(n, 'row')}{also}; its spread, and how its "
        f"effect depends on the row, are the means of the {len(column.categories)} categories of the fit"
    )


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


@dataclass(frozen=True)
class _Combinations:
    """A new category with every combination of values of the other columns of categories (one if there are none).

    Parameters
    ----------
    landmarks : array of shape (C, f + 1)
        The groups of the fit, with the feature of the new category; f features are those of categories.
    codes : array of shape (k, f + 1)
        The new category with each combination.
    columns : array of shape (f + 1,) or None
        Which of all features these are; None: all.
    of_others : array of bool, of shape (f + 1,)
    of_fitted, of_rows, of_codes : arrays of shape (n, d), (m, d), (k, d)
        What the other columns add to the offset: for fitted rows, new rows, and the combinations.
    """

    landmarks: Array
    codes: Array
    columns: Array | None
    of_others: Array
    of_fitted: Array
    of_rows: Array
    of_codes: Array

    def means(self, values: Array, groups: Array) -> Array:
        """Values (C', ...) of groups (C', f + 1) with the same other columns in the mean, for each combination."""
        out = []
        for code in self.codes:
            same = np.isclose(groups[:, self.of_others], code[self.of_others]).all(axis=1)
            out.append(values[same].mean(axis=0) if same.any() else values.mean(axis=0))
        return np.stack(out)


def _combinations(effect: Effect, features: Array, group: NewGroup) -> _Combinations:
    """The combinations of the fit and of the new rows; ``features`` (n, f) are those of the fitted rows."""
    at, columns = group.at, effect.columns
    if columns is not None:
        columns = np.insert(columns + (columns >= at), int((columns < at).sum()), at)
    chosen = slice(None) if columns is None else columns
    of_others, new = group.of_others[chosen], group.features[:, chosen]
    fitted = _padded(features, at)[:, chosen]
    landmarks = _padded(effect.landmarks, int(np.flatnonzero(np.arange(group.features.shape[1])[chosen] == at)[0]))
    swapped = np.where(of_others, landmarks, new[:1])
    codes = np.unique(np.concatenate([swapped, new]), axis=0)
    if not of_others.any():
        zeros = (np.zeros((len(some), effect.coefficients.shape[1])) for some in (fitted, new, codes))
        return _Combinations(landmarks, codes, columns, of_others, *zeros)
    counts = effect.members(features).sum(axis=0)
    root = np.sqrt(counts)[:, None]
    slopes = np.linalg.lstsq(root * landmarks, root * effect.coefficients, rcond=None)[0][of_others]
    centre = np.average(landmarks[:, of_others], axis=0, weights=counts)
    added = ((some[:, of_others] - centre) @ slopes for some in (fitted, new, codes))
    return _Combinations(landmarks, codes, columns, of_others, *added)


def _extended_effect(effect: Effect, group: NewGroup, table: _Combinations, offset: Array) -> Effect:
    """The effect with the offset (d,) of the new category."""
    local = effect.local
    if local is not None:
        further = np.stack([table.means(of_part, table.landmarks) for of_part in local.offsets])
        local = replace(local, offsets=np.concatenate([local.offsets, further], axis=1))
    return Effect(
        np.concatenate([table.landmarks, table.codes]),
        effect.bandwidth,
        np.concatenate([effect.coefficients, offset + table.of_codes]),
        local,
        table.columns,
        None if effect.further is None else _shifted_effect(effect.further, group.at),
    )


def _extended_change(change: ChangeModel, group: NewGroup, table: _Combinations) -> ChangeModel:
    """The change with groups that have the mean of the others."""
    chosen = slice(None) if table.columns is None else table.columns
    known = _padded(change.groups, group.at)
    new = np.repeat(group.features.mean(axis=0, keepdims=True), len(table.codes), axis=0)
    new[:, chosen] = table.codes

    def with_means(values: Array) -> Array:
        return np.concatenate([values, table.means(values, known[:, chosen])])

    blocks = change.coefficients.reshape(len(known), -1, change.coefficients.shape[1])
    return replace(
        change,
        groups=np.concatenate([known, new]),
        coefficients=with_means(blocks).reshape(-1, change.coefficients.shape[1]),
        scales=with_means(change.scales),
        variance=with_means(change.variance),
    )
