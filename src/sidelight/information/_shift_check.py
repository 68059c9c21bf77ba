"""Sentences and a warning for groups that differ from others by more than a shift (``maps.group_relations``)."""

from __future__ import annotations

from collections.abc import Sequence

from sidelight.base.messages import error_message
from sidelight.base.warnings import DesignWarning, warn
from sidelight.maps.group_relations import GroupRelation
from sidelight.maps.truncated import TruncatedBasis
from sidelight.neighbours.strata import codes_of

from ._representation import group_name
from ._training import TrainingRows

__all__ = ["warn_of_no_shift"]

_LOOKS = {
    "inverted": ("inverted about their mean", "Change their signs in X before the fit"),
    "scaled": (
        "{factor:.2g} times as large",
        "Divide them in X by this factor, or standardise each group, before the fit",
    ),
    "inverted and scaled": ("multiplied by -{factor:.2g}", "Divide them in X by this number before the fit"),
    "mirrored": ("mirrored", "Mirror these pictures before the fit"),
    "upside down": ("upside down", "Turn these pictures over before the fit"),
}


def warn_of_no_shift(
    owner: str, relations: Sequence[GroupRelation], training: TrainingRows, reduction: TruncatedBasis | None
) -> list[str]:
    """Return a sentence for each relation between groups of the fitted rows, and warn (``DesignWarning``) of it.

    With a ``reduction`` (sparse rows) columns are not those of X, and relations of single columns are left out.
    """
    given, known = training.given, training.known
    if given is None or known is None or not relations:
        return []
    values, found = known.values[training.fitted], []
    first = {code: row for row, code in reversed(list(enumerate(codes_of(values).tolist())))}
    for one in relations:
        if one.column is not None and reduction is not None:
            continue
        name, other = (group_name(given, values[first[code]]) for code in (one.group, one.reference))
        look, remedy = _LOOKS[one.what]
        what = "rows" if one.column is None else f"entries in column {one.column} (counted from 0)"
        rule = (
            f"differs from {other} by more than a shift: its {what} look {look.format(factor=one.factor)}, so that "
            "neighbours of both groups on the map do not correspond"
        )
        warn(error_message(owner, "given", name, rule, f"{remedy}, or pass corresponding rows as same="), DesignWarning)
        found.append(f"{name} {rule}")
    return found
