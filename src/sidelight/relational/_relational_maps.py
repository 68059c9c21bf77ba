"""The maps of a multiple relational embedding: to and from the features of any of its data relations.

backward  z(x) = Σ_j w_j(x) z_j     over the rows of the relation whose features x has, exact at those
forward   x(z) = Σ_j w_j(z) x_j     axes that belong to relations to be ignored are collapsed first (S0 4.3.1)

With weights that adapt to the neighbourhood, their perplexity chosen by leave-one-out error.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import complain
from sidelight.base.tiles import one_blas_thread
from sidelight.base.validation import checked_array
from sidelight.kernels.profiles import profile
from sidelight.maps.frames import Frame
from sidelight.maps.interpolation import interpolate
from sidelight.maps.kernel_map import adaptive_map
from sidelight.maps.parzen import neighbourhood_density
from sidelight.maps.two_way import LISTED
from sidelight.maps.two_way_mixin import TwoWayMixin
from sidelight.maps.views import ViewMaps
from sidelight.neighbours.equal_rows import equal_row_groups, group_means
from sidelight.neighbours.search import nearest

__all__ = ["RelationalMaps", "keep_relational_maps"]

Array = npt.NDArray[Any]


class RelationalMaps(TwoWayMixin):
    """``TwoWayMixin`` where there may be several data spaces, and ``similarity``."""

    @one_blas_thread
    def transform(self: Any, X: Array, *, relation: str | None = None) -> Array:
        """Embed rows, each by itself: ``transform(X)[i] == transform(X[i:i+1])``.

        Parameters
        ----------
        X : array of shape (m, d)
            New rows.
        relation : str, default=None
            The data relation whose features they have; None: those of ``fit``, or the only ones there are.

        Returns
        -------
        Z : array of shape (m, q)
        """
        name, maps = self._maps_of(relation)
        X = self._features(X, name, maps)
        Z = self.latent_frame_.outside(maps.backward(maps.frame.points(X), self.n_jobs))
        return np.asarray(Z.astype(X.dtype, copy=False))

    @one_blas_thread
    def inverse_transform(self: Any, X: Array, *, relation: str | None = None, ignore: Any = None) -> Array:
        """Take latent points back to the data space, by the conditional mean.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        relation : str, default=None
            The data relation whose features are wanted; None: those of ``fit``, or the only ones there are.
        ignore : str or list of str, default=None
            Relations whose axes do not count: with ``ignore="class"`` the place of a cat finds the face that looks the
            same way.

        Returns
        -------
        rows : array of shape (m, d)
        """
        _, maps = self._maps_of(relation)
        X = self._checked_latent(X)
        Z, forward = self.latent_frame_.inside(X), maps.forward
        if ignore is not None:
            kept = self._kept_axes([ignore] if isinstance(ignore, str) else ignore)
            Z, forward = Z * kept, adaptive_map(maps.backward.outputs * kept, forward.outputs, n_jobs=self.n_jobs)
        return np.asarray(maps.frame.outside(forward(Z, self.n_jobs)).astype(X.dtype, copy=False))

    def similarity(self: Any, relation: str, i: Any, j: Any) -> Array:
        """How similar rows i and j are in the sense of a relation: 1 for the same place, near 0 far away.

        The kernel of the latent distance as the relation sees it. Rows that the relation knows nothing of are welcome.

        Parameters
        ----------
        relation : str
        i, j : int or arrays of int
            Rows of ``fit``, broadcast against each other.
        """
        check_is_fitted(self)
        R = self.transformations_[self._place(relation)]
        gap = (np.asarray(self.embedding_[i], dtype=np.float64) - self.embedding_[j]) @ R.T
        squares = np.einsum("...q,...q->...", gap, gap)
        return np.asarray(np.exp(profile(self.latent_kernel).log_value(squares)))

    def _has_data_space(self) -> bool:
        return bool(getattr(self, "has_data_", True))

    def _place(self: Any, relation: str) -> int:
        if relation not in self.relation_names_:
            listed = ", ".join(map(repr, self.relation_names_))
            raise ValueError(
                complain(self, "relation", relation, "is not a relation of the fit", f"Use one of {listed}")
            )
        return int(self.relation_names_.index(relation))

    def _kept_axes(self: Any, ignore: Sequence[str]) -> Array:
        """How much of each axis is left when some relations do not count (q,)."""
        taken = np.max([self.relation_shares_[self._place(name)] for name in ignore], axis=0)
        return np.asarray(np.maximum(1.0 - taken, 0.0))

    def _maps_of(self: Any, relation: str | None) -> tuple[str, ViewMaps]:
        check_is_fitted(self)
        if relation is None and len(self.maps_) > 1 and not self.has_data_:
            listed = ", ".join(map(repr, self.maps_))
            rule = "leaves open whose features are meant"
            raise ValueError(complain(self, "relation", None, rule, f"Give one of {listed}"))
        if relation is None and self.maps_:
            relation = next(iter(self.maps_))
        if relation is None or relation not in self.maps_:
            listed = ", ".join(map(repr, self.maps_)) or "none"
            rule = f"has no features to map from or to (with features: {listed})"
            raise ValueError(complain(self, "relation", relation, rule, "Make it with Relation.from_data"))
        return relation, self.maps_[relation]

    def _features(self: Any, X: Array, name: str, maps: ViewMaps) -> Array:
        """New rows, checked against those that the relation was made of."""
        if self.has_data_ and name == next(iter(self.maps_)):
            return np.asarray(self._checked(X))
        X = np.asarray(checked_array(self, X, dtype=[np.float64, np.float32], spread=maps.frame.scale))
        wanted = maps.frame.centre.shape[0]
        if X.shape[1] != wanted:
            rule = f"does not match the {wanted} features of relation {name!r}"
            raise ValueError(complain(self, "X", f"{X.shape[1]} columns", rule, "Give rows like those of fit"))
        return X


def keep_relational_maps(model: Any, spaces: dict[str, tuple[Array, Array]], Z: Array) -> None:
    """Set what ``RelationalMaps`` asks; ``spaces``: features (m, d) and row numbers (m,) of each data relation."""
    model.latent_frame_ = Frame.of(Z)
    latent = model.latent_frame_.inside(Z)
    model.maps_ = {name: _maps(X, latent[rows], model.n_jobs) for name, (X, rows) in spaces.items()}
    near = nearest(latent, k=min(LISTED, len(latent) - 1), n_jobs=model.n_jobs)
    model.latent_density_ = neighbourhood_density(latent, near.distance)
    if model.has_data_:
        own = next(iter(model.maps_.values()))
        model.frame_, model.backward_, model.forward_, model.density_ = (
            own.frame,
            own.backward,
            own.forward,
            own.density,
        )


def _maps(X: Array, latent: Array, n_jobs: int | None) -> ViewMaps:
    frame = Frame.of(X)
    points = frame.points(X)
    k = min(LISTED, len(X) - 1)
    near = nearest(points, k=k, n_jobs=n_jobs)
    one_place = group_means(latent, equal_row_groups(points))
    backward = interpolate(adaptive_map(points, one_place, lists=near.index), n_jobs=n_jobs)
    forward = adaptive_map(latent, points, n_jobs=n_jobs)
    return ViewMaps(frame, backward, forward, neighbourhood_density(points, near.distance))
