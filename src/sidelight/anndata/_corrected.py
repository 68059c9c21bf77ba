"""Subtract the effect of ``given`` from cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sidelight.base.capabilities import capabilities, feature_names_of, given_of
from sidelight.base.chain import as_chain
from sidelight.base.columns import chosen_columns
from sidelight.base.messages import error_message

from ._counterfactual import write_rows, write_table
from ._obs import changed_columns, own_columns
from ._results import checked_adata, target
from ._rows import model_rows

__all__ = ["corrected"]

_OWNER = "corrected"


def corrected(
    adata: Any,
    model: Any,
    *,
    to: Mapping[str, Any] | None = None,
    genes: str | Sequence[str] | None = None,
    use_rep: str | None = None,
    layer: str | None = None,
    layer_added: str = "corrected",
    copy: bool = False,
) -> Any:
    """Subtract the effect of ``given`` from cells, or replace it by the effect of another value, and write the result.

    Everything else in a cell stays, also its noise, so that any other method can use the result.

    Parameters
    ----------
    adata : AnnData
        Genes are matched to those of the model by name, and filled in where they are missing, as in :func:`transform`.
    model : fitted model or Pipeline
        Fitted with ``given``, and with a method ``corrected``.
    to : mapping or None, default=None
        Columns and the values to move the cells to; columns that are not named keep the value of the cell. None: the
        mean effect over the training cells, for all columns.
    genes : str, sequence of str or None, default=None
        Genes (columns of the model) to write, without computing the others, to ``obsm[layer_added]``: a table with
        their names. None: all, to a layer.
    use_rep, layer : str or None, default=None
        Where the rows are, as in :func:`transform`.
    layer_added : str, default="corrected"
        The layer, or for a model of an entry of ``obsm`` the entry of ``obsm``, that is written, as in
        :func:`counterfactual`.
    copy : bool, default=False
        Leave ``adata`` as it is and return a copy of it with the result.

    Returns
    -------
    AnnData or None
        The copy, or None with ``copy=False``.

    See Also
    --------
    counterfactual : Predict cells under another value.
    embed : The fit.
    """
    checked_adata(_OWNER, adata)
    chain = as_chain(model)
    given = given_of(chain)
    if given is None or not capabilities(chain).has_corrected:
        rule = "has no effect of given to take off"
        remedy = "Give a KernelInformationEmbedding that was fitted with given"
        raise ValueError(error_message(_OWNER, "model", type(model).__name__, rule, remedy))
    known = own_columns(_OWNER, adata.obs, given)
    goal = None if to is None else changed_columns(_OWNER, adata.obs, given, to)
    rows = model_rows(_OWNER, adata, chain, use_rep, layer, {})
    out = target(_OWNER, adata, copy)
    if genes is None:
        values = np.asarray(chain.corrected(rows, given=known, to=goal))
        write_rows(out, layer_added, values, feature_names_of(chain))
    else:
        columns = chosen_columns(_OWNER, genes, chain.n_features_in_, feature_names_of(chain), "genes")
        values = np.asarray(chain.corrected(rows, given=known, to=goal, columns=columns))
        write_table(out, layer_added, values, chain, columns)
    return out if copy else None
