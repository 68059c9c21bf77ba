"""The methods of MultipleRelationalEmbedding: arguments are validated here, ``RelationalMaps`` computes the results."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.base.validation import checked_array
from sidelight.kernels.profiles import profile
from sidelight.maps.two_way_mixin import TwoWayMixin, has_data_space
from sidelight.maps.views import ViewMaps

from ._relational_maps import RelationalMaps

__all__ = ["RelationalMixin"]


class RelationalMixin(TwoWayMixin):
    """``TwoWayMixin`` where there may be several data spaces, and ``similarity``.

    ``fit`` sets the attributes below, and those of ``TwoWayMixin`` that concern data if ``has_data_``.
    """

    latent_kernel: str
    has_data_: bool = True  # of an unfitted model: it may yet get data
    maps_: dict[str, ViewMaps]
    relation_names_: list[str]
    relation_shares_: Array
    transformations_: Array

    @one_blas_thread
    def transform(self, X: object, *, relation: str | None = None) -> Array:
        """Embed rows, each independently of the others: ``transform(X)[i] == transform(X[i:i+1])``.

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
        name = self._data_relation(relation)
        X = self._checked_features(X, name)
        return np.asarray(self._relational_maps().embed(name, X, self.n_jobs).astype(X.dtype, copy=False))

    @one_blas_thread
    def inverse_transform(
        self, X: object, *, relation: str | None = None, ignore: str | Sequence[str] | None = None
    ) -> Array:
        """Map latent points to the data space, by the conditional mean.

        Parameters
        ----------
        X : array of shape (m, q)
            Latent points.
        relation : str, default=None
            The data relation whose features are wanted; None: those of ``fit``, or the only ones there are.
        ignore : str or list of str, default=None
            Relations whose axes are ignored: with ``ignore="class"``, for example, the latent point of a cat that looks
            to the left finds faces that look to the left.

        Returns
        -------
        rows : array of shape (m, d)
        """
        name = self._data_relation(relation)
        Z = self._checked_latent(X)
        kept = None if ignore is None else self._kept_axes([ignore] if isinstance(ignore, str) else ignore)
        rows = self._relational_maps().reconstruct(name, Z, self.n_jobs, kept=kept)
        return np.asarray(rows.astype(Z.dtype, copy=False))

    @available_if(has_data_space)
    def transform_mode(self, X: object) -> Array:
        """Embed rows by the mode of p(z | x) instead of its mean, which may lie between two modes; shape (m, q)."""
        return np.asarray(super().transform_mode(X))

    def similarity(self, relation: str, i: int | Sequence[int] | Array, j: int | Sequence[int] | Array) -> Array:
        """Similarity of rows i and j in the sense of a relation: 1 at distance 0, near 0 far apart.

        The kernel of the latent distance after the relation's linear map; also for rows that the relation does not
        cover.

        Parameters
        ----------
        relation : str
        i, j : int or arrays of int
            Rows of ``fit``, broadcast against each other.

        Returns
        -------
        similarity : array, of the shape of i and j
        """
        check_is_fitted(self)
        R = self.transformations_[self._number_of(relation)]
        gap = (np.asarray(self.embedding_[i], dtype=np.float64) - self.embedding_[j]) @ R.T
        squares = np.einsum("...q,...q->...", gap, gap)
        return np.asarray(np.exp(profile(self.latent_kernel).log_value(squares)))

    def _has_data_space(self) -> bool:
        return self.has_data_

    def _relational_maps(self) -> RelationalMaps:
        """The fitted maps, collected from the fitted attributes."""
        return RelationalMaps(self.latent_frame_, self.latent_density_, self.maps_)

    def _number_of(self, relation: str) -> int:
        """Where a relation stands in ``relation_names_``."""
        if relation not in self.relation_names_:
            listed = ", ".join(map(repr, self.relation_names_))
            raise ValueError(
                error_message(self, "relation", relation, "is not a relation of the fit", f"Use one of {listed}")
            )
        return int(self.relation_names_.index(relation))

    def _kept_axes(self, ignore: Sequence[str]) -> Array:
        """Weight of each axis (q,) if some relations are ignored: 1 minus their largest share of it."""
        taken = np.max([self.relation_shares_[self._number_of(name)] for name in ignore], axis=0)
        return np.asarray(np.maximum(1.0 - taken, 0.0))

    def _data_relation(self, relation: str | None) -> str:
        """The data relation that is meant: the one named, that of ``fit``'s X, or the only one."""
        check_is_fitted(self)
        if relation is None and len(self.maps_) > 1 and not self.has_data_:
            listed = ", ".join(map(repr, self.maps_))
            rule = "leaves open whose features are meant"
            raise ValueError(error_message(self, "relation", None, rule, f"Give one of {listed}"))
        if relation is None and self.maps_:
            relation = next(iter(self.maps_))
        if relation is None or relation not in self.maps_:
            listed = ", ".join(map(repr, self.maps_)) or "none"
            rule = f"has no features to map from or to (with features: {listed})"
            raise ValueError(error_message(self, "relation", relation, rule, "Make it with Relation.from_data"))
        return relation

    def _checked_features(self, X: object, relation: str) -> Array:
        """New rows, checked against those that the relation was made of."""
        if self.has_data_ and relation == next(iter(self.maps_)):
            return np.asarray(self._checked(X))
        frame = self.maps_[relation].frame
        rows: Array = np.asarray(checked_array(self, X, dtype=[np.float64, np.float32], spread=frame.scale))
        wanted = frame.centre.shape[0]
        if rows.shape[1] != wanted:
            rule = f"does not match the {wanted} features of relation {relation!r}"
            raise ValueError(error_message(self, "X", f"{rows.shape[1]} columns", rule, "Give rows like those of fit"))
        return rows
