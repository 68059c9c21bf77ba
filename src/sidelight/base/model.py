"""The interface of a fitted model, as the command line, reports and plots use it.

A model of this library, one of another library and a :class:`~sidelight.base.chain.Chain` all satisfy it in part. None
has everything: ask :func:`~sidelight.base.capabilities.capabilities` first what a model has.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from .cost import Cost

__all__ = ["FittedModel"]

Array = npt.NDArray[Any]


class FittedModel(Protocol):
    """Methods and fitted attributes that the command line, reports and plots use. The capability is in parentheses."""

    # has_columns, has_feature_names
    n_features_in_: int
    feature_names_in_: Array
    # has_embedding, has_history, has_iterations
    embedding_: Array
    history_: list[dict[str, Any]]
    n_iter_: int
    # has_given: side information (None without), the share of variance it explains (has_spectrum: of every axis)
    given_: Any
    explained_: Any
    confounded_: bool
    only_here_: Sequence[str]
    no_shift_: Sequence[str]
    change_: Any
    # has_relations
    relations_: Any
    relation_names_: Sequence[str]
    relation_shares_: Array
    axis_names_: Sequence[str]
    # has_spectrum
    certificate_: Mapping[str, float] | None
    # is_network, takes_fields
    parameters_: Mapping[str, Array]
    model_: Any
    structure: str
    patch_size: Any
    input_frame_: Any
    n_components: int
    n_mapping: int
    init: Any

    def transform(self, X: Any, **side: Any) -> Array:
        """Latent coordinates of rows (has_transform)."""

    def inverse_transform(self, Z: Any, **side: Any) -> Array:
        """Rows at latent points (has_inverse)."""

    def inverse_transform_interval(self, Z: Any, **options: Any) -> Any:
        """Intervals of the rows at latent points (has_row_interval)."""

    def latent_log_density(self, Z: Any) -> Array:
        """Log density at latent points (has_latent_density)."""

    def typicality(self, X: Any, **side: Any) -> Array:
        """Share of training rows of lower density than each row (has_typicality)."""

    def training_typicality(self) -> Array:
        """Typicality of the training rows, each left out of its own density (has_training_typicality)."""

    def latent_typicality(self, Z: Any) -> Array:
        """Share of training rows of lower latent density than each latent point (has_latent_typicality)."""

    def counterfactual(self, X: Any, *, given: Any, **options: Any) -> Array:
        """Return rows (m, d) as they would be under another value of ``given`` (has_counterfactual)."""

    def counterfactual_interval(self, X: Any, *, given: Any, **options: Any) -> Any:
        """Intervals of the entries of such rows (has_counterfactual_interval)."""

    def corrected(self, X: Any, *, given: Any, to: Any = None, columns: Any = None) -> Array:
        """Return rows (m, d) without the effect of ``given``, or with that of ``to`` instead."""

    def adapt(self, X: Any, *, given: Any) -> Any:
        """The model with one more category of ``given``, and ``adapted_``: what was done (has_adapt)."""

    def overlap(self, X: Any, *, given: Any, given_now: Any = None) -> Array:
        """How usual rows are among the training rows of another value of ``given`` (has_overlap)."""

    def score(self, X: Any, **side: Any) -> float:
        """Share of variance explained, or mean log density (has_score)."""

    def score_samples(self, X: Any) -> Array:
        """Log density of rows (has_density)."""

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Estimated bytes and seconds of a fit (has_cost)."""

    def transform_view(self, V: Any, view: int) -> Array:
        """Latent coordinates of rows of one view (takes_second_view)."""

    def inverse_transform_view(self, Z: Any, view: int) -> Array:
        """Rows of one view at latent points (takes_second_view)."""

    def predict(self, X: Any) -> Any:
        """Predict outputs from inputs (has_predict)."""

    def predict_interval(self, X: Any, **options: Any) -> Any:
        """Intervals of these outputs (has_predict_interval)."""

    def denoise(self, X: Any) -> Any:
        """Inputs reconstructed through the embedding (has_denoise)."""

    def impute(self, X: Any) -> Array:
        """Rows with estimates in place of missing entries (has_impute)."""

    def reconstruct(self, X: Any) -> Any:
        """Inputs reconstructed through the latent code (has_reconstruct)."""

    def infer(self, X: Any, y: Any) -> Array:
        """Codes of the transformation of each row of X to that of y (has_transfer)."""

    def transfer(self, X: Any, y: Any, X_new: Any) -> Any:
        """Apply the transformation seen in pairs (X, y) to new inputs (has_transfer)."""

    def flow(self, X: Any, y: Any, *, shape: tuple[int, int] | None = None) -> Array:
        """The output column that each input column is mapped to, or with ``shape`` displacements (has_flow)."""

    def get_feature_names_out(self) -> Array:
        """Names of the latent coordinates."""
