"""Predict cells under another value of ``given``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sidelight.base.capabilities import capabilities, feature_names_of, given_of, require
from sidelight.base.chain import as_chain
from sidelight.base.columns import chosen_columns
from sidelight.base.messages import error_message

from ._obs import changed_columns, own_columns
from ._parts import match_names
from ._results import checked_adata, target
from ._rows import model_rows

__all__ = ["counterfactual", "write_rows", "write_table"]

Array = npt.NDArray[Any]
_OWNER = "counterfactual"


def counterfactual(
    adata: Any,
    model: Any,
    *,
    to: Mapping[str, Any],
    genes: str | Sequence[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    layer_added: str = "counterfactual",
    individual: bool = False,
    std_added: str | None = None,
    copy: bool = False,
) -> Any:
    """Predict cells under another value of ``given``, and write the result.

    The result shows what cells at the same place of the map look like under the new value. It is not a causal effect;
    see :meth:`KernelInformationEmbedding.counterfactual <sidelight.KernelInformationEmbedding>`.

    Parameters
    ----------
    adata : AnnData
        Genes are matched to those of the model by name, and filled in where they are missing, as in :func:`transform`.
    model : fitted model or Pipeline
        Fitted with ``given``.
    to : mapping
        Columns and their new values, for all cells or one entry per cell: ``{"condition": "stim"}``. Columns that are
        not named keep the value of the cell, from ``obs``.
    genes : str, sequence of str or None, default=None
        Genes (columns of the model) to write to ``obsm[layer_added]``, a table with their names. A model of sparse rows
        computes no others; a Pipeline holds all genes for some cells at a time only. None: all, to a layer.
    use_rep, layer : str or None, default=None
        Where the rows are, as in :func:`transform`.
    layer_added : str, default="counterfactual"
        For a model of genes: the layer that is written, in the genes of ``adata``, with NaN in those that the model
        does not know. For a model of an entry of ``obsm``: the entry of ``obsm`` that is written, in its columns.
    individual : bool, default=False
        True: use the columns of ``obs`` as the current values (``given_now``). Each cell is shifted by the difference
        of the two means at its place of the map and keeps its residual, so that predicted cells vary as real ones do.
        False: write the mean of cells at the same place, without individual variation.
    std_added : str or None, default=None
        Also write standard deviations of a cell of the new group around the result, under this key, where the result is
        written. Of a Pipeline: its steps must be linear (scalers, PCA, TruncatedSVD).
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy of it with the result.

    Returns
    -------
    AnnData or None
        The copy, or None with ``copy=False``.

    See Also
    --------
    corrected : Genes without the effect of what was given.
    embed : The fit.

    Examples
    --------
    >>> import anndata, numpy as np, pandas as pd, sidelight
    >>> rng = np.random.default_rng(0)
    >>> condition = np.tile(["ctrl", "stim"], 60)
    >>> X = rng.normal(size=(120, 4)) + 3.0 * (condition == "stim")[:, None]
    >>> adata = anndata.AnnData(X, obs=pd.DataFrame({"condition": condition}, index=np.arange(120).astype(str)))
    >>> model = sidelight.anndata.embed(adata, given="condition", max_iter=50)
    >>> sidelight.anndata.counterfactual(adata, model, to={"condition": "stim"})
    >>> bool(adata.layers["counterfactual"][condition == "ctrl"].mean() > 2.0)
    True
    """
    checked_adata(_OWNER, adata)
    chain = as_chain(model)
    given = given_of(chain)
    if given is None and capabilities(chain).takes_given:
        rule = "was not fitted with given"
        raise ValueError(error_message(_OWNER, "model", type(model).__name__, rule, "Fit it with given"))
    require(_OWNER, chain, "has_counterfactual")
    known = changed_columns(_OWNER, adata.obs, given, to)
    rows = model_rows(_OWNER, adata, chain, use_rep, layer, {})
    now = {"given_now": own_columns(_OWNER, adata.obs, given)} if individual else {}
    out = target(_OWNER, adata, copy)
    columns = None
    if genes is not None:
        columns = chosen_columns(_OWNER, genes, chain.n_features_in_, feature_names_of(chain), "genes")
    chosen: dict[str, Any] = {} if columns is None else {"columns": columns}
    if std_added is None:
        parts = {layer_added: chain.counterfactual(rows, given=known, **now, **chosen)}
    else:
        found = chain.counterfactual(rows, given=known, return_std=True, **now, **chosen)
        parts = dict(zip((layer_added, std_added), found, strict=True))
    for key, values in parts.items():
        if columns is None:
            write_rows(out, key, np.asarray(values), feature_names_of(chain))
        else:
            write_table(out, key, np.asarray(values), chain, columns)
    return out if copy else None


def write_table(out: Any, key: str, values: Array, chain: Any, columns: Array) -> None:
    """Write rows (n, c) of some columns of a model to ``obsm``, as a table with their names."""
    names = feature_names_of(chain)
    labels = [str(column) if names is None else names[column] for column in columns.tolist()]
    out.obsm[key] = pd.DataFrame(values, index=out.obs_names, columns=labels)


def write_rows(out: Any, key: str, values: Array, names: list[str] | None) -> None:
    """Write rows to a layer, or to ``obsm`` where their columns are not genes."""
    genes = [str(name) for name in out.var_names]
    if names is None or names == genes:
        (out.layers if values.shape[1] == len(genes) else out.obsm)[key] = values
        return
    places, missing = match_names(names, genes)
    if len(missing) == len(genes):
        out.obsm[key] = values
        return
    at = np.array(places)
    whole = np.full((len(values), len(genes)), np.nan, dtype=values.dtype)
    whole[:, at >= 0] = values[:, at[at >= 0]]
    out.layers[key] = whole
