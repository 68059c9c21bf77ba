"""The problem of an informed embedding: the data less the effect of ``given``, a balanced kernel, and the objective.

With x̃ = x - effect(given), K the balanced kernel of x̃ and G the kernel of ``given``,

    maximise  I(X̃; Z) - μ I(G; Z)  =  (1 - μ) H(Z) - H(X̃, Z) + μ H(G, Z)  + constants

μ = 1 is the published conditional objective H(G,Z) - H(G,X,Z) (S0 3.2, S1 §3) with the kernel of the residual in
the place of the product: decision 0006 says what each part is worth. ``conditioning="product"`` is the published one,
``"residual"`` the published one on the residual rows, for a data kernel with one bandwidth, which cannot be balanced.

By levels (``objectives.bound``) the kernel has short lists in straight lines, and G is not a matrix of pairs but a few
factors A (n, r): of the kernel of the numbers, or of that of the strata where there are categories (1 within a stratum,
e^-2 between two; of more than 12, every 12th are taken together). There is one normaliser, so for 0 < μ < 1 the kernel
is a mixture: as log is concave,

    (1 - μ) H(Z) + μ H(G, Z)  ≥  -(1/n) Σ_i log Σ_j [(1 - μ) + μ G_ij / mean G] k_ij   + constants

a lower bound again, and tight where the map knows nothing of G. Everything is then near-linear in the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import complain
from sidelight.base.warnings import warn
from sidelight.kernels.balanced import balanced_kernel
from sidelight.kernels.data_kernel import DataKernel
from sidelight.kernels.hints import with_hints
from sidelight.kernels.known import fitting_factors, given_bandwidth, given_kernel, strata_of, stratum_factors, widened
from sidelight.maps.effect import Effect, category_effect, local_effect, smooth_effect, without
from sidelight.neighbours.sparse_distances import SparseDistances
from sidelight.neighbours.strata import merged
from sidelight.objectives.entropy import Entropy, conditional_information, informed_information
from sidelight.side.given import Given, Known

from ._chosen_kernel import chosen_kernel, noted

__all__ = ["Informed", "inform", "mixed_factors"]

Array = npt.NDArray[Any]
_FACTORS = 12  # of the kernel of categories by levels; Yale B: 38 people in 12 parts leak as little as in 38
_NUMBER_FACTORS = 16  # of a kernel of numbers, which is widened until so many are enough; 64 leak no less
_ROUNDING = 1e-20  # share of the power of the data below which a residual of means is rounding
_REGRESSION = 1e-6  # and one of a regression its bias: measured on functions of one and two numbers, at most 5e-7


@dataclass(frozen=True)
class Informed:
    """What is solved: ``points`` are the residual rows, ``effect`` what was taken from them (None: nothing).

    By levels there are no ``terms``, and ``factors`` (n, r) of the kernel of ``given`` (None: its weight is 0).
    """

    points: Array
    kernel: DataKernel
    terms: list[Entropy]
    effect: Effect | None
    confounded: bool
    explained: float
    again: Callable[[Array], Informed] | None = None
    factors: Array | None = None


def inform(model: Any, points: Any, given: Given, known: Known, hints: Array | None) -> Informed:
    """Build the problem for rows whose ``given`` is known; ``hints`` (m, 2) are rows that correspond."""
    hints = None if hints is None or len(hints) == 0 else hints
    _check_balanced(model, hints)
    if hints is not None and isinstance(points, SparseDistances):
        rule, remedy = "needs all distances, and a sparse array holds some", "Give a dense array, or leave it out"
        raise ValueError(complain(model, "same", f"{len(hints)} pairs", rule, remedy))
    model.conditioning_ = _conditioning(model)
    model.given_bandwidth_ = given.bandwidths(given_bandwidth(known.features, given.chosen))
    # after the kernel of the data, which needs room
    G = cache(lambda: given_kernel(known.features, model.n_jobs, chosen=given.chosen))
    if model.conditioning_ == "product":
        kernel = chosen_kernel(model, points, alone=False)
        return Informed(points, kernel, conditional_information(kernel.matrix, G()), None, False, 0.0)
    categories, strata = strata_of(given, known)
    effect, confounded = None, False
    rest, explained = points, 0.0
    if model.metric != "precomputed":
        if given.categorical:
            effect, confounded = category_effect(points, known.features, categories, model.n_jobs)
        else:
            effect = smooth_effect(points, known.features)
        rest = without(points, effect, known.features)
        explained = _explained(points, rest)
        rest = _nothing_left(model, points, rest, _ROUNDING if given.categorical else _REGRESSION)
    if model.conditioning_ == "residual":
        kernel = chosen_kernel(model, rest, alone=False)
        return Informed(rest, kernel, conditional_information(kernel.matrix, G()), effect, confounded, explained)
    levels = getattr(model, "solver_", "path") == "levels"
    perplexity = model.perplexity / 2 if levels else model.perplexity
    model.perplexity_ = float(max(1.0 + 1e-6, min(perplexity, (len(points) - 1) / 3)))
    A = _few_factors(model, given, known, categories, strata) if levels else None

    def problem(rest: Array, again: Callable[[Array], Informed] | None = None) -> Informed:
        how: Any = {"precomputed": model.metric == "precomputed", "n_jobs": model.n_jobs}
        compared = rest if hints is None else with_hints(points, rest, strata, hints, **how)
        how |= {"confounded": confounded, "short": levels}
        kernel = noted(model, balanced_kernel(compared, strata, model.perplexity_, model.n_neighbors, **how))
        terms = [] if levels else informed_information(kernel.matrix, G(), model.given_weight)
        return Informed(rest, kernel, terms, effect, confounded, explained, again, A)

    def refined(Z: Array) -> Informed:
        found = local_effect(points, Z, known.features, categories, points - rest, model.n_jobs)
        return problem(np.subtract(points, found, dtype=rest.dtype, casting="same_kind"))

    fixed = effect is None or confounded or not rest.any()
    return problem(rest, None if fixed else refined)


def _few_factors(model: Any, given: Given, known: Known, categories: Array, strata: Array) -> Array | None:
    """Factors (n, r) of the kernel of ``given``: few, as each column costs transforms at every evaluation.

    Bandwidths that the user chose are kept, which may take more of them. None without a price on ``given``.
    """
    if model.given_weight == 0:
        return None
    if given.chosen.any():
        return mixed_factors(_chosen_factors(model, given, known.features), model.given_weight)
    if categories.any():
        model.given_bandwidth_ = None
        return mixed_factors(stratum_factors(merged(strata, _FACTORS)), model.given_weight)
    A, bandwidth = fitting_factors(known.features, given_bandwidth(known.features), _NUMBER_FACTORS)
    model.given_bandwidth_ = given.bandwidths(bandwidth)
    return mixed_factors(A, model.given_weight)


def _chosen_factors(model: Any, given: Given, features: Array) -> Array:
    """Factors under the bandwidths that the user chose, with a warning where they are too narrow for factors."""
    others = given_bandwidth(features, given.chosen)
    A, every = fitting_factors(widened(features, others, given.chosen), 1.0)
    model.given_bandwidth_ = given.bandwidths(others, every)
    if every > 1.0:
        wide = ", ".join(f"{width:.3g}" for width in model.given_bandwidth_)
        rule = f"is too narrow for a fit by levels, which widened it to {wide}"
        remedy = "Use solver='path', or a given_bandwidth like that"
        message = complain(model, "given_bandwidth", model.given_bandwidth, rule, remedy)
        warn(message, UserWarning)
    return A


def mixed_factors(A: Array, weight: float) -> Array:
    """The factors of the one normaliser of a problem by levels, for a weight of ``given`` above 0 and up to 1."""
    if weight >= 1:
        return A
    mean = float(np.sum(A.mean(axis=0) ** 2))
    return np.column_stack([np.full(len(A), np.sqrt(1 - weight)), np.sqrt(weight / mean) * A])


def _conditioning(model: Any) -> str:
    """The conditioning that "auto" stands for, or the one that was asked for."""
    if model.conditioning != "auto":
        return str(model.conditioning)
    return "balanced" if model.bandwidth == "perplexity" else "residual"


def _check_balanced(model: Any, hints: Array | None) -> None:
    """The balanced kernel needs a perplexity; hints and the weight of ``given`` are part of its problem only."""
    if model.conditioning == "balanced" and model.bandwidth != "perplexity":
        rule = f"needs a perplexity, and bandwidth={model.bandwidth!r} is one for all rows"
        remedy = "Use conditioning='residual' (as 'auto' does) or 'product', or bandwidth='perplexity'"
        raise ValueError(complain(model, "conditioning", model.conditioning, rule, remedy))
    if _conditioning(model) == "balanced":
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
    warn(complain(model, "given", "what was given", rule, remedy), UserWarning)
    return np.zeros_like(rest)
