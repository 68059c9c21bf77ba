"""Fit the maps of a KernelInformationEmbedding after the optimisation (``_informed_maps`` holds them)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sidelight.base.tiles import run_tiles, spans
from sidelight.base.types import Array
from sidelight.kernels.bandwidths import perplexity_rows
from sidelight.kernels.data_kernel import DataKernel
from sidelight.kernels.given_kernels import side_kernel
from sidelight.kernels.side_kernel import SideKernel
from sidelight.maps.conditional import conditional_forward, product_backward, product_forward
from sidelight.maps.effect import Effect, subtract_effect
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import BackwardMap, InterpolatingMap, interpolate
from sidelight.maps.kernel_map import KernelMap, adaptive_weights, precomputed_weights
from sidelight.maps.local_bandwidths import local_weights
from sidelight.maps.parzen import ParzenDensity, fit_density, kernel_density
from sidelight.maps.smooth_effect import smooth_effect
from sidelight.maps.two_way import TwoWayMaps
from sidelight.maps.uncertain import map_uncertain, with_uncertain_rows
from sidelight.maps.weights import FixedWeights, PrecomputedWeights
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import nearest, squares_to_listed
from sidelight.neighbours.sparse_distances import Points, dense_points, nearest_known, submatrix, zero_distance_groups

from ._change import change_of_rows
from ._informed_maps import GivenMaps, InformedMaps, ProductMap
from ._problem import Problem
from ._settings import KernelSettings
from ._training import TrainingRows

__all__ = ["EmbeddedRows", "informed_maps"]


_NEAR = 36  # length of neighbour lists in the data without the effect subtracted, for maps that average over ``given``
_TILE = 1024  # rows whose distances to their lists one task computes
_DENSITY_PERPLEXITY = 12.0  # of the Parzen density of the data, for models with ``given``


@dataclass(frozen=True)
class EmbeddedRows:
    """The embedding of all rows (n, q), their path (stages, n, q), the bandwidth of the data kernel, and the maps."""

    embedding: Array
    path: Array
    bandwidth: float | Array
    maps: InformedMaps


def informed_maps(
    training: TrainingRows,
    problem: Problem,
    Z: Array,
    path: Array,
    settings: KernelSettings,
    latent_kernel: str,
    *,
    product: bool,
) -> EmbeddedRows:
    """Fit the maps after the optimisation, and embed the rows that were left out of it.

    Parameters
    ----------
    training : TrainingRows
        Rows with a missing ``given`` were left out of the optimisation; the maps embed them.
    problem : Problem
        The problem that was solved.
    Z : array of shape (m, q)
        Its solution. Rows that the maps cannot tell apart (duplicates) are moved to their mean.
    path : array of shape (stages, m, q)
        The latent points at the end of each stage.
    settings : KernelSettings
    latent_kernel : str
    product : bool
        Whether the maps, too, multiply the kernels of data and ``given`` (conditioning="product").

    Returns
    -------
    EmbeddedRows
    """
    precomputed, features = settings.precomputed, training.features
    inputs = _backward_inputs(training, problem)
    equal = zero_distance_groups(inputs) if precomputed else equal_row_groups(dense_points(inputs))
    groups = equal
    if equal is not None and features is not None and not precomputed and problem.effect is None:
        groups = equal_row_groups(np.column_stack([equal, features]))  # given tells equal rows apart
    Z = group_means(Z, groups)
    if precomputed:
        maps = _distance_maps(training.frame, inputs, Z, settings, latent_kernel)
    else:
        rows, one_place = dense_points(inputs), group_means(Z, equal)
        maps = _row_maps(training, problem, rows, Z, one_place, settings, latent_kernel, product)
    embedded = EmbeddedRows(
        np.asarray(Z.astype(training.X.dtype)),
        np.array([group_means(stage, groups) for stage in path]),
        problem.kernel.bandwidth * (1.0 if settings.metric == "cosine" else training.frame.scale**2),
        maps,
    )
    return embedded if training.complete else _with_unknown(embedded, training, settings)


def _distance_maps(frame: Frame, D: Points, Z: Array, settings: KernelSettings, latent_kernel: str) -> InformedMaps:
    """Maps for precomputed distances ``D``: there is no forward map, and none uses ``given``."""
    candidates = min(len(Z), round(3 * settings.perplexity) + 1)
    near = nearest_known(D, k=candidates - 1, own=True)
    backward = interpolate(KernelMap(precomputed_weights(near, Z, candidates), Z), near)
    return InformedMaps(TwoWayMaps(frame, *_latent(Z, backward, latent_kernel)), None)


def _row_maps(
    training: TrainingRows,
    problem: Problem,
    inputs: Array,
    Z: Array,
    one_place: Array,
    settings: KernelSettings,
    latent_kernel: str,
    product: bool,
) -> InformedMaps:
    """Maps of a model of rows: backward from ``inputs`` to ``one_place``, forward from ``Z`` to the rows.

    ``one_place`` (m, q) is ``Z`` averaged over equal inputs, since a backward map has one value for equal inputs.
    """
    inside = training.inside(settings.metric)
    smooth, relative = _backward_map(inputs, problem.kernel, one_place, settings)
    backward = with_uncertain_rows(smooth, training.fitted_variance)
    given, features = None, training.features
    if training.given is None or features is None:
        forward = KernelMap(_forward_weights(Z, inside, smooth, settings, latent_kernel), inside)
    else:
        side = side_kernel(training.given, features) if product else None
        given, forward, relative = _given_maps(
            training, inside, features, Z, problem.effect, side, settings, latent_kernel
        )
        if side is not None:
            given = replace(given, product=_product_map(training, problem, side, features, Z, settings))
    if problem.kernel.lists is None and settings.metric == "euclidean":
        density = kernel_density(inside, problem.kernel.bandwidth, settings.profile, n_jobs=settings.n_jobs)
    else:
        straight = settings.multilevel and settings.metric == "euclidean" and given is None
        lists = problem.kernel.lists if straight else None
        density = fit_density(inside, relative, n_jobs=settings.n_jobs, lists=lists)
    plain = TwoWayMaps(training.frame, *_latent(Z, backward, latent_kernel), forward, density)
    return InformedMaps(plain, given)


def _forward_weights(
    Z: Array, inside: Array, backward: InterpolatingMap, settings: KernelSettings, latent_kernel: str
) -> FixedWeights:
    """Weights of the latent points Z (n, q) for the forward map to the rows ``inside`` (n, d).

    The annealed solver maximises the information of the latent kernel, so that kernel predicts best. The multilevel
    solver maximises a bound instead, and rows lie denser in some places than in others: there a bandwidth for each row
    predicts better (docs/decisions/0047).
    """
    if not settings.multilevel:
        return FixedWeights(Z, 1.0, latent_kernel)
    return local_weights(Z, inside, backward.mean, latent_kernel, settings.n_jobs)


def _latent(Z: Array, backward: BackwardMap, kernel: str) -> tuple[Frame, BackwardMap, ParzenDensity]:
    """The latent frame (the identity), the backward map into it, and the density of the latent points."""
    return Frame(np.zeros(Z.shape[1]), 1.0), backward, ParzenDensity(Z, np.ones(len(Z)), kernel)


def _backward_inputs(training: TrainingRows, problem: Problem) -> Points:
    """The fitted rows as ``transform`` will see them: minus the effect of ``given`` as a function of ``given``.

    A fit that re-estimated the effect at each row (``_problem.refined``) was solved for slightly different rows.
    """
    if training.features is None or problem.effect is None or not dense_points(problem.points).any():
        return problem.points
    return subtract_effect(dense_points(training.points)[training.fitted], problem.effect, training.features)


def _backward_map(
    points: Array, kernel: DataKernel, Z: Array, settings: KernelSettings
) -> tuple[InterpolatingMap, Array]:
    """The map from ``points`` (m, d) to ``Z`` (m, q), and the data bandwidths (m,), relative to the data frame."""
    n_jobs = settings.n_jobs
    if kernel.lists is None:
        h = float(kernel.bandwidth)
        mean = KernelMap(FixedWeights(points, h, settings.profile), Z)
        return interpolate(mean, n_jobs=n_jobs), np.full(len(Z), h)
    squares, lists = kernel.squares, kernel.lists
    if squares is None:
        tiles = spans(len(Z), _TILE)
        squares = np.concatenate(
            run_tiles(lambda part: squares_to_listed(points[part], points, lists[part]), tiles, n_jobs)
        )
    mean = KernelMap(adaptive_weights(points, Z, kernel.lists, squares), Z)
    return interpolate(mean, n_jobs=n_jobs, squares=squares), np.asarray(kernel.bandwidth)


def _given_maps(
    training: TrainingRows,
    inside: Array,
    features: Array,
    Z: Array,
    effect: Effect | None,
    side: SideKernel | None,
    settings: KernelSettings,
    latent_kernel: str,
) -> tuple[GivenMaps, KernelMap, Array]:
    """The maps that use ``given``, the forward map conditional on it, and data bandwidths (m,), relative to the frame.

    Called by ``_row_maps`` for models fitted with ``given``. ``side``: its kernel, for conditioning="product".
    """
    points, n_jobs = training.fitted_points, settings.n_jobs
    near = nearest(points, k=min(_NEAR, len(points) - 1), n_jobs=n_jobs)
    one_place = group_means(Z, equal_row_groups(points))
    smooth = interpolate(KernelMap(adaptive_weights(points, one_place, near.index), one_place), n_jobs=n_jobs)
    marginal = with_uncertain_rows(smooth, training.fitted_variance)
    marginal_forward = KernelMap(_forward_weights(Z, inside, smooth, settings, latent_kernel), inside)
    forward_effect: Effect | None = None
    scale: float | Array
    if side is not None:
        forward, scale = product_forward(Z, features, inside, latent_kernel, side)
    else:
        known = effect if settings.metric == "euclidean" else None  # otherwise it is one on points, not on rows
        forward_effect = smooth_effect(inside, features) if known is None else known
        rest = np.asarray(inside - forward_effect.at_rows(inside, features), dtype=inside.dtype)
        forward, scale = conditional_forward(Z, features, rest, latent_kernel, n_jobs)
    relative = perplexity_rows(near.distance**2, min(_DENSITY_PERPLEXITY, 0.8 * near.index.shape[1]))[1]
    assert training.given is not None
    categorical = training.given.categorical and side is None
    change = change_of_rows(forward, Z, features, categorical, n_jobs)
    maps = GivenMaps(effect, marginal, marginal_forward, forward_effect, scale, features=features, change=change)
    return maps, forward, relative


def _product_map(
    training: TrainingRows, problem: Problem, side: SideKernel, features: Array, Z: Array, settings: KernelSettings
) -> ProductMap:
    """The backward map of conditioning="product", with the kernel of ``given`` of the fit."""
    points, n_jobs = dense_points(problem.points), settings.n_jobs
    mean, scale = product_backward(points, features, Z, problem.kernel, settings.profile, side, n_jobs)
    return ProductMap(with_uncertain_rows(interpolate(mean, n_jobs=n_jobs), training.fitted_variance), scale)


def _with_unknown(embedded: EmbeddedRows, training: TrainingRows, settings: KernelSettings) -> EmbeddedRows:
    """Add the rows with missing ``given``, embedded by the map that averages over it, at every stage of the path."""
    points, rows = training.points, training.fitted
    unknown = np.setdiff1d(np.arange(len(points)), rows)
    maps, n_jobs = embedded.maps, settings.n_jobs
    backward = maps.plain.backward
    if maps.given is not None and maps.given.effect is not None:
        backward = maps.given.marginal
    queries = submatrix(points, unknown, rows, settings.owner) if settings.precomputed else points[unknown]
    if training.variance is None:
        places = backward(queries, n_jobs)
    else:
        places = map_uncertain(backward, dense_points(queries), training.variance[unknown], n_jobs)

    def average(values: Array) -> Array:
        return KernelMap(backward.weights, values.astype(np.float64))(queries, n_jobs)

    def joined(values: Array, others: Array) -> Array:
        out = np.empty((len(points), values.shape[1]), dtype=values.dtype)
        out[rows], out[unknown] = values, others
        return out

    stages = [joined(stage, average(stage)) for stage in embedded.path[:-1]]
    path = np.array([*stages, joined(embedded.path[-1], places)], dtype=embedded.embedding.dtype)
    weights = backward.weights
    if isinstance(weights, PrecomputedWeights):  # queries hold distances to all n rows, not only to the fitted ones
        near = nearest_known(points, k=weights.n_candidates - 1, own=True)
        whole = interpolate(KernelMap(weights, joined(backward.outputs, places)), near)
        maps = replace(maps, plain=replace(maps.plain, backward=whole))
    bandwidth = embedded.bandwidth
    if np.ndim(bandwidth):
        widths = np.asarray(bandwidth)[:, None]
        bandwidth = joined(widths, average(widths))[:, 0]
    return EmbeddedRows(joined(embedded.embedding, places), path, bandwidth, maps)
