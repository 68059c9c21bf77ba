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
from .kernels.hints import harmonic_coordinates, hint_classes
from .kernels.matrices import SymmetricTiles, dense_kernel
from .kernels.profiles import GAUSSIAN
from .kernels.strata import MOST_STRATA, cells, codes_of, merged
from .maps.effect import Effect, category_effect, local_effect, smooth_effect
from .maps.weights import squared_distances
from .objectives.entropy import Entropy, conditional_information
from .side.given import Given, Known

__all__ = ["Informed", "given_kernel", "inform", "strata_of"]

Array = npt.NDArray[Any]
_HINT_WEIGHT = 10.0  # of squared distance between hint coordinates against the mean square of the residual
_LEAST_MEAN = 0.07  # of the kernel of ``given`` over all pairs: with less, its Parzen density has no neighbours
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
        compared = rest if hints is None else _with_hints(model, points, rest, strata, hints)
        kernel = balanced_kernel(
            compared,
            strata,
            model.perplexity_,
            model.n_neighbors,
            confounded=confounded,
            precomputed=model.metric == "precomputed",
            n_jobs=model.n_jobs,
        )
        terms = _terms(kernel, G(), model.given_weight)
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


def strata_of(given: Given, known: Known) -> tuple[Array, Array]:
    """Categories of the rows (n,), and their strata: categories and cells of the numbers together (n,)."""
    names = [c for c, column in enumerate(given.columns) if column.kind == "category"]
    n = len(known.values)
    categories = codes_of(known.values[:, names]) if names else np.zeros(n, dtype=np.int64)
    if len(names) == len(given.columns):
        return categories, codes_of(merged(categories)[:, None])
    coarse = merged(categories)
    edges = np.cumsum([0, *(column.width for column in given.columns)])
    numeric = np.concatenate([np.arange(*edges[c : c + 2]) for c in range(len(given.columns)) if c not in names])
    cell = cells(known.features[:, numeric], max(1, MOST_STRATA // (int(coarse.max()) + 1)))
    return categories, codes_of(np.column_stack([coarse, cell]))


def given_kernel(features: Array, n_jobs: int | None = None) -> SymmetricTiles:
    """The Gaussian kernel of ``given``: widened, where many columns would leave a row alone with itself."""
    rows = np.unique(np.linspace(0, len(features) - 1, min(500, len(features))).astype(np.int64))
    D = squared_distances(features[rows], features[rows])
    bandwidth = 1.0
    while np.exp(-D / bandwidth).mean() < _LEAST_MEAN:
        bandwidth *= 1.2
    return dense_kernel(features, bandwidth, GAUSSIAN, n_jobs=n_jobs)


def _terms(kernel: DataKernel, G: SymmetricTiles, weight: float) -> list[Entropy]:
    terms = [Entropy("H(X,Z)", 1.0, (kernel.matrix,))]
    if weight != 1.0:
        terms.append(Entropy("H(Z)", weight - 1.0))
    if weight != 0.0:
        terms.append(Entropy("H(G,Z)", -weight, (G,)))
    return terms


def _with_hints(model: Any, points: Array, rest: Array, strata: Array, hints: Array) -> Array:
    """Residual rows with their hint coordinates beside them; or distances, lengthened by those of the coordinates."""
    precomputed, classes = model.metric == "precomputed", hint_classes(hints, len(points))
    phi = harmonic_coordinates(points, strata, classes, precomputed=precomputed, n_jobs=model.n_jobs)
    if precomputed:
        size = 0.5 * float(np.mean(points**2)) or 1.0
        return np.asarray(np.sqrt(points**2 + _HINT_WEIGHT * size * squared_distances(phi, phi)))
    size = float(np.mean(np.einsum("ij,ij->i", rest, rest))) or 1.0
    return np.column_stack([rest, np.sqrt(_HINT_WEIGHT * size) * phi])


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
