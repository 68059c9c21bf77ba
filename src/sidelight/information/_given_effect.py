"""What ``given`` does to the rows of a fit, and how far these are represented in its groups.

categories            offsets of groups (``maps.effect``)
numbers               a smooth effect among rows of the same kind (``maps.smooth_effect``)
both                  offsets plus such an effect, found in turns: x ≈ offset(category) + f(numbers) + rest

Where groups cannot be compared after that (``_representation``; pictures of unlike objects), nothing tells kinds from
effects, and the effect of numbers, or of both together, is the regression over all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.effect import Effect, category_effect, subtract_effect
from sidelight.maps.smooth_effect import effect_within_kinds, smooth_effect
from sidelight.side.given import Given

from ._representation import Representation, representation_of

__all__ = ["EffectOnRows", "effect_on_rows"]


@dataclass(frozen=True)
class EffectOnRows:
    """An effect of ``given``, the rows less it (n, d), and their representation in the groups.

    ``confounded``: whether matched rows decided on the offsets. ``there`` is None where groups cannot be compared.
    """

    effect: Effect
    rest: Array
    confounded: bool
    there: Representation | None


def effect_on_rows(
    points: Array,
    given: Given,
    features: Array,
    categories: Array,
    strata: Array,
    *,
    compared: bool = True,
    n_jobs: int | None = None,
) -> EffectOnRows:
    """Estimate the effect.

    Parameters
    ----------
    points : array of shape (n, d)
    given : Given
    features : array of shape (n, f)
        Encoded ``given``.
    categories, strata : arrays of shape (n,)
        Group of each row by its categories, and by numbers as well.
    compared : bool
        Whether to ask how far rows are represented in the groups.
    n_jobs : int or None
        Threads.
    """

    def found(effect: Effect, confounded: bool, codes: Array, *, numbers: bool = False) -> EffectOnRows:
        rest, there = subtract_effect(points, effect, features), None
        if compared:
            there = representation_of(rest, codes, matched=confounded, numbers=numbers, n_jobs=n_jobs)
        return EffectOnRows(effect, rest, confounded, there)

    if given.categorical:
        return found(*category_effect(points, features, categories, n_jobs), categories)
    if categories.any():
        first = found(*_summed(points, features, given.of_categories, categories, n_jobs), categories)
    else:
        first = found(effect_within_kinds(points, features), False, strata, numbers=True)
    if first.there is not None:
        return first
    effect = smooth_effect(points, features)
    return EffectOnRows(effect, subtract_effect(points, effect, features), False, None)


def _summed(
    points: Array, features: Array, of_categories: Array, categories: Array, n_jobs: int | None
) -> tuple[Effect, bool]:
    """Offsets of categories plus the effect of numbers; ``of_categories`` (f,) says which features are categories'."""
    names, numbers = np.flatnonzero(of_categories), np.flatnonzero(~of_categories)
    first, _ = category_effect(points, features[:, names], categories, n_jobs)
    smooth = effect_within_kinds(subtract_effect(points, first, features[:, names]), features[:, numbers])
    smooth = replace(smooth, columns=numbers)
    offsets, confounded = category_effect(
        subtract_effect(points, smooth, features), features[:, names], categories, n_jobs
    )
    return replace(offsets, columns=names, further=smooth), confounded
