"""Tables of attributions in sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._reliable_words import believed

__all__ = ["in_words"]

_NAMED = 4  # features that a sentence names
_SHARE = 0.1  # least share of a feature that follows an axis
_RATE = 0.05  # false discovery rate of features that make a difference


def in_words(table: Any) -> list[str]:
    """Sentences about a table of :func:`axes`, of :func:`difference` and its kin, or of :func:`reliability`.

    See Also
    --------
    axes : A table to say.
    groups : A table to say.

    Examples
    --------
    >>> from sidelight import ProbabilisticPCA, explain
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [5.0, 1.0, 0.1]
    >>> explain.in_words(explain.axes(ProbabilisticPCA(1).fit(X), X))
    ['Axis 1: rises 0 (share 1.00). 1 of 3 features follow it with a share above 0.1.']
    """
    columns = {name: np.asarray(table[name]) for name in table.columns}
    if "reliability" in columns:
        return believed(columns)
    of_axes = "share" in columns
    outer = columns["region" if of_axes else "group"] if of_axes or "group" in columns else np.full(len(table), "")
    sentences = []
    for part in dict.fromkeys(outer.tolist()):
        for axis in dict.fromkeys(columns["axis"].tolist()):
            at = (outer == part) & (columns["axis"] == axis)
            some = {name: values[at] for name, values in columns.items()}
            place = f"Axis {axis}" + (f", {part}" if part not in ("", "whole map") else "")
            sentences.append(f"{place}: {_followers(some) if of_axes else _contributors(some)}")
    return sentences


def _followers(some: dict[str, Any]) -> str:
    following = some["share"] > _SHARE
    if not following.any():
        return "no feature follows it with a share above 0.1 in a straight line."
    named = []
    for word, sign in (("rises", 1), ("falls", -1)):
        chosen = np.flatnonzero(following & (np.sign(some["slope"]) == sign))[:_NAMED]
        if len(chosen):
            named.append(f"{word} " + ", ".join(f"{some['feature'][k]} (share {some['share'][k]:.2f})" for k in chosen))
    count = f"{int(following.sum())} of {len(following)} features follow it with a share above 0.1."
    return f"{'; '.join(named)}. {count}"


def _contributors(some: dict[str, Any]) -> str:
    total = float(np.nansum(some["contribution"]))
    real = ~np.isnan(some["difference"])
    tested = real & (some["fdr"] == some["fdr"])
    sure = tested & (some["fdr"] <= _RATE) if tested.any() else real
    chosen = np.flatnonzero(sure)[:_NAMED]
    named = ", ".join(f"{some['feature'][k]} ({some['contribution'][k]:+.3g})" for k in chosen) or "no feature"
    count = (
        f" {int(sure.sum())} of {int(real.sum())} features differ at a false discovery rate of 0.05."
        if tested.any()
        else ""
    )
    return f"differs by {total:+.3g}, of which {named}.{count}"
