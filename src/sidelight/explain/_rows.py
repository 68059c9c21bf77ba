"""Rows one by one: which features move a row along each axis here, and what put it where it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread

from ._paths import mean_slopes
from ._reading import Reading, read_model
from ._tables import tidy

__all__ = ["local", "rows"]

Array = npt.NDArray[Any]
_MOST = 20_000_000  # records of a table


@one_blas_thread
def local(model: Any, X: Any, *, given: Any = None, output: str | None = None) -> Any:
    """Which features move each row along each axis of the map, at its place: the derivatives of ``transform``.

    Parameters
    ----------
    model : fitted model or Pipeline
        With a ``jacobian``; the steps of a Pipeline before it are linear (:mod:`sidelight.explain` says which are).
    X : array, sparse array or table of shape (m, d)
    given : array of shape (m,) or (m, g), or table, default=None
        The known variables of the rows, for a model that was fitted with them: held, and features are looked at after
        their effect.
    output : {"pandas", "polars"} or None, default=None
        Kind of the table; None: as scikit-learn's ``set_config(transform_output=...)`` says.

    Returns
    -------
    table
        A record for each row, axis and feature: its ``value``, the ``slope`` in units of the map per unit of the
        feature, and ``standardised``, in units of the map per standard deviation of the feature over the rows.

    See Also
    --------
    rows : Between rows instead of around one.
    axes : Over the whole map.

    Examples
    --------
    >>> from sidelight import ProbabilisticPCA, explain
    >>> X = np.random.default_rng(0).normal(size=(50, 3)) * [5.0, 1.0, 1.0]
    >>> table = explain.local(ProbabilisticPCA(1).fit(X), X)
    >>> table[table.row == 0].set_index("feature").slope.abs().idxmax()
    '0'
    """
    owner = "explain.local"
    reading = read_model(owner, model, X, given)
    every = np.arange(reading.n)
    _check_records(owner, reading)
    J = reading.of_features(reading.smooth.slope(reading.coordinates, every))
    u = np.concatenate([reading.units(tile) for tile in reading.tiles(every)])
    values = {"slope": J, "standardised": J * u.std(axis=0)}
    return tidy(owner, _records(reading, {"value": u}, values), output)


@one_blas_thread
def rows(
    model: Any,
    X: Any,
    *,
    given: Any = None,
    baseline: int | None = None,
    tolerance: float = 1e-6,
    output: str | None = None,
) -> Any:
    """What put each row where it is: contributions of its features to its place, which sum to it exactly.

    The derivative of ``transform`` integrated along the straight line from a baseline to the row (integrated gradients,
    Sundararajan, Taly and Yan, ICML 2017).

    Parameters
    ----------
    model : fitted model or Pipeline
        As for :func:`local`.
    X : array, sparse array or table of shape (m, d)
    given : array of shape (m,) or (m, g), or table, default=None
        As for :func:`local`.
    baseline : int or None, default=None
        Number of the row that the others are compared with; None: the mean of the rows.
    tolerance : float, default=1e-6
        Of the integrals, relative to the difference of places. What is left of the difference is distributed over the
        features by their squared differences, so that contributions sum to it to rounding in any case.
    output : {"pandas", "polars"} or None, default=None
        As for :func:`local`.

    Returns
    -------
    table
        A record for each row, axis and feature: ``value``, ``baseline``, the mean ``slope`` between them, and the
        ``contribution``, in units of the map. For each row and axis, contributions sum to the difference between
        ``transform`` of the row and of the baseline.

    See Also
    --------
    difference : Of two selections.
    local : Around each row.

    Examples
    --------
    >>> from sidelight import TwoWayEmbedding, explain
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = TwoWayEmbedding(maps="kernel").fit(X)
    >>> found = explain.rows(model, X[:2], baseline=0)
    >>> sums = found[found.row == 1].groupby("axis").contribution.sum().to_numpy()
    >>> bool(np.allclose(sums, model.transform(X[1:2])[0] - model.transform(X[:1])[0], atol=1e-10))
    True
    """
    owner = "explain.rows"
    reading = read_model(owner, model, X, given)
    every = np.arange(reading.n)
    _check_records(owner, reading)
    if baseline is not None and not -reading.n <= baseline < reading.n:
        rule = f"is not the number of one of the {reading.n} rows"
        raise ValueError(error_message(owner, "baseline", baseline, rule, "Count rows from 0"))
    u = np.concatenate([reading.units(tile) for tile in reading.tiles(every)])
    C = reading.coordinates
    start, first = (C.mean(axis=0), u.mean(axis=0)) if baseline is None else (C[baseline], u[baseline])
    found = mean_slopes(reading.smooth, np.broadcast_to(start, C.shape), C, every, tolerance=tolerance)
    J = reading.of_features(found.slopes)
    by_row = {"value": u, "baseline": np.broadcast_to(first, u.shape)}
    return tidy(owner, _records(reading, by_row, {"slope": J, "contribution": J * (u - first)[:, None]}), output)


def _records(reading: Reading, by_row: dict[str, Array], by_axis: dict[str, Array]) -> dict[str, Any]:
    """Columns of a table from values (m, d) of rows and values (m, q, d) of rows and axes."""
    m, q, d = next(iter(by_axis.values())).shape
    names = np.array(reading.features, dtype=object)
    return {
        "row": np.repeat(np.arange(m), q * d),
        "axis": np.tile(np.repeat(np.array(reading.axes, dtype=object), d), m),
        "feature": np.tile(names, m * q),
        **{name: np.repeat(values[:, None], q, axis=1).ravel() for name, values in by_row.items()},
        **{name: values.ravel() for name, values in by_axis.items()},
    }


def _check_records(owner: str, reading: Reading) -> None:
    count = reading.n * len(reading.axes) * len(reading.features)
    if count > _MOST:
        rule = f"make a table of {count} records"
        remedy = "Give fewer rows, or compare groups with explain.difference"
        raise ValueError(
            error_message(owner, "X", f"{reading.n} rows of {len(reading.features)} features", rule, remedy)
        )
