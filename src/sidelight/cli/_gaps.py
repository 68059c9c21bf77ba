"""Missing entries that stay missing (``--missing keep``): which models take them, and how."""

from __future__ import annotations

from typing import Any

from sklearn.utils import get_tags

from sidelight.information.kernel_options import KernelOptions

from ._matrix import Matrix
from ._output import CommandError
from ._sparse_rows import has_gaps

__all__ = ["let_take_gaps"]


def let_take_gaps(model: Any, method: str, matrix: Matrix, *, after_metric: bool) -> str:
    """Prepare a model for rows with missing entries; return a sentence, "" where none is missing.

    Raises
    ------
    CommandError
        If the method cannot take missing entries.
    """
    if not has_gaps(matrix.X):
        return ""
    where = f"entries are missing in {', '.join(list(matrix.gaps)[:3])}"
    if after_metric:
        raise CommandError(f"a metric cannot be learned if {where}; use --missing drop, or --missing mean")
    parameters = model.get_params(deep=False)
    if parameters.get("missing") == "refuse":
        model.set_params(missing=_way(parameters))
    if not get_tags(model).input_tags.allow_nan:
        rule = f"--method {method} takes no missing entries, and {where}"
        raise CommandError(f"{rule}; use --method kie or ppca, --missing drop, or --missing mean")
    if "missing" not in parameters:
        return "Missing entries are integrated out by the model."
    known = "; how uncertain they are enters the distances" if model.get_params()["missing"] == "expected" else ""
    return f"Missing entries are estimated from the most similar rows{known}."


def _way(parameters: dict[str, Any]) -> str:
    """Value of the parameter ``missing``: "expected" where the settings allow it, else "impute"."""
    kernel = KernelOptions.of(parameters["kernel"])
    gaussian = kernel.profile == "gaussian" and kernel.storage in ("auto", "dense")
    plain = parameters["metric"] == "euclidean" and parameters["bandwidth"] != "learned"
    return "expected" if gaussian and plain else "impute"
