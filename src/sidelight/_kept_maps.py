"""What a kernel information embedding keeps of its fit: the maps of ``_informed_maps``, densities, and unknown rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ._frame import Frame
from ._informed_problem import Informed
from ._two_way_maps import latent_profile
from .kernels.bandwidths import perplexity_rows
from .kernels.data_kernel import DataKernel
from .kernels.known import given_bandwidth, widened
from .kernels.neighbours import nearest
from .kernels.sparse_distances import nearest_known, submatrix
from .maps.conditional import conditional_forward, product_backward
from .maps.effect import smooth_effect
from .maps.kernel_map import KernelMap, adaptive_weights, precomputed_weights
from .maps.parzen import ParzenDensity, fit_density
from .maps.weights import FixedWeights
from .side.given import Known

__all__ = ["keep_informed_maps"]

Array = npt.NDArray[Any]


def keep_informed_maps(
    model: Any, X: Any, points: Any, rows: Array, known: Known | None, informed: Informed, Z: Array
) -> None:
    """Set what ``InformedMaps`` asks; ``rows`` are those that were fitted, ``Z`` where they are."""
    kernel, latent_kernel = informed.kernel, latent_profile(model)
    model.confounded_, model.explained_ = informed.confounded, informed.explained
    model.bandwidth_ = kernel.bandwidth * (1.0 if model.metric == "cosine" else model.frame_.scale**2)
    model.embedding_ = np.asarray(Z.astype(X.dtype))
    model.latent_frame_ = Frame(np.zeros(model.n_components), 1.0)
    model.latent_density_ = ParzenDensity(Z, np.ones(len(Z)), latent_kernel)
    model.effect_ = informed.effect
    model.marginal_ = model.marginal_forward_ = model.forward_effect_ = model.product_backward_ = None
    if model.metric == "precomputed":
        candidates = min(len(rows), round(3 * model.perplexity) + 1)
        near = nearest_known(informed.points, k=candidates - 1, own=True)
        model.backward_ = KernelMap(precomputed_weights(near, Z, candidates), Z)
    else:
        fitted = points if len(rows) == len(X) else points[rows]  # a copy only where some are left out
        inside = fitted if model.metric == "euclidean" else model.frame_.inside(X if fitted is points else X[rows])
        model.backward_, relative = _backward_map(model, informed.points, kernel, Z)
        if known is None:
            model.forward_ = KernelMap(FixedWeights(Z, 1.0, latent_kernel), inside)
        else:
            relative = _keep_conditional(model, fitted, inside, known.features[rows], Z)
            if model.conditioning_ == "product":
                _keep_product(model, informed, known.features[rows], Z)
        model.density_ = fit_density(inside, relative, n_jobs=model.n_jobs)
    if len(rows) < len(X):
        _place_unknown(model, points, rows, X.dtype)


def _backward_map(model: Any, points: Array, kernel: DataKernel, Z: Array) -> tuple[KernelMap, Array]:
    """The map from ``points`` to ``Z``, and the relative bandwidths of the data."""
    if kernel.lists is None:
        h = float(kernel.bandwidth)
        return KernelMap(FixedWeights(points, h, model.kernel), Z), np.full(len(Z), h)
    return KernelMap(adaptive_weights(points, Z, kernel.lists), Z), np.asarray(kernel.bandwidth)


def _keep_conditional(model: Any, points: Array, inside: Array, features: Array, Z: Array) -> Array:
    """The maps under ``given`` and those that average over it; return the relative bandwidths of the data."""
    near = nearest(points, k=min(36, len(points) - 1), n_jobs=model.n_jobs)
    latent_kernel = latent_profile(model)
    model.marginal_ = KernelMap(adaptive_weights(points, Z, near.index), Z)
    model.marginal_forward_ = KernelMap(FixedWeights(Z, 1.0, latent_kernel), inside)
    if model.effect_ is not None and model.metric == "euclidean":
        model.forward_effect_ = model.effect_
    else:
        model.forward_effect_ = smooth_effect(inside, features)
    rest = np.asarray(inside - model.forward_effect_(features), dtype=inside.dtype)
    model.forward_, model.given_scale_ = conditional_forward(Z, features, rest, latent_kernel)
    return perplexity_rows(near.distance**2, min(12.0, 0.8 * near.index.shape[1]))[1]


def _keep_product(model: Any, informed: Informed, features: Array, Z: Array) -> None:
    """The backward map of the product of kernels, with that of ``given`` as wide as it was in the fit."""
    units = widened(
        np.ones((1, features.shape[1])), given_bandwidth(features, model.given_.chosen), model.given_.chosen
    )
    model.product_backward_, scale = product_backward(
        informed.points, units * features, Z, informed.kernel, model.kernel, model.n_jobs
    )
    model.product_scale_ = scale * units


def _place_unknown(model: Any, points: Any, rows: Array, dtype: npt.DTypeLike) -> None:
    """Rows of which something is missing are placed by the map that averages over it, at every stage."""
    unknown = np.setdiff1d(np.arange(len(points)), rows)
    precomputed = model.metric == "precomputed"
    weights = model.backward_.weights if precomputed else model.marginal_.weights
    queries = submatrix(points, unknown, rows, model) if precomputed else points[unknown]

    def placed(values: Array) -> Array:
        out = np.empty((len(points), values.shape[1]), dtype=values.dtype)
        out[rows], out[unknown] = values, weights.average(queries, values.astype(np.float64), model.n_jobs)
        return out

    model.embedding_ = placed(model.embedding_)
    model.path_ = np.array([placed(stage) for stage in model.path_], dtype=dtype)
    if precomputed:  # its queries are distances to all rows, the unknown ones too
        model.backward_ = KernelMap(weights, placed(model.backward_.outputs))
    if np.ndim(model.bandwidth_):
        model.bandwidth_ = placed(np.asarray(model.bandwidth_)[:, None])[:, 0]
