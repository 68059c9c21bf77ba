"""Validation of parameters and arrays, with one message format.

Every array of numbers that a user gives passes ``validated`` (the rows of an estimator), ``checked_array`` (anything
else) or ``refuse_too_large`` (numbers that are read in another way): scikit-learn's own checks, and then the range.

    |x| < 1e151            so that (x - x')² < 4e302, and a sum of 10⁵ such squares is finite
    |x| < 1e100 · spread   for new rows, whose distances are in units of the spread of the training rows
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse
from sklearn.utils import get_tags
from sklearn.utils.validation import check_array, validate_data

from .array_api import as_numpy
from .capabilities import capabilities
from .messages import error_message
from .small_data import warn_if_small, warn_of_spare_dimensions

__all__ = [
    "DISTANCE_LIMIT",
    "LIMIT",
    "check_choice",
    "check_integer",
    "check_number",
    "check_rows",
    "checked_array",
    "checked_latent",
    "checked_start",
    "checked_weights",
    "refuse_far_start",
    "refuse_too_large",
    "relative_bandwidth",
    "validated",
]

LIMIT = 1e151
"""Numbers of this size and beyond are refused: squares of their differences would overflow when summed."""

DISTANCE_LIMIT = 1e153
"""The same for distances, which between numbers below ``LIMIT`` may be larger, and are squared themselves."""

_FARTHEST_START = 1e12
_FARTHEST = 1e100  # of new rows, in units of the spread: leaves room for divisions by small variances


def check_choice(owner: object, argument: str, value: object, options: Collection[str]) -> None:
    """``value`` must be one of ``options``."""
    if not (isinstance(value, str) and value in options):
        listed = ", ".join(repr(option) for option in options)
        raise ValueError(error_message(owner, argument, value, "is not an option", f"Choose one of {listed}"))


def check_integer(owner: object, argument: str, value: object, low: int) -> None:
    """``value`` must be an integer of at least ``low``."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < low:
        raise ValueError(
            error_message(owner, argument, value, "is not an integer in range", f"Give an integer of at least {low}")
        )


def check_number(owner: object, argument: str, value: object, low: float, high: float = np.inf) -> None:
    """``value`` must be a finite number with ``low < value < high``."""
    fine = not isinstance(value, bool) and isinstance(value, numbers.Real) and low < float(value) < high
    if not fine:
        bounds = f"above {low:g}" if high == np.inf else f"between {low:g} and {high:g}"
        raise ValueError(error_message(owner, argument, value, "is not a number in range", f"Give a number {bounds}"))


def check_rows(owner: object, argument: str, value: npt.NDArray[Any], n: int) -> None:
    """``value`` must have ``n`` rows."""
    if len(value) != n:
        seen = f"array of {len(value)} rows"
        raise ValueError(error_message(owner, argument, seen, f"does not match the {n} rows of X", "Give one per row"))


def validated(model: Any, X: Any, *, spread: float = np.inf, **options: Any) -> Any:
    """Validate the rows ``X`` of ``model`` by ``validate_data``, and refuse numbers whose squares overflow.

    Of rows to be fitted, which must be two or more, it warns where they are few or noise (``base.small_data``).

    Parameters
    ----------
    model : estimator
    X : array-like of shape (n, d)
    spread : float
        Of the training rows, where new rows are measured in units of it.
    options
        Of scikit-learn's ``validate_data``.
    """
    X = as_numpy(model, "X", X)
    if issparse(X) and not options.get("reset", True):
        rows = _in_range(model, "X", X, lambda: _validated_sparse(model, X, **options), spread)
    else:
        rows = _in_range(model, "X", X, lambda: _validated_rows(model, X, **options), spread)
    if options.get("ensure_min_samples", 1) > 1:  # rows to be fitted
        pairwise = bool(get_tags(model).input_tags.pairwise)
        warn_if_small(model, rows, distances=pairwise)
        offers = capabilities(model)
        if not (pairwise or offers.takes_relations or offers.takes_second_view):  # these add to the columns of X
            warn_of_spare_dimensions(model, getattr(model, "n_components", None), rows.shape[1])
    return rows


def _validated_rows(model: Any, X: Any, **options: Any) -> Any:
    """``validate_data``; where it cannot read text or dates, the message names the column and the encoder."""
    try:
        return validate_data(model, X, **options)
    except (ValueError, TypeError) as error:
        dates = [str(name) for name in getattr(X, "columns", ()) if getattr(X[name].dtype, "kind", "") in "mM"]
        is_text = "could not convert string to float" in str(error)
        if not (is_text or dates):
            raise
        name, what = (_first_text_column(X), "text") if is_text else (dates[0], "dates")
        seen = what if name is None else f"{what} in column {name!r}"
        remedy = "Put sidelight.TableEncoder() before the model, in sidelight.pipeline.make_pipeline"
        rule = "is not a number" if is_text else "are not numbers"
        words = f" ({error})" if is_text else ""
        raise ValueError(error_message(model, "X", seen, rule, remedy) + words) from error


def _first_text_column(X: Any) -> str | None:
    """The first column of a table that is not of numbers, None where columns have no names."""
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name]).astype(np.float64)
        except (TypeError, ValueError):
            return str(name)
    return None


def _validated_sparse(model: Any, X: Any, **options: Any) -> Any:
    """``validate_data`` of new sparse rows, which have no column names: none are missed where the model knows some."""
    options = {name: value for name, value in options.items() if name != "reset"}
    rows = check_array(X, estimator=model, input_name="X", **options)
    if rows.shape[1] != model.n_features_in_:
        owner, wanted = type(model).__name__, model.n_features_in_
        raise ValueError(f"X has {rows.shape[1]} features, but {owner} is expecting {wanted} features as input.")
    return rows


def checked_array(owner: object, value: Any, *, input_name: str = "X", spread: float = np.inf, **options: Any) -> Any:
    """Validate ``value`` by scikit-learn's ``check_array``, and refuse numbers whose squares overflow.

    Parameters
    ----------
    owner : str or estimator
        Whom messages name.
    value : array-like
    input_name : str
        Argument that messages name.
    spread : float
        Of the training rows, where new rows are measured in units of it.
    options
        Of ``check_array``.
    """
    value = as_numpy(owner, input_name, value)
    return _in_range(owner, input_name, value, lambda: check_array(value, input_name=input_name, **options), spread)


def checked_latent(owner: object, X: Any, n_components: int, *, spread: float = np.inf) -> npt.NDArray[Any]:
    """Validate latent points ``X`` (m, n_components) as ``checked_array`` does, and their number of columns."""
    Z = np.asarray(checked_array(owner, X, dtype=[np.float64, np.float32], spread=spread))
    if Z.shape[1] != n_components:
        rule = f"does not match the {n_components} latent dimensions"
        raise ValueError(error_message(owner, "X", f"{Z.shape[1]} columns", rule, "Give latent points, one per row"))
    return Z


def checked_weights(owner: object, sample_weight: Any, n: int) -> npt.NDArray[np.float64]:
    """Return the sample weights (n,) as float64; all 1 where there are none."""
    if sample_weight is None:
        return np.ones(n)
    name = "sample_weight"
    weight = np.asarray(checked_array(owner, sample_weight, dtype=np.float64, ensure_2d=False, input_name=name))
    check_rows(owner, name, weight, n)
    return weight


def refuse_too_large(
    owner: object, argument: str, values: Any, spread: float = np.inf, largest_allowed: float = LIMIT
) -> None:
    """Raise if squares of the numbers would overflow.

    Parameters
    ----------
    owner : str or estimator
    argument : str
        Whom and what the message names.
    values : array, dense or sparse
        NaN is allowed.
    spread : float
        Of the training rows; numbers of 1e100 times it and more are refused.
    largest_allowed : float
        Numbers of this size and more are refused.
    """
    stored: Any = values.data if hasattr(values, "indptr") else values
    if stored.dtype.kind != "f" or stored.size == 0:
        return  # integers cannot be that large
    limit = min(largest_allowed, _FARTHEST * spread)
    if limit > float(np.finfo(stored.dtype).max):
        return  # nor can float32, as a rule
    low, high = stored.min(), stored.max()
    if np.isnan(high):
        low, high = np.fmin.reduce(stored, axis=None), np.fmax.reduce(stored, axis=None)
    largest = max(high, -low)
    if largest >= limit:
        seen = np.format_float_scientific(high if high == largest else low, precision=2, trim="-")
        rule = f"is {limit:g} or more in size".replace("e+", "e")
        if limit < largest_allowed:
            rule = f"is 1e100 times the spread of fit ({spread:.3g}) or more"
        raise ValueError(error_message(owner, argument, seen, f"{rule}, where squares overflow", "Rescale the data"))


def refuse_far_start(owner: object, start: npt.NDArray[Any]) -> None:
    """Refuse an ``init`` with coordinates too large for the solvers, which square them in float32."""
    largest = float(np.abs(start).max(initial=0.0))
    if largest >= _FARTHEST_START:
        rule = f"is {_FARTHEST_START:g} widths of the latent kernel or more away".replace("e+", "e")
        raise ValueError(
            error_message(owner, "init", f"{largest:.3g}", rule, "Rescale the start: the kernel has width 1")
        )


def checked_start(owner: object, init: Any, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
    """Validate the latent points that a user gave as ``init``: a finite array of the given shape.

    Parameters
    ----------
    owner : str or estimator
        Whom messages name.
    init : array-like
    shape : (n, q)
        Rows of X and latent dimensions.
    """
    start = np.array(init, dtype=np.float64)
    check_rows(owner, "init", start, shape[0])
    if start.shape != shape or not np.isfinite(start).all():
        rule = f"is not a finite array of shape {shape}"
        raise ValueError(error_message(owner, "init", f"array of shape {start.shape}", rule, "Give one row per row"))
    refuse_far_start(owner, start)
    return start


def relative_bandwidth(owner: object, argument: str, value: float, scale: float) -> float:
    """Convert a bandwidth of squared distances to rows divided by ``scale``; raises where it over- or underflows.

    Parameters
    ----------
    owner : str or estimator
    argument : str
        Whom and what the message names.
    value : float
        Bandwidth in squared units of X.
    scale : float
        That rows are divided by.
    """
    with np.errstate(over="ignore"):
        found = float((np.sqrt(value) / scale) ** 2)
    if not 1e-305 < found < 1e305:
        rule = f"is too far from the squares of the data, whose scale is {scale:.3g}"
        raise ValueError(
            error_message(owner, argument, value, rule, "Choose it in squared units of X, or rescale the data")
        )
    return found


def _in_range(owner: object, argument: str, given: Any, check: Callable[[], Any], spread: float) -> Any:
    """The array that ``check()`` returns, if it is in range; ``given`` is its input."""
    if isinstance(given, np.ndarray) and given.dtype.itemsize > 8:  # long doubles may become infinite in float64
        refuse_too_large(owner, argument, given)
    try:
        with np.errstate(over="ignore"):  # in tables and lists, too: there scikit-learn finds infinity
            values = check()
    except OverflowError as error:
        rule = "holds a whole number that no floating-point number can hold"
        raise ValueError(error_message(owner, argument, type(given).__name__, rule, "Rescale the data")) from error
    refuse_too_large(owner, argument, values, spread)
    return values
