"""The rows that a model takes from an AnnData object: those of a fit, and those of a fitted model by column name.

A gene that the model knows and the data lacks is filled in, cell by cell:

    x₀ = mean of the model's reconstructions of its training cells       (of at most 1,000 of them, evenly spaced)
    xₖ₊₁ = reconstruction of (known genes, xₖ),    k = 0, 1, 2

so that it gets the value that the model predicts for this cell. Genes that the model does not know are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from sidelight.base.capabilities import capabilities, feature_names_of
from sidelight.base.cost import available_memory
from sidelight.base.messages import error_message
from sidelight.base.warnings import warn

from ._parts import NoSuchPartError, Part, as_array, is_sparse, match_names, read_part, representation_names

__all__ = ["model_rows", "part_for", "representation_of", "rows_to_fit"]

Array = npt.NDArray[Any]
_SAMPLE = 1000  # training cells whose reconstructions give the mean
_ROUNDS = 3  # measured: docs/anndata.md


def part_for(owner: str, data: Any, use_rep: str | None, layer: str | None) -> Part:
    """Read ``obsm[use_rep]``, a layer or ``X``; raises ValueError, with the entries there are, for one that is not."""
    if use_rep is not None and layer is not None:
        remedy = "Give one of them: a layer has genes, an entry of obsm has other columns"
        raise ValueError(error_message(owner, "layer", layer, f"contradicts use_rep={use_rep!r}", remedy))
    try:
        return read_part(data, obsm=use_rep, layer=layer)
    except NoSuchPartError as missing:
        there = ", ".join(map(repr, missing.names)) or "none"
        if missing.kind == "X":
            text = error_message(owner, "adata", "AnnData", "has no X", f"Give layer= ({there}) or use_rep=")
        else:
            argument = "layer" if missing.kind == "layer" else "use_rep"
            where = "layers" if missing.kind == "layer" else "obsm"
            text = error_message(owner, argument, missing.key, f"is not in adata.{where}", f"There is: {there}")
        raise ValueError(text) from None


def rows_to_fit(owner: str, estimator: Any, part: Part) -> Any:
    """Return rows as ``estimator.fit`` takes them: sparse where it takes sparse rows, else a table with names.

    Raises ValueError where a name stands twice, because later cells are matched by name.
    """
    twice = pd.Index(part.names)[pd.Index(part.names).duplicated()]
    if len(twice):
        rule = f"has {twice[0]!r} several times, and later cells are matched by name"
        raise ValueError(error_message(owner, "adata", "var_names", rule, "Call adata.var_names_make_unique() first"))
    if is_sparse(part.values) and _takes_sparse(estimator):
        return part.values
    return _table(owner, part.values, part.names, part.title)


def model_rows(
    owner: str, data: Any, model: Any, use_rep: str | None, layer: str | None, side: Mapping[str, Any]
) -> Any:
    """Return the rows of ``data`` with the columns of a fitted model, matched by name; missing ones are filled in.

    Parameters
    ----------
    owner : str
        For messages.
    data : AnnData
    model : fitted model or chain
    use_rep, layer : str or None
        Without both: the entry of ``obsm`` that the names of the model's columns say, else ``X``.
    side : mapping
        ``given`` of the cells as keyword arguments of the model's maps, or nothing.
    """
    names = feature_names_of(model)
    if use_rep is None and layer is None:
        use_rep = representation_of(data, names)
    part = part_for(owner, data, use_rep, layer)
    if names is None:
        return _unnamed(owner, part, int(model.n_features_in_))
    _check_unique(owner, part, names)
    places, missing = match_names(part.names, names)
    if len(missing) == len(names):
        _check_representation(owner, data, names)
        example = f"is none of the {len(names)} that the model was fitted on, such as {names[0]!r}"
        remedy = "Rename var_names, or give use_rep= or layer= of the fit"
        raise ValueError(error_message(owner, "adata", f"columns of {part.title}", example, remedy))
    if not missing:
        values = part.values if places == list(range(len(part.names))) else _columns(part.values, places)
        if is_sparse(values) and _takes_sparse(model):
            return values
        return _table(owner, values, names, part.title)
    _say_missing(owner, part, missing, len(names))
    return _filled(owner, model, part, names, np.array(places), side)


def _check_unique(owner: str, part: Part, names: list[str]) -> None:
    """Raise where a column that the model knows stands twice, unless all are those of the fit in order."""
    known = set(names)
    found = pd.Index([name for name in part.names if name in known])
    twice = found[found.duplicated()]
    if len(twice) and part.names != names:
        rule = f"has {twice[0]!r} several times, which is matched by name"
        remedy = "Call adata.var_names_make_unique(), and keep the one that the model was fitted on"
        raise ValueError(error_message(owner, "adata", part.title, rule, remedy))


def _check_representation(owner: str, data: Any, names: list[str]) -> None:
    """Raise where the model was fitted on an entry of ``obsm`` that the data lacks."""
    key = names[0].rpartition("_")[0]
    if key and key not in data.obsm and names == representation_names(key, len(names)):
        rule = f"has no {key!r}, which the model was fitted on"
        remedy = "Put the cells into the same representation (of components: the loadings of the fit), or give use_rep="
        raise ValueError(error_message(owner, "adata", "obsm", rule, remedy))


def _say_missing(owner: str, part: Part, missing: list[str], count: int) -> None:
    shown = ", ".join(missing[:3]) + (", ..." if len(missing) > 3 else "")
    rule = f"lacks {len(missing)} of the {count} columns that the model was fitted on ({shown})"
    remedy = "They are filled in with the model's own reconstruction of each cell; look at the typicality of the cells"
    warn(error_message(owner, "adata", part.title, rule, remedy), UserWarning)


def _filled(
    owner: str, model: Any, part: Part, names: list[str], places: Array, side: Mapping[str, Any]
) -> pd.DataFrame:
    """Rows with all columns of the model; see the head of this file."""
    if not (capabilities(model).has_inverse and capabilities(model).has_embedding):
        rule = "lacks columns of the model, which has no way back to fill them in"
        raise ValueError(error_message(owner, "adata", part.title, rule, "Give all columns of the fit"))
    seen = places >= 0
    known = as_array(_columns(part.values, places[seen].tolist()))
    rows = np.empty((len(known), len(names)), dtype=np.result_type(known.dtype, np.float32))
    rows[:, seen] = known
    Z = np.asarray(model.embedding_)
    sample = Z[np.linspace(0, len(Z) - 1, min(_SAMPLE, len(Z))).astype(int)]
    rows[:, ~seen] = np.asarray(model.inverse_transform(sample))[:, ~seen].mean(axis=0)
    for _ in range(_ROUNDS):
        table = pd.DataFrame(rows, columns=names)
        rows[:, ~seen] = np.asarray(model.inverse_transform(model.transform(table, **side), **side))[:, ~seen]
    return pd.DataFrame(rows, columns=names)


def representation_of(data: Any, names: list[str] | None) -> str | None:
    """The entry of ``obsm`` that a model with these columns was fitted on; None: it was fitted on genes."""
    if names is None:
        return None
    for key in data.obsm:
        if str(key) and names == representation_names(str(key), len(names)):
            return str(key)
    return None


def _unnamed(owner: str, part: Part, width: int) -> Array:
    """Rows for a model that was fitted on an array without names."""
    if part.values.shape[1] != width:
        rule = f"does not match the {width} columns of the model, which has no names to match them by"
        remedy = "Give the same columns, or fit with sidelight.anndata.embed, which keeps the names"
        raise ValueError(error_message(owner, "adata", f"{part.values.shape[1]} columns of {part.title}", rule, remedy))
    return as_array(part.values)


def _columns(values: Any, places: Sequence[int]) -> Any:
    return values.tocsc()[:, list(places)].tocsr() if is_sparse(values) else values[:, list(places)]


def _table(owner: str, values: Any, names: list[str], title: str) -> pd.DataFrame:
    """Rows as a table with column names; raises where a sparse matrix would not fit the memory in full."""
    size = float(np.prod(values.shape)) * max(values.dtype.itemsize, 4)
    if is_sparse(values) and 2 * size > available_memory():
        rule = f"would take {size / 1e9:.0f} GB as a full matrix"
        remedy = 'Embed a representation: use_rep="X_pca"'
        raise MemoryError(error_message(owner, "adata", f"{title} of shape {values.shape}", rule, remedy))
    return pd.DataFrame(as_array(values), columns=names)


def _takes_sparse(model: Any) -> bool:
    return isinstance(model, BaseEstimator) and bool(get_tags(model).input_tags.sparse)
