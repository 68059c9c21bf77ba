"""Output of each row: latent coordinates, clusters of a mixture, codes of pairs, or predicted outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from sidelight.base.capabilities import capabilities
from sidelight.base.chain import Chain, last_step_of
from sidelight.base.model import FittedModel

from ._second_view import SecondView
from ._sparse_rows import coordinates
from ._write import latent_names

__all__ = ["CLUSTER", "Placement", "place_fitted", "place_new"]

Array = NDArray[Any]
CLUSTER = "cluster"
"""Column with the number of the component of a row, counted from 1."""


@dataclass(frozen=True)
class Placement:
    """Columns that a model adds to each row.

    Parameters
    ----------
    values : array of shape (n, q)
        Coordinates, responsibilities, codes or outputs.
    names : list of str
        Names of their columns.
    columns : mapping of str to array of shape (n,)
        What is written before them: the cluster.
    words : str
        What is written, in one sentence; "" for coordinates of a map.
    plane : array of shape (n, 2), or None
        What the report shows as the map, if the model has none.
    """

    values: Array
    names: list[str]
    columns: Mapping[str, Array] = field(default_factory=dict)
    words: str = ""
    plane: Array | None = None


def place_fitted(
    model: FittedModel, X: Any, *, y: Any = None, second: SecondView | None = None, side: Mapping[str, Any]
) -> Placement:
    """The rows that a model was fitted on; ``y`` are the outputs of a model of pairs."""
    offers = capabilities(model)
    if offers.has_embedding:
        return Placement(np.asarray(model.embedding_), latent_names(model))
    if y is not None and offers.makes_outputs:
        return _of_pairs(model, X, y, second)
    return place_new(model, X, side)


def place_new(model: FittedModel, X: Any, side: Mapping[str, Any]) -> Placement:
    """New rows, by ``transform``."""
    if capabilities(last_step_of(model)).finds_clusters:
        return _of_mixture(model, X)
    return Placement(np.asarray(model.transform(X, **side)), latent_names(model))


def _of_mixture(model: FittedModel, X: Any) -> Placement:
    """Cluster, local coordinates in its chart where it has some, and the probabilities of all clusters."""
    mixture, table = last_step_of(model), model.rows(X) if isinstance(model, Chain) else X
    rows, shares = coordinates(table), np.asarray(mixture.transform(table))
    nearest = shares.argmax(axis=1)
    reduction = mixture.reduction_
    local = _local_coordinates(mixture.charts_, rows if reduction is None else reduction.scores(table), nearest)
    names = [f"u{k + 1}" for k in range(local.shape[1])] + [f"p{k + 1}" for k in range(shares.shape[1])]
    where = " u1, u2, ... are coordinates within it," if local.shape[1] else ""
    words = (
        f"A mixture has clusters and no common map: {CLUSTER} is the most likely one of {shares.shape[1]},{where} "
        "p1, p2, ... are the probabilities of all; the report shows principal components."
    )
    return Placement(np.column_stack([local, shares]), names, {CLUSTER: nearest + 1}, words, _components(rows))


def _local_coordinates(charts: Any, rows: Array, nearest: Array) -> Array:
    """Coordinates (n, q) of each row in its own chart; charts of fewer dimensions leave the last ones at 0."""
    found = np.zeros((len(rows), max(charts.n_local, default=0)))
    for chart, width in enumerate(charts.n_local):
        own = nearest == chart
        if width and own.any():
            found[own, :width] = charts.features(rows[own], chart)
    return found


def _components(rows: Array) -> Array | None:
    """Two principal components of rows (n, 2), or None where there are not two."""
    if min(rows.shape) < 2 or not np.isfinite(rows).all():
        return None
    return np.asarray(PCA(2).fit_transform(rows.astype(np.float64)))


def _of_pairs(model: FittedModel, X: Any, y: Any, second: SecondView | None) -> Placement:
    """Codes of the change from X to y; of a model that only predicts, its outputs in the units of the data."""
    if capabilities(model).has_transfer:
        codes = np.asarray(model.infer(X, y))
        words = f"A model of pairs: z1 to z{codes.shape[1]} are codes of how each row became that of --view-y."
        return Placement(codes, [f"z{k + 1}" for k in range(codes.shape[1])], words=words)
    assert second is not None
    outputs = second.to_data(model.predict(X))
    words = "A model that predicts has no map: the columns are the predicted rows of --view-y."
    return Placement(outputs, [f"predicted {name}" for name in second.names], words=words)
