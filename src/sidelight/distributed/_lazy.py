"""The methods of a fitted model as Dask graphs: a Dask array or data frame in, the same out, nothing computed yet.

Functions, not methods: they take every estimator and Pipeline, ours or not, and a method that returns numbers for one
container and a promise of numbers for another would surprise whoever calls it (decision 0044).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sidelight.base.messages import error_message
from sidelight.base.tiles import one_blas_thread, one_thread
from sidelight.base.types import Array
from sidelight.information._informed_mixin import InformedMixin
from sidelight.maps.two_way_mixin import TwoWayMixin

from ._columns import column_names
from ._dask import dask
from ._score import score_graph
from ._sent import Sent, send

__all__ = ["inverse_transform", "score", "score_samples", "transform"]


@dataclass(frozen=True)
class _Call:
    """One method of a model, called with partitions; ``names``: columns of the answer, None for one number per row."""

    method: str
    names: tuple[str, ...] | None
    keeps_names: bool
    """Whether the model knows the names of its columns, and wants to see them."""

    def on(self, model: Any, part: Any, given: object) -> Array:
        """The answer (m, w) or (m,) for a partition."""
        rows = part if self.keeps_names or not hasattr(part, "to_numpy") else part.to_numpy()
        if len(rows) == 0:
            return np.empty((0,) if self.names is None else (0, len(self.names)))
        known = {} if given is None else {"given": given}
        with one_thread():  # Dask runs as many tasks as a worker has threads
            return np.asarray(getattr(model, self.method)(rows, **known))


def transform(model: Any, X: Any, *, given: Any = None) -> Any:
    """Embed the rows of a Dask array or data frame by ``model.transform``, partition by partition, when it is computed.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        Sent to each worker once.
    X : dask.array.Array of shape (n, d), cut along the rows only, or dask.dataframe.DataFrame
    given : name or list of names, Dask array, series or data frame, or one value for all rows, default=None
        Known variables of the rows, as in ``model.transform``. Names are columns of the data frame ``X``, which then
        are no columns of the rows. Data of Dask has the partitions of ``X``.

    Returns
    -------
    Z : dask.array.Array of shape (n, q), or dask.dataframe.DataFrame
        A data frame keeps the index, and its columns are ``model.get_feature_names_out()``.

    See Also
    --------
    inverse_transform : The way back.
    sidelight.embed_rows : Fits a sample first, and refines places.

    Examples
    --------
    >>> import dask.array
    >>> from sidelight import ProbabilisticPCA
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(200, random_state=0).X
    >>> Z = transform(ProbabilisticPCA(2).fit(X), dask.array.from_array(X, chunks=(50, 3)))
    >>> Z.shape, Z.compute().shape
    ((200, 2), (200, 2))
    """
    names = tuple(map(str, model.get_feature_names_out()))
    return _graph("transform", model, X, given, _Call("transform", names, hasattr(model, "feature_names_in_")))


def inverse_transform(model: Any, Z: Any, *, given: Any = None) -> Any:
    """Map latent points of a Dask array or data frame to rows by ``model.inverse_transform``, when it is computed.

    Parameters
    ----------
    model : fitted estimator or Pipeline
    Z : dask.array.Array of shape (n, q), or dask.dataframe.DataFrame
    given : as of :func:`transform`, default=None

    Returns
    -------
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame
        The columns of a data frame are those that the model was fitted to, or x0, x1, ... if these had no names.

    See Also
    --------
    transform : The way to the map.
    score : How much survives both ways.

    Examples
    --------
    >>> import dask.array
    >>> from sidelight import ProbabilisticPCA
    >>> from sidelight.datasets import s_curve
    >>> model = ProbabilisticPCA(2).fit(s_curve(200, random_state=0).X)
    >>> inverse_transform(model, dask.array.zeros((8, 2), chunks=(4, 2))).compute().shape
    (8, 3)
    """
    names = getattr(model, "feature_names_in_", None)
    names = [f"x{k}" for k in range(model.n_features_in_)] if names is None else names
    return _graph("inverse_transform", model, Z, given, _Call("inverse_transform", tuple(map(str, names)), False))


def score_samples(model: Any, X: Any) -> Any:
    """Log-densities of the rows of a Dask array or data frame by ``model.score_samples``, when it is computed.

    Parameters
    ----------
    model : fitted estimator or Pipeline
        With a density of the data.
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame

    Returns
    -------
    log_density : dask.array.Array of shape (n,), or dask.dataframe.Series

    See Also
    --------
    score : One number for all rows.
    transform : Places partitions lazily.

    Examples
    --------
    >>> import dask.array
    >>> from sidelight import ProbabilisticPCA
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(200, random_state=0).X
    >>> score_samples(ProbabilisticPCA(2).fit(X), dask.array.from_array(X, chunks=(50, 3))).shape
    (200,)
    """
    return _graph("score_samples", model, X, None, _Call("score_samples", None, hasattr(model, "feature_names_in_")))


def score(model: Any, X: Any, *, given: Any = None) -> Any:
    """R² of the reconstruction of all rows, ``1 - |X - denoise(X)|² / |X - mean|²``, when it is computed.

    Parameters
    ----------
    model : fitted two-way estimator, whose ``score`` is this
    X : dask.array.Array of shape (n, d), or dask.dataframe.DataFrame
    given : as of :func:`transform`, default=None

    Returns
    -------
    score : dask.delayed.Delayed
        Of a float. Sums of the partitions are merged pair by pair in fixed order.

    See Also
    --------
    score_samples : The log density of each row.
    transform : Places partitions lazily.

    Examples
    --------
    >>> import dask.array
    >>> from sidelight import TwoWayEmbedding
    >>> from sidelight.datasets import s_curve
    >>> X = s_curve(200, random_state=0).X
    >>> model = TwoWayEmbedding().fit(X)
    >>> bool(abs(score(model, dask.array.from_array(X, chunks=(50, 3))).compute() - model.score(X)) < 1e-12)
    True
    """
    if next((kind for kind in type(model).__mro__ if "score" in vars(kind)), None) not in (TwoWayMixin, InformedMixin):
        rule, remedy = "has another score, or none", "Use score_samples(model, X).mean() for a mean log-density"
        raise TypeError(error_message("score", "model", type(model).__name__, rule, remedy))
    width = int(model.n_features_in_)
    call = _Call("denoise", ("",) * width, hasattr(model, "feature_names_in_"))
    X, known, constant = _separated("score", X, given)
    parts = list(np.ravel(X.to_delayed()))
    known_parts = [None] * len(parts) if known is None else list(np.ravel(known.to_delayed()))
    return score_graph(call.on, send(model), parts, known_parts, constant)


def _graph(owner: str, model: Any, X: Any, given: Any, call: _Call) -> Any:
    """The answers of a model for all partitions, as a Dask array, data frame or series."""
    X, known, constant = _separated(owner, X, given)
    options = {"sent": send(model), "call": call, "constant": constant}
    return _of_array(X, known, call, options) if hasattr(X, "numblocks") else _of_frame(X, known, call, options)


def _of_frame(X: Any, known: Any, call: _Call, options: dict[str, Any]) -> Any:
    import pandas as pd

    dtype = np.result_type(np.float32, *X.dtypes) if all(t.kind in "biuf" for t in X.dtypes) else np.float64
    meta = pd.Series(dtype=dtype, name=call.method) if call.names is None else pd.DataFrame(
        {name: np.empty(0, dtype) for name in call.names}
    )  # fmt: skip
    others = () if known is None else (known,)
    return X.map_partitions(_frame, *others, **options, precision=dtype, meta=meta, token=call.method)


def _of_array(X: Any, known: Any, call: _Call, options: dict[str, Any]) -> Any:
    dtype = np.result_type(X.dtype, np.float32)
    others = () if known is None else (known if known.ndim == 2 else known[:, None], "ik")
    meta = np.empty((0,) * (1 if call.names is None else 2), dtype)
    width = {} if call.names is None else {"j": len(call.names)}
    return dask.array.blockwise(
        _array, "ij" if width else "i", X, "ij", *others, **options, precision=dtype, dtype=dtype, meta=meta,
        token=call.method, adjust_chunks=width, concatenate=True, align_arrays=False,
    )  # fmt: skip


def _separated(owner: str, X: Any, given: Any) -> tuple[Any, Any, object]:
    """Rows, their ``given`` as Dask data with the same partitions, and one value for all rows."""
    if not hasattr(X, "to_delayed") or getattr(X, "ndim", 0) != 2:
        rule, remedy = "is no Dask array or data frame of rows and columns", "Call the method of the model itself"
        raise TypeError(error_message(owner, "X", type(X).__name__, rule, remedy))
    if hasattr(X, "numblocks") and X.numblocks[1] > 1:
        rule, remedy = f"is cut into {X.numblocks[1]} parts along the columns", "Give X.rechunk({1: -1})"
        raise ValueError(error_message(owner, "X", f"array of chunks {X.chunksize}", rule, remedy))
    names = column_names(X, given)
    if names is not None:
        return X[[name for name in X.columns if name not in names]], X[names], None
    if not hasattr(given, "to_delayed"):
        if np.ndim(given) > 0 and not hasattr(given, "index"):  # a series of scalars is one value of several columns
            rule, remedy = "is in memory, and the rows are not", "Give names of columns, or Dask data cut like X"
            raise TypeError(error_message(owner, "given", type(given).__name__, rule, remedy))
        return X, None, given
    if hasattr(X, "numblocks") and hasattr(given, "rechunk") and given.chunks[0] != X.chunks[0]:
        given = given.rechunk({0: X.chunks[0]})
    return X, given, None


@one_blas_thread
def _array(
    part: Array, given: Array | None = None, *, sent: Sent, call: _Call, constant: object, precision: Any
) -> Array:
    return call.on(sent.value, np.require(part, None, ["C", "ALIGNED"]), constant if given is None else given).astype(
        precision, copy=False
    )


@one_blas_thread
def _frame(part: Any, given: Any = None, *, sent: Sent, call: _Call, constant: object, precision: Any) -> Any:
    import pandas as pd

    found = call.on(sent.value, part, constant if given is None else given).astype(precision, copy=False)
    if call.names is None:
        return pd.Series(found, index=part.index, name=call.method)
    return pd.DataFrame(found, index=part.index, columns=list(call.names))
