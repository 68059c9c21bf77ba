"""The problem of an informed embedding: the data less the effect of ``given``, a balanced kernel, and the objective.

With x̃ = x - effect(given), K the balanced kernel of x̃ and G the kernel of ``given``,

    maximise  I(X̃; Z) - μ I(G; Z)  =  (1 - μ) H(Z) - H(X̃, Z) + μ H(G, Z)  + constants

μ = 1 is the published conditional objective H(G,Z) - H(G,X,Z) (S0 3.2, S1 §3) with the kernel of the residual in
the place of the product: decision 0006 says what each part is worth. ``conditioning="product"`` is the published one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ._messages import complain
from .kernels.balanced import balanced_kernel
from .kernels.data_kernel import DataKernel
from .kernels.hints import with_hints
from .kernels.known import given_kernel, strata_of
from .maps.effect import Effect, category_effect, local_effect, smooth_effect
from .objectives.entropy import Entropy, conditional_information, informed_information
from .side.given import Given, Known

__all__ = ["Informed", "inform"]

Array = npt.NDArray[Any]
_ROUNDING = 1e-20  # share of the power of the data below which a residual of means is rounding
_REGRESSION = 1e-6  # and one of a regression its bias: measured on functions of one and two numbers, at most 5e-7


@dataclass(frozen=True)
class Informed:
    """What is solved: ``points`` are the residual rows, ``effect`` what was taken from them (None: nothing)."""

    points: Array
    kernel: DataKernel
    terms: list[Entropy]
    effect: Effect | None
    confounded: bool
    explained: float
    again: Callable[[Array], Informed] | None = None


def inform(model: Any, points: Array, given: Given, known: Known, hints: Array | None) -> Informed:
    """Build the problem for rows whose ``given`` is known; ``hints`` (m, 2) are rows that correspond."""
    hints = None if hints is None or len(hints) == 0 else hints
    _check_balanced(model, hints)
    G = cache(lambda: given_kernel(known.features, model.n_jobs))  # after the kernel of the data, which needs room
    if model.conditioning == "product":
        kernel = model._data_kernel(points)
        return Informed(points, kernel, conditional_information(kernel.matrix, G()), None, False, 0.0)
    categories, strata = strata_of(given, known)
    effect, confounded = None, False
    rest, explained = points, 0.0
    if model.metric != "precomputed":
        if given.categorical:
            effect, confounded = category_effect(points, known.features, categories, model.n_jobs)
        else:
            effect = smooth_effect(points, known.features)
        rest = points - effect(known.features)
        explained = _explained(points, rest)
        rest = _nothing_left(model, points, rest, _ROUNDING if given.categorical else _REGRESSION)
    if model.bandwidth != "perplexity":
        kernel = model._data_kernel(rest)
        return Informed(rest, kernel, conditional_information(kernel.matrix, G()), effect, confounded, explained)
    model.perplexity_ = float(max(1.0 + 1e-6, min(model.perplexity, (len(points) - 1) / 3)))

    def problem(rest: Array, again: Callable[[Array], Informed] | None = None) -> Informed:
        how: Any = {"precomputed": model.metric == "precomputed", "n_jobs": model.n_jobs}
        compared = rest if hints is None else with_hints(points, rest, strata, hints, **how)
        kernel = balanced_kernel(compared, strata, model.perplexity_, model.n_neighbors, confounded=confounded, **how)
        terms = informed_information(kernel.matrix, G(), model.given_weight)
        return Informed(rest, kernel, terms, effect, confounded, explained, again)

    def refined(Z: Array) -> Informed:
        return problem(points - local_effect(points, Z, known.features, categories, points - rest, model.n_jobs))

    fixed = effect is None or confounded or not rest.any()
    return problem(rest, None if fixed else refined)


def _check_balanced(model: Any, hints: Array | None) -> None:
    """Hints and the weight of ``given`` are part of the balanced kernel's problem only."""
    if model.conditioning == "balanced" and model.bandwidth == "perplexity":
        return
    remedy = "Use conditioning='balanced' and bandwidth='perplexity', or leave it out"
    if hints is not None:
        raise ValueError(complain(model, "same", f"{len(hints)} pairs", "needs the balanced kernel", remedy))
    if model.given_weight != 1.0:
        raise ValueError(complain(model, "given_weight", model.given_weight, "needs the balanced kernel", remedy))


def _explained(points: Array, rest: Array) -> float:
    centred = points - points.mean(axis=0)
    total = float(np.vdot(centred, centred))
    return 1.0 - float(np.vdot(rest, rest)) / total if total > 0 else 0.0


def _nothing_left(model: Any, points: Array, rest: Array, least: float) -> Array:
    """What is no more than the error of the effect is not structure: it becomes zero, and the user is told."""
    power, left = (float(np.vdot(part - part.mean(axis=0), part - part.mean(axis=0))) for part in (points, rest))
    if power == 0 or left > least * power:
        return rest
    rule = "explains X entirely, so that nothing is left to show"
    remedy = "Give less: a column with a value of its own in every row knows everything"
    warnings.warn(complain(model, "given", "what was given", rule, remedy), UserWarning, stacklevel=4)
    return np.zeros_like(rest)
