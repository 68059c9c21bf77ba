"""Rows without the effect of ``given``, and with that of another value or the mean over the training rows instead.

y = x - E(x, given),        corrected = y + E(y, to)      or      y + Σ_g n_g E(y, g) / n
"""

from __future__ import annotations

import numpy as np

from sidelight.base.types import Array, Untyped
from sidelight.maps.effect import Effect
from sidelight.maps.frames import AnyFrame
from sidelight.maps.truncated import TruncatedFrame, dense_columns
from sidelight.neighbours.search import nearest
from sidelight.side.given import EncodedGiven

__all__ = ["change_of_given", "corrected_rows", "moved_to_group"]


def corrected_rows(X: Untyped, change: Array, frame: AnyFrame, columns: Array | None) -> Array:
    """Rows (m, d), dense or sparse, with a ``change`` in units of the frame added: (m, c) in some columns, None: all.

    In a truncated frame the change is one of coordinates.
    """
    if isinstance(frame, TruncatedFrame):
        basis = frame.reduction.basis
        change = change @ (basis if columns is None else basis[columns]).T
    elif columns is not None:
        change = change[:, columns]
    return np.asarray(dense_columns(X, columns, X.dtype) + change * frame.scale)


def moved_to_group(
    effect: Effect, rows: Array, now: EncodedGiven | None, to: EncodedGiven, training: Array, features: Array
) -> Array:
    """Rows (m, d) with the effect of another ``given`` instead of their own, in units of the data frame.

    Parameters
    ----------
    effect : Effect
    rows : array of shape (m, d)
    now, to : EncodedGiven
        ``given`` of the rows as they are, and the one they are moved to. A row whose own is unknown (``now`` None, or a
        missing entry) counts as one of the group of the training row nearest to it. Rows with a missing entry in ``to``
        stay as they are.
    training, features : array of shape (n, d), array of shape (n, f)
        The training rows and their encoded ``given``.
    """
    own = np.zeros(to.features.shape) if now is None else now.features.copy()
    unknown = np.ones(len(rows), dtype=bool) if now is None else ~now.complete
    if unknown.any():
        own[unknown] = features[nearest(training, rows[unknown], k=1, n_jobs=1).index[:, 0]]
    out, at = rows.copy(), np.flatnonzero(to.complete)
    rest = rows[at] - effect.at_rows(rows[at], own[at])
    out[at] = rest + effect.at_rest(rest, to.features[at])
    return out


def change_of_given(
    effect: Effect, rows: Array, known: EncodedGiven, to: EncodedGiven | None, features: Array | None
) -> Array:
    """Correction to add to ``rows`` (m, d), in the scaled units of the data frame.

    Parameters
    ----------
    effect : Effect
    rows : array of shape (m, d)
    known, to : EncodedGiven
        ``given`` of the rows as they are, and the one they are moved to; None: the mean effect.
    features : array of shape (n, f) or None
        ``given`` of the training rows; None in a model of an older file, whose mean effect counts as that of the frame.
    """
    taken_off = effect.at_rows(rows, known.features)
    rest = rows - taken_off
    if to is not None:
        return np.asarray(effect.at_rest(rest, to.features) - taken_off)
    if features is None:
        return -taken_off
    return np.asarray(effect.mean_at_rest(rest, features) - taken_off)
