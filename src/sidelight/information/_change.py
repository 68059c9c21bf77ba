"""Fit the change model of counterfactuals: the change of rows with ``given``, and the share of residuals to keep.

The change is estimated from rows that were matched by their looks. Where residuals of the groups have unlike directions
(``change_.kept`` is 0), groups look unlike, as a car and a duck do, and the change is that of the maps alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sidelight.base.tiles import spans
from sidelight.base.types import Array
from sidelight.maps.changed_rows import ChangeModel, LeftOut, residual_model
from sidelight.maps.effect import principal_axes
from sidelight.maps.kernel_map import KernelMap
from sidelight.maps.matched_change import MatchedChange, find_matches, matched_change, place_features
from sidelight.maps.weights import FixedWeights
from sidelight.neighbours.landmarks import spread_rows
from sidelight.neighbours.search import nearest
from sidelight.neighbours.strata import MOST_STRATA, cells, codes_of

__all__ = ["change_of_rows"]


_ROWS = 2500  # rows that are matched and left out
_TILE = 4096  # rows whose change is computed together
_NEAR = 10  # of these, whose mean content is that of another row


def change_of_rows(forward: KernelMap, Z: Array, features: Array, categorical: bool, n_jobs: int | None) -> ChangeModel:
    """Fit the change of rows with ``given``.

    Parameters
    ----------
    forward : KernelMap
        From (z, scale · features) to the rows less the overall effect of ``given``.
    Z : array of shape (n, q)
        Latent points.
    features : array of shape (n, f)
        Encoded ``given``.
    categorical : bool
        Whether ``given`` has categories only. The change depends on the row for these alone.
    n_jobs : int or None
        Threads.
    """
    codes = codes_of(features) if categorical else cells(features, MOST_STRATA)
    if int(codes.max()) >= MOST_STRATA:
        codes, categorical = np.zeros(len(codes), dtype=np.int64), False
    groups = np.array([features[codes == code].mean(axis=0) for code in range(int(codes.max()) + 1)])
    rows = _stratified_sample(codes)
    rest = np.asarray(forward.outputs[rows], dtype=np.float64)
    change = matched_change(rest, codes[rows], n_jobs) if categorical else _unchanged(rest, codes[rows], n_jobs)
    content, nearest_row = change.content, np.arange(len(Z))
    if len(rows) < len(Z):
        near = nearest(Z[rows], Z, k=min(_NEAR, len(rows)), n_jobs=n_jobs).index
        content, nearest_row = content[near].mean(axis=1), near[:, 0]
    weights, some = forward.weights, None if len(rows) == len(Z) else rows
    assert isinstance(weights, FixedWeights)

    def residuals_and_kept(change: MatchedChange) -> ChangeModel:
        outputs = forward.outputs
        if change.coefficients.any():
            outputs = _without_change(outputs, place_features(np.eye(len(groups))[codes], content), change)
        residuals = np.asarray(outputs[rows] - weights.leave_one_out(outputs, some, n_jobs), dtype=np.float64)

        def mean(values: Array) -> Array:
            return weights.leave_one_out(values, some, n_jobs)

        left_out = LeftOut(residuals, codes[rows], nearest_row, mean)
        return residual_model(left_out, groups, change, content)

    found = residuals_and_kept(change)
    if found.kept == 0 and change.coefficients.any():  # groups look unlike, so that matches by looks say nothing
        found = residuals_and_kept(replace(change, coefficients=np.zeros_like(change.coefficients)))
    return found


def _without_change(outputs: Array, features: Array, change: MatchedChange) -> Array:
    """Outputs (n, d) less the change of each row, tile by tile: many rows are not copied as float64."""
    rest = np.empty_like(outputs)
    for part in spans(len(outputs), _TILE):
        rest[part] = outputs[part] - features[part] @ change.coefficients
    return rest


def _unchanged(rest: Array, codes: Array, n_jobs: int | None) -> MatchedChange:
    """A change that does not depend on the row, with the matches of rows."""
    n, d = rest.shape
    matches = find_matches(rest @ principal_axes(rest), codes, n_jobs)
    return MatchedChange(np.zeros((n, 0)), np.zeros((int(codes.max()) + 1, d)), np.zeros(d), matches)


def _stratified_sample(codes: Array) -> Array:
    """At most about 2,500 rows, evenly spaced, of each group as many as its share, and at least ten."""
    if len(codes) <= _ROWS:
        return np.arange(len(codes))
    members = [np.flatnonzero(codes == code) for code in range(int(codes.max()) + 1)]
    counts = [min(len(m), max(10, round(_ROWS * len(m) / len(codes)))) for m in members]
    return np.sort(np.concatenate([m[spread_rows(len(m), k)] for m, k in zip(members, counts, strict=True)]))
