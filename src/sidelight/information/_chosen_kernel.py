"""The data kernel that a kernel information embedding asks for, and what a fit along the path with it costs.

A kernel with one bandwidth is dense, sparse or of low rank (``kernels.data_kernel``); multiplied with that of ``given``
it is not of low rank.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.cost import Cost, refuse_if_too_large
from sidelight.base.messages import complain
from sidelight.base.validation import check_choice, relative_bandwidth
from sidelight.kernels.data_kernel import (
    EXACT_ROWS,
    MOST_STORED,
    DataKernel,
    fitting_kernel,
    fixed_kernel,
    likely_bandwidth,
    perplexity_kernel,
)
from sidelight.kernels.gauss_transform import factored_cost, normaliser_cost
from sidelight.kernels.low_rank import MOST_FACTORS
from sidelight.kernels.matrices import adaptive_kernel, left_out
from sidelight.kernels.profiles import profile
from sidelight.neighbours.search import nearest
from sidelight.neighbours.sparse_distances import nearest_known

__all__ = ["check_form", "check_profile", "chosen_kernel", "noted", "path_cost"]

Array = npt.NDArray[Any]
_EVALUATIONS = 180  # a middling number


def check_profile(model: Any) -> None:
    """``kernel`` is one that the bandwidth allows, or a sentence."""
    check_choice(model, "kernel", model.kernel, ("gaussian", "student", "quartic"))
    if model.kernel != "gaussian" and model.bandwidth in ("perplexity", "learned"):
        rule = f"is for a kernel with one bandwidth, and with bandwidth={model.bandwidth!r} it is Gaussian"
        remedy = "Give a number or 'loo' as bandwidth, or leave kernel as it is by default"
        raise ValueError(complain(model, "kernel", model.kernel, rule, remedy))


def check_form(model: Any) -> None:
    """``data_kernel`` is one that the other settings allow, or a sentence."""
    check_choice(model, "data_kernel", model.data_kernel, ("auto", "dense", "sparse", "low_rank"))
    if model.data_kernel == "auto":
        return
    rule = remedy = ""
    if model.bandwidth in ("perplexity", "learned"):
        rule = "is for a kernel with one bandwidth"
        remedy = "Give a number or 'loo' as bandwidth, or leave data_kernel as it is by default"
    elif model.metric == "precomputed" and model.data_kernel != "dense":
        rule, remedy = "saves nothing where X is a matrix of all pairs", "Use data_kernel='auto'"
    elif model.kernel == "quartic" and model.data_kernel == "low_rank":
        rule = "needs a kernel without negative eigenvalues, and a quartic one has some"
        remedy = "Use kernel='gaussian' or 'student'"
    if rule:
        raise ValueError(complain(model, "data_kernel", model.data_kernel, rule, remedy))


def chosen_kernel(model: Any, points: Array, *, alone: bool = True) -> DataKernel:
    """The kernel of the points (n, d); ``alone``: it is not multiplied with another. Sets what "auto" stands for."""
    kernel = noted(model, _kernel(model, points, alone))
    if model.solver_ == "levels" and model.metric != "precomputed":
        assert kernel.lists is not None
        lost = left_out(points, kernel.lists, np.asarray(kernel.bandwidth), model.n_jobs)
        model.kernel_error_ = {"left_out": lost}
    return kernel


def noted(model: Any, kernel: DataKernel) -> DataKernel:
    """The kernel, once the model says how it is held and how far it is from what it stands for."""
    model.data_kernel_ = kernel.form
    model.kernel_error_ = None if kernel.error is None else asdict(kernel.error)
    return kernel


def _kernel(model: Any, points: Array, alone: bool) -> DataKernel:
    precomputed = model.metric == "precomputed"
    if model.solver_ == "levels":
        return _short_kernel(model, points)
    if model.bandwidth in ("perplexity", "learned"):
        model.perplexity_ = float(max(1.0 + 1e-6, min(model.perplexity, (len(points) - 1) / 3)))
        return perplexity_kernel(
            points, model.perplexity_, model.n_neighbors, precomputed=precomputed, n_jobs=model.n_jobs
        )
    h = None
    if not isinstance(model.bandwidth, str):
        scale = 1.0 if model.metric == "cosine" else model.frame_.scale
        h = relative_bandwidth(model, "bandwidth", model.bandwidth, scale)
    if model.data_kernel == "low_rank" and not alone:
        rule, remedy = "cannot be multiplied with the kernel of given", "Use data_kernel='sparse' or 'dense'"
        raise ValueError(complain(model, "data_kernel", model.data_kernel, rule, remedy))
    how: Any = {"precomputed": precomputed, "n_jobs": model.n_jobs}
    if model.data_kernel != "auto" or precomputed:
        return fixed_kernel(points, h, profile(model.kernel), form=model.data_kernel, **how)
    return _automatic(model, points, h, alone)


def _automatic(model: Any, points: Array, h: float | None, alone: bool) -> DataKernel:
    """Sparse or of low rank where that suits; dense otherwise, if there is room for it."""
    n, kernel = len(points), profile(model.kernel)
    if h is None:
        h = likely_bandwidth(points, kernel)
    found = fitting_kernel(points, h, kernel, model.n_jobs) if alone or model.kernel == "quartic" else None
    if found is None:
        if n > EXACT_ROWS:
            refuse_if_too_large(model, _cost_of_form(model, n, points.shape[1], model.latent_kernel_, "dense"), n)
        found = fixed_kernel(points, h, kernel, n_jobs=model.n_jobs)
    return found


def _short_kernel(model: Any, points: Array) -> DataKernel:
    """Half the perplexity on lists of its length, in straight lines."""
    n = len(points)
    k = max(2, min(n - 1, round(model.perplexity)))
    precomputed = model.metric == "precomputed"
    found = nearest_known(points, k=k, own=True) if precomputed else nearest(points, k=k, n_jobs=model.n_jobs)
    known = int(np.median(np.isfinite(found.distance).sum(axis=1)))  # of a sparse array perhaps less than k
    half = model.perplexity / 2 if known == k else known / 2
    model.perplexity_ = float(max(1.0 + 1e-6, min(half, (n - 1) / 3)))
    matrix, bandwidth = adaptive_kernel(found, model.perplexity_)
    return DataKernel(matrix, bandwidth, found.index)


def path_cost(model: Any, n: int, d: int, latent: str, given: bool) -> Cost:
    """What a fit along the path takes; ``latent`` is the profile of the latent kernel.

    What "auto" will be beyond 10,000 rows only the data can tell; what is said is the cost of a hundred factors.
    """
    form = "adaptive" if model.bandwidth == "perplexity" else model.data_kernel
    if form == "auto":
        many = n > EXACT_ROWS and model.kernel != "quartic" and model.metric != "precomputed" and not given
        form = "low_rank" if many else "dense"
    cost = _cost_of_form(model, n, d, latent, form)
    if not given:
        return cost
    # a kernel of its own, neighbours in every group, and the end of the path twice
    return Cost(int(cost.bytes + 2 * n * n + 180 * model.perplexity * n), 2.5 * cost.seconds)


def _cost_of_form(model: Any, n: int, d: int, latent: str, form: str) -> Cost:
    pairs, stored = n * n / 2, 4.5 * model.perplexity * n
    size, evaluation = normaliser_cost(profile(latent), n, model.n_components)
    if form == "dense":  # pairs are visited anyway
        size, evaluation = 8 * pairs, 1e-3 + 1e-8 * pairs
    elif form == "low_rank":
        factors = factored_cost(profile(latent), n, model.n_components, MOST_FACTORS // 2)
        size, evaluation = size + factors[0], evaluation + factors[1]
    elif form == "sparse":
        stored = 0.5 * min(MOST_STORED, n) * n
    size += 8 * n * d * 4 + 40 * stored + 2**26
    evaluation += 6e-8 * stored * (form != "dense")
    return Cost(int(size), 0.2 + _EVALUATIONS * evaluation + 3e-10 * n * n * d + 5e-4 * n)
