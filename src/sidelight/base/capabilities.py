"""Capabilities of a model: declared once by its class, queried with :func:`capabilities`.

A class declares the most it offers, near its head::

    _capabilities = TWO_WAY.also("takes_given", "has_given")

A fitted model may offer less: an embedding of precomputed distances has no inverse, a model fitted without a second
view predicts none. ``capabilities(model)`` is what this model offers now. An estimator of another library declares
nothing; its capabilities are derived here from the methods and attributes it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from .messages import error_message
from .model import FittedModel

__all__ = [
    "ENCODER",
    "FIELDS",
    "IMPUTER",
    "METRIC",
    "MIXTURE",
    "NETWORK",
    "NETWORK_OF_ROWS",
    "TWO_WAY",
    "TWO_WAY_ITERATIVE",
    "Capabilities",
    "axis_names_of",
    "capabilities",
    "declared",
    "feature_names_of",
    "given_of",
    "history_of",
    "require",
]


def _method(name: str) -> bool:
    """A capability that is a method, which the model may have or not (``available_if``)."""
    found: bool = field(default=False, metadata={"method": name})
    return found


def _fitted(name: str) -> bool:
    """A capability that is a fitted attribute, set by some fits or by every fit of the class."""
    found: bool = field(default=False, metadata={"fitted": name})
    return found


def _argument(name: str) -> bool:
    """A capability that is an argument of ``fit``."""
    found: bool = field(default=False, metadata={"argument": name})
    return found


def _where(holds: Callable[[Any], bool]) -> bool:
    """A capability that depends on the parameters of the model."""
    found: bool = field(default=False, metadata={"where": holds})
    return found


def _is_pairwise(model: object) -> bool:
    return isinstance(model, BaseEstimator) and bool(get_tags(model).input_tags.pairwise)


@dataclass(frozen=True)
class Capabilities:
    """Capabilities of a model; a field without a method, argument or attribute is a fixed property of the class."""

    # maps and densities
    has_transform: bool = _method("transform")
    has_inverse: bool = _method("inverse_transform")
    has_jacobian: bool = _method("jacobian")
    has_inverse_jacobian: bool = _method("inverse_jacobian")
    has_counterfactual: bool = _method("counterfactual")
    has_corrected: bool = _method("corrected")
    has_adapt: bool = _method("adapt")
    has_variance: bool = _method("predictive_variance")
    has_latent_density: bool = _method("latent_log_density")
    has_density: bool = _method("score_samples")
    has_typicality: bool = _method("typicality")
    has_training_typicality: bool = _method("training_typicality")
    has_latent_typicality: bool = _method("latent_typicality")
    has_novelty: bool = _method("is_novel")
    has_row_interval: bool = _method("inverse_transform_interval")
    has_place_interval: bool = _method("transform_interval")
    has_predict_interval: bool = _method("predict_interval")
    has_impute_interval: bool = _method("impute_interval")
    has_counterfactual_interval: bool = _method("counterfactual_interval")
    has_overlap: bool = _method("overlap")
    has_score: bool = _method("score")
    score_is_log_density: bool = False
    """``score`` is a mean log density; otherwise it is a share of variance."""
    has_cost: bool = _method("estimate_cost")
    has_parameters: bool = _method("get_params")
    # from an input to an output, and back to the input
    has_predict: bool = _method("predict")
    has_transfer: bool = _method("transfer")
    has_flow: bool = _method("flow")
    has_denoise: bool = _method("denoise")
    has_impute: bool = _method("impute")
    has_reconstruct: bool = _method("reconstruct")
    # what fit takes
    takes_given: bool = _argument("given")
    takes_pairs: bool = _argument("same")
    takes_relations: bool = _argument("relations")
    takes_actions: bool = _argument("actions")
    takes_trajectory: bool = _argument("trajectory")
    takes_held: bool = _argument("held")
    """Rows that stay at the initial points ``init``."""
    takes_second_view: bool = False
    """``y`` of ``fit`` is a second view of the rows, with ``transform_view`` and ``inverse_transform_view``."""
    takes_fields: bool = _fitted("n_channels_in_")
    """Samples are sequences or pictures of any size, and ``model_`` is the model of their patches."""
    takes_distances: bool = _where(_is_pairwise)
    """``X`` holds distances between rows instead of columns."""
    # what a fit sets
    has_embedding: bool = _fitted("embedding_")
    has_given: bool = _fitted("given_")
    """``given_`` (None where nothing was given), ``explained_`` and ``confounded_``."""
    has_relations: bool = _fitted("relation_shares_")
    """``relations_``, ``relation_names_``, ``relation_shares_`` and ``axis_names_``."""
    has_spectrum: bool = _fitted("gram_eigenvalues_")
    """``gram_eigenvalues_``, ``explained_`` and ``certificate_``."""
    has_history: bool = _fitted("history_")
    has_iterations: bool = _fitted("n_iter_")
    has_columns: bool = _fitted("n_features_in_")
    has_feature_names: bool = _fitted("feature_names_in_")
    # networks
    is_network: bool = _fitted("parameters_")
    learns_by_contrast: bool = False
    """Trained by contrastive divergence: the training loss is no measure of fit."""
    has_column_weights: bool = _where(lambda model: model.premapping is None)
    """Weights connect columns of inputs to columns of outputs directly."""
    has_predictor: bool = _where(lambda model: model.predictor is not None)
    """A network guesses the output before mapping units correct it, so that ``predict`` needs no guess."""

    def also(self, *names: str) -> Capabilities:
        """Return these capabilities and the named ones."""
        return replace(self, **dict.fromkeys(names, True))

    @property
    def makes_outputs(self) -> bool:
        """Whether the model predicts outputs from inputs, and has no embedding of either."""
        return not (self.has_embedding or self.has_transform) and (self.has_transfer or self.has_predict)

    @property
    def finds_clusters(self) -> bool:
        """Whether the model is a mixture without a map: ``predict`` is the component of a row."""
        return self.has_predict and self.score_is_log_density and not self.has_embedding

    @property
    def gives_back(self) -> bool:
        """Whether a trained network reconstructs rows through codes, but has no embedding of its own."""
        return self.is_network and not self.has_embedding and (self.has_denoise or self.has_reconstruct)


FIELDS = {one.name: one.metadata for one in fields(Capabilities)}
"""Name of a capability -> how it is found on a model: ``method``, ``fitted``, ``argument`` or ``where``."""

_ROWS = Capabilities().also("has_parameters", "has_columns", "has_feature_names")

TWO_WAY = _ROWS.also(
    "has_transform", "has_inverse", "has_variance", "has_latent_density", "has_density", "has_score", "has_cost",
    "has_denoise", "has_embedding", "has_typicality", "has_latent_typicality", "has_jacobian", "has_inverse_jacobian",
    "has_novelty", "has_training_typicality", "has_row_interval", "has_place_interval",
)  # fmt: skip
"""An embedding of rows with an inverse."""

TWO_WAY_ITERATIVE = TWO_WAY.also("has_history", "has_iterations")
"""The same, fitted in iterations that ``history_`` records."""

METRIC = _ROWS.also("has_transform", "has_inverse", "has_cost", "has_jacobian", "has_inverse_jacobian")
"""A learned metric: a transformation of the columns, as preprocessing for another model."""

ENCODER = _ROWS.also("has_transform", "has_inverse", "has_cost")
"""Turns a table into numbers and back, as preprocessing for another model."""

IMPUTER = _ROWS.also("has_transform", "has_cost")
"""Fills the missing entries of a table, as preprocessing for another model."""

MIXTURE = _ROWS.also(
    "has_transform", "has_predict", "has_density", "has_score", "score_is_log_density", "has_cost", "has_denoise",
    "has_impute", "has_typicality", "has_novelty", "has_history", "has_iterations", "has_jacobian",
)  # fmt: skip
"""A density of several components; ``predict`` is the component of a row."""

NETWORK = Capabilities().also("has_parameters", "is_network", "has_history", "has_iterations", "has_score")
"""A trained network."""

NETWORK_OF_ROWS = NETWORK.also("has_columns", "has_feature_names")
"""A network whose inputs are rows."""

_UNDECLARED = Capabilities().also(
    "takes_distances", *(name for name, shown in FIELDS.items() if "method" in shown or "fitted" in shown)
)
"""Estimators of other libraries may have any method and any fitted attribute."""


def capabilities(model: object) -> Capabilities:
    """Return the current capabilities of a model.

    Parameters
    ----------
    model : estimator, fitted or not
        For one of this library: what its class declares, less what this model lacks. For another: derived from its
        methods and attributes.

    Returns
    -------
    Capabilities

    Examples
    --------
    >>> from sidelight import KernelInformationEmbedding
    >>> capabilities(KernelInformationEmbedding()).has_inverse
    True
    >>> capabilities(KernelInformationEmbedding(metric="precomputed")).has_inverse
    False
    """
    own = getattr(model, "_capabilities", None)
    most = own if isinstance(own, Capabilities) else _UNDECLARED
    offered = {name: getattr(most, name) for name in FIELDS}
    return Capabilities(**{name: yes and _has_declared(model, FIELDS[name]) for name, yes in offered.items()})


def declared(kind: type) -> Capabilities:
    """Return the declared capabilities of a class of this library; none for a class of another library."""
    own = getattr(kind, "_capabilities", None)
    return own if isinstance(own, Capabilities) else Capabilities()


def _has_declared(model: object, where: Mapping[str, Any]) -> bool:
    """Whether this model has a declared capability: ``available_if`` hides methods, a fit may set no attribute."""
    for kind, what in where.items():
        if kind in ("method", "fitted"):
            return hasattr(model, what)
        if kind == "where":
            return bool(what(model))
    return True


def require(owner: str, model: object, *names: str) -> None:
    """Raise if a model lacks one of the named capabilities, each of which must be a method."""
    offers = capabilities(model)
    missing = [FIELDS[name]["method"] for name in names if not getattr(offers, name)]
    if missing:
        remedy = "Give a fitted two-way model; TwoWayEmbedding makes one of any embedding"
        raise ValueError(error_message(owner, "model", type(model).__name__, f"has no {missing[0]}", remedy))


def given_of(model: FittedModel) -> Any:
    """Return the side information ``given_`` of a fitted model, or None."""
    return model.given_ if capabilities(model).has_given else None


def axis_names_of(model: FittedModel) -> list[str]:
    """Return the relation that each latent axis belongs to, "" where it belongs to none; empty without relations."""
    return [str(name) for name in model.axis_names_] if capabilities(model).has_relations else []


def feature_names_of(model: FittedModel) -> list[str] | None:
    """Return the names of the columns that a model was fitted on, or None where they had none."""
    return [str(name) for name in model.feature_names_in_] if capabilities(model).has_feature_names else None


def history_of(model: FittedModel) -> list[dict[str, Any]]:
    """Return the records of the fit, one per iteration; empty for a model that is not iterative."""
    return list(model.history_) if capabilities(model).has_history else []
