"""Inverse of one preprocessing step, for rows and for variances of their columns.

    y = step(x),      x = step⁻¹(y)                                    rows
    y = x A + b,      var(x_j) = Σ_k (A⁺)²_kj var(y_k)                 variances, of columns of y that are independent

scikit-learn gives no inverse of some steps that have one for rows that are at hand: ``Normalizer`` divides a row by its
length, which the row itself still knows; ``ColumnTransformer`` has the inverses of its parts. What a step discards (the
minor components of PCA) has no variance here: it is not measured.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.pipeline import Pipeline

from .capabilities import capabilities
from .messages import error_message

__all__ = ["goes_back", "needs_inputs", "undone", "undone_variance"]

Array = npt.NDArray[Any]
_DATA, _COMPOSE, _DECOMPOSITION = "sklearn.preprocessing", "sklearn.compose", "sklearn.decomposition"


def goes_back(step: Any) -> bool:
    """Whether a step has an inverse.

    >>> from sklearn.preprocessing import FunctionTransformer, Normalizer
    >>> goes_back(Normalizer()), goes_back(FunctionTransformer(np.log1p)), goes_back(FunctionTransformer())
    (True, False, True)
    """
    if isinstance(step, Pipeline):
        return all(goes_back(inner) for inner in _inner(step))
    if _is(step, _COMPOSE, "ColumnTransformer"):
        return _parts_go_back(step)
    if _is(step, _DATA, "FunctionTransformer"):  # scikit-learn takes the identity for an inverse that is not given
        return step.func is None or step.inverse_func is not None
    return _is(step, _DATA, "Normalizer") or capabilities(step).has_inverse


def needs_inputs(step: Any) -> bool:
    """Whether the inverse may need the input rows of a step: ``Normalizer``, and steps that may contain one."""
    kinds = ((_DATA, "Normalizer"), (_COMPOSE, "ColumnTransformer"))
    return isinstance(step, Pipeline) or any(_is(step, module, name) for module, name in kinds)


def undone(step: Any, rows: Any, inputs: Any = None) -> Any:
    """Return rows before a preprocessing step.

    Parameters
    ----------
    step : fitted transformer
    rows : array of shape (m, k)
        Rows after it.
    inputs : rows (m, d) or None
        What the step made rows from, where such rows are at hand; None: rows of a latent point. ``Normalizer`` has the
        length of rows from here, and returns rows of length 1 without it.

    Notes
    -----
    scikit-learn refuses to invert an imputer without indicators. It changes missing entries only, so its inverse is the
    identity; columns of indicators, which it puts last, are left out.
    """
    if isinstance(step, Pipeline):
        steps, given = _inner(step), [inputs]
        for inner in steps[:-1]:
            given.append(None if inputs is None else inner.transform(given[-1]))
        for inner, own in zip(reversed(steps), reversed(given), strict=True):
            rows = undone(inner, rows, own)
        return rows
    if _is(step, _DATA, "Normalizer"):
        return rows if inputs is None else rows * _lengths(inputs, step.norm)
    if _is(step, _COMPOSE, "ColumnTransformer"):
        return _joined(step, rows, lambda inner, part, own: undone(inner, part, own), inputs)
    if _is_imputer(step):
        added = 0 if step.indicator_ is None else len(step.indicator_.features_)
        if rows.shape[1] - added == step.n_features_in_:
            return rows[:, : step.n_features_in_]
    return step.inverse_transform(rows)


def undone_variance(owner: object, step: Any, V: Array, inputs: Any = None) -> Array:
    """Return variances (m, d) of columns before a step, from those (m, k) after it; raises where it is not linear.

    ``owner`` is whom the message names, ``inputs`` as for :func:`undone`.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> undone_variance("model", StandardScaler().fit([[0.0], [4.0]]), np.ones((1, 1)))
    array([[4.]])
    """
    if isinstance(step, Pipeline):
        steps, given = _inner(step), [inputs]
        for inner in steps[:-1]:
            given.append(None if inputs is None else inner.transform(given[-1]))
        for inner, own in zip(reversed(steps), reversed(given), strict=True):
            V = undone_variance(owner, inner, V, own)
        return V
    if _is(step, _COMPOSE, "ColumnTransformer"):
        return _joined(step, V, lambda inner, part, own: undone_variance(owner, inner, part, own), inputs)
    if _is(step, _DATA, "Normalizer"):
        return V if inputs is None else np.asarray(V * _lengths(inputs, step.norm) ** 2)
    if _is(step, _DATA, "MinMaxScaler"):
        return np.asarray(V / step.scale_**2)
    if any(_is(step, _DATA, name) for name in ("StandardScaler", "RobustScaler", "MaxAbsScaler")):
        return V if step.scale_ is None else np.asarray(V * np.square(step.scale_))
    if _is(step, _DECOMPOSITION, "PCA"):
        return np.asarray((V * step.explained_variance_ if step.whiten else V) @ np.square(step.components_))
    if _is(step, _DECOMPOSITION, "TruncatedSVD"):
        return np.asarray(V @ np.square(step.components_))
    if _is_imputer(step) or (_is(step, _DATA, "FunctionTransformer") and step.func is None):
        return np.asarray(V[:, : getattr(step, "n_features_in_", V.shape[1])])
    rule = f"has no inverse through {type(step).__name__}, which is not known to be linear"
    remedy = "Use scalers, PCA and TruncatedSVD before the model, or leave return_std out"
    raise ValueError(error_message(owner, "return_std", True, rule, remedy))


def _is(step: Any, module: str, name: str) -> bool:
    """Whether a step is of a class of scikit-learn; no module is imported, as a step of one that is not cannot be."""
    found = sys.modules.get(module)
    return found is not None and isinstance(step, getattr(found, name))


def _is_imputer(step: Any) -> bool:
    return _is(step, "sklearn.impute", "SimpleImputer")


def _inner(pipeline: Pipeline) -> list[Any]:
    return [step for _, step in pipeline.steps if step is not None and step != "passthrough"]


def _parts(step: Any) -> list[tuple[Any, list[int], slice]]:
    """Fitted parts of a ColumnTransformer that have columns: transformer, columns before and after it."""
    indices, made = step._transformer_to_input_indices, step.output_indices_
    found = [(inner, list(indices[name]), made[name]) for name, inner, _ in step.transformers_]
    return [part for part in found if part[1]]


def _parts_go_back(step: Any) -> bool:
    """Whether each column is in one of the parts, and these have inverses; those that are dropped have none."""
    if not hasattr(step, "transformers_"):
        return all(_part_goes_back(inner) for _, inner, _ in step.transformers)
    parts = [(inner, columns) for inner, columns, _ in _parts(step) if not _is_dropped(inner)]
    seen = {column for _, columns in parts for column in columns}
    return len(seen) == step.n_features_in_ and all(_part_goes_back(inner) for inner, _ in parts)


def _part_goes_back(inner: Any) -> bool:
    """Whether a part of a ColumnTransformer goes back to numbers: encoders go back to words, which rows cannot hold."""
    if isinstance(inner, str):
        return True
    steps = _inner(inner) if isinstance(inner, Pipeline) else [inner]
    encoders = ("OneHotEncoder", "OrdinalEncoder")
    return goes_back(inner) and not any(_is(one, _DATA, name) for one in steps for name in encoders)


def _is_dropped(inner: Any) -> bool:
    return isinstance(inner, str) and inner == "drop"


def _joined(step: Any, rows: Any, back: Any, inputs: Any) -> Array:
    """Columns of a ColumnTransformer, each from the first part that has it."""
    out = np.empty((rows.shape[0], step.n_features_in_))
    filled = np.zeros(step.n_features_in_, dtype=bool)
    for inner, columns, made in _parts(step):
        if _is_dropped(inner):
            continue
        part = rows[:, made]
        own = None if inputs is None else _columns(inputs, columns)
        values = part if isinstance(inner, str) else back(inner, part, own)
        values = values.toarray() if _is_sparse(values) else np.asarray(values)
        fresh = [place for place, column in enumerate(columns) if not filled[column]]
        out[:, [columns[place] for place in fresh]] = values[:, fresh]
        filled[columns] = True
    return out


def _columns(rows: Any, columns: list[int]) -> Any:
    if hasattr(rows, "iloc"):
        return rows.iloc[:, columns]
    return rows.tocsc()[:, columns] if _is_sparse(rows) else np.asarray(rows)[:, columns]


def _is_sparse(rows: Any) -> bool:
    """Whether rows are a sparse matrix; unlike ``issparse``, it leaves their type as it is."""
    return bool(sparse.issparse(rows))


def _lengths(rows: Any, norm: str) -> Array:
    """Length (m, 1) of rows by which ``Normalizer`` divides them; 1 of rows of zeros."""
    values = abs(rows) if _is_sparse(rows) else np.abs(np.asarray(rows, dtype=np.float64))
    found = _squares(values).sum(axis=1) if norm == "l2" else values.sum(axis=1) if norm == "l1" else values.max(axis=1)
    lengths = np.asarray(found.toarray() if _is_sparse(found) else found, dtype=np.float64).reshape(-1, 1)
    if norm == "l2":
        lengths = np.sqrt(lengths)
    return np.where(lengths > 0, lengths, 1.0)


def _squares(values: Any) -> Any:
    """Squares of entries; a power of a sparse matrix would be one of matrices."""
    return values.multiply(values) if _is_sparse(values) else values**2
