"""Write results to the object or to a copy, and the record of a fit to ``uns``."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from sidelight.base.messages import error_message, require_extra
from sidelight.base.warnings import warn

__all__ = ["checked_adata", "fit_record", "record_key", "target"]


def checked_adata(owner: str, adata: Any) -> Any:
    """Return ``adata`` if it is an AnnData object; raises with the pip command where anndata is not installed."""
    anndata = require_extra("anndata", owner, "anndata")
    if not isinstance(adata, anndata.AnnData):
        remedy = "Give an AnnData object; fit and transform of a model take arrays and tables"
        raise TypeError(error_message(owner, "adata", type(adata).__name__, "is no AnnData object", remedy))
    return adata


def target(owner: str, adata: Any, copy: bool) -> Any:
    """Return the object to write to: ``adata``, or a copy of it in memory. A view is copied first."""
    if copy:
        return adata.to_memory() if adata.isbacked else adata.copy()
    if adata.is_view and not adata.isbacked:
        rule = "is made an object of its own, because results are written to it"
        warn(error_message(owner, "adata", "a view", rule, "Call .copy() on the view first"), UserWarning)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # anndata's, which would point at this line
            adata.uns = dict(adata.uns)
    if adata.is_view and adata.isbacked:
        rule = "is a view of an object in a file, which nothing can be written to"
        raise ValueError(error_message(owner, "adata", "a backed view", rule, "Give copy=True, or adata.to_memory()"))
    return adata


def record_key(key_added: str) -> str:
    """Key in ``uns`` of the record of a fit whose embedding is ``obsm[key_added]``.

    >>> record_key("X_sidelight")
    'sidelight'
    """
    return key_added.removeprefix("X_") or key_added


def fit_record(parameters: Mapping[str, Any], **entries: Any) -> dict[str, Any]:
    """Return what ``uns`` keeps of a fit, in types that an .h5ad file can hold; entries that are None are left out.

    Examples
    --------
    >>> fit_record({"perplexity": 30.0, "n_jobs": None}, method="KernelInformationEmbedding", layer=None)
    {'params': {'perplexity': 30.0}, 'method': 'KernelInformationEmbedding'}
    """
    return _plain({"params": dict(parameters), **entries})


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in values.items() if value is not None}
    return {str(name).replace("/", "|"): _plain_value(value) for name, value in kept.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _plain(value)
    if isinstance(value, bool | int | float | str | np.generic | np.ndarray):
        return value
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return np.array(value, dtype=object)
    return repr(value) if is_dataclass(value) else str(value)
