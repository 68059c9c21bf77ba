"""The maps of a KernelInformationEmbedding that may have been fitted with ``given``, as one frozen value.

For rows whose ``given`` is missing, the maps average over it.

    backward  z(x, g) = Σ_j w_j(x - effect(g)) z_j         without g:  Σ_j w_j(x) z_j, weights of the data as it is
              z(x, g) = Σ_j w_j(x, g) z_j                  with conditioning="product": no effect is subtracted
              both with a correction that maps training rows exactly to their embedding (``maps.interpolation``)
    forward   x(z, g) = effect(g) + Σ_j w_j(z, g) x̃_j      without g:  Σ_j w_j(z) x_j
              x(z, g) = Σ_j w_j(z, g) x_j                  with conditioning="product"

In ``w_j(z, g)`` the latent kernel is multiplied by a kernel of ``given``, whose width is chosen by leave-one-out error;
with conditioning="product" by the kernel of ``given`` of the fit (``maps.conditional``).
A model fitted without ``given``, or with a ``given`` that is constant over the rows, has the plain maps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sidelight.base.types import Array
from sidelight.maps.changed_rows import ChangeModel, Places
from sidelight.maps.effect import Effect
from sidelight.maps.interpolation import BackwardMap
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.truncated import variance_in_columns
from sidelight.maps.two_way import TwoWayMaps
from sidelight.maps.uncertain import map_uncertain
from sidelight.neighbours.sparse_distances import Points
from sidelight.side.given import EncodedGiven

__all__ = ["GivenMaps", "InformedMaps", "ProductMap", "Read", "ReadForward"]


Read = Callable[[BackwardMap, Array, "int | None"], Array]
"""``read(map, queries, n_jobs)``: evaluates a backward map at queries, by its mean or by its mode."""
ReadForward = Callable[[KernelMap, Array, "int | None"], Array]
"""The same for a forward map."""


@dataclass(frozen=True)
class ProductMap:
    """Backward map of conditioning="product"; its inputs are rows with ``scale`` * features of ``given`` appended."""

    backward: BackwardMap
    scale: float | Array


@dataclass(frozen=True)
class GivenMaps:
    """The additional maps of a model fitted with ``given``.

    Parameters
    ----------
    effect : Effect or None
        Subtracted from rows before they are mapped; None with conditioning="product".
    marginal : BackwardMap
        Rows to latent points if ``given`` is not known.
    marginal_forward : KernelMap
        Latent points to rows if ``given`` is not known.
    forward_effect : Effect or None
        Added to the output of the forward map; None with conditioning="product".
    scale : float or array of shape (1, f)
        Scale of the features of ``given`` that are appended to latent points as input of the forward map.
    product : ProductMap or None
        The backward map with conditioning="product".
    features : array of shape (m, f) or None
        Encoded ``given`` of the fitted rows; None in a model of an older file.
    change : ChangeModel or None
        The change of rows from one ``given`` to another; None in a model of an older file.
    """

    effect: Effect | None
    marginal: BackwardMap
    marginal_forward: KernelMap
    forward_effect: Effect | None
    scale: float | Array
    product: ProductMap | None = None
    features: Array | None = None
    change: ChangeModel | None = None


@dataclass(frozen=True)
class InformedMaps:
    """The two-way maps of a model; ``given`` holds those that use ``given`` (None: there are none)."""

    plain: TwoWayMaps
    given: GivenMaps | None

    def backward(
        self, X: Points, known: EncodedGiven | None, read: Read, n_jobs: int | None, variance: Array | None = None
    ) -> Array:
        """Latent points (m, q) of rows ``X`` (m, d), in units of the latent frame.

        With ``variance`` (m, d) of their entries, in units of the data frame: by the mean, whatever ``read`` is.
        """
        points, mapped, given = self.plain.frame.points(X), self.plain.backward, self.given
        if given is None or (given.effect is None and given.product is None):
            return _read(read, mapped, points, variance, n_jobs)
        of_known = of_others = variance
        if variance is not None and known is not None and known.complete.any():
            of_known, of_others = variance[known.complete], variance[~known.complete]
        averaged, informed = (mapped, given.product.backward) if given.product is not None else (given.marginal, mapped)

        def inputs(rows: Array, features: Array) -> Array:
            if given.product is not None:
                return np.column_stack([rows, given.product.scale * features])
            assert given.effect is not None
            return np.asarray(rows - given.effect.at_rows(rows, features))

        return _by_knowledge(
            known,
            points,
            lambda rows: _read(read, averaged, rows, of_others, n_jobs),
            lambda rows, features: _read(read, informed, inputs(rows, features), of_known, n_jobs),
        )

    def forward(self, Z: Array, known: EncodedGiven | None, read: ReadForward, n_jobs: int | None) -> Array:
        """Rows (m, d), in units of the data frame, at latent points ``Z`` (m, q) in units of the latent frame."""
        given, forward = self.given, self._forward
        if given is None:
            return np.asarray(read(forward, Z, n_jobs))

        def informed(Z: Array, features: Array) -> Array:
            found = read(forward, np.column_stack([Z, given.scale * features]), n_jobs)
            return np.asarray(
                found if given.forward_effect is None else given.forward_effect.at_rest(found, features) + found
            )

        return _by_knowledge(known, Z, lambda Z: read(given.marginal_forward, Z, n_jobs), informed)

    def variance(self, Z: Array, known: EncodedGiven | None, n_jobs: int | None, columns: Array | None = None) -> Array:
        """Predictive variance (m, d) at latent points: of the rows around the mean plus that of the data kernel.

        With ``columns`` (c,), of these columns of the data only.
        """
        given, forward, density = self.given, self._forward, self.plain.density
        assert density is not None
        Z = self.plain.latent_frame.inside(Z)
        marginal = forward if given is None else given.marginal_forward

        def informed(Z: Array, features: Array) -> Array:
            assert given is not None
            return forward.variance(np.column_stack([Z, given.scale * features]), n_jobs)

        spread = _by_knowledge(known, Z, lambda Z: marginal.variance(Z, n_jobs), informed)
        own = marginal.weights.average(Z, density.kernel_variances[:, None], n_jobs)
        return variance_in_columns(self.plain.frame, spread + own, columns)

    @property
    def places(self) -> Places | None:
        """The change of rows at latent points; None if the model has none."""
        given = self.given
        if given is None or given.change is None or given.features is None:
            return None
        return Places(given.change, self._forward, given.marginal_forward, given.features, given.scale)

    @property
    def _forward(self) -> KernelMap:
        assert self.plain.forward is not None  # estimators offer no way back otherwise
        return self.plain.forward


def _read(read: Read, mapped: BackwardMap, rows: Array, variance: Array | None, n_jobs: int | None) -> Array:
    """Evaluate a backward map, by the expected kernel where rows are uncertain."""
    if variance is None:
        return np.asarray(read(mapped, rows, n_jobs))
    return map_uncertain(mapped, rows, variance, n_jobs)


def _by_knowledge(
    known: EncodedGiven | None,
    rows: Array,
    averaged: Callable[[Array], Array],
    informed: Callable[[Array, Array], Array],
) -> Array:
    """Map rows with complete ``given`` by ``informed(rows, features)``, the others by ``averaged(rows)``."""
    if known is None or not known.complete.any():
        return np.asarray(averaged(rows))
    at = known.complete
    first = informed(rows[at], known.features[at])
    if at.all():
        return np.asarray(first)
    out = np.empty((len(rows), first.shape[1]))
    out[at] = first
    out[~at] = averaged(rows[~at])
    return out
