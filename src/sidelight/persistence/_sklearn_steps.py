"""The scikit-learn steps that a model file may hold: their modules, fitted attributes and consistency checks.

A Pipeline often has a scaler, an imputer or an encoder in front of the model. The state of those listed here is arrays
and plain values, so it is saved like that of our own estimators; the code is the installed scikit-learn's. A class is
one entry of ``STEPS`` (attributes in the language of ``_schema.py``, ``~`` in front: not every fit sets it).

Compiled code of SciPy trusts the indices of sparse matrices, which ``OneHotEncoder`` computes from its attributes:
``_check_one_hot`` must not be relaxed.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import sklearn

from ._schema import MismatchError

__all__ = [
    "NAMED_FUNCTIONS",
    "STEPS",
    "STEP_CHECKS",
    "add_later_attributes",
    "check_step_parameters",
    "is_step",
    "output_width",
    "step_class",
    "step_state",
]

_COLUMNS = {"n_features_in_": "count:d", "feature_names_in_": "~text (d)", "_sklearn_output_config": "~dict string"}
_SEEN = {"n_samples_seen_": "number / int (d) / float (d)"}
_CATEGORIES = {
    "categories_": "list:d values (*)",
    "_infrequent_enabled": "flag",
    "_infrequent_indices": "~list:d ?index (*)",
    "_default_to_infrequent_mappings": "~list:d ?index (*)",
}
_SPECTRUM = {
    "components_": "float (q, d)",
    "explained_variance_": "real (q)",
    "explained_variance_ratio_": "real (q)",
    "singular_values_": "real (q)",
}

_DATA = "sklearn.preprocessing"

STEPS: dict[str, tuple[str, dict[str, str]]] = {
    "StandardScaler": (
        _DATA,
        _COLUMNS | _SEEN | {"mean_": "?real (d)", "var_": "?real (d)", "scale_": "?real (d)"},
    ),
    "MinMaxScaler": (
        _DATA,
        _COLUMNS | _SEEN | dict.fromkeys(("scale_", "min_", "data_min_", "data_max_", "data_range_"), "real (d)"),
    ),
    "RobustScaler": (_DATA, _COLUMNS | {"center_": "?real (d)", "scale_": "?real (d)"}),
    "MaxAbsScaler": (_DATA, _COLUMNS | _SEEN | {"max_abs_": "real (d)", "scale_": "real (d)"}),
    "Normalizer": (_DATA, _COLUMNS),
    "PowerTransformer": (_DATA, _COLUMNS | {"lambdas_": "real (d)", "_scaler": "~model"}),
    "QuantileTransformer": (
        _DATA,
        _COLUMNS | {"n_quantiles_": "count:k", "references_": "float (k)", "quantiles_": "real (k, d)"},
    ),
    "FunctionTransformer": (_DATA, _COLUMNS | {"n_features_in_": "~count:d"}),
    "OneHotEncoder": (
        _DATA,
        _COLUMNS
        | _CATEGORIES
        | {
            "drop_idx_": "?values (d)",
            "_drop_idx_after_grouping": "?values (d)",
            "_n_features_outs": "list:d count",
        },
    ),
    "OrdinalEncoder": (_DATA, _COLUMNS | _CATEGORIES | {"_missing_indices": "dict count"}),
    "PCA": (
        "sklearn.decomposition",
        _COLUMNS
        | _SPECTRUM
        | {
            "mean_": "float (d)",
            "n_components_": "count:q",
            "n_samples_": "count",
            "noise_variance_": "number~",
            "_fit_svd_solver": "string",
        },
    ),
    "TruncatedSVD": ("sklearn.decomposition", _COLUMNS | _SPECTRUM),
    "VarianceThreshold": ("sklearn.feature_selection", _COLUMNS | {"variances_": "real (d)"}),
    "SelectKBest": ("sklearn.feature_selection", _COLUMNS | {"scores_": "real (d)", "pvalues_": "~?real (d)"}),
    "SimpleImputer": (
        "sklearn.impute",
        _COLUMNS
        | {
            "statistics_": "values (d)",
            "indicator_": "?model",
            "_fit_dtype": "dtype",
            "_fill_dtype": "~dtype",
        },
    ),
    "MissingIndicator": (
        "sklearn.impute",
        _COLUMNS | {"features_": "index:d (*)", "_n_features": "count:d", "_precomputed": "flag"},
    ),
    "ColumnTransformer": (
        "sklearn.compose",
        _COLUMNS
        | {
            "transformers_": "list plain",
            "output_indices_": "dict slice",
            "sparse_output_": "flag",
            "_columns": "list plain",
            "_transformer_to_input_indices": "dict list count",
            "_remainder": "list plain",
            "_transformers_feature_names_out": "~text (*)",
        },
    ),
}
"""Name of a class -> module that has it, and specifications of its fitted attributes."""

NAMED_FUNCTIONS = ("f_classif", "f_regression", "r_regression", "chi2", "mutual_info_classif", "mutual_info_regression")
"""Functions of ``sklearn.feature_selection`` that a parameter may name (``score_func``)."""

_NOT_STATE = ("_metadata_request",)
_OUTPUTS = (None, "default", "pandas", "polars")


def step_class(name: str) -> type[Any] | None:
    """Return the scikit-learn class of that name, or None when the table does not have it."""
    if name not in STEPS:
        return None
    found = getattr(importlib.import_module(STEPS[name][0]), name, None)
    return found if isinstance(found, type) else None


def is_step(value: object) -> bool:
    """Whether a value is an instance of a listed class; a subclass may do anything and is none."""
    return step_class(type(value).__name__) is type(value)


def step_state(step: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters that differ from their defaults, and the fitted attributes.

    Parameters at their defaults are left out, so that a parameter that another version of scikit-learn does not know
    matters only where it was used.

    Raises
    ------
    MismatchError
        If the step has an attribute that the table does not know, or one that is not as the table says.
    """
    parameters = step.get_params(deep=False)
    attributes = {name: value for name, value in vars(step).items() if name not in parameters}
    attributes = {name: value for name, value in attributes.items() if name not in _NOT_STATE}
    unknown = sorted(set(attributes) - set(STEPS[type(step).__name__][1]))
    if unknown:
        raise MismatchError(f"has an attribute {unknown[0]}, which scikit-learn {sklearn.__version__} set")
    if type(step).__name__ == "ColumnTransformer" and "_columns" in attributes:
        # A function that selects columns is code; the columns that it selected are data.
        chosen = zip(parameters["transformers"], attributes["_columns"], strict=True)
        parameters["transformers"] = [(name, inner, columns) for (name, inner, _), columns in chosen]
    defaults = {name: one.default for name, one in inspect.signature(type(step)).parameters.items()}
    return {n: v for n, v in parameters.items() if not _is_default(v, defaults.get(n))}, attributes


def _is_default(value: Any, default: Any) -> bool:
    plain = type(value) in (bool, int, float, str, tuple) and type(value) is type(default)
    return value is default or (plain and bool(value == default))


def add_later_attributes(step: Any) -> None:
    """Set attributes that a newer scikit-learn needs and an older one did not write."""
    if type(step).__name__ == "SimpleImputer" and hasattr(step, "_fit_dtype") and not hasattr(step, "_fill_dtype"):
        step._fill_dtype = step._fit_dtype  # 1.6 has one type for both


def output_width(step: Any) -> int | None:
    """Return the number of output columns of a fitted step or model; None if unknown."""
    try:
        return len(step.get_feature_names_out())
    except (AttributeError, ValueError, TypeError, LookupError):  # a step without names, or not fitted
        return None


def check_step_parameters(step: Any) -> None:
    """Raise ``MismatchError`` where scikit-learn would refuse a parameter at ``fit``, or where it is code."""
    try:
        step._validate_params()
    except (ValueError, TypeError) as error:
        raise MismatchError(f"has a parameter that scikit-learn refuses ({str(error)[:120]})") from None
    if type(step).__name__ == "FunctionTransformer":
        _check_function(step)
    output = getattr(step, "_sklearn_output_config", {})
    if not isinstance(output, dict) or any(kind not in _OUTPUTS for kind in output.values()):
        raise MismatchError("has an output of an unknown kind")


def _check_parts(step: Any, **wanted: bool) -> None:
    """Attributes that must be there, or not, as the parameters say."""
    for name, there in wanted.items():
        if (getattr(step, name, None) is not None) < there:
            raise MismatchError(f"has no {name}, which belongs to such a fit")


def _check_standard(step: Any) -> None:
    _check_parts(step, mean_=bool(step.with_mean), scale_=bool(step.with_std))


def _check_robust(step: Any) -> None:
    _check_parts(step, center_=bool(step.with_centering), scale_=bool(step.with_scaling))


def _check_power(step: Any) -> None:
    _check_parts(step, _scaler=bool(step.standardize))
    if step.standardize:
        _check_inner(step._scaler, "StandardScaler", step.n_features_in_)


def _check_imputer(step: Any) -> None:
    if (step.indicator_ is not None) != bool(step.add_indicator):
        raise MismatchError("has indicator_, which contradicts add_indicator")
    if step.indicator_ is not None:
        _check_inner(step.indicator_, "MissingIndicator", step.n_features_in_)


def _check_inner(inner: Any, name: str, width: int) -> None:
    if type(inner) is not step_class(name) or getattr(inner, "n_features_in_", None) != width:
        raise MismatchError(f"holds something other than a fitted {name} of {width} columns")


def _check_function(step: Any) -> None:
    """Only functions of one array that NumPy offers by name."""
    for function in (step.func, step.inverse_func):
        if function is not None and not (isinstance(function, np.ufunc) and function.nin == function.nout == 1):
            raise MismatchError("has a function that is not a NumPy ufunc of one array")
    if step.kw_args or step.inv_kw_args:
        raise MismatchError("has kw_args or inv_kw_args, which are not saved")


def _check_groups(step: Any) -> list[int]:
    """Return the number of levels of each column after infrequent categories are joined."""
    mappings = getattr(step, "_default_to_infrequent_mappings", None)
    if step._infrequent_enabled and (mappings is None or not hasattr(step, "_infrequent_indices")):
        raise MismatchError("has no _default_to_infrequent_mappings, which belong to such a fit")
    levels = []
    for column, categories in enumerate(step.categories_):
        mapping = mappings[column] if step._infrequent_enabled and mappings is not None else None
        known = len(categories)
        if mapping is not None:
            rare = step._infrequent_indices[column]
            if rare is None or len(mapping) != known or (np.asarray(rare) >= known).any():
                raise MismatchError("has infrequent categories that do not match categories_")
            joined = np.unique(mapping)
            if not np.array_equal(joined, np.arange(len(joined))):
                raise MismatchError("has infrequent categories that do not match categories_")
            known = len(joined)
        levels.append(known)
    return levels


def _check_one_hot(step: Any) -> None:
    """The columns that the encoder makes are those of its categories, without the dropped ones."""
    levels = _check_groups(step)
    dropped = step._drop_idx_after_grouping
    if (dropped is None) != (step.drop_idx_ is None):
        raise MismatchError("has drop_idx_, which contradicts _drop_idx_after_grouping")
    for column in range(len(levels)) if dropped is not None else ():
        own, first = dropped[column], step.drop_idx_[column]
        if own is None:
            continue
        if not (_is_index(own, levels[column]) and _is_index(first, len(step.categories_[column]))):
            raise MismatchError("has drop_idx_, which points outside the categories")
        levels[column] -= 1
    if list(step._n_features_outs) != levels:
        raise MismatchError("has _n_features_outs, which contradicts categories_")


def _check_ordinal(step: Any) -> None:
    _check_groups(step)
    for column, place in step._missing_indices.items():
        if not (_is_index(column, len(step.categories_)) and _is_index(place, len(step.categories_[column]))):
            raise MismatchError("has _missing_indices, which point outside the categories")


def _is_index(value: Any, size: int) -> bool:
    return isinstance(value, int | np.integer) and 0 <= int(value) < size


def _check_columns(step: Any) -> None:
    """Inner steps by name, with the columns that they were fitted on."""
    names = [_check_triple(item) for item in step.transformers]
    _check_triple(step._remainder)
    fitted = [_check_triple(item) for item in step.transformers_]
    if fitted[: len(names)] != names or len(fitted) > len(names) + 1 or len(step._columns) != len(names):
        raise MismatchError("has transformers_, which are not its transformers")
    indices = step._transformer_to_input_indices
    if not set(fitted) <= set(indices) or set(step.output_indices_) != set(indices):
        raise MismatchError("has output_indices_, which are not those of its transformers")
    for name, inner, _ in step.transformers_:
        if any(column >= step.n_features_in_ for column in indices[name]):
            raise MismatchError(f"has a transformer {name!r} of columns that there are not")
        width = getattr(inner, "n_features_in_", len(indices[name]))
        if len(indices[name]) and not isinstance(inner, str) and width != len(indices[name]):
            raise MismatchError(f"has a transformer {name!r} of {width} columns, which is given {len(indices[name])}")


def _check_triple(item: Any) -> str:
    """Return the name in ``(name, step, columns)``."""
    if not isinstance(item, tuple) or len(item) != 3 or not isinstance(item[0], str):
        raise MismatchError("has transformers that are not tuples of name, step and columns")
    if not (hasattr(item[1], "get_params") or item[1] in ("drop", "passthrough")):
        raise MismatchError(f"has a transformer {item[0]!r} that is not a step")
    return item[0]


STEP_CHECKS: dict[str, Callable[[Any], None]] = {
    "StandardScaler": _check_standard,
    "RobustScaler": _check_robust,
    "PowerTransformer": _check_power,
    "SimpleImputer": _check_imputer,
    "OneHotEncoder": _check_one_hot,
    "OrdinalEncoder": _check_ordinal,
    "ColumnTransformer": _check_columns,
}
"""What several attributes of a fitted step must have in common, beyond sizes."""
