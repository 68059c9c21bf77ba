"""The face of a fitted model, as the rooms above the estimators read it.

A model of the library, one of another library and a :class:`~sidelight.base.chain.Chain` all pass for it. None has
everything: :func:`~sidelight.base.capabilities.capabilities` says what a model has, and is asked first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from .cost import Cost

__all__ = ["FittedModel"]

Array = npt.NDArray[Any]


class FittedModel(Protocol):
    """Methods and fitted attributes that command line, report and plots use."""

    # has_columns, has_feature_names
    n_features_in_: int
    feature_names_in_: Array
    # has_embedding, has_history, has_iterations
    embedding_: Array
    history_: list[dict[str, Any]]
    n_iter_: int
    # has_given: what was given (None without), the share of variance it explains (of has_spectrum: of every axis)
    given_: Any
    explained_: Any
    confounded_: bool
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

    def latent_log_density(self, Z: Any) -> Array:
        """Log density at latent points (has_latent_density)."""

    def score(self, X: Any, **side: Any) -> float:
        """Share of variance, or log density (has_score)."""

    def score_samples(self, X: Any) -> Array:
        """Log density of rows (has_density)."""

    def estimate_cost(self, n: int, d: int) -> Cost:
        """Bytes and seconds of a fit (has_cost)."""

    def transform_view(self, V: Any, view: int) -> Array:
        """Latent coordinates of rows of one view (takes_second_view)."""

    def inverse_transform_view(self, Z: Any, view: int) -> Array:
        """Rows of one view at latent points (takes_second_view)."""

    def predict(self, X: Any) -> Any:
        """Outputs of inputs (has_predict)."""

    def denoise(self, X: Any) -> Any:
        """Inputs again, through the map (has_denoise)."""

    def reconstruct(self, X: Any) -> Any:
        """Inputs again, through the code (has_reconstruct)."""

    def transfer(self, X: Any, Y: Any, X_new: Any) -> Any:
        """New inputs after what was done in pairs (has_transfer)."""

    def flow(self, X: Any, Y: Any, *, shape: tuple[int, int] | None = None) -> Array:
        """Where each column of inputs goes (has_flow)."""

    def get_feature_names_out(self) -> Array:
        """Names of the latent coordinates."""
