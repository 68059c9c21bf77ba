"""Rows under another ``given``: ``counterfactual``, ``corrected``, ``overlap``, and ``adapt`` to a new group."""

from __future__ import annotations

import numbers
from copy import copy
from typing import Self

import numpy as np
from sklearn.utils.metaestimators import available_if

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread
from sidelight.base.types import Array
from sidelight.maps.changed_rows import Places
from sidelight.maps.overlap import group_overlap
from sidelight.maps.truncated import (
    TruncatedFrame,
    as_rows_of,
    dense_columns,
    outside_in_columns,
    variance_in_columns,
)
from sidelight.maps.two_way_mixin import has_data_space
from sidelight.neighbours.sparse_distances import Points, dense_points
from sidelight.side.given import EncodedGiven
from sidelight.side.one_value import with_columns_of

from ._adapt import AdaptedRows, adapt_maps
from ._correction import change_of_given, corrected_rows, moved_to_group
from ._extrapolation import check_row_can_be_kept, warn_of_extrapolation, warn_of_nothing_kept
from ._informed_mixin import InformedMixin
from ._informed_slopes import InformedSlopes
from ._new_group import read_new_group, refuse_unadaptable

__all__ = ["CounterfactualMixin", "has_counterfactual"]


def has_counterfactual(model: InformedMixin) -> bool:
    """Whether there is a forward map to the data and (once fitted) a ``given`` to change."""
    return has_data_space(model) and (not hasattr(model, "given_") or model.given_ is not None)


def _has_overlap(model: InformedMixin) -> bool:
    """Whether there is a counterfactual, and (once fitted) the ``given`` of the training rows is known."""
    return has_counterfactual(model) and (not hasattr(model, "given_") or model.given_features_ is not None)


def _has_corrected(model: InformedMixin) -> bool:
    """Whether there are rows and (once fitted) an effect of ``given`` that was subtracted from them."""
    return has_counterfactual(model) and (not hasattr(model, "given_") or model.forward_effect_ is not None)


def _has_adapt(model: InformedMixin) -> bool:
    """Whether there are rows and (once fitted) an effect of ``given`` on them, inside the frame of the data."""
    if not _has_corrected(model) or not hasattr(model, "given_") or model.given_ is None:
        return _has_corrected(model)
    return model.metric == "euclidean" and model.effect_ is not None and model.given_features_ is not None


class CounterfactualMixin(InformedSlopes):
    """``InformedSlopes`` with rows under another ``given``."""

    adapted_: list[str]
    adapted_rows_: AdaptedRows | None = None  # a default, because few models are adapted

    @available_if(has_counterfactual)
    @one_blas_thread
    def counterfactual(
        self,
        X: object,
        *,
        given: object,
        given_now: object = None,
        residual: str | float = "auto",
        return_std: bool = False,
        columns: object = None,
    ) -> Array | tuple[Array, Array]:
        """Predict the rows of ``X`` under another value of ``given``, shape (m, d).

        The result shows rows with the same latent point under the new value; it is not a causal effect. Without
        ``given_now``, each row is embedded without its own ``given`` and reconstructed for the new one: the conditional
        mean, without individual variation. With ``given_now``, the row is embedded with it, shifted by the difference
        of the conditional means at its latent point, and keeps its residual.

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows
            The new value. Columns missing from a dict or a table keep their value of ``given_now``.
        given_now : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            The current value of the rows. Rows with a missing entry are treated as without it.
        residual : "auto", float or "row", default="auto"
            Share of the residual to keep (the difference of a row from the mean of rows with its latent point and
            ``given_now``), rescaled to the spread of the new group: 0 is the conditional mean, 1 keeps all of it.
            "auto": the share that reproduces the distribution of left-out rows (``change_.kept``); 0 without
            ``given_now``. "row": the row itself, with the smallest change that adds what rows of the new category have
            and no row of its own category has, such as glasses on a face. Do not use "row" if the whole row changes, as
            one object becoming another.
        return_std : bool, default=False
            Also return standard deviations (m, d) of a row of the new group with this latent point around the result:
            90 % of the entries of left-out rows were within 1.645 of them. Not with ``residual="row"``.
        columns : names, numbers or mask, default=None
            Columns of the data to return, in this order; None: all. A model of sparse rows computes no others.

        Warns
        -----
        ExtrapolationWarning
            If more than a tenth of the rows are unlike any training row of the new ``given`` (``overlap`` below 0.01).
        DesignWarning
            If ``residual="auto"`` keeps nothing of the rows (``change_.kept`` is 0).

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import KernelInformationEmbedding
        >>> group = np.repeat(["a", "b"], 40)
        >>> X = np.random.default_rng(0).normal(size=(80, 3)) + 5.0 * (group == "b")[:, None]
        >>> model = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X, given=group)
        >>> rows, std = model.counterfactual(X[:40], given="b", given_now="a", return_std=True)
        >>> bool(abs(rows.mean() - 5.0) < 0.5), std.shape
        (True, (40, 3))
        """
        variance, checked = self._row_variance(X), self._checked(X)
        if given is None:
            seen, rule = "nothing", "does not say what is to be different"
            raise ValueError(error_message(self, "given", seen, rule, "Give one value, or one entry per row"))
        keeps_row = isinstance(residual, str) and residual == "row"
        if keeps_row:
            check_row_can_be_kept(self, self.given_, given_now, return_std=return_std)
        share, chosen = self._checked_residual(1.0 if keeps_row else residual, given_now), self._chosen(columns)
        if self.given_ is not None:
            given = with_columns_of(given, given_now, tuple(column.name for column in self.given_.columns))
        known, now = self._known(given, len(checked)), self._known(given_now, len(checked))
        places = self._places(given_now is not None, return_std)
        Z = self._latent(checked, now, variance=variance)
        if known is not None and self.given_features_ is not None:
            anywhere = Z if now is None else self._latent(checked, None, variance=variance)
            warn_of_extrapolation(type(self).__name__, self._overlap(checked, anywhere, known, now))
        rows, kept = self._rows(Z, known), np.zeros((len(checked), 1))
        if known is not None and now is not None and places is not None:
            at = np.flatnonzero(known.complete & now.complete)
            kept[at] = places.model.kept if share is None else share
            if share is None and len(at) and places.model.kept == 0.0:
                warn_of_nothing_kept(type(self).__name__)
            new, old = known.features[at], now.features[at]
            if keeps_row:
                own = self.frame_.inside(dense_points(checked))[at]
                rows[at] = places.changed_least(own, Z[at], old, new, self.n_jobs)
                return self._outside(X, checked, rows, kept, chosen)
            rows[at] += places.correction(Z[at], new, self.n_jobs)
            mean = self._rows(Z[at], now.take(at)) + places.correction(Z[at], old, self.n_jobs)
            rows[at] += kept[at] * places.model.moved(self.frame_.inside(dense_points(checked))[at] - mean, old, new)
        out = self._outside(X, checked, rows, kept, chosen)
        if not return_std:
            return out
        return out, self._std(places, Z, known, kept, chosen).astype(out.dtype, copy=False)

    def _checked_residual(self, residual: str | float, given_now: object) -> float | None:
        """The share of the residual that is kept; None: as the model says."""
        if isinstance(residual, str) and residual == "auto":
            return None
        number = not isinstance(residual, bool) and isinstance(residual, numbers.Real)
        if not number or not 0.0 <= float(residual) <= 1.0:
            remedy = 'Set "auto", a number from 0 (the conditional mean) to 1 (all of it), or "row"'
            raise ValueError(error_message(self, "residual", residual, "is not a share", remedy))
        if float(residual) > 0 and given_now is None:
            rule = "needs the current values of the rows to compute their residuals"
            raise ValueError(error_message(self, "residual", residual, rule, "Give given_now, or leave residual out"))
        return float(residual)

    def _places(self, knows_now: bool, return_std: bool) -> Places | None:
        """The change of rows at latent points; None if ``given`` was constant."""
        if not (knows_now or return_std) or self.marginal_forward_ is None:
            return None
        places = self._informed_maps().places
        if places is None:
            argument = "given_now" if knows_now else "return_std"
            rule = "needs the change model, which models saved by an older version lack"
            raise ValueError(error_message(self, argument, "something", rule, "Fit the model again"))
        return places

    def _outside(self, X: object, checked: Points, rows: Array, kept: Array, columns: Array | None) -> Array:
        """Rows in the units of the data; sparse rows keep their part outside the truncated basis."""
        out = outside_in_columns(self.frame_, rows, columns)
        if isinstance(self.frame_, TruncatedFrame) and kept.any():
            basis = outside_in_columns(self.frame_, self.frame_.inside(dense_points(checked)), columns)
            out = out + kept * (dense_columns(X, columns, checked.dtype) - basis)
        return np.asarray(out.astype(checked.dtype, copy=False))

    def _std(
        self, places: Places | None, Z: Array, known: EncodedGiven | None, kept: Array, columns: Array | None
    ) -> Array:
        """Standard deviations (m, c), in units of the data; of rows with a missing new ``given``, those of the map."""
        found = self._informed_maps().variance(Z, known, self.n_jobs, columns)
        if places is not None and known is not None:
            at = np.flatnonzero(known.complete)
            spread = places.variance(Z[at], known.features[at], kept[at], self.n_jobs)
            found[at] = variance_in_columns(self.frame_, spread, columns)
        return np.asarray(np.sqrt(found))

    @available_if(_has_corrected)
    @one_blas_thread
    def corrected(self, X: object, *, given: object, to: object = None, columns: object = None) -> Array:
        """The rows of ``X`` without the effect of ``given``, or with that of another value instead, shape (m, d).

        A row changes by the effect of its ``given`` alone, ``x - effect(given) + effect(to)``. Everything else is kept,
        noise included, so the result suits any later method. Each row is corrected independently of the others.

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows
            The known variables of the rows, in the columns of ``fit``, without a missing entry.
        to : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            The value to move the rows to. None: the mean effect over the training rows.
        columns : names, numbers or mask, default=None
            Columns to return, as in ``inverse_transform``.

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import KernelInformationEmbedding
        >>> batch = np.repeat(["a", "b"], 40)
        >>> X = np.random.default_rng(0).normal(size=(80, 3)) + 5.0 * (batch == "b")[:, None]
        >>> rows = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X, given=batch).corrected(X, given=batch)
        >>> bool(abs(rows[batch == "a"].mean() - rows[batch == "b"].mean()) < 0.1)
        True
        """
        checked = self._checked(X)
        known = self._complete("given", given, len(checked))
        target = None if to is None else self._complete("to", to, len(checked))
        assert known is not None  # there is an effect, so given was not constant
        assert self.forward_effect_ is not None
        inside = self.frame_.inside(dense_points(checked))
        change = change_of_given(self.forward_effect_, inside, known, target, self.given_features_)
        rows = as_rows_of(X, checked.dtype) if isinstance(self.frame_, TruncatedFrame) else dense_points(checked)
        changed = corrected_rows(rows, change, self.frame_, self._chosen(columns))
        return np.asarray(changed.astype(checked.dtype, copy=False))

    def _complete(self, argument: str, entries: object, n: int) -> EncodedGiven | None:
        """Encode ``given``, which may not be missing; None if it was constant over the training rows."""
        known = self._known(entries, n)
        if entries is None or (known is not None and not known.complete.all()):
            seen = "nothing" if entries is None else "a missing entry"
            rule = "does not say which effect to subtract"
            raise ValueError(error_message(self, argument, seen, rule, "Give an entry for each row, or one for all"))
        return known

    @available_if(_has_adapt)
    @one_blas_thread
    def adapt(self, X: object, *, given: object) -> Self:
        """Return a copy of the model with one more category of ``given``, estimated from a few rows of it.

        The offset of the category moves its rows onto similar rows of the map, after the effect of numbers in ``given``
        is subtracted; its spread, and the dependence of its effect on the row, are means over the known categories
        (``adapted_`` describes this). With several categorical columns the offset is the same for every value of the
        others. The map and the fitted rows do not change.

        Parameters
        ----------
        X : array of shape (m, d)
            Rows of the new category; they need not cover the whole map.
        given : scalar, or table or dict of columns
            The category, which was not in the fit; with several columns in ``given``, all of them:
            ``{"batch": "later", "pct_mito": values}``.

        Examples
        --------
        >>> import numpy as np
        >>> from sidelight import KernelInformationEmbedding
        >>> batch, rng = np.repeat(["a", "b"], 40), np.random.default_rng(0)
        >>> X = rng.normal(size=(80, 3)) + 5.0 * (batch == "b")[:, None]
        >>> model = KernelInformationEmbedding(max_iter=20, tol=1e-2).fit(X, given=batch)
        >>> new = rng.normal(size=(10, 3)) - 4.0
        >>> wider = model.adapt(new, given="c")
        >>> bool(abs(wider.corrected(new, given="c", to="a").mean()) < 1.0)
        True
        """
        checked, owner = self._checked(X), type(self).__name__
        assert self.given_ is not None
        assert self.effect_ is not None
        places = refuse_unadaptable(owner, self.given_, self.effect_, constant=self.marginal_forward_ is None)
        group = read_new_group(owner, self.given_, places, given, len(checked))
        rows = self.frame_.inside(dense_points(checked))
        found = adapt_maps(self.given_, self._informed_maps(), group, rows, self.n_jobs)
        model = copy(self)
        model.given_, model.effect_ = group.given, None if found.maps.given is None else found.maps.given.effect
        model._keep_informed_maps(found.maps, self.embedding_)
        model.adapted_ = [*getattr(self, "adapted_", []), found.note]
        model.adapted_rows_ = found.rows
        if self.adapted_rows_ is not None:
            model.adapted_rows_ = self.adapted_rows_.with_rows(found.rows, group.at)
        return model

    @available_if(_has_overlap)
    @one_blas_thread
    def overlap(self, X: object, *, given: object, given_now: object = None) -> Array:
        """Typicality (m,) of rows relative to the training rows of another ``given``, from 0 to 1.

        The share of training rows of that ``given`` that are less typical there than the row. Below 0.01 no similar row
        was seen, and ``counterfactual`` extrapolates. NaN if ``given`` is missing, or occurred in fewer than ten rows.
        A category that :meth:`adapt` added has the rows it was added with.

        Rows are compared by their latent points. If the groups overlap only partly (``confounded_``), a latent point
        may stand for other types of rows in another group. Rows are then compared in the data space, with the effect of
        ``given`` instead of that of their own group.

        Parameters
        ----------
        X : array of shape (m, d)
        given : array of shape (m,) or (m, g), table, or one value for all rows
            The value to compare with.
        given_now : array of shape (m,) or (m, g), table, or one value for all rows, default=None
            The current value of the rows. None or missing: that of the nearest training row. Used only if
            ``confounded_``.
        """
        variance, X = self._row_variance(X), self._checked(X)
        known, now = self._known(given, len(X)), self._known(given_now, len(X))
        if known is None:  # given was constant over the training rows
            return np.ones(len(X))
        return self._overlap(X, self._latent(X, None, variance=variance), known, now)

    def _overlap(self, X: Points, Z: Array, known: EncodedGiven, now: EncodedGiven | None) -> Array:
        assert self.given_ is not None
        assert self.given_features_ is not None
        points, density, features = Z, self.latent_density_, self.given_features_
        in_data = self.confounded_ and self.given_.categorical
        if in_data:
            points, density = self.frame_.inside(dense_points(X)), self.density_
        if self.adapted_rows_ is not None:
            density = self.adapted_rows_.added_to(density, in_data=in_data)
            features = np.concatenate([features, self.adapted_rows_.features])
        if in_data and self.forward_effect_ is not None:
            points = moved_to_group(self.forward_effect_, points, now, known, density.points, features)
        out = np.full(len(X), np.nan)
        rows = known.complete
        if rows.any():
            out[rows] = group_overlap(density, points[rows], known.features[rows], features, self.given_.of_categories)
        return out
