"""Schemas of the fitted attributes of each class, in the language of ``_schema.py``, checked by ``_model_check.py``.

A file whose checksum is right can still hold anything, and what it holds wrongly should be said at once and not by a
failing product of matrices later. A new dataclass or fitted attribute is one line here (a test says which is missing);
the types of fields come from their annotations, so lines are needed for arrays, ranges and what belongs together.

Sizes: n rows that a map knows, N rows of the fit, d columns, q latent dimensions; in a map from a to b columns.
A ``~`` in front of a specification: not every fit leaves the attribute behind.
"""

from __future__ import annotations

from ._records import KERNEL

__all__ = ["FITTED"]

_ROWS = {"n_features_in_": "count:d", "feature_names_in_": "~text (d)"}
_COURSE = {"history_": "~list dict plain", "n_iter_": "~count"}
_TWO_WAY = _ROWS | {
    "frame_": "record a=d",
    "latent_frame_": "record a=q",
    "embedding_": "float (N, q)",
    "backward_": "record a=d b=q",
    "forward_": "~record n=n a=q b=d",
    "density_": "~record n=n a=d",
    "latent_density_": "record a=q",
}
_SPARSE_ROWS = {"n_features_in_": "count", "feature_names_in_": "~text (*)"}
"""Of a model that was fitted to sparse rows, d are the coordinates in a truncated basis (``_check_columns``)."""
_PATH = _COURSE | {"path_": "~real (*, N, q)", "regularization_path_": "~real (*)"}
_METRIC = _ROWS | {
    "n_components_": "count:r",
    "span_": "?record d=d p=p",
    "mean_": "~float (d)",
    "components_": "~float (r, d)",
    "inverse_components_": "~float (r, d)",
    "coefficients_": "~float (p, r)",
}
_COORDINATED = _COURSE | {
    "n_features_in_": "count",
    "feature_names_in_": "~text",
    "centre_": "float (D)",
    "scale_": "float (D)",
    "map_": "record D=D q=q k=k",
    "n_charts_": "count:k",
    "n_local_": "list:k count",
    "disagreement_": "real (*)",
    "balance_": "number~",
    "distortion_": "number~",
    "off_plane_": "real (*)",
    "alignment_": "~choice:coordination|geodesic|linear|automatic",
    "bridging_": "int",
    "embedding_": "~float (N, q)",
    "training_densities_": "~real (*, *)",
    "training_latent_densities_": "~real (*)",
    "row_errors_": "~record q=q",
}
_GRAM = {"certificate_": "dict plain", "gram_eigenvalues_": "float (*)", "explained_": "float (*)"}
_NETWORK = _COURSE | {"parameters_": "dict float", "architecture_": "~record", "weight_decay_": "~number"}
_NETWORK_ROWS = _ROWS | _NETWORK | {"frame_": "record a=d"}
_NETWORK_PAIRS = (
    _ROWS | _NETWORK | {"n_outputs_": "count:e", "input_frame_": "record a=d", "output_frame_": "record a=e"}
)
_NETWORK_FIELDS = _NETWORK | {
    "alone_": "~number",
    "search_": "~list dict plain",
    "model_": "model",
    "layout_": "~record",
    "n_channels_in_": "count:d",
    "n_channels_out_": "count:e",
    "bare_": "flag",
    "input_frame_": "record a=d",
    "output_frame_": "record a=e",
}
_MIXTURE = (
    _ROWS
    | _COURSE
    | {
        "charts_": "record d=d k=k",
        "dtype_": "choice:float32|float64|<f4|<f8",
        "n_charts_": "count:k",
        "weights_": "float (k)",
        "means_": "float (k, d)",
        "n_samples_seen_": "count",
        "running_": "dict plain",
        "training_densities_": "~real (*)",
        "reduction_": "~?record D=d",
        "held_out_scores_": "~dict number~",
    }
)

FITTED: dict[str, dict[str, str]] = {
    "KernelInformationEmbedding": _TWO_WAY
    | _SPARSE_ROWS
    | _PATH
    | {
        "forward_": "~record n=n b=d",  # under given it takes features, too
        "solver_": "string",
        "latent_kernel_": KERNEL,
        "given_": "?record",
        "perplexity_": "~positive",
        "data_kernel_": "~string",
        "kernel_error_": "~?dict number~",
        "confounded_": "~?flag",
        "represented_": "~?real (N, *)",
        "only_here_": "~list string",
        "no_shift_": "~list string",
        "explained_": "~?number~",
        "bandwidth_": "~number / float (N)",
        "effect_": "?record",
        "marginal_": "?record a=d b=q",
        "marginal_forward_": "?record a=q b=d",
        "forward_effect_": "?record b=d",
        "given_scale_": "~number / float (1, *)",
        "given_features_": "~?float (*, *)",
        "change_": "~?record d=d",
        "adapted_": "~list string",
        "adapted_rows_": "~?record q=q",
        "conditioning_": "~?string",
        "given_bandwidth_": "~?plain",
        "product_backward_": "~?record b=q",
        "product_scale_": "~number / float (1, *)",
        "dimension_": "~number~",
        "sum_error_": "~number~",
        "filler_": "~record d=d",
        "filled_": "~float (N, d)",
        "filled_variance_": "~float (N, d)",
        "novel_": "~bool (N)",
        "region_": "~int (N)",
        "versions_": "~list dict plain",
        "drift_": "~list dict plain",
    },
    "JointInformationEmbedding": _TWO_WAY
    | _PATH
    | {
        "n_pairs_": "~count",
        "bandwidth_": "~list number / list float (*)",
        "views_": "list record q=q",
        "y_is_flat_": "~flag",
        "prediction_": "~?record a=d",
    },
    "UnsupervisedKernelRegression": _TWO_WAY
    | _PATH
    | {"reconstruction_error_": "~number", "bandwidth_": "~number / float (N)"},
    "SmootherEmbedding": _TWO_WAY
    | {
        "eigenvalues_": "~float (*)",
        "scale_": "~number",
        "reconstruction_error_": "~number",
        "bandwidth_": "~number / float (N)",
    },
    "TwoWayEmbedding": _TWO_WAY
    | _SPARSE_ROWS
    | {"estimator_description_": "~string", "estimator_": "~model", "linear_": "~record a=d b=q"}
    | {"projection_": "~record a=d b=q"},
    "HybridEmbedding": _TWO_WAY
    | {
        "scale_": "~number",
        "eigenvalues_": "~float (*)",
        "nystrom_": "?record a=d",
        "correction_": "~?record b=q",
    },
    "SemidefiniteEmbedding": _TWO_WAY | _COURSE | _GRAM | {"landmarks_": "index:N (*)"},
    "ActionRespectingEmbedding": _TWO_WAY
    | _COURSE
    | _GRAM
    | {
        "actions_": "record n=N",
        "states_": "index:P (N)",
        "place_rows_": "index:N (P)",
        "latent_": "float (N, *)",
        "rigid_maps_": "list plain",
        "trusted_steps_": "~bool (*)",
        "solved_by_": "~choice:program|translations|dynamics",
        "dynamics_": "~?record",
        "action_vectors_": "~?real (N, *)",
    },
    "MultipleRelationalEmbedding": _TWO_WAY
    | _COURSE
    | {
        "n_features_in_": "~count:d",
        "frame_": "~record a=d",
        "backward_": "~record a=d b=q",
        "has_data_": "flag",
        "relations_": "record",
        "relation_names_": "list:R string",
        "transformations_": "float (R, q, q)",
        "relation_weights_": "~float (R, q)",
        "relation_shares_": "~float (R, q)",
        "axis_names_": "~list:q string",
        "relation_scores_": "~dict number",
        "maps_": "dict record q=q",
    },
    "ProbabilisticPCA": _ROWS
    | _COURSE
    | {
        "centre_": "float (d)",
        "scale_": "float (d)",
        "model_": "record d=d q=q",
        "gaussian_": "?record d=d",
        "n_components_": "count:q",
        "mean_": "float (d)",
        "components_": "float (q, d)",
        "explained_variance_": "float (q)",
        "noise_variance_": "number / float (d)",
        "embedding_": "~float (N, q)",
        "training_densities_": "~real (*)",
        "training_latent_densities_": "~real (*)",
        "row_errors_": "~record q=q",
        "entry_errors_": "~real (*, d) / record e=d",
        "unit_": "~number",
        "moments_": "~dict float",
    },
    "PPCAMixture": _MIXTURE
    | {
        "charts_": "record d=c k=k",  # of sparse rows: of coordinates
        "reduction_": "~?record D=d a=c",
        "components_": "list:k float (*, d)",
        "noise_variance_": "float (k) / float (k, *)",  # of columns scaled by their spread: of each
        "n_local_": "list:k count",
        "family_": "~record",
        "criteria_": "~dict number~",
        "covariance_": "~choice:plane|diagonal|full",
    },
    "BernoulliMixture": _MIXTURE | {"prior_": "~float (*)", "gaussian_": "~?record d=d"},
    "CoordinatedMixture": _COORDINATED | {"n_features_in_": "count:D", "feature_names_in_": "~text (D)"},
    "CoordinatedCCA": _COORDINATED
    | {
        "joint_embedding_": "~float (N, q)",
        "y_is_flat_": "flag",
        "n_columns_y_": "count",
        "view_columns_": "list index:D (*)",
        "cross_": "record D=D",
        "prediction_errors_": "~record q=q",
    },
    "EquivalenceMetric": _METRIC | {"n_pairs_": "~list count", "regularization_": "~number~", "form_": "~string"},
    "MultiAttributeMetric": _METRIC | {"attributes_": "list string"},
    "DistanceMetric": _METRIC | _COURSE | {"misfit_": "~number", "regularization_": "~number~", "prior_": "~string"},
    "CountEncoder": _ROWS | {"shares_": "float (d)", "total_": "positive", "reduction_": "record D=d"},
    "TableEncoder": _ROWS
    | {
        "columns_": "list:d record",
        "codes_": "list:p record",
        "blocks_": "list:p record",
        "layout_": "record",
    },
    "Imputer": _ROWS
    | {
        "plan_": "record d=d",
        "model_": "?record d=p",
        "method_": "string",
        "held_out_": "dict number",
        "column_errors_": "~dict number",
        "n_held_out_": "count",
        "sample_": "~record d=p",
        "seed_": "count",
    },
    "RestrictedBoltzmannMachine": _NETWORK_ROWS,
    "Autoencoder": _NETWORK_ROWS,
    "GatedBoltzmannMachine": _NETWORK_PAIRS,
    "GatedAutoencoder": _NETWORK_PAIRS,
    "BiasedAutoencoder": _NETWORK_PAIRS,
    "GatedField": _NETWORK_FIELDS,
    "Manifield": _NETWORK_FIELDS,
}
"""Specifications of the fitted attributes of each estimator."""
