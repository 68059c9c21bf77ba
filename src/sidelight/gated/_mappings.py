"""Mapping units at every patch of fields: validated, and repeated for fields of other sizes."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.types import Array

from ._fields import Fields

__all__ = ["codes_for_new_sites", "given_mappings"]


Places = list[tuple[int, ...]]


def given_mappings(owner: object, mapping: Iterable[npt.ArrayLike], places: Places, k: int, structure: str) -> Fields:
    """Validate mapping units for all patches (``places``) of each sample; one row of ``k`` is repeated for all."""
    wanted = [(*shape, k) for shape in places]
    listed = [np.asarray(part) for part in mapping]
    if len(listed) == k and all(part.ndim == 0 for part in listed):
        listed = [np.broadcast_to(np.array(listed), shape) for shape in wanted]
    if [part.shape for part in listed] != wanted:
        rule = f"does not match the places of X {wanted}"
        seen = f"arrays of shapes {[part.shape for part in listed]}"
        raise ValueError(error_message(owner, "mapping", seen, rule, "Give what infer returns, or one row of it"))
    shaped = (part[:, None] if structure == "sequence" else part for part in listed)
    return Fields(tuple(shaped), structure, False, False)


def codes_for_new_sites(owner: object, codes: list[Array], places: Places) -> list[Array]:
    """Codes of one pair, or of one pair for each sample, cropped or tiled to other numbers of patches (``places``)."""
    if len(codes) not in (1, len(places)):
        rule = f"does not match the {len(places)} samples of X_new"
        raise ValueError(error_message(owner, "X", f"{len(codes)} pairs", rule, "Give one pair, or one for each"))
    codes = codes * len(places) if len(codes) == 1 else codes
    return [_repeated(z, shape) for z, shape in zip(codes, places, strict=True)]


def _repeated(codes: Array, places: tuple[int, ...]) -> Array:
    steps = (np.arange(wanted) % length for wanted, length in zip(places, codes.shape, strict=False))
    return np.asarray(codes[np.ix_(*steps)])
