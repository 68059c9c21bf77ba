"""Rows without the effect of ``given``: ``x - effect(given) + effect(to)``, or the mean effect of the training rows."""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array, Untyped
from sidelight.maps.effect import Effect
from sidelight.maps.frames import AnyFrame
from sidelight.maps.truncated import TruncatedFrame, dense_rows, is_sparse
from sidelight.side.given import EncodedGiven

__all__ = ["change_of_given", "corrected_rows"]


def corrected_rows(X: Untyped, change: Array, frame: AnyFrame, columns: Array | None) -> Array:
    """Rows (m, d), dense or sparse, with a ``change`` in units of the frame added: (m, c) in some columns, None: all.

    In a truncated frame the change is one of coordinates.
    """
    if isinstance(frame, TruncatedFrame):
        basis = frame.reduction.basis
        change = change @ (basis if columns is None else basis[columns]).T
    elif columns is not None:
        change = change[:, columns]
    rows = X if columns is None else X.tocsc()[:, columns] if is_sparse(X) else X[:, columns]
    return np.asarray(dense_rows(rows, X.dtype) + change * frame.scale)


def change_of_given(effect: Effect, known: EncodedGiven, to: EncodedGiven | None, features: Array | None) -> Array:
    """What is added to rows (m, d), in units of the data frame.

    Parameters
    ----------
    effect : Effect
    known, to : EncodedGiven
        ``given`` of the rows as they are, and the one they are moved to; None: the mean effect.
    features : array of shape (n, f) or None
        ``given`` of the training rows; None in a model of an older file, whose mean effect counts as that of the frame.
    """
    if to is not None:
        wanted = effect(to.features)
    elif features is None:
        wanted = np.zeros(effect.coefficients.shape[1])
    else:
        distinct, counts = np.unique(features, axis=0, return_counts=True)
        wanted = np.average(effect(distinct), axis=0, weights=counts)
    return np.asarray(wanted - effect(known.features))
