"""What a kernel information embedding keeps of its fit: the maps of ``_informed_maps``, densities, and unknown rows.

Backward maps interpolate (``maps.interpolation``), so rows that they cannot tell apart get one place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.data_kernel import DataKernel
from sidelight.kernels.known import given_bandwidth, widened
from sidelight.maps.conditional import conditional_forward, product_backward
from sidelight.maps.effect import smooth_effect, without
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import InterpolatingMap, interpolate
from sidelight.maps.kernel_map import KernelMap, adaptive_weights, precomputed_weights
from sidelight.maps.parzen import ParzenDensity, fit_density
from sidelight.maps.weights import FixedWeights
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import nearest
from sidelight.neighbours.sparse_distances import nearest_known, submatrix, zero_distance_groups
from sidelight.side.given import Known

from ._informed_maps import latent_profile
from ._informed_problem import Informed

__all__ = ["keep_informed_maps"]

Array = npt.NDArray[Any]


def keep_informed_maps(
    model: Any, X: Any, points: Any, rows: Array, known: Known | None, informed: Informed, Z: Array
) -> None:
    """Set what ``InformedMaps`` asks; ``rows`` are those that were fitted, ``Z`` where they are."""
    kernel, latent_kernel = informed.kernel, latent_profile(model)
    precomputed = model.metric == "precomputed"
    inputs = _backward_inputs(points, rows, known, informed)
    equal = zero_distance_groups(inputs) if precomputed else equal_row_groups(inputs)
    groups = equal
    if equal is not None and known is not None and not precomputed and informed.effect is None:
        groups = equal_row_groups(np.column_stack([equal, known.features[rows]]))  # given tells equal rows apart
    Z = group_means(Z, groups)
    model.path_ = np.array([group_means(stage, groups) for stage in model.path_])
    model.confounded_, model.explained_ = informed.confounded, informed.explained
    model.bandwidth_ = kernel.bandwidth * (1.0 if model.metric == "cosine" else model.frame_.scale**2)
    model.embedding_ = np.asarray(Z.astype(X.dtype))
    model.latent_frame_ = Frame(np.zeros(model.n_components), 1.0)
    model.latent_density_ = ParzenDensity(Z, np.ones(len(Z)), latent_kernel)
    model.effect_ = informed.effect
    model.marginal_ = model.marginal_forward_ = model.forward_effect_ = model.product_backward_ = None
    if precomputed:
        candidates = min(len(rows), round(3 * model.perplexity) + 1)
        near = nearest_known(inputs, k=candidates - 1, own=True)
        model.backward_ = interpolate(KernelMap(precomputed_weights(near, Z, candidates), Z), near)
    else:
        fitted = points if len(rows) == len(X) else points[rows]  # a copy only where some are left out
        inside = fitted if model.metric == "euclidean" else model.frame_.inside(X if fitted is points else X[rows])
        model.backward_, relative = _backward_map(model, inputs, kernel, group_means(Z, equal))
        if known is None:
            model.forward_ = KernelMap(FixedWeights(Z, 1.0, latent_kernel), inside)
        else:
            relative = _keep_conditional(model, fitted, inside, known.features[rows], Z)
            if model.conditioning_ == "product":
                _keep_product(model, informed, known.features[rows], Z)
        model.density_ = fit_density(inside, relative, n_jobs=model.n_jobs)
    if len(rows) < len(X):
        _place_unknown(model, points, rows, X.dtype)


def _backward_inputs(points: Any, rows: Array, known: Known | None, informed: Informed) -> Any:
    """The fitted rows as ``transform`` will see them: less the effect of ``given`` that it can compute.

    A fit that refined the effect at each row (``Informed.again``) has solved for slightly other rows.
    """
    if known is None or informed.effect is None or not informed.points.any():
        return informed.points
    return without(points[rows], informed.effect, known.features[rows])


def _backward_map(model: Any, points: Array, kernel: DataKernel, Z: Array) -> tuple[InterpolatingMap, Array]:
    """The map from ``points`` to ``Z``, and the relative bandwidths of the data."""
    if kernel.lists is None:
        h = float(kernel.bandwidth)
        return interpolate(KernelMap(FixedWeights(points, h, model.kernel), Z), n_jobs=model.n_jobs), np.full(len(Z), h)
    mean = KernelMap(adaptive_weights(points, Z, kernel.lists), Z)
    return interpolate(mean, n_jobs=model.n_jobs), np.asarray(kernel.bandwidth)


def _keep_conditional(model: Any, points: Array, inside: Array, features: Array, Z: Array) -> Array:
    """The maps under ``given`` and those that average over it; return the relative bandwidths of the data."""
    near = nearest(points, k=min(36, len(points) - 1), n_jobs=model.n_jobs)
    latent_kernel = latent_profile(model)
    one_place = group_means(Z, equal_row_groups(points))
    model.marginal_ = interpolate(
        KernelMap(adaptive_weights(points, one_place, near.index), one_place), n_jobs=model.n_jobs
    )
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
    mean, scale = product_backward(informed.points, units * features, Z, informed.kernel, model.kernel, model.n_jobs)
    model.product_backward_ = interpolate(mean, n_jobs=model.n_jobs)
    model.product_scale_ = scale * units


def _place_unknown(model: Any, points: Any, rows: Array, dtype: npt.DTypeLike) -> None:
    """Place rows of which ``given`` is missing by the map that averages over it, at every stage of the path."""
    unknown = np.setdiff1d(np.arange(len(points)), rows)
    precomputed = model.metric == "precomputed"
    backward = model.backward_ if model.effect_ is None else model.marginal_
    queries = submatrix(points, unknown, rows, model) if precomputed else points[unknown]
    places = backward(queries, model.n_jobs)

    def average(values: Array) -> Array:
        return np.asarray(backward.weights.average(queries, values.astype(np.float64), model.n_jobs))

    def joined(values: Array, others: Array) -> Array:
        out = np.empty((len(points), values.shape[1]), dtype=values.dtype)
        out[rows], out[unknown] = values, others
        return out

    stages = [joined(stage, average(stage)) for stage in model.path_[:-1]]
    model.embedding_ = joined(model.embedding_, places)
    model.path_ = np.array([*stages, joined(model.path_[-1], places)], dtype=dtype)
    if precomputed:  # its queries are distances to all rows, the unknown ones too
        near = nearest_known(points, k=backward.weights.n_candidates - 1, own=True)
        model.backward_ = interpolate(KernelMap(backward.weights, joined(backward.outputs, places)), near)
    if np.ndim(model.bandwidth_):
        bandwidth = np.asarray(model.bandwidth_)[:, None]
        model.bandwidth_ = joined(bandwidth, average(bandwidth))[:, 0]
