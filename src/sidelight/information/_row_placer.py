"""Place rows in a fitted embedding: the function of a batch that ``embed_rows`` calls here or on workers.

Without ``given``, or for a row whose ``given`` is known, the row (less its effect) goes to the minimum of its own part
of the objective (``maps.new_points``), if the model has one. A row whose ``given`` is missing has no counterpart among
the corrected rows: it goes where the map that averages over ``given`` puts it, as ``transform`` does.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from sklearn.pipeline import Pipeline

from sidelight.base.messages import error_message
from sidelight.base.types import Array, DType, Untyped
from sidelight.kernels.profiles import profile
from sidelight.kernels.repulsion import repulsion_table
from sidelight.maps.new_points import NewPointEmbedder
from sidelight.maps.weights import PrecomputedWeights

from ._multilevel import ATTRACTION
from ._solver_choice import current_name
from .annealing import Annealing
from .kernel_information_embedding import KernelInformationEmbedding
from .missing import Missing

__all__ = ["Embedder", "RowPlacer", "last_step", "row_placer"]


class Embedder(Protocol):
    """An estimator that can be fitted and embeds new rows, of this library or of another."""

    def fit(self, X: Array, /) -> object:
        """Fit the rows ``X`` (n, d)."""

    def transform(self, X: Array, /) -> Array:
        """Embed rows (m, d) as (m, q)."""


@dataclass(frozen=True)
class RowPlacer:
    """Map from a batch of rows (m, d) of float64 and their ``given`` to latent points (m, q).

    Parameters
    ----------
    model : estimator or Pipeline
        Fitted. With ``refined``, only what the placing needs of it.
    refined : NewPointEmbedder or None
        None: places are those of ``model.transform``.
    dtype : data type
        Of rows and places.
    """

    model: Untyped
    refined: NewPointEmbedder | None
    dtype: DType

    def __call__(self, X: Array, given: object = None) -> Array:
        """Latent points (m, q), each row independently of the others."""
        X = X.astype(self.dtype)
        last = last_step(self.model)
        inside = self.model[:-1].transform(X) if isinstance(self.model, Pipeline) and len(self.model) > 1 else X
        if self.refined is None:
            return np.array(last.transform(inside) if given is None else last.transform(inside, given=given))
        assert isinstance(last, KernelInformationEmbedding)  # no other model has a refinement
        points = np.asarray(last.frame_.points(last._checked(inside)))
        Z = last.latent_frame_.outside(self._places(self.refined, last, points, given))
        return np.asarray(Z.astype(X.dtype, copy=False))

    def _places(
        self, refined: NewPointEmbedder, last: KernelInformationEmbedding, points: Array, given: object
    ) -> Array:
        """Refined places (m, q) of rows in units of the frame; those of rows without a known ``given`` by the mean."""
        if last.given_ is None or last.effect_ is None or last.marginal_ is None:
            return refined(points, last.n_jobs)  # nothing was given, or the same for all rows
        known = last.given_.encode(last, given, len(points))
        at, effect = known.complete, last.effect_
        Z = np.empty((len(points), refined.places.shape[1]))
        if at.any():
            Z[at] = refined(points[at] - effect.at_rows(points[at], known.features[at]), last.n_jobs)
        if not at.all():
            Z[~at] = last.marginal_(points[~at], last.n_jobs)
        return Z


def last_step(model: Untyped) -> Untyped:
    """The last step of a Pipeline, or the model itself."""
    return model[-1] if isinstance(model, Pipeline) else model


def row_placer(owner: str, model: Embedder, refine: bool | None, dtype: DType) -> RowPlacer:
    """The function that places batches: the model's ``transform``, refined if wanted and possible."""
    last = last_step(model)
    refined = None if refine is False else _refinement(last)
    if refined is not None:
        return RowPlacer(_lean(model), refined, dtype)
    if refine:
        rule = "is no multilevel kernel information embedding of at most three dimensions"
        raise ValueError(error_message(owner, "model", type(last).__name__, rule, "Use refine=None"))
    return RowPlacer(model, None, dtype)


def _refinement(model: object) -> NewPointEmbedder | None:
    """The refinement of a model's embedding of new rows; None if the model does not support it."""
    if not isinstance(model, KernelInformationEmbedding):
        return None
    if model.metric == "precomputed" or current_name(model.solver_) != "multilevel":
        return None
    if model.product_backward_ is not None:
        return None
    latent, Z = profile(model.latent_kernel_), model.backward_.outputs
    table = repulsion_table(Z, latent, model.n_jobs)
    if table is None:
        return None
    weights = model.backward_.weights
    assert not isinstance(weights, PrecomputedWeights)
    inputs = weights.inputs
    k = max(2, min(len(inputs), round(model.perplexity)))
    attraction = 1.0 + ATTRACTION * Annealing.of(model.regularization).regularization
    return NewPointEmbedder(inputs, Z, table, latent, k, model.perplexity_, attraction)


_NEEDED = (
    "n_features_in_", "feature_names_in_", "frame_", "latent_frame_", "given_", "effect_", "marginal_",
)  # fmt: skip


def _lean(model: Untyped) -> Untyped:
    """Copy of a fitted model reduced to what embedding needs: about half the size to send to every worker."""
    if isinstance(model, Pipeline):
        return Pipeline([*model.steps[:-1], (model.steps[-1][0], _lean(model[-1]))])
    if Missing.of(model.missing).fills:  # by its other maps
        return model
    lean = copy.copy(model)
    for name in vars(model):
        if name.endswith("_") and name not in _NEEDED:
            delattr(lean, name)
    return lean
