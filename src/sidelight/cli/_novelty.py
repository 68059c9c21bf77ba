"""Columns that say which rows or latent points are unlike the training rows, and refusals to extrapolate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sidelight.base.capabilities import capabilities
from sidelight.base.model import FittedModel
from sidelight.maps.overlap import UNUSUAL, extrapolates

from ._output import CommandError, Output

__all__ = ["add_latent_novelty", "add_novelty", "refuse_extrapolation"]


def add_novelty(talk: Output, frame: pd.DataFrame, model: FittedModel, X: Any) -> None:
    """Add the columns ``density`` (share of training rows of lower density) and ``unusual`` (below 0.01) of rows."""
    if capabilities(model).has_typicality:
        _add(
            talk,
            frame,
            model.typicality(X),
            "rows",
            "unlike the rows of the fit; where such a row is placed means little",
        )


def add_latent_novelty(talk: Output, frame: pd.DataFrame, model: FittedModel, Z: Any) -> None:
    """Add the same columns for latent points that are mapped back."""
    if capabilities(model).has_latent_typicality:
        share = model.latent_typicality(Z)
        _add(talk, frame, share, "points", "outside the map; the rows there are those of its edge")


def _add(talk: Output, frame: pd.DataFrame, share: Any, what: str, rule: str) -> None:
    unusual = np.asarray(share) < UNUSUAL
    for name, values in (("density", np.asarray(share)), ("unusual", unusual)):
        frame[name if name not in frame.columns else f"model_{name}"] = values
    talk.answer["unusual"] = int(unusual.sum())
    if unusual.any():
        verb = "is" if unusual.sum() == 1 else "are"
        talk.say(f"{int(unusual.sum())} of {len(unusual)} {what} {verb} {rule} (column unusual)")


def refuse_extrapolation(
    talk: Output, model: FittedModel, X: Any, side: dict[str, Any], now: dict[str, Any], *, force: bool
) -> None:
    """Raise where a counterfactual asks for a value that was never seen near most of the rows, unless forced.

    ``side`` holds the ``given`` asked for, ``now`` that of the rows, or nothing.
    What is not refused is said: how many rows are extrapolated, and whether the value was seen too rarely to know.
    """
    if not side or not capabilities(model).has_overlap:
        return
    overlap = model.overlap(X, given=side["given"], given_now=now.get("given"))
    far, unknown = int((overlap < UNUSUAL).sum()), int(np.isnan(overlap).sum())
    talk.answer |= {"extrapolated": far, "overlap_unknown": unknown}
    if extrapolates(overlap) and not force:
        raise CommandError(
            f"counterfactual: no rows like {far} of the {len(overlap)} were seen with that value, so the answer would "
            "be an extrapolation; leave these rows out, or use --force to see it"
        )
    if far:
        talk.say(
            f"no rows like {far} of the {len(overlap)} were seen with that value: their answers are extrapolations"
        )
    if unknown:
        talk.say(f"{unknown} of {len(overlap)}: fewer than ten rows were seen with that value, too few to rely on")
