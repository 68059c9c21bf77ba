"""Choose the data kernel of a kernel information embedding, and estimate the cost of an annealed fit with it.

A kernel with one bandwidth for all rows is stored dense, sparse or low-rank (``kernels.data_kernel``). Low-rank is not
possible if the kernel is to be multiplied by the kernel of ``given``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.messages import error_message
from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array, Slice
from sidelight.base.validation import relative_bandwidth
from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.data_kernel import (
    EXACT_ROWS,
    MOST_STORED,
    DataKernel,
    auto_kernel,
    fixed_kernel,
    loo_bandwidth,
    perplexity_kernel,
)
from sidelight.kernels.expected import expected_dense_kernel, expected_neighbours
from sidelight.kernels.gauss_transform import factored_cost, normaliser_cost
from sidelight.kernels.low_rank import MOST_FACTORS
from sidelight.kernels.matrices import adaptive_kernel, left_out
from sidelight.kernels.profiles import profile
from sidelight.neighbours.reduction import neighbour_space
from sidelight.neighbours.search import nearest, neighbour_seconds, squares_to_listed
from sidelight.neighbours.sparse_distances import Points, dense_points, nearest_known

from ._settings import KernelSettings

__all__ = ["ChosenKernel", "annealed_cost", "as_chosen_kernel", "choose_kernel", "effective_perplexity"]


Latent = tuple[str, int]
"""(profile of the latent kernel, latent dimensions)."""
_TILE = 1024  # rows whose distances to their lists one task computes
_EVALUATIONS = 180  # typical number of evaluations of the objective in an annealed fit


@dataclass(frozen=True)
class ChosenKernel:
    """A data kernel, with the values that the estimator reports as ``perplexity_`` and ``kernel_error_``.

    ``perplexity``: effective neighbours of a row, None for a kernel with one bandwidth. ``error``: approximation error
    of a sparse or low-rank kernel against the dense one (None: exact).
    """

    kernel: DataKernel
    perplexity: float | None
    error: dict[str, float] | None


def effective_perplexity(perplexity: float, n: int) -> float:
    """The perplexity used for n rows: at most a third of the other rows, and above 1."""
    return float(max(1.0 + 1e-6, min(perplexity, (n - 1) / 3)))


def as_chosen_kernel(kernel: DataKernel, perplexity: float | None = None) -> ChosenKernel:
    """The kernel as a ``ChosenKernel``, with its approximation error as a dict."""
    return ChosenKernel(kernel, perplexity, None if kernel.error is None else asdict(kernel.error))


def choose_kernel(
    points: Points,
    scale: float,
    settings: KernelSettings,
    *,
    latent: Latent,
    alone: bool,
    variance: Array | None = None,
) -> ChosenKernel:
    """The data kernel that the settings ask for.

    Parameters
    ----------
    points : array of shape (n, d), or distances
        In units of the data frame.
    scale : float
        Scale of the data frame: a bandwidth in squared units of the data is divided by its square.
    settings : KernelSettings
    latent : Latent
        Only to estimate the cost of a dense kernel.
    alone : bool
        False if the kernel will be multiplied by the kernel of ``given``.
    variance : array of shape (n, d) or None
        Variances of missing entries, whose means the points have: the kernel is the expected one (Gaussian).

    Returns
    -------
    ChosenKernel
    """
    if settings.multilevel:
        return _short_lists_kernel(points, settings, variance)
    if settings.adaptive:
        perplexity = effective_perplexity(settings.perplexity, len(points))
        kernel = perplexity_kernel(
            points, perplexity, settings.n_neighbors,
            precomputed=settings.precomputed, n_jobs=settings.n_jobs, variance=variance, unfold=True,
        )  # fmt: skip
        return as_chosen_kernel(kernel, perplexity)
    if variance is not None:
        return as_chosen_kernel(_expected_kernel(dense_points(points), variance, scale, settings, latent))
    return as_chosen_kernel(_one_bandwidth_kernel(dense_points(points), scale, settings, latent, alone))


def _expected_kernel(
    points: Array, variance: Array, scale: float, settings: KernelSettings, latent: Latent
) -> DataKernel:
    """The expected kernel with one bandwidth, dense; by "loo" the bandwidth is that of the means."""
    h = loo_bandwidth(points, profile(settings.profile))
    if not isinstance(settings.bandwidth, str):
        h = relative_bandwidth(settings.owner, "bandwidth", settings.bandwidth, scale)
    n = len(points)
    if n > EXACT_ROWS:
        refuse_if_too_large(settings.owner, _cost_of_form(n, points.shape[1], settings.perplexity, latent, "dense"), n)
    return DataKernel(expected_dense_kernel(points, variance, h, n_jobs=settings.n_jobs), h)


def _one_bandwidth_kernel(
    points: Array, scale: float, settings: KernelSettings, latent: Latent, alone: bool
) -> DataKernel:
    h = None
    if not isinstance(settings.bandwidth, str):
        h = relative_bandwidth(settings.owner, "bandwidth", settings.bandwidth, scale)
    if settings.form == "low_rank" and not alone:
        rule, remedy = "cannot be multiplied with the kernel of given", "Use storage='sparse' or 'dense'"
        raise ValueError(error_message(settings.owner, "kernel.storage", settings.form, rule, remedy))
    if settings.form != "auto" or settings.precomputed:
        kernel, n_jobs = profile(settings.profile), settings.n_jobs
        return fixed_kernel(points, h, kernel, form=settings.form, precomputed=settings.precomputed, n_jobs=n_jobs)
    return _automatic_form(points, h, settings, latent, alone)


def _automatic_form(
    points: Array, h: float | None, settings: KernelSettings, latent: Latent, alone: bool
) -> DataKernel:
    """A sparse or low-rank kernel if it approximates well; otherwise a dense one, refused if it is too large."""
    n, kernel = len(points), profile(settings.profile)
    if h is None:
        h = loo_bandwidth(points, kernel)
    suits = alone or settings.profile == "quartic"
    found = auto_kernel(points, h, kernel, settings.n_jobs) if suits else None
    if found is None:
        if n > EXACT_ROWS:
            cost = _cost_of_form(n, points.shape[1], settings.perplexity, latent, "dense")
            refuse_if_too_large(settings.owner, cost, n)
        found = fixed_kernel(points, h, kernel, n_jobs=settings.n_jobs)
    return found


def _short_lists_kernel(points: Points, settings: KernelSettings, variance: Array | None) -> ChosenKernel:
    """Kernel of the multilevel solver: lists of ``perplexity`` nearest rows, bandwidths for half that perplexity.

    Rows of many columns are compared along the directions that tell neighbours from others (``neighbour_space``); their
    bandwidths, which the maps use, are those of all columns.
    """
    n = len(points)
    k = max(2, min(n - 1, round(settings.perplexity)))
    if settings.precomputed:
        found = nearest_known(points, k=k, own=True)
    else:
        rows = dense_points(points)
        reduced = variance is None and settings.columns == "auto"
        space = neighbour_space(rows, n_jobs=settings.n_jobs) if reduced else None
        if space is not None:
            return _reduced_lists_kernel(rows, space(rows, settings.n_jobs) * space.scale, k, settings)
        found = nearest(rows, k=k, n_jobs=settings.n_jobs)
    known = int(np.median(np.isfinite(found.distance).sum(axis=1)))  # a sparse array may hold fewer than k per row
    half = settings.perplexity / 2 if known == k else known / 2
    perplexity = effective_perplexity(half, n)
    if variance is not None:
        found = expected_neighbours(dense_points(points), variance, found, perplexity, n_jobs=settings.n_jobs)
    matrix, bandwidth = adaptive_kernel(found, perplexity, settings.n_jobs)
    kernel = DataKernel(matrix, bandwidth, found.index)
    if settings.precomputed or variance is not None:
        return as_chosen_kernel(kernel, perplexity)
    lost = left_out(dense_points(points), found.index, np.asarray(bandwidth), settings.n_jobs)
    return ChosenKernel(kernel, perplexity, {"left_out": lost})


def _reduced_lists_kernel(rows: Array, reduced: Array, k: int, settings: KernelSettings) -> ChosenKernel:
    """The same from the lists of ``reduced`` (n, r); bandwidths from distances to the listed rows in all columns."""
    perplexity = effective_perplexity(settings.perplexity / 2, len(rows))
    found = nearest(reduced, k=k, n_jobs=settings.n_jobs)
    matrix, narrow = adaptive_kernel(found, perplexity, settings.n_jobs)
    lost = left_out(reduced, found.index, np.asarray(narrow), settings.n_jobs)

    def in_all_columns(part: Slice) -> tuple[Array, Array]:
        squares = squares_to_listed(rows[part], rows, found.index[part])
        return squares, perplexity_rows(np.sort(squares, axis=1).astype(np.float64), perplexity)[1]

    parts = run_tiles(in_all_columns, spans(len(rows), _TILE), settings.n_jobs)
    squares, bandwidth = (np.concatenate(some) for some in zip(*parts, strict=True))
    kernel = DataKernel(matrix, bandwidth, found.index, squares=squares)
    return ChosenKernel(kernel, perplexity, {"left_out": lost})


def annealed_cost(n: int, d: int, settings: KernelSettings, latent: Latent, *, given: bool) -> Cost:
    """Estimate memory and time of an annealed fit.

    Beyond 10,000 rows the form that "auto" takes depends on the data; the estimate is for a low-rank kernel with a
    hundred factors.
    """
    form = "adaptive" if settings.bandwidth == "perplexity" else settings.form
    if form == "auto":
        many = n > EXACT_ROWS and settings.profile != "quartic" and not settings.precomputed and not given
        form = "low_rank" if many else "dense"
    cost = _cost_of_form(n, d, settings.perplexity, latent, form)
    if not given:
        return cost
    # with given: its own kernel matrix, neighbour lists in every group, and the last annealing stages twice
    return Cost(int(cost.bytes + 2 * n * n + 180 * settings.perplexity * n), 2.5 * cost.seconds)


def _cost_of_form(n: int, d: int, perplexity: float, latent: Latent, form: str) -> Cost:
    pairs, stored = n * n / 2, 4.5 * perplexity * n
    latent_profile, q = profile(latent[0]), latent[1]
    size, evaluation = normaliser_cost(latent_profile, n, q)
    if form == "dense":  # all pairs are visited for the data kernel, so the normaliser needs no fast transform
        size, evaluation = 8 * pairs, 1e-3 + 1e-8 * pairs
    elif form == "low_rank":
        factors = factored_cost(latent_profile, n, q, MOST_FACTORS // 2)
        size, evaluation = size + factors[0], evaluation + factors[1]
    elif form == "sparse":
        stored = 0.5 * min(MOST_STORED, n) * n
    size += 8 * n * d * 4 + 40 * stored + 2**26
    evaluation += 1e-8 * stored * (form != "dense")
    return Cost(int(size), 0.05 + _EVALUATIONS * evaluation + neighbour_seconds(n, d) + 2e-4 * n)
