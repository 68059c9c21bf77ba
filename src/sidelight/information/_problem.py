"""The optimisation problem of a kernel information embedding: rows, their kernel, and the terms of the objective.

Without ``given``: the rows, and the information of their kernel. With it, the rows less the effect of ``given``, and a
kernel that is balanced over it.

With x̃ = x - effect(given), K the balanced kernel of x̃ and G the kernel of ``given``,

    maximise  I(X̃; Z) - μ I(G; Z)  =  (1 - μ) H(Z) - H(X̃, Z) + μ H(G, Z)  + constants

μ = 1 is the published conditional objective H(G,Z) - H(G,X,Z) (S0 3.2, S1 §3) with the kernel of the residual in
the place of the product: decision 0006 says what each part is worth. ``conditioning="product"`` is the published one,
``"residual"`` the published one on the residual rows, for a data kernel with one bandwidth, which cannot be balanced.

Not every row need have counterparts in every group (a cell type in one batch only). Where groups can be compared, r_is
in [0, 1] says how far row i is represented in group s (``_representation``): K is balanced over the groups as far as
the row is represented in them, and information about ``given`` costs less, and nothing for a row without counterparts:
in G its features are moved to the middle of all values of ``given`` by 1 - mean_s r_is / 4.

For the multilevel solver (``objectives.bound``) the kernel has short lists in straight lines, and G is not a matrix of
pairs but a few factors A (n, r): of the kernel of the numbers, or of that of the strata where there are categories (1
within a stratum, e^-2 between two; of more than 12, every 12th are taken together). There is one normaliser, so for
0 < μ < 1 the kernel is a mixture: as log is concave,

    (1 - μ) H(Z) + μ H(G, Z)  ≥  -(1/n) Σ_i log Σ_j [(1 - μ) + μ G_ij / mean G] k_ij   + constants

a lower bound again, and tight where the map knows nothing of G. Everything is then near-linear in the rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.types import Array
from sidelight.base.warnings import warn
from sidelight.kernels.balanced import balanced_kernel
from sidelight.kernels.data_kernel import DataKernel
from sidelight.kernels.given_kernels import (
    given_bandwidth,
    given_kernel,
    side_kernel,
    strata_of,
    stratum_factors,
    widened,
    widened_factors,
    widening_of,
)
from sidelight.kernels.hints import with_hints
from sidelight.kernels.matrices import SymmetricTiles
from sidelight.maps.effect import Effect, local_effect
from sidelight.maps.group_relations import GroupRelation, group_relations
from sidelight.maps.nearby import MANY
from sidelight.neighbours.sparse_distances import Points, SparseDistances, dense_points
from sidelight.neighbours.strata import MOST_STRATA, merged
from sidelight.objectives.entropy import Entropy, conditional_information, information, informed_information
from sidelight.side.given import EncodedGiven, Given

from ._data_kernel import ChosenKernel, Latent, as_chosen_kernel, choose_kernel, effective_perplexity
from ._given_effect import effect_on_rows
from ._representation import Representation
from ._settings import GivenSettings, KernelSettings

__all__ = ["Problem", "SideInformation", "informed_problem", "mixed_factors", "plain_problem", "with_refined_effect"]


Widths = list[float | None] | None
"""Bandwidths of the columns of ``given``: 0 for the delta kernel, None for another kernel matrix."""
_FACTORS = 12  # of the kernel of categories, multilevel; Yale B: 38 people in 12 parts leak as little as in 38
_NUMBER_FACTORS = 16  # of a kernel of numbers, which is widened until so many are enough; 64 leak no less
_WALKED = 20_000  # rows up to which a multilevel fit with ``given`` takes distances along the graph
_ROUNDING = 1e-20  # share of the power of the data below which a residual of means is rounding
_REGRESSION = 1e-6  # and one of a regression its bias: measured on functions of one and two numbers, at most 5e-7


@dataclass(frozen=True)
class SideInformation:
    """Side information of the fitted rows.

    ``strata`` (n,) are the groups among which neighbours are balanced, ``categories`` (n,) those of the categories
    alone; ``hints`` (m, 2) are rows that correspond (None: there are none). ``variance`` (n, d): of missing entries.
    """

    given: Given
    features: Array
    categories: Array
    strata: Array
    hints: Array | None
    variance: Array | None = None


@dataclass(frozen=True)
class EffectRefinement:
    """Uncorrected rows, their side information, the settings, and the kernel of ``given`` (multilevel: None)."""

    points: Array
    side: SideInformation
    kernel: KernelSettings
    given: GivenSettings
    given_matrix: SymmetricTiles | None


@dataclass(frozen=True)
class Problem:
    """The optimisation problem.

    Parameters
    ----------
    points : array of shape (n, d), or distances
        The rows that are to be shown: less the ``effect`` of ``given``, where one was taken off.
    chosen : ChosenKernel
        Their kernel.
    terms : list of Entropy
        Of the objective; empty for the multilevel solver, which has a bound of its own.
    effect : Effect or None
    confounded : bool
        Whether matched rows decided what is the effect of ``given``.
    explained : float
        Share of the variance of the rows that the effect explains.
    factors : array of shape (n, r) or None
        Of the kernel of ``given``, for the multilevel solver.
    given_bandwidth : list of float or None
        Of each column of ``given``, as its kernel has it; None for one with a kernel matrix.
    refinement : Refinement or None
        What it takes to estimate the effect again once there is a map (``refined``); None: it is final.
    representation : Representation or None
        How far each row is represented in the groups of ``given``; None: all count as represented everywhere.
    relations : tuple of GroupRelation
        Groups that differ from others by more than a shift.
    """

    points: Points
    chosen: ChosenKernel
    terms: list[Entropy]
    effect: Effect | None = None
    confounded: bool = False
    explained: float = 0.0
    factors: Array | None = None
    given_bandwidth: Widths = None
    refinement: EffectRefinement | None = None
    representation: Representation | None = None
    relations: tuple[GroupRelation, ...] = ()

    @property
    def kernel(self) -> DataKernel:
        """The kernel of the points."""
        return self.chosen.kernel


def plain_problem(
    points: Points, scale: float, settings: KernelSettings, latent: Latent, variance: Array | None = None
) -> Problem:
    """Problem without side information; ``variance`` (n, d) of missing entries, whose means are in ``points``."""
    chosen = choose_kernel(points, scale, settings, latent=latent, alone=True, variance=variance)
    return Problem(points, chosen, information(chosen.kernel.matrix))


def check_given(
    owner: str, settings: GivenSettings, bandwidth: str | float, points: Points, hints: Array | None, *, matrix: bool
) -> None:
    """Refuse settings of ``given`` that need another conditioning, and hints among few distances.

    ``matrix``: whether a column of ``given`` has a kernel matrix.
    """
    if settings.conditioning == "balanced" and bandwidth != "perplexity":
        rule = f"needs a perplexity, and bandwidth={bandwidth!r} is one for all rows"
        remedy = "Use conditioning='residual' (as 'auto' does) or 'product', or bandwidth='perplexity'"
        raise ValueError(error_message(owner, settings.argument, settings.conditioning, rule, remedy))
    if matrix and (settings.conditioning != "product" or len(points) > MANY):
        product = settings.conditioning == "product"
        rule = f"is for up to {MANY} rows" if product else "is for the product of kernels only"
        remedy = "Take fewer rows" if product else "Use Conditioning('product', ...), or leave it out"
        argument, seen = ("kernel", "a matrix") if settings.kernel is not None else ("bandwidth", 0)
        raise ValueError(error_message(owner, f"conditioning.{argument}", seen, rule, remedy))
    if settings.conditioning != "balanced":
        remedy = "Use conditioning='balanced' and bandwidth='perplexity', or leave it out"
        if hints is not None:
            raise ValueError(error_message(owner, "same", f"{len(hints)} pairs", "needs the balanced kernel", remedy))
        if settings.weight != 1.0:
            rule = "needs the balanced kernel"
            raise ValueError(error_message(owner, "conditioning.weight", settings.weight, rule, remedy))
    if hints is not None and isinstance(points, SparseDistances):
        rule, remedy = "needs all distances, and a sparse array holds some", "Give a dense array, or leave it out"
        raise ValueError(error_message(owner, "same", f"{len(hints)} pairs", rule, remedy))


def informed_problem(
    points: Points,
    scale: float,
    given: Given,
    known: EncodedGiven,
    hints: Array | None,
    kernel: KernelSettings,
    settings: GivenSettings,
    latent: Latent,
    variance: Array | None = None,
) -> Problem:
    """Problem with ``given`` factored out.

    Parameters
    ----------
    points : array of shape (n, d), or distances (n, n)
    scale : float
        Of the frame of the data.
    given : Given
        The columns as they were understood.
    known : EncodedGiven
        Their entries.
    hints : array of shape (m, 2) or None
        Rows that correspond.
    kernel, settings
        Of the kernel of the data, and of ``given``.
    latent : Latent
        For the cost of a kernel of all pairs.
    variance : array of shape (n, d) or None
        Variances of missing entries, whose means ``points`` have.
    """
    hints = None if hints is None or len(hints) == 0 else hints
    check_given(kernel.owner, settings, kernel.bandwidth, points, hints, matrix=bool(given.matrices))
    widths: Widths = given.bandwidths(widening_of(given, known.features))
    categories, strata = strata_of(given, known)
    side = SideInformation(given, known.features, categories, strata, hints, variance)
    if settings.conditioning == "product":
        return _conditional_problem(points, scale, side, kernel, latent, widths)
    rest: Points = points
    effect, confounded, explained, there = None, False, 0.0, None
    relations: tuple[GroupRelation, ...] = ()
    if not kernel.precomputed:
        rows = dense_points(points)
        compared = hints is None and settings.conditioning == "balanced"
        found = effect_on_rows(
            rows, given, known.features, categories, strata, compared=compared, n_jobs=kernel.n_jobs
        )  # fmt: skip
        effect, confounded, there = found.effect, found.confounded, found.there
        power = _power(rows)
        explained = 1.0 - float(np.vdot(found.rest, found.rest)) / power if power > 0 else 0.0
        if compared and given.categorical and 1 < int(categories.max()) + 1 <= MOST_STRATA:
            relations = tuple(group_relations(rows, found.rest, categories, kernel.n_jobs))
        rest = _unless_explained(kernel.owner, found.rest, power, _ROUNDING if given.categorical else _REGRESSION)
    if settings.conditioning == "residual":
        conditional = _conditional_problem(rest, scale, side, kernel, latent, widths)
        return replace(conditional, effect=effect, confounded=confounded, explained=explained)
    factors = None
    if kernel.multilevel:
        factors, widths = _few_factors(side, known, kernel.owner, settings, widths, there)
    chosen = _balanced(points, rest, side, confounded, kernel, there)
    # after the kernel of the data, which needs room
    G = None
    if not kernel.multilevel:
        features = known.features if there is None else there.moved_to_middle(known.features)
        G = given_kernel(features, kernel.n_jobs, chosen=given.chosen)
    final = effect is None or confounded or there is not None or not dense_points(rest).any()
    return Problem(
        rest,
        chosen,
        [] if G is None else informed_information(chosen.kernel.matrix, G, settings.weight),
        effect,
        confounded,
        explained,
        factors,
        widths,
        None if final else EffectRefinement(dense_points(points), side, kernel, settings, G),
        there,
        relations,
    )


def with_refined_effect(problem: Problem, refinement: EffectRefinement, Z: Array) -> Problem:
    """The problem again, with the effect of ``given`` estimated at each row among its neighbours on the map ``Z``."""
    points, side, rest = refinement.points, refinement.side, dense_points(problem.points)
    found = local_effect(points, Z, side.features, side.categories, points - rest, refinement.kernel.n_jobs)
    again = np.subtract(points, found, dtype=rest.dtype, casting="same_kind")
    chosen = _balanced(points, again, side, problem.confounded, refinement.kernel)
    G, terms = refinement.given_matrix, problem.terms
    if G is not None:
        terms = informed_information(chosen.kernel.matrix, G, refinement.given.weight)
    return replace(problem, points=again, chosen=chosen, terms=terms, refinement=None)


def _conditional_problem(
    points: Points,
    scale: float,
    side: SideInformation,
    kernel: KernelSettings,
    latent: Latent,
    widths: Widths,
) -> Problem:
    """The published product of the kernels of the points and of ``given``."""
    chosen = choose_kernel(points, scale, kernel, latent=latent, alone=False, variance=side.variance)
    if side.given.matrices:
        G = side_kernel(side.given, side.features).tiles(side.features, kernel.n_jobs)
    else:
        G = given_kernel(side.features, kernel.n_jobs, chosen=side.given.chosen)
    return Problem(points, chosen, conditional_information(chosen.kernel.matrix, G), given_bandwidth=widths)


def _balanced(
    points: Points,
    rest: Points,
    side: SideInformation,
    confounded: bool,
    settings: KernelSettings,
    there: Representation | None = None,
) -> ChosenKernel:
    """The kernel in which a row has as many neighbours in every stratum, as far as it is represented there."""
    wanted = settings.perplexity / 2 if settings.multilevel else settings.perplexity
    perplexity = effective_perplexity(wanted, len(points))
    precomputed, n_jobs = settings.precomputed, settings.n_jobs
    if side.hints is not None:
        rows, others = dense_points(points), dense_points(rest)
        rest = with_hints(rows, others, side.strata, side.hints, precomputed=precomputed, n_jobs=n_jobs)
    represented = None if there is None else there.of_strata(side.strata)
    effect_left = None if there is None else there.left_between_strata(side.strata)
    straight = settings.multilevel and (there is not None or len(points) > _WALKED)
    n_neighbors = None if straight else settings.n_neighbors
    kernel = balanced_kernel(
        rest, side.strata, perplexity, n_neighbors, precomputed=precomputed, confounded=confounded,
        represented=represented, effect_left=effect_left, numbers=not side.given.categorical, short=settings.multilevel,
        variance=side.variance, n_jobs=n_jobs,
    )  # fmt: skip
    return as_chosen_kernel(kernel, perplexity)


def _few_factors(
    side: SideInformation,
    known: EncodedGiven,
    owner: str,
    settings: GivenSettings,
    widths: Widths,
    there: Representation | None,
) -> tuple[Array | None, Widths]:
    """Factors (n, r) of the kernel of ``given``, and its bandwidths.

    They are few, as each column costs transforms at every evaluation. Bandwidths that the user chose are kept, which
    may take more of them. None without a price on ``given``.
    """
    given = side.given
    if settings.weight == 0:
        return None, widths
    if given.chosen.any():
        A, widths = _chosen_factors(owner, given, known.features, settings.bandwidth)
    elif side.categories.any():
        A, widths = stratum_factors(merged(side.strata, _FACTORS)), None
    else:
        A, bandwidth = widened_factors(known.features, given_bandwidth(known.features), _NUMBER_FACTORS)
        widths = given.bandwidths(bandwidth)
    return mixed_factors(A if there is None else there.moved_to_middle(A), settings.weight), widths


def _chosen_factors(owner: str, given: Given, features: Array, asked: object) -> tuple[Array, list[float | None]]:
    """Kernel factors for the user's bandwidths, with a warning if these are too narrow."""
    others = given_bandwidth(features, given.chosen)
    A, every = widened_factors(widened(features, others, given.chosen), 1.0)
    widths = given.bandwidths(others, every)
    if every > 1.0:
        wide = ", ".join(f"{width:.3g}" for width in widths if width is not None)
        rule = f"is too narrow for a multilevel fit, which widened it to {wide}"
        remedy = "Use solver='annealed', or a bandwidth like that"
        warn(error_message(owner, "conditioning.bandwidth", asked, rule, remedy), UserWarning)
    return A, widths


def mixed_factors(A: Array, weight: float) -> Array:
    """The factors of the one normaliser of a multilevel problem, for a weight of ``given`` above 0 and up to 1."""
    if weight >= 1:
        return A
    mean = float(np.sum(A.mean(axis=0) ** 2))
    return np.column_stack([np.full(len(A), np.sqrt(1 - weight)), np.sqrt(weight / mean) * A])


def _power(points: Array) -> float:
    """``Σ |x_i - mean|²``, with one copy of the rows."""
    centred = points - points.mean(axis=0)
    return float(np.vdot(centred, centred))


def _unless_explained(owner: str, rest: Array, power: float, least: float) -> Array:
    """Residuals within the error of the effect become zero, with a warning: they are not structure.

    ``power`` is that of the rows before (``_power``), and ``least`` the share of it below which residuals are an error.
    """
    if power == 0 or _power(rest) > least * power:
        return rest
    rule = "explains X entirely, so that no structure remains to embed"
    remedy = "Give less: a column with a value of its own in every row knows everything"
    warn(error_message(owner, "given", "what was given", rule, remedy), UserWarning)
    return np.zeros_like(rest)
